r"""Rules that rename the datasets of OpenLineage events, or hold something back, as data.

    {"rules": [{"name": "Redshift as Airflow spells it",
                "places": ["inputs", "outputs"],
                "producer": ".*apache/airflow.*",
                "namespace": "postgres://(?P<cluster>[a-z0-9-]+)\\.internal:5439",
                "dataset": "(?P<rest>.*)",
                "to": {"namespace": "redshift://\\g<cluster>.eu-west-1:5439",
                       "dataset": "analytics.\\g<rest>"}},
               {"name": "not theirs", "namespace": "file", "drop": "dataset"},
               {"name": "no tests", "places": ["job"], "dataset": "test_.*", "drop": "event"},
               {"name": "one run of ten", "places": ["job"], "dataset": "poll_.*", "sample": 0.1},
               {"name": "no text", "places": ["job"], "mask": ["sql", "sourceCode"]}]}

A rule applies to a dataset when its patterns fit the whole namespace and the whole name; the first
that fits is used, once. Each has one of four effects:

- ``to`` renames the dataset wherever the event names it: in the list itself and in the facets below
  (column lineage, symlinks), but no job and no run. The client's names stay in the facet
  ``headwater_rewritten`` of the renamed dataset.
- ``drop``: "dataset" leaves it out wherever the event names it, "event" the whole event.
- ``sample`` keeps this share of the runs whose events name it, all events of a run or none.
- ``mask`` leaves out these facets of it; with those of a job go those of its run.

The last three also apply to the job (place ``job``, by its namespace and name), and only where
documents are sent on: into the journal everything goes.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
_JOB: Final = "job"
_FIELDS: Final = ("name", "places", "producer", "namespace", "dataset", "to")
_HOLDING_BACK: Final = ("drop", "sample", "mask")
_DROPPED: Final = ("dataset", "event")
_MOST_FACETS: Final = 100
_TARGETS: Final = ("namespace", "dataset")
_MOST_LEVELS: Final = 200
_GROUP: Final = re.compile(r"\(\?P?<(\w+)>")


@dataclass(frozen=True, slots=True)
class Rule:
    """``to_namespace`` and ``to_dataset`` are templates over the groups of both patterns; without
    them the rule holds back: ``drop`` is "dataset", "event" or "", ``mask`` names facets.
    """

    name: str
    places: tuple[str, ...]
    producer: str
    namespace: str
    dataset: str
    to_namespace: str = ""
    to_dataset: str = ""
    drop: str = ""
    sample: float = 1.0
    mask: tuple[str, ...] = ()

    @property
    def renames(self) -> bool:
        return bool(self.to_namespace or self.to_dataset)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups of two matches, each name in one of them."""

    found: Mapping[str, str | None]

    def __getitem__(self, name: str, /) -> str | None:
        return self.found.get(name)


Rules = Sequence[Rule]


# --- reading rules -------------------------------------------------------------------------------


def load_rules(place: str) -> Rules:
    """The rules of a file, or of an object ``s3://bucket/key``, which only rename; none for "".
    Raises ConfigurationError.
    """
    return parse_rules(read_text(place), place) if place else ()


def read_text(place: str) -> str:
    """The text of a file, or of an object ``s3://bucket/key``. Raises ConfigurationError."""
    try:
        text = _fetched(place) if place.startswith("s3://") else Path(place).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"rewrite rules {place}: {error}") from error
    return text


def _fetched(place: str) -> str:
    import boto3  # 0.2 s, for rules that lie there
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, key = place.removeprefix("s3://").partition("/")
    try:
        stored = boto3.client("s3").get_object(Bucket=bucket, Key=key)
        text: str = stored["Body"].read().decode("utf-8")
    except (BotoCoreError, ClientError) as error:
        raise ConfigurationError(f"rewrite rules {place}: {error}") from error
    return text


