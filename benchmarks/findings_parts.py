"""What the questions of benchmarks/findings.py share: commands, records, stores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/service"))

from hashnews.cli import main as hashnews

HOUR = "2020-06-02T10:00:00Z"


def run(*words: object) -> Any:
    """A command; a traceback is raised."""
    done = CliRunner().invoke(hashnews, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


class Ended(NamedTuple):
    """How a command in a process of its own ended; `code` is None where it went on and on."""

    code: int | None
    said: str
    megabytes: float

    @property
    def refused(self) -> bool:
        """Whether it ended with one line that says why."""
        return self.code == 1 and "Error: " in self.said and "Traceback" not in self.said


def run_apart(*words: object, seconds: float = 120, start: str = "", **environment: str) -> Ended:
    """A command in a process of its own, which may end in any way; `start` is run before it."""
    code = f"{start}\nimport runpy\nrunpy.run_module('hashnews', run_name='__main__')"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        env=os.environ | environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    most, end = 0.0, time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        most = max(most, _megabytes(process.pid))
        time.sleep(0.05)
    late = process.poll() is None
    process.kill()
    said = process.communicate()[1].decode(errors="replace")
    return Ended(None if late else process.returncode, said, most)


def _megabytes(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4 / 1024
    except OSError:
        return 0.0


def lines(path: Path, *records: dict[str, Any]) -> Path:
    """Records as a file of JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def article(number: int, **changes: Any) -> dict[str, Any]:
    """An article."""
    return {"id": f"a{number}", "title": f"Anna Ferrow in Paris {number}", "text": "About a visit.",
            "published_at": HOUR, "source": "e.org", **changes}  # fmt: skip


def added(folder: Path, name: str = "news.db", count: int = 3, **changes: Any) -> Path:
    """A new store."""
    file = lines(folder / "n.jsonl", *(article(n, **changes) for n in range(count)))
    run("news", "add", file, "--news", folder / name)
    return folder / name


def trending(store: Path) -> str:
    """What rises in a store."""
    return str(run("trends", "--news", store, "--at", "2020-06-03T00:00:00Z").stdout)
