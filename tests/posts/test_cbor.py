"""DAG-CBOR against cbor2, a decoder that is not ours; what is not canonical is refused."""

import hashlib
import io
from contextlib import suppress

import cbor2
import makers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashnews.errors import DataError
from hashnews.posts.cbor import decode, decode_first, read_car

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES, VALUES)
def test_what_cbor2_writes_canonically_is_read(first, second):
    content = cbor2.dumps(first, canonical=True)
    assert decode(content) == first
    both = content + cbor2.dumps(second, canonical=True)
    value, end = decode_first(both)
    assert (value, decode(both[end:])) == (first, second)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_cbor2_reads_them_or_refused(content):
    with suppress(DataError):
        value = decode(content)
        if b"\xd8\x2a" not in content:  # links are ours
            assert cbor2.loads(content) == value


@pytest.mark.parametrize(
    "content",
    [
        "", "18", "1817", "190001", "1a0000ffff", "1b00000000ffffffff", "5f4101ff", "9f01ff",
        "bf6161 01ff", "f7", "f93c00", "fa3f800000", "fb7ff0000000000000", "fb7ff8000000000000",
        "a2616201616101", "a2616101616102", "a10101", "c101", "d82a01", "d82a4100", "61ff",
        "9bffffffffffffffff", "bbffffffffffffffff", "7bffffffffffffffff", "0000", "81" * 80 + "01",
    ],
)  # fmt: skip
def test_what_is_not_canonical_is_refused(content):
    with pytest.raises(DataError):
        decode(bytes.fromhex(content))


def test_a_block_is_what_its_name_says():
    block = cbor2.dumps({"text": "x"}, canonical=True)
    cid = b"\x01\x71\x12\x20" + hashlib.sha256(block).digest()
    link = cbor2.CBORTag(42, b"\0" + cid)
    head = cbor2.dumps({"roots": [link], "version": 1}, canonical=True)

    def car(name, content):
        return bytes([len(head)]) + head + bytes([len(name + content)]) + name + content

    roots, blocks = read_car(car(cid, block))
    assert (roots, list(blocks)) == ([cid], [(cid, block, len(car(cid, block)))])
    for name, content in (
        (cid, block[:-1] + b"y"),
        (b"\x01\x70" + cid[2:], block),
        (cid[:20], b""),
    ):
        with pytest.raises(DataError):
            list(read_car(car(name, content))[1])
    with pytest.raises(DataError):
        list(read_car(car(cid, block)[:-1])[1])


@pytest.mark.parametrize("step", [5, 7, 100, 1 << 16])
def test_blocks_are_the_same_however_the_file_is_read(step, monkeypatch):
    monkeypatch.setattr("hashnews.posts.cbor.CHUNK", step)
    contents = [cbor2.dumps({"text": "x" * size}, canonical=True) for size in (0, 90, 3000, 1, 200)]
    cids = [b"\x01\x71\x12\x20" + hashlib.sha256(one).digest() for one in contents]
    head = cbor2.dumps({"roots": [], "version": 1}, canonical=True)
    file = makers.varint(len(head)) + head
    ends = []
    for cid, content in zip(cids, contents, strict=True):
        file += makers.varint(len(cid + content)) + cid + content
        ends.append(len(file))
    assert list(read_car(io.BytesIO(file))[1]) == list(zip(cids, contents, ends, strict=True))
    for cut in range(len(head) + 1, len(file)):
        if cut not in (*ends, len(head) + 1):
            with pytest.raises(DataError, match="cut off"):
                list(read_car(file[:cut])[1])
