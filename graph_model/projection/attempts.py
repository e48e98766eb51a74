"""The keys of a round, noted in the journal before the round begins.

The facts of a key are a function of the whole set of its documents, and a later document may change
them. An interrupted round may leave facts that no later set of documents has. So the projector
first completes a noted round with the very documents that it began with:

    {a} is projected; a round with {a, b} breaks off; c comes
    => {a, b} once more, which withdraws the facts of {a} alone; then {a, b, c}
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model.errors import Unavailable
from graph_model.producers.projections import reason_of
from graph_model.stores.documents import StoredDocument

log = logging.getLogger(__name__)

#: Where the journal keeps the last attempt.
ATTEMPT_KEY: Final = "attempt"

Outline = Mapping[str, Sequence[StoredDocument]]


@dataclass(frozen=True, slots=True)
class Attempt:
    """``keys`` are subject keys. Their fresh documents beyond the position ``last`` wait."""

    keys: tuple[str, ...]
    last: int

    def among(self, documents: Iterable[StoredDocument]) -> list[StoredDocument]:
        """The documents that take part in the attempt."""
        return [
            document
            for document in documents
            if document.position <= self.last or not document.is_fresh
        ]

    def beside(self, other: Attempt | None) -> Attempt:
        """Both as one; fresh documents of ``other`` up to its own ``last`` must be projected."""
        if other is None:
            return self
        keys = dict.fromkeys((*self.keys, *other.keys))
        return Attempt(tuple(keys), max(self.last, other.last))


def attempt_of(keys: Sequence[str], outline: Outline) -> Attempt:
    """An attempt at all known documents of these keys."""
    positions = (document.position for key in keys for document in outline.get(key, ()))
    return Attempt(tuple(keys), max(positions, default=0))


def write_attempt(attempt: Attempt) -> str:
    return json.dumps([attempt.last, *attempt.keys], ensure_ascii=False)


def read_attempt(text: str | None) -> Attempt | None:
    """The attempt in this text; None where there was no attempt yet."""
    if not text:
        return None
    last, *keys = json.loads(text)
    return Attempt(tuple(keys), last)


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
