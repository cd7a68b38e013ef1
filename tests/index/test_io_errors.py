"""The disk refuses at every place in turn, as SQLite tests itself: nothing acknowledged is lost.

`refuse.c` is loaded before the C library and fails the n-th use of the store's files, by Python or
by SQLite; `refused.py` runs each command below it and checks what is left. Here some places of each
command are tried; HASHNEWS_IO_PLACES=1000 tries all of them.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PLACES = os.environ.get("HASHNEWS_IO_PLACES", "8")
# How often each uses the disk at least. The memory does without its files where it must.
COMMANDS = {"news add": 60, "posts add": 60, "index build": 20, "index refresh": 20,
            "memory build": 10, "memory refresh": 10}  # fmt: skip


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """The library that refuses, made by the C compiler of the machine."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("disk") / "refuse.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, HERE / "refuse.c", "-ldl"], check=True
    )
    return library


@pytest.mark.parametrize("command", COMMANDS)
def test_wherever_the_disk_refuses_the_store_is_whole(disk, tmp_path, command):
    done = subprocess.run(
        [sys.executable, HERE / "refused.py", command, tmp_path, PLACES],
        env={**os.environ, "LD_PRELOAD": str(disk)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["uses"] >= COMMANDS[command]
    assert told.get("refused", 0) > told["places"] // 2 or "memory" in command
