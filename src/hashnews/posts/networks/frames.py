"""What the frames of Bluesky's streams say: the firehose's (DAG-CBOR) and Jetstream's (JSON).

The firehose is read as the lexicon com.atproto.sync.subscribeRepos has it: a frame is two values, a
head with `op` and `t` and a body; a commit brings the blocks of its records as a CAR. Jetstream is
the same in JSON, as in the README of github.com/bluesky-social/jetstream: `did`, `time_us`, `kind`,
`commit` or `account`.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hashnews.errors import DataError
from hashnews.posts.archives.bluesky import POST
from hashnews.posts.archives.texts import dict_in, list_in, text_in
from hashnews.posts.cbor import Cid, decode, decode_first, read_car
from hashnews.posts.networks.records import DID, PROFILE
from hashnews.records import parse_time
from hashnews.times import microseconds

LATEST = 1 << 62


class RecordChange(NamedTuple):
    """What happened to one record; `record` is None where it went."""

    collection: str
    key: str
    record: dict[str, Any] | None
    is_new: bool


class StreamMessage(NamedTuple):
    """A frame in our words."""

    cursor: str | None = None
    when: int = 0  # microseconds since 1970
    did: str = ""
    changes: tuple[RecordChange, ...] = ()
    gone: bool = False  # the account is no more
    anew: bool = False  # its posts have to be read anew
    note: str = ""
    lost: bool = False  # the server does not know our cursor


def read_firehose(frame: str | bytes) -> StreamMessage:
    """A frame of the firehose."""
    if isinstance(frame, str):
        raise DataError("a frame of the firehose is text")
    head, end = decode_first(frame)
    body = dict_in(decode(frame[end:]))
    kind = text_in(dict_in(head).get("t"))
    if dict_in(head).get("op") != 1:
        error, message = text_in(body.get("error"))[:50], text_in(body.get("message"))[:200]
        note = f"the server says {error}: {message}"
        return StreamMessage(note=note, lost=error == "FutureCursor")
    if kind == "#info":
        return StreamMessage(note=_info(body))
    sequence = body.get("seq")
    if not isinstance(sequence, int) or isinstance(sequence, bool):
        raise DataError("a frame without a number")
    did = text_in(body.get("repo") if kind == "#commit" else body.get("did"))
    found = StreamMessage(str(sequence), _when(body.get("time")), did)
    if not DID.fullmatch(did):
        return found
    if kind == "#commit":
        return found._replace(changes=_commit(body), anew=body.get("tooBig") is True)
    if kind == "#sync":
        return found._replace(anew=True)
    if kind == "#account":
        return found._replace(gone=body.get("active") is False, anew=body.get("active") is True)
    return found._replace(gone=kind == "#tombstone")


def _info(body: dict[str, Any]) -> str:
    name = text_in(body.get("name"))[:50]
    if name == "OutdatedCursor":
        return "the server no longer has all that happened meanwhile: some posts are missing"
    return f"the server says {name}"


def _commit(body: dict[str, Any]) -> tuple[RecordChange, ...]:
    """The changes of posts and profiles; blocks of others are not even decoded."""
    ops = [dict_in(op) for op in list_in(body.get("ops"))]
    ours = [op for op in ops if text_in(op.get("path")).startswith((f"{POST}/", f"{PROFILE}/"))]
    content = body.get("blocks")
    if not ours:
        return ()
    if not isinstance(content, bytes):
        raise DataError("a commit without blocks")
    wanted = {op.get("cid") for op in ours if isinstance(op.get("cid"), Cid)}
    blocks = (
        {cid: block for cid, block, _ in read_car(content)[1] if cid in wanted} if wanted else {}
    )
    changes = []
    for op in ours:
        collection, _, key = text_in(op.get("path")).partition("/")
        record, action = None, op.get("action")
        if action in ("create", "update"):
            if op.get("cid") not in blocks:
                raise DataError("a commit without the block of its record")
            record = dict_in(decode(blocks[op["cid"]]))
        elif action != "delete":
            raise DataError(f"a commit that does {str(action)[:20]!r}")
        changes.append(RecordChange(collection, key, record, action == "create"))
    return tuple(changes)


def read_jetstream(frame: str | bytes) -> StreamMessage:
    """A frame of Jetstream."""
    try:
        event = json.loads(frame)
    except (ValueError, RecursionError):
        raise DataError("a frame of Jetstream is not JSON") from None
    when, did = dict_in(event).get("time_us"), text_in(dict_in(event).get("did"))
    if not isinstance(when, int) or not 0 < when < LATEST or not DID.fullmatch(did):
        raise DataError("a frame of Jetstream without a time or a DID")
    found = StreamMessage(str(when), when, did)
    if event.get("kind") == "account":
        return found._replace(gone=dict_in(event.get("account")).get("active") is False)
    commit = dict_in(event.get("commit"))
    collection, action = text_in(commit.get("collection")), commit.get("operation")
    if event.get("kind") != "commit" or collection not in (POST, PROFILE):
        return found
    if action not in ("create", "update", "delete"):
        raise DataError(f"a commit that does {str(action)[:20]!r}")
    record = None if action == "delete" else dict_in(commit.get("record"))
    key = text_in(commit.get("rkey"))
    return found._replace(changes=(RecordChange(collection, key, record, action == "create"),))


def _when(text: object) -> int:
    try:
        return microseconds(parse_time(text, "start"))
    except ValueError:
        return 0
