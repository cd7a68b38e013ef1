"""A process that holds an object: what comes back, and what happens when it goes wrong."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stand_ins import Held

from hashnews.errors import HashNewsError
from hashnews.service.process import CallFailed, Process, ProcessDied


def run(work, *arguments):
    async def inner():
        process = Process(Held, *arguments)
        try:
            await process.ready(30)
            return await work(process)
        finally:
            await process.close()
            assert not is_alive(process.pid)

    return asyncio.run(inner())


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def test_calls_and_what_they_raise():
    async def work(process):
        assert await process.call("greet", "you", seconds=60) == "good day you"
        assert await process.call("pid", seconds=60) == process.pid != os.getpid()
        with pytest.raises(HashNewsError, match="no"):
            await process.call("refuse", seconds=60)
        with pytest.raises(CallFailed, match="KeyError"):
            await process.call("fail", seconds=60)
        return await process.call("greet", "me", seconds=60)

    assert run(work, "good day") == "good day me"


def test_all_are_forked_from_one_that_has_loaded_the_models():
    async def work(process):
        return await process.call("origin", seconds=60)

    (parent, loaded), again = run(work, "hello"), run(work, "hello")
    assert loaded
    assert again == (parent, loaded)
    assert parent != os.getpid()


@pytest.mark.parametrize(("greeting", "error"), [("broken", HashNewsError), ("bug", CallFailed)])
def test_what_keeps_it_from_starting_is_told(greeting, error):
    with pytest.raises(error, match=greeting):
        run(None, greeting)


def test_one_that_dies():
    async def work(process):
        with pytest.raises(ProcessDied):
            await process.call("die", seconds=60)
        with pytest.raises(ProcessDied):
            await process.call("greet", "you", seconds=60)

    run(work)


def test_one_that_hangs_is_ended():
    async def work(process):
        began = time.monotonic()
        with pytest.raises(ProcessDied):
            await process.call("sleep", 600, seconds=0.2)
        assert time.monotonic() - began < 60

    run(work)


def test_a_running_call_ends_before_the_process():
    async def work(process):
        call = asyncio.create_task(process.call("sleep", 0.3, seconds=60))
        await asyncio.sleep(0.05)
        await process.close()
        assert await call == "slept"

    run(work)


def test_it_does_not_outlive_who_started_it():
    code = (
        "import asyncio, os, sys; from stand_ins import Held;"
        "from hashnews.service.process import Process\n"
        "async def main():\n"
        "    process = Process(Held)\n"
        "    await process.ready(30)\n"
        "    print(process.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "if __name__ == '__main__': asyncio.run(main())"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    pid = int(done.stdout)
    until = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < until
        time.sleep(0.05)
