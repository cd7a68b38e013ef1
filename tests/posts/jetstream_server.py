"""Jetstream on loopback in its true JSON form, with a view that knows profiles; fed by the test.

Events are kept, so that a cursor brings them again, as the true one does for a day or so. `relay`
feeds it with the frames of a real server, read by cbor2, a decoder that is not ours.
"""

import io
import json
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import cbor2
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response
from websockets.sync.client import connect
from websockets.sync.server import serve

POST, PROFILE = "app.bsky.feed.post", "app.bsky.actor.profile"
BREAD = {"$type": POST, "text": "Bread #sourdough", "createdAt": "2026-11-01T10:00:00.000Z"}


def did(name):
    return "did:plc:" + name.ljust(24, "a")


class JetstreamServer:
    def __init__(self):
        self.events = []  # (time_us, frame)
        self.profiles = {}  # views by DID
        self.subscribed, self.asked = [], []
        self._clients = set()
        self._changed = threading.Condition()
        self._last = 0
        self._server = serve(
            self._serve, "127.0.0.1", 0, process_request=self._answer, compression=None
        )
        self.host = f"127.0.0.1:{self._server.socket.getsockname()[1]}"
        # By another name, it is another server: a view of the whole network.
        view = self.host.replace("127.0.0.1", "localhost")
        self.source = f"bluesky://jetstream?host={self.host}&profiles={view}&insecure"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        with self._changed:
            self.events.append((1 << 63, None))
            self._changed.notify_all()
        self._server.shutdown()

    def send(self, frame, time_us=None):
        with self._changed:
            self._last = max(time.time_ns() // 1000, self._last + 1)
            self.events.append((time_us or self._last, frame))
            self._changed.notify_all()

    def event(self, name, time_us=None, **content):
        self.send({"did": did(name) if ":" not in name else name, **content}, time_us)

    def commit(self, name, key, operation="create", record=BREAD, collection=POST, **more):
        said = {} if operation == "delete" else {"record": record, "cid": "bafyrei"}
        commit = {"rev": "3l", "operation": operation, "collection": collection, "rkey": key}
        self.event(name, kind="commit", commit={**commit, **said}, **more)

    def account(self, name, active, **more):
        account = {"active": active, "did": did(name), "seq": 1, "time": "2026-11-01T10:00:00Z"}
        self.event(name, kind="account", account={**account, **more})

    def hang_up(self):
        for client in list(self._clients):
            with suppress(OSError):
                client.socket.shutdown(2)

    def _answer(self, connection, request):
        parts = urlsplit(request.path)
        if parts.path == "/subscribe":
            return None
        self.asked.append(request.path)
        if parts.path != "/xrpc/app.bsky.actor.getProfiles":
            return _response(404, {})
        actors = parse_qs(parts.query)["actors"]
        return _response(200, {"profiles": [
            {"did": one, **self.profiles[one]} for one in actors if one in self.profiles
        ]})  # fmt: skip

    def _serve(self, client):
        query = parse_qs(urlsplit(client.request.path).query)
        self.subscribed.append(query)
        cursor = int(query["cursor"][0]) if "cursor" in query else time.time_ns() // 1000
        self._clients.add(client)
        at = 0
        try:
            while True:
                with self._changed:
                    while len(self.events) == at:
                        self._changed.wait()
                    new, at = self.events[at:], len(self.events)
                for when, frame in new:
                    if frame is None:
                        return
                    if when >= cursor:
                        self._forget_large(when, frame)
                        told = {**frame, "time_us": when} if isinstance(frame, dict) else frame
                        client.send(json.dumps(told) if isinstance(told, dict) else told)
        except (ConnectionClosed, OSError):
            pass
        finally:
            self._clients.discard(client)

    def _forget_large(self, when, frame):
        """What is too large is sent once: else nobody would ever get past it."""
        if isinstance(frame, str) and len(frame) > 5 << 20:
            self.events[self.events.index((when, frame))] = (0, frame)

    def relay(self, url):
        """Feed it with a server's firehose, from its beginning."""

        def read():
            try:
                with connect(f"{url}?cursor=0", compression=None, max_size=None) as frames:
                    for frame in frames:
                        self._translate(frame)
            except (ConnectionClosed, OSError):
                pass

        threading.Thread(target=read, daemon=True).start()

    def _translate(self, frame):
        stream = io.BytesIO(frame)
        head, body = cbor2.load(stream), cbor2.load(stream)
        if head.get("t") == "#account":
            account = {k: body[k] for k in ("active", "did", "seq", "time", "status") if k in body}
            self.event(body["did"], kind="account", account=account)
        if head.get("t") != "#commit":
            return
        blocks = _car(body["blocks"])
        for op in body["ops"]:
            collection, key = op["path"].split("/")
            record = blocks[op["cid"].value[1:]] if op["cid"] is not None else None
            if collection in (POST, PROFILE):
                self.commit(body["repo"], key, op["action"], record, collection)


def _response(code, content):
    status, body = HTTPStatus(code), json.dumps(content).encode()
    headers = Headers()
    headers["Content-Type"], headers["Content-Length"] = "application/json", str(len(body))
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)


def _car(content):
    """The blocks of a CAR that are records."""
    stream, blocks = io.BytesIO(content), {}

    def length():
        number = shift = 0
        while byte := stream.read(1):
            number |= (byte[0] & 127) << shift
            shift += 7
            if byte[0] < 128:
                return number
        return 0

    stream.read(length())
    while size := length():
        section = stream.read(size)
        blocks[section[:36]] = cbor2.loads(section[36:])
    return blocks
