"""The first page: ``/graph/home``, ``/graph/map``, ``/graph/runs``.

``home``: failures of the last day, late jobs, the last writes. Failures and late jobs are counted
over all jobs. The tables written last are found among the newest executions of the catalogue, at
most ``EXECUTIONS_READ``. A job that has run at least four times has a rhythm: the median time
between two of its newest runs. ``RUNS_COMPARED`` of them are enough: a failed run with three
repetitions changes no rhythm. The job is late when one and a half times that, and five minutes,
have passed since its last run. After ten times that it is no longer late but at rest: somebody has
stopped it.

``estate_map``: the areas of the estate and the flows between them, step by step down to tables. At
each step the areas within the one that is open are drawn, then the datasets that lie in it
directly, and beside them the areas outside with which it exchanges data.

``all_runs``: the executions of all jobs.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, zip_longest
from statistics import median_high, median_low
from typing import Any, Final, NamedTuple

from graph_model import labels
from graph_model.answers.facets import owners_of, quality_marks
from graph_model.answers.nodes import dataset_references, find_job, job_references
from graph_model.answers.overview import Totals
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import DatasetRow, ExecutionRow
from graph_model.governance.statements import walk_datasets
from graph_model.lineage import Answer, Lineage, Partial, PlanUse, Question, Reach, Route
from graph_model.lineage.history.rules import MERGE_WINDOW_MS
from graph_model.picture.layout import Box, arrange
from graph_model.picture.view import (
    CheckView,
    DatasetReference,
    JobReference,
    Place,
    job_reference,
)
from graph_model.stores.catalogue_values import FailedJob, RecentExecution
from graph_model.stores.graph import Direction
from graph_model.stores.pages import ExecutionOrder, Page
from graph_model.values import cause_line, iso

EXECUTIONS_READ: Final = 1_000
_DAY_MS: Final = 24 * 3_600_000
_MOST_NAMED: Final = 12


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A job whose newest run failed; ``error`` is the line that names the cause."""

    job: JobReference
    at: str
    error: str | None


@dataclass(frozen=True, slots=True)
class LateJob:
    """``every_ms``: how often it usually runs."""

    job: JobReference
    last: str
    every_ms: int


@dataclass(frozen=True, slots=True)
class WrittenDataset:
    dataset: DatasetReference
    at: str
    job: JobReference | None


@dataclass(frozen=True, slots=True)
class Home:
    """``failed`` and ``late`` count all, their lists name the newest. ``executions``: how many were
    looked at for ``written``; ``partial``: the bound, where more might name more tables. ``as_of``:
    the newest event.
    """

    totals: Totals
    failed: int
    failures: tuple[FailedRun, ...]
    late: int
    late_jobs: tuple[LateJob, ...]
    written: tuple[WrittenDataset, ...]
    executions: int
    partial: Partial | None
    as_of: str | None


@dataclass(frozen=True, slots=True)
class _Late:
    job: str
    last: int
    rhythm: int


@of_one_state
def home(sources: Sources, *, now: int) -> Home:
    """``now``: epoch ms by the server's clock."""
    since = now - _DAY_MS
    estate = sources.catalogue.estate(sources.hidden, failures=_MOST_NAMED, at=None, since=since)
    late = _late(sources, now)
    recent = sources.catalogue.recent_executions(
        sources.hidden, counted=False, limit=EXECUTIONS_READ, now=now
    )
    written = _written(recent.items)
    cut = recent.next is not None and len(written) < _MOST_NAMED
    named = late[:_MOST_NAMED]
    jobs = job_references(
        sources, {entry.job for entry in named} | {execution.job for execution in written}
    )
    datasets = dataset_references(sources, {execution.target for execution in written})
    return Home(
        totals=Totals(estate.jobs, estate.datasets, estate.failed),
        failed=estate.failed_since,
        failures=tuple(_failure(failure) for failure in estate.failures if failure.at > since),
        late=len(late),
        late_jobs=tuple(
            LateJob(jobs[entry.job], iso(entry.last), entry.rhythm)
            for entry in named
            if entry.job in jobs
        ),
        written=tuple(
            WrittenDataset(datasets[execution.target], iso(execution.at), jobs.get(execution.job))
            for execution in written
            if execution.target in datasets
        ),
        executions=len(recent.items),
        partial=Partial("executions", EXECUTIONS_READ) if cut else None,
        as_of=iso(recent.items[0].at) if recent.items else None,
    )


