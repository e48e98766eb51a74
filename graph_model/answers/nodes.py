"""The rows and names of nodes that several answers show; hidden ones have no name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graph_model import identity, labels
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import DatasetRow, ExecutionRow, JobRow, NameRow
from graph_model.lineage import HUB_LIMIT
from graph_model.lineage.history.history import History
from graph_model.lineage.history.merging import Reports
from graph_model.lineage.history.read_rule import END
from graph_model.picture.view import (
    DatasetReference,
    JobReference,
    dataset_reference,
    job_reference,
    known_mode,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.graph import Direction
from graph_model.values import iso


def job_row(sources: Sources, job: str) -> JobRow:
    rows = sources.catalogue.jobs((job,))
    if not rows:
        raise NotFound("job", job)
    return rows[0]


def dataset_row(sources: Sources, dataset: str) -> DatasetRow:
    rows = sources.catalogue.datasets((dataset,))
    if not rows:
        raise NotFound("dataset", dataset)
    return rows[0]


def job_references(sources: Sources, ids: Collection[str]) -> dict[str, JobReference]:
    """By id the names of these jobs; unknown and hidden ones are left out."""
    shown = set(ids) - sources.hidden - {""}
    return {row.id: job_reference(row) for row in sources.catalogue.jobs(shown)} if shown else {}


def dataset_references(sources: Sources, ids: Collection[str]) -> dict[str, DatasetReference]:
    """By id the names of these datasets; unknown and hidden ones are left out."""
    shown = set(ids) - sources.hidden - {""}
    rows = sources.catalogue.datasets(shown) if shown else ()
    return {row.id: dataset_reference(row) for row in rows}


def times_seen(
    sources: Sources, nodes: Collection[str], at: int | None
) -> dict[str, tuple[int, int]]:
    """Of datasets and jobs (ids) the first and the last time (epoch ms) at which a visible plan
    named them, among 5,000 plans a side; nodes without one are left out.
    """
    jobs = {key for key in nodes if identity.kind_of(key) == labels.JOB}
    datasets = set(nodes) - jobs
    plans: dict[str, set[str]] = {key: set() for key in nodes}
    for ids, direction, label in (
        (jobs, Direction.DOWNSTREAM, labels.HAS),
        (datasets, Direction.DOWNSTREAM, labels.FEEDS),
        (datasets, Direction.UPSTREAM, labels.FEEDS),
    ):
        beside = sources.graph.neighbours(ids, direction, label, HUB_LIMIT, labels.LOGICAL_PLAN)
        for key, ends in beside.found.items():
            plans[key].update(ends)
    known = {plan for ends in plans.values() for plan in ends}
    rows = sources.catalogue.logical_plans(known)
    shown = {row.id for row in rows if sources.hidden.isdisjoint((row.job, row.target))}
    spans: dict[str, list[int]] = {}
    for span in sources.catalogue.plan_spans(shown, at):
        spans.setdefault(span.logical_plan, []).extend((span.first, span.last))
    times = {key: [t for end in ends for t in spans.get(end, ())] for key, ends in plans.items()}
    return {key: (min(some), max(some)) for key, some in times.items() if some}


def catalog_names(
    sources: Sources, history: History, datasets: Collection[str], at: int | None
) -> dict[str, list[str]]:
    named = {dataset for dataset, names in history.names.names_of(datasets).items() if names}
    moment = END if at is None else at
    observed: Sequence[NameRow] = sources.catalogue.names_of(named, at)
    stood = history.names.locate((row.name, moment) for row in observed)
    seen = [row for row in observed if row.name != row.location == stood[row.name, moment]]
    called = dataset_references(sources, {row.name for row in seen})
    uris = {key: reference.uri for key, reference in called.items()}
    names: dict[str, list[str]] = {}
    for row in seen:
        if row.name in uris and uris[row.name] not in names.setdefault(row.location, []):
            names[row.location].append(uris[row.name])
    return {location: sorted(spellings) for location, spellings in names.items()}


def location_of(catalogue: Catalogue, dataset: str, at: int | None) -> str:
    """The location of a catalog name at the time; any other dataset itself."""
    return catalogue.location_of(dataset, at) or dataset


def located_column(sources: Sources, column: str, at: int | None) -> str:
    """The column at the location of its table at the time."""
    rows = sources.catalogue.columns((column,))
    return (
        identity.column_id(location_of(sources.catalogue, rows[0].dataset, at), rows[0].path)
        if rows
        else column
    )


# One execution as lists and pages show it.


@dataclass(frozen=True, slots=True)
class ExecutionGap:
    """Unknown information, as a code and as a sentence."""

    code: str
    detail: str


_SOME_PARTITIONS = ExecutionGap(
    labels.PARTITIONS_UNKNOWN,
    "the write may have replaced only some partitions; the client does not report which",
)


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution as lists and pages show it.

    ``version`` is the id of the table version that it made, None where not reported; ``branch``
    None: the main branch. ``former_name`` is set in the history of a table that was renamed later,
    ``location`` in the history of another location that shares files with the one written.
    ``at`` is the execution's own time, ``counted_at`` the one from which answers count it where its
    own is doubtful (``producers.counted_times``).
    """

    id: str
    at: str
    state: str
    duration_ms: float | None
    mode: str | None  # None: not reported
    command: str
    plan_id: str
    plan: str
    run: str
    job: JobReference | None  # None: it is hidden
    target: DatasetReference | None  # None: it writes nothing
    partitions: tuple[str, ...]
    metrics: Any
    error: str | None
    application_id: str
    producer: str
    gaps: tuple[ExecutionGap, ...] = ()
    version: str | None = None
    branch: str | None = None
    former_name: DatasetReference | None = None
    counted_at: str | None = None
    location: DatasetReference | None = None


