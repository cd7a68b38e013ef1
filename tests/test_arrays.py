"""Arrays of the ground floor."""

import os
import subprocess
import sys

CODE = """
from typing import NamedTuple
import numpy as np
from hashnews.arrays import compiled

class {name}(NamedTuple):
    values: np.ndarray

@compiled
def total(pair):
    return pair.values.sum()

print(total({name}(np.arange(4))))
"""


def test_what_was_compiled_with_a_class_that_is_gone_is_compiled_again(tmp_path):
    """As after an upgrade that renames a class while the function itself stays as it was."""
    path = tmp_path / "kept.py"

    def run():
        return subprocess.run(
            [sys.executable, "-B", "-c", "import kept"],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip

    path.write_text(CODE.format(name="OldPair"))
    assert run().stdout == "6\n"
    assert list(tmp_path.rglob("*.nbi"))
    stamp = path.stat()
    path.write_text(CODE.format(name="NewPair"))
    # The cache tells files apart by time and size: here they are the same.
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert path.stat().st_size == stamp.st_size
    for _ in range(2):
        done = run()
        assert done.stdout == "6\n", done.stderr
