"""The size of a subject's facts, and its bounds.

The embedded engine holds about 1,500,000 vertices and edges in its default heap. One document of
64 MB can spell 400,000 pairs of columns, and an engine that a few of them fill can no longer be
asked to remove them. So a subject (a plan; all events of a run; a declaration) brings at most an
eighth of a default heap. The bounds are constants of the translator: equal documents lose the
same, wherever they are translated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from graph_model.facts import Facts, Part, Properties, merge

MOST_ELEMENTS: Final = 100_000
"""Vertices and edges: a copy of a table of 10,000 columns has 70,000."""
ELEMENTS_OF_A_COLUMN: Final = 3
"""Its vertex, and edges from its table and from the schema that lists it."""
MOST_CHARACTERS: Final = 50_000_000
"""Of all properties of these vertices and edges."""
MOST_ROWS: Final = 200_000
"""Rows of the catalogue."""


class Weight(NamedTuple):
    """``characters`` are those of the properties of the elements."""

    elements: int = 0
    characters: int = 0
    rows: int = 0

    @property
    def excess(self) -> str:
        """The bound that is exceeded, in words; "" for none.

        Without the amount: runs of one job that exceed it by different numbers are one logical
        plan.
        """
        if self.elements_excess:
            return self.elements_excess
        if self.characters > MOST_CHARACTERS:
            return f"more than {MOST_CHARACTERS:,} characters in the graph"
        if self.rows > MOST_ROWS:
            return f"more than {MOST_ROWS:,} rows of the catalogue"
        return ""

    @property
    def elements_excess(self) -> str:
        """``excess`` of whatever holds these elements: it is asked for first."""
        too_many = self.elements > MOST_ELEMENTS
        return f"more than {MOST_ELEMENTS:,} vertices and edges" if too_many else ""


def weigh(facts: Facts) -> Weight:
    """The weight of these facts, which hold each element once."""
    characters = sum(_length(vertex.properties) for vertex in facts.vertices)
    characters += sum(_length(edge.properties) for edge in facts.edges)
    return Weight(facts.size, characters, len(facts.rows))


def _length(properties: Properties) -> int:
    return sum(len(value) for _, value in properties if isinstance(value, str))


def excess_of(parts: Sequence[Part], weights: Iterable[Weight]) -> str:
    """The bound that the parts exceed together; ``weights`` are theirs.

    A fact in several parts counts once: parts are merged only where their sum exceeds a bound.
    """
    listed = list(weights)
    if alone := next((weight.elements_excess for weight in listed if weight.elements_excess), ""):
        return alone
    together = Weight(*(sum(numbers) for numbers in zip(*listed, strict=True)))
    return weigh(merge(parts)).excess if together.excess else ""