def execution_views(sources: Sources, rows: Sequence[ExecutionRow]) -> tuple[ExecutionView, ...]:
    """The views of these executions, in this order; a hidden job or target is not named."""
    jobs = job_references(sources, {row.job for row in rows})
    targets = dataset_references(sources, {row.target for row in rows})
    partitions: dict[str, list[str]] = {}
    for row in sources.catalogue.partitions([row.id for row in rows]) if rows else ():
        if row.role == "write":
            partitions.setdefault(row.execution, []).append(row.partition)
    return tuple(
        ExecutionView(
            id=row.id,
            at=iso(row.claimed_at),
            state=row.shown_state,
            duration_ms=None if row.duration_ns is None else row.duration_ns / 1_000_000,
            mode=_mode_of(row),
            command=row.command,
            plan_id=row.plan_id,
            plan=row.logical_plan,
            run=row.run,
            job=jobs.get(row.job),
            target=targets.get(row.target),
            partitions=tuple(sorted(partitions.get(row.id, ()))),
            metrics=json.loads(row.metrics),
            error=row.error,
            application_id=row.application_id,
            producer=row.producer,
            gaps=() if row.id in partitions or not _replaces_some(row) else (_SOME_PARTITIONS,),
            version=row.version or None,
            branch=row.branch or None,
            counted_at=iso(row.at) if row.ahead else None,
        )
        for row in rows
    )


def _mode_of(row: ExecutionRow) -> str | None:
    return labels.DECLARED if row.kind == labels.DECLARATION_KIND else known_mode(row.mode)


def _replaces_some(row: ExecutionRow) -> bool:
    return row.dynamic and row.mode == labels.OVERWRITE_PARTITIONS


def repeated_executions(reports: Iterable[Reports], at: int | None) -> frozenset[str]:
    """Ids of executions at or before ``at`` that repeat the report of an earlier one."""
    return frozenset(row.id for _, *again in reports for row in again if not is_after(row.at, at))


def is_after(time: int, at: int | None) -> bool:
    return at is not None and time > at
