"""QueryGraph: the datasets and runs within some steps of a node, on one side of it.

A dataset and a run in turn are a step each; a run stands for the newest one of its job. One
question to the graph, whatever the number of steps; filters are applied to its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.datazone import nodes
from graph_model import identity, labels
from graph_model.answers import lineage as lineage_answer
from graph_model.answers.openlineage import Name, name_of
from graph_model.answers.runs import RunTrees
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidFields
from graph_model.lineage import Question
from graph_model.picture.view import DatasetNode, GraphView, JobNode
from graph_model.stores.graph import Direction
from graph_model.stores.pages import read_cursor, write_cursor

Json = dict[str, Any]
Test = Callable[[Mapping[str, Any]], bool]
MOST_NODES: Final = 1_000
_MOST_STEPS: Final = 5
_MOST_LEVELS: Final = 10
_MOST_FORMS: Final = 10
_CURSOR: Final = "graph query"
_ATTRIBUTES: Final = ("id", "name", "sourceIdentifier", "typeName", "eventTimestamp")
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "EQ": lambda own, asked: own == asked,
    "LE": lambda own, asked: own <= asked,
    "LT": lambda own, asked: own < asked,
    "GE": lambda own, asked: own >= asked,
    "GT": lambda own, asked: own > asked,
    "TEXT_SEARCH": lambda own, asked: str(asked).casefold() in str(own).casefold(),
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """``test`` says of a node's summary whether it is listed; ``form_names`` are shown of it."""

    identifier: str
    direction: Direction
    steps: int
    test: Test
    form_names: frozenset[str]


def read_pattern(match: Any, more: Any) -> Pattern:
    """The two clauses of ``match``, and ``additionalAttributes``. Raises InvalidFields."""
    clauses = match if isinstance(match, list) else []
    merged: Json = {}
    for clause in clauses:
        merged |= clause if isinstance(clause, dict) else {}
    if len(clauses) != 2 or set(merged) != {"entityPattern", "relationPattern"}:
        raise InvalidFields({"match": ["one entityPattern and one relationPattern"]})
    entity, relation = (
        _object(merged[name], f"match.{name}") for name in ("entityPattern", "relationPattern")
    )
    _words(entity, "match.entityPattern", "entityType", ("LINEAGE_NODE",))
    _words(relation, "match.relationPattern", "relationType", ("LINEAGE",))
    way = _words(relation, "match.relationPattern", "relationDirection", ("IN", "OUT"))
    identifier = entity.get("identifier")
    steps = relation.get("maxPathLength", 1)
    if not isinstance(identifier, str):
        raise InvalidFields({"match.entityPattern.identifier": ["a string"]})
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= _MOST_STEPS:
        expected = f"an integer from 1 to {_MOST_STEPS}"
        raise InvalidFields({"match.relationPattern.maxPathLength": [expected]})
    filters = entity.get("filters")
    path = "match.entityPattern.filters"
    test = _everything if filters is None else _read_filters(filters, path, 0)
    names = _object(more or {}, "additionalAttributes").get("formNames", [])
    if not isinstance(names, list) or len(names) > _MOST_FORMS:
        raise InvalidFields({"additionalAttributes.formNames": [f"at most {_MOST_FORMS} names"]})
    direction = Direction.UPSTREAM if way == "IN" else Direction.DOWNSTREAM
    return Pattern(identifier, direction, steps, test, frozenset(map(str, names)))


def _everything(_: Mapping[str, Any]) -> bool:
    return True


