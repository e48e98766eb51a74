"""The keys of a round, noted in the journal before it begins; long subjects, piece by piece.

The facts of a key are a function of the whole set of its documents, and a later document may change
them. An interrupted round may leave facts that no later set of documents has. So the projector
first completes a noted round with the very documents that it began with:

    {a} is projected; a round with {a, b} breaks off; c comes
    => {a, b} once more, which withdraws the facts of {a} alone; then {a, b, c}
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from graph_model.errors import Unavailable
from graph_model.facts import Facts
from graph_model.producers.projections import PRUNED, Projection, reason_of
from graph_model.projection.writing import difference
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.stores.journal.stored_documents import DocumentsSize
from graph_model.values import batched

log = logging.getLogger(__name__)

#: Where the journal keeps the last attempt.
ATTEMPT_KEY: Final = "attempt"

Outline = Mapping[str, Sequence[StoredDocument]]


@dataclass(frozen=True, slots=True)
class Attempt:
    """``lasts``: for each subject key a position. Its fresh documents beyond that wait."""

    lasts: Mapping[str, int]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.lasts)

    def of(self, keys: Iterable[str]) -> Attempt:
        """The attempt at these of its keys alone."""
        return Attempt({key: self.lasts[key] for key in keys})

    def among(self, documents: Iterable[StoredDocument]) -> list[StoredDocument]:
        """The documents that take part in the attempt."""
        return [
            document
            for document in documents
            if not document.is_fresh or document.position <= self.lasts[document.subject_key]
        ]

    def beside(self, other: Attempt | None) -> Attempt:
        """Both as one; of a key of both, the documents of ``other`` must be projected."""
        if other is None:
            return self
        lasts = dict(self.lasts)
        for key, last in other.lasts.items():
            lasts[key] = max(last, lasts.get(key, 0))
        return Attempt(lasts)


def attempt_of(keys: Sequence[str], outline: Outline) -> Attempt:
    """An attempt at all known documents of these keys."""
    positions = (document.position for key in keys for document in outline.get(key, ()))
    return Attempt(dict.fromkeys(keys, max(positions, default=0)))


def write_attempt(attempt: Attempt) -> str:
    return json.dumps(attempt.lasts, ensure_ascii=False)


def read_attempt(text: str | None) -> Attempt | None:
    """The attempt in this text; None where there was no attempt yet. A list is of an earlier
    version: one position, then the keys.
    """
    if not text:
        return None
    noted = json.loads(text)
    return Attempt(noted if isinstance(noted, dict) else dict.fromkeys(noted[1:], noted[0]))


def project_apart(
    keys: Sequence[str],
    project: Callable[[Sequence[str]], None],
    set_aside: Callable[[str, str], None],
) -> None:
    """All keys in one write; if that fails unexpectedly, each on its own.

    A key that fails alone is passed to ``set_aside`` with its reason, and does not block the
    others. Unavailable and MemoryError are raised: the caller may try again.
    """
    if len(keys) > 1 and _succeeds(keys, project):
        return
    for key in keys:
        try:
            project([key])
        except (Unavailable, MemoryError):
            raise
        except Exception as error:
            log.exception("%s cannot be projected", key)
            set_aside(key, reason_of(error))


def _succeeds(keys: Sequence[str], project: Callable[[Sequence[str]], None]) -> bool:
    try:
        project(keys)
    except (Unavailable, MemoryError):
        raise
    except Exception:
        log.exception("%d plans cannot be projected together; each on its own", len(keys))
        return False
    return True


# --------------------------------------------------------------------------------------------------
#
# A subject with many events, a bounded number of them at a time.
#
# The facts of events add up. So the projector writes the facts of new events, and withdraws those
# of events that a command covers, piece by piece. Whether the plan keeps its facts depends on the
# states of all its events: a few *representatives*, one of every state, represent them.

EVENTS_A_STEP: Final = 1_000
BYTES_A_STEP: Final = 16 << 20
_READ_AT_ONCE: Final = 100

Project = Callable[[Sequence[StoredDocument]], Projection]
Read = Callable[[Collection[int]], Sequence[StoredDocument]]
"""The documents at these positions, with bodies."""


@dataclass(slots=True)
class RepresentativeEvents:
    """The first event of each scope and fate."""

    _found: dict[tuple[str, bool, str], StoredDocument] = field(default_factory=dict)

    @property
    def documents(self) -> tuple[StoredDocument, ...]:
        return tuple(self._found.values())

    @property
    def positions(self) -> frozenset[int]:
        return frozenset(document.position for document in self.documents)

    def see(self, projection: Projection, events: Iterable[StoredDocument]) -> bool:
        """Note the states of these events. Returns whether any event seen so far is shown."""
        states = {at: (state, reason) for at, state, reason in projection.states}
        dropped = frozenset(projection.dropped)
        for event in events:
            state = states.get(event.position, (event.state, event.reason))
            fate = _fate(*state, dropped=event.position in dropped)
            names_scope = b'"captureScope"' in event.body  # decides which plan it belongs to
            self._found.setdefault((event.scope, names_scope, fate), event)
        return any(fate == _SHOWN for _, _, fate in self._found)


_SHOWN: Final = "shown"


def _fate(state: DocumentState, reason: str | None, *, dropped: bool) -> str:
    if (state, reason) == PRUNED:
        return "pruned and dropped" if dropped else "pruned"
    if dropped:
        return "forgotten"
    return _SHOWN if state != DocumentState.WAITING else "waiting"


def is_long(size: DocumentsSize | None) -> bool:
    """Whether a subject has too many events, or too large ones, for one step."""
    return size is not None and (size.documents > EVENTS_A_STEP or size.bytes > BYTES_A_STEP)


def revise(
    read: Read,
    plans: Sequence[StoredDocument],
    events: Sequence[int],
    covered: Sequence[int],
    project: Project,
    *,
    plans_first: bool = False,
) -> Iterator[Projection]:
    """The projections to commit, one after the other; the last one decides about the plans.

    ``events`` are the positions of all events of the subject, ``covered`` of those whose facts may
    have changed: the new ones, or those of a command. ``project`` translates under the commands in
    force, with the former facts as ``former``. ``plans_first``: the facts of the plans may be new,
    and those of events build on them.
    """
    representatives, kept = RepresentativeEvents(), {plan.position for plan in plans}
    alone = project(plans)
    if plans_first:
        yield Projection(alone.parts, None, ())
    plan_facts = alone.former or Facts()
    shown = False
    for piece in pieces(read, covered):
        revised = project([*plans, *piece])
        shown = representatives.see(revised, piece)
        yield _of_events(revised, plan_facts, kept | representatives.positions)
    others = () if shown else sorted(set(events) - set(covered))
    for piece in pieces(read, others):
        revised = project([*plans, *piece])
        shown = representatives.see(revised, piece)
        if shown:
            break
        # A command in force covers them whose turn has not come: they go before their plan does.
        yield _of_events(revised, plan_facts, kept | representatives.positions)
    last = project([*plans, *representatives.documents])
    yield replace(last, dropped=(*last.dropped, *last.silenced()))


def pieces(read: Read, positions: Sequence[int]) -> Iterator[list[StoredDocument]]:
    """The documents at these positions, a step's amount at a time; no piece is empty."""
    piece: list[StoredDocument] = []
    for some in batched(positions, min(_READ_AT_ONCE, EVENTS_A_STEP)):
        piece += read(some)
        if len(piece) >= EVENTS_A_STEP or sum(document.size for document in piece) >= BYTES_A_STEP:
            yield piece
            piece = []
    if piece:
        yield piece


def without_states(projection: Projection, kept: Collection[int]) -> Projection:
    """The projection without its decisions about the documents at the positions ``kept``."""
    return replace(
        projection,
        states=tuple(state for state in projection.states if state[0] not in kept),
        dropped=tuple(position for position in projection.dropped if position not in kept),
    )


def _of_events(revised: Projection, plan_facts: Facts, kept: Collection[int]) -> Projection:
    """The facts of the events alone. The plans and the representatives stay as they are for now."""
    return replace(
        without_states(revised, kept),
        parts=(difference(revised.facts, (plan_facts,)),),
        former=difference(revised.former or Facts(), (plan_facts,)),
    )
