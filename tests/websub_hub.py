"""A small WebSub hub on loopback: it asks back before it believes, and signs what it sends."""

import hashlib
import hmac
import secrets
import threading
from contextlib import contextmanager
from urllib.parse import parse_qs

import httpx
from newsstand import newsstand


class Hub:
    """Its address, who subscribed to what, and what it was asked."""

    def __init__(self, stand, lease=864_000):
        self.url = f"{stand.url}/hub"
        self.asked = []
        self.subscribers = {}  # (topic, callback): the secret
        self._lease = lease
        self._changed = threading.Condition()
        stand["/hub"] = self._take

    def _take(self, handler):
        asked = handler.server.stand.asked[-1]
        fields = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        handler.send_response(202)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        with self._changed:
            self.asked.append(fields)
            self._changed.notify_all()
        threading.Thread(target=self._verify, args=(fields,), daemon=True).start()

    def _verify(self, fields):
        challenge = secrets.token_hex(16)
        try:
            answer = self.ask_back(fields, challenge)
        except httpx.TransportError:  # nobody is there: they may ask again
            return
        if answer.status_code == 200 and answer.text == challenge:
            with self._changed:
                place = fields["hub.topic"], fields["hub.callback"]
                self.subscribers[place] = fields["hub.secret"]
                self._changed.notify_all()

    def ask_back(self, fields, challenge, mode="subscribe", **changes):
        given = {"hub.mode": mode, "hub.topic": fields["hub.topic"], "hub.challenge": challenge,
                 "hub.lease_seconds": self._lease, **changes}  # fmt: skip
        callback = httpx.URL(fields["hub.callback"]).copy_merge_params(given)
        return httpx.get(callback, timeout=60, trust_env=False)

    def wait(self, condition, seconds=60):
        with self._changed:
            assert self._changed.wait_for(condition, seconds), self.asked

    def publish(self, topic, content, method="sha256", secret=None):
        """Tell all who want to know; says what each of them answered."""
        return [
            httpx.post(callback, content=content, timeout=60, trust_env=False,
                       headers={"X-Hub-Signature": signed(secret or known, content, method)})
            for (named, callback), known in self.subscribers.items() if named == topic
        ]  # fmt: skip


def signed(secret, content, method="sha256"):
    made = hmac.new(secret.encode(), content, getattr(hashlib, method))
    return f"{method}={made.hexdigest()}"


@contextmanager
def hub_and_feeds(**settings):
    """A server of feeds, and the hub that tells of them."""
    with newsstand() as stand:
        yield Hub(stand, **settings), stand
