"""What all processes share: loaded once, in the process that they are forked from.

Models, counts and compiled code are only read, so their pages stay the same for all.
"""

from __future__ import annotations

import gc
import os


def load() -> object:
    """A suggester that has suggested once, so that all it needs is there."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its threads would not be forked
    from hashnews.service.logs import start_logging
    from hashnews.suggest.pipeline import HashNews

    start_logging()
    try:
        with HashNews() as hashnews:
            hashnews.suggest("Thousands march against police violence in many cities")
            return hashnews
    except Exception:  # whatever it is, a process that cannot start will say so
        return None


SHARED = load()
gc.collect()
gc.freeze()  # a collection would write into every object, and so make copies of its page
