"""Commands that follow networks: posts follow, sources, pause, forget."""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from hashnews.cli.console import LOG_EVERY, say
from hashnews.cli.news import stopped_by_signals
from hashnews.cli.options import (
    any_store_option,
    as_seconds,
    json_option,
    news_option,
    private_option,
    tokens_option,
)
from hashnews.terminal import one_line

if TYPE_CHECKING:
    from hashnews.posts.networks.follower import Follower
    from hashnews.posts.networks.sources import SourceState


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@news_option
@click.option("--user", "users", multiple=True, metavar="[NAME=]ACCOUNT",
              help="Your own account (ann@mastodon.social, ann.bsky.social): its posts are stored "
              "under this name, all others under hashes.")  # fmt: skip
@click.option("--language", "languages", multiple=True, metavar="LANG",
              help="Only posts that say they are in this language (en, de, ...).")  # fmt: skip
@click.option("--hashtag", "hashtags", multiple=True, help="Only posts with this hashtag.")
@click.option("--keep", callback=as_seconds, default="90d", show_default=True, metavar="TIME",
              help="Forget followed posts that are older.")  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=1_000_000, show_default=True,
              help="Forget the oldest followed posts beyond this number.")  # fmt: skip
@click.option("--every", callback=as_seconds, default="60s", show_default=True, metavar="TIME",
              help="How often to look at a source that cannot stream.")  # fmt: skip
@tokens_option
@private_option
def follow(
    sources: tuple[str, ...],
    path: str,
    users: tuple[str, ...],
    languages: tuple[str, ...],
    hashtags: tuple[str, ...],
    keep: float,
    most: int,
    every: float,
    tokens: dict[str, str],
    allow_private: bool,
) -> None:
    """Follow sources on Mastodon and Bluesky until you press Ctrl-C; run it again to resume.

    Filters and bounds are kept with the sources. Without sources it follows those of the store that
    are not paused, each as it was followed last; so does serve --fetch.

    \b
    mastodon://HOST/tags/NAME        a hashtag
    mastodon://HOST/public[?local]   all public posts of a server
    mastodon://HOST/lists/ID         a list of yours (needs a token)
    mastodon://HOST/@ACCOUNT         an account
    bluesky://jetstream              all of Bluesky
    bluesky://firehose/HOST          all of one Bluesky server
    bluesky://HOST/@HANDLE           an account, on the server that holds it
    bluesky://HOST/tags/NAME         a hashtag, as a search finds it
    """  # noqa: D301 (the sign \b keeps the lines of a list apart)
    from hashnews.posts.networks.events import FollowSettings
    from hashnews.posts.networks.follower import Follower
    from hashnews.text.hashtags import key_of

    settings = FollowSettings(
        languages=frozenset(one.lower() for one in languages),
        hashtags=frozenset(key_of(one) for one in hashtags),
        accounts=_accounts(users),
        tokens=tokens,
        keep=timedelta(seconds=keep),
        most=most,
        every=every,
        allow_private=allow_private,
    )
    follower = Follower(path, sources or _kept(path), settings, as_kept=not sources)
    follower.start()
    with stopped_by_signals("what came is kept; run it again to resume"):
        try:
            _watch(follower)
        finally:
            follower.stop()
    _complain(follower)