def _failure(failed: FailedJob) -> FailedRun:
    return FailedRun(job_reference(failed.job), iso(failed.at), cause_line(failed.error))


def _late(sources: Sources, now: int) -> list[_Late]:
    """The late jobs, the one that is longest late first.

    A job that is late waits longer than its rhythm, which is: than it mostly did.
    """
    waiting = sources.catalogue.waiting_jobs(sources.hidden, now=now, most=RUNS_COMPARED)
    late = [
        _Late(job, times[0], rhythm)
        for job, times in waiting.items()
        if (rhythm := rhythm_of(times)) is not None and is_late(times[0], rhythm, now)
    ]
    return sorted(late, key=lambda entry: (entry.last + entry.rhythm, entry.job))


def late_jobs(sources: Sources, now: int) -> dict[str, int]:
    """The late jobs (ids), each with its usual time between two runs in ms."""
    return {late.job: late.rhythm for late in _late(sources, now)}


def _written(recent: Iterable[RecentExecution]) -> list[RecentExecution]:
    """The last completed write of each of the datasets written last, newest first."""
    newest: dict[str, RecentExecution] = {}
    for execution in recent:
        if (
            execution.kind == labels.WRITE_KIND
            and execution.state in (labels.COMPLETED, labels.RUNNING)
            and execution.target
        ):
            newest.setdefault(execution.target, execution)
    return list(newest.values())[:_MOST_NAMED]


RUNS_COMPARED: Final = 7
_LEAST_RUNS: Final = 4
_PATIENCE_MS: Final = 5 * 60_000
_AT_REST: Final = 10


def rhythm_of(times: Collection[int]) -> int | None:
    """The usual time between two runs in ms; None where too few are known."""
    ordered = sorted(set(times))
    if len(ordered) < _LEAST_RUNS:
        return None
    return median_high(later - earlier for earlier, later in pairwise(ordered))


def is_late(last: int, rhythm: int, now: int) -> bool:
    waited = now - last
    return 1.5 * rhythm + _PATIENCE_MS < waited < _AT_REST * rhythm + _PATIENCE_MS


DATASETS_READ: Final = 10_000
BOXES_DRAWN: Final = 60
_WIDTH: Final = 210.0
_HEIGHT: Final = 64.0
_NO_LAYER: Final = "no layer"


@dataclass(frozen=True, slots=True)
class AreaNode:
    """``kind``: area, outside (not in the open one), dataset, or rest (those without a box).

    ``path`` opens it; ``failed``: of the jobs that write into it.
    """

    id: str
    kind: str
    label: str
    path: tuple[str, ...]
    datasets: int
    failed: int
    place: Place


@dataclass(frozen=True, slots=True)
class AreaFlow:
    """``jobs``: how many move data from one to the other."""

    source: str
    target: str
    jobs: int
    route: Route | None


@dataclass(frozen=True, slots=True)
class EstateMap:
    """``names``: how many catalog names the whole map leaves out, because their tables are in it by
    their locations.
    """

    within: tuple[str, ...]
    areas: tuple[AreaNode, ...]
    flows: tuple[AreaFlow, ...]
    datasets: int
    names: int
    partial: Partial | None


class _Spot(NamedTuple):
    """Where a dataset is drawn."""

    kind: str
    label: str
    path: tuple[str, ...]