def parse_rules(text: str, where: str, *, holding_back: bool = False) -> Rules:
    """The rules of a JSON text; see ``read_rules``. Raises ConfigurationError that names the rule
    and the field.
    """
    try:
        return read_rules(json.loads(text), holding_back=holding_back)
    except (ValueError, InvalidDocument) as error:
        raise ConfigurationError(f"rewrite rules {where}: {error}") from error


def read_rules(document: Any, *, holding_back: bool = False) -> Rules:
    """The rules of a document; ``holding_back``: they may also drop, sample and mask. Raises
    InvalidDocument.
    """
    rules = document.get("rules") if isinstance(document, Mapping) else None
    if not isinstance(rules, list) or set(document) != {"rules"} or len(rules) > MOST_RULES:
        raise InvalidDocument("", f'{{"rules": [at most {MOST_RULES} rules]}}')
    read = _read_rule if holding_back else _read_renaming
    return tuple(read(rule, f"rules[{index}]") for index, rule in enumerate(rules))


def _read_renaming(rule: Any, path: str) -> Rule:
    if not isinstance(rule, Mapping):
        raise InvalidDocument(path, "an object")
    _refuse_others(rule, _FIELDS, path)
    to = rule.get("to")
    if not isinstance(to, Mapping) or not to:
        raise InvalidDocument(f"{path}.to", "an object with namespace, dataset or both")
    _refuse_others(to, _TARGETS, f"{path}.to")
    read = _read_patterns(rule, path, _PLACES)
    both = f"(?:{read.namespace})(?:{read.dataset})"
    return replace(
        read,
        to_namespace=_template(to, "namespace", both, path),
        to_dataset=_template(to, "dataset", both, path),
    )


def _read_rule(rule: Any, path: str) -> Rule:
    """A rule with any one of the effects."""
    if not isinstance(rule, Mapping) or "to" in rule:
        return _read_renaming(rule, path)
    _refuse_others(rule, (*_FIELDS, *_HOLDING_BACK), path)
    effects = [name for name in _HOLDING_BACK if name in rule]
    if len(effects) != 1:
        raise InvalidDocument(path, f"one of to, {', '.join(_HOLDING_BACK)}")
    read = _read_patterns(rule, path, (*_PLACES, _JOB))
    if "drop" in rule:
        return replace(read, drop=_read_drop(rule, read.places, path))
    if "sample" in rule:
        return replace(read, sample=_read_sample(rule, path))
    return replace(read, mask=_read_mask(rule, path))


def _read_patterns(rule: Mapping[str, Any], path: str, places: Sequence[str]) -> Rule:
    namespace, dataset = (_pattern(rule, name, path) for name in _TARGETS)
    if set(_GROUP.findall(namespace)) & set(_GROUP.findall(dataset)):
        raise InvalidDocument(f"{path}.dataset", "other names of groups than those of namespace")
    name, producer = _text(rule, "name", path, ""), _pattern(rule, "producer", path)
    return Rule(name, _places(rule, path, places), producer, namespace, dataset)


def _read_drop(rule: Mapping[str, Any], places: Sequence[str], path: str) -> str:
    drop = rule["drop"]
    if drop not in _DROPPED:
        raise InvalidDocument(f"{path}.drop", " or ".join(_DROPPED))
    if drop != "event" and _JOB in places:
        raise InvalidDocument(f"{path}.drop", "event, for an event without its job is none")
    return str(drop)


def _read_sample(rule: Mapping[str, Any], path: str) -> float:
    share = rule["sample"]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InvalidDocument(f"{path}.sample", "a share of the runs, 0 to 1")
    return float(share)


def _read_mask(rule: Mapping[str, Any], path: str) -> tuple[str, ...]:
    names = rule["mask"]
    if not isinstance(names, list) or not 0 < len(names) <= _MOST_FACETS:
        raise InvalidDocument(f"{path}.mask", f"a list of 1 to {_MOST_FACETS} names of facets")
    if not all(isinstance(name, str) and name for name in names):
        raise InvalidDocument(f"{path}.mask", "names of facets")
    return tuple(names)


