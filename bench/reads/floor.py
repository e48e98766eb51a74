"""The least that an answer could cost: a raw walk over its edges, and one look-up a level."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from bench.reads.stores import Stores
from graph_model import identity, labels
from graph_model.stores.graph import Direction

_MANY: Final = 5_000
_NEIGHBOURS: Final = {
    labels.DATASET: (labels.FEEDS, labels.LOGICAL_PLAN),
    labels.LOGICAL_PLAN: (labels.FEEDS, labels.DATASET),
    labels.COLUMN: (labels.DERIVES, labels.COLUMN),
}


def walk(
    stores: Stores, start: Collection[str], directions: Collection[Direction], depth: int
) -> int:
    """From datasets over logical plans to datasets, or from columns to columns; the edges seen."""
    return sum(_walk(stores, start, direction, depth) for direction in directions)


def _walk(stores: Stores, start: Collection[str], direction: Direction, depth: int) -> int:
    seen, frontier, edges = set(start), set(start), 0
    for _ in range(depth):
        stores.catalogue.last_writes(frontier, None)
        result, steps = frontier, 0
        while result and (steps == 0 or identity.kind_of(min(result)) == labels.LOGICAL_PLAN):
            label, kind = _NEIGHBOURS[identity.kind_of(min(result)) or ""]
            page = stores.graph.edges(result, direction, (label,), _MANY)
            edges, steps = edges + len(page.edges), steps + 1
            ends = {e.in_id if direction is Direction.DOWNSTREAM else e.out_id for e in page.edges}
            result = {end for end in ends if identity.kind_of(end) == kind}
        frontier = result - seen
        seen |= frontier
        if not frontier:
            break
    return edges
