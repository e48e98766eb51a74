"""The keys of a round, noted in the journal before the round begins.

The facts of a key are a function of the whole set of its documents, and a later document may change
them. An interrupted round may leave facts of a set that no later round has, so the projector first
completes a noted round with the very documents that it began with:

    {a} is projected; a round with {a, b} breaks off; c comes
    => {a, b} once more, which withdraws the facts of {a} alone; then {a, b, c}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model.stores.protocols import DocumentState, StoredDocument

#: Where the journal keeps the last attempt.
ATTEMPT_KEY: Final = "attempt"

Outline = Mapping[str, Sequence[StoredDocument]]


@dataclass(frozen=True, slots=True)
class Attempt:
    """``keys`` are plan ids; fresh documents of theirs beyond the position ``last`` wait."""

    keys: tuple[str, ...]
    last: int

    def among(self, documents: Iterable[StoredDocument]) -> list[StoredDocument]:
        """Those that take part."""
        return [one for one in documents if one.position <= self.last or not one.is_fresh]

    def beside(self, other: Attempt | None) -> Attempt:
        """Both as one; fresh documents of ``other`` up to its own ``last`` must be projected."""
        if other is None:
            return self
        keys = dict.fromkeys((*self.keys, *other.keys))
        return Attempt(tuple(keys), max(self.last, other.last))


def attempt_of(keys: Sequence[str], outline: Outline) -> Attempt:
    """An attempt at all known documents of these keys."""
    positions = (one.position for key in keys for one in outline.get(key, ()))
    return Attempt(tuple(keys), max(positions, default=0))


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


def write_attempt(attempt: Attempt) -> str:
    return json.dumps([attempt.last, *attempt.keys], ensure_ascii=False)


def read_attempt(text: str | None) -> Attempt | None:
    """The attempt of this text; None where none was ever made."""
    if not text:
        return None
    last, *keys = json.loads(text)
    return Attempt(tuple(keys), last)
