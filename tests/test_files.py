"""Files: formats, gzip, bad lines, broken files, output that is whole or absent."""

import gzip
import json
import resource
import signal
import subprocess
import sys
import textwrap
from functools import partial

import pytest

from hashnews.errors import DataError
from hashnews.files import RecordFile, Skipped, new_file, write_records
from hashnews.records import Article, Post

PARQUET = partial(pytest.param, marks=pytest.mark.extra("parquet"))

GOOD = ['{"id":"1","text":"one"}', '{"id":"2","text":"two","created_at":"2020-06-02T00:00:00Z"}']


def ids(path, **options):
    return [post.id for post in RecordFile(path, Post, **options)]


@pytest.mark.parametrize(
    "name", ["posts.jsonl", "posts.ndjson", "posts.jsonl.gz", "POSTS.JSONL.GZ"]
)
def test_json_lines(tmp_path, name):
    path = tmp_path / name
    text = "\n".join([GOOD[0], "", GOOD[1]])  # an empty line, and no line break at the end
    opened = gzip.open if name.lower().endswith("gz") else open
    with opened(path, "wt") as stream:
        stream.write(text)
    assert ids(path) == ["1", "2"]


def test_csv(tmp_path):
    path = tmp_path / "news.csv"
    rows = [
        "id,title,text,published_at,entities",
        '1,"A, b","x\ny",2020-06-02,"[""Ann""]"',
        "2,,z,2020-06-02,",
    ]
    path.write_text("\ufeff" + "\r\n".join(rows), encoding="utf-8")
    one, two = RecordFile(path, Article)
    assert (one.title, one.text, one.entities) == ("A, b", "x\ny", ("Ann",))
    assert (two.title, two.entities) == ("", None)


@pytest.mark.extra("parquet")
def test_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "news.parquet"
    times = pa.array([1591106700_000000, None], pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"id": ["1", "2"], "text": ["x", "y"], "created_at": times}), path)
    one, two = RecordFile(path, Post)
    assert one.created_at.isoformat() == "2020-06-02T14:05:00+00:00"
    assert two.created_at is None


def test_standard_input():
    code = "from hashnews.files import *; from hashnews.records import Post\n"
    code += "print(*(post.id for post in RecordFile('-', Post)))"
    done = subprocess.run(
        [sys.executable, "-c", code], input="\n".join(GOOD), text=True, capture_output=True
    )
    assert done.stdout.split() == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not valid JSON"),
        ("[1]", "object"),
        ("null", "object"),
        ('{"id":"3"}', "text: is missing"),
        ('{"id":"3","text":5}', "text: "),
        ('{"id":"3","text":"x","created_at":"yesterday"}', "'yesterday' is not a time"),
        ('{"id":"3","text":"x","entities":"Ann"}', "entities: "),
        ("\x00\x01", "not valid JSON"),
    ],
)
def test_a_bad_line_stops_with_its_place_or_is_set_aside(tmp_path, line, reason):
    path, side = tmp_path / "posts.jsonl", tmp_path / "posts.skipped.jsonl"
    path.write_text("\n".join([GOOD[0], line, GOOD[1]]))
    with pytest.raises(DataError, match=r"posts\.jsonl:2: ") as caught:
        ids(path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    skipped = Skipped(side)
    assert ids(path, on_error="skip", skipped=skipped) == ["1", "2"]
    assert skipped.count == 1
    kept = json.loads(side.read_text())
    assert (kept["file"], kept["line"], kept["content"]) == (str(path), 2, line)
    assert reason in kept["reason"]


def test_bytes_that_are_not_text(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_bytes(GOOD[0].encode() + b'\n{"id":"x","text":"\xff\xfe"}\n' + GOOD[1].encode())
    skipped = Skipped(tmp_path / "side.jsonl")
    assert ids(path, on_error="skip", skipped=skipped) == ["1", "2"]
    assert skipped.count == 1
    json.loads((tmp_path / "side.jsonl").read_text())


def test_half_a_surrogate_pair_is_mended(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id":"1","text":"a \\ud83d b"}\n')
    (post,) = RecordFile(path, Post)
    post.text.encode()
    assert post.text == "a � b"


def test_broken_csv(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text('id,text\n1,one\n2,two,too many\n3,three\n4,"never closed\n')
    skipped = Skipped()
    assert ids(path, on_error="skip", skipped=skipped) == ["1", "3"]
    assert skipped.count == 2
    with pytest.raises(DataError, match=r"posts\.csv:3: more cells"):
        ids(path)


def test_a_gzip_file_cut_short(tmp_path):
    path = tmp_path / "posts.jsonl.gz"
    whole = gzip.compress(
        "\n".join(f'{{"id":"{n}","text":"x{n * 7919}"}}' for n in range(20_000)).encode()
    )
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="cannot be read on"):
        ids(path)
    skipped = Skipped()
    kept = ids(path, on_error="skip", skipped=skipped)
    assert 1000 < len(kept) < 20_000
    assert kept == [str(n) for n in range(len(kept))]
    assert skipped.count >= 1


@pytest.mark.parametrize("name", [PARQUET("posts.parquet"), "posts.jsonl.gz"])
def test_a_file_that_is_not_what_its_name_says(tmp_path, name):
    path = tmp_path / name
    path.write_text("not at all")
    with pytest.raises(DataError, match=name):
        ids(path)


@pytest.mark.parametrize(
    "name", ["absent.jsonl", "absent.csv", PARQUET("absent.parquet"), "folder.jsonl"]
)
def test_a_file_that_cannot_be_opened(tmp_path, name):
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(DataError, match=name):
        ids(tmp_path / name)


def test_a_name_of_no_known_kind(tmp_path):
    with pytest.raises(DataError, match="should end in one of"):
        ids(tmp_path / "posts.docx")


def test_reading_streams(tmp_path):
    """A file of 60 MB is read with hardly any memory, and says how far it is."""
    path = tmp_path / "posts.jsonl"
    with path.open("w") as stream:
        for n in range(20_000):
            stream.write(json.dumps({"id": str(n), "text": "x" * 3000}) + "\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    file = RecordFile(path, Post)
    shares = [file.done for n, _ in enumerate(file) if n % 5000 == 0]
    assert shares == sorted(shares)
    assert 0.2 < shares[-1] < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_writing_reads_back_and_is_the_same_every_time(tmp_path, name):
    posts = [Post(id="1", text="é 👍"), Post(id="2", text="two", user="u")]
    assert write_records(tmp_path / name, posts) == 2
    assert list(RecordFile(tmp_path / name, Post)) == posts
    first = (tmp_path / name).read_bytes()
    write_records(tmp_path / name, posts)
    assert (tmp_path / name).read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="stop"), new_file(path) as stream:
        stream.write("new")
        raise RuntimeError("stop")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_kill_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("old")
    code = textwrap.dedent(f"""
        import os, signal
        from hashnews.files import new_file
        with new_file({str(path)!r}) as stream:
            stream.write("new" * 100_000)
            stream.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run([sys.executable, "-c", code])
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"


def test_a_full_disk_is_one_line_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("old")
    code = textwrap.dedent(f"""
        import resource, signal
        from hashnews.errors import DataError
        from hashnews.files import new_file
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            with new_file({str(path)!r}) as stream:
                stream.write("new" * 100_000)
        except DataError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == f"{path}: cannot be written: File too large\n"
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]
