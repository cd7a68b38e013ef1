import pytest
from hypothesis import given
from hypothesis import strategies as st
from newsroom import START, make

from hashnews.news.keys import canonical_url, keys_of, url_key


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://www.example.org/a/b/?utm_source=x&id=3#top", "example.org/a/b?id=3"),
        ("http://EXAMPLE.org:80/a/b?id=3", "example.org/a/b?id=3"),
        ("https://example.org:443/a/b?id=3&fbclid=1", "example.org/a/b?id=3"),
        ("https://example.org:8443/a", "example.org:8443/a"),
        ("https://example.org/a?b=2&a=1", "example.org/a?a=1&b=2"),
        ("https://example.org/A", "example.org/A"),
        ("https://example.org/a?", "example.org/a"),
        ("https://example.org/?p=12", "example.org?p=12"),
        ("https://example.org/", None),
        ("https://example.org?utm_source=feed", None),
        ("https://user:secret@example.org/a", "example.org/a"),
        ("ftp://example.org/a", None),
        ("/relative", None),
        ("https://[broken/a", None),
        ("https://example.org:99999/a", None),
        ("", None),
    ],
)
def test_what_does_not_tell_pages_apart_is_dropped(url, canonical):
    assert canonical_url(url) == canonical


@given(st.text(max_size=60))
def test_a_canonical_url_stays_as_it_is(text):
    once = canonical_url("https://example.org/" + text)
    assert once is None or canonical_url("https://" + once) in (once, None)


@given(st.text(max_size=60))
def test_any_text_has_a_key_or_none(text):
    url_key(text)


def test_titles_are_compared_by_letters_within_a_day_and_a_source():
    def title_key(**changes):
        return {key.digest for key in keys_of(make(1, **changes)) if key.why == "title"}

    same = title_key(title="“It’s over”, says Macron", source="Example.org ")
    assert same == title_key(title='"It\'s over" says MACRON', source="example.org")
    assert same != title_key(title="It is over, says Macron", source="example.org")
    assert same != title_key(title="It’s over, says Macron", source="other.org")
    assert title_key() != title_key(published_at=START.replace(day=2))
    assert not title_key(title="")
    assert not title_key(title="…")
    assert not title_key(source=None)
