"""The intake of collected documents, and the documents of files brought there.

    piece -> prepare (checks, masks) -> Prepared -> Intake.take -> durable

The console chooses an intake: the journal itself, or the routes of a running server. Both end
in the same journal with the same documents.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final, Protocol, TextIO

from graph_model.documents.files import Found, Piece, Prepared, Refusal, prepare, recognise
from graph_model.errors import InvalidInput, Unavailable
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.documents import Receipt
from graph_model.stores.journal import Journal


class Intake(Protocol):
    """Makes documents durable. A repeat is accepted: the journal recognises it."""

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        """Make documents durable, and return those that were refused, with the reason.

        Raises Unavailable when some may not be durable (a retry is safe), and another
        HeadwaterError when a retry cannot help.
        """

    def received(self) -> int:
        """How many distinct documents are in the journal."""


class DirectIntake:
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
        """See Intake. Adjacent documents with one time of receipt share a transaction."""
        for received_at, group in groupby(documents, lambda document: document.piece.received_at):
            now = self._clock()
            at = min(received_at or now, now)  # a receipt is not of a time to come
            submissions = [document.submission for document in group]
            self._journal.accept(submissions, Receipt(at, self._principal, self._route, ""))
        return ()

    def received(self) -> int:
        return self._journal.summary().received


STANDARD_INPUT: Final = "-"
_BATCH: Final = 200
_BATCH_BYTES: Final = 4_000_000
_PROGRESS_EVERY: Final = 10_000

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of an import; ``known`` are repeats, within the files or of
    journalled documents.
    """

    imported: int
    known: int
    refused: int

    def __str__(self) -> str:
        return f"{self.imported:,} imported, {self.known:,} already known, {self.refused:,} refused"


def import_files(
    names: Sequence[str],
    intake: Intake,
    say: Say,
    limit: int,
    producers: Producers = PRODUCERS,
) -> Tally:
    """Import every document recognised in these files (``-``: standard input).

    ``limit`` bounds one document, in characters. A file that cannot be read counts as refused.
    Raises Unavailable with the counts so far when the intake becomes unavailable: documents
    already taken are durable, so the same call resumes where this one stopped.
    """
    before = intake.received()
    run = _Run(intake, say, producers)
    try:
        for name in names:
            run.import_file(name, limit)
        run.flush()
    except Unavailable as error:
        raise Unavailable(
            f"{error}: stopped after {run.taken:,} documents; the same call again goes on"
        ) from error
    imported = min(max(intake.received() - before, 0), run.taken)
    return Tally(imported, run.taken - imported, run.refused)


class _Run:
    """Sends documents in batches and counts the results."""

    def __init__(self, intake: Intake, say: Say, producers: Producers) -> None:
        self._intake = intake
        self._producers = producers
        self._say = say
        self._batch: list[Prepared] = []
        self._bytes = 0
        self.taken = 0
        self.refused = 0

    def import_file(self, name: str, limit: int) -> None:
        label = "standard input" if name == STANDARD_INPUT else name
        pieces = self.taken + self.refused + len(self._batch)
        try:
            with _lines(name) as lines:
                for piece in recognise(lines, label, limit, self._producers):
                    self._take(piece)
        except OSError as error:
            self._refuse(Refusal(label, error.strerror or str(error)))
        if pieces == self.taken + self.refused + len(self._batch):
            self._say(f"{label}: no plans or events found")

    def flush(self) -> None:
        if not self._batch:
            return
        refusals = self._intake.take(self._batch)
        before = self.taken
        self.taken += len(self._batch) - len(refusals)
        self._batch, self._bytes = [], 0
        for refusal in refusals:
            self._refuse(refusal)
        if self.taken // _PROGRESS_EVERY > before // _PROGRESS_EVERY:
            self._say(f"  {self.taken:,} documents so far")

    def _take(self, piece: Found) -> None:
        if isinstance(piece, Refusal):
            self._refuse(piece)
            return
        prepared = self._prepared(piece)
        if prepared is None:
            return
        self._batch.append(prepared)
        self._bytes += len(prepared.submission.body)
        if len(self._batch) >= _BATCH or self._bytes >= _BATCH_BYTES:
            self.flush()

    def _prepared(self, piece: Piece) -> Prepared | None:
        try:
            return prepare(piece, self._producers)
        except InvalidInput as error:
            self._refuse(Refusal(piece.where, str(error)))
            return None

    def _refuse(self, refusal: Refusal) -> None:
        self.refused += 1
        self._say(f"{refusal.where}: refused: {refusal.reason}")


@contextmanager
def _lines(name: str) -> Iterator[TextIO]:
    """The lines of a file; bytes that are not UTF-8 are kept as lone surrogates."""
    if name != STANDARD_INPUT:
        with Path(name).open(encoding="utf-8-sig", errors="surrogateescape") as file:
            yield file
        return
    wrapper = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", errors="surrogateescape")
    try:
        yield wrapper
    finally:
        wrapper.detach()