@of_one_state
def estate_map(sources: Sources, *, by: str, within: Sequence[str]) -> EstateMap:
    """``by`` is place or layer; ``within`` the area that is open, from the widest on."""
    walk = walk_datasets(sources.catalogue, hidden=sources.hidden)
    rows = list(islice(walk, DATASETS_READ + 1))
    partial = Partial("nodes", DATASETS_READ) if len(rows) > DATASETS_READ else None
    rows = rows[:DATASETS_READ]
    lineage = sources.lineage
    drawn = list(lineage.history.names.tables(rows))
    read = _path_reader(sources, by)
    spots = {row.id: _spot(row, read(row), tuple(within)) for row in drawn}
    flows, cut = lineage.flows_into(spots.keys())
    uses = [use for use in flows if use.job not in sources.hidden]
    last = sources.catalogue.last_states({use.job for use in uses}, None, sources.now)
    failing = {job for job, (_, state, _) in last.items() if state == labels.FAILED}
    moves, counted = _moves(spots, uses), Counter(spots.values())
    near = _near(counted, moves)
    counted = Counter({spot: size for spot, size in counted.items() if spot in near})
    names = len(rows) - len(drawn)
    return _draw(tuple(within), counted, moves, failing, names, partial or cut)


def _path_reader(sources: Sources, by: str) -> Callable[[DatasetRow], tuple[str, ...]]:
    """The areas of a dataset; by layer the layer is the widest."""
    layers = sources.governance.layers
    if by == "layer":
        return lambda row: (layers.of(row.uri) or _NO_LAYER, *areas_of(row.uri, row.kind))
    return lambda row: areas_of(row.uri, row.kind) or (row.kind,)


def _spot(row: DatasetRow, path: tuple[str, ...], within: tuple[str, ...]) -> _Spot:
    depth = len(within)
    if path[:depth] != within:
        parts = next((n for n, (a, b) in enumerate(zip(path, within, strict=False)) if a != b), 0)
        return _Spot("outside", path[min(parts, len(path) - 1)], path[: parts + 1])
    if len(path) == depth:
        return _Spot("dataset", row.name or row.uri, (*path, row.id))
    return _Spot("area", path[depth], path[: depth + 1])


_Moves = Mapping[tuple[frozenset[_Spot], frozenset[_Spot]], set[str]]
"""Per sources and targets, both as spots, the jobs that move data from the ones to the others."""


def _moves(spots: Mapping[str, _Spot], uses: Iterable[PlanUse]) -> _Moves:
    moves: defaultdict[tuple[frozenset[_Spot], frozenset[_Spot]], set[str]] = defaultdict(set)
    for use in uses:
        sources = frozenset(spots[dataset] for dataset in use.sources if dataset in spots)
        targets = frozenset(spots[dataset] for dataset in use.targets if dataset in spots)
        moves[sources, targets].add(use.job)
    return moves


def _near(spots: Iterable[_Spot], moves: _Moves) -> set[_Spot]:
    """The neighbours that exchange data with the open area, and its own content."""
    near = {spot for spot in spots if spot.kind != "outside"}
    for sources, targets in moves:
        ends = sources | targets
        if any(spot.kind != "outside" for spot in ends):
            near |= ends
    return near


def _folded(sizes: Counter[_Spot]) -> dict[_Spot, _Spot]:
    """Per spot the one that is drawn; beyond the limit the smallest become one box."""
    drawn = {spot for spot, _ in sizes.most_common(BOXES_DRAWN)}
    rest = _Spot("rest", f"{len(sizes) - len(drawn)} more", ())
    return {spot: spot if spot in drawn else rest for spot in sizes}


def _draw(
    within: tuple[str, ...],
    counted: Counter[_Spot],
    moves: _Moves,
    failing: set[str],
    names: int,
    partial: Partial | None,
) -> EstateMap:
    """``counted``: the datasets of each spot that is near."""
    drawn = _folded(counted)
    flows: defaultdict[tuple[_Spot, _Spot], set[str]] = defaultdict(set)
    failed: defaultdict[_Spot, set[str]] = defaultdict(set)
    for (read, written), jobs in moves.items():
        sources = {drawn[spot] for spot in read if spot in drawn}
        for target in {drawn[spot] for spot in written if spot in drawn}:
            failed[target] |= jobs & failing
            for source in sources - {target}:
                flows[source, target] |= jobs
    sizes: Counter[_Spot] = Counter()
    for spot, size in counted.items():
        sizes[drawn[spot]] += size
    ids = {spot: f"area-{number}" for number, spot in enumerate(_ordered(sizes))}
    boxes = [Box(ids[spot], _WIDTH, _HEIGHT, spot.label) for spot in ids]
    layout = arrange(boxes, [(ids[a], ids[b]) for a, b in flows])
    return EstateMap(
        within=within,
        areas=tuple(
            AreaNode(
                id=key,
                kind=spot.kind,
                label=spot.label,
                path=spot.path,
                datasets=sizes[spot],
                failed=len(failed[spot]),
                place=Place(layout.points[key].x, layout.points[key].y, _WIDTH, _HEIGHT),
            )
            for spot, key in ids.items()
        ),
        flows=tuple(
            AreaFlow(
                ids[a],
                ids[b],
                len(jobs),
                tuple((at.x, at.y) for at in layout.routes[ids[a], ids[b]])
                if (ids[a], ids[b]) in layout.routes
                else None,
            )
            for (a, b), jobs in sorted(
                flows.items(), key=lambda flow: (ids[flow[0][0]], ids[flow[0][1]])
            )
        ),
        datasets=sizes.total(),
        names=names,
        partial=partial,
    )


