"""Facets of jobs and datasets at a time: owners, code, versions, quality.

The newest facet of a name is in force, and the newest of each check, whatever visible job made it
(``Sources.facets``). The shapes are pure (``openlineage.descriptions``, ``openlineage.quality``);
this module asks the catalogue.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from graph_model import identity
from graph_model.answers.nodes import job_references, open_known
from graph_model.answers.openlineage import READ, WRITTEN, SentFacets, sent_facets
from graph_model.answers.openlineage_reports import (
    ColumnDescription,
    DatasetDescription,
    JobDescription,
    describe_columns,
    describe_dataset,
    describe_job,
)
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import CHECK, FacetRow, RunRow
from graph_model.governance.quality_rules import rule_checks
from graph_model.picture.view import CheckView, JobReference, QualityMark
from graph_model.producers.openlineage.events.facets import ENVELOPE
from graph_model.producers.openlineage.quality import Check, Quality, State, judge, read_check
from graph_model.stores.pages import Page
from graph_model.values import iso

#: A page leaves out a facet's body with more characters; the facet's history returns it whole.
LONGEST_BODY: Final = 200_000
_HISTORY_SHOWN: Final = 20
#: The newest results of a dataset's checks that are looked at; of each check 20 are shown.
_RESULTS_READ: Final = 1_000
_DATASET_KINDS: Final = ("dataset", "input", "output")
_METRICS: Final = "dataQualityMetrics"
_OWNERSHIP: Final = "ownership"
_OF_COLUMNS: Final = ("schema", "tags")
_KEPT_APART: Final = ("schema", "columnLineage")
#: (kind, name) of the facets whose history a dataset's page shows.
_HISTORIES: Final = (
    ("dataset", "version"), ("dataset", "lifecycleStateChange"), ("output", "outputStatistics"),
    ("dataset", _METRICS), ("input", _METRICS),
)  # fmt: skip


class FacetKind(StrEnum):
    """The entity that a facet describes; inputs and outputs are datasets as one run used them."""

    DATASET = "dataset"
    INPUT = "input"
    OUTPUT = "output"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class FacetRun:
    """``id`` is the opaque id of the run's events, ``run_id`` the client's own."""

    id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class FacetView:
    """A facet as the client sent it. ``body`` is None where the client deleted the facet, or where
    it is ``cut``: too long for a page.
    """

    name: str
    kind: str
    at: str
    deleted: bool
    body: Any
    cut: bool
    job: JobReference | None
    run: FacetRun | None


@dataclass(frozen=True, slots=True)
class JobFacets:
    """``described`` is the interpreted part of ``facets``, which holds every facet."""

    described: JobDescription
    facets: tuple[FacetView, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How a check ended at a time; ``fails``: the dataset failed by it."""

    at: str
    passed: bool
    fails: bool


@dataclass(frozen=True, slots=True)
class PastCheckView(CheckView):
    """A check with its newest results, newest first: at most 20, of the dataset's newest 1,000;
    of a rule's check the one in force.
    """

    results: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True)
class QualityPage:
    """The checks of a dataset in force: failures first, then warnings, then passed checks."""

    state: State
    at: str
    checks: tuple[PastCheckView, ...]


@dataclass(frozen=True, slots=True)
class DatasetFacets:
    """``versions``, ``lifecycle``, ``statistics`` and ``metrics`` are the newest 20, newest first;
    ``facets`` are those in force.
    """

    described: DatasetDescription
    quality: QualityPage | None
    versions: tuple[FacetView, ...]
    lifecycle: tuple[FacetView, ...]
    statistics: tuple[FacetView, ...]
    metrics: tuple[FacetView, ...]
    facets: tuple[FacetView, ...]


# --- jobs and datasets ---------------------------------------------------------------------------


def job_facets(sources: Sources, job: str, at: int | None) -> JobFacets:
    """The facets of a job (an id)."""
    views = _views(sources, sources.facets.newest((job,), "job", at))
    return JobFacets(describe_job(_in_force(views)), _shown(views))


def dataset_facets(sources: Sources, dataset: str, at: int | None) -> DatasetFacets:
    """The facets of a dataset (an id)."""
    facets = sources.facets
    force = [row for kind in _DATASET_KINDS for row in facets.newest((dataset,), kind, at)]
    recent = {
        (kind, name): facets.recent(dataset, kind, name, at, _HISTORY_SHOWN)
        for kind, name in _HISTORIES
    }
    listed = dict.fromkeys((*force, *(row for rows in recent.values() for row in rows)))
    views = dict(zip(listed, _views(sources, list(listed)), strict=True))
    shown = [views[row] for row in force]
    past = {key: [views[row] for row in rows] for key, rows in recent.items()}
    return DatasetFacets(
        describe_dataset(_in_force([view for view in shown if view.kind == "dataset"])),
        _quality_page(sources, dataset, at),
        tuple(past["dataset", "version"]),
        tuple(past["dataset", "lifecycleStateChange"]),
        tuple(past["output", "outputStatistics"]),
        _newest_first(past["dataset", _METRICS], past["input", _METRICS]),
        _shown(shown),
    )


