"""A long sequence in batches, because a statement, a request and a transaction have bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

_Item = TypeVar("_Item")


def batched(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """``[1, 2, 3], 2 => [1, 2], [3]``: ``itertools.batched`` of Python 3.12, with lists."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
