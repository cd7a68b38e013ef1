"""Do every step of the Dockerfile in a chroot, then start its command and ask its health check.

    debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv trixie ROOT
    sudo python packaging/chroot.py ROOT

A stand-in for a Docker engine: each stage is a copy of ROOT, which takes the place of the image
that FROM names; RUN runs there as USER, with ENV, in WORKDIR. The command of the container then
runs without any right of root, on a root mounted read-only, with /tmp and the volume to write to.
What pip and the network need of this machine is lent to the chroot. Fails where a step does.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HOME = Path(__file__).parents[1]
LENT = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
LENT_FOLDERS = ("/opt/pypi", "/opt/pypi-more", "/opt/wheels")  # where pip.conf names such
PATIENCE = 900  # seconds until the service must be healthy; a busy machine is slow
KEPT = ("PIP_", "SSL_", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY")


class Stage:
    """One stage of the build: a root, and what ENV, USER and WORKDIR have said so far."""

    def __init__(self, base: Path, root: Path):
        self.root, self.user, self.folder = root, "root", "/"
        self.environment = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["cp", "-a", base, root], check=True)
        python = root / "usr/local/bin/python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.symlink_to("/usr/bin/python3")  # as the image has it
        for file in LENT:
            if Path(file).exists():
                (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, root / file[1:])

    def command(self, words: list[str], locked: bool = False) -> list[str]:
        """A command in the stage; locked: without rights, and nothing but /tmp and /data is its."""
        mounts = [f"mount -t proc proc {self.root}/proc"]
        for folder in LENT_FOLDERS:
            if Path(folder).is_dir():
                (self.root / folder[1:]).mkdir(parents=True, exist_ok=True)
                mounts.append(f"mount --bind {folder} {self.root}{folder}")
        if locked:
            root = self.root
            mounts += [
                f"mount --bind {root}/data {root}/data",
                f"mount -t tmpfs tmpfs {root}/tmp",
                f"mount --bind {root} /mnt && mount -o remount,bind,ro /mnt",
                f"mount --bind {root}/data /mnt/data && mount --bind {root}/tmp /mnt/tmp",
                "mount -t proc proc /mnt/proc",
            ]
        where = "/mnt" if locked else str(self.root)
        rights = ["setpriv", "--no-new-privs", "--bounding-set=-all"] if locked else ["setpriv"]
        if self.user != "root":
            owner = subprocess.run(
                ["chroot", self.root, "id", "-u", self.user],
                capture_output=True, text=True, check=True,
            ).stdout.strip()  # fmt: skip
            rights += [f"--reuid={owner}", f"--regid={owner}", "--clear-groups"]
        kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        pairs = [f"{name}={value}" for name, value in (kept | self.environment).items()]
        inner = ["sh", "-c", f"cd {shlex.quote(self.folder)} && exec {shlex.join(words)}"]
        run = shlex.join(["chroot", where, "/usr/bin/env", "-i", *pairs, *rights, *inner])
        script = " && ".join(mounts) + f" && exec {run}"
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]


def steps(file: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile."""
    lines = [line for line in file.read_text("utf-8").splitlines() if line and line[0] != "#"]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def copy(stages: dict[str, Stage], stage: Stage, words: list[str]) -> None:
    """COPY [--from=STAGE] SOURCE... TARGET."""
    source = HOME
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    *names, target = words
    into = stage.root / (Path(stage.folder) / target).as_posix().lstrip("/")
    for name in names:
        found = source / name.lstrip("/")
        place = into / found.name if target.endswith("/") else into
        place.parent.mkdir(parents=True, exist_ok=True)
        if found.is_dir():
            left_out = shutil.ignore_patterns("__pycache__")
            shutil.copytree(found, place, symlinks=True, dirs_exist_ok=True, ignore=left_out)
        else:
            shutil.copy(found, place)


def main(base: Path) -> None:
    """Build, start, ask, stop."""
    stages: dict[str, Stage] = {}
    said: dict[str, list[str]] = {}
    stage = None
    for number, (name, rest) in enumerate(steps(HOME / "Dockerfile"), 1):
        print(f"step {number}: {name} {rest}"[:120], flush=True)
        if name == "FROM":
            _, _, named = rest.partition(" AS ")
            named = named or "last"
            stage = stages[named] = Stage(base, base.with_name(f"{base.name}-{named}"))
            continue
        assert stage is not None, "a Dockerfile begins with FROM"
        if name == "WORKDIR":
            stage.folder = rest
            (stage.root / rest[1:]).mkdir(parents=True, exist_ok=True)
        elif name == "ENV":
            stage.environment |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        elif name == "USER":
            stage.user = rest
        elif name == "COPY":
            copy(stages, stage, rest.split())
        elif name == "RUN":
            subprocess.run(stage.command(["sh", "-c", rest]), check=True)
        elif name in ("ENTRYPOINT", "CMD"):
            said[name] = json.loads(rest)
        elif name == "HEALTHCHECK":
            said[name] = json.loads(rest[rest.index(" CMD ") + 5 :])
        elif name not in ("VOLUME", "EXPOSE"):
            sys.exit(f"{name} is not known here")
    assert stage is not None, "a Dockerfile begins with FROM"
    check(stage, said)


def check(stage: Stage, said: dict[str, list[str]]) -> None:
    """Start the container's command and wait until it is healthy."""
    lines = (stage.root / "etc/passwd").read_text("utf-8").splitlines()
    assert any(line.startswith(f"{stage.user}:") for line in lines), "it must not run as root"
    writes = stage.command(["sh", "-c", "! touch /opt/hashnews/x && ! touch /x && touch /tmp/x"],
                           locked=True)  # fmt: skip
    subprocess.run(writes, check=True, stderr=subprocess.DEVNULL)
    print("the root is read-only, /tmp is not; starting", *said["CMD"], flush=True)
    service = subprocess.Popen(stage.command(said["ENTRYPOINT"] + said["CMD"], locked=True))
    try:
        began = time.monotonic()
        health = stage.command(said["HEALTHCHECK"], locked=True)
        while subprocess.run(health, stderr=subprocess.DEVNULL).returncode != 0:
            if service.poll() is not None:
                sys.exit(f"the service ended with {service.returncode}")
            if time.monotonic() - began > PATIENCE:
                sys.exit("the service is not healthy")
            time.sleep(2)
        print(f"healthy after {time.monotonic() - began:.0f} s", flush=True)
        below = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text("utf-8")
        os.kill(int(below.split()[0]), signal.SIGTERM)  # as `docker stop` does
        if service.wait(60):
            sys.exit(f"asked to stop, the service ended with {service.returncode}")
        print("stopped well", flush=True)
    finally:
        service.kill()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
