r"""Rules that rename the datasets of OpenLineage events, as data.

    {"rules": [{"name": "Redshift as Airflow spells it",
                "places": ["inputs", "outputs"],
                "producer": ".*apache/airflow.*",
                "namespace": "postgres://(?P<cluster>[a-z0-9-]+)\\.internal:5439",
                "dataset": "(?P<rest>.*)",
                "to": {"namespace": "redshift://\\g<cluster>.eu-west-1:5439",
                       "dataset": "analytics.\\g<rest>"}}]}

A rule applies to a dataset when its patterns fit the whole namespace and the whole name; the first
that fits is used, once. It renames the dataset wherever the event names it: in the list itself and
in the facets below (column lineage, symlinks), but no job and no run. The client's names stay in
the facet ``headwater_rewritten`` of the renamed dataset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from graph_model.errors import ConfigurationError, InvalidDocument
from graph_model.regular_expressions import (
    check_expression,
    check_template,
    expand_groups,
    match_whole,
)

FACET: Final = "headwater_rewritten"
MOST_RULES: Final = 500
_ANYTHING: Final = ".*"
_PLACES: Final = ("inputs", "outputs", "dataset")
_FIELDS: Final = ("name", "places", "producer", "namespace", "dataset", "to")
_TARGETS: Final = ("namespace", "dataset")
_MOST_LEVELS: Final = 200
_GROUP: Final = re.compile(r"\(\?P?<(\w+)>")


@dataclass(frozen=True, slots=True)
class Rule:
    """``to_namespace`` and ``to_dataset`` are templates over the groups of both patterns."""

    name: str
    places: tuple[str, ...]
    producer: str
    namespace: str
    dataset: str
    to_namespace: str
    to_dataset: str


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups of two matches, each name in one of them."""

    found: Mapping[str, str | None]

    def __getitem__(self, name: str, /) -> str | None:
        return self.found.get(name)


Rules = Sequence[Rule]


# --- reading rules -------------------------------------------------------------------------------


def load_rules(place: str) -> Rules:
    """The rules of a file, or of an object ``s3://bucket/key``; none for "". Raises
    ConfigurationError.
    """
    if not place:
        return ()
    try:
        text = _fetched(place) if place.startswith("s3://") else Path(place).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"rewrite rules {place}: {error}") from error
    return parse_rules(text, place)


def _fetched(place: str) -> str:
    import boto3  # 0.2 s, for rules that lie there
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, key = place.removeprefix("s3://").partition("/")
    try:
        found = boto3.client("s3").get_object(Bucket=bucket, Key=key)
        text: str = found["Body"].read().decode("utf-8")
    except (BotoCoreError, ClientError) as error:
        raise ConfigurationError(f"rewrite rules {place}: {error}") from error
    return text


def parse_rules(text: str, where: str) -> Rules:
    """The rules of a JSON text. Raises ConfigurationError that names the rule and the field."""
    try:
        return read_rules(json.loads(text))
    except (ValueError, InvalidDocument) as error:
        raise ConfigurationError(f"rewrite rules {where}: {error}") from error


def read_rules(document: Any) -> Rules:
    """The rules of a document. Raises InvalidDocument."""
    rules = document.get("rules") if isinstance(document, Mapping) else None
    if not isinstance(rules, list) or set(document) != {"rules"} or len(rules) > MOST_RULES:
        raise InvalidDocument("", f'{{"rules": [at most {MOST_RULES} rules]}}')
    return tuple(_read_rule(rule, f"rules[{index}]") for index, rule in enumerate(rules))


def _read_rule(rule: Any, path: str) -> Rule:
    if not isinstance(rule, Mapping):
        raise InvalidDocument(path, "an object")
    _refuse_others(rule, _FIELDS, path)
    to = rule.get("to")
    if not isinstance(to, Mapping) or not to:
        raise InvalidDocument(f"{path}.to", "an object with namespace, dataset or both")
    _refuse_others(to, _TARGETS, f"{path}.to")
    namespace, dataset = (_pattern(rule, name, path) for name in _TARGETS)
    if set(_GROUP.findall(namespace)) & set(_GROUP.findall(dataset)):
        raise InvalidDocument(f"{path}.dataset", "other names of groups than those of namespace")
    both = f"(?:{namespace})(?:{dataset})"
    return Rule(
        _text(rule, "name", path, ""),
        _places(rule, path),
        _pattern(rule, "producer", path),
        namespace,
        dataset,
        _template(to, "namespace", both, path),
        _template(to, "dataset", both, path),
    )


