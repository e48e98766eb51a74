"""What a round is about to project, noted in the journal before it begins.

What the documents of a key stand for is a function of the whole set, and a later document may
change it. A round that breaks off may leave facts of a set that no later round has, so what is
noted is projected first, to its end, with the very documents it was begun with:

    {a} is projected; a round with {a, b} breaks off; c comes
    => {a, b} once more, which takes back what {a} alone says; then {a, b, c}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model.store import DocumentState, StoredDocument

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


def attempt_of(keys: Sequence[str], outline: Outline) -> Attempt:
    """An attempt at all that is known of these keys."""
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
    or goes back to a checkpoint while the catalogue stays. What ``stays`` counts in any case.
    All of them only where a command has ``covered`` some: else what they say is what is said now.
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
