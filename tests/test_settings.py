"""Settings by flag, environment and file: one order, one list."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.cli.settings import OPTIONS, keys, settings, store_or_sample
from hashnews.errors import ConfigError

ROOT = Path(__file__).parents[1]


@click.command()
@settings("port", "cors", "fetch", "every", "news")
def asked(**given):
    click.echo(repr(given))


def told(*arguments, **environment):
    done = CliRunner().invoke(asked, arguments, env=environment)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return eval(done.output, {"PosixPath": Path})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hashnews.toml"
    path.write_text('port = 1\ncors = ["https://a.example"]\nfetch = true\nworkers = 3\n')
    return path


def test_flag_before_environment_before_file_before_default(file):
    assert told()["port"] == 8000
    assert told("--config", str(file))["port"] == 1
    assert told(HASHNEWS_CONFIG=str(file))["port"] == 1
    assert told("--config", str(file), HASHNEWS_PORT="2")["port"] == 2
    assert told("--port", "3", "--config", str(file), HASHNEWS_PORT="2")["port"] == 3


def test_lists_and_switches(file):
    given = told("--config", str(file))
    assert given["cors"] == ("https://a.example",)
    assert given["fetch"] is True
    assert given["every"] == 900.0
    several = told(HASHNEWS_CORS="https://a.example https://b.example", HASHNEWS_FETCH="1")
    assert several["cors"] == ("https://a.example", "https://b.example")
    assert several["fetch"] is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1", "unknown setting 'prot'"),
        ("port = ", "cannot read the settings"),
        ("port = [1]", "port must be one value"),
        ("[port]\nx = 1", "port must be one value"),
        ('cors = "https://a.example"', "cors must be a list"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, message):
    path = tmp_path / "hashnews.toml"
    path.write_text(text)
    done = CliRunner().invoke(main, ["serve", "--config", str(path)])
    assert done.exit_code == 1
    assert message in done.output
    assert len(done.output.splitlines()) == 1
    missing = CliRunner().invoke(main, ["serve", "--config", str(tmp_path / "none.toml")])
    assert missing.exit_code == 1
    wrong = CliRunner().invoke(asked, ["--config", str(path)], env={"HASHNEWS_PORT": "x"})
    assert wrong.exit_code != 0


def test_keys_are_lines(tmp_path, monkeypatch):
    path = tmp_path / "keys"
    path.write_text(" one \n\ntwo\n")
    assert keys(path, "NONE") == ("one", "two")
    monkeypatch.setenv("HASHNEWS_KEY", "three")
    assert keys(None, "HASHNEWS_KEY") == ("three",)
    assert keys(None, "NONE") == ()
    with pytest.raises(ConfigError, match="there is no such file"):
        keys(tmp_path / "none", "NONE")


def test_the_store_of_this_folder_goes_before_the_sample(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert store_or_sample(None) is None
    (tmp_path / "news.db").touch()
    assert store_or_sample(None) == Path("news.db")
    assert store_or_sample(Path("other.db")) == Path("other.db")


def test_the_table_of_settings_is_true():
    code = "import cli_reference; print(cli_reference.configuration(), end='')"
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "tools", capture_output=True, text=True, check=True
    )
    written = (ROOT / "docs" / "data.md").read_text("utf-8")
    assert written == shown.stdout, "run: python tools/cli_reference.py"
    assert all(f"`{name} = " in written for name in OPTIONS)
