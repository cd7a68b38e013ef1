"""Saved directories: whole or absent, damaged ones refused."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap

import pytest

from hashnews.errors import ModelError
from hashnews.saved import MANIFEST, check_directory, new_directory, seal


def save(path, text="hello"):
    with new_directory(path, "thing", {"version": 1}) as scratch:
        (scratch / "a.txt").write_text(text)
        (scratch / "b.bin").write_bytes(bytes(range(256)))
    return path


def test_a_whole_directory(tmp_path):
    path = save(tmp_path / "thing")
    assert check_directory(path, "thing") == {"version": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["thing"]


def test_saving_again_replaces(tmp_path):
    save(tmp_path / "thing")
    save(tmp_path / "thing", "again")
    assert (tmp_path / "thing" / "a.txt").read_text() == "again"
    check_directory(tmp_path / "thing", "thing")
    assert [p.name for p in tmp_path.iterdir()] == ["thing"]


def test_somebody_elses_directory_is_not_touched(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("meow")
    with pytest.raises(ModelError, match="in use by something else"):
        save(tmp_path / "photos")
    assert (tmp_path / "photos" / "cat.jpg").read_text() == "meow"


def test_a_failure_leaves_the_old_one(tmp_path):
    save(tmp_path / "thing")
    with pytest.raises(RuntimeError), new_directory(tmp_path / "thing", "thing", {}) as scratch:
        (scratch / "a.txt").write_text("half")
        raise RuntimeError("stop")
    assert check_directory(tmp_path / "thing", "thing") == {"version": 1}


def test_a_kill_leaves_the_old_one(tmp_path):
    path = save(tmp_path / "thing")
    code = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from hashnews.saved import new_directory
        with new_directory(Path({str(path)!r}), "thing", {{}}) as scratch:
            (scratch / "a.txt").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    assert check_directory(path, "thing") == {"version": 1}


def refused(path, match):
    with pytest.raises(ModelError, match=match) as caught:
        check_directory(path, "thing")
    assert "\n" not in str(caught.value)


def test_what_is_refused(tmp_path):
    refused(tmp_path / "absent", "no such directory")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "no manifest.json")
    path = save(tmp_path / "thing")
    (path / "a.txt").unlink()
    refused(path, "a.txt is missing")
    (save(path) / "a.txt").write_text("hellO")
    refused(path, "a.txt is damaged")
    (save(path) / MANIFEST).write_text("{")
    refused(path, "cannot be read")
    (save(path) / MANIFEST).write_text("[]")
    refused(path, "cannot be read")
    with new_directory(path, "other", {}) as scratch:
        (scratch / "x").write_text("x")
    refused(path, "holds a 'other'")
    manifest = json.loads((save(path) / MANIFEST).read_text())
    (path / MANIFEST).write_text(json.dumps({**manifest, "format": 99}))
    refused(path, "cannot be read")  # its sum is of another text
    del manifest["sum"]
    (path / MANIFEST).write_text(json.dumps({**manifest, "format": 99}))
    refused(path, "format 99")
    manifest["files"]["../outside"] = {"bytes": 1, "sha256": "x"}
    (path / MANIFEST).write_text(json.dumps(manifest))
    refused(path, "missing")


def test_no_changed_byte_goes_unnoticed(tmp_path):
    path, rng = save(tmp_path / "thing"), random.Random(1)
    for name in ("a.txt", "b.bin"):
        whole = (path / name).read_bytes()
        for _ in range(100):
            at = rng.randrange(len(whole))
            changed = bytearray(whole)
            changed[at] ^= 1 << rng.randrange(8)
            (path / name).write_bytes(changed)
            refused(path, f"{name} is damaged")
        (path / name).write_bytes(whole)
    about, whole, noticed = check_directory(path, "thing"), (path / MANIFEST).read_bytes(), 0
    for _ in range(300):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        (path / MANIFEST).write_bytes(changed)
        try:
            assert check_directory(path, "thing") == about  # only the word "sum" was hit
        except ModelError:
            noticed += 1
    assert noticed > 280


def test_a_folder_one_may_not_write_to(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="denied"):
        save(tmp_path / "thing")


@pytest.mark.parametrize("how", ["no files", "left out", "another file"])
def test_the_seal_covers_every_file(tmp_path, how):
    """A manifest without files, or without one of them, was loaded; so was a file beside it."""
    path = save(tmp_path / "thing")
    manifest = json.loads((path / MANIFEST).read_text())
    del manifest["sum"]  # as older versions wrote it
    if how == "no files":
        manifest["files"] = {}
    elif how == "left out":
        del manifest["files"]["a.txt"]
        (path / "a.txt").write_text("changed")
    else:
        (path / "blocked.txt").write_text("georgefloyd")
    (path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match="is not in its manifest; remove it, or seal"):
        check_directory(path, "thing")
    seal(path)
    assert check_directory(path, "thing") == {"version": 1}


def test_what_is_hidden_or_a_folder_is_nobodys_business(tmp_path):
    path = save(tmp_path / "thing")
    (path / ".DS_Store").write_text("x")
    (path / "notes").mkdir()
    check_directory(path, "thing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"no manifest\.json"):
        seal(tmp_path / "empty")


SEALED = '{"kind":"thing","format":1,"about":{},"files":{"NAME":{"bytes":1,"sha256":""}}}'


@pytest.mark.parametrize(
    "manifest",
    [
        *("[" * 100_000, "[]", "null", '{"kind": 1}', "\udcff"),
        *(SEALED.replace("NAME", name) for name in ("x" * 5000, "\\u0000", "\\ud800", "../a.txt")),
    ],
    ids=lambda manifest: manifest[:20].encode("ascii", "replace").decode(),
)
def test_any_manifest_is_refused_in_one_line(tmp_path, manifest):
    path = save(tmp_path / "thing")
    (path / MANIFEST).write_text(manifest, errors="surrogateescape")
    with pytest.raises(ModelError) as error:
        check_directory(path, "thing")
    assert "\n" not in str(error.value)
