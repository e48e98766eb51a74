"""What facets say of jobs and datasets at a time: owners, code, versions, quality.

The newest facet of a name is in force, and the newest of each check, whatever job made it. The
shapes are pure (``openlineage.descriptions``, ``openlineage.quality``); this module asks the
catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from graph_model.facts import FacetRow, RunRow
from graph_model.governance.quality_rules import QualityRule
from graph_model.openlineage.descriptions import (
    ColumnDescription,
    DatasetDescription,
    JobDescription,
    describe_columns,
    describe_dataset,
    describe_job,
)
from graph_model.openlineage.quality import Check, Quality, State, judge, read_check
from graph_model.rule_checks import rule_checks
from graph_model.store import Catalogue, Page
from graph_model.view import CheckView, JobReference, QualityMark, iso, job_reference

#: A facet's body of more characters is left out of pages; its history gives it whole.
LONGEST_BODY: Final = 200_000
_HISTORY_SHOWN: Final = 20
_DATASET_KINDS: Final = ("dataset", "input", "output")
_METRICS: Final = "dataQualityMetrics"
_OF_COLUMNS: Final = ("schema", "tags")
#: (kind, name) of the facets whose past a dataset's page shows.
_HISTORIES: Final = (
    ("dataset", "version"), ("dataset", "lifecycleStateChange"), ("output", "outputStatistics"),
    ("dataset", _METRICS), ("input", _METRICS),
)  # fmt: skip


class FacetKind(StrEnum):
    """What a facet is of: inputs and outputs are datasets as one run used them."""

    DATASET = "dataset"
    INPUT = "input"
    OUTPUT = "output"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class RunReference:
    """``id`` is the opaque id of the run's events, ``run_id`` the client's own."""

    id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class FacetView:
    """A facet as it came. ``body`` None where it was deleted or is ``cut``, too long for a page."""

    name: str
    kind: str
    at: str
    deleted: bool
    body: Any
    cut: bool
    job: JobReference | None
    run: RunReference | None


@dataclass(frozen=True, slots=True)
class JobAbout:
    """``described`` is what is understood of ``facets``; ``facets`` are all of them."""

    described: JobDescription
    facets: tuple[FacetView, ...]


@dataclass(frozen=True, slots=True)
class QualityPage:
    """The checks of a dataset in force: what failed first, then what warns, then what passed."""

    state: State
    at: str
    checks: tuple[CheckView, ...]


@dataclass(frozen=True, slots=True)
class DatasetAbout:
    """``versions``, ``lifecycle``, ``statistics`` and ``metrics`` are the newest 20, newest first;
    ``facets`` those in force.
    """

    described: DatasetDescription
    quality: QualityPage | None
    versions: tuple[FacetView, ...]
    lifecycle: tuple[FacetView, ...]
    statistics: tuple[FacetView, ...]
    metrics: tuple[FacetView, ...]
    facets: tuple[FacetView, ...]


class About:
    """Asks one catalogue; ``rules`` read custom run facets as checks."""

    def __init__(self, catalogue: Catalogue, rules: Sequence[QualityRule] = ()) -> None:
        self._catalogue = catalogue
        self._rules = rules

    # --- jobs and datasets

    def job(self, job: str, at: int | None) -> JobAbout:
        """What clients tell of a job (an id)."""
        views = self._views(self._catalogue.facets.newest((job,), "job", at))
        return JobAbout(describe_job(_in_force(views)), _shown(views))

    def dataset(self, dataset: str, at: int | None) -> DatasetAbout:
        """What clients tell of a dataset (an id)."""
        facets = self._catalogue.facets
        force = [row for kind in _DATASET_KINDS for row in facets.newest((dataset,), kind, at)]
        recent = {
            (kind, name): facets.recent(dataset, kind, name, at, _HISTORY_SHOWN)
            for kind, name in _HISTORIES
        }
        listed = dict.fromkeys((*force, *(row for rows in recent.values() for row in rows)))
        views = dict(zip(listed, self._views(list(listed)), strict=True))
        told = [views[row] for row in force]
        past = {key: [views[row] for row in rows] for key, rows in recent.items()}
        return DatasetAbout(
            describe_dataset(_in_force([view for view in told if view.kind == "dataset"])),
            self._quality_page(dataset, at),
            tuple(past["dataset", "version"]),
            tuple(past["dataset", "lifecycleStateChange"]),
            tuple(past["output", "outputStatistics"]),
            _newest_first(past["dataset", _METRICS], past["input", _METRICS]),
            _shown(told),
        )

    def history(
        self,
        entity: str,
        *,
        name: str | None,
        kind: str | None,
        at: int | None,
        limit: int,
        cursor: str | None,
    ) -> Page[FacetView]:
        """The facets of a dataset, job or plan over time, newest first, with whole bodies."""
        page = self._catalogue.facets.history(
            entity, kind=kind, name=name, at=at, limit=limit, cursor=cursor
        )
        return Page(self._views(page.rows, whole=True), page.total, page.next)

    # --- quality

    def quality(self, datasets: Collection[str], at: int | None) -> dict[str, QualityMark]:
        """Per dataset that was checked: passed or failed, with what failed."""
        judged = {dataset: judge(found) for dataset, found in self._checks(datasets, at).items()}
        marks = {dataset: quality for dataset, quality in judged.items() if quality is not None}
        jobs = self._jobs({check.job for quality in marks.values() for check in quality.failed})
        return {dataset: _mark(quality, jobs) for dataset, quality in marks.items()}

    def _checks(self, datasets: Collection[str], at: int | None) -> dict[str, list[Check]]:
        """Every check in force: the newest of each, whatever job told it."""
        rows = self._catalogue.facets.checks(datasets, at)
        bodies = self._bodies(rows)
        found: dict[str, list[Check]] = {}
        for row in rows:
            check = read_check(bodies[row.digest], row.at, row.job)
            found.setdefault(row.entity, []).append(check)
        for dataset, checks_of in rule_checks(self._rules, datasets, at, self._catalogue).items():
            found.setdefault(dataset, []).extend(checks_of)
        return found

    def _quality_page(self, dataset: str, at: int | None) -> QualityPage | None:
        checks = sorted(set(self._checks((dataset,), at).get(dataset, ())))
        quality = judge(checks)
        if quality is None:
            return None
        checks.sort(key=lambda check: (check.passed, check.warns, -check.at, check))
        jobs = self._jobs({check.job for check in checks})
        views = tuple(_check_view(check, jobs) for check in checks)
        return QualityPage(quality.state, iso(quality.at) or "", views)

    # --- shared

    def _views(self, rows: Sequence[FacetRow], *, whole: bool = False) -> tuple[FacetView, ...]:
        texts = self._catalogue.facets.bodies({row.digest for row in rows if not row.deleted})
        jobs = self._jobs({row.job for row in rows})
        runs = {row.subject: row for row in self._catalogue.runs.of_subjects(_subjects(rows))}
        return tuple(
            _facet_view(row, texts.get(row.digest, ""), jobs, runs, whole=whole) for row in rows
        )

    def _bodies(self, rows: Iterable[FacetRow]) -> dict[str, Mapping[str, Any]]:
        texts = self._catalogue.facets.bodies({row.digest for row in rows if not row.deleted})
        return {digest: json.loads(text) for digest, text in texts.items()}

    def _jobs(self, ids: Collection[str]) -> dict[str, JobReference]:
        rows = self._catalogue.jobs([key for key in ids if key])
        return {row.id: job_reference(row) for row in rows}


def described_columns(about: DatasetAbout) -> dict[str, ColumnDescription]:
    """By path the columns of a dataset that have a description or a tag."""
    told = [view for view in about.facets if view.kind == "dataset" and view.name in _OF_COLUMNS]
    return describe_columns(_in_force(told))


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
    cut = not whole and len(text) > LONGEST_BODY
    run = runs.get(row.subject)
    return FacetView(
        row.name,
        row.kind,
        iso(row.at) or "",
        row.deleted,
        None if cut or not text else json.loads(text),
        cut,
        jobs.get(row.job),
        None if run is None else RunReference(run.subject, run.run_id),
    )


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
        iso(quality.at) or "",
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
        iso(check.at) or "",
        jobs.get(check.job),
    )
