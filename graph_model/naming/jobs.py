"""What a job is called: its labels first, then its application name by the platform's rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graph_model.naming.patterns import LONGEST_MATCHED
from graph_model.naming.rules import DEFAULT_RULES, JobPattern, Rules

_NAMES_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class JobName:
    """``shared``: a generic shell's name, under which many people run unrelated things.

    It follows from ``name`` alone: namespace and name identify the job, and two documents must
    not say different things of one job, whichever way each of them came to the name.
    """

    namespace: str
    name: str
    shared: bool


def job_name(
    labels: Mapping[str, Sequence[str]],
    app_name: str | None,
    scope: str,
    rules: Rules = DEFAULT_RULES,
) -> JobName:
    """Namespace: its label, else the capture scope, else ``default``. Name: its label, else the
    application name by the rules, else ``unnamed``.
    """
    namespace = _label(labels, rules.namespace_label) or scope or rules.default_namespace
    name = _label(labels, rules.job_label) or _by_pattern((app_name or "").strip(), rules)
    name = name or rules.unnamed_job
    return JobName(namespace, name, len(name) <= LONGEST_MATCHED and _is_shared(name, rules))


def _label(labels: Mapping[str, Sequence[str]], key: str) -> str:
    """The first value with something in it."""
    return next((text for value in labels.get(key, ()) if (text := value.strip())), "")


def _by_pattern(name: str, rules: Rules) -> str:
    return name if len(name) > LONGEST_MATCHED else _expanded(name, rules)


@lru_cache(maxsize=_NAMES_KEPT)
def _expanded(name: str, rules: Rules) -> str:
    for pattern, rule in _patterns(rules):
        if found := pattern.fullmatch(name):
            return found.expand(rule.name)
    return name


@lru_cache(maxsize=_NAMES_KEPT)
def _is_shared(name: str, rules: Rules) -> bool:
    """Whether a rule for shared names gives this name, or leaves it as it is."""
    for pattern, rule in _patterns(rules):
        if rule.shared and name == rule.name:
            return True
        if rule.shared and (found := pattern.fullmatch(name)) and found.expand(rule.name) == name:
            return True
    return False


@lru_cache(maxsize=32)
def _patterns(rules: Rules) -> tuple[tuple[re.Pattern[str], JobPattern], ...]:
    return tuple((re.compile(rule.pattern, re.DOTALL), rule) for rule in rules.job_patterns)
