"""A server on loopback that speaks Mastodon's API, well or badly, as the test says."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

ACCOUNT = {"acct": "ann", "indexable": True, "discoverable": True, "note": ""}


def status(number, text="Bread #sourdough", **changes):
    return {
        "id": str(number), "uri": f"https://example.social/{number}", "visibility": "public",
        "created_at": "2026-11-01T10:00:00.000Z", "content": f"<p>{text} {number}</p>",
        "account": ACCOUNT, "language": "en", "tags": [], "reblog": None, **changes,
    }  # fmt: skip


class MastodonServer:
    """Answers are made by functions of the query: JSON, or a status code with headers."""

    def __init__(self):
        self.statuses = {}  # by number: a good server's timeline
        self.answers = {}  # by path, before that
        self.requests = []
        self.headers = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                parts = urlsplit(self.path)
                query = dict(parse_qsl(parts.query))
                server.requests.append((parts.path, query, dict(self.headers)))
                try:
                    server.answer(self, parts.path, query)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """Those who hang up need no traceback."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.source = f"mastodon://{self.host}/tags/bread?insecure"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def asked(self, path):
        return [query for asked, query, _ in self.requests if asked == path]

    def answer(self, handler, path, query):
        found = self.answers.get(path, self._good)(*([path, query] if path not in self.answers
                                                     else [query]))  # fmt: skip
        if callable(found):
            return found(handler)
        code, headers, content = found if isinstance(found, tuple) else (200, {}, found)
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(code)
        for name, value in {**self.headers, **headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        return handler.wfile.write(body)

    def _good(self, path, query):
        if path.startswith("/api/v1/timelines/"):
            return self.page(query)
        number = path.removeprefix("/api/v1/statuses/")
        if number.isdecimal() and int(number) in self.statuses:
            return self.statuses[int(number)]
        return 404, {}, {"error": "not found"}

    def page(self, query):
        limit = int(query.get("limit", 20))
        numbers = sorted(self.statuses)
        if "min_id" in query:
            numbers = [n for n in numbers if n > int(query["min_id"])][:limit]
        if "max_id" in query:
            numbers = [n for n in numbers if n < int(query["max_id"])]
        return [self.statuses[number] for number in reversed(numbers[-limit:])]