def _object(value: Any, path: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidFields({path: ["an object"]})
    return value


def _words(fields: Json, path: str, name: str, words: Collection[str]) -> str:
    word = fields.get(name)
    if word not in words:
        raise InvalidFields({f"{path}.{name}": [" or ".join(words)]})
    return str(word)


def _read_filters(clause: Any, path: str, level: int) -> Test:
    """``filter``, or a list of clauses under ``and`` or ``or``."""
    fields = _object(clause, path)
    if len(fields) != 1 or level > _MOST_LEVELS:
        raise InvalidFields({path: ["one of filter, and, or"]})
    ((name, inner),) = fields.items()
    if name == "filter":
        return _read_filter(_object(inner, f"{path}.filter"), f"{path}.filter")
    if name not in ("and", "or") or not isinstance(inner, list) or not 1 <= len(inner) <= 100:
        raise InvalidFields({path: ["one of filter, and, or, with 1 to 100 clauses"]})
    tests = [
        _read_filters(nested, f"{path}.{name}[{place}]", level + 1)
        for place, nested in enumerate(inner)
    ]
    each = all if name == "and" else any
    return lambda node: each(test(node) for test in tests)


def _read_filter(fields: Json, path: str) -> Test:
    attribute = _words(fields, path, "attribute", _ATTRIBUTES)
    operator = _words({"operator": "EQ"} | fields, path, "operator", tuple(_COMPARED))
    number = attribute == "eventTimestamp"
    value = fields.get("intValue" if number else "value")
    if not isinstance(value, int if number else str) or isinstance(value, bool):
        expected = "epoch seconds as intValue" if number else "a string as value"
        raise InvalidFields({path: [expected]})
    if number and operator == "TEXT_SEARCH":
        raise InvalidFields({f"{path}.operator": ["a comparison of numbers"]})
    return lambda node: _COMPARED[operator](node[attribute], value)


def query(
    sources: Sources, pattern: Pattern, *, limit: int, token: str | None, now: int
) -> tuple[list[Json], str | None]:
    """The nodes of one page, the nearest first, and the token of the next page.

    Raises NotFound for an unknown start.
    """
    start = nodes.find_node(sources, pattern.identifier, None, now)
    node = identity.job_id(*start.name) if start.kind == labels.RUN else start.id
    question = Question(node, pattern.direction, pattern.steps // 2 + 1, limit=MOST_NODES)
    view = lineage_answer.lineage(start.sources, question)
    listed = _summaries(start.sources, view, now)
    around = _beside(view, pattern.direction)
    steps = {node: 0}
    level = [node]
    for step in range(1, pattern.steps + 1):
        level = sorted({end for node in level for end in around.get(node, ())} - steps.keys())
        steps |= dict.fromkeys(level, step)
    order = sorted((step, key) for key, step in steps.items() if step and key in listed)
    items = [key for _, key in order if pattern.test(listed[key])]
    begin = 0 if token is None else int(read_cursor(token, _CURSOR, int)[0])
    page = items[begin : begin + limit]
    into, out = _beside(view, Direction.UPSTREAM), _beside(view, Direction.DOWNSTREAM)
    shown = []
    for key in page:
        ends = {
            f"{side}LineageNodeIds": [
                listed[end]["id"] for end in beside.get(key, ()) if end in listed
            ]
            for side, beside in (("upstream", into), ("downstream", out))
        }
        forms = _forms(start.sources, listed[key]["id"], pattern.form_names, now)
        shown.append({**listed[key], "formsOutput": forms, **ends})
    more = begin + limit < len(items)
    return shown, write_cursor(_CURSOR, begin + limit) if more else None


def _forms(sources: Sources, key: str, names: Collection[str], now: int) -> list[Json]:
    if not names:
        return []
    forms = nodes.forms(nodes.find_node(sources, key, None, now))
    return [form for form in forms if form["formName"] in names]


def _beside(view: GraphView, direction: Direction) -> dict[str, list[str]]:
    by_start: dict[str, list[str]] = {}
    for edge in view.edges:
        ends = (edge.source, edge.target)
        start, end = ends if direction is Direction.DOWNSTREAM else reversed(ends)
        by_start.setdefault(start, []).append(end)
    return by_start


def _summaries(sources: Sources, view: GraphView, now: int) -> dict[str, Json]:
    """By id of a drawn dataset or job the summary of its node: of a job that of its newest run."""
    newest = nodes.newest_runs(sources, view, None)
    briefs = RunTrees(sources).states({row.run for row in newest.values()}, now)
    datasets = [node.id for node in view.nodes if isinstance(node, DatasetNode)]
    written = sources.catalogue.last_writes(datasets, None)
    summaries: dict[str, Json] = {}
    for node in view.nodes:
        if isinstance(node, DatasetNode):
            name = name_of(node.uri, node.scope, sources.rules)
            drawn = nodes.LineageNode(sources, labels.DATASET, node.id, name, None)
            summaries[node.id] = nodes.summary(drawn, written.get(node.id, now))
        elif isinstance(node, JobNode) and node.id in newest:
            row = newest[node.id]
            brief = briefs.get(row.run)
            run_id = brief.run_id if brief else row.run
            name = Name(node.namespace, node.name)
            drawn = nodes.LineageNode(sources, labels.RUN, row.run, name, None, run_id)
            summaries[node.id] = nodes.summary(drawn, row.claimed_at)
    return summaries
