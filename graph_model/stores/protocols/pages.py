"""Pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list: ``total`` over all pages, ``next`` an opaque cursor or None."""

    items: tuple[Item, ...]
    total: int
    next: str | None


def walk_pages(ask: Callable[[str | None], Page[Item]]) -> Iterator[Page[Item]]:
    """Every page of a list, each requested with the ``next`` of the one before."""
    cursor: str | None = None
    while True:
        page = ask(cursor)
        yield page
        cursor = page.next
        if cursor is None:
            return
