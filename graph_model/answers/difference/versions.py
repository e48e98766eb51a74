"""Versions: the schemas of a dataset, the logical plans of a job, newest first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from graph_model import labels
from graph_model.answers.difference.graphs import (
    ColumnChange,
    ComparedColumn,
    Schema,
    compare_schemas,
    describe,
    read_schema,
)
from graph_model.answers.difference.plans import PlanPairs
from graph_model.answers.difference.times import (
    EVIDENCE,
    Evidence,
    evidence_by_plan,
    found_evidence,
)
from graph_model.answers.nodes import dataset_references, open_known
from graph_model.answers.sources import Sources
from graph_model.facts import LogicalPlanRow, SchemaRow, SchemaUseRow
from graph_model.lineage import Partial
from graph_model.lineage.history.history import History
from graph_model.picture.view import DatasetReference, known_mode
from graph_model.stores.catalogue_values import PlanSpan
from graph_model.stores.pages import Page, newest_page
from graph_model.values import iso

_VERSIONS: Final = "versions"


@dataclass(frozen=True, slots=True)
class SchemaVersionView:
    id: str
    schema: str
    role: str
    current: bool
    first: str
    last: str
    executions: int
    columns: tuple[ComparedColumn, ...]
    changes: tuple[ColumnChange, ...] | None
    summary: tuple[str, ...]
    told_by: tuple[Evidence, ...]
    plans: int


@dataclass(frozen=True, slots=True)
class PlanVersionView:
    """``changes`` None: the first plan with this target, a plan without a document, or the time was
    up (``JobVersions.partial``).
    """

    id: str
    plan_id: str | None
    fingerprint: str
    mode: str | None
    target: DatasetReference | None
    first: str
    last: str
    executions: int
    completed: int
    previous: str | None
    previous_plan_id: str | None
    changes: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class JobVersions:
    """``partial``: there was no time to compare all of the page."""

    page: Page[PlanVersionView]
    partial: Partial | None


def dataset_versions(
    sources: Sources, dataset: str, *, at: int | None, limit: int, cursor: str | None
) -> Page[SchemaVersionView]:
    """The schemas of a dataset (an id), by the time first seen, newest first."""
    sources = open_known(sources, labels.DATASET, dataset)
    uses = sources.catalogue.schema_uses(dataset)
    spans = sources.catalogue.plan_spans({use.logical_plan for use in uses}, at)
    rows = sources.catalogue.schemas({use.schema for use in uses})
    reports = History(sources.catalogue).writes.reports_of(dataset, (labels.COMPLETED,))
    again = [row for _, *others in reports for row in others if at is None or row.at <= at]
    versions = schema_versions(uses, rows, spans, [row.logical_plan for row in again])
    current = max(
        versions, key=lambda version: (version.last, version.first, version.schema), default=None
    )
    shown = newest_page(
        _VERSIONS, versions, lambda version: (version.first, version.schema), limit, cursor
    )
    evidence = evidence_by_plan(
        sources, {p for version in shown.items for p in version.plans[-EVIDENCE:]}, at
    )
    items = tuple(_schema_view(version, version is current, evidence) for version in shown.items)
    return Page(items, shown.total, shown.next)


def job_versions(
    sources: Sources, job: str, *, at: int | None, limit: int, cursor: str | None
) -> JobVersions:
    """The logical plans of a job (an id), by their first run, newest first, each with its
    changes.
    """
    sources = open_known(sources, labels.JOB, job)
    plans = sources.lineage.plans_of_job(job)
    rows = sources.catalogue.logical_plans(plans)
    shown_rows = [row for row in rows if row.target not in sources.hidden]
    versions = plan_versions(shown_rows, sources.catalogue.plan_spans(plans, at))
    shown = newest_page(
        _VERSIONS, versions, lambda version: (version.first, version.plan.id), limit, cursor
    )
    targets = dataset_references(sources, {version.plan.target for version in shown.items})
    pairs, partial = PlanPairs(sources), None
    items: list[PlanVersionView] = []
    for version in shown.items:
        changes = None
        if version.previous is not None:
            if sources.expired():
                partial = Partial("time", sources.time_limit_ms)
            else:
                changes = pairs.summary(version.previous, version.plan.id)
        items.append(_plan_view(sources, version, targets.get(version.plan.target), changes))
    return JobVersions(Page(tuple(items), shown.total, shown.next), partial)


def _plan_view(
    sources: Sources,
    version: PlanVersion,
    target: DatasetReference | None,
    changes: tuple[str, ...] | None,
) -> PlanVersionView:
    return PlanVersionView(
        id=version.plan.id,
        plan_id=_document_of(sources, version.plan.id),
        fingerprint=version.plan.fingerprint,
        mode=known_mode(version.plan.mode),
        target=target,
        first=iso(version.first),
        last=iso(version.last),
        executions=version.executions,
        completed=version.completed,
        previous=version.previous,
        previous_plan_id=_document_of(sources, version.previous),
        changes=changes,
    )


def _document_of(sources: Sources, plan: str | None) -> str | None:
    rows = sources.catalogue.execution_plans(logical_plan=plan, limit=1) if plan else ()
    return rows[0].plan_id if rows else None


def _schema_view(
    version: SchemaVersion, current: bool, evidence: Mapping[str, Evidence]
) -> SchemaVersionView:
    return SchemaVersionView(
        id=version.schema,
        schema=version.schema,
        role=version.role,
        current=current,
        first=iso(version.first),
        last=iso(version.last),
        executions=version.executions,
        columns=version.columns,
        changes=version.changes,
        summary=describe(version.changes or ()),
        told_by=found_evidence(version.plans, evidence),
        plans=len(version.plans),
    )


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """``role``: whether completed executions wrote the schema, or read it where no visible
    execution writes the dataset. Times are epoch ms. ``changes`` is None for the first version.
    """

    schema: str
    role: str
    first: int
    last: int
    executions: int
    plans: tuple[str, ...]
    columns: Schema
    changes: tuple[ColumnChange, ...] | None


def schema_versions(
    uses: Iterable[SchemaUseRow],
    rows: Iterable[SchemaRow],
    spans: Iterable[PlanSpan],
    repeated: Iterable[str] = (),
) -> list[SchemaVersion]:
    """Versions by the time first seen. Reads count only where no write reports a schema, since a
    reader may declare its own.

    ``repeated``: for each execution that repeats another's report, the plan of the other one. Types
    that two agents spell differently (``long``, ``bigint``) make one version.
    """
    completed = {span.logical_plan: span for span in spans if span.state == labels.COMPLETED}
    seen = [use for use in uses if use.logical_plan in completed]
    role = labels.WRITE if any(use.role == labels.WRITE for use in seen) else labels.READ
    plans: defaultdict[str, set[str]] = defaultdict(set)
    for use in seen:
        if use.role == role:
            plans[use.schema].add(use.logical_plan)
    contents = {row.id: read_schema(row.columns) for row in rows}
    versions = [
        _schema_version(schema, role, contents[schema], [completed[plan] for plan in sorted(ids)])
        for schema, ids in plans.items()
        if schema in contents
    ]
    versions.sort(key=lambda version: (version.first, version.schema))
    versions = [_counted_once(version, Counter(repeated)) for version in _without_repeats(versions)]
    return [
        replace(version, changes=compare_schemas(former.columns, version.columns))
        if former
        else version
        for former, version in zip([None, *versions], versions, strict=False)
    ]


def _without_repeats(versions: Iterable[SchemaVersion]) -> list[SchemaVersion]:
    distinct: list[SchemaVersion] = []
    for version in versions:
        place = next((p for p, v in enumerate(distinct) if _says_the_same(v, version)), None)
        if place is None:
            distinct.append(version)
        else:
            distinct[place] = _merged(distinct[place], version)
    return distinct


def _says_the_same(version: SchemaVersion, other: SchemaVersion) -> bool:
    return not compare_schemas(version.columns, other.columns)


def _merged(version: SchemaVersion, other: SchemaVersion) -> SchemaVersion:
    return replace(
        version,
        last=max(version.last, other.last),
        executions=version.executions + other.executions,
        plans=tuple(dict.fromkeys((*version.plans, *other.plans))),
    )


def _counted_once(version: SchemaVersion, repeated: Counter[str]) -> SchemaVersion:
    again = sum(repeated[plan] for plan in version.plans) if version.role == labels.WRITE else 0
    return replace(version, executions=version.executions - again)


def _schema_version(
    schema: str, role: str, columns: Schema, spans: Collection[PlanSpan]
) -> SchemaVersion:
    return SchemaVersion(
        schema=schema,
        role=role,
        first=min(span.first for span in spans),
        last=max(span.last for span in spans),
        executions=sum(span.executions for span in spans),
        plans=tuple(span.logical_plan for span in spans),
        columns=columns,
        changes=None,
    )


@dataclass(frozen=True, slots=True)
class PlanVersion:
    """``previous``: the plan of the job that wrote the same target before; None for the first.

    Times are epoch ms, over executions of any state.
    """

    plan: LogicalPlanRow
    first: int
    last: int
    executions: int
    completed: int
    previous: str | None


def plan_versions(rows: Iterable[LogicalPlanRow], spans: Iterable[PlanSpan]) -> list[PlanVersion]:
    """The logical plans of a job that had run, by the time of their first execution."""
    by_plan: defaultdict[str, list[PlanSpan]] = defaultdict(list)
    for span in spans:
        by_plan[span.logical_plan].append(span)
    listed = [_plan_version(row, by_plan[row.id]) for row in rows if row.id in by_plan]
    listed.sort(key=lambda version: (version.first, version.plan.id))
    newest: dict[str, str] = {}
    versions: list[PlanVersion] = []
    for version in listed:
        versions.append(replace(version, previous=newest.get(version.plan.target)))
        newest[version.plan.target] = version.plan.id
    return versions


def _plan_version(row: LogicalPlanRow, spans: Collection[PlanSpan]) -> PlanVersion:
    return PlanVersion(
        plan=row,
        first=min(span.first for span in spans),
        last=max(span.last for span in spans),
        executions=sum(span.executions for span in spans),
        completed=sum(span.executions for span in spans if span.state == labels.COMPLETED),
        previous=None,
    )
