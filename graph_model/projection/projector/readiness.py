"""For other threads: whether the projector is ready, and which documents are projected."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from graph_model.facts import Facts
from graph_model.producers.commands import COMMAND_KIND
from graph_model.projection.projector.rules import ProjectionStores


class Readiness:
    """``state`` is ``ready``, ``rebuilding`` (behind after a start) or ``unavailable`` (no graph).

    ``failure``: why the graph does not answer. ``rebuild_reason``: the reason to project everything
    anew.
    """

    def __init__(self, stores: ProjectionStores) -> None:
        self._journal = stores.journal
        self._goal: int | None = None  # a projector is ready when it has projected all up to here
        self._joins = False
        self.state = "rebuilding"
        self.failure: str | None = None
        self.rebuild_reason: str | None = None

    def begin(self) -> None:
        """Note that the projection may be incomplete until all present documents are projected."""
        self.state, self._goal, self._joins = "rebuilding", None, False

    def join(self) -> None:
        """Note that the projection was complete and is as it was left. Commands that this or
        another process still has to carry out do not keep the service from answering.
        """
        self._joins = True

    def end(self) -> None:
        """Note that the projection is complete."""
        self.state, self._goal, self.rebuild_reason = "ready", None, None

    def fail(self, failure: str) -> None:
        """Note that the graph does not answer, and why."""
        self.state, self.failure = "unavailable", failure

    def has_caught_up(self, *, nothing_left: bool) -> bool:
        """Whether all documents are projected that the journal had at the first of these calls.

        Newer ones do not count: under load there are always more than one round takes.
        """
        if self._goal is None:
            self._goal = self._journal.newest()
        besides = COMMAND_KIND if self._joins else None
        return nothing_left or self._journal.first_unprojected(besides) > self._goal


# A check that the graph still holds its elements: a restarted engine is empty.

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
        vertices = self._stores.graph.vertices(named)
        if named and not vertices:
            return "the graph has none of the jobs that the catalogue names"
        self._id = vertices[0].id if vertices else None
        return None

    def choose(self, parts: Iterable[Facts]) -> None:
        """Choose any written vertex, if there is no probe yet."""
        if self._id is None:
            self._id = next((vertex.id for part in parts for vertex in part.vertices), None)

    def lose(self, gone: Facts) -> None:
        """Forget the probe if it is among these removed elements."""
        if any(vertex.id == self._id for vertex in gone.vertices):
            self._id = None

    def forget(self) -> None:
        """Forget the probe: the content of the graph is unknown."""
        self._id = None


# --------------------------------------------------------------------------------------------------
#
# Clients that wait until certain documents are projected; kept in memory.
#
# projector  conclude(positions) ─┐
# request    wait(positions) ─────┴─> True as soon as none of them is pending

_MOST_REMEMBERED: Final = 20_000


@dataclass(slots=True, eq=False)
class _Waiter:
    missing: set[int]
    woken: threading.Event = field(default_factory=threading.Event)


class Waiters:
    """Safe from several threads. Positions are those of ``stores.documents.StoredDocument``."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._look_again = float("-inf")
        self._mutex = threading.Lock()
        self._begun = threading.Condition(self._mutex)
        self._waiters: set[_Waiter] = set()
        self._pauses_over = False
        # A document may be concluded before anyone has begun to wait for it.
        self._concluded: set[int] = set()
        self._order: deque[int] = deque()

    def conclude(self, positions: Collection[int]) -> None:
        """Note that none of these documents is pending any more, and wake their clients."""
        with self._mutex:
            self._remember(positions)
            done = [waiter for waiter in self._waiters if not waiter.missing.difference(positions)]
            for waiter in self._waiters:
                waiter.missing.difference_update(positions)
            self._waiters.difference_update(done)
        for waiter in done:
            waiter.woken.set()

    def forget(self) -> None:
        """Forget which documents are concluded: some may be pending again."""
        with self._mutex:
            self._concluded.clear()
            self._order.clear()

    def awaited(self) -> frozenset[int]:
        """The documents that requests wait for now."""
        with self._mutex:
            return frozenset(position for waiter in self._waiters for position in waiter.missing)

    def due(self, positions: Collection[int], every: float) -> frozenset[int]:
        """The documents that one request, which waits for ``positions``, is to look for in the
        journal on behalf of all; none less than ``every`` seconds after the last such look.
        """
        with self._mutex:
            if self._clock() < self._look_again:
                return frozenset()
            self._look_again = self._clock() + every
            return frozenset(positions).union(*(waiter.missing for waiter in self._waiters))

    def pause(self, seconds: float) -> None:
        """Pause until a request waits, but at most ``seconds``."""
        with self._begun:
            self._begun.wait_for(lambda: self._waiters or self._pauses_over, seconds)

    def end_pauses(self) -> None:
        """End the pause of the projector, which stops: no later one begins."""
        with self._begun:
            self._pauses_over = True
            self._begun.notify_all()

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait until all of these are concluded; False when ``timeout`` seconds passed first."""
        with self._mutex:
            missing = set(positions).difference(self._concluded)
            if not missing:
                return True
            waiter = _Waiter(missing)
            self._waiters.add(waiter)
            self._begun.notify_all()
        waiter.woken.wait(timeout)
        with self._mutex:
            self._waiters.discard(waiter)
            return not waiter.missing

    def _remember(self, positions: Collection[int]) -> None:
        new = set(positions).difference(self._concluded)
        self._concluded |= new
        self._order.extend(new)
        while len(self._order) > _MOST_REMEMBERED:
            self._concluded.discard(self._order.popleft())
