"""The writes and removals that one subject needs, and a state and notes for each of its documents.

A note names keys that a document's text gave twice with different values, which are a field of it:

    {"a": 1, "a": 2}  =>  {"a": 2, "_repeatedKeys": ["a"]}

The field is part of the document, so that a backup, an export and a rebuild keep the note. Other
notes name the parts that are too large for the graph (``producers.bounds``).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph_model.facts import Facts, Part, merge
from graph_model.stores.documents import DocumentState, StoredDocument

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
            (document.position, *self.states[document.position])
            for document in documents
            if document.position in self.states
            and self.states[document.position] != (document.state, document.reason)
        )


def earlier_sets(
    documents: Sequence[StoredDocument],
    stays: Callable[[StoredDocument], bool] = lambda _: False,
    *,
    covered: bool,
) -> list[list[StoredDocument]]:
    """The sets of a key's documents that graph or catalogue may show, when all are projected now.

    Those that are not PENDING; and with them those that were reopened, because the graph was lost
    while the catalogue stays. Documents in ``stays`` count in any
    case. All of them only if a command has ``covered`` some: else their facts equal the present
    ones.
    """
    settled = [d for d in documents if d.state != DocumentState.PENDING or stays(d)]
    known = [d for d in documents if not d.is_fresh or stays(d)]
    earlier = [settled] if len(settled) == len(known) else [settled, known]
    return [some for some in earlier if some and (covered or len(some) < len(documents))]


FORGOTTEN_REASON: Final = "its runs were forgotten; it counts again with the next run that is not"


@dataclass(frozen=True, slots=True)
class Projection:
    """The writes and removals that one subject needs, and the states of its documents afterwards.

    ``parts`` together are its facts; a part that many subjects share (a known logical plan) has
    the same key in each of them.
    """

    parts: tuple[Part, ...]
    former: Facts | None  # the former facts, of which some may have to go
    states: States
    dropped: tuple[int, ...] = ()  # positions that are to leave the journal
    unsettled: bool = False  # a command covers a new event: does its plan still say something?

    @property
    def facts(self) -> Facts:
        """All of them as one; raises FactConflict where two contradict each other."""
        return merge(self.parts)

    def silenced(self) -> Iterator[int]:
        """The positions of plans that were forgotten and have no events left."""
        return (position for position, _, reason in self.states if reason == FORGOTTEN_REASON)


def combined(projections: Iterable[Projection]) -> Projection:
    """The projections of several groups of one key's documents as one, none adding to another."""
    projections = tuple(projections)
    former = [projection.former for projection in projections if projection.former is not None]
    return Projection(
        tuple(part for projection in projections for part in projection.parts),
        merge(former) if former else None,
        tuple(state for projection in projections for state in projection.states),
        tuple(sorted(at for projection in projections for at in projection.dropped)),
        any(projection.unsettled for projection in projections),
    )


def settlements(
    projections: Iterable[Projection],
) -> list[tuple[list[int], DocumentState, str | None]]:
    """The states of several projections: the positions that share one (and its reason) together."""
    together: dict[tuple[DocumentState, str | None], list[int]] = {}
    for projection in projections:
        for position, state, reason in projection.states:
            together.setdefault((state, reason), []).append(position)
    return [(positions, state, reason) for (state, reason), positions in together.items()]


def projection_of(
    outcome: Outcome,
    former: Facts | None,
    documents: Iterable[StoredDocument],
    *,
    unsettled: bool = False,
) -> Projection:
    """The projection for an outcome; ``documents`` are all documents of it."""
    documents = tuple(documents)
    dropped = tuple(sorted(outcome.dropped))
    changes = outcome.changes(documents)
    return Projection(tuple(outcome.parts), former, changes, dropped, unsettled)


REPEATED_KEYS: Final = "_repeatedKeys"
"""The field of a document that lists the paths of such keys."""
REPEATED_KEY: Final = "repeated-key"
"""The code of the gap that a plan's page shows for each of them."""
_REPEATED_KEYS: Final = "keys given twice with different values, of which the last counts: "
_NOT_ALL: Final = "not all of it: "
_MARK: Final = f'"{REPEATED_KEYS}"'.encode()
_MOST: Final = 50
_LONGEST: Final = 200


def repeated_keys(document: Any) -> tuple[str, ...]:
    """The paths that the field lists; () without it. A client may send it, too: it is bounded."""
    listed = document.get(REPEATED_KEYS) if isinstance(document, Mapping) else None
    texts = listed[:_MOST] if isinstance(listed, list) else []
    return tuple(text[:_LONGEST] for text in texts if isinstance(text, str))


def gaps_of(document: StoredDocument) -> list[dict[str, str]]:
    """A gap for each path, as the gaps of a plan are listed."""
    return [{"code": REPEATED_KEY, "detail": path} for path in _paths(document)]


def projected(
    document: StoredDocument, left_out: Iterable[tuple[str, str]] = ()
) -> tuple[DocumentState, str | None]:
    """The state of a document that is in the graph, and the notes as its reason.

    ``left_out`` are gaps (code, detail) of parts that are not in the graph. A known plan comes
    without its body and keeps its notes.
    """
    if not document.body:
        kept = (document.reason or "").startswith((_REPEATED_KEYS, _NOT_ALL))
        return DocumentState.PROJECTED, document.reason if kept else None
    gaps = ", ".join(f"{code} ({detail})" for code, detail in left_out)
    paths = ", ".join(_paths(document))
    notes = [
        f"{note}{details}"
        for note, details in ((_NOT_ALL, gaps), (_REPEATED_KEYS, paths))
        if details
    ]
    return DocumentState.PROJECTED, "; ".join(notes)[:_MOST_REASON] or None


def _paths(document: StoredDocument) -> tuple[str, ...]:
    """Nearly every document is answered without parsing it."""
    return repeated_keys(json.loads(document.body)) if _MARK in document.body else ()
