"""Real servers in processes of their own, and what one needs to talk to them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import httpx

KEY = "a key of the tests, long enough"
HTTP = {"Authorization": f"Bearer {KEY}"}


class Server:
    """`hashnews serve` as a user starts it; its log is kept, line by line."""

    def __init__(self, *arguments, key=None, port=0):
        environment = {**os.environ, "HASHNEWS_KEY": key or ""}
        command = [sys.executable, "-m", "hashnews", "serve", "--port", port, *arguments]
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [str(part) for part in command], env=environment, stderr=subprocess.PIPE, text=True
        )
        self.lines = []
        self._told = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self.event("listening")["address"]
        self.client = httpx.Client(base_url=self.url, timeout=120)

    def _read(self):
        with self.process.stderr as lines:
            for line in lines:
                with self._told:
                    self.lines.append(line)
                    self._told.notify_all()
        with self._told:
            self.lines.append("")
            self._told.notify_all()

    @property
    def events(self):
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def event(self, name, seconds=300):  # the first start on a machine compiles
        """The first event of this name, waited for."""

        def told():
            return self.lines[-1:] == [""] or any(e["event"] == name for e in self.events)

        with self._told:
            self._told.wait_for(told, seconds)
        found = [event for event in self.events if event["event"] == name]
        assert found, "".join(self.lines)
        return found[0]

    def ready(self):
        """Wait until it can answer; says how many seconds that took."""
        self.event("ready")
        return time.monotonic() - self.began

    def stop(self, how=signal.SIGTERM):
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(120)
        self._reader.join(30)
        return code

    def __enter__(self):
        self.ready()
        return self

    def __exit__(self, *_):
        self.stop()


def article(number, **changes):
    values = {
        "id": f"new-{number}",
        "title": f"Zebra number {number} escapes from the zoo of Utopia",
        "text": "Keepers in Utopia are looking for a zebra.",
        "published_at": "2020-06-01T10:00:00Z",
        "source": "Tests",
    }
    return {**values, **changes}
