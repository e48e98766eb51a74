"""Elements that the stores hold already, so that the writer skips them; kept in its memory.

A repeated run has the same structure, and only a handful of its facts are new. A fact becomes known
once all stages of its commit and the catalogue's rows are written. Code that removes elements must
remove them here too. Everything is forgotten where it is uncertain which elements were removed, and
after another process was the writer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cachetools import LRUCache

from graph_model.facts import Facts, Part, Row, SharedFacts, whole

_MOST_ELEMENTS: Final = 200_000
_MOST_ROWS: Final = 100_000
_MOST_WHOLES: Final = 50_000
_NOTHING: Final = Facts()


class KnownElements:
    """Not safe from several threads: only the projector uses it."""

    def __init__(self) -> None:
        self._elements: set[str] = set()
        self._rows: set[Row] = set()
        # Keys of facts that are known completely. So the structure of 20,000 jobs is remembered,
        # though its elements, a hundred a job, would not fit.
        self._wholes: LRUCache[str, None] = LRUCache(_MOST_WHOLES)
        self._kinds_of_wholes: set[type[Row]] = set()

    def new(self, part: Part) -> Facts:
        """The facts among these that must be written."""
        if isinstance(part, SharedFacts) and part.key in self._wholes:
            self._wholes[part.key] = None  # the one used last
            return _NOTHING
        facts = whole(part)
        return Facts(
            tuple(vertex for vertex in facts.vertices if vertex.id not in self._elements),
            tuple(edge for edge in facts.edges if edge.id not in self._elements),
            tuple(row for row in facts.rows if row not in self._rows),
        )

    def learn(self, facts: Facts) -> None:
        """Note that all of these facts are written."""
        if len(self._elements) > _MOST_ELEMENTS or len(self._rows) > _MOST_ROWS:
            self._elements.clear()
            self._rows.clear()
        self._elements.update(vertex.id for vertex in facts.vertices)
        self._elements.update(edge.id for edge in facts.edges)
        self._rows.update(facts.rows)

    def learn_wholes(self, parts: Iterable[Part]) -> None:
        """Note that each of these parts is written completely, now or before, and that none of it
        was removed since.
        """
        for part in parts:
            if isinstance(part, SharedFacts) and part.key not in self._wholes:
                self._wholes[part.key] = None
                self._kinds_of_wholes.update(map(type, part.make().rows))

    def unlearn(self, gone: Facts) -> None:
        """Note that some of these facts were removed; a vertex went with all its edges."""
        if gone.vertices:
            self.forget()
            return
        self._elements.difference_update(edge.id for edge in gone.edges)
        self._rows.difference_update(gone.rows)
        if gone.edges or not self._kinds_of_wholes.isdisjoint(map(type, gone.rows)):
            self._forget_wholes()

    def forget(self) -> None:
        """Forget everything: nothing is certain any more."""
        self._elements.clear()
        self._rows.clear()
        self._forget_wholes()

    def _forget_wholes(self) -> None:
        self._wholes.clear()
        self._kinds_of_wholes.clear()
