"""The checks that rules over custom run facets give, beside the standard ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph_model.batches import batched
from graph_model.facts import READER, DatasetRow
from graph_model.governance.quality_rules import QualityRule, expected_of, judge_facet
from graph_model.producers.openlineage.quality import Check, judge
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import RunFacet

MOST_DATASETS: Final = 5_000
"""Datasets that a preview looks at."""
_PAGE: Final = 200
_SHOWN: Final = 200
_LONGEST: Final = 500


def rule_checks(
    rules: Iterable[QualityRule], datasets: Collection[str], at: int | None, catalogue: Catalogue
) -> dict[str, list[Check]]:
    """Per dataset the checks, rule by rule, of the newest run of each logical plan that wrote
    it, and of the newest run that only read.
    """
    listed = tuple(rules)
    return _judged(
        listed, _reported_facets({rule.facet for rule in listed}, datasets, at, catalogue)
    )


@dataclass(frozen=True, slots=True)
class _ReportedFacets:
    """The facets of runs; ``bodies`` by digest."""

    facets: tuple[RunFacet, ...] = ()
    bodies: Mapping[str, Any] = field(default_factory=dict)


def _reported_facets(
    names: Collection[str], datasets: Collection[str], at: int | None, catalogue: Catalogue
) -> _ReportedFacets:
    """The facets of these names of the runs that wrote, or only read, last; without a name nothing
    is asked.
    """
    if not names:
        return _ReportedFacets()
    facets = (
        *catalogue.run_facets(datasets, names, at),
        *_of_readers(datasets, names, at, catalogue),
    )
    texts = catalogue.facets.bodies({one.digest for one in facets})
    return _ReportedFacets(facets, {digest: json.loads(text) for digest, text in texts.items()})


def _of_readers(
    datasets: Collection[str], names: Collection[str], at: int | None, catalogue: Catalogue
) -> Iterable[RunFacet]:
    """The newest facet of a run that only read a dataset, of any job."""
    return (
        RunFacet(row.entity, row.job, row.at, row.name, row.digest)
        for row in catalogue.facets.newest(datasets, READER, at)
        if row.name in names and not row.deleted
    )


def _judged(rules: Iterable[QualityRule], reported: _ReportedFacets) -> dict[str, list[Check]]:
    """Per dataset the verdicts of these rules; a facet without a rule gives none."""
    by_facet: dict[str, list[QualityRule]] = {}
    for rule in rules:
        by_facet.setdefault(rule.facet, []).append(rule)
    found: dict[str, list[Check]] = {}
    for one in reported.facets:
        for rule in by_facet.get(one.name, ()):
            check = _check(rule, one, reported.bodies.get(one.digest))
            if check is not None:
                found.setdefault(one.target, []).append(check)
    return found


def _check(rule: QualityRule, reported: RunFacet, body: Any) -> Check | None:
    verdict = judge_facet(rule, body)
    if verdict is None:
        return None
    return Check(
        reported.at, reported.job, "", rule.facet, verdict.passed,
        name=rule.name, description=rule.note,
        expected=expected_of(rule), actual=verdict.actual[:_LONGEST],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class QualityChange:
    """``before`` and ``after`` are passed, failed or None, of rules alone."""

    id: str
    uri: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class QualityPreview:
    """``items`` are the first of ``total`` changes; ``cut``: not every dataset was looked at."""

    items: tuple[QualityChange, ...]
    total: int
    datasets: int
    cut: bool


def preview_rules(
    before: Sequence[QualityRule],
    after: Sequence[QualityRule],
    datasets: Iterable[DatasetRow],
    catalogue: Catalogue,
    expired: Callable[[], bool],
) -> QualityPreview:
    """Which datasets other rules would judge otherwise."""
    changes: list[QualityChange] = []
    seen = 0
    cut = False
    for rows in batched(datasets, _PAGE):
        if seen >= MOST_DATASETS or expired():
            cut = True
            break
        seen += len(rows)
        changes += _changes(before, after, rows, catalogue)
    return QualityPreview(tuple(changes[:_SHOWN]), len(changes), seen, cut)


def _changes(
    before: Sequence[QualityRule],
    after: Sequence[QualityRule],
    rows: Sequence[DatasetRow],
    catalogue: Catalogue,
) -> list[QualityChange]:
    ids = [row.id for row in rows]
    reported = _reported_facets({rule.facet for rule in (*before, *after)}, ids, None, catalogue)
    was, will = (_judged(rules, reported) for rules in (before, after))
    found = []
    for row in rows:
        states = [_state(checks.get(row.id, ())) for checks in (was, will)]
        if states[0] != states[1]:
            found.append(QualityChange(row.id, row.uri, states[0], states[1]))
    return found


def _state(checks: Iterable[Check]) -> str | None:
    quality = judge(checks)
    return None if quality is None else quality.state
