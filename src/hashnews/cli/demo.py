"""`hashnews demo`: the shipped sample, end to end."""

from __future__ import annotations

import click


@click.command()
@click.option("-n", "--posts", default=6, show_default=True, help="How many posts to show.")
def demo(posts: int) -> None:
    """Prepare the shipped sample and show what becomes of a few posts."""
    from hashnews.files import RecordFile
    from hashnews.prepare import Preparer
    from hashnews.records import Post
    from hashnews.sample import sample_file
    from hashnews.text.entities import shipped_finder
    from hashnews.text.segment import shipped_segmenter

    with sample_file("posts.jsonl") as path:
        raw = {post.id: post for post in RecordFile(path, Post)}
    preparer = Preparer(shipped_segmenter(), shipped_finder())
    prepared = list(preparer.prepare(raw.values()))
    for post in prepared[:: max(1, len(prepared) // max(1, posts))][:posts]:
        click.secho(f"{post.created_at:%Y-%m-%d %H:%M}  {post.user}", bold=True)
        click.echo("  " + raw[post.id].text.replace("\n", "\n  "))
        inline = ", ".join(f"{tag.written} = {' '.join(tag.words)}" for tag in post.inline)
        targets = ", ".join(f"{tag.written} = {' '.join(tag.words)}" for tag in post.hashtags)
        for label, value in (
            ("entities", ", ".join(post.entities)),
            ("inline", inline),
            ("targets", targets),
        ):
            click.echo(click.style(f"  {label:9}", fg="cyan") + (value or "none"))
        click.echo()
    dropped = ", ".join(f"{n} {reason}" for reason, n in preparer.dropped.items())
    click.echo(f"{len(prepared)} of {len(raw)} sample posts have targets (dropped: {dropped}).")
