"""Text that says something else on every run, taken out before plans are compared."""

from __future__ import annotations

import re
from functools import lru_cache

from graph_model.naming.patterns import telling_texts
from graph_model.naming.rules import DEFAULT_RULES, Rules

_LONGEST_LITERAL = 64  # characters: no date, timestamp or UUID is longer


def stable_text(text: str, rules: Rules = DEFAULT_RULES) -> str:
    """A Spark text without what differs between runs of one logic.

    ``(salary#302L > 5)`` => ``(salary > 5)``; creation times, plan and RDD numbers, object hashes
    and table statistics go, too. For fingerprints and comparison, never for display of data.
    """
    for pattern, replacement, telling in _volatile(rules):
        for one in telling:
            if one in text:
                text = pattern.sub(replacement, text)
                break
    return text


@lru_cache(maxsize=32)
def _volatile(rules: Rules) -> tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...]:
    """Patterns, what takes the place of a match, and texts of which every match has one."""
    patterns = [re.compile(text) for text in rules.volatile_texts]
    return tuple(
        (
            pattern,
            r"\g<keep>" if "keep" in pattern.groupindex else "",
            telling_texts(pattern.pattern) or ("",),
        )
        for pattern in patterns
    )


def mask_literal(
    value: object, data_type: str | None = None, rules: Rules = DEFAULT_RULES
) -> object:
    """A date, timestamp or UUID literal as its kind, so that daily runs share a fingerprint.

    Texts must match a listed pattern whole. With ``data_type`` (Spark's simpleString) every value
    of a temporal type counts: Spline writes a date as days since 1970. All else is unchanged.
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
