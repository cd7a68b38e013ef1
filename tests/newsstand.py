"""A real HTTP server on loopback that serves what a test lays out, and keeps what it was asked."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict
    body: bytes


def rss(*numbers, title="The Daily Test", extra="", date="Tue, 02 Jun 2020 10:00:00 GMT"):
    """A feed with an item per number."""
    items = "".join(
        f"<item><title>Title {n}</title><link>https://example.org/{n}</link>"
        f"<pubDate>{date}</pubDate><description>About Number {n} in Paris</description></item>"
        for n in numbers
    )
    head = f"<title>{title}</title>" if title is not None else ""
    return f'<rss version="2.0"><channel>{head}{extra}{items}</channel></rss>'.encode()


def page(*links, body=""):
    """A page that declares feeds: pairs of an address and, where there is one, a title."""
    declared = "".join(
        f'<link rel="alternate" type="application/rss+xml" href="{href}" title="{title}">'
        for href, title in links
    )
    return f"<!doctype html><html><head>{declared}</head><body>{body}</body></html>".encode()


class Newsstand:
    """What is laid out by path: bytes, a status, or a function that answers by itself."""

    def __init__(self):
        self.laid_out = {}
        self.asked = []
        self.url = ""

    def __setitem__(self, path, what):
        self.laid_out[path] = what

    def paths(self):
        return [asked.path for asked in self.asked]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        stand = self.server.stand
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        stand.asked.append(Asked(self.command, self.path, dict(self.headers), body))
        what = stand.laid_out.get(self.path.removesuffix("?"), 404)
        if callable(what):
            what(self)
            return
        status, content = (what, b"") if isinstance(what, int) else (200, what)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients hang up when they had enough


@contextmanager
def newsstand():
    stand = Newsstand()
    with _Quiet(("127.0.0.1", 0), _Handler) as http:
        http.stand = stand
        stand.url = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield stand
        http.shutdown()
        thread.join()
