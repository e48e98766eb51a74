"""Rules that read a custom run facet as a passed or failed check of the run's outputs.

    {"facet": "acme_checks", "path": "result.status", "passes": ["ok", true], "note": ""}

A run whose facet has a value at the path passes if it is one of ``passes`` and fails with any
other; a run without the facet, or without a value there, gives no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.governance.fields import check_fields, check_name, read_note

MOST_RULES: Final = 100
_MOST_PASSES: Final = 50
_LONGEST: Final = 200
_FIELDS: Final = frozenset({"facet", "path", "passes", "note"})

Scalar = str | bool | int | float | None


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
    return " or ".join(one if isinstance(one, str) else json.dumps(one) for one in values)


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
    return tuple(one for one in rules if one.name != name)