def _ordered(sizes: Mapping[_Spot, int]) -> list[_Spot]:
    return sorted(sizes, key=lambda spot: (-sizes[spot], spot.path, spot.label))


_PLACE: Final = re.compile(r"^((?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?)/*(.*)$", re.DOTALL)
_PROJECT: Final = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://[^/:]+):(.*\D.*)$", re.DOTALL)
_MOST: Final = 8


def areas_of(uri: str, kind: str) -> tuple[str, ...]:
    """From the widest to the narrowest, at most eight."""
    if kind == "name":
        catalog, _, table = uri.rpartition("/")
        return (catalog, *table.split(".")[:-1])[:_MOST]
    match = _PLACE.match(uri)
    if match is None:
        return ()
    place, rest = match.groups()
    if not rest and (project := _PROJECT.match(place)):
        # A table of a project, without a path: bigquery://shop:mart.orders => bigquery://shop, mart
        return (project[1], *project[2].split(".")[:-1])[:_MOST]
    if not place.startswith("jdbc:"):
        parts = [part for part in rest.split("/") if part]
        return (place, *parts[:-1])[:_MOST]
    database, _, table = rest.partition(":")
    parts = [part for part in (*database.split("/"), *table.split(".")[:-1]) if part]
    return (place, *parts)[:_MOST]


@dataclass(frozen=True, slots=True)
class RunItem:
    """One execution; ``run`` is the id of its run; ``target`` None: it only read. ``at`` and
    ``counted_at`` are as in an ``ExecutionView``.
    """

    id: str
    run: str
    job: JobReference | None
    target: DatasetReference | None
    at: str
    state: str
    kind: str
    duration_ms: int | None
    error: str | None
    metrics: Any
    counted_at: str | None = None


#: So many executions, the newest that pass the other filters, are searched for words.
RUNS_SEARCHED: Final = 10_000


@dataclass(frozen=True, slots=True)
class RunList:
    """``partial``: there are more executions than were searched for the words."""

    page: Page[RunItem]
    partial: Partial | None


@of_one_state
def all_runs(
    sources: Sources,
    *,
    state: str | None,
    doubtful: bool = False,
    job: str | None = None,
    query: str = "",
    limit: int,
    cursor: str | None,
    at: int | None,
    order: ExecutionOrder = ExecutionOrder.AT_FALLING,
) -> RunList:
    """The executions of all jobs or of one (an id or a reference). ``query``: words in the error,
    the job's name or the application id, or ids of runs and plans. NotFound for an unknown job.
    """
    job = find_job(sources, job, at)
    since = None
    if query.strip():
        since = sources.catalogue.recent_until(
            RUNS_SEARCHED, state=state, job=job, at=at, now=sources.now
        )
    page = sources.catalogue.recent_executions(
        sources.hidden,
        state=state,
        doubtful=doubtful,
        job=job,
        query=query,
        since=since,
        limit=limit,
        cursor=cursor,
        at=at,
        now=sources.now,
        order=order,
    )
    jobs = job_references(sources, {row.job for row in page.items})
    datasets = dataset_references(sources, {row.target for row in page.items if row.target})
    items = tuple(
        RunItem(
            id=row.id,
            run=row.run,
            job=jobs.get(row.job),
            target=datasets.get(row.target),
            at=iso(row.at + row.ahead),
            state=row.state,
            kind=row.kind,
            duration_ms=row.duration_ms,
            error=cause_line(row.error),
            metrics=json.loads(row.metrics) if row.metrics else {},
            counted_at=iso(row.at) if row.ahead else None,
        )
        for row in page.items
    )
    partial = None if since is None else Partial("executions", RUNS_SEARCHED)
    return RunList(Page(items, page.total, page.next), partial)


