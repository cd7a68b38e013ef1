"""Emoji say what a post is about."""

from hashnews import HashNews, Post
from hashnews.suggest.emoji import emoji_words


def test_what_emoji_say():
    assert emoji_words("They walked in 🐝🐝 and 🎾") == ["bees", "tennis"]
    assert emoji_words("so happy 😭❤️👏🏾 (1) #") == []
    assert emoji_words("🏴󠁧󠁢󠁳󠁣󠁴󠁿 and 🇺🇦") == ["scotland", "ukraine"]


def test_a_bee_tells_a_swarm(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = "First swarm of the year settled in the plum tree, they walked into the box"
    with HashNews() as hashnews:
        plain, shown = (
            hashnews.suggest(Post(text=body, created_at="2026-05-02T12:00:00Z"))
            for body in (text, f"{text} 🐝")
        )
    tags = [one.hashtag for one in shown.suggestions]
    assert "#Bees" in tags
    assert [one.hashtag for one in plain.suggestions] != tags