def _kept(path: str) -> list[str]:
    """The sources of the store, which no option may change in passing."""
    from hashnews.errors import DataError
    from hashnews.news.store import NewsStore
    from hashnews.posts.networks.sources import sources_to_follow

    context = click.get_current_context()
    for name in ("users", "languages", "hashtags", "keep", "most", "every"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError("name the sources that these options are for")
    with NewsStore(path) as store:
        found = sources_to_follow(store)
    if not found:
        raise DataError("has no source to follow: name one, see hashnews posts follow --help", path)
    return found


def _accounts(users: tuple[str, ...]) -> dict[str, str]:
    """Accounts, each with the name its posts are stored under."""
    accounts = {}
    for user in users:
        name, _, account = user.rpartition("=")
        account = account.removeprefix("@")
        if "." not in account.rpartition("@")[2] and not account.startswith("did:"):
            raise click.BadParameter(
                f"{user!r} is not an account: write ann@mastodon.social or ann.bsky.social",
                param_hint="--user",
            )
        accounts[account.lower()] = name or account
    return accounts


def _watch(follower: Follower) -> None:
    """Show how it goes until it ends."""
    shown, step = 0.0, 1.0 if sys.stderr.isatty() else LOG_EVERY
    while not follower.wait(0.25):
        if time.monotonic() - shown >= step:
            shown = time.monotonic()
            say(one_line(_summary(follower.state())), err=True, over=sys.stderr.isatty())


def _summary(states: list[SourceState]) -> str:
    good = sum(state.state == "following" for state in states)
    posts, removed = (sum(getattr(s, name) for s in states) for name in ("posts", "removed"))
    rate, lags = sum(state.rate for state in states), [s.lag for s in states if s.lag is not None]
    lag = f", {max(lags):,.0f} s behind" if lags else ""
    troubled = [state for state in states if state.state in ("waiting", "failed")]
    trouble = f"; {troubled[0].state}: {troubled[0].error}" if troubled else ""
    return (
        f"follow: {good} of {len(states)} sources, {posts:,} posts, {removed:,} removed, "
        f"{rate:,.1f}/s{lag}{trouble}"
    )


def _complain(follower: Follower) -> None:
    """A run that ended by itself has failed."""
    from hashnews.errors import FetchError

    if follower.problem is not None:
        raise follower.problem
    failed = [state for state in follower.state() if state.state == "failed"]
    if failed:
        raise FetchError(f"{failed[0].error}", failed[0].address)


@click.command()
@any_store_option
@json_option
def sources(path: str, as_json: bool) -> None:
    """Show the sources that are followed: state, rate, lag, last error."""
    from hashnews.news.store import NewsStore
    from hashnews.posts.networks.sources import source_states

    with NewsStore(path) as store:
        found = source_states(store)
    for state in found:
        told = state.as_dict()
        if as_json:
            say(json.dumps(told, ensure_ascii=False))
            continue
        say(one_line(state.address), bold=True)
        lag = "" if state.lag is None else f", {state.lag:,.1f} s behind"
        say(
            f"  {state.state}: {state.posts:,} posts, {state.removed:,} removed, "
            f"{state.refused:,} refused, {state.rate:,.1f}/s{lag}"
        )
        if state.error:
            say(f"  {told['failed']}: {one_line(state.error)}")
    if not found:
        say("no source is followed", err=True)


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@news_option
@json_option
def pause(sources: tuple[str, ...], path: str, as_json: bool) -> None:
    """Pause sources, also for a follower that runs; posts follow SOURCE resumes where it was."""
    from hashnews.news.store import NewsStore
    from hashnews.posts.networks.sources import pause_source

    NewsStore(path).close()  # there must be one already
    with NewsStore(path, "write") as store:
        for source in sources:
            pause_source(store, source)
    say(json.dumps({"paused": len(sources)}) if as_json else f"{len(sources):,} paused")


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@news_option
@click.option("--author", "authors", multiple=True, metavar="ACCOUNT",
              help="Forget this author and never store a post of theirs again: "
              "ann@mastodon.social, or a DID.")  # fmt: skip
@click.option("--post", "posts", multiple=True, metavar="ID", help="Forget this post.")
@json_option
def forget(
    sources: tuple[str, ...],
    path: str,
    authors: tuple[str, ...],
    posts: tuple[str, ...],
    as_json: bool,
) -> None:
    """Forget sources with all posts that only they brought, all about an author, or single posts.

    Suggestions stop using them at once.
    """
    from hashnews.news.store import NewsStore
    from hashnews.posts.networks.authors import forget_author
    from hashnews.posts.networks.sources import forget_source
    from hashnews.posts.table import delete_posts

    if not sources and not authors and not posts:
        said = "name a source (hashnews posts sources lists them), an --author or a --post"
        raise click.UsageError(said)
    NewsStore(path).close()  # there must be one already
    with NewsStore(path, "write") as store:
        count = sum(forget_source(store, source) for source in sources)
        count += sum(forget_author(store, author) for author in authors)
        count += delete_posts(store, posts)
    say(json.dumps({"forgotten": count}) if as_json else f"{count:,} posts forgotten")
