"""A plan captured on another computer, with the places of the real job: pure.

A job on empty tables in a check writes ``file:/tmp/lake/orders``; in production that is
``s3://lake/orders``. Moves are (from, to) pairs of beginnings; of several that fit the longest
counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
