"""Files: formats, gzip, bad lines, broken files, output that is whole or absent."""

import gzip
import json
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import threading
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from hashnews import files
from hashnews.errors import DataError
from hashnews.files import PostFile, RecordFile, Skipped, new_file, write_records
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


def test_a_row_of_csv_without_end_is_one_line_and_costs_no_memory(tmp_path, monkeypatch):
    """1 MB of gzip was a row of gigabytes, each cell of it short enough: a MemoryError."""
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "posts.csv"
    cell = '"' + "x" * (1 << 18) + '\n",'
    path.write_text("id,text\n1,one\n" + cell * 20)
    skipped = Skipped(tmp_path / "skipped.jsonl")
    assert ids(path, on_error="skip", skipped=skipped) == ["1"]
    assert "a row of more than 1 MiB" in str(skipped.first)
    path.write_text("id,text\n1,one\n" + "," * 1000 + "\n3,three\n" * 200_000)
    assert ids(path, on_error="skip", skipped=skipped)[-1] == "3"  # many rows are no long row
    kept = (tmp_path / "skipped.jsonl").read_text("utf-8").splitlines()[-1]
    assert json.loads(kept)["content"].count("''") == files.MOST_CELLS


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


def written(path, text="new\n"):
    with new_file(path) as stream:
        stream.write(text)


def test_a_link_stays_a_link_and_what_it_leads_to_is_replaced(tmp_path):
    """`-o` put a file in the place of a link, a pipe or a device."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file.jsonl").write_text("old\n")
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real" / "file.jsonl")
    written(link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "file.jsonl").read_text() == "new\n"
    dangling = tmp_path / "dangling.jsonl"
    dangling.symlink_to(tmp_path / "real" / "later.jsonl")
    written(dangling)
    assert dangling.is_symlink()
    assert (tmp_path / "real" / "later.jsonl").read_text() == "new\n"
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == [
        "file.jsonl",
        "later.jsonl",
    ]


def test_a_pipe_and_a_device_are_written_to_and_stay_what_they_are(tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    written(pipe)
    reader.join()
    assert read == ["new\n"]
    assert pipe.is_fifo()
    written("/dev/null")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(DataError, match=r"/dev/full: cannot be written: No space left"):
        written("/dev/full", "x" * 100_000)
    assert Path("/dev/full").is_char_device()


def test_a_folder_a_socket_and_a_database_are_refused(tmp_path):
    with pytest.raises(DataError, match="is not a file"):
        written(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        with pytest.raises(DataError, match="is not a file"):
            written(tmp_path / "socket")
    store = tmp_path / "store.jsonl"
    sqlite3.connect(store).execute("CREATE TABLE t (x)").connection.close()
    before = store.read_bytes()
    with pytest.raises(DataError, match="is a database"):
        written(store)
    assert store.read_bytes() == before


def test_a_side_file_that_cannot_be_written_is_one_line(tmp_path):
    skipped = Skipped(tmp_path / "no" / "folder.jsonl")
    with pytest.raises(DataError, match=r"folder\.jsonl: cannot be written"):
        skipped.add(DataError("bad"), "x")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"text":' + "[" * 100_000,
                                  '{"text":"\\ud800", "x":' + "[" * 100_000,
                                  '{"body":' + '{"a":' * 100_000])  # fmt: skip
@pytest.mark.parametrize("kind", [RecordFile, PostFile])
def test_json_nested_deeply_costs_its_line(tmp_path, line, kind):
    """28 of 55 tracebacks were JSON nested too deeply."""
    path = tmp_path / "p.jsonl"
    path.write_text(f"{GOOD[0]}\n{line}\n{GOOD[1]}\n")
    skipped = Skipped()
    options = (Post,) if kind is RecordFile else ()
    assert [post.id for post in kind(path, *options, "skip", skipped)] == ["1", "2"]
    assert skipped.count == 1
    with pytest.raises(DataError, match=r"p\.jsonl:2: "):
        list(kind(path, *options))


@pytest.mark.extra("parquet")
@pytest.mark.parametrize(
    ("unit", "zone", "value"),
    [("ns", "UTC", 1_591_056_000_000_000_001), ("us", "Mars/Olympus", 1_591_056_000_000_000),
     ("us", "UTC", 1 << 62), ("s", "UTC", 1 << 40), ("us", None, 1_591_056_000_000_000)],
)  # fmt: skip
def test_a_time_in_parquet_that_cannot_be_costs_its_row(tmp_path, unit, zone, value):
    """Nanoseconds, unknown zones and years beyond 9999 were tracebacks."""
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "p.parquet"
    good = None if zone else value  # without a zone the whole column is refused, row by row
    times = pyarrow.array([good, value, good], pyarrow.timestamp(unit, tz=zone))
    parquet.write_table(
        pyarrow.table({"id": ["1", "2", "3"], "text": ["x"] * 3, "created_at": times}), path
    )
    skipped = Skipped()
    found = ids(path, on_error="skip", skipped=skipped)
    if unit == "ns" and find_spec("pandas"):  # with which pyarrow reads them
        assert found == ["1", "2", "3"]
        return
    assert found == (["1", "3"] if zone else [])
    assert skipped.count == 3 - len(found)
    with pytest.raises(DataError, match=rf"p\.parquet:{2 if zone else 1}: "):
        ids(path)


@pytest.mark.extra("parquet")
def test_a_column_of_parquet_whose_name_is_no_text_is_one_line(tmp_path):
    """It was a traceback."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "posts.parquet"
    pq.write_table(pa.table({"id": ["1"], "text": ["x"], "zebra": ["y"]}), path, store_schema=False)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"zebra", b"z\xe1bra"))
    assert path.read_bytes() != whole
    with pytest.raises(DataError, match=r"posts.parquet: cannot be read as Parquet"):
        ids(path)


def test_the_side_file_of_the_run_before_is_kept(tmp_path):
    """It was overwritten."""
    side = tmp_path / "refused.jsonl"
    for reason in ("first", "second"):
        skipped = Skipped(side)
        for n in (1, 2):
            skipped.add(DataError(reason, "a.jsonl", n), "x")
    for path, reason in ((side, "second"), (tmp_path / "refused.jsonl.old", "first")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [(line["reason"], line["line"]) for line in lines] == [(reason, 1), (reason, 2)]
