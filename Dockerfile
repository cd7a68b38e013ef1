# HashNews as a service: docker build -t hashnews . && docker run -p 127.0.0.1:8000:8000 hashnews
# compose.yaml runs it with a volume, without root's rights and on a read-only root.
FROM python:3.13-slim AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/hashnews
RUN /opt/hashnews/bin/pip install --no-cache-dir --constraint constraints.txt ".[serve,networks]"

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home --home-dir /data hashnews
COPY --from=build /opt/hashnews /opt/hashnews
# Whatever is written is written below /data: the store, the sample, the compiled loops.
ENV PATH=/opt/hashnews/bin:/usr/local/bin:/usr/bin:/bin HOME=/data NUMBA_CACHE_DIR=/data/.compiled
USER hashnews
WORKDIR /data
# Compiles once, and fails the build where a suggestion would fail.
RUN hashnews doctor
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["hashnews"]
CMD ["serve", "--host", "0.0.0.0", "--news", "/data/news.db", "--fetch"]
