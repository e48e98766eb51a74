"""A check that the graph still holds its elements: a restarted engine is empty."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from graph_model.facts import Facts
from graph_model.projection.projector.stores import ProjectionStores

_CANDIDATES: Final = 20
_LOOK_SECONDS: Final = 1.0


class GraphProbe:
    """One vertex that the graph must hold; it is read once in a while."""

    def __init__(self, stores: ProjectionStores) -> None:
        self._stores = stores
        self._id: str | None = None
        self._look_after = 0.0

    def look_soon(self) -> None:
        """Make the next check look at the graph: it did not answer."""
        self._look_after = 0.0

    def is_graph_whole(self) -> bool:
        """Whether the graph still holds the last written elements.

        An engine that another program restarted is empty, and connections to it are made anew
        without an error, so only a look shows it. An engine that died while idle raises
        GraphUnavailable.
        """
        if time.monotonic() < self._look_after:
            return True
        if self._id is None:
            self._stores.graph.ping()
        elif not self._stores.graph.vertices((self._id,)):
            return False
        self._look_after = time.monotonic() + _LOOK_SECONDS
        return True

    def find(self) -> str | None:
        """Choose a job of the catalogue as the probe. Returns None, or the reason where the graph
        has none of the catalogue's jobs: another program emptied and filled it.
        """
        named = self._stores.generations.current.job_ids("", _CANDIDATES)
        found = self._stores.graph.vertices(named)
        if named and not found:
            return "the graph has none of the jobs that the catalogue names"
        self._id = found[0].id if found else None
        return None

    def choose(self, parts: Iterable[Facts]) -> None:
        """Choose any written vertex, if there is no probe yet."""
        if self._id is None:
            self._id = next((one.id for part in parts for one in part.vertices), None)

    def lose(self, gone: Facts) -> None:
        """Forget the probe if it is among these removed elements."""
        if any(vertex.id == self._id for vertex in gone.vertices):
            self._id = None

    def forget(self) -> None:
        """Forget the probe: the content of the graph is unknown."""
        self._id = None
