"""The table of posts: what it counts is what is there."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.news.store import NewsStore
from hashnews.posts.table import PostCount, add_posts, count_posts, delete_posts, read_posts
from hashnews.records import Hashtag, PreparedPost

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "delete"]), st.sets(st.integers(0, 12), max_size=5)),
    max_size=12,
)


def post(number):
    return PreparedPost(
        id=str(number), user=f"u{number % 3}", created_at=NOW - timedelta(hours=number), body="x",
        entities=(), hashtags=(Hashtag(("bread",), "#Bread"),),
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(STEPS, st.integers(1, 3))
def test_a_count_that_goes_on_is_that_of_all_posts(tmp_path_factory, steps, every):
    """Whatever came and went between two counts, also where all posts went."""
    with NewsStore(tmp_path_factory.mktemp("store") / "n.db", "write") as store:
        count = PostCount().now(store)
        for at, (what, numbers) in enumerate(steps):
            if what == "add":
                add_posts(store, [post(number) for number in sorted(numbers)], now=NOW)
            else:
                delete_posts(store, [str(number) for number in numbers])
            if at % every == 0:
                count = count.now(store)
                assert count.posts == count_posts(store)["posts"]
        there = list(read_posts(store))
        assert count.now(store).posts == len(there)
        told = count_posts(store)
        assert (told["posts"], told["users"]) == (len(there), len({one.user for one in there}))
        days = sorted(datetime.fromtimestamp(one.posted / 1e6, UTC).date() for one in there)
        bounds = [days[0].isoformat(), days[-1].isoformat()] if days else [None, None]
        assert [told["first_day"], told["last_day"]] == bounds
