"""An estimate of the elements that the runs of a window take in the graph, from some jobs' rows.

100 of 5,000 jobs, 7 elements a run, 3 runs each under ``newest:3`` => 105,000
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from graph_model.facts import ExecutionRow
from graph_model.projection.runs.wanted_runs import elements_of
from graph_model.projection.runs.window import RunWindow
from graph_model.stores.catalogue import Catalogue

JOBS_LOOKED_AT: Final = 100
"""Their ids are hashes, so the first of them are as good as any."""
EXECUTIONS_LOOKED_AT: Final = 100
"""The newest executions of each of these jobs."""


@dataclass(frozen=True, slots=True)
class _Looked:
    """The newest ``rows`` of a job that has ``total``."""

    rows: tuple[ExecutionRow, ...]
    total: int


def estimate_elements(catalogue: Catalogue, windows: Collection[RunWindow]) -> dict[RunWindow, int]:
    """Per window the number of vertices and edges of its days, runs and executions in the graph.

    Exact for an estate of up to 100 jobs with up to 100 executions each; for a larger one, scaled
    up from a sample of that size.
    """
    ids = catalogue.job_ids("", JOBS_LOOKED_AT)
    looked = [_look_at(catalogue, job) for job in ids]
    share = catalogue.list_jobs(limit=1).total / len(ids) if ids else 0.0
    return {
        window: int(share * sum(_elements(one, window) for one in looked)) for window in windows
    }


def _look_at(catalogue: Catalogue, job: str) -> _Looked:
    page = catalogue.executions(job=job, limit=EXECUTIONS_LOOKED_AT)
    return _Looked(page.items, page.total)


def _elements(looked: _Looked, window: RunWindow) -> float:
    rows = _chosen(looked.rows, window)
    if not rows:
        return 0.0
    found = elements_of(rows)
    each = (len(found.vertices) + len(found.edges)) / len(rows)
    return each * (
        len(rows) if len(rows) < len(looked.rows) else min(looked.total, window.executions)
    )


def _chosen(rows: Sequence[ExecutionRow], window: RunWindow) -> Sequence[ExecutionRow]:
    """The rows in the window. ``rows`` come newest first, and so do their runs."""
    runs = frozenset(islice(dict.fromkeys(row.run for row in rows), window.count))
    return [row for row in rows if row.run in runs][: window.executions]
