"""A real Bluesky server on loopback (tools/pds), and what the network holds by its own word."""

import os
import socket
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import httpx

TOOLS = Path(__file__).parents[1] / "tools" / "pds"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hashnews" / "pds"
FOLDER = Path(os.environ.get("HASHNEWS_PDS", CACHE))
POST, PROFILE = "app.bsky.feed.post", "app.bsky.actor.profile"


def is_installed():
    return (FOLDER / "installed").exists()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class BlueskyServer:
    """PLC and PDS; the PDS keeps its data and port when it is started again."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port, self._plc_port = free_port(), free_port()
        self.url = f"http://localhost:{self.port}"
        self.source = f"bluesky://firehose/localhost:{self.port}?insecure"
        self._plc = self._run("plc", self._plc_port)
        self._pds = None
        self.client = httpx.Client(base_url=f"{self.url}/xrpc/", timeout=60, trust_env=False)
        self.dids, self._tokens = {}, {}
        self.start()

    def _run(self, *arguments):
        settings = {**os.environ, "HASHNEWS_PDS": str(FOLDER), "LOG_ENABLED": "false"}
        process = subprocess.Popen(
            [FOLDER / "node" / "bin" / "node", TOOLS / "start.mjs", *map(str, arguments)],
            env=settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert process.stdout.readline().strip() == "ready"
        return process

    def start(self):
        self._pds = self._run("pds", self.port, self.folder, self._plc_port)

    def kill(self):
        self._pds.kill()
        self._pds.wait()
        self._pds.stdout.close()

    def close(self):
        self.client.close()
        for process in (self._pds, self._plc):
            process.kill()
            process.wait()
            process.stdout.close()

    def ask(self, method, name, user=None, **content):
        headers = {"Authorization": f"Bearer {self._tokens[user]}"} if user else {}
        body = None if name.endswith(".activateAccount") else content
        kind = {"params": content} if method == "GET" else {"json": body}
        answer = self.client.request(method, name, headers=headers, **kind)
        assert answer.status_code == 200, answer.text
        return answer.json() if answer.content else {}

    def join(self, name):
        made = self.ask(
            "POST", "com.atproto.server.createAccount",
            handle=f"{name}.test", email=f"{name}@example.org", password="a-password",
        )  # fmt: skip
        self.dids[name], self._tokens[name] = made["did"], made["accessJwt"]
        return made["did"]

    def post(self, name, text, **fields):
        when = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"$type": POST, "text": text, "createdAt": when, **fields}
        made = self.ask(
            "POST", "com.atproto.repo.createRecord", name,
            repo=self.dids[name], collection=POST, record=record,
        )  # fmt: skip
        return made["uri"]

    def write(self, name, writes):
        """Several at once: `#create` and `#delete`."""
        kinds = {"create": {"collection": POST}, "delete": {"collection": POST}}
        listed = [
            {"$type": f"com.atproto.repo.applyWrites#{kind}", **kinds[kind], **fields}
            for kind, fields in writes
        ]
        made = self.ask(
            "POST", "com.atproto.repo.applyWrites", name, repo=self.dids[name], writes=listed
        )
        return [one.get("uri") for one in made["results"]]

    def put(self, name, key, record, collection=POST):
        self.ask(
            "POST", "com.atproto.repo.putRecord", name,
            repo=self.dids[name], collection=collection, rkey=key, record=record, validate=False,
        )  # fmt: skip

    def delete(self, name, uri):
        self.ask(
            "POST", "com.atproto.repo.deleteRecord", name,
            repo=self.dids[name], collection=POST, rkey=uri.rpartition("/")[2],
        )  # fmt: skip

    def label(self, name, *labels):
        """Label oneself."""
        values = [{"val": label} for label in labels]
        own = {"$type": "com.atproto.label.defs#selfLabels", "values": values}
        self.put(name, "self", {"$type": PROFILE, "labels": own}, PROFILE)

    def judge(self, name, taken_down):
        """Take an account down, or back again, as the operator of the server."""
        subject = {"$type": "com.atproto.admin.defs#repoRef", "did": self.dids[name]}
        answer = self.client.post(
            "com.atproto.admin.updateSubjectStatus", auth=("admin", "admin-pass"),
            json={"subject": subject, "takedown": {"applied": taken_down}},
        )  # fmt: skip
        assert answer.status_code == 200, answer.text

    def delete_account(self, name):
        answer = self.client.post(
            "com.atproto.admin.deleteAccount", auth=("admin", "admin-pass"),
            json={"did": self.dids[name]},
        )  # fmt: skip
        assert answer.status_code == 200, answer.text

    def posts(self, name):
        """What the network holds of an author, by uri."""
        found, cursor = {}, {}
        while True:
            page = self.ask(
                "GET", "com.atproto.repo.listRecords", repo=self.dids[name], collection=POST,
                limit=100, **cursor,
            )  # fmt: skip
            found |= {one["uri"]: one["value"] for one in page["records"]}
            if not page.get("cursor"):
                return found
            cursor = {"cursor": page["cursor"]}
