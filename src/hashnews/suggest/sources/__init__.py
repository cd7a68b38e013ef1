"""The sources of hashtags, one file each. Adding a source is adding a file and a name here.

Features, reasons, the command line and the page all read this registry.
"""

from functools import lru_cache

from hashnews.suggest.sources.author import AUTHOR
from hashnews.suggest.sources.base import MemorySource, Source
from hashnews.suggest.sources.generated import GENERATED
from hashnews.suggest.sources.hashtag import HASHTAG
from hashnews.suggest.sources.lexicon import LEXICON
from hashnews.suggest.sources.llm import LLM
from hashnews.suggest.sources.meaning import MEANING
from hashnews.suggest.sources.neighbours import NEIGHBOURS
from hashnews.suggest.sources.news import NEWS
from hashnews.suggest.sources.plugged import plugged_sources
from hashnews.suggest.sources.post import POST
from hashnews.suggest.sources.recent import RECENT
from hashnews.suggest.sources.season import SEASON

SOURCES: tuple[Source, ...] = (
    POST, NEWS, NEIGHBOURS, AUTHOR, RECENT, SEASON, GENERATED, LEXICON, MEANING, HASHTAG,
)  # fmt: skip
MEMORY_SOURCES = tuple(source for source in SOURCES if isinstance(source, MemorySource))
NAMES = tuple(dict.fromkeys(source.name for source in SOURCES if source.name is not None))
RANKED = tuple(name for source in SOURCES for name in source.ranked)
FEATURES = (
    *(name for source in SOURCES for name in source.columns),
    *(f"{name}_rank" for name in RANKED),
    *(f"{name}_of_best" for name in RANKED),
    "on_topic",
    "choice",  # what relevance and the choice of anyone say, for the ranker
)
PLACE = {name: at for at, name in enumerate(FEATURES)}


@lru_cache(1)
def optional_sources() -> tuple[Source, ...]:
    """Those that bring candidates and a reason, but no columns: the judges need not know them.

    Looked for when they are first used: packages that bring some import this one.
    """
    return (LLM, *plugged_sources({*NAMES, LLM.name}))


@lru_cache(1)
def labels() -> dict[str, str]:
    """What people call each source."""
    every = (*SOURCES, *optional_sources())
    return {source.name: source.label for source in every if source.name is not None}
