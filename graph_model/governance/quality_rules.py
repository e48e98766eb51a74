"""Rules that read a custom run facet as a passed or failed check of the run's outputs.

    {"facet": "acme_checks", "path": "result.status", "passes": ["ok", true], "note": ""}

A run whose facet has a value at the path passes if it is one of ``passes`` and fails with any
other; a run without the facet, or without a value there, gives no verdict.

The checks that the rules give stand beside the standard ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.facts import READER, DatasetRow
from graph_model.governance.fields import check_fields, check_name, read_note
from graph_model.producers.openlineage.quality import Check, judge
from graph_model.stores.catalogue import Catalogue, FacetRecords
from graph_model.stores.catalogue_values import RunFacet
from graph_model.values import batched

MOST_RULES: Final = 100
_MOST_PASSES: Final = 50
_LONGEST: Final = 200
_FIELDS: Final = frozenset({"facet", "path", "passes", "note"})

Scalar = str | bool | int | float | None
MOST_DATASETS: Final = 5_000
"""Datasets that a preview looks at."""
_PAGE: Final = 200
_SHOWN: Final = 200
_MOST_QUOTED: Final = 500


@dataclass(frozen=True, slots=True, order=True)
class QualityRule:
    """``passes`` are JSON texts of scalars; ``path`` steps through objects and lists by dots."""

    name: str
    facet: str
    path: str
    passes: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``actual`` is the facet's value."""

    passed: bool
    actual: str


def judge_facet(rule: QualityRule, body: Any) -> Verdict | None:
    """The verdict of a rule on a facet; None without a value.

    ``result.0.status`` in ``{"result": [{"status": "ok"}]}`` => ``"ok"``.
    """
    value = body
    for step in rule.path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and len(step) < 7:
            if int(step) >= len(value):
                return None
            value = value[int(step)]
        else:
            return None
    if isinstance(value, Mapping | list) or value is None:
        return None
    text = _spelled(value)
    return Verdict(text in rule.passes, str(value) if isinstance(value, str) else text)