def _refuse_others(found: Mapping[str, Any], known: Sequence[str], path: str) -> None:
    for name in found:
        if name not in known:
            raise InvalidDocument(f"{path}.{name}"[:200], f"one of {', '.join(known)}")


def _text(found: Mapping[str, Any], name: str, path: str, default: str) -> str:
    value = found.get(name, default)
    if not isinstance(value, str):
        raise InvalidDocument(f"{path}.{name}", "a text")
    return value


def _pattern(rule: Mapping[str, Any], name: str, path: str) -> str:
    pattern = _text(rule, name, path, _ANYTHING)
    check_expression(pattern, f"{path}.{name}")
    return pattern


def _template(to: Mapping[str, Any], name: str, pattern: str, path: str) -> str:
    template = _text(to, name, f"{path}.to", "")
    check_template(template, pattern, f"{path}.to.{name}")
    return template


def _places(rule: Mapping[str, Any], path: str) -> tuple[str, ...]:
    places = rule.get("places", list(_PLACES))
    if not isinstance(places, list) or not places or not set(map(str, places)) <= set(_PLACES):
        raise InvalidDocument(f"{path}.places", f"a list of {', '.join(_PLACES)}")
    return tuple(places)


# --- applying them (pure) ------------------------------------------------------------------------


def rewrite(event: Any, rules: Rules) -> Any:
    """The event with its datasets renamed; the same value where no rule applies.

    An event that is none is returned as it is: the check that follows names its fault.
    """
    if not rules or not isinstance(event, Mapping):
        return event
    producer = event.get("producer")
    name = producer if isinstance(producer, str) else ""
    fitting = [rule for rule in rules if match_whole(rule.producer, name) is not None]
    changed = {
        place: _renamed(event[place], [rule for rule in fitting if place in rule.places])
        for place in _PLACES
        if place in event
    }
    if all(changed[place] is event[place] for place in changed):
        return event
    return {**event, **changed}


def _renamed(found: Any, rules: Rules) -> Any:
    if not rules:
        return found
    if not isinstance(found, list):
        return _dataset(found, rules)
    changed = [_dataset(one, rules) for one in found]
    if all(new is old for new, old in zip(changed, found, strict=True)):
        return found
    return changed


def _dataset(found: Any, rules: Rules) -> Any:
    """A dataset with its facets; a note of its own name if that has changed."""
    changed = _walk(found, rules, 0)
    if changed is found or not isinstance(found, Mapping) or not isinstance(changed, dict):
        return changed
    before = {name: found.get(name) for name in ("namespace", "name")}
    if all(changed.get(name) == value for name, value in before.items()):
        return changed
    facets = changed.get("facets")
    if facets is None or isinstance(facets, Mapping):
        changed["facets"] = {**(facets or {}), FACET: before}
    return changed


def _walk(found: Any, rules: Rules, level: int) -> Any:
    """Every object below that names a dataset. Too deep nesting is refused later."""
    if level > _MOST_LEVELS:
        return found
    if isinstance(found, list):
        changed = [_walk(one, rules, level + 1) for one in found]
        same = all(new is old for new, old in zip(changed, found, strict=True))
        return found if same else changed
    if not isinstance(found, Mapping):
        return found
    inside = {name: _walk(value, rules, level + 1) for name, value in found.items()}
    names = _new_names(found, rules)
    if not names and all(inside[name] is found[name] for name in found):
        return found
    return {**inside, **names}


def _new_names(found: Mapping[str, Any], rules: Rules) -> dict[str, str]:
    namespace, name = found.get("namespace"), found.get("name")
    if not isinstance(namespace, str) or not isinstance(name, str):
        return {}
    for rule in rules:
        first, second = match_whole(rule.namespace, namespace), match_whole(rule.dataset, name)
        if first is None or second is None:
            continue
        groups = _Groups({**_named(first), **_named(second)})
        return {
            "namespace": expand_groups(rule.to_namespace, groups) or namespace,
            "name": expand_groups(rule.to_dataset, groups) or name,
        }
    return {}


def _named(match: Any) -> dict[str, str | None]:
    named: dict[str, str | None] = match.groupdict()
    return named
