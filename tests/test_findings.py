"""Each finding of results/attack/findings.md names a test, and the test is there."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "results/attack/findings.md"


def test_every_finding_has_its_test():
    rows = [row for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| ")]
    findings = [row for row in rows if not row.startswith(("| finding", "|---"))]
    assert len(findings) >= 40
    every = {
        f"{kind}{n + 1}" for kind, last in (("C", 2), ("H", 5), ("M", 13)) for n in range(last)
    }
    assert every <= {row[2:].split()[0] for row in findings}
    for row in findings:
        named = re.fullmatch(r"`(\S+\.py)::(\w+)`", row.rstrip(" |").rpartition("| ")[2])
        assert named, row
        assert row.split(" | ")[1] not in ("-", "holds"), row
        assert f"def {named[2]}(" in (TESTS / named[1]).read_text("utf-8"), row
