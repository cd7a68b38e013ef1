"""Archives that are broken or meant to harm: one line each, no traceback, little memory."""

import gzip
import io
import json
import random
import stat
import struct
import tracemalloc
import warnings
import zipfile
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from makers import (
    DID,
    Plain,
    activity,
    assigned,
    car,
    cbor,
    link_to,
    list_records,
    mastodon_files,
    meta_json,
    outbox,
    record,
    repository,
    section,
    tarred,
    tree,
    tweet,
    varint,
    x_files,
    zipped,
)

from hashnews.cli import main
from hashnews.errors import DataError
from hashnews.files import Skipped
from hashnews.posts.archives import members
from hashnews.posts.archives.open_file import open_posts

AT = datetime(2026, 11, 1, 8, tzinfo=UTC)
POST = Plain(11, "Baked again. #SourDough", AT)
ITEM, TWEET = activity(POST), tweet(POST)
DEEP = b"[" * 100_000 + b"]" * 100_000


def changed(item, *path, value):
    """An item with one value changed, deep within it."""
    copy = json.loads(json.dumps(item))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


def one(item):
    """An outbox of a good post, a bad one and another good one."""
    return outbox([ITEM, item, activity(Plain(12, "Again. #SourDough", AT))])


def raw_outbox(text):
    return b'{"type": "OrderedCollection", "orderedItems": [' + text + b"]}"


def as_json(item):
    return json.dumps(item).encode()


def zip_with(name, content=b"{}", **about):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as packed, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        packed.writestr("outbox.json", outbox([ITEM]), zipfile.ZIP_DEFLATED)
        info = zipfile.ZipInfo(name)
        for key, value in about.items():
            setattr(info, key, value)
        packed.writestr(info, content)
    return whole.getvalue()


def bomb_in_zip(media=b""):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("media.png", media)
        packed.writestr("outbox.json", b"[" + b" " * (40 << 20) + b"]")
    return whole.getvalue()


def encrypted_zip():
    """The flag that says so; the standard library cannot encrypt."""
    content = bytearray(zipped({"outbox.json": outbox([ITEM])}))
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(sign) + at] |= 1
    return bytes(content)


def method_of_zip(number):
    content = bytearray(zipped({"outbox.json": outbox([ITEM])}))
    for sign, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = content.index(sign) + at
        content[place : place + 2] = struct.pack("<H", number)
    return bytes(content)


def damaged_zip():
    content = bytearray(zipped({"outbox.json": outbox([activity(Plain(n, f"{n * n} #a", AT))
                                                       for n in range(200)])}))  # fmt: skip
    content[200:260] = bytes(60)
    return bytes(content)


def huge_table():
    content = bytearray(zipped({"outbox.json": outbox([ITEM])}))
    at = content.rindex(b"PK\x05\x06")
    content[at + 12 : at + 16] = struct.pack("<I", 1 << 31)
    return bytes(content)


def tar_header(name, size, kind=b"0"):
    header = bytearray(512)
    header[: len(name)] = name
    header[100:108], header[124:136] = b"0000644\0", b"%011o\0" % size
    header[156:157], header[257:265] = kind, b"ustar\x0000"
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def commit_to(root):
    return cbor({"did": DID, "version": 3, "prev": None, "data": root, "sig": b""})


def car_of(*blocks, root=None):
    return car(link_to(blocks[0]) if root is None else root, blocks)


def car_with_record(block):
    """A repository whose only post is these bytes."""
    root, nodes = tree({b"app.bsky.feed.post/3aaa": link_to(block)})
    return car_of(commit_to(root), *nodes, block)


def car_with_node(node):
    return car_of(commit_to(link_to(node)), node)


GOOD_CAR = car(link_to(repository([POST])[0]), repository([POST]))
ENTRY = {"p": 0, "k": b"app.bsky.feed.post/3aaa", "v": link_to(b"x"), "t": None}

