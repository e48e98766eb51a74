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


class Known:
    """Not safe from several threads: it is the projector's own."""

    def __init__(self) -> None:
        self._elements: set[str] = set()
        self._rows: set[Row] = set()

    def new(self, facts: Facts) -> Facts:
        """The part of these facts that must be written."""
        return Facts(
            tuple(vertex for vertex in facts.vertices if vertex.id not in self._elements),
            tuple(edge for edge in facts.edges if edge.id not in self._elements),
            tuple(row for row in facts.rows if row not in self._rows),
        )

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

    def forget(self) -> None:
        """Nothing is certain any more."""
        self._elements.clear()
        self._rows.clear()