def facets_in_force(
    sources: Sources,
    entities: Collection[str],
    kind: str,
    at: int | None,
    writers: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Any]]:
    """Of several datasets or jobs (ids; ``kind`` of these) the facets in force by name, as
    sent where the journal has their events, without those that are too long for a page.

    A dataset's schema and column lineage, which are no facets here, are those of the subject that
    ``writers`` names for it, else of one that sent another facet.
    """
    kinds = _DATASET_KINDS if kind == "dataset" else (kind,)
    listed = [row for own in kinds for row in sources.facets.newest(entities, own, at)]
    rows = [row for row in listed if not row.deleted]
    texts = sources.facets.bodies({row.digest for row in rows})
    subjects = {row.entity: row.subject for row in rows} | dict(writers or {})
    sent = sent_facets(sources, {*subjects.values(), *(row.subject for row in rows)})
    shown: dict[str, dict[str, Any]] = {}
    for entity, subject in subjects.items() if kind == "dataset" else ():
        own = sent[subject].datasets.get(entity, {}) if subject in sent else {}
        shown[entity] = {name: own[name] for name in _KEPT_APART if name in own}
    for row in rows:
        text = texts.get(row.digest, "")
        if text and not is_cut(text):
            body = json.loads(text)
            whole: Mapping[str, Any] = _sent(sent.get(row.subject), row)
            same = {key: whole[key] for key in whole if key not in ENVELOPE} == body
            shown.setdefault(row.entity, {})[row.name] = whole if same else body
    return shown


def _sent(sent: SentFacets | None, row: FacetRow) -> dict[str, Any]:
    """What was sent of the facet, {} where it is not known."""
    if sent is None:
        return {}
    usage = READ if row.kind == "input" else WRITTEN
    facets: dict[str, dict[str, Any]] = {
        "job": sent.job,
        "dataset": sent.datasets.get(row.entity, {}),
    }.get(row.kind, sent.usage.get((usage, row.entity), {}))
    return facets.get(row.name, {})


@of_one_state
def facet_history(
    sources: Sources,
    entity_kind: str,
    entity: str,
    *,
    name: str | None,
    kind: str | None,
    at: int | None,
    limit: int,
    cursor: str | None,
) -> Page[FacetView]:
    """The history of one facet of a dataset or a job (an id), newest first, with whole bodies."""
    sources = open_known(sources, entity_kind, entity)
    page = sources.facets.history(entity, kind=kind, name=name, at=at, limit=limit, cursor=cursor)
    return Page(_views(sources, page.items, whole=True), page.total, page.next)


def owners_of(
    sources: Sources, entities: Collection[str], kind: str, at: int | None
) -> dict[str, tuple[str, ...]]:
    """The owners in OpenLineage's ownership facets, by dataset or job."""
    newest = sources.facets.newest(entities, kind, at) if entities else ()
    rows = [row for row in newest if row.name == _OWNERSHIP and not row.deleted]
    bodies = sources.facets.bodies({row.digest for row in rows})
    by_entity: dict[str, tuple[str, ...]] = {}
    for row in rows:
        facet = json.loads(bodies.get(row.digest, "null"))
        if isinstance(facet, dict):
            owners = describe_dataset({_OWNERSHIP: facet}).owners
            by_entity[row.entity] = tuple(owner.name for owner in owners)
    return by_entity


def nodes_of_owner(sources: Sources, kind: str, owner: str, at: int | None) -> frozenset[str]:
    """The datasets or jobs (ids, hidden ones too) of this owner, in any case: by their ownership
    facet or by a classification of theirs.
    """
    wanted = owner.casefold()
    reported = owners_of(sources, sources.facets.entities(kind, _OWNERSHIP), kind, at)
    assigned = sources.governance.assigned.items()
    return frozenset(
        (
            *(node for node, owners in reported.items() if wanted in map(str.casefold, owners)),
            *(node for (_, node), assignment in assigned if assignment.owner.casefold() == wanted),
        )
    )


# --- quality -------------------------------------------------------------------------------------


def quality_marks(
    sources: Sources, datasets: Collection[str], at: int | None
) -> dict[str, QualityMark]:
    """Per dataset with checks: passed or failed, with the failed checks."""
    judged = {dataset: judge(checks) for dataset, checks in _checks(sources, datasets, at).items()}
    marks = {dataset: quality for dataset, quality in judged.items() if quality is not None}
    failed = {check.job for quality in marks.values() for check in quality.failed}
    jobs = job_references(sources, failed)
    return {dataset: _mark(quality, jobs) for dataset, quality in marks.items()}


def _checks(sources: Sources, datasets: Collection[str], at: int | None) -> dict[str, list[Check]]:
    """Every check in force: the newest result of each, from any job."""
    rows = sources.facets.checks(datasets, at)
    bodies = _bodies(sources, rows)
    checks: dict[str, list[Check]] = {}
    for row in rows:
        check = read_check(bodies[row.digest], row.at, row.job)
        checks.setdefault(row.entity, []).append(check)
    rules = sources.governance.quality_rules
    verdicts = rule_checks(rules, datasets, at, sources.catalogue, sources.hidden)
    for dataset, checks_of in verdicts.items():
        checks.setdefault(dataset, []).extend(checks_of)
    return checks


