"""Making the graph carry the runs that the window wants, and nothing beyond them.

The wanted elements are a function of the catalogue's rows. The present ones are read from the
graph, or follow from the noted start of the days. So a late event, a forget, a changed setting and
a crash on the way are all treated alike: missing elements are written, others removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from graph_model import identity, labels
from graph_model.facts import Edge, ExecutionRow, FactCollector, Facts, merge
from graph_model.producers.elements import day_id, run_elements
from graph_model.projection.run_window import RunWindow
from graph_model.projection.writing import write_facts
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.graph import Direction, Graph
from graph_model.stores.pages import walk_rows
from graph_model.values import batched

# The executions that the window wants in the graph: a function of the catalogue's rows alone.

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
    by_job = catalogue.executions_of_runs(_newest_runs(catalogue, jobs, window), window.executions)
    return [row for job in sorted(by_job) for row in by_job[job]]


def _newest_runs(
    catalogue: Catalogue, jobs: Collection[str], window: RunWindow
) -> dict[str, list[str]]:
    """Per job its newest runs, newest first."""
    ranked: dict[str, list[str]] = {}
    for limit in (window.count * _LOOKED_AT, window.executions):
        by_job = catalogue.times_of_runs(set(jobs).difference(ranked), limit)
        for job, times in by_job.items():
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


def row_pages(catalogue: Catalogue, job: str) -> Iterator[tuple[ExecutionRow, ...]]:
    """All executions of a job, some at a time."""
    since, after = _BEGINNING, ""
    while page := catalogue.executions_since(since, _ROWS_A_PAGE, after=after, job=job):
        yield page
        since, after = page[-1].at, page[-1].id


# --------------------------------------------------------------------------------------------------

_NOTHING: Final = Facts()
_LOOKED_UP: Final = 1_000
_REMOVED_AT_ONCE: Final = 100
_EXECUTIONS_AT_ONCE: Final = 50_000
"""Jobs are looked at in groups that can want at most this number of executions."""
_BEGINNING: Final = -(1 << 62)
_AT_A_VERTEX: Final = 5_000
_EDGES_READ: Final = 100_000
"""At most this many of all days, and of all runs; ``PresentRuns.cut``: there are more."""
_IDS_AT_ONCE: Final = 500
_DOWN: Final = Direction.DOWNSTREAM


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """``wanted``: the examined elements that the graph is to have; it lacked ``written`` of them.
    ``removed``: ids of elements that it has no longer, some of which it may never have had.
    """

    wanted: Facts = _NOTHING
    written: int = 0
    removed: frozenset[str] = frozenset()

    @property
    def changed(self) -> int:
        """An upper bound of how many elements were written or removed."""
        return self.written + len(self.removed)


def keep_newest(
    graph: Graph,
    catalogue: Catalogue,
    window: RunWindow,
    jobs: Collection[str],
    written: Collection[str],
    gone: Collection[ExecutionRow],
) -> KeptRuns:
    """Make the graph carry the newest runs of these jobs, and none of their others.

    ``written``: executions whose logical plans are known to be in the graph. ``gone``: executions
    that were removed from the catalogue.
    """
    at_once = max(1, _EXECUTIONS_AT_ONCE // max(1, window.executions))
    kept = [
        _keep_newest(graph, catalogue, window, some, written, gone)
        for some in batched(sorted(jobs), at_once)
    ]
    return KeptRuns(
        merge(part.wanted for part in kept),
        sum(part.written for part in kept),
        frozenset().union(*(part.removed for part in kept)),
    )


def _keep_newest(
    graph: Graph,
    catalogue: Catalogue,
    window: RunWindow,
    jobs: Collection[str],
    written: Collection[str],
    gone: Collection[ExecutionRow],
) -> KeptRuns:
    wanted = _newest(graph, catalogue, window, jobs, written)
    present = read_runs(graph, jobs)
    missing = _missing(wanted, present)
    if missing != _NOTHING:
        write_facts(graph, catalogue, missing)
    lost = [row for row in gone if row.job in jobs]
    if present.cut:
        removed = _remove_rows_beyond(graph, lost, wanted)
        removed = removed.union(*_remove_history(graph, catalogue, jobs, wanted))
    else:
        removed = _remove_beyond(graph, catalogue, jobs, _ids(wanted), present, gone)
        removed |= _remove_rows_beyond(graph, _with_leftover_vertices(graph, lost, wanted), wanted)
    return KeptRuns(wanted, missing.size, removed)


def _newest(
    graph: Graph,
    catalogue: Catalogue,
    window: RunWindow,
    jobs: Collection[str],
    written: Collection[str] = (),
) -> Facts:
    rows = newest_rows(catalogue, jobs, window)
    return elements_of(_of_present_plans(graph, rows, written))


def _of_present_plans(
    graph: Graph, rows: Collection[ExecutionRow], written: Collection[str]
) -> list[ExecutionRow]:
    """The rows whose job and logical plan the graph has. A graph that is being filled from the
    journal gets the others later, with their own documents.
    """
    there = {end for row in rows if row.id in written for end in (row.job, row.logical_plan)}
    asked = {end for row in rows for end in (row.job, row.logical_plan)}.difference(there)
    for some in batched(sorted(asked), _LOOKED_UP):
        there.update(vertex.id for vertex in graph.vertices(some))
    return [row for row in rows if {row.job, row.logical_plan}.issubset(there)]


def _missing(wanted: Facts, present: PresentRuns) -> Facts:
    """The wanted elements that are missing, also where an execution lacks only an edge."""
    there = present.days.union(present.performed, present.executions)
    absent = tuple(vertex for vertex in wanted.vertices if vertex.id not in there)
    ids = {vertex.id for vertex in absent}
    return Facts(
        absent,
        tuple(
            edge
            for edge in wanted.edges
            if (edge.label == labels.PERFORMED and edge.in_id in ids)
            or (edge.label != labels.PERFORMED and edge.id not in present.edges)
        ),
    )


def _remove_beyond(
    graph: Graph,
    catalogue: Catalogue,
    jobs: Collection[str],
    wanted: Collection[str],
    present: PresentRuns,
    gone: Collection[ExecutionRow],
) -> frozenset[str]:
    """Remove the unwanted elements of these jobs. Returns their ids."""
    unwanted = present.executions.difference(wanted)
    executions = unwanted.intersection(row.id for row in gone).union(
        row.id
        for chunk in batched(sorted(unwanted), _LOOKED_UP)
        for row in catalogue.executions_of(chunk)
        if row.job in jobs  # the same application may have run others
    )
    runs = {
        run
        for run, performed in present.performed.items()
        if run not in wanted and executions.issuperset(performed)
    }
    days = present.days.difference(wanted)
    # Days go last, in requests of their own: after a crash in between, they lead to the rest.
    for level in ([*executions, *runs], sorted(days)):
        for some in batched(level, _REMOVED_AT_ONCE):
            graph.remove(some, ())
    removed = frozenset(executions.union(runs, days))
    edges = {
        edge
        for edge, ends in present.edges.items()
        if edge not in wanted and removed.isdisjoint(ends)
    }
    _remove(graph, (), edges)
    return removed | edges


def _with_leftover_vertices(
    graph: Graph, rows: Collection[ExecutionRow], wanted: Facts
) -> list[ExecutionRow]:
    """The rows of which the graph has an unwanted vertex: where their write broke off before its
    edges, no day leads to it.
    """
    vertices = [(row, {row.id, row.run, day_id(row.job, row.claimed_at)}) for row in rows]
    asked = set[str]().union(*(ids for _, ids in vertices)).difference(_ids(wanted))
    there = {
        vertex.id for some in batched(sorted(asked), _LOOKED_UP) for vertex in graph.vertices(some)
    }
    return [row for row, ids in vertices if not there.isdisjoint(ids)]


def _remove_history(
    graph: Graph, catalogue: Catalogue, jobs: Collection[str], wanted: Facts
) -> Iterator[frozenset[str]]:
    """Remove the unwanted elements of any execution of these jobs, a page of executions at a time.
    Yields the ids of a page.
    """
    for job in sorted(jobs):
        for rows in row_pages(catalogue, job):
            yield _remove_rows_beyond(graph, rows, wanted)


def _remove_rows_beyond(
    graph: Graph, rows: Collection[ExecutionRow], wanted: Facts
) -> frozenset[str]:
    """Remove the unwanted elements of these executions of a job, where the graph has them. Returns
    their ids.
    """
    held, ids = elements_of(rows), _ids(wanted)
    kept_days = {vertex.id for vertex in held.vertices if vertex.id in ids}
    own = {vertex.id for vertex in held.vertices if vertex.label != labels.RUN}.difference(ids)
    edges = {edge.id for edge in held.edges if edge.out_id in kept_days}.difference(ids)
    _remove(graph, own, edges)
    runs = _without_executions(graph, {row.run for row in rows}.difference(ids))
    _remove(graph, runs)
    return frozenset(own | edges | runs)


def _remove(graph: Graph, vertices: Collection[str], edges: Collection[str] = ()) -> None:
    if vertices or edges:
        graph.remove(vertices, edges)


def _write_newest(graph: Graph, catalogue: Catalogue, window: RunWindow, job: str) -> Facts:
    facts = _newest(graph, catalogue, window, (job,))
    write_facts(graph, catalogue, facts)
    return facts


def steps_that_write(
    graph: Graph, catalogue: Catalogue, window: RunWindow
) -> Iterator[Callable[[], Facts]]:
    """Steps that write all elements that the window wants, a job each; a step returns them."""
    if window.count:
        for job in all_jobs(catalogue):
            yield partial(_renew_newest, graph, catalogue, window, job)


def _renew_newest(graph: Graph, catalogue: Catalogue, window: RunWindow, job: str) -> Facts:
    """Write the wanted elements of a job. An execution of which the graph says something else goes
    first: it was written by a former version, or from a row that was damaged then, and a write
    leaves elements as they are. Only its own edges, which are written again, go with it.
    """
    facts = _newest(graph, catalogue, window, (job,))
    wanted = {each.id: each for each in facts.vertices if each.label == labels.EXECUTION}
    for some in batched(sorted(wanted), _LOOKED_UP):
        _remove(graph, [each.id for each in graph.vertices(some) if each != wanted[each.id]])
    write_facts(graph, catalogue, facts)
    return facts


def steps_that_trim(
    graph: Graph, catalogue: Catalogue, window: RunWindow
) -> Iterator[Callable[[], int]]:
    """Steps that write and remove elements after a change of the setting, a page each; a step
    returns an upper bound of how many.
    """
    for job in all_jobs(catalogue):
        for rows in row_pages(catalogue, job):
            yield partial(_trim, graph, catalogue, window, job, rows)


def _trim(
    graph: Graph,
    catalogue: Catalogue,
    window: RunWindow,
    job: str,
    rows: Collection[ExecutionRow],
) -> int:
    wanted = _write_newest(graph, catalogue, window, job)
    return wanted.size + len(_remove_rows_beyond(graph, rows, wanted))


def _without_executions(graph: Graph, runs: Collection[str]) -> set[str]:
    if not runs:
        return set()
    page = graph.edges(runs, Direction.DOWNSTREAM, (labels.PERFORMED,), 1)
    return set(runs).difference(edge.out_id for edge in page.edges)


def _ids(facts: Facts) -> frozenset[str]:
    return frozenset(element.id for part in (facts.vertices, facts.edges) for element in part)


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
    runs = {edge.in_id for edge in of_days if identity.kind_of(edge.in_id) == labels.RUN}
    performed, runs_cut = _performed(graph, runs)
    return PresentRuns(
        days,
        {run: performed.get(run, ()) for run in runs},
        at_days | {edge.id: (edge.out_id, edge.in_id) for edge in of_days},
        cut=bool(of_jobs.cut) or days_cut or runs_cut,
    )


def _edges(graph: Graph, days: Collection[str]) -> tuple[list[Edge], bool]:
    """The edges from these days to runs and to logical plans, and whether there are more."""
    edges: list[Edge] = []
    for some in batched(sorted(days), _IDS_AT_ONCE):
        page = graph.edges(some, _DOWN, (labels.HAS, labels.FOLLOWED), _AT_A_VERTEX)
        edges.extend(page.edges)
        if page.cut or len(edges) > _EDGES_READ:
            return edges, True
    return edges, False


def _performed(graph: Graph, runs: Collection[str]) -> tuple[Mapping[str, Collection[str]], bool]:
    """Per run its executions, and whether there are more."""
    performed: dict[str, Collection[str]] = {}
    for some in batched(sorted(runs), _IDS_AT_ONCE):
        page = graph.neighbours(some, _DOWN, labels.PERFORMED, _AT_A_VERTEX)
        performed.update(page.found)
        if page.cut or sum(map(len, performed.values())) > _EDGES_READ:
            return performed, True
    return performed, False


# An estimate of the elements that the runs of a window take in the graph, from some jobs' rows.
#
# 100 of 5,000 jobs, 7 elements a run, 3 runs each under ``newest:3`` => 105,000

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
    share = catalogue.list_jobs(limit=1, now=0).total / len(ids) if ids else 0.0
    return {
        window: int(share * sum(_elements(sample, window) for sample in looked))
        for window in windows
    }


def _look_at(catalogue: Catalogue, job: str) -> _Looked:
    page = catalogue.executions(job=job, limit=EXECUTIONS_LOOKED_AT)
    return _Looked(page.items, page.total)


def _elements(looked: _Looked, window: RunWindow) -> float:
    rows = _chosen(looked.rows, window)
    if not rows:
        return 0.0
    elements = elements_of(rows)
    each = (len(elements.vertices) + len(elements.edges)) / len(rows)
    return each * (
        len(rows) if len(rows) < len(looked.rows) else min(looked.total, window.executions)
    )


def _chosen(rows: Sequence[ExecutionRow], window: RunWindow) -> Sequence[ExecutionRow]:
    """The rows in the window. ``rows`` come newest first, and so do their runs."""
    runs = frozenset(islice(dict.fromkeys(row.run for row in rows), window.count))
    return [row for row in rows if row.run in runs][: window.executions]
