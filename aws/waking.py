"""A projector elsewhere, woken by messages: the projector of an application on Lambda.

    document durable -> notify -> one message a request -> the function that projects

A message that is not sent costs a moment and no document: a schedule wakes the projector, too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from typing import Final, Protocol
from uuid import uuid4

from graph_model.errors import Unavailable
from graph_model.naming import Rules
from graph_model.projection.projector import EPOCH_KEY, Projector
from graph_model.projection.rebuilding import Progress
from graph_model.stores.catalogue.rows import CATALOGUE_KEY, FILLING
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import Journal

log = logging.getLogger(__name__)

WAKE_UP: Final = '{"headwater":"project"}'
_GROUP: Final = "project"
_FRESH_SECONDS: Final = 1.0


class WakeUps(Protocol):
    """A queue (``collectors.sqs.queues.Queue``)."""

    def send(self, body: str, attributes: dict[str, str], group: str, name: str) -> None: ...


def wake(queue: WakeUps) -> bool:
    """Send a wake-up; False where the queue takes none now."""
    try:
        queue.send(WAKE_UP, {}, _GROUP, uuid4().hex)
    except Unavailable as error:
        log.warning("the projector is not woken, the schedule will: %s", error)
        return False
    return True


class ProjectorElsewhere:
    """``api.service.ProjectionService``. ``projector`` never works here: it reads the rules and
    notes their requests for the one that does.
    """

    rebuild_reason = None
    failure = None
    full = None
    idle = False
    """False: no function waits for the graph before it answers."""

    def __init__(self, journal: Journal, projector: Projector, queue: WakeUps) -> None:
        self._journal = journal
        self._projector = projector
        self._queue = queue
        self._notified = False
        self._followed_at = float("-inf")

    @property
    def state(self) -> str:
        """``rebuilding`` before the first projection and while the catalogue is filled."""
        self._follow()
        noted = self._journal.get_every_meta()
        if noted.get(EPOCH_KEY) is None or noted.get(CATALOGUE_KEY) == FILLING:
            return "rebuilding"
        return "ready"

    @property
    def rules(self) -> Rules:
        self._follow()
        return self._projector.rules

    @property
    def progress(self) -> Progress | None:
        """The progress of a rebuild, which another function carries out."""
        return self._projector.progress

    @property
    def rebuild_waits(self) -> bool:
        return self._projector.rebuild_waits

    def notify(self) -> None:
        """Note that the journal has new documents, for ``send`` at the end of the request."""
        self._notified = True

    def send(self) -> None:
        """Send one wake-up if the journal has new documents."""
        if self._notified:
            self._notified = False
            wake(self._queue)

    def wait(self, positions: Collection[int], timeout: float) -> bool:  # noqa: ARG002
        """Does not wait: nothing here knows when another function has projected."""
        return False

    def replay(self, states: Collection[DocumentState]) -> int:
        reopened = self._projector.replay(states)
        self.notify()
        return reopened

    def request_rebuild(self) -> Progress:
        progress = self._projector.request_rebuild()
        self.notify()
        return progress

    def _follow(self) -> None:
        if time.monotonic() - self._followed_at > _FRESH_SECONDS:
            self._projector.follow()
            self._followed_at = time.monotonic()