def _refuse_others(fields: Mapping[str, Any], known: Sequence[str], path: str) -> None:
    for name in fields:
        if name not in known:
            raise InvalidDocument(f"{path}.{name}"[:200], f"one of {', '.join(known)}")


def _text(fields: Mapping[str, Any], name: str, path: str, default: str) -> str:
    value = fields.get(name, default)
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


def _places(rule: Mapping[str, Any], path: str, known: Sequence[str]) -> tuple[str, ...]:
    places = rule.get("places", list(_PLACES))
    if not isinstance(places, list) or not places or not set(map(str, places)) <= set(known):
        raise InvalidDocument(f"{path}.places", f"a list of {', '.join(known)}")
    return tuple(places)


# --- applying them (pure) ------------------------------------------------------------------------


def rewrite(event: Any, rules: Rules) -> Any:
    """The event with its datasets renamed; the same value where no rule applies.

    An event that is none is returned as it is: the check that follows names its fault.
    """
    if not rules or not isinstance(event, Mapping):
        return event
    fitting = _of_producer(event, rules)
    if not any(rule.renames for rule in fitting):
        return event
    changed = {
        place: _renamed(event[place], [rule for rule in fitting if place in rule.places])
        for place in _PLACES
        if place in event
    }
    if all(changed[place] is event[place] for place in changed):
        return event
    return {**event, **changed}


def _of_producer(event: Mapping[str, Any], rules: Rules) -> Rules:
    producer = event.get("producer")
    name = producer if isinstance(producer, str) else ""
    return [rule for rule in rules if match_whole(rule.producer, name) is not None]


def _renamed(datasets: Any, rules: Rules) -> Any:
    if not rules:
        return datasets
    if not isinstance(datasets, list):
        return _dataset(datasets, rules)
    changed = [_dataset(dataset, rules) for dataset in datasets]
    if all(new is old for new, old in zip(changed, datasets, strict=True)):
        return datasets
    return changed


def _dataset(dataset: Any, rules: Rules) -> Any:
    """A dataset with its facets; a note of its own name if that has changed."""
    changed = _walk(dataset, rules, 0)
    if changed is dataset or not isinstance(dataset, Mapping) or not isinstance(changed, dict):
        return changed
    before = {name: dataset.get(name) for name in ("namespace", "name")}
    if all(changed.get(name) == value for name, value in before.items()):
        return changed
    facets = changed.get("facets")
    if facets is None or isinstance(facets, Mapping):
        changed["facets"] = {**(facets or {}), FACET: before}
    return changed


def _walk(part: Any, rules: Rules, level: int) -> Any:
    """Every object below that names a dataset. Too deep nesting is refused later."""
    if level > _MOST_LEVELS:
        return part
    if isinstance(part, list):
        changed = [_walk(member, rules, level + 1) for member in part]
        same = all(new is old for new, old in zip(changed, part, strict=True))
        return part if same else changed
    if not isinstance(part, Mapping):
        return part
    inside = {name: _walk(value, rules, level + 1) for name, value in part.items()}
    names = _new_names(part, rules)
    if not names and all(inside[name] is part[name] for name in part):
        return part
    return {**inside, **names}


def _new_names(fields: Mapping[str, Any], rules: Rules) -> dict[str, str]:
    namespace, name = fields.get("namespace"), fields.get("name")
    if not isinstance(namespace, str) or not isinstance(name, str):
        return {}
    for rule in rules:
        first, second = match_whole(rule.namespace, namespace), match_whole(rule.dataset, name)
        if first is None or second is None:
            continue
        if not rule.renames:
            return {}
        groups = _Groups({**_named(first), **_named(second)})
        return {
            "namespace": expand_groups(rule.to_namespace, groups) or namespace,
            "name": expand_groups(rule.to_dataset, groups) or name,
        }
    return {}


