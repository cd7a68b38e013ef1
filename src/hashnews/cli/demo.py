"""`hashnews demo`: the shipped sample, end to end."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hashnews.news.store import NewsStore
    from hashnews.records import PostContext, PreparedPost


@click.command()
@click.option("-n", "--posts", default=6, show_default=True, help="How many posts to show.")
@click.option(
    "--finder",
    type=click.Choice(["fast", "tagger"]),
    default="fast",
    show_default=True,
    help="What finds the named entities.",
)
def demo(posts: int, finder: str) -> None:
    """Show, for posts of the shipped sample, what is read in them and in the news before them."""
    from hashnews.files import RecordFile
    from hashnews.news.ingest import add_files
    from hashnews.news.store import NewsStore
    from hashnews.news.summary import Refusals, Summary
    from hashnews.prepare import Preparer
    from hashnews.records import Post
    from hashnews.retrieve.best import BestRetriever
    from hashnews.retrieve.index import NewsIndex
    from hashnews.sample import sample_file
    from hashnews.text.entities import load_finder
    from hashnews.text.segment import shipped_segmenter

    names = load_finder(finder)
    with sample_file("posts.jsonl") as path:
        raw = {post.id: post for post in RecordFile(path, Post)}
    preparer = Preparer(shipped_segmenter(), names)
    prepared = list(preparer.prepare(raw.values()))
    with (
        tempfile.TemporaryDirectory() as folder,
        sample_file("news.jsonl") as news,
        NewsStore(Path(folder) / "news.db", "write") as store,
    ):
        add_files(store, names, [str(news)], Refusals(Summary()))
        click.echo(
            "Reading the sample; the first run also compiles, which takes a while.", err=True
        )
        retriever = BestRetriever(NewsIndex.open(store))
        for post in prepared[:: max(1, len(prepared) // max(1, posts))][:posts]:
            _show(post, raw[post.id].text, retriever.retrieve(post), store)
        articles = len(store)
    dropped = ", ".join(f"{n} {reason}" for reason, n in preparer.dropped.items())
    click.echo(f"{len(prepared)} of {len(raw)} sample posts have targets (dropped: {dropped}).")
    click.echo(f"{articles} articles; each post saw only those published before it.")


def _show(post: PreparedPost, text: str, context: PostContext, store: NewsStore) -> None:
    click.secho(f"{post.created_at:%Y-%m-%d %H:%M}  {post.user}", bold=True)
    click.echo("  " + text.replace("\n", "\n  "))
    tags = {
        "inline": ", ".join(f"{tag.written} = {' '.join(tag.words)}" for tag in post.inline),
        "targets": ", ".join(f"{tag.written} = {' '.join(tag.words)}" for tag in post.hashtags),
    }
    news = []
    for found in context.articles[:3]:
        article = store.get(found.id)
        if article is not None:
            news.append(f"{article.published_at:%m-%d %H:%M} {article.title}")
    wanted = {word for tag in post.hashtags for word in tag.words}
    shown = [w for w in context.words[:100] if w.word in wanted] + context.words[:10]
    words = dict.fromkeys(f"{w.word}*" if w.word in wanted else w.word for w in shown)
    for label, value in {
        "entities": ", ".join(post.entities),
        **tags,
        "news": "\n           ".join(news),
        "context": " ".join(list(words)[:12]),
    }.items():
        click.echo(click.style(f"  {label:9}", fg="cyan") + (value or "none"))
    click.echo()