def _quality_page(sources: Sources, dataset: str, at: int | None) -> QualityPage | None:
    checks = sorted(set(_checks(sources, (dataset,), at).get(dataset, ())))
    quality = judge(checks)
    if quality is None:
        return None
    checks.sort(key=lambda check: (check.passed, check.warns, -check.at, check))
    jobs = job_references(sources, {check.job for check in checks})
    past = _results(sources, dataset, at)
    views = tuple(_past_view(check, jobs, past.get(check.key) or [check]) for check in checks)
    return QualityPage(quality.state, iso(quality.at), views)


def _results(sources: Sources, dataset: str, at: int | None) -> Mapping[str, list[Check]]:
    """By key the newest results of each check, newest first, whatever job made it."""
    facets = sources.facets
    page = facets.history(dataset, kind=CHECK, at=at, limit=_RESULTS_READ)
    rows = [row for row in page.items if not row.deleted]
    bodies = _bodies(sources, rows)
    checks: defaultdict[str, list[Check]] = defaultdict(list)
    for row in rows:
        check = read_check(bodies[row.digest], row.at, row.job)
        checks[check.key].append(check)
    return checks


# --- runs and plans ------------------------------------------------------------------------------


def cut_bodies(bodies: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Facets of events for a page: None in place of the bodies that are cut, which are named."""
    cut = tuple(name for name, body in bodies.items() if is_cut(identity.spelled(body)))
    return {**bodies, **dict.fromkeys(cut)}, cut


# --- shared --------------------------------------------------------------------------------------


def _views(
    sources: Sources, rows: Sequence[FacetRow], *, whole: bool = False
) -> tuple[FacetView, ...]:
    texts = sources.facets.bodies({row.digest for row in rows if not row.deleted})
    jobs = job_references(sources, {row.job for row in rows})
    runs = {row.subject: row for row in sources.catalogue.runs.of_subjects(_subjects(rows))}
    return tuple(
        _facet_view(row, texts.get(row.digest, ""), jobs, runs, whole=whole) for row in rows
    )


def _bodies(sources: Sources, rows: Iterable[FacetRow]) -> dict[str, Mapping[str, Any]]:
    texts = sources.facets.bodies({row.digest for row in rows if not row.deleted})
    return {digest: json.loads(text) for digest, text in texts.items()}


def described_columns(facets: DatasetFacets) -> dict[str, ColumnDescription]:
    """By path the columns of a dataset with a description or a tag."""
    own = [view for view in facets.facets if view.kind == "dataset" and view.name in _OF_COLUMNS]
    return describe_columns(_in_force(own))


def _subjects(rows: Iterable[FacetRow]) -> set[str]:
    return {row.subject for row in rows}


def _facet_view(
    row: FacetRow,
    text: str,
    jobs: Mapping[str, JobReference],
    runs: Mapping[str, RunRow],
    *,
    whole: bool,
) -> FacetView:
    cut = not whole and is_cut(text)
    run = runs.get(row.subject)
    return FacetView(
        row.name,
        row.kind,
        iso(row.at),
        row.deleted,
        None if cut or not text else json.loads(text),
        cut,
        jobs.get(row.job),
        None if run is None else FacetRun(run.subject, run.run_id),
    )


def is_cut(text: str) -> bool:
    """Whether a page leaves out the body with this text."""
    return len(text) > LONGEST_BODY


def _in_force(views: Iterable[FacetView]) -> dict[str, Mapping[str, Any]]:
    return {view.name: view.body for view in views if isinstance(view.body, dict)}


def _shown(views: Iterable[FacetView]) -> tuple[FacetView, ...]:
    return tuple(view for view in views if not view.deleted)


def _newest_first(*listed: Sequence[FacetView]) -> tuple[FacetView, ...]:
    views = [view for views in listed for view in views]
    views.sort(key=lambda view: view.at, reverse=True)
    return tuple(views[:_HISTORY_SHOWN])


def _mark(quality: Quality, jobs: Mapping[str, JobReference]) -> QualityMark:
    return QualityMark(
        quality.state,
        tuple(_check_view(check, jobs) for check in quality.failed),
        quality.checks,
        quality.failures,
        quality.warnings,
        iso(quality.at),
    )


def _past_view(
    check: Check, jobs: Mapping[str, JobReference], past: Sequence[Check]
) -> PastCheckView:
    results = dict.fromkeys(
        CheckResult(iso(earlier.at), earlier.passed, earlier.fails) for earlier in past
    )
    own = _check_view(check, jobs)
    shown = tuple(results)[:_HISTORY_SHOWN]
    return PastCheckView(
        **{field.name: getattr(own, field.name) for field in fields(own)}, results=shown
    )


def _check_view(check: Check, jobs: Mapping[str, JobReference]) -> CheckView:
    return CheckView(
        check.assertion,
        check.column or None,
        check.passed,
        check.fails,
        check.severity or None,
        check.name or None,
        check.description or None,
        check.expected or None,
        check.actual or None,
        iso(check.at),
        jobs.get(check.job),
    )
