"""Endpoints on loopback that speak as OpenAI's does, well or badly, as a test wants."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def said(content):
    """What a language model says, as its endpoint wraps it."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]})


@contextmanager
def endpoint(answer):
    """Serve `answer(request, handler)`: text to be sent, or None if the handler did it itself.

    Yields the address and the list of requests that came.
    """
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send(json.dumps({"data": [{"id": "the-first"}, {"id": "the-second"}]}))

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, dict(self.headers), request))
            content = answer(request, self)
            if content is not None:
                self.send(content)

        def send(self, content, status=200):
            body = content.encode() if isinstance(content, str) else content
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
        server.shutdown()
