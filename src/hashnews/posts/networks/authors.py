"""Authors: other people under salted hashes, oneself by name; and how one of them is forgotten.

The salt is drawn once and stays in the store. The id of a post is such a hash, too, because ids
name their authors.
"""

from __future__ import annotations

import hashlib
import secrets

from hashnews.errors import DataError
from hashnews.news.store import NewsStore
from hashnews.posts.networks.sources import delete_where


def hashed(salt: bytes, name: str) -> str:
    """A name that only this store can tell again."""
    return hashlib.blake2b(name.encode("utf-8", "replace"), key=salt, digest_size=12).hexdigest()


def salt_of(store: NewsStore) -> bytes:
    """The salt of a store opened for writing, drawn where there is none."""
    store.database.run(
        "INSERT OR IGNORE INTO facts VALUES ('salt_of_authors', ?)", (secrets.token_hex(32),)
    )
    ((salt,),) = store.database.rows("SELECT value FROM facts WHERE name = 'salt_of_authors'")
    return bytes.fromhex(salt)


def forget_author(store: NewsStore, account: str) -> int:
    """Forget an author's posts, and store none of theirs any more; says how many there were.

    `account` is ann@host, a DID, or the name that posts are stored under. The bytes of the posts
    are overwritten in the file.
    """
    name = account.strip().removeprefix("@")
    hashes = hashed(salt_of(store), name.lower())
    known = "SELECT 1 FROM posts WHERE user IN (?, ?) LIMIT 1"
    is_handle = "." in name and "@" not in name and not name.startswith("did:")
    if not name or (is_handle and not store.database.rows(known, (hashes, name))):
        # Bluesky's handles are names that change hands: who it is only the DID says.
        raise DataError("nobody is known by this name; of somebody on Bluesky give the DID", name)
    store.database.run("PRAGMA secure_delete = ON")
    with store.database.transaction():
        store.database.run_many("INSERT OR IGNORE INTO left_out VALUES (?)", [(hashes,), (name,)])
        store.database.run("DELETE FROM own_accounts WHERE account = ? OR name = ?",
                           (name.lower(), name))  # fmt: skip
        store.database.run("DELETE FROM own_names WHERE name = ?", (name,))
    return sum(delete_where(store, "user = ?", (one,)) for one in (hashes, name))
