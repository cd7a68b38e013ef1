"""What only some systems have, behind one door each: Linux, macOS and Windows all start.

The tests run on Linux; on the others nothing is tried.
"""

from __future__ import annotations

import getpass
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AGAIN = 0.05  # seconds until a lock that another holds is tried again


@contextmanager
def held(file: int) -> Iterator[None]:
    """Hold an open file alone: wait for others, and let go at the end or when the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        with _held_on_windows(file):
            yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def _held_on_windows(file: int) -> Iterator[None]:
    import msvcrt

    lock, take, free = (getattr(msvcrt, name) for name in ("locking", "LK_NBLCK", "LK_UNLCK"))
    while True:
        try:
            lock(file, take, 1)
            break
        except OSError:  # another holds it
            time.sleep(AGAIN)
    try:
        yield
    finally:
        lock(file, free, 1)


def peak_memory() -> int:
    """The most bytes that this process has held; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def limit_memory(most: int) -> None:
    """Let this process hold that many bytes and no more, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if sys.platform != "darwin":  # which refuses
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def room_for_files(wanted: int) -> int:
    """Let this process have that many files and connections open, or as many as it may."""
    try:
        import resource
    except ImportError:  # Windows
        return wanted
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now == resource.RLIM_INFINITY or now >= wanted:
        return wanted
    room = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (room, most))
    return room


def own_scratch_folder() -> Path | None:
    """A folder for temporary files of this user; None if somebody else may write there."""
    user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()
    folder = Path(tempfile.gettempdir()) / f"hashnews-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode):
        return None
    foreign = hasattr(os, "getuid") and (about.st_uid != user or about.st_mode & 0o022)
    return None if foreign else folder
