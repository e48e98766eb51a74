"""The destination of collected documents.

    piece -> prepare (checks, masks) -> Prepared -> Destination.take -> durable

The console chooses one: the journal itself, or the routes of a running server. Both end in the same
journal with the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Protocol

from graph_model.documents.files import Prepared, Refusal
from graph_model.stores.documents import Receipt
from graph_model.stores.journal import Journal


class Destination(Protocol):
    """Makes documents durable. A repeat is accepted: the journal recognises it."""

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        """Make documents durable, and return those that were refused, with the reason.

        Raises Unavailable when some may not be durable (a retry is safe), and another
        HeadwaterError when a retry cannot help.
        """

    def received(self) -> int:
        """How many distinct documents are in the journal."""


class JournalDestination:
    """Writes into a journal that no server uses; the next server to start projects the documents.

    ``clock`` gives epoch milliseconds, for documents without a past time of receipt; ``route`` and
    ``principal`` are recorded on their receipts.
    """

    def __init__(
        self,
        journal: Journal,
        clock: Callable[[], int],
        route: str,
        principal: str,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._route = route
        self._principal = principal

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        """See Destination. Adjacent documents with one time of receipt share a transaction."""
        for received_at, group in groupby(documents, lambda document: document.piece.received_at):
            now = self._clock()
            at = min(received_at or now, now)  # a receipt is not of a time to come
            submissions = [document.submission for document in group]
            self._journal.accept(submissions, Receipt(at, self._principal, self._route, ""))
        return ()

    def received(self) -> int:
        return self._journal.summary().received
