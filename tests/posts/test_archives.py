"""Archives of all kinds: exactly the author's own posts, with their words, hashtags and times."""

import gzip
import json
import random
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from makers import (
    DID,
    Link,
    Plain,
    activity,
    as_html,
    assigned,
    car,
    cbor,
    first_archive,
    instagram_files,
    key_of_post,
    layer_of,
    link_to,
    list_records,
    mastodon_files,
    meta_json,
    moment,
    outbox,
    record,
    repository,
    seconds,
    spelled,
    tarred,
    threads,
    tree,
    tweet,
    x_files,
    zipped,
)

from hashnews.cli import main
from hashnews.news.store import NewsStore
from hashnews.posts.archives.items import JsonItems
from hashnews.posts.archives.open_file import ArchiveFile, is_archive, open_posts
from hashnews.posts.archives.texts import html_text, with_hashtags
from hashnews.posts.networks.authors import forget_author
from hashnews.posts.table import read_posts

POSTS = [
    Plain(11, "Baked again. #SourDough", moment("2026-11-01T08:00:00+00:00")),
    Plain(12, "Ferries & buses\nrun late 🚢 – näher\n\n#OslofjordÅpen https://example.org/a/long/p",
          moment("2026-11-02T09:30:15+00:00")),
    Plain(13, "I love #art", moment("2026-11-03T10:00:00+00:00"), ("Bread",)),
    Plain(14, "5 < 6 > 4, she said", moment("2026-11-04T11:00:00+00:00"), ("san francisco",)),
    Plain(15, "@bob no", moment("2026-11-05T12:00:00+00:00"), ("Answer",), reply=True),
    Plain(16, "What others say #News", moment("2026-11-06T13:00:00+00:00"), repeats=True),
]  # fmt: skip
OWN = [post for post in POSTS if not post.reply and not post.repeats]
WITH_REPLIES = [post for post in POSTS if not post.repeats]


