"""The elements of runs that the graph has of some jobs: days, runs, executions, their edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from graph_model import identity, labels
from graph_model.batches import batched
from graph_model.facts import Edge
from graph_model.stores.graph import Direction, Graph

_AT_A_VERTEX: Final = 5_000
_EDGES_READ: Final = 100_000
"""At most this many of all days, and of all runs; ``PresentRuns.cut``: there are more."""
_IDS_AT_ONCE: Final = 500
_DOWN: Final = Direction.DOWNSTREAM


@dataclass(frozen=True, slots=True)
class PresentRuns:
    """The ids. ``performed`` maps each run to its executions of all jobs; ``edges`` maps the edges
    at days to their ends.

    ``cut``: whether there are more elements, which were not read.
    """

    days: frozenset[str]
    performed: Mapping[str, Collection[str]]
    edges: Mapping[str, tuple[str, str]]
    cut: bool

    @property
    def executions(self) -> frozenset[str]:
        return frozenset().union(*self.performed.values())


def read_runs(graph: Graph, jobs: Collection[str]) -> PresentRuns:
    """The elements below the days of these jobs: a bounded number."""
    of_jobs = graph.neighbours(jobs, _DOWN, labels.HAS, _AT_A_VERTEX, labels.DAY)
    at_days = {
        identity.edge_id(labels.HAS, job, day): (job, day)
        for job, days in of_jobs.found.items()
        for day in days
    }
    days = frozenset(day for _, day in at_days.values())
    of_days, days_cut = _edges(graph, days)
    runs = {one.in_id for one in of_days if identity.kind_of(one.in_id) == labels.RUN}
    performed, runs_cut = _performed(graph, runs)
    return PresentRuns(
        days,
        {run: performed.get(run, ()) for run in runs},
        at_days | {one.id: (one.out_id, one.in_id) for one in of_days},
        cut=bool(of_jobs.cut) or days_cut or runs_cut,
    )


def _edges(graph: Graph, days: Collection[str]) -> tuple[list[Edge], bool]:
    """The edges from these days to runs and to logical plans, and whether there are more."""
    found: list[Edge] = []
    for some in batched(sorted(days), _IDS_AT_ONCE):
        page = graph.edges(some, _DOWN, (labels.HAS, labels.FOLLOWED), _AT_A_VERTEX)
        found.extend(page.edges)
        if page.cut or len(found) > _EDGES_READ:
            return found, True
    return found, False


def _performed(graph: Graph, runs: Collection[str]) -> tuple[Mapping[str, Collection[str]], bool]:
    """Per run its executions, and whether there are more."""
    found: dict[str, Collection[str]] = {}
    for some in batched(sorted(runs), _IDS_AT_ONCE):
        page = graph.neighbours(some, _DOWN, labels.PERFORMED, _AT_A_VERTEX)
        found.update(page.found)
        if page.cut or sum(map(len, found.values())) > _EDGES_READ:
            return found, True
    return found, False