def _named(match: Any) -> dict[str, str | None]:
    named: dict[str, str | None] = match.groupdict()
    return named


# --- holding back (pure) -------------------------------------------------------------------------


def hold_back(event: Mapping[str, Any], rules: Rules) -> Mapping[str, Any] | None:
    """The event without what the rules drop and mask; None for one that is not to be sent.

    To be called before ``rewrite``: the rules know the client's names.
    """
    deciding = list(_deciding_rules(event, _of_producer(event, rules)))
    if any(rule.drop == "event" for _, _, rule in deciding):
        return None
    if not all(_is_sampled(event, rule.sample) for _, _, rule in deciding):
        return None
    for place, thing, rule in deciding:
        if rule.mask:
            event = {**event, place: _masked(event[place], thing, rule.mask)}
            if place == _JOB and isinstance(run := event.get("run"), Mapping):
                event = {**event, "run": _masked(run, run, rule.mask)}
    dropped = {_key_of(thing) for _, thing, rule in deciding if rule.drop == "dataset"}
    if "dataset" in event and _key_of(event["dataset"]) in dropped:
        return None
    kept: Mapping[str, Any] = _without(event, dropped, 0) if dropped else event
    return kept


def _deciding_rules(
    event: Mapping[str, Any], rules: Rules
) -> Iterator[tuple[str, Mapping[str, Any], Rule]]:
    """(place, dataset or job, the first rule that fits it)."""
    for place in (*_PLACES, _JOB):
        things = event.get(place)
        for thing in things if isinstance(things, list) else [things]:
            own = [rule for rule in rules if place in rule.places]
            if isinstance(thing, Mapping) and (rule := _first_fitting(thing, own)):
                yield place, thing, rule


def _first_fitting(thing: Mapping[str, Any], rules: Rules) -> Rule | None:
    namespace, name = _key_of(thing)
    if not isinstance(namespace, str) or not isinstance(name, str):
        return None
    fitting = (
        rule
        for rule in rules
        if match_whole(rule.namespace, namespace) is not None
        and match_whole(rule.dataset, name) is not None
    )
    return next(fitting, None)


def _key_of(thing: Mapping[str, Any]) -> tuple[Any, Any]:
    return thing.get("namespace"), thing.get("name")


def _is_sampled(event: Mapping[str, Any], share: float) -> bool:
    """Whether the run of an event is in this share of all runs: the same for all of its events."""
    run = event.get("run")
    identifier = run.get("runId") if isinstance(run, Mapping) else None
    key = str(identifier if identifier is not None else _key_of(event.get("job") or {}))
    return zlib.crc32(key.encode("utf-8", "replace")) < share * 2**32


def _masked(things: Any, thing: Mapping[str, Any], facets: Sequence[str]) -> Any:
    """``things`` (a list or an object) with ``thing`` in it without these facets."""
    if isinstance(things, list):
        return [_masked(other, thing, facets) for other in things]
    if things is not thing:
        return things
    kinds = ("facets", "inputFacets", "outputFacets")
    return {
        name: {key: facet for key, facet in value.items() if key not in facets}
        if name in kinds and isinstance(value, Mapping)
        else value
        for name, value in thing.items()
    }


def _without(value: Any, dropped: Collection[tuple[Any, Any]], level: int) -> Any:
    """The value without the objects in lists that name one of these datasets."""
    if level > _MOST_LEVELS:
        return value
    if isinstance(value, list):
        return [
            _without(item, dropped, level + 1)
            for item in value
            if not (isinstance(item, Mapping) and _names_one_of(item, dropped))
        ]
    if isinstance(value, Mapping):
        return {name: _without(inner, dropped, level + 1) for name, inner in value.items()}
    return value


def _names_one_of(item: Mapping[str, Any], dropped: Collection[tuple[Any, Any]]) -> bool:
    namespace, name = _key_of(item)
    return isinstance(namespace, str) and isinstance(name, str) and (namespace, name) in dropped