# What needs somebody now: ``/graph/incidents``, the desk of the person on call.
#
# Failures of the last day come grouped by their error, without its numbers: 40 jobs that found the
# same disk full are one incident, with the jobs, since when they fail, whose they are, the last
# good runs to compare them with, and what lies downstream. Beside them stand running jobs, and of
# the newest executions the writes that took unusually long or wrote unusually few rows, and the
# tables whose checks failed.
#
# What is usual is the median of a table's earlier writes, at least three of the ``_COMPARED``
# before.

_FAILURES_READ: Final = 1_000
#: So many incidents have the number of nodes downstream, which costs a walk each.
_WALKED: Final = 12
_NEAR: Final = 4
_DEPTH: Final = 30
_NODES: Final = 500
_COMPARED: Final = 7
_LEAST_WRITES: Final = 3
_SLOW: Final = 2
_SLOW_MS: Final = 60_000
_SMALL: Final = 4


@dataclass(frozen=True, slots=True)
class FailingJob:
    """``run`` failed at ``at``; ``since``: the first failure after the last good run. ``good_run``
    and ``good_at`` are None where no run is known to have completed.
    """

    job: JobReference
    at: str
    since: str
    run: str
    good_run: str | None
    good_at: str | None
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Incident:
    """Failures with one error. ``tables`` and ``readers`` count what lies downstream, the written
    tables and the jobs that only read (dashboards) included; None: it was not looked for.
    ``partial``: the bound of that walk.
    """

    error: str | None
    first: str
    last: str
    owners: tuple[str, ...]
    members: tuple[FailingJob, ...]
    tables: int | None
    readers: int | None
    partial: Partial | None


@dataclass(frozen=True, slots=True)
class RunningJob:
    job: JobReference
    run: str
    at: str


@dataclass(frozen=True, slots=True)
class UnusualWrite:
    """The newest write of a table: its duration in ms or its number of rows, and the usual one."""

    dataset: DatasetReference
    job: JobReference | None
    run: str
    at: str
    value: int
    usual: int


@dataclass(frozen=True, slots=True)
class FailedChecks:
    """``check`` names the first failed one of ``failures``."""

    dataset: DatasetReference
    at: str
    check: str
    failures: int


@dataclass(frozen=True, slots=True)
class Incidents:
    """``failed`` counts the jobs whose newest run failed in the last day, ``running`` the runs that
    go on.
    Slow and small writes and failed checks are those of tables written in the last day among the
    newest ``executions``; ``partial``: the bound, where more were written.
    """

    failed: int
    incidents: tuple[Incident, ...]
    running: int
    running_jobs: tuple[RunningJob, ...]
    slow: tuple[UnusualWrite, ...]
    small: tuple[UnusualWrite, ...]
    checks: tuple[FailedChecks, ...]
    executions: int
    partial: Partial | None


@of_one_state
def incidents(sources: Sources, *, now: int) -> Incidents:
    """``now``: epoch ms by the server's clock."""
    since = now - _DAY_MS
    catalogue, hidden = sources.catalogue, sources.hidden
    estate = catalogue.estate(hidden, failures=_FAILURES_READ, at=None, since=since)
    running = catalogue.recent_executions(
        hidden, state=labels.RUNNING, counted=False, limit=EXECUTIONS_READ, now=now
    )
    runs: dict[tuple[str, str | None], RecentExecution] = {}
    for execution in running.items:  # a stream's newest report comes first
        runs.setdefault((execution.job, execution.run), execution)
    recent = catalogue.recent_executions(hidden, counted=False, limit=EXECUTIONS_READ, now=now)
    written = {
        execution.target: None
        for execution in recent.items
        if execution.target and execution.at > since
    }
    cut = running.next is not None or (recent.next is not None and recent.items[-1].at > since)
    slow, small = _unusual(sources, written, since)
    return Incidents(
        failed=estate.failed_since,
        incidents=_grouped(sources, [failure for failure in estate.failures if failure.at > since]),
        running=len(runs),
        running_jobs=_running(sources, list(runs.values())[:_MOST_NAMED]),
        slow=slow,
        small=small,
        checks=_failed_checks(sources, written),
        executions=len(recent.items),
        partial=Partial("executions", EXECUTIONS_READ) if cut else None,
    )


