"""Literals that differ in every run, removed before plans are compared."""

from __future__ import annotations

import re
from functools import lru_cache

from graph_model.naming.rules import DEFAULT_RULES, Rules

_LONGEST_LITERAL = 64  # characters: no date, timestamp or UUID is longer


def stable_text(text: str, rules: Rules = DEFAULT_RULES) -> str:
    """A Spark text without the parts that differ between runs of one logic.

    ``(salary#302L > 5)`` => ``(salary > 5)``; creation times, plan and RDD numbers, object hashes
    and table statistics are removed too. For fingerprints and comparison, never for display of
    data.
    """
    for pattern, replacement, signs in _volatile(rules):
        if any(sign in text for sign in signs):
            text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=32)
def _volatile(rules: Rules) -> tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...]:
    """Patterns, the replacement for a match, and texts of which every match contains one.

    Searching those texts costs a fraction of the pattern.
    """
    patterns = [re.compile(text) for text in rules.volatile_texts]
    return tuple(
        (pattern, r"\g<keep>" if "keep" in pattern.groupindex else "", signs)
        for pattern, signs in zip(patterns, rules.volatile_signs, strict=True)
    )


def mask_literal(
    value: object, data_type: str | None = None, rules: Rules = DEFAULT_RULES
) -> object:
    """A date, timestamp or UUID literal replaced by its kind, so that daily runs share a
    fingerprint.

    A text must match a listed pattern completely. With ``data_type`` (Spark's simpleString) every
    value of a temporal type counts: Spline writes a date as days since 1970. Other values are
    unchanged.
    """
    if value is not None and data_type and (sign := _temporal(rules).get(data_type)):
        return sign
    if isinstance(value, str):
        if len(value) > _LONGEST_LITERAL:
            return value
        return next((sign for pattern, sign in _literals(rules) if pattern.fullmatch(value)), value)
    return value


@lru_cache(maxsize=32)
def _temporal(rules: Rules) -> dict[str, str]:
    return dict(rules.temporal_types)


@lru_cache(maxsize=32)
def _literals(rules: Rules) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), sign) for pattern, sign in rules.literal_patterns)
