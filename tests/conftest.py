"""What the tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A change is judged by the same examples every time; elsewhere each run looks for new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

SHARED = Path(os.environ.get("HASHNEWS_DATA", Path(__file__).parent.parent.parent / "shared/data"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of measuring data, for tests marked `shared`."""
    return SHARED


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason=f"the measuring data is not in {SHARED}")
    for item in items:
        if "shared" in item.keywords and not SHARED.is_dir():
            item.add_marker(skip)
