"""Elements that the stores hold already and the writer skips: kept in its memory.

A repeated run has the same structure, and only a handful of its facts are new. A fact becomes known
once all stages of its commit and the catalogue's rows are written. Code that removes elements must
remove them here too; where the removed ones are uncertain, everything is forgotten. After a turn of
another process as the writer, everything is forgotten as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cachetools import LRUCache

from graph_model.facts import Facts, Row

_MOST_ELEMENTS: Final = 200_000
_MOST_ROWS: Final = 100_000
_MOST_WHOLES: Final = 50_000
_NOTHING: Final = Facts()


class Known:
    """Not safe from several threads: it is the projector's own."""

    def __init__(self) -> None:
        self._elements: set[str] = set()
        self._rows: set[Row] = set()
        # Keys of facts that are known to the last: the structure of 20,000 jobs is remembered where
        # its elements, a hundred each, would not fit.
        self._wholes: LRUCache[str, None] = LRUCache(_MOST_WHOLES)
        self._kinds_of_wholes: set[type[Row]] = set()

    def new(self, facts: Facts) -> Facts:
        """The part of these facts that must be written."""
        if facts.key in self._wholes:
            self._wholes[facts.key] = None  # the one used last
            return _NOTHING
        return Facts(
            tuple(vertex for vertex in facts.vertices if vertex.id not in self._elements),
            tuple(edge for edge in facts.edges if edge.id not in self._elements),
            tuple(row for row in facts.rows if row not in self._rows),
        )

    def learn(self, facts: Facts) -> None:
        """All of these facts are written, to the last."""
        if len(self._elements) > _MOST_ELEMENTS or len(self._rows) > _MOST_ROWS:
            self._elements.clear()
            self._rows.clear()
        self._elements.update(vertex.id for vertex in facts.vertices)
        self._elements.update(edge.id for edge in facts.edges)
        self._rows.update(facts.rows)

    def learn_wholes(self, parts: Iterable[Facts]) -> None:
        """Of these facts everything is written, now or before, and nothing removed since."""
        for part in parts:
            if part.key:
                self._wholes[part.key] = None
                self._kinds_of_wholes.update(map(type, part.rows))

    def unlearn(self, gone: Facts) -> None:
        """Some of these facts were removed. With a vertex all of its edges go."""
        if gone.vertices:
            self.forget()
            return
        self._elements.difference_update(edge.id for edge in gone.edges)
        self._rows.difference_update(gone.rows)
        if gone.edges or not self._kinds_of_wholes.isdisjoint(map(type, gone.rows)):
            self._forget_wholes()

    def forget(self) -> None:
        """Nothing is certain any more."""
        self._elements.clear()
        self._rows.clear()
        self._forget_wholes()

    def _forget_wholes(self) -> None:
        self._wholes.clear()
        self._kinds_of_wholes.clear()
