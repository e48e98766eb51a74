"""The whole estate: ``/graph/overview``, all jobs and tables with their totals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeVar

from graph_model.answers.lineage import draw_answer, filter_answer
from graph_model.answers.nodes import Selection, filter_of, show_view
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import DatasetRow, JobRow
from graph_model.governance.statements import walk_datasets
from graph_model.lineage import HUB_LIMIT, Answer, Partial, PlanUse
from graph_model.lineage.questions import count_left_out
from graph_model.picture.filtering import (
    EVERYTHING,
    Filter,
    connected_first,
    keep_nodes,
    limit_nodes,
)
from graph_model.picture.layout import Flow, Flowing
from graph_model.picture.view import GraphView, JobReference, job_reference
from graph_model.stores.pages import walk_rows
from graph_model.values import iso

#: Number of failures that an overview lists.
FAILURES_NAMED = 20


_AT_ONCE = 1_000
#: So many jobs, and so many datasets, are looked at for those that are connected (docs/limits.md).
_MOST_READ: Final = 10_000
#: More lone jobs are counted, and so many of them named.
_LONE_DRAWN: Final = 20
_LONE_NAMED: Final = 200

_Row = TypeVar("_Row", DatasetRow, JobRow)


@dataclass(frozen=True, slots=True)
class Totals:
    """The number of all visible jobs and datasets, drawn or not; ``failed``: of the jobs whose
    newest execution failed.
    """

    jobs: int
    datasets: int
    failed: int


@dataclass(frozen=True, slots=True)
class JobFailure:
    """A job whose newest execution failed, and the time."""

    job: JobReference
    at: str


@dataclass(frozen=True, slots=True)
class LoneJobs:
    """Jobs that share no table with another one: their number, and the first of them by name.
    ``partial``: where the estate has more jobs or tables than are looked at.
    """

    jobs: int
    items: tuple[JobReference, ...]
    partial: Partial | None


@dataclass(frozen=True, slots=True)
class GraphOverview:
    """``view`` is truncated at the limit; ``totals`` and ``failures`` count everything. ``lone``:
    the jobs that are counted instead of drawn, None where each is drawn.
    """

    view: GraphView
    totals: Totals
    failures: tuple[JobFailure, ...]
    lone: LoneJobs | None = None


@of_one_state
def overview(
    sources: Sources,
    selection: Selection,
    *,
    query: str,
    limit: int,
    at: int | None,
    layout: bool,
    by_layer: bool,
    flow: Flowing = Flow.RIGHT,
    counts_lone: bool = False,
) -> GraphOverview:
    """All jobs and tables; with a namespace or a job, only these and the tables that they use.

    With a layer or a tag, its tables and the jobs that read or write one of them. ``counts_lone``:
    of everything draw failing and connected jobs, and count lone ones where they are many.
    """
    wanted = filter_of(sources, selection, at)
    lone = None
    if counts_lone and not query and wanted == EVERYTHING:
        view, lone = _draw_connected(sources, limit, at)
    else:
        view = _draw(sources, wanted, query, limit, at)
    totals, failures = _count(sources, at)
    shown = show_view(sources, view, layout=layout, by_layer=by_layer, flow=flow)
    return GraphOverview(shown, totals, failures, lone)


def _draw_connected(
    sources: Sources, limit: int, at: int | None
) -> tuple[GraphView, LoneJobs | None]:
    """Everything without the lone jobs, where these are many or not everything fits."""
    lineage, hidden = sources.lineage, sources.hidden
    some_jobs = list(islice(_walk_jobs(sources, at), _MOST_READ + 1))
    some_rows = list(islice(walk_datasets(sources.catalogue, at=at), _MOST_READ + 1))
    jobs, rows = {row.id for row in some_jobs[:_MOST_READ]}, some_rows[:_MOST_READ]
    located = {row.id for row in lineage.history.names.tables(rows)}
    flows, cut = lineage.flows_into(located, at)
    tables: dict[str, set[str]] = {job: set() for job in jobs - hidden}
    for use in (*flows, *lineage.reads_of(jobs, at)):
        if use.job in tables:
            tables[use.job] |= {*use.sources, *use.targets} - hidden
    estate = sources.catalogue.estate(hidden, failures=limit, at=at)
    failing = [failed.job.id for failed in estate.failures]
    chosen = connected_first(tables, failing, limit)
    if len(chosen.lone) <= _LONE_DRAWN and not chosen.cut and len(jobs | located) <= limit:
        return _draw(sources, EVERYTHING, "", limit, at), None
    answer = lineage.overview(chosen.datasets, chosen.jobs, at)
    steps = {step for use in flows for step in _steps_of(use)}
    left_out = count_left_out(steps, chosen.jobs | chosen.datasets, hidden)
    more = max(len(some_jobs), len(some_rows)) > _MOST_READ
    unread = Partial("nodes", _MOST_READ) if more else None
    cut = cut or (Partial("nodes", limit) if chosen.cut else unread)
    answer = replace(answer, left_out=left_out, partial=answer.partial or cut)
    view = draw_answer(sources, answer, lineage.history, at, jobs=True, columns=False)
    named = sorted(map(job_reference, sources.catalogue.jobs(chosen.lone)), key=_by_name)
    return view, LoneJobs(len(chosen.lone), tuple(named[:_LONE_NAMED]), unread)


def _steps_of(use: PlanUse) -> Iterator[tuple[str, str]]:
    yield from ((source, use.job) for source in use.sources)
    yield from ((use.job, target) for target in use.targets)


def _by_name(job: JobReference) -> tuple[str, str]:
    return job.name, job.namespace


def _draw(sources: Sources, wanted: Filter, query: str, limit: int, at: int | None) -> GraphView:
    lineage = sources.lineage
    if wanted.namespace or query or wanted.job or wanted.keep is not None:
        matching, more = _matching(sources, wanted, query, limit, at)
        datasets, jobs, hub = lineage.with_neighbours(*matching, at)
    else:
        (datasets, jobs), more = _first(sources, limit, at)
        hub = False
    answer = lineage.overview(datasets, jobs, at)
    if hub:
        answer = replace(answer, partial=answer.partial or Partial("hub", HUB_LIMIT))
    answer = _narrow(sources, answer, wanted.namespace, query)
    answer = filter_answer(sources, answer, lineage.history, wanted, frozenset())
    shown = {*answer.datasets, *answer.jobs} - sources.hidden
    cut = more or len(shown) > limit
    answer = limit_nodes(answer, limit, sources.hidden, cut=cut)
    return draw_answer(sources, answer, lineage.history, at, jobs=True, columns=False)


def _count(sources: Sources, at: int | None) -> tuple[Totals, tuple[JobFailure, ...]]:
    """The number of visible jobs and datasets, and the newest failures, newest first."""
    estate = sources.catalogue.estate(sources.hidden, failures=FAILURES_NAMED, at=at)
    failures = tuple(
        JobFailure(job_reference(failure.job), iso(failure.at)) for failure in estate.failures
    )
    return Totals(estate.jobs, estate.datasets, estate.failed), failures


def _first(sources: Sources, limit: int, at: int | None) -> tuple[tuple[set[str], set[str]], bool]:
    """The first datasets and jobs, with the hidden ones between them, and whether more exist."""
    most = min(limit, _AT_ONCE)
    jobs, more_jobs = _first_of(_walk_jobs(sources, at), most, sources.hidden)
    datasets, more_datasets = _first_of(
        walk_datasets(sources.catalogue, at=at), most, sources.hidden
    )
    ids = {row.id for row in sources.lineage.history.names.tables(datasets)}
    return (ids, {row.id for row in jobs}), more_jobs or more_datasets


def _first_of(
    rows: Iterable[_Row], most: int, hidden: Collection[str] = ()
) -> tuple[list[_Row], bool]:
    """The rows up to so many visible ones, and whether a further visible one exists."""
    taken: list[_Row] = []
    shown = 0
    for row in rows:
        visible = row.id not in hidden
        if visible and shown == most:
            return taken, True
        taken.append(row)
        shown += visible
    return taken, False


def _walk_jobs(
    sources: Sources, at: int | None, query: str = "", namespace: str | None = None
) -> Iterator[JobRow]:
    return walk_rows(
        lambda after: sources.catalogue.walk_jobs(
            query=query, namespace=namespace, after=after, at=at
        )
    )


def _matching(
    sources: Sources, wanted: Filter, query: str, limit: int, at: int | None
) -> tuple[tuple[set[str], set[str]], bool]:
    """The first visible nodes that pass a filter, and whether more exist."""
    most = min(limit, _AT_ONCE)
    namespace, job, keep = wanted.namespace, wanted.job, wanted.keep
    hidden = sources.hidden
    datasets: list[DatasetRow] = []
    more = False
    if keep is not None or (query and job is None):
        rows = sources.lineage.history.names.tables(
            walk_datasets(sources.catalogue, query, at, hidden)
        )
        datasets, more = _first_of((row for row in rows if keep is None or keep(row)), most)
    ids = {row.id for row in datasets}
    if job is not None:
        return (ids, {job}), more
    jobs: set[str] = set()
    for space, name in _job_queries(namespace, query) if namespace or query else ():
        rows_of_jobs = _walk_jobs(sources, at, name, space)
        some, more_jobs = _first_of((row for row in rows_of_jobs if row.id not in hidden), most)
        jobs |= {row.id for row in some}
        more |= more_jobs
    return (ids, jobs), more


def _job_queries(namespace: str | None, query: str) -> Iterator[tuple[str | None, str]]:
    """The searches for a text in names of jobs; ``finance/load`` may contain a namespace."""
    yield namespace, query
    space, separator, name = query.partition("/")
    if separator and namespace in (None, space):
        yield space, name


def _narrow(sources: Sources, answer: Answer, namespace: str | None, query: str) -> Answer:
    """Keep the visible nodes that match the search text, and their neighbours."""
    if not query:
        return answer
    needle, hidden = query.casefold(), sources.hidden
    rows = sources.catalogue.datasets(set(answer.datasets) - hidden)
    datasets = {row.id for row in rows if needle in row.uri.casefold()}
    if namespace:
        datasets &= {d for use in answer.plans for d in (*use.sources, *use.targets)}
    jobs = {
        row.id
        for row in sources.catalogue.jobs(set(answer.jobs) - hidden)
        if needle in f"{row.namespace}/{row.name}".casefold()
    }
    for use in answer.plans:
        ends = {*use.sources, *use.targets}
        if use.job in jobs or ends & datasets:
            jobs |= {use.job}
    shown = {d for use in answer.plans if use.job in jobs for d in (*use.sources, *use.targets)}
    return keep_nodes(answer, datasets | shown, jobs)
