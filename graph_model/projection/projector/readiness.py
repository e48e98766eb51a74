"""Whether the projector is ready, and whether it is busy: for other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from graph_model.producers.commands.documents import COMMAND_KIND
from graph_model.projection.projector.stores import ProjectionStores

_LONGEST_WAIT_SECONDS: Final = 5.0


class Readiness:
    """``state`` is ``ready``, ``rebuilding`` (behind after a start) or ``unavailable`` (no graph).

    ``trouble``: why the graph does not answer. ``doubt``: why everything is projected anew.
    """

    def __init__(self, stores: ProjectionStores) -> None:
        self._journal = stores.journal
        self._goal: int | None = None  # a projector is ready when it has projected all up to here
        self._joins = False
        self.state = "rebuilding"
        self.trouble: str | None = None
        self.doubt: str | None = None

    def begin(self) -> None:
        """The projection may be incomplete until all present documents are projected."""
        self.state, self._goal, self._joins = "rebuilding", None, False

    def join(self) -> None:
        """The projection was whole, and was found as it was left: commands that are still to be
        carried out, or that another process carries out, keep no other service from answering.
        """
        self._joins = True

    def end(self) -> None:
        """The projection is complete."""
        self.state, self._goal, self.doubt = "ready", None, None

    def fail(self, trouble: str) -> None:
        """The graph does not answer."""
        self.state, self.trouble = "unavailable", trouble

    def has_caught_up(self, *, nothing_left: bool) -> bool:
        """Whether all is projected that was there when this began to ask.

        Under load there is always something newer, and more of it than one round takes up.
        """
        if self._goal is None:
            self._goal = self._journal.newest()
        besides = COMMAND_KIND if self._joins else None
        return nothing_left or self._journal.first_unprojected(besides) > self._goal


class Activity:
    """Whether there is something to do, and whether it is being done. Any thread may ask."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._notified = False
        self._projecting = False

    @property
    def idle(self) -> bool:
        """Whether nothing is being projected, or is about to be."""
        return not (self._notified or self._projecting)

    def notify(self) -> None:
        """There may be something to do."""
        with self._changed:
            self._notified = True
            self._changed.notify_all()

    def wait(self, until: Callable[[], bool]) -> None:
        """Until a thread notifies, for some seconds at most, or ``until`` this holds."""
        with self._changed:
            self._changed.wait_for(lambda: self._notified or until(), _LONGEST_WAIT_SECONDS)
            self._notified = False

    def look(self) -> None:
        """A round begins: a thread that has notified has committed, and the round finds that."""
        self._notified = False

    def begin(self, *, projecting: bool) -> None:
        """Whether the round has found something."""
        self._projecting = projecting

    def end(self) -> None:
        """All documents of this look are projected."""
        self._projecting = False
