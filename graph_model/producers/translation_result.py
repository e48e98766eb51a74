"""The result of translating the documents of one key: facts, and a state for each document."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from graph_model.facts import Facts, Part, merge
from graph_model.stores.protocols import DocumentState, StoredDocument

log = logging.getLogger(__name__)

State = tuple[DocumentState, str | None]
"""A state and its reason."""
States = tuple[tuple[int, *State], ...]
"""Position, state and reason of documents."""

PROJECTED: Final[State] = (DocumentState.PROJECTED, None)
PRUNED: Final[State] = (DocumentState.PROJECTED, "it was pruned")
_RETRACTED: Final[State] = (DocumentState.PROJECTED, "it was taken back")
_MOST_REASON: Final = 500


def reason_of(error: Exception) -> str:
    """Why a document was set aside, as the journal keeps it: ``KeyError: 'id'``, bounded."""
    return f"{type(error).__name__}: {error}"[:_MOST_REASON]


def damage_of(document: StoredDocument) -> str:
    """Why a document with a damaged body was set aside, as the journal keeps it."""
    return f"its stored body is damaged: it {document.damage}"[:_MOST_REASON]


@dataclass(slots=True)
class Outcome:
    """The result so far for one key. ``states`` and ``dropped`` are by position.

    ``covered``: a command covers some of it, so that its facts are fewer than those of its
    documents.
    """

    states: dict[int, State] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    dropped: set[int] = field(default_factory=set)
    covered: bool = False

    @property
    def facts(self) -> Facts:
        return merge(self.parts)

    def drop(self, documents: Iterable[StoredDocument]) -> None:
        """A forget command names these documents: they are to leave the journal."""
        for document in documents:
            self.states[document.position] = PROJECTED
            self.dropped.add(document.position)
            self.covered = True

    def hide(self, documents: Iterable[StoredDocument], *, dropped: bool) -> None:
        """A prune command covers these documents."""
        for document in documents:
            self.states[document.position] = PRUNED
            self.covered = True
            if dropped:
                self.dropped.add(document.position)

    def retract(self, document: StoredDocument) -> None:
        """A retract command names this declaration: the journal keeps it, nothing shows it."""
        self.states[document.position] = _RETRACTED
        self.covered = True

    def set_aside(self, documents: Sequence[StoredDocument], error: Exception) -> None:
        """These documents of one key cannot be translated."""
        self._fail(documents, reason_of(error))

    def set_damaged_aside(self, document: StoredDocument) -> None:
        """The stored body of a document cannot be read."""
        self._fail([document], damage_of(document))

    def _fail(self, documents: Sequence[StoredDocument], reason: str) -> None:
        for document in documents:
            self.states[document.position] = (DocumentState.FAILED, reason)
        if documents:
            first = documents[0]
            log.warning(
                "%s: %d documents from %d on are set aside: %s",
                first.subject_key, len(documents), first.position, reason,
            )  # fmt: skip

    def changes(self, documents: Iterable[StoredDocument]) -> States:
        """The new states of the documents whose state changes."""
        return tuple(
            (one.position, *self.states[one.position])
            for one in documents
            if one.position in self.states and self.states[one.position] != (one.state, one.reason)
        )


def earlier_sets(
    documents: Sequence[StoredDocument],
    stays: Callable[[StoredDocument], bool] = lambda _: False,
    *,
    covered: bool,
) -> list[list[StoredDocument]]:
    """The sets of a key's documents that graph or catalogue may show, when all are projected now.

    Those that are not PENDING; and with them those that were reopened, because the graph was lost
    or goes back to a checkpoint while the catalogue stays. Documents in ``stays`` count in any
    case. All of them only if a command has ``covered`` some: else their facts equal the present
    ones.
    """
    settled = [d for d in documents if d.state != DocumentState.PENDING or stays(d)]
    known = [d for d in documents if not d.is_fresh or stays(d)]
    earlier = [settled] if len(settled) == len(known) else [settled, known]
    return [some for some in earlier if some and (covered or len(some) < len(documents))]