# What it is, and the words of its one line; a number: so many posts, and no line.
HOSTILE = {
    # packed
    "a zip bomb": (bomb_in_zip, "unpacks to more than 200 times"),
    "a gzip bomb": (lambda: gzip.compress(b"[" + b" " * (40 << 20)), "not an archive"),
    "a tar bomb": (lambda: gzip.compress(tar_header(b"a.png", 40 << 20) + bytes(40 << 20)),
                   "unpacks to more than"),
    "../ in a zip": (lambda: zip_with("../../etc/passwd"), "leads out of it: '../../etc/passwd'"),
    "..\\ in a zip": (lambda: zip_with("data\\..\\..\\x.js"), "leads out of it"),
    "/ in a zip": (lambda: zip_with("/etc/passwd"), "leads out of it"),
    "C: in a zip": (lambda: zip_with("C:/x.js"), "leads out of it"),
    "../ in a tar": (lambda: tarred({"../outbox.json": outbox([ITEM])}), "leads out of it"),
    "a zip in a zip": (lambda: zipped({"a.zip": zipped({"outbox.json": outbox([ITEM])})}),
                       "no posts that are known"),
    "a zip named .json in a zip": (lambda: zipped({"a.json": zipped({"outbox.json": b"{}"})}),
                                   "no posts that are known"),
    "a bomb beside much else in a zip": (lambda: bomb_in_zip(random.Random(1).randbytes(1 << 20)),
                                         "unpacks to more than 200 times"),
    "a link in a zip": (lambda: zip_with("liked.json", outbox([ITEM]),
                                         external_attr=(stat.S_IFLNK | 0o777) << 16), 1),
    "a link in a tar": (lambda: gzip.compress(tar_header(b"outbox.json", 0, b"2") + bytes(1024)),
                        "no posts that are known"),
    "an encrypted zip": (encrypted_zip, "it is encrypted"),
    "a zip of an unknown method": (lambda: method_of_zip(97), "packed in a way that is not read"),
    "a zip packed by LZMA": (lambda: method_of_zip(14), "packed in a way that is not read"),
    "a zip with a hole": (damaged_zip, "cannot be read on"),
    "a zip cut off": (lambda: zipped(x_files([POST]))[:-60], "cannot be read on"),
    "a zip's head alone": (lambda: b"PK\x03\x04", "cannot be read on"),
    "an empty zip": (lambda: zipped({}), "no posts that are known"),
    "a zip with a huge table": (huge_table, "table of contents is larger than"),
    "the same name twice in a zip": (lambda: zip_with("outbox.json", outbox([ITEM])), 2),
    "a gzip cut off": (lambda: tarred(mastodon_files([POST]))[:-90], "cannot be read on"),
    "a tar with a wrong sum": (lambda: gzip.compress(
        bytes([tar_header(b"a", 0)[0] ^ 1]) + tar_header(b"a", 0)[1:]), "a broken tar"),
    "a tar with a huge name": (lambda: gzip.compress(
        tar_header(b"long", 7 << 30, b"L") + bytes(1 << 20)), "in the middle of a file"),
    "a tar with a negative size": (lambda: gzip.compress(
        tar_header(b"outbox.json", -1)), "a broken tar"),
    "a tar cut off": (lambda: gzip.compress(tar_header(b"outbox.json", 900) + b"{"),
                      "in the middle of a file"),
    # JSON
    "nested 100,000 deep": (lambda: raw_outbox(as_json(ITEM) + b"," + DEEP), "nested too deeply"),
    "deep before the posts": (lambda: b'{"a": ' + DEEP + b', "orderedItems": []}',
                              "not an archive"),
    "an item of 9 MB": (lambda: raw_outbox(as_json(ITEM) + b',{"a": "' + b"x" * (9 << 20) + b'"}'),
                        "an item of more than 4 MB"),
    "an item that never ends": (lambda: raw_outbox(as_json(ITEM) + b',{"a": "'), "broken JSON"),
    "cut off after a post": (lambda: raw_outbox(as_json(ITEM))[:-2], "broken JSON: it ends early"),
    "a comma missing": (lambda: raw_outbox(as_json(ITEM) + as_json(ITEM)), "a comma is missing"),
    "no JSON after a post": (lambda: raw_outbox(as_json(ITEM) + b", {]}" + b" " * 99),
                             "broken JSON"),
    "a number of 9,000 digits": (lambda: raw_outbox(as_json(ITEM)[:-1] + b', "n": ' + b"9" * 9000
                                                    + b"}"), 1),
    "NaN and Infinity": (lambda: raw_outbox(as_json(ITEM)[:-1] + b', "n": [NaN, -Infinity]}'), 1),
    "1e999 as a time": (lambda: meta_json([{"media": [{"title": "x #y", "creation_timestamp": 1}]}
                        ]).replace(b" : 1}", b" : 1e999}"), "not a time in seconds"),
    "equal keys: the last counts": (lambda: raw_outbox(
        as_json(ITEM)[:-1] + b', "type": "Announce"}'), 0),
    "bytes that are no UTF-8": (lambda: one(ITEM).replace(b"Baked", b"B\xff\xfeked"), 3),
    "half a character": (lambda: one(ITEM).replace(b"Baked", b"\\ud83d #x\\udc00"), 3),
    "a NUL in a text": (lambda: one(ITEM).replace(b"Baked", b"B\\u0000ked"), 3),
    "UTF-16": (lambda: outbox([ITEM]).decode().encode("utf-16"), "not an archive"),
    "a script for an assignment": (lambda: b"window.YTD.tweets.part0 = fetch('http://x');",
                                   "not an archive"),
    "a script after the posts": (lambda: assigned("window.YTD.tweets.part0", [TWEET])
                                 + b";\nalert(1)", "no JSON"),
    "an object with no list": (lambda: b'{"orderedItems": {"a": 1}}', "not an archive"),
    # items
    "an item that is a number": (lambda: one(5), "item 2 of Mastodon: an activity that is no obj"),
    "a Create of nothing": (lambda: one({"type": "Create", "object": None}), "post that is no obj"),
    "a Create of an address": (lambda: one({"type": "Create", "object": "https://x"}), "no object"),
    "lists for texts": (lambda: one(changed(ITEM, "object", "content", value=[["x"]])), 3),
    "a text for the tags": (lambda: one(changed(ITEM, "object", "tag", value="#a")), 3),
    "numbers for tags": (lambda: one(changed(ITEM, "object", "tag", value=[1, None, {"type":
                         "Hashtag", "name": 7}])), 3),
    "a number for the readers": (lambda: one(changed(ITEM, "object", "to", value=7)), 3),
    "no time": (lambda: outbox([{"type": "Create", "object": {"content": "x #y"}}]),
                "item 1 of Mastodon: a post without a time"),
    "a time that is none": (lambda: one(changed(ITEM, "object", "published", value="soon")),
                            "'soon' is not a time"),
    "a number for a time": (lambda: one(changed(ITEM, "object", "published", value=10**18)),
                            "must be text"),
    "the year 0001": (lambda: one(changed(ITEM, "object", "published",
                                          value="0001-01-01T00:00:00Z")), "not from 1900"),
    "a post of a million characters": (lambda: one(changed(ITEM, "object", "content",
                                       value="<p>" * 300_000 + "x " * 500_000)), "100,000 char"),
    "an X post without an id": (lambda: assigned("window.YTD.tweets.part0",
                                [{"tweet": {"full_text": "x", "created_at": "?"}}]),
                                "without an id"),
    "an X time that is none": (lambda: assigned("window.YTD.tweets.part0", [
        changed(TWEET, "tweet", "created_at", value="Xyz Foo 99 99:99:99 +0000 2026")]), "a time"),
    "an X time of the 32nd": (lambda: assigned("window.YTD.tweets.part0", [
        changed(TWEET, "tweet", "created_at", value="Tue Nov 32 10:00:00 +0000 2026")]), "out of"),
    "an X post that is a list": (lambda: assigned("window.YTD.tweets.part0", [[]]), "no object"),
    "a time of Meta that is a text": (lambda: meta_json(
        [{"media": [{"title": "x #y", "creation_timestamp": {"a": 1}}]}]), "must be text"),
    "a negative time of Meta": (lambda: meta_json(
        [{"media": [{"title": "x #y", "creation_timestamp": -5}]}]), "not a time in seconds"),
    "a record that is a text": (lambda: json.dumps({"records": [
        {"uri": "at://a/b", "value": {}}, {"uri": "at://a/b", "value": "x"}]}).encode(),
                                "no object"),
    "a record without an address": (lambda: list_records([POST]).replace(b"at://", b"http://"),
                                    "without an address"),
    # Bluesky's blocks
    "a CAR cut off": (lambda: GOOD_CAR[:-5], "cut off"),
    "a changed byte in a CAR": (lambda: GOOD_CAR[:-5] + b"!" + GOOD_CAR[-4:], "what its CID"),
    "a CAR without its commit": (lambda: car(link_to(b"x"), repository([POST])[1:]),
                                 "its commit, which says what is in it, is missing"),
    "a CAR without a part of its tree": (lambda: car_of(commit_to(link_to(b"x"))),
                                         "a part of its tree is missing"),
    "a CAR without a post": (lambda: car_of(*repository([POST])[:-4],
                             *(one for one in repository([POST])[-4:] if b"Baked" not in one)),
                             "1 posts that its tree refers to are missing"),
    "a CAR of version 2": (lambda: varint(len(head := cbor({"roots": [link_to(b"x")],
                           "version": 2}))) + head, "not a CAR of version 1"),
    "a CAR without roots": (lambda: varint(len(head := cbor({"roots": [], "version": 1}))) + head,
                            "its commit"),
    "a block of 9 GB": (lambda: GOOD_CAR + varint(9 << 30) + b"x", "has 9,663,676,416 bytes"),
    "a length that never ends": (lambda: GOOD_CAR + b"\xff" * 40, "a length"),
    "another kind of CID": (lambda: GOOD_CAR + section(b"x", b"\x12\x20" + bytes(34)), "not a CID"),
    "a record nested 10,000 deep": (lambda: car_with_record(b"\x81" * 10_000 + b"\x80"), "nested"),
    "a record of a huge list": (lambda: car_with_record(b"\x9b" + b"\x7f" * 8), "cut off"),
    "a record that goes on for ever": (lambda: car_with_record(b"\x9f\x01\xff"), "lengths"),
    "a record with equal keys": (lambda: car_with_record(b"\xa2\x61a\x01\x61a\x02"), "in order"),
    "a record with another tag": (lambda: car_with_record(b"\xc1\x01"), "tag 1"),
    "a record that is no object": (lambda: car_with_record(cbor([1])), "item 1 of Bluesky"),
    "a text that is no UTF-8": (lambda: car_with_record(b"\x62\xff\xfe"), "UTF-8"),
    "a post without a time in a CAR": (lambda: car_with_record(cbor(
        {"$type": "app.bsky.feed.post", "text": "x #y"})), "without a time"),
    "facets that are numbers": (lambda: car_with_record(cbor({**record(POST), "facets": [1, {
        "features": 5}, {"features": [7]}], "tags": 3})), 1),
    "a tree whose keys are not in order": (lambda: car_with_node(cbor({"l": None, "e": [
        ENTRY, {**ENTRY, "k": b"app.bsky.feed.post/2"}]})), "not in order"),
    "a tree with a text for a key": (lambda: car_with_node(cbor({"l": None, "e": [
        {**ENTRY, "k": "x"}]})), "an entry of its tree is broken"),
    "a tree that leads to one node twice": (lambda: car_of(
        commit_to(link_to(top := cbor({"l": link_to(low := cbor({"l": None, "e": []})), "e": [
            {**ENTRY, "t": link_to(low)}]}))), top, low), "or there twice"),
    "a tree with a negative prefix": (lambda: car_with_node(cbor({"l": None, "e": [
        {**ENTRY, "p": -3}]})), "1 posts that its tree refers to are missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_archive_gets_one_line(tmp_path, what):
    make, outcome = HOSTILE[what]
    path = tmp_path / "some.json"
    path.write_bytes(make())
    if isinstance(outcome, int):
        assert len(list(open_posts(path))) == outcome
    else:
        with pytest.raises(DataError) as problem:
            list(open_posts(path))
        line = str(problem.value)
        assert line.startswith(f"{path}: ")
        assert outcome in line
        assert "\n" not in line


def test_there_are_at_least_forty():
    assert len(HOSTILE) >= 40


def test_what_is_good_is_kept_with_on_error_skip(tmp_path):
    for what, kept in {"a time that is none": 2, "an item that never ends": 1, "an item of 9 MB": 1,
                       "a CAR cut off": 0, "a script after the posts": 1}.items():  # fmt: skip
        path, skipped = tmp_path / "some.json", Skipped(tmp_path / "aside.jsonl")
        path.write_bytes(HOSTILE[what][0]())
        found = list(open_posts(path, "skip", skipped))
        assert (len(found), skipped.count) == (kept, 1), what
        (line,) = (tmp_path / "aside.jsonl").read_text().splitlines()
        assert json.loads(line)["file"] == str(path)


@pytest.mark.parametrize("what", ["a zip bomb", "a CAR cut off", "no time", "UTF-16"])
def test_the_command_says_it_in_one_line(tmp_path, what):
    path = tmp_path / "archive.json"
    path.write_bytes(HOSTILE[what][0]())
    done = CliRunner().invoke(main, ["posts", "add", str(path), "--news", str(tmp_path / "n.db")])
    assert done.exit_code == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.output


def test_cuts_and_changes_anywhere_never_end_in_a_traceback(tmp_path):
    chance, lines = random.Random(7), []
    whole = [zipped(x_files([POST])), tarred(mastodon_files([POST])), GOOD_CAR, one(ITEM),
             tarred(mastodon_files([POST]), "w")]  # fmt: skip
    path = tmp_path / "some.json"
    for content in whole:
        for _ in range(120):
            broken = bytearray(content[: chance.randint(1, len(content))])
            for _ in range(chance.randint(0, 3)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            path.write_bytes(bytes(broken))
            try:
                list(open_posts(path))
            except DataError as problem:
                lines.append(str(problem))
    assert len(lines) > 300
    assert not [line for line in lines if "\n" in line]


def peak(path):
    tracemalloc.start()
    count = sum(1 for _ in open_posts(path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return count, most


def test_memory_does_not_grow_with_the_archive(tmp_path):
    def many(count):
        return (Plain(n, f"Post {n} about bread. #SourDough", AT) for n in range(count))

    def both(count):
        yield mastodon_files(many(count))["outbox.json"]
        yield zipped(
            {"data/tweets.js": assigned("window.YTD.tweets.part0", map(tweet, many(count)))}
        )
        yield tarred({"outbox.json": outbox(map(activity, many(count)))})

    for small, large in zip(both(300), both(3000), strict=True):
        sizes = []
        for name, content in (("small", small), ("large", large)):
            path = tmp_path / f"{name}.json"
            path.write_bytes(content)
            sizes.append(peak(path))
        assert [count for count, _ in sizes] == [300, 3000]
        assert sizes[1][1] < 1.3 * sizes[0][1] + (1 << 20)


def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "bomb.zip"
    path.write_bytes(bomb_in_zip())
    tracemalloc.start()
    with pytest.raises(DataError, match="unpacks"):
        list(open_posts(path))
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()
    assert members.RATIO * path.stat().st_size < 40 << 20


def test_nothing_is_written_or_opened_beside_the_file(tmp_path):
    """An archive with names and links everywhere leaves the folder as it was."""
    path = tmp_path / "a.zip"
    path.write_bytes(HOSTILE["a link in a zip"][0]())
    list(open_posts(path))
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]