def _spelled(value: Scalar) -> str:
    """``1.0`` and ``1`` are one number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return json.dumps(value, ensure_ascii=False)


def expected_of(rule: QualityRule) -> str:
    """For a person: ``ok or true``."""
    values = (json.loads(text) for text in rule.passes)
    return " or ".join(value if isinstance(value, str) else json.dumps(value) for value in values)


def read_quality_rule(name: str, value: Mapping[str, Any]) -> QualityRule:
    """A rule from its document; raises InvalidDocument naming the field."""
    check_name(name)
    check_fields(value, _FIELDS)
    note = read_note(value.get("note", ""))
    return QualityRule(
        name,
        _text(value, "facet"),
        _text(value, "path"),
        _read_passes(value.get("passes")),
        note,
    )


def write_quality_rule(rule: QualityRule) -> dict[str, Any]:
    """The document of a rule, without its name; ``read_quality_rule`` reads it back."""
    passes = [json.loads(text) for text in rule.passes]
    return {"facet": rule.facet, "path": rule.path, "passes": passes, "note": rule.note}


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        raise InvalidDocument(name, f"a text of 1 to {_LONGEST} characters")
    return text


def _read_passes(listed: Any) -> tuple[str, ...]:
    expected = f"a list of 1 to {_MOST_PASSES} texts, numbers, true or false"
    if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST_PASSES:
        raise InvalidDocument("passes", expected)
    return tuple(sorted({_passing(value, expected) for value in listed}))


def _passing(value: Any, expected: str) -> str:
    if not isinstance(value, str | bool | int | float) or value != value:
        raise InvalidDocument("passes", expected)
    if isinstance(value, str) and len(value) > _LONGEST:
        raise InvalidDocument("passes", f"texts of up to {_LONGEST} characters")
    return _spelled(value)


def with_rule(rules: Iterable[QualityRule], rule: QualityRule) -> tuple[QualityRule, ...]:
    """The same with this rule in the place of the one of its name."""
    return tuple(sorted((*without_rule(rules, rule.name), rule)))


def without_rule(rules: Iterable[QualityRule], name: str) -> tuple[QualityRule, ...]:
    return tuple(rule for rule in rules if rule.name != name)


def rule_checks(
    rules: Iterable[QualityRule],
    datasets: Collection[str],
    at: int | None,
    catalogue: Catalogue,
    hidden: Collection[str],
) -> dict[str, list[Check]]:
    """Per dataset the checks, rule by rule, of the newest run of each logical plan that wrote
    it, and of the newest run that only read; without those of ``hidden`` jobs (ids).
    """
    listed = tuple(rules)
    names = {rule.facet for rule in listed}
    return _judged(listed, _reported_facets(names, datasets, at, catalogue, hidden))


@dataclass(frozen=True, slots=True)
class _ReportedFacets:
    """The facets of runs; ``bodies`` by digest."""

    facets: tuple[RunFacet, ...] = ()
    bodies: Mapping[str, Any] = field(default_factory=dict)


def _reported_facets(
    names: Collection[str],
    datasets: Collection[str],
    at: int | None,
    catalogue: Catalogue,
    hidden: Collection[str] = (),
) -> _ReportedFacets:
    """The facets of these names of the runs that wrote, or only read, last; without a name nothing
    is asked.
    """
    if not names:
        return _ReportedFacets()
    written = catalogue.run_facets(datasets, names, at)
    read = _of_readers(datasets, names, at, catalogue.facets.without(hidden))
    facets = (*(facet for facet in written if facet.job not in hidden), *read)
    texts = catalogue.facets.bodies({facet.digest for facet in facets})
    return _ReportedFacets(facets, {digest: json.loads(text) for digest, text in texts.items()})


def _of_readers(
    datasets: Collection[str], names: Collection[str], at: int | None, facets: FacetRecords
) -> Iterable[RunFacet]:
    """The newest facet of a run that only read a dataset, of any job."""
    return (
        RunFacet(row.entity, row.job, row.at, row.name, row.digest)
        for row in facets.newest(datasets, READER, at)
        if row.name in names and not row.deleted
    )


def _judged(rules: Iterable[QualityRule], reported: _ReportedFacets) -> dict[str, list[Check]]:
    """Per dataset the verdicts of these rules; a facet without a rule gives none."""
    by_facet: dict[str, list[QualityRule]] = {}
    for rule in rules:
        by_facet.setdefault(rule.facet, []).append(rule)
    verdicts: dict[str, list[Check]] = {}
    for facet in reported.facets:
        for rule in by_facet.get(facet.name, ()):
            check = _check(rule, facet, reported.bodies.get(facet.digest))
            if check is not None:
                verdicts.setdefault(facet.target, []).append(check)
    return verdicts


def _check(rule: QualityRule, reported: RunFacet, body: Any) -> Check | None:
    verdict = judge_facet(rule, body)
    if verdict is None:
        return None
    return Check(
        reported.at, reported.job, "", rule.facet, verdict.passed,
        name=rule.name, description=rule.note,
        expected=expected_of(rule), actual=verdict.actual[:_MOST_QUOTED],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DatasetChange:
    """What other statements would change of a dataset: its layer; passed, failed or None, of rules
    of quality alone.
    """

    id: str
    uri: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class QualityPreview:
    """``items`` are the first of ``total`` changes; ``cut``: not every dataset was looked at."""

    items: tuple[DatasetChange, ...]
    total: int
    datasets: int
    cut: bool


def preview_quality_rules(
    before: Sequence[QualityRule],
    after: Sequence[QualityRule],
    datasets: Iterable[DatasetRow],
    catalogue: Catalogue,
    expired: Callable[[], bool],
) -> QualityPreview:
    """Which datasets other rules would judge otherwise."""
    changes: list[DatasetChange] = []
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
) -> list[DatasetChange]:
    ids = [row.id for row in rows]
    reported = _reported_facets({rule.facet for rule in (*before, *after)}, ids, None, catalogue)
    was, will = (_judged(rules, reported) for rules in (before, after))
    changes = []
    for row in rows:
        states = [_state(checks.get(row.id, ())) for checks in (was, will)]
        if states[0] != states[1]:
            changes.append(DatasetChange(row.id, row.uri, states[0], states[1]))
    return changes


def _state(checks: Iterable[Check]) -> str | None:
    quality = judge(checks)
    return None if quality is None else quality.state
