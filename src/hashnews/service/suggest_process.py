"""What a suggest process does: posts in, answers out, as JSON ready to be sent."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from hashnews.errors import HashNewsError
from hashnews.records import Post
from hashnews.retrieve.batch import context_line
from hashnews.service.process import CallFailed
from hashnews.service.queue import Ask
from hashnews.suggest.pipeline import HashNews

Result = bytes | HashNewsError | CallFailed


class SuggestProcess:
    """One pipeline; what was asked last is asked again after news, so that nobody waits."""

    def __init__(self, news: Path | None, model: Path | None):
        self._pipeline = HashNews(news, model)
        self._last = self._news_as_posts()
        self._suggested(self._last)

    def refresh(self) -> None:
        """Take in what the store has got since."""
        before = self._pipeline.index.version
        self._pipeline.refresh()
        if self._pipeline.index.version == before:
            return
        try:  # what was looked up of the news is gone
            self._suggested(self._last)
        except Exception:  # what fails is not asked again: it must not keep new news away
            self._last = []

    def _news_as_posts(self) -> list[Ask]:
        """The newest article, as if it were a post: what it touches, the first post will, too."""
        store = self._pipeline.store
        return [
            Ask(
                Post(
                    id="warm-up",
                    text=f"{article.title}\n{article.text[:200]}",
                    created_at=article.published_at + timedelta(hours=1),
                )
            )
            for *_, article in store.rows([store.last_row()])
        ]

    def suggest(self, asked: Sequence[Ask]) -> list[Result]:
        """The answers, all from one batch."""
        results = self._each_alone(self._suggested, asked)
        self._last = list(asked[-1:])
        return results

    def retrieve(self, asked: Sequence[Ask]) -> list[Result]:
        """The articles and context words, as `hashnews retrieve` writes them."""
        return self._each_alone(self._retrieved, asked)

    def headlines(self, asked: Sequence[Ask]) -> list[Result]:
        """What a language model reads of the news, as JSON."""
        return self._each_alone(self._headlines, asked)

    def _suggested(self, asked: Sequence[Ask]) -> list[bytes]:
        most = max((ask.n for ask in asked), default=0)
        least = min((ask.min_score for ask in asked), default=0.0)
        proposed = [ask.proposed for ask in asked]
        answers = self._pipeline.suggest_all([ask.post for ask in asked], most, least, proposed)
        results = []
        for ask, answer in zip(asked, answers, strict=True):
            kept = tuple(s for s in answer.suggestions[: ask.n] if s.score >= ask.min_score)
            results.append(answer.model_copy(update={"suggestions": kept}).to_json().encode())
        return results

    def _retrieved(self, asked: Sequence[Ask]) -> list[bytes]:
        lines = []
        for ask in asked:
            ready = self._pipeline.preparer.read(ask.post)
            lines.append(context_line(ready, self._pipeline.retriever.retrieve(ready)).encode())
        return lines

    def _headlines(self, asked: Sequence[Ask]) -> list[bytes]:
        found = self._pipeline.headlines([ask.post for ask in asked])
        return [json.dumps(titles).encode() for titles in found]

    def _each_alone(
        self, work: Callable[[Sequence[Ask]], list[bytes]], asked: Sequence[Ask]
    ) -> list[Result]:
        """All at once; where that fails, after a refresh one by one, so that one harms no other."""
        try:
            return list(work(asked))
        except Exception:  # a day of the index may just have been replaced by another process
            self._pipeline.refresh()
        results: list[Result] = []
        for ask in asked:
            try:
                results += work([ask])
            except HashNewsError as error:
                results.append(HashNewsError(str(error)))
            except Exception:
                results.append(CallFailed(traceback.format_exc()))
        return results