# --- failures ------------------------------------------------------------------------------------


def _grouped(sources: Sources, failures: Sequence[FailedJob]) -> tuple[Incident, ...]:
    """The incidents, those with most jobs first, then the newest."""
    members = _members(sources, failures)
    groups: defaultdict[str, list[FailedJob]] = defaultdict(list)
    for failure in failures:
        groups[pattern_of(cause_line(failure.error))].append(failure)
    ordered = sorted(groups.values(), key=lambda group: (-len(group), -group[0].at))
    return tuple(
        _incident(sources, group, members, walked=place < _WALKED)
        for place, group in enumerate(ordered)
    )


_CHANGING: Final = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]*|[0-9]+")


def pattern_of(error: str | None) -> str:
    """An error without the numbers and ids by which its repetitions differ: ``part-00012`` and
    ``part-00031`` are one.
    """
    return _CHANGING.sub("#", error or "")


def _members(sources: Sources, failures: Iterable[FailedJob]) -> dict[str, FailingJob]:
    catalogue = sources.catalogue
    failing = {failure.job.id: failure for failure in failures}
    newest = catalogue.last_executions(failing, None)
    good = catalogue.last_completed(failing, None)
    first = catalogue.first_failures({(job, good[job].at if job in good else 0) for job in failing})
    owners = owners_of(sources, failing, "job", None)
    return {
        job: FailingJob(
            job=job_reference(failure.job),
            at=iso(failure.at) or "",
            since=iso(first.get(job, failure.at)) or "",
            run=newest[job].run if job in newest else "",
            good_run=good[job].run if job in good else None,
            good_at=iso(good[job].at) if job in good else None,
            owners=owners.get(job, ()),
        )
        for job, failure in failing.items()
    }


def _incident(
    sources: Sources,
    group: Sequence[FailedJob],
    members: Mapping[str, FailingJob],
    *,
    walked: bool,
) -> Incident:
    """``group``: newest first."""
    failing = [members[failure.job.id] for failure in group]
    tables, readers, partial = _downstream(sources, group) if walked else (None, None, None)
    return Incident(
        error=cause_line(group[0].error),
        first=min(job.since for job in failing),
        last=failing[0].at,
        owners=tuple(dict.fromkeys(owner for job in failing for owner in job.owners)),
        members=tuple(failing),
        tables=tables,
        readers=readers,
        partial=partial,
    )


def _downstream(sources: Sources, group: Iterable[FailedJob]) -> tuple[int, int, Partial | None]:
    """How many tables the failed plans write, with all tables downstream, and how many jobs only
    read one of them.
    """
    catalogue = sources.catalogue
    tried = catalogue.attempts([failure.job.id for failure in group], None)
    rows = catalogue.logical_plans({plan for _, plan in tried})
    starts = {row.target for row in rows} - {""}
    if not starts:
        return 0, 0, None
    answer = _near_or_whole(sources.lineage, starts)
    ends = {use.logical_plan for use in answer.plans if not use.targets}
    # One that writes a table beyond the limit has no target in the answer, and is no reader.
    readers = {row.job for row in catalogue.logical_plans(ends) if not row.target}
    tables = starts | set(answer.datasets)
    return len(tables - sources.hidden), len(readers - sources.hidden), answer.partial


def _near_or_whole(lineage: Lineage, starts: Collection[str]) -> Answer:
    """What lies downstream. The nearest nodes count first: where those within a few steps are more
    than the limit, no walk goes further.
    """
    near = Question("", Direction.DOWNSTREAM, depth=_NEAR, limit=_NODES)
    answer = lineage.ask_downstream(starts, near)
    if answer.partial is not None:
        return answer
    return lineage.ask_downstream(starts, replace(near, depth=_DEPTH, reach=Reach.POSSIBLE))


