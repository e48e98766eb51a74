"""The executions that the window wants in the graph: a function of the catalogue's rows alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from graph_model.facts import ExecutionRow, FactCollector, Facts
from graph_model.producers.elements.executions import run_elements
from graph_model.projection.runs.window import RunWindow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.pages import walk_rows

_JOBS_READ: Final = 1_000
_ROWS_A_PAGE: Final = 1_000
_LOOKED_AT: Final = 4
"""Executions read for each wanted run at first: a run of most jobs has few."""


def elements_of(rows: Iterable[ExecutionRow]) -> Facts:
    """The vertices and edges of these executions, without rows."""
    collector = FactCollector()
    for row in rows:
        collector.add(*run_elements(row))
    return collector.facts()


def newest_rows(
    catalogue: Catalogue, jobs: Collection[str], window: RunWindow
) -> list[ExecutionRow]:
    """The executions of the newest runs of these jobs; none where the window keeps none.

    Runs are ordered by (time of their newest execution, id). Only the newest ``window.executions``
    executions of each job count.
    """
    if not window.executions:
        return []
    found = catalogue.executions_of_runs(_newest_runs(catalogue, jobs, window), window.executions)
    return [row for job in sorted(found) for row in found[job]]


def _newest_runs(
    catalogue: Catalogue, jobs: Collection[str], window: RunWindow
) -> dict[str, list[str]]:
    """Per job its newest runs, newest first."""
    ranked: dict[str, list[str]] = {}
    for limit in (window.count * _LOOKED_AT, window.executions):
        found = catalogue.times_of_runs(set(jobs).difference(ranked), limit)
        for job, times in found.items():
            runs, certain = _rank(times)
            if len(times) < limit or certain >= window.count or limit == window.executions:
                ranked[job] = runs[: window.count]
    return ranked


def _rank(times: Collection[tuple[str, int]]) -> tuple[list[str], int]:
    """The runs by (time of their newest execution, id), newest first, and how many of them are
    certain: a run outside these executions is at most as new as the oldest of them.
    """
    newest: dict[str, int] = {}
    for run, at in times:
        newest[run] = max(at, newest.get(run, at))
    ranked = sorted(newest, key=lambda run: (newest[run], run), reverse=True)
    oldest = min((at for _, at in times), default=0)
    return ranked, sum(at > oldest for at in newest.values())


def all_jobs(catalogue: Catalogue) -> Iterator[str]:
    """The ids of all jobs, read some at a time."""
    return walk_rows(lambda after: catalogue.job_ids(after or "", _JOBS_READ))


def row_pages(
    catalogue: Catalogue, since: int, before: int | None = None, *, job: str | None = None
) -> Iterator[tuple[ExecutionRow, ...]]:
    """All executions (of a job) at ``since <= at < before``, some at a time."""
    after = ""
    while page := catalogue.executions_since(
        since, _ROWS_A_PAGE, before=before, after=after, job=job
    ):
        yield page
        since, after = page[-1].at, page[-1].id
