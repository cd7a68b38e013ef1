"""HashNews from end to end, on the shipped sample and the shipped model."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.errors import ModelError, StoreError
from hashnews.news.store import NewsStore
from hashnews.posts.table import add_posts, count_posts, read_posts
from hashnews.prepare.preparer import Preparer
from hashnews.records import Answer, Post
from hashnews.sample import sample_file
from hashnews.suggest.model import shipped_model
from hashnews.suggest.pipeline import HashNews, sample_store
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter
from hashnews.text.tokens import words

AT = datetime(2020, 6, 2, 12, tzinfo=UTC)
TEXT = "George Floyd protests spread from Minneapolis to Washington"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def hashnews(cache):
    with HashNews() as opened:
        yield opened


@pytest.fixture
def own(cache, tmp_path):
    """A store of one's own, with the sample's news and posts."""
    return Path(shutil.copy(sample_store(), tmp_path / "news.db"))


def remember(path, posts):
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    with NewsStore(path, "write") as store:
        return add_posts(store, preparer.remember(posts))


def post(text=TEXT, at=AT, user=None, **more):
    return Post(text=text, created_at=at, user=user, **{"id": "new", **more})


def test_an_answer_is_whole(hashnews):
    answer = hashnews.suggest(post(), n=8)
    assert Answer.model_validate_json(answer.to_json()) == answer
    assert 0 < len(answer.suggestions) <= 8
    scores = [suggestion.score for suggestion in answer.suggestions]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert "#GeorgeFloyd" in [suggestion.hashtag for suggestion in answer.suggestions]
    assert answer.articles
    assert answer.context
    assert answer.timings_ms["total"] == pytest.approx(
        sum(ms for part, ms in answer.timings_ms.items() if part != "total")
    )


def test_every_suggestion_says_why(hashnews):
    answer = hashnews.suggest(post(user="reader04"))
    named = {article.id for article in answer.articles}
    for suggestion in answer.suggestions:
        assert sum(reason.weight for reason in suggestion.because) == pytest.approx(1, abs=0.01)
        for reason in suggestion.because:
            assert set(reason.articles) <= named
            if reason.source == "lexicon":  # the cues of the post
                assert all(cue in " ".join(words(TEXT)) for cue in reason.words)
            else:
                context = {word.word for word in answer.context}
                assert set(reason.words) <= context & set(suggestion.words)


def test_nothing_published_or_posted_later_changes_an_answer(own):
    with HashNews(own) as before:
        expected = [before.suggest(post(at=AT + timedelta(days=d))) for d in range(-8, 1, 2)]
    later = AT + timedelta(minutes=1)
    article = {"id": "x", "title": "Zebra found", "text": TEXT, "published_at": later.isoformat()}
    news = own.with_suffix(".jsonl")
    news.write_text(json.dumps(article) + "\n")
    assert CliRunner().invoke(main, ["news", "add", str(news), "--news", str(own)]).exit_code == 0
    remember(own, [post(f"{TEXT}. #Zebra #Zoo", later, "someone", id="z")])
    with HashNews(own) as after:
        got = [after.suggest(post(at=AT + timedelta(days=d))) for d in range(-8, 1, 2)]
    for one, other in zip(expected, got, strict=True):
        assert one.suggestions == other.suggestions
        assert one.articles == other.articles
        assert one.context == other.context


ASKED = "Watching the zebras in the park this night!"


def test_a_new_post_is_seen_at_once_by_its_author_and_soon_by_others(own):
    remember(own, [post("Zebras in the park!\n#ZebraWatch", AT, "zoe", id="z1")])
    with HashNews(own) as hashnews:

        def suggested(minutes, user):
            answer = hashnews.suggest(post(ASKED, AT + timedelta(minutes=minutes), user), n=20)
            return "#ZebraWatch" in [suggestion.hashtag for suggestion in answer.suggestions]

        assert suggested(1, "zoe")
        assert not suggested(4, "someone")
        assert suggested(5, "someone")
        remember(own, [post("Zebras again.\n#ZebraNight", AT, "zoe", id="z2")])
        hashnews.refresh()
        tags = [s.hashtag for s in hashnews.suggest(post(ASKED, AT, "zoe"), n=20).suggestions]
        assert "#ZebraNight" not in tags
        later = hashnews.suggest(post("Zebras again", AT + timedelta(hours=2), "zoe", id="q"))
        assert "#ZebraNight" in [suggestion.hashtag for suggestion in later.suggestions]


def test_hashtags_the_post_has_are_not_suggested(hashnews):
    answer = hashnews.suggest(post(TEXT + ". #GeorgeFloyd #blacklivesmatter"))
    keys = {"".join(suggestion.words) for suggestion in answer.suggestions}
    assert not keys & {"georgefloyd", "blacklivesmatter"}
    assert len(keys) == len(answer.suggestions)


def test_many_posts_at_once_are_answered_like_one_by_one(hashnews):
    posts = [post(), post("Rain over Hong Kong", user="reader04"), post("")]
    together = hashnews.suggest_all(posts)
    for one, other in zip(posts, together, strict=True):
        alone = {s.hashtag: s.score for s in hashnews.suggest(one).suggestions}
        beside = {s.hashtag: s.score for s in other.suggestions}
        assert list(alone) == list(beside)
        assert list(alone.values()) == pytest.approx(list(beside.values()), abs=1e-3)
    assert hashnews.suggest_all([]) == []


def test_a_post_without_a_time_is_written_now(own):
    with HashNews(own) as hashnews:
        answer = hashnews.suggest(Post(id="now", text=TEXT))
    assert answer.post.created_at is not None
    assert abs(datetime.now(UTC) - answer.post.created_at) < timedelta(minutes=1)


def test_the_sample_is_asked_as_of_its_end(hashnews):
    asked = hashnews.suggest(TEXT).post.created_at
    newest = max(stored.article.published_at for stored in hashnews.store.read())
    assert newest < asked <= newest + timedelta(days=1)


def test_a_name_of_the_news_comes_with_how_much_it_is_on_the_rise(hashnews):
    reasons = [r for s in hashnews.suggest(post()).suggestions for r in s.because]
    named = {r.entity: r.rise for r in reasons if r.source == "news" and r.entity}
    assert named["George Floyd"] > 1.2
    assert all(rise is not None and 0 < rise <= 10 for rise in named.values())


def test_low_scores_can_be_left_out(hashnews):
    every = hashnews.suggest(post(), n=20).suggestions
    limit = every[2].score
    kept = hashnews.suggest(post(), n=20, min_score=limit).suggestions
    assert [s.hashtag for s in kept] == [s.hashtag for s in every if s.score >= limit]


def test_blocked_hashtags_do_not_come_from_the_memory(own):
    remember(own, [post(f"Zebras {n}.\n#ZebraPorn #ZebraWatch", AT, f"u{n}", id=f"z{n}")
                   for n in range(5)])  # fmt: skip
    with HashNews(own) as hashnews:
        answer = hashnews.suggest(post("Zebras 3", AT + timedelta(hours=3)), n=50)
    tags = [suggestion.hashtag for suggestion in answer.suggestions]
    assert "#ZebraWatch" in tags
    assert "#ZebraPorn" not in tags


def test_a_store_without_posts_gets_answers_from_the_news(cache, tmp_path):
    path = tmp_path / "news.db"
    lines = [
        {"id": f"n{n}", "title": "Quake shakes Zagreb again", "published_at": AT.isoformat(),
         "text": "A strong earthquake was felt in Zagreb, Croatia."} for n in range(3)
    ]  # fmt: skip
    (tmp_path / "n.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with sample_file("news.jsonl") as others:  # among three articles nothing stands out
        files = [str(tmp_path / "n.jsonl"), str(others)]
        run = CliRunner().invoke(main, ["news", "add", *files, "--news", str(path)])
    assert run.exit_code == 0, run.output
    with HashNews(path) as hashnews:
        answer = hashnews.suggest(post("we felt the quake", AT + timedelta(hours=1)))
    assert "#Zagreb" in [suggestion.hashtag for suggestion in answer.suggestions]
    sources = [
        {reason.source for reason in suggestion.because} for suggestion in answer.suggestions
    ]
    assert all(some & {"post", "news", "lexicon"} for some in sources)


def test_what_is_missing_or_damaged_is_refused(cache, tmp_path):
    with pytest.raises(StoreError):
        HashNews(tmp_path / "none.db")
    with pytest.raises(ModelError):
        HashNews(model=tmp_path / "none")
    for name in ("ranker.npz", "calendar.txt"):
        damaged = tmp_path / name
        shutil.copytree(shipped_model(), damaged)
        (damaged / name).write_bytes(b"x")
        with pytest.raises(ModelError, match="damaged"):
            HashNews(model=damaged)


# ----- the memory in the store -----


def test_posts_are_remembered_once_and_come_back_as_they_were(tmp_path):
    path, some = tmp_path / "news.db", [
        post("One.\n#A1 #B_2", AT, "ann", id="1"), post("a #three day", AT, None, id="2"),
        post("nothing", AT, "ann", id="3"), post("RT @x: One. #A1", AT, "ann", id="4"),
    ]  # fmt: skip
    assert remember(path, some) == (2, 0, 0, 0)
    assert remember(path, some) == (0, 2, 0, 0)
    with NewsStore(path) as store:
        one, two = read_posts(store)
        assert [tag.written for tag in one.hashtags] == ["#A1", "#B_2"]
        assert (one.id, one.user, one.body) == ("1", "ann", "One.")
        assert [tag.written for tag in two.inline] == ["#three"]
        assert two.user is None
        assert list(read_posts(store, after=two.row)) == []
        assert count_posts(store)["posts"] == 2


def test_old_posts_are_forgotten(tmp_path):
    path = tmp_path / "news.db"
    remember(path, [post("Old.\n#Old", AT - timedelta(days=500), id="1")])
    assert remember(path, [post("New.\n#New", AT, id="2")]) == (1, 0, 1, 0)


def test_commands(own, tmp_path):
    run = CliRunner()
    posts = tmp_path / "posts.jsonl"
    posts.write_text(post("Zebras!\n#ZebraWatch", AT, "zoe", id="z").to_json() + "\n")
    added = run.invoke(main, ["posts", "add", str(posts), "--news", str(own), "--json"])
    assert json.loads(added.stdout)["added"] == 1
    stats = run.invoke(main, ["posts", "stats", "--news", str(own), "--json"])
    assert json.loads(stats.stdout)["posts"] == 99
    asked = ["suggest", "Zebras", "--at", "2020-06-02T14:00:00Z", "--user", "zoe", "--news"]
    shown = run.invoke(main, [*asked, str(own), "-n", "3"])
    assert "#ZebraWatch" in shown.stdout
    answer = json.loads(run.invoke(main, [*asked, str(own), "--json"]).stdout)
    assert set(answer) == {"post_id", "post", "suggestions", "articles", "context", "timings_ms"}
    forget = ["posts", "forget", "--post", "z", "--post", "none", "--news", str(own)]
    assert run.invoke(main, forget).stdout == "1 posts forgotten\n"
    assert "#ZebraWatch" not in run.invoke(main, [*asked, str(own)]).stdout
    lines = '{"text": "Zebras", "created_at": "2020-06-02T14:00:00Z"}\nplain text\n'
    piped = run.invoke(main, ["suggest", "-", "--news", str(own), "--json"], input=lines)
    assert len(piped.stdout.splitlines()) == 2
    wrong = run.invoke(main, ["suggest", "-", "--news", str(own)], input='{"text": 3}\n')
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith("Error: -:1:")


def test_the_demo_shows_a_dozen_posts(cache):
    shown = CliRunner().invoke(main, ["demo"])
    assert shown.exit_code == 0
    assert shown.stdout.count("suggested") == 12
    assert shown.stdout.count("because") >= 12


EVERYDAY = (
    "I baked sourdough bread with my daughter this morning",
    "What a match in Turin, Sinner is unstoppable",
    "Today we honor the brave men who stormed the beaches of Normandy",
    "Proud of our year 6s, second place in the regional robotics final",
)


@pytest.mark.parametrize("moment", [AT, datetime(2026, 6, 6, 12, tzinfo=UTC)])
def test_what_only_the_model_recalls_is_not_shown(own, moment):
    """Nothing that neither post, articles, memory nor lexicon by meaning say, early or late."""
    with NewsStore(own) as store:
        used = {
            "".join(tag.words)
            for known in read_posts(store)
            for tag in (*known.hashtags, *known.inline)
        }
    with HashNews(own) as hashnews:
        for text in EVERYDAY:
            answer = hashnews.suggest(post(text, moment), n=50)
            told = [f"{article.title} {' '.join(article.entities)}" for article in answer.articles]
            said = set(words(" ".join((text, *told))))
            for suggestion in answer.suggestions:
                key = "".join(suggestion.words)
                spelled = any(key in "".join(words(line)) for line in (text, *told))
                near = "lexicon" in {reason.source for reason in suggestion.because}
                assert key in used or spelled or near or said.issuperset(suggestion.words)


def test_that_it_fits_is_no_reason_beside_a_better_one():
    with HashNews() as hashnews:
        (answer,) = hashnews.suggest_all(["monday. coffee machine broken. send help"])
    assert answer.suggestions
    for suggestion in answer.suggestions:
        written = [reason for reason in suggestion.because if reason.source == "generator"]
        assert len(suggestion.because) == 1 or all(reason.words for reason in written)