# --- beside the failures -------------------------------------------------------------------------


def _running(sources: Sources, executions: Sequence[RecentExecution]) -> tuple[RunningJob, ...]:
    jobs = job_references(sources, {execution.job for execution in executions})
    return tuple(
        RunningJob(jobs[execution.job], execution.run, iso(execution.at) or "")
        for execution in executions
        if execution.job in jobs
    )


def _unusual(
    sources: Sources, written: Collection[str], since: int
) -> tuple[tuple[UnusualWrite, ...], tuple[UnusualWrite, ...]]:
    """The slow and the small writes among the newest of these tables."""
    writes = sources.catalogue.newest_writes_of(written, _COMPARED + 1)
    newest = [without_ctas(rows) for rows in writes.values() if rows[0].at > since]
    slow = _outside(newest, _duration_of, is_slow)
    small = _outside(newest, rows_of, is_small)
    named = [row for row, _, _ in (*slow, *small)]
    jobs = job_references(sources, {row.job for row in named})
    datasets = dataset_references(sources, {row.target for row in named})

    def views(outliers: Iterable[tuple[ExecutionRow, int, int]]) -> tuple[UnusualWrite, ...]:
        return tuple(
            UnusualWrite(
                datasets[row.target], jobs.get(row.job), row.run, iso(row.at) or "", value, usual
            )
            for row, value, usual in outliers
            if row.target in datasets
        )

    return views(slow), views(small)


def without_ctas(rows: Sequence[ExecutionRow]) -> list[ExecutionRow]:
    """Newest first, without the CREATE TABLE AS SELECT whose insert comes next: the insert has the
    rows and took the time.
    """
    return [
        row
        for row, before in zip_longest(rows, rows[1:])
        if before is None
        or row.command not in labels.CTAS_COMMANDS
        or row.application_id != before.application_id
        or row.at - before.at > MERGE_WINDOW_MS
    ]


def _outside(
    histories: Iterable[Sequence[ExecutionRow]],
    measure: Callable[[ExecutionRow], int | None],
    unusual: Callable[[int, int], bool],
) -> list[tuple[ExecutionRow, int, int]]:
    """The newest rows with an unusual measure, that and the median before; newest first."""
    outliers = []
    for newest, *before in histories:
        value = measure(newest)
        known = [earlier for row in before if (earlier := measure(row)) is not None]
        if value is None or len(known) < _LEAST_WRITES:
            continue
        usual = median_low(known)
        if unusual(value, usual):
            outliers.append((newest, value, usual))
    outliers.sort(key=lambda outlier: (-outlier[0].at, outlier[0].id))
    return outliers[:_MOST_NAMED]


def is_slow(value: int, usual: int) -> bool:
    """Twice the usual time and a minute more (ms)."""
    return value > _SLOW * usual and value > usual + _SLOW_MS


def is_small(value: int, usual: int) -> bool:
    """Less than a quarter of the usual rows."""
    return value * _SMALL < usual


def _duration_of(row: ExecutionRow) -> int | None:
    return None if row.duration_ns is None else row.duration_ns // 1_000_000


def rows_of(row: ExecutionRow) -> int | None:
    metrics = json.loads(row.metrics)
    value = metrics.get("write", {}).get("numOutputRows") if isinstance(metrics, dict) else None
    return value if isinstance(value, int) else None


def _failed_checks(sources: Sources, written: Mapping[str, None]) -> tuple[FailedChecks, ...]:
    marks = quality_marks(sources, set(written) - sources.hidden, None)
    failed = {key: mark for key, mark in marks.items() if mark.failures > 0}
    datasets = dataset_references(sources, failed)
    failing = [
        FailedChecks(datasets[key], mark.at, _words_of(mark.failed[0]), mark.failures)
        for key, mark in failed.items()
        if key in datasets and mark.failed
    ]
    failing.sort(key=lambda checks: (checks.at, checks.dataset.id), reverse=True)
    return tuple(failing[:_MOST_NAMED])


def _words_of(check: CheckView) -> str:
    return f"{check.assertion} ({check.column})" if check.column else check.assertion
