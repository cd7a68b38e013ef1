"""`hashnews doctor`: well or ill, and what to do."""

import json

from click.testing import CliRunner

from hashnews.cli import main
from hashnews.news.store import NewsStore


def doctor(*arguments):
    done = CliRunner().invoke(main, ["doctor", *map(str, arguments)])
    return done.exit_code, done.stdout or done.output


def test_all_is_well():
    code, told = doctor("--json")
    findings = {finding["what"]: finding for finding in json.loads(told)}
    assert code == 0, told
    assert all(finding["remedy"] is None for finding in findings.values())
    assert {"python", "sqlite", "expat", "extras", "disk", "model", "suggestion"} <= set(findings)
    assert findings["suggestion"]["found"].startswith("#")


def test_no_store(tmp_path):
    code, told = doctor("--news", tmp_path / "none.db")
    assert code == 1
    assert "WRONG  store" in told
    assert "hashnews news add FILE" in told


def test_a_damaged_store(sample_news, tmp_path):
    path = tmp_path / "news.db"
    with NewsStore(sample_news) as store:
        store.backup(path)
    content = bytearray(path.read_bytes())
    content[40960:81920] = bytes(40960)
    path.write_bytes(content)
    code, told = doctor("--news", path)
    assert code == 1
    assert "restore a backup" in told


def test_no_model(tmp_path):
    code, told = doctor("--model", tmp_path)
    assert code == 1
    assert "manifest.json" in told
