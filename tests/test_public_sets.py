"""Public hashtag datasets, as rows made up in the form their authors give them out."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hashnews.cli import main
from hashnews.errors import DataError
from hashnews.prepare.public_sets import public_set, read_public
from hashnews.text.segment import shipped_segmenter

# Text TAB user TAB hashtags; letters in lower case, words cut by their tokenizer.
HOWYOUTAG = (
    "tea be ready at the old harbour\t1234\tgoodmorning\tharbour\n"
    "`` so much rain '' ... she say\t77\tclimatechange\n"
)
# Text, hashtags as words between semicolons, the address of a picture; <...> stands for things.
CMKP = (
    "kick - off at <time> in <user> ' s park : <url><sep>home game;our town<sep>https://e.org/1.jpg\n"
    "bread again<sep>baking<sep>https://e.org/2.jpg\n"
)
# A text a line, hashtags as words between [SEP] a line.
SRC = "bread and salt and a long table\n今天天气很好，我们去公园\n"
DST = "long table [SEP] bread [SEP] bread\n公园散步\n"


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def howyoutag(folder):
    return write(folder, {f"{part}.csv": HOWYOUTAG for part in ("train", "valid", "test")})


def cmkp(folder):
    return write(folder, {f"{part}_src.txt": CMKP for part in ("train", "valid", "test")})


def thg(folder, name="twitter.2021.{}.{}_after_cleaning.txt", dev="val"):
    parts = ("train", dev, "test")
    texts = {name.format(part, "src"): SRC for part in parts}
    return write(folder, texts | {name.format(part, "dst"): DST for part in parts})


def posts(folder):
    return list(read_public(folder, shipped_segmenter()))


def told(post):
    return post.split, post.user, post.body, [" ".join(tag.words) for tag in post.hashtags]


def test_howyoutag(tmp_path):
    found = posts(howyoutag(tmp_path))
    assert told(found[0]) == (
        "train", "1234", "tea be ready at the old harbour", ["good morning", "harbour"],
    )  # fmt: skip
    assert told(found[1])[3] == ["climate change"]
    assert [post.split for post in found] == [
        part for part in ("train", "validation", "test") for _ in range(2)
    ]
    assert len({post.id for post in found}) == len(found)


def test_cmkp(tmp_path):
    found = posts(cmkp(tmp_path))
    assert told(found[0]) == (
        "train", None, "kick - off at in ' s park :", ["home game", "our town"],
    )  # fmt: skip
    assert [tag.written for tag in found[0].hashtags] == ["#homegame", "#ourtown"]
    assert not any("e.org" in post.body for post in found)


@pytest.mark.parametrize(
    ("name", "dev"),
    [("twitter.2021.{}.{}_after_cleaning.txt", "val"), ("twitter_{}.{}", "dev"),
     ("weibo.{}.{}", "valid")],
)  # fmt: skip
def test_thg_and_whg(tmp_path, name, dev):
    folder = thg(tmp_path, name, dev)
    (folder / f"{name.format('train', 'src')}_bm25_index.json").write_text("[]")
    found = posts(folder)
    assert told(found[0])[3] == ["long table", "bread"]  # twice the same is one
    assert told(found[1])[2:] == ("今天天气很好，我们去公园", ["公园散步"])
    assert [post.split for post in found[::2]] == ["train", "validation", "test"]


LINE = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=20)


@given(st.lists(LINE.map(lambda text: f"x {text}"), min_size=1, max_size=5))
def test_only_a_line_feed_ends_a_line(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("thg")
    src = "".join(f"{line}\n" for line in lines)
    for part in ("train", "dev", "test"):
        (folder / f"a.{part}.src").write_bytes(src.encode())
        (folder / f"a.{part}.dst").write_bytes(b"tea\n" * len(lines))
    found = [post.body for post in posts(folder) if post.split == "test"]
    assert found == [line.strip() for line in lines]


def test_what_is_wrong_is_named(tmp_path):
    folder = howyoutag(tmp_path / "h")
    (folder / "test.csv").write_text("good\t1\ttea\nno tabs here\n")
    with pytest.raises(DataError, match=r"test\.csv:2: is not text TAB user TAB hashtag"):
        posts(folder)
    folder = thg(tmp_path / "t", "a.{}.{}")
    (folder / "a.test.dst").write_text("tea\n")
    with pytest.raises(DataError, match=r"a\.test\.src: has 2 lines, a\.test\.dst has 1"):
        posts(folder)
    thg(tmp_path / "t", "b.{}.{}")
    with pytest.raises(DataError, match="has two files of test posts"):
        public_set(folder)
    folder = cmkp(tmp_path / "c")
    (folder / "train_src.txt").write_bytes(b"\xff\xfe<sep>tea<sep>x\n")
    with pytest.raises(DataError, match="is not UTF-8"):
        posts(folder)
    (folder / "train_src.txt").unlink()
    assert public_set(folder) is None
    with pytest.raises(DataError, match="is no dataset that can be read as a folder"):
        posts(folder)


def test_prepare_reads_a_folder(tmp_path):
    out = tmp_path / "posts.jsonl"
    done = CliRunner().invoke(main, ["prepare", str(cmkp(tmp_path / "c")), "-o", str(out)])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [line["split"] for line in lines] == ["train"] * 2 + ["validation"] * 2 + ["test"] * 2
    assert json.loads((tmp_path / "posts.stats.json").read_text())["table"]["posts"] == 6
    asked = ["prepare", str(tmp_path / "c"), "-o", str(out), "--split", "random"]
    refused = CliRunner().invoke(main, asked)
    assert refused.exit_code == 2
    assert "a split of its own" in refused.output
