"""The tiny world: its expected values are those of the formulas, computed independently."""

import subprocess
import sys
from pathlib import Path

WORLD = Path(__file__).parent / "world"


def test_expected_values_follow_from_the_formulas():
    done = subprocess.run([sys.executable, WORLD / "by_hand.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
