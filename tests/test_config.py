"""Settings: TOML in, unknown keys out."""

import pytest

from hashnews.config import Config
from hashnews.errors import ConfigError


class Inner(Config):
    size: int = 3


class Outer(Config):
    name: str = "x"
    rate: float = 0.5
    inner: Inner = Inner()


def test_defaults_file_and_changes(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text('name = "y"\n[inner]\nsize = 5\n')
    assert Outer.load() == Outer()
    assert Outer.load(path) == Outer(name="y", inner=Inner(size=5))
    changed = Outer.load(path, ["inner.size=7", "name=plain words", "rate=1e-3"])
    assert (changed.inner.size, changed.name, changed.rate) == (7, "plain words", 0.001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('nmae = "y"', "nmae: unknown setting"),
        ("[inner]\nsize = 'big'", "inner.size: "),
        ("[inner]\nsize = 3\nsise = 4", "inner.sise: unknown setting"),
        ("name =", "cannot read the settings"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, text, message):
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Outer.load(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", ["name", "inner=3", "name.x=3", "other=1", "inner.size=x"])
def test_wrong_changes(change):
    with pytest.raises(ConfigError):
        Outer.load(None, ["name=y", change])


def test_an_absent_file(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        Outer.load(tmp_path / "absent.toml")


def test_settings_do_not_change():
    with pytest.raises(Exception, match="frozen"):
        Outer().name = "y"
