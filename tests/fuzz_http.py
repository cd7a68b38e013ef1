"""Hostile requests to a running service: bytes on a socket, and what may come back."""

import json
import random
import socket
from contextlib import suppress

from texts_to_mangle import mangled, mangled_bytes

# Promised: an answer, or the connection ends. Never an internal error.
KNOWN = {
    200, 206, 304, 307, 400, 401, 403, 404, 405, 408, 413, 415, 416, 421, 422, 431, 501,
    503, 504,
}  # fmt: skip
SECONDS = 60  # for an answer: the deadline of a request is 10, that of its head, too
POST = {"id": "1", "text": "Marching for George Floyd tonight", "user": "ann",
        "created_at": "2020-05-29T20:00:00Z", "entities": ["George Floyd"]}  # fmt: skip
ARTICLE = {"id": "f1", "title": "T", "text": "x", "published_at": "2020-06-01T10:00:00Z"}
BODIES = {
    "/suggest": POST, "/retrieve": POST, "/suggest/batch": {"posts": [POST, POST]},
    "/news": {"articles": [ARTICLE]}, "/v1/posts": {"posts": [POST]},
}  # fmt: skip
BODIES |= {f"/v1{path}": body for path, body in BODIES.items() if not path.startswith("/v1")}
PATHS = (
    "/ready", "/health", "/metrics", "/", "/docs", "/page/app.js",
    "/trends?at=2020-06-01&n=5",
    "/articles/x", "/v1/articles/x", "/v1/trends?n=3&at=2020-06-01T00:00:00Z", "/v1/feeds",
    "/openapi.json", "/v1/posts/1", *BODIES,
)  # fmt: skip
HEADERS = (
    "Content-Type: application/json", "Content-Type: text/plain", "Content-Length: 5",
    "Content-Length: -1", "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked, identity", "Expect: 100-continue", "Connection: upgrade",
    "Upgrade: websocket", "Host: evil.example", "Host: 127.0.0.1", "Origin: https://evil.example",
    "Sec-Fetch-Site: cross-site", "Authorization: Bearer x", "X-Request-ID: \x1b[2J",
    "Range: bytes=0-1,5-", "X: " + "y" * 5000, "Content-Encoding: gzip", "Cookie: a=b",
)  # fmt: skip


def request_of(chance: random.Random) -> bytes:
    """A request, some of its parts not as they should be."""
    path = chance.choice(PATHS)
    method = "POST" if path in BODIES else "GET"
    if chance.random() < 0.15:
        method = chance.choice(
            ["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "X" * 99]
        )
    if chance.random() < 0.2:
        path = mangled(chance, path, ["%00", "..", "//", "%1b", "?", "#", "é", "%ff", ";", "\\"])
    body = json.dumps(BODIES.get(path, POST))
    if chance.random() < 0.6:
        body = mangled(chance, body)
    content = body.encode("utf-8", "surrogatepass")
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += chance.sample(HEADERS, chance.choice([0, 0, 1, 2, 3]))
    if chance.random() < 0.8:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("utf-8", "surrogatepass")
    whole = head + content
    return mangled_bytes(chance, whole) if chance.random() < 0.2 else whole


def http(chance: random.Random, port: int) -> str:
    """A request that is answered as promised, or whose connection ends."""
    request = request_of(chance)
    answer = b""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as client:
        with suppress(ConnectionError):
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while part := client.recv(1 << 16):
                answer += part
    answer = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")  # the real one follows
    if not answer.startswith(b"HTTP/1.1 "):
        assert not answer, answer[:200]
        return "no answer"
    status = int(answer[9:12])
    assert status in KNOWN, (status, request[:500], answer[:500])
    return str(status)