def write(tmp_path, content, name="some.file"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def read(path, **about):
    return list(open_posts(path, **about))


def said(posts):
    return [(post.text, post.created_at) for post in posts]


def expected(posts, tags=True):
    """Each post with the tags that its text does not hold behind it."""
    added = {13: "\n#Bread", 14: "\n#SanFrancisco", 15: "\n#Answer"} if tags else {}
    return [(post.text + added.get(post.number, ""), post.at) for post in posts]


def lower_tags(posts):
    """Mastodon's own tags are in lower case, and none has a space."""
    changed = {"\n#Bread": "\n#bread", "\n#SanFrancisco": "\n#SanFrancisco", "#Answer": "#answer"}
    for old, new in changed.items():
        posts = [(text.replace(old, new), at) for text, at in posts]
    return posts


KINDS = {
    "outbox.json": (lambda: mastodon_files(POSTS)["outbox.json"], "ann@example.social"),
    "mastodon.tar.gz": (lambda: tarred(mastodon_files(POSTS)), "ann@example.social"),
    "mastodon.tar": (lambda: tarred(mastodon_files(POSTS), "w"), "ann@example.social"),
    "mastodon.zip": (lambda: zipped(mastodon_files(POSTS)), "ann@example.social"),
    "outbox.json.gz": (lambda: gzip.compress(mastodon_files(POSTS)["outbox.json"]),
                       "ann@example.social"),
    "tweets.js": (lambda: x_files(POSTS)["data/tweets.js"], None),
    "tweet.js": (lambda: assigned("window.YTD.tweet.part0", map(tweet, POSTS)), None),
    "tweet.js of 2019": (lambda: assigned("window.YTD.tweet.part0",
                                          (tweet(post)["tweet"] for post in POSTS)), None),
    "2013_07.js": (lambda: assigned("Grailbird.data.tweets_2013_07", map(first_archive, POSTS)),
                   "ann"),
    "twitter.zip": (lambda: zipped(x_files(POSTS)), "ann"),
    "tweets.json": (lambda: json.dumps([*map(tweet, POSTS)]).encode(), None),
    "repo.car": (lambda: bluesky_car(POSTS), DID),
    "records.json": (lambda: list_records(POSTS), DID),
    "threads.json": (lambda: threads(WITH_REPLIES), None),
    "instagram.zip": (lambda: zipped(instagram_files(OWN)), "ann.ä"),
    "threads.zip": (lambda: zipped({"threads/threads_and_replies.json": threads(WITH_REPLIES)}),
                    None),
}  # fmt: skip


def bluesky_car(posts, chance=None):
    """A repository that still holds the record of a deleted post."""
    commit, *blocks = repository(posts, [Plain(66, "Deleted #Gone", POSTS[0].at)])
    if chance:
        blocks.append(commit)
        chance.shuffle(blocks)
    else:
        blocks.insert(0, commit)
    return car(link_to(commit), blocks)


@pytest.mark.parametrize("replies", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_gives_the_own_posts_and_no_others(tmp_path, kind, replies):
    make, user = KINDS[kind]
    found = read(write(tmp_path, make()), replies=replies)
    wanted = WITH_REPLIES if replies and "instagram" not in kind else OWN
    has_tags = not kind.startswith(("threads", "instagram"))
    right = expected(wanted, has_tags)
    if "outbox" in kind or "mastodon" in kind:
        right = lower_tags(right)
    assert sorted(said(found), key=lambda one: one[1]) == right
    assert {post.user for post in found} == {user}
    assert len({post.id for post in found}) == len(wanted)


def test_ids_are_those_of_the_network(tmp_path):
    ids = {kind: read(write(tmp_path, KINDS[kind][0]()))[0].id for kind in KINDS}
    assert (
        ids["outbox.json"] == ids["mastodon.zip"] == "https://example.social/users/ann/statuses/11"
    )
    assert ids["tweets.js"] == ids["2013_07.js"] == "11"
    assert ids["repo.car"] == ids["records.json"] == f"at://{DID}/{key_of_post(POSTS[0]).decode()}"
    assert ids["threads.json"] == ids["threads.zip"]


@pytest.mark.parametrize("seed", range(8))
def test_the_blocks_of_a_car_come_in_any_order(tmp_path, seed):
    chance = random.Random(seed)
    many = [
        Plain(20 + at, f"Post {at} #Tag{at}", POSTS[0].at) for at in range(chance.randint(0, 90))
    ]
    found = read(write(tmp_path, bluesky_car(many, chance=chance)))
    assert sorted(post.text for post in found) == sorted(post.text for post in many)


@pytest.mark.parametrize(
    ("keys", "root"),
    [
        ([], "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm"),
        (["3jqfcqzm3fo2j"], "bafyreibj4lsc3aqnrvphp5xmrnfoorvru4wynt6lwidqbm2623a6tatzdu"),
        (["3jqfcqzm3fx2j"], "bafyreih7wfei65pxzhauoibu3ls7jgmkju4bspy4t2ha2qdjnzqvoy33ai"),
        (["3jqfcqzm3fp2j", "3jqfcqzm3fr2j", "3jqfcqzm3fs2j", "3jqfcqzm3ft2j", "3jqfcqzm4fc2j"],
         "bafyreicmahysq4n6wfuxo522m6dpiy7z7qzym3dzs756t5n7nfdgccwq7m"),
    ],
)  # fmt: skip
def test_the_trees_that_the_tests_make_are_those_of_atproto(keys, root):
    """The vectors that the implementations of atproto share."""
    value = Link(b"\x01\x71\x12\x20" + bytes.fromhex(
        "9d156bc3f3a520066252c708a9361fd3d089223842500e3713d404fdccb33cef"))  # fmt: skip
    assert spelled(value) == "bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454"
    assert spelled(tree({f"com.example.record/{key}".encode(): value for key in keys})[0]) == root
    assert layer_of(b"app.bsky.feed.post/9adeb165882c") == 8
    block = cbor({"test": "root"})
    assert spelled(link_to(block)) == "bafyreiapldaco7m23c7qzc4w42r7kxmcswm64nkindtuh4vwztrpoe7m5m"


def test_messages_to_single_people_are_no_posts(tmp_path):
    private = activity(POSTS[0])
    private["object"] |= {"to": ["https://other.example/users/bob"], "cc": []}
    followers = activity(POSTS[2])
    followers["object"] |= {"to": ["https://example.social/users/ann/followers"], "cc": []}
    found = read(write(tmp_path, outbox([private, followers])))
    assert said(found) == lower_tags(expected([POSTS[2]]))


def test_metas_mojibake_is_mended_and_right_text_stays(tmp_path):
    post = Plain(1, "Grüße 👋🏽 #Zürich", POSTS[0].at)
    assert said(read(write(tmp_path, threads([post])))) == [(post.text, post.at)]
    plain = json.dumps({"text_post_app_text_posts": [
        {"media": [{"title": post.text, "creation_timestamp": seconds(post)}]}]})  # fmt: skip
    assert said(read(write(tmp_path, plain.encode()))) == [(post.text, post.at)]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<p>One<br>Two<br/>Three</p>", "One\nTwo\nThree"),
        ('<p>See <a href="/t">#<span>TagsWhole</span></a>!</p>', "See #TagsWhole!"),
        ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
        ("&lt;b&gt; &amp;amp; &#39;", "<b> &amp; '"),
        ("<p>2 < 3 and 4 > 3</p>", "2 < 3 and 4 > 3"),
        ("<p>&lt;script&gt;</p>", "<script>"),
        ('<p class="quote-inline">RE: <a href="x">x</a></p><p>Mine</p>', "Mine"),
        ("no markup", "no markup"),
        ("", ""),
    ],
)
def test_html_becomes_text(markup, text):
    assert html_text(markup) == text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), max_size=60))
