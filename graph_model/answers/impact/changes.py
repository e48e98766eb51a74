"""Changes of a plan and their effects, and the places of a plan captured on another computer.

Pure, and words alone: the console imports no reader. A job on empty tables in a check writes
``file:/tmp/lake/orders``; in production that is ``s3://lake/orders``. Moves are (from, to) pairs of
beginnings; of several that fit the longest counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class ChangeKind(StrEnum):
    """Kinds of changes to a plan's outputs and inputs."""

    COLUMN_DROPPED = "column-dropped"
    COLUMN_RENAMED = "column-renamed"
    COLUMN_RETYPED = "column-retyped"
    COLUMN_RECOMPUTED = "column-recomputed"
    COLUMN_ADDED = "column-added"
    ROWS_CHANGED = "rows-changed"
    INPUT_DROPPED = "input-dropped"
    INPUT_ADDED = "input-added"
    MODE_CHANGED = "mode-changed"
    PARTITIONING_CHANGED = "partitioning-changed"
    TARGET_MOVED = "target-moved"
    SCHEMA_UNKNOWN = "schema-unknown"
    PLAN_CHANGED = "plan-changed"


class Effect(StrEnum):
    """The effect of a change on the readers of the changed element."""

    BREAKS = "breaks"
    MAY_BREAK = "may-break"
    NONE = "none"


EFFECTS: Final = {
    ChangeKind.COLUMN_DROPPED: Effect.BREAKS,
    ChangeKind.COLUMN_RENAMED: Effect.BREAKS,
    ChangeKind.COLUMN_RETYPED: Effect.MAY_BREAK,
    ChangeKind.TARGET_MOVED: Effect.MAY_BREAK,
}
"""Other changes break nothing: names and types stay, though values may differ."""
COLUMN_CHANGES: Final = {
    "dropped": ChangeKind.COLUMN_DROPPED,
    "renamed": ChangeKind.COLUMN_RENAMED,
    "retyped": ChangeKind.COLUMN_RETYPED,
}
"""The changes of a column that a question may name."""


@dataclass(frozen=True, slots=True)
class Change:
    """``subject`` is a column's path or a dataset's URI; ``before`` and
    ``after`` its two states.
    """

    kind: ChangeKind
    subject: str
    before: str | None = None
    after: str | None = None

    @property
    def effect(self) -> Effect:
        return EFFECTS.get(self.kind, Effect.NONE)


Move = tuple[str, str]


def relocate(document: Any, moves: Sequence[Move]) -> Any:
    """The document with each move applied to every text that begins with the move's old prefix."""
    if isinstance(document, str):
        return _moved(document, moves)
    if isinstance(document, Mapping):
        return {key: relocate(value, moves) for key, value in document.items()}
    if isinstance(document, list):
        return [relocate(value, moves) for value in document]
    return document


def _moved(text: str, moves: Sequence[Move]) -> str:
    fitting = [move for move in moves if text.startswith(move[0])]
    if not fitting:
        return text
    old, new = max(fitting, key=lambda move: len(move[0]))
    return new + text.removeprefix(old)
