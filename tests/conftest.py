"""What the tests share, and which of them are slow."""

import logging
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from hashnews.errors import EXTRAS

# No deadlines: a busy machine is slow. A change is judged by the same examples every time;
# elsewhere each run looks for new ones.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# The first test that needs a loop compiles it; what commands print is compared without that.
logging.getLogger("hashnews.arrays").setLevel(logging.ERROR)

TESTS = Path(__file__).parent
SHARED = Path(os.environ.get("HASHNEWS_DATA", TESTS.parent.parent / "shared/data"))
# `make test-fast` leaves these out: they train, start servers, clusters and browsers, kill
# processes, or take more than a few seconds of the processor.
SLOW = (
    "baselines/test_lstm_top.py",
    "docs/test_site.py",
    "docs/test_tutorial.py",
    "generate/test_model.py",
    "generate/test_serving.py",
    "generate/test_training.py",
    "index/test_index_kill.py",
    "learn",
    "news/test_harm.py::test_a_damaged_file",
    "news/test_kill.py",
    "posts/test_networks",
    "reproduce/test_reproduce.py",
    "reproduce/test_runner.py",
    "retrieve/test_batch.py",
    "scale",
    "service",
    "suggest/test_real_model.py",
    "tagger/test_tagger_training.py",
    "text/test_properties.py::test_time_is_linear",
)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of measuring data, for tests marked `shared`."""
    return SHARED


def pytest_collection_modifyitems(items):
    # The browser's driver keeps an event loop running until the end: nothing may come after it.
    items.sort(key=lambda item: item.path.name.startswith("test_browser"))
    absent = pytest.mark.skip(reason="needs the measuring data: set HASHNEWS_DATA to its folder")
    if gone := [one for one in SLOW if not any(TESTS.glob(f"{one.partition('::')[0]}*"))]:
        raise pytest.UsageError(f"tests/conftest.py: SLOW names what is not there: {gone}")
    for item in items:
        if "shared" in item.keywords and not SHARED.is_dir():
            item.add_marker(absent)
        for extra in (mark.args[0] for mark in item.iter_markers("extra")):
            if not all(map(find_spec, EXTRAS[extra])):
                item.add_marker(pytest.mark.skip(reason=f"needs hashnews[{extra}]"))
        place = f"{item.path.relative_to(TESTS).as_posix()}::{item.name}"
        if "shared" in item.keywords or place.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
