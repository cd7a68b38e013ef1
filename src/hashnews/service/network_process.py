"""What the network process does: it follows the sources of the store that are not paused.

Nothing leaves the machine but requests to the sources. What it adds the news process finds by
itself.
"""

from __future__ import annotations

from hashnews.news.store import NewsStore
from hashnews.posts.networks.events import FollowSettings
from hashnews.posts.networks.follower import Follower
from hashnews.posts.networks.sources import sources_to_follow
from hashnews.service.settings import ServiceSettings

NETWORKS = "networks"


class NetworkProcess:
    """One store and its follower, made anew when other sources are to be followed."""

    def __init__(self, settings: ServiceSettings):
        assert settings.news is not None  # the server sees to it
        self._path = settings.news
        self._settings = FollowSettings(
            tokens=settings.tokens, allow_private=settings.allow_private
        )
        self._follower: Follower | None = None
        self._followed: list[str] = []

    def due(self) -> list[str]:
        """Whether other sources are to be followed than those that are."""
        if self._follower is not None and self._follower.problem is not None:
            problem = self._follower.problem
            self.close()
            raise problem  # and begin again
        return [NETWORKS] if self._wanted() != self._followed else []

    def visit(self, name: str) -> dict[str, object]:
        """Follow the sources that are to be followed; says how many there are."""
        self.close()
        wanted = self._wanted()
        if wanted:
            follower = Follower(self._path, wanted, self._settings, as_kept=True)
            follower.start()
            self._follower = follower
        self._followed = wanted
        return {"sources": len(wanted)}

    def close(self) -> None:
        """Follow nothing; what was brought so far is stored."""
        if self._follower is not None:
            self._follower.stop()
        self._follower, self._followed = None, []

    def _wanted(self) -> list[str]:
        with NewsStore(self._path) as store:
            return sources_to_follow(store)