def test_what_mastodon_renders_is_read_back(text):
    assert html_text(as_html(text)) == text


@given(st.text(max_size=200))
def test_any_markup_is_read(markup):
    html_text(markup)
    with_hashtags(markup, [markup])


@pytest.mark.parametrize(
    ("text", "tags", "whole"),
    [
        ("I bake. #Bread", ["bread"], "I bake. #Bread"),
        ("I bake.", ["Bread", "bread", "#BREAD"], "I bake.\n#Bread"),
        ("#breadmaking", ["bread"], "#breadmaking\n#bread"),
        ("x", ["san francisco", "2026", "", "#", "a!b", "c d e"], "x\n#SanFrancisco #CDE"),
        ("see #Black_Lives", ["blacklives"], "see #Black_Lives"),
        ("see #BlackLives", ["black lives"], "see #BlackLives"),
    ],
)
def test_tags_beside_the_text_become_trailing_hashtags(text, tags, whole):
    assert with_hashtags(text, tags) == whole


documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=30,
)  # fmt: skip


class Dripping:
    """A stream that gives a few bytes at a time."""

    def __init__(self, content, step):
        self.content, self.step = content, step

    def read(self, size=-1):
        piece, self.content = self.content[: self.step], self.content[self.step :]
        return piece


@given(st.lists(documents), st.integers(1, 50), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_items_are_those_that_json_reads(items, step, encoding):
    for ascii_only in (True, False):
        content = json.dumps(items, ensure_ascii=ascii_only).encode(encoding)
        assert list(JsonItems(Dripping(content, step))) == [("", item) for item in items]
    whole = json.dumps({"a": 1, "list": items, "b": {"list": [1]}}).encode(encoding)
    assert list(JsonItems(Dripping(whole, step))) == [("list", item) for item in items]


class Counting(Dripping):
    """A stream that counts how often it is read."""

    reads = 0

    def read(self, size=-1):
        self.step = size
        self.reads += 1
        return super().read(size)


def test_the_work_for_a_large_item_is_in_proportion():
    stream = Counting(json.dumps(["x" * (3 << 20)]).encode(), 0)
    assert len(list(JsonItems(stream))) == 1
    assert stream.reads < 12


def test_what_somebody_else_wrote_is_left_out_whatever_its_text(tmp_path):
    repeated = first_archive(POSTS[0]) | {"retweeted_status": {"text": "x"}}
    content = assigned("Grailbird.data.tweets_2013_07", [repeated, first_archive(POSTS[1])])
    assert [post.id for post in read(write(tmp_path, content))] == ["12"]


def test_only_records_under_the_key_of_posts_are_posts(tmp_path):
    block = cbor(record(POSTS[0]))
    root, nodes = tree({b"app.bsky.feed.draft/3aaa": link_to(block)})
    commit = cbor({"did": DID, "version": 3, "prev": None, "data": root, "sig": b""})
    assert read(write(tmp_path, car(link_to(commit), [commit, *nodes, block]))) == []


def test_posts_add_remembers_an_archive_once(tmp_path):
    path, store = write(tmp_path, zipped(x_files(POSTS))), tmp_path / "news.db"

    def add(*more):
        done = CliRunner().invoke(main, ["posts", "add", str(path), "--news", str(store), "--json",
                                         *more])  # fmt: skip
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    assert add() == {"added": 4, "known": 0, "forgotten": 0, "skipped": 0}
    assert add() == {"added": 0, "known": 4, "forgotten": 0, "skipped": 0}
    assert add("--replies")["added"] == 1
    rows = sqlite3.connect(store).execute("SELECT id, user, hashtags, inline FROM posts").fetchall()
    assert {user for _, user, _, _ in rows} == {"ann"}
    tags = {
        number: (json.loads(trailing), json.loads(inline)) for number, _, trailing, inline in rows
    }
    assert [tag[0] for tag in tags["13"][0]] == ["#Bread"]
    assert [tag[0] for tag in tags["13"][1]] == ["#art"]
    assert [tag[0] for tag in tags["14"][0]] == ["#SanFrancisco"]


def test_an_archive_stays_however_old_it_is(tmp_path):
    """Somebody who wrote years ago, or for years; what others wrote goes, and so may they."""
    old = [post._replace(at=post.at - timedelta(days=1000 * n)) for n, post in enumerate(OWN, 1)]
    archive = write(tmp_path, zipped(x_files(old)), "twitter.zip")
    tool = tmp_path / "tool.csv"
    tool.write_text("Content,Date\nBread #Mine,2011-11-16\n")
    others = tmp_path / "others.jsonl"
    lines = [{"id": at, "text": "Bread #Theirs", "created_at": at, "user": "bob"}
             for at in ("2012-11-01", "2026-11-01")]  # fmt: skip
    others.write_text("".join(json.dumps(one) + "\n" for one in lines))

    def add(*words):
        words = ["posts", "add", *map(str, words), "--news", str(tmp_path / "n.db"), "--json"]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout), done.stderr

    assert add(archive)[0]["forgotten"] == 0
    assert add(tool, "--columns", "text=Content,created_at=Date", "--user", "me")[0]["added"] == 1
    counts, told = add(others)
    assert (counts["added"], counts["forgotten"]) == (2, 1)
    assert "more than 400 days older than the newest" in told
    assert add(archive)[0] == {"added": 0, "known": len(OWN), "forgotten": 0, "skipped": 0}
    with NewsStore(tmp_path / "n.db", "write") as store:
        assert forget_author(store, "ann") == len(OWN)
        assert store.database.rows("SELECT name FROM own_names") == [("me",)]
        assert {post.user for post in read_posts(store)} == {"bob", "me"}


