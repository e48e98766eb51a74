"""What the stores are known to hold, so that it is not written again: the memory of one writer.

A run that comes again says the same structure again, and what is new of it is a handful of facts.
A fact is learnt once all stages of its commit and the catalogue's rows are written. Whoever removes
something must have it forgotten; where it is not certain what is gone, everything is forgotten.
Another process that writes or removes does so in its turn: after that everything is forgotten, too.
"""

from __future__ import annotations

from typing import Final

from graph_model.facts import Facts, Row

_MOST_ELEMENTS: Final = 200_000
_MOST_ROWS: Final = 100_000
_MOST_WHOLES: Final = 2_000
_NOTHING: Final = Facts()


class Known:
    """Not safe from several threads: it is the projector's own."""

    def __init__(self) -> None:
        self._elements: set[str] = set()
        self._rows: set[Row] = set()
        # Facts that were found known to the last, by their identity, which they keep alive: a
        # translation that remembers a structure gives the very same value for each run of it.
        self._wholes: dict[int, Facts] = {}
        self._kinds_of_wholes: set[type[Row]] = set()

    def new(self, facts: Facts) -> Facts:
        """The part of these facts that must be written."""
        if id(facts) in self._wholes:
            return _NOTHING
        new = Facts(
            tuple(vertex for vertex in facts.vertices if vertex.id not in self._elements),
            tuple(edge for edge in facts.edges if edge.id not in self._elements),
            tuple(row for row in facts.rows if row not in self._rows),
        )
        if new == _NOTHING:
            self._remember(facts)
        return new

    def learn(self, facts: Facts) -> None:
        """All of these facts are written, to the last."""
        if len(self._elements) > _MOST_ELEMENTS or len(self._rows) > _MOST_ROWS:
            self.forget()
        self._elements.update(vertex.id for vertex in facts.vertices)
        self._elements.update(edge.id for edge in facts.edges)
        self._rows.update(facts.rows)

    def unlearn(self, gone: Facts) -> None:
        """Some of these facts were removed. With a vertex its edges go, whoever said them."""
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

    def _remember(self, whole: Facts) -> None:
        if len(self._wholes) >= _MOST_WHOLES:
            self._forget_wholes()
        self._wholes[id(whole)] = whole
        self._kinds_of_wholes.update(map(type, whole.rows))

    def _forget_wholes(self) -> None:
        self._wholes.clear()
        self._kinds_of_wholes.clear()
