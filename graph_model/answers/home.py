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
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median_high
from typing import Any, Final

from graph_model import labels
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.overview import Totals
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import DatasetRow
from graph_model.governance.visible_nodes import walk_datasets
from graph_model.instants import iso
from graph_model.lineage import Partial, PlanUse
from graph_model.picture.layout import Box, arrange
from graph_model.picture.view import DatasetReference, JobReference, Place, Route, job_reference
from graph_model.stores.catalogue_values import FailedJob, RecentExecution
from graph_model.stores.pages import ExecutionOrder, Page
from graph_model.texts import cause_line

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
        sources.hidden, counted=False, limit=EXECUTIONS_READ
    )
    written = _written(recent.items)
    cut = recent.next is not None and len(written) < _MOST_NAMED
    named = late[:_MOST_NAMED]
    jobs = job_references(sources, {one.job for one in named} | {one.job for one in written})
    datasets = dataset_references(sources, {one.target for one in written})
    return Home(
        totals=Totals(estate.jobs, estate.datasets, estate.failed),
        failed=estate.failed_since,
        failures=tuple(_failure(one) for one in estate.failures if one.at > since),
        late=len(late),
        late_jobs=tuple(
            LateJob(jobs[one.job], iso(one.last), one.rhythm) for one in named if one.job in jobs
        ),
        written=tuple(
            WrittenDataset(datasets[one.target], iso(one.at), jobs.get(one.job))
            for one in written
            if one.target in datasets
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
    return sorted(late, key=lambda one: (one.last + one.rhythm, one.job))


def _written(recent: Iterable[RecentExecution]) -> list[RecentExecution]:
    """The last completed write of each of the datasets written last, newest first."""
    newest: dict[str, RecentExecution] = {}
    for one in recent:
        if one.kind == labels.WRITE_KIND and one.state != labels.FAILED and one.target:
            newest.setdefault(one.target, one)
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


@dataclass(frozen=True, slots=True)
class _Spot:
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
    last = sources.catalogue.last_states({use.job for use in uses}, None)
    failing = {job for job, (_, state, _) in last.items() if state == labels.FAILED}
    spots = _folded(spots, _near(spots, uses))
    return _draw(tuple(within), spots, uses, failing, len(rows) - len(drawn), partial or cut)


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


def _near(spots: Mapping[str, _Spot], uses: Iterable[PlanUse]) -> set[_Spot]:
    """The neighbours that exchange data with the open area, and its own content."""
    near = {spot for spot in spots.values() if spot.kind != "outside"}
    for use in uses:
        ends = {spots[one] for one in (*use.sources, *use.targets) if one in spots}
        if any(one.kind != "outside" for one in ends):
            near |= ends
    return near


def _folded(spots: Mapping[str, _Spot], near: set[_Spot]) -> dict[str, _Spot]:
    """The spots that are drawn; beyond the limit the smallest become one box."""
    sizes = Counter(spot for spot in spots.values() if spot in near)
    drawn = {spot for spot, _ in sizes.most_common(BOXES_DRAWN)}
    rest = _Spot("rest", f"{len(sizes) - len(drawn)} more", ())
    return {key: spot if spot in drawn else rest for key, spot in spots.items() if spot in near}


def _draw(
    within: tuple[str, ...],
    spots: Mapping[str, _Spot],
    uses: Sequence[PlanUse],
    failing: Collection[str],
    names: int,
    partial: Partial | None,
) -> EstateMap:
    flows: defaultdict[tuple[_Spot, _Spot], set[str]] = defaultdict(set)
    failed: defaultdict[_Spot, set[str]] = defaultdict(set)
    for use in uses:
        sources = {spots[one] for one in use.sources if one in spots}
        targets = {spots[one] for one in use.targets if one in spots}
        for target in targets:
            if use.job in failing:
                failed[target].add(use.job)
            for source in sources - {target}:
                flows[source, target].add(use.job)
    sizes = Counter(spots.values())
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
                len(found),
                tuple((at.x, at.y) for at in layout.routes[ids[a], ids[b]])
                if (ids[a], ids[b]) in layout.routes
                else None,
            )
            for (a, b), found in sorted(
                flows.items(), key=lambda one: (ids[one[0][0]], ids[one[0][1]])
            )
        ),
        datasets=len(spots),
        names=names,
        partial=partial,
    )


def _ordered(sizes: Mapping[_Spot, int]) -> list[_Spot]:
    return sorted(sizes, key=lambda spot: (-sizes[spot], spot.path, spot.label))


_PLACE: Final = re.compile(r"^((?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?)/*(.*)$", re.DOTALL)
_MOST: Final = 8


def areas_of(uri: str, kind: str) -> tuple[str, ...]:
    """From the widest to the narrowest, at most eight."""
    if kind == "name":
        catalog, _, table = uri.rpartition("/")
        return (catalog, *table.split(".")[:-1])[:_MOST]
    found = _PLACE.match(uri)
    if found is None:
        return ()
    place, rest = found.groups()
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


@of_one_state
def all_runs(
    sources: Sources,
    *,
    state: str | None,
    doubtful: bool = False,
    limit: int,
    cursor: str | None,
    at: int | None,
    order: ExecutionOrder = ExecutionOrder.AT_FALLING,
) -> Page[RunItem]:
    page = sources.catalogue.recent_executions(
        sources.hidden,
        state=state,
        doubtful=doubtful,
        limit=limit,
        cursor=cursor,
        at=at,
        order=order,
    )
    jobs = job_references(sources, {one.job for one in page.items})
    datasets = dataset_references(sources, {one.target for one in page.items if one.target})
    items = tuple(
        RunItem(
            id=one.id,
            run=one.run,
            job=jobs.get(one.job),
            target=datasets.get(one.target),
            at=iso(one.at + one.ahead),
            state=one.state,
            kind=one.kind,
            duration_ms=one.duration_ms,
            error=cause_line(one.error),
            metrics=json.loads(one.metrics) if one.metrics else {},
            counted_at=iso(one.at) if one.ahead else None,
        )
        for one in page.items
    )
    return Page(items, page.total, page.next)