def test_user_names_whose_posts_they_are(tmp_path):
    path, store = write(tmp_path, threads(OWN)), tmp_path / "news.db"
    call = ["posts", "add", str(path), "--news", str(store)]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0
    assert "does not say whose posts these are" in done.stderr
    done = CliRunner().invoke(main, [*call, "--user", "me"])
    assert (done.exit_code, done.stderr) == (0, "")
    users = sqlite3.connect(store).execute("SELECT DISTINCT user FROM posts").fetchall()
    assert users == [("me",)]  # though they were there already


def test_a_folder_is_told(tmp_path):
    done = CliRunner().invoke(main, ["posts", "add", str(tmp_path), "--news", str(tmp_path / "n")])
    assert (done.exit_code, "it is a folder: name the files" in done.stderr) == (1, True)


def test_our_own_files_are_no_archives(tmp_path):
    lines = b'{"text": "a #b", "created_at": "2026-11-01T10:00:00Z"}\n'
    for name, content in {
        "posts.jsonl": lines, "posts.jsonl.gz": gzip.compress(lines),
        "posts.csv": b"text,created_at\na #b,2026-11-01\n", "empty.jsonl": b"",
    }.items():  # fmt: skip
        path = write(tmp_path, content, name)
        assert not is_archive(path)
        assert len(read(path)) == (name != "empty.jsonl")
    assert not is_archive("-")
    assert not is_archive(tmp_path / "absent")


def test_how_far_it_is_is_known(tmp_path):
    many = [Plain(at, f"Post {at} #Tag", POSTS[0].at) for at in range(3000)]
    archive = ArchiveFile(write(tmp_path, outbox(map(activity, many))))
    shares = [archive.done for _ in archive]
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] <= 1


def test_an_empty_archive_is_no_error(tmp_path):
    assert read(write(tmp_path, car(*_empty_car()))) == []


def _empty_car():
    commit, *blocks = repository([])
    return link_to(commit), [commit, *blocks]


def test_times_are_those_of_the_archive(tmp_path):
    late = meta_json([{"media": [], "title": "x #y", "creation_timestamp": 1_700_000_000}])
    assert not is_archive(write(tmp_path, late))
    one = {"uri": "a.jpg", "creation_timestamp": 1_700_000_000, "title": "x #y"}
    found = read(write(tmp_path, meta_json([{"media": [one]}])))
    assert [post.created_at for post in found] == [datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)]
