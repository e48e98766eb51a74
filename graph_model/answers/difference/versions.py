"""Versions: the schemas of a dataset, the logical plans of a job, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graph_model import labels
from graph_model.answers.difference.graphs import ColumnChange, ComparedColumn, describe
from graph_model.answers.difference.plans import PlanPairs
from graph_model.answers.difference.times import (
    EVIDENCE,
    Evidence,
    evidence_by_plan,
    found_evidence,
)
from graph_model.answers.difference.version_history import (
    PlanVersion,
    SchemaVersion,
    plan_versions,
    schema_versions,
)
from graph_model.answers.nodes import dataset_references
from graph_model.answers.sources import Sources
from graph_model.answers.visibility import open_known
from graph_model.lineage import Partial
from graph_model.lineage.history.history import History
from graph_model.picture.view import DatasetReference, known_mode
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
