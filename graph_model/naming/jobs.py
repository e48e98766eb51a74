"""Job names: from labels, else from the application name by the platform's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graph_model.naming.rules import DEFAULT_RULES, Rules
from graph_model.regular_expressions import LONGEST_MATCHED, expand_groups, match_whole

_NAMES_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class JobName:
    """``shared``: the name of a generic shell, which runs unrelated programs of many users.

    It follows from ``name`` alone: namespace and name identify the job, and two documents must not
    disagree about one job, whatever gave them its name.
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
    """Namespace: from its label, otherwise the capture scope, otherwise ``default``. Name: from its
    label, otherwise the application name by the rules, otherwise ``unnamed``.
    """
    namespace = _label(labels, rules.namespace_label) or scope or rules.default_namespace
    name = _label(labels, rules.job_label) or _by_pattern((app_name or "").strip(), rules)
    name = name or rules.unnamed_job
    return JobName(namespace, name, len(name) <= LONGEST_MATCHED and _is_shared(name, rules))


def _label(labels: Mapping[str, Sequence[str]], key: str) -> str:
    """The first value that is not blank."""
    return next((text for value in labels.get(key, ()) if (text := value.strip())), "")


def _by_pattern(name: str, rules: Rules) -> str:
    return name if len(name) > LONGEST_MATCHED else _expanded(name, rules)


@lru_cache(maxsize=_NAMES_KEPT)
def _expanded(name: str, rules: Rules) -> str:
    for rule in rules.job_patterns:
        if found := match_whole(rule.pattern, name):
            return expand_groups(rule.name, found)
    return name


@lru_cache(maxsize=_NAMES_KEPT)
def _is_shared(name: str, rules: Rules) -> bool:
    """Whether a rule for shared names produces this name, or leaves it unchanged."""
    for rule in rules.job_patterns:
        if rule.shared and name == rule.name:
            return True
        found = match_whole(rule.pattern, name) if rule.shared else None
        if found and expand_groups(rule.name, found) == name:
            return True
    return False
