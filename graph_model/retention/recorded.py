"""Jobs, plans and datasets of the catalogue's rows, side by side.

Forget and prune read these rows and not the graph, which may be down: a graph that has outgrown its
memory needs these commands most, because they make it smaller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from graph_model import identity, labels
from graph_model.facts import Edge, edge
from graph_model.stores.protocols import Catalogue, Direction, EdgePage

_READ: Final = "read"


class Recorded:
    """The edges ``job -has-> logical_plan``, ``dataset -feeds-> logical_plan -feeds-> dataset`` and
    ``dataset -names-> dataset`` of one catalogue, without their properties.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def edges(
        self, ids: Collection[str], direction: Direction, labels: Sequence[str], limit: int
    ) -> EdgePage:
        """As ``protocols.GraphReader``, but never cut: forget and prune set no real limit."""
        del limit
        found = {
            one.id: one
            for label in labels
            for one in self._edges(label, _of_kinds(ids))
            if (one.out_id if direction == Direction.DOWNSTREAM else one.in_id) in ids
        }
        return EdgePage(tuple(found[key] for key in sorted(found)))

    def _edges(self, label: str, ids: _ByKind) -> Iterator[Edge]:
        """All edges at these vertices, in either direction."""
        catalogue = self._catalogue
        if label == labels.HAS:
            for row in catalogue.logical_plans_of(ids.get(labels.JOB, ())):
                yield edge(label, row.job, row.id)
        if label == labels.FEEDS:
            plans, datasets = ids.get(labels.LOGICAL_PLAN, ()), ids.get(labels.DATASET, ())
            for use in catalogue.uses(logical_plans=plans, datasets=datasets):
                ends = (use.dataset, use.logical_plan)
                yield edge(label, *(ends if use.role == _READ else reversed(ends)))
        if label == labels.NAMES:
            for name, location in catalogue.names_around(ids.get(labels.DATASET, ())):
                yield edge(label, name, location)


_ByKind = dict[str, list[str]]


def _of_kinds(ids: Collection[str]) -> _ByKind:
    found: _ByKind = {}
    for one in ids:
        found.setdefault(identity.kind_of(one) or "", []).append(one)
    return found
