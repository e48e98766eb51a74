"""Reads Spline plans the naive way, like a consumer that only follows references.

Used to hold the listener's documents against expectations and against the stock agent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Document = Mapping[str, Any]


def operations(document: Document) -> dict[str, Mapping[str, Any]]:
    listed = document["operations"]
    return {
        op["id"]: op for op in [listed["write"], *listed.get("reads", []), *listed.get("other", [])]
    }


def sources(document: Document) -> set[str]:
    """Every URI that the plan reads."""
    return {uri for read in document["operations"].get("reads", []) for uri in read["inputSources"]}


def names(document: Document) -> set[str]:
    """Names of the operations."""
    return {operation["name"] for operation in operations(document).values()}


def written_columns(document: Document) -> list[str]:
    """Names of the columns of the write's child, in order."""
    attributes = {item["id"]: item["name"] for item in document.get("attributes", ())}
    return [attributes[attribute] for attribute in _written(document)]


def written_types(document: Document) -> list[str | None]:
    """Types of the written columns by name, None where the document does not say."""
    attributes = {item["id"]: item for item in document.get("attributes", ())}
    types = {
        item["id"]: item.get("name", item["_typeHint"])
        for item in document["extraInfo"]["dataTypes"]
    }
    return [types.get(attributes[a].get("dataType", "")) for a in _written(document)]


def origins(document: Document) -> dict[str, set[str]]:
    """Each written column => the ``uri#column`` it is made of, by following childRefs alone."""
    attributes = {item["id"]: item for item in document.get("attributes", ())}
    read = _read_columns(document)
    return {
        attributes[attribute]["name"]: {read[a] for a in closure(document, attribute) if a in read}
        for attribute in _written(document)
    }


def closure(document: Document, attribute: str) -> set[str]:
    """An attribute and those it is made of, through any number of expressions."""
    nodes = _nodes(document)
    seen: set[str] = set()
    pending = [attribute]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += references(nodes.get(node, {}).get("childRefs", ()))
    return {node for node in seen if node.startswith("attr-")}


def condition_columns(document: Document, operation: Mapping[str, Any]) -> set[str]:
    """The ``uri#column`` that an operation's parameters look at."""
    read = _read_columns(document)
    nodes = _nodes(document)
    result: set[str] = set()
    for start in references([operation.get("params", {})]):
        below = closure(document, start) if start in nodes else set()
        result |= {read[a] for a in below if a in read}
    return result


def references(values: Iterable[Any]) -> list[str]:
    """Ids of all references in some JSON, in order."""
    result: list[str] = []
    pending = list(reversed(list(values)))
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            if set(value) in ({"__attrId"}, {"__exprId"}):
                result += value.values()
            else:
                pending += reversed(list(value.values()))
        elif isinstance(value, list | tuple):
            pending += reversed(value)
    return result


def outline(document: Document, root: str) -> list[str]:
    """The plan as indented lines, ids and generated names left out: equal plans, equal lines.

    ``root`` is the folder of the test's data, replaced by ``/lake``.
    """
    listed = operations(document)
    text = _Text(document)
    lines: list[str] = []
    pending = [("op-0", 0)]
    while pending:
        operation_id, depth = pending.pop()
        lines.append("  " * depth + text.operation(listed[operation_id]).replace(root, "/lake"))
        pending += [(c, depth + 1) for c in reversed(listed[operation_id].get("childIds", []))]
    return lines


class _Text:
    """Operations and expressions of one plan as text."""

    _SHOWN = (
        "projectList", "condition", "groupingExpressions", "aggregateExpressions", "joinType",
        "windowExpressions", "partitionSpec", "orderSpec", "order", "generator", "keys",
        "projections", "isAll", "identifier",
    )  # fmt: skip

    def __init__(self, document: Document) -> None:
        self._nodes = _nodes(document)

    def operation(self, operation: Mapping[str, Any]) -> str:
        place = [*operation.get("inputSources", []), operation.get("outputSource", "")]
        output = [self._nodes[a]["name"] for a in operation.get("output", ())]
        params = operation.get("params") or {}
        shown = {name: self.value(params[name]) for name in self._SHOWN if params.get(name)}
        mode = ["append"] if operation.get("append") else []
        return " ".join([operation["name"], *place, *mode, str(output), str(shown)]).strip()

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.value(part) for part in value]
        if isinstance(value, dict) and set(value) in ({"__attrId"}, {"__exprId"}):
            return self.expression(next(iter(value.values())))
        if isinstance(value, dict):
            return {name: self.value(part) for name, part in value.items()}
        return value

    def expression(self, node_id: str) -> str:
        node = self._nodes[node_id]
        if "value" in node:
            return repr(node["value"])
        if node_id.startswith("attr-"):
            return f"@{node['name']}"
        kind = node["extra"].get("simpleClassName", "")
        inside = ", ".join(self.expression(ref) for ref in references(node.get("childRefs", ())))
        return f"{kind}:{node['name']}({inside})"


def _nodes(document: Document) -> dict[str, Mapping[str, Any]]:
    expressions = document.get("expressions", {})
    listed = [
        *document.get("attributes", ()),
        *expressions.get("functions", ()),
        *expressions.get("constants", ()),
    ]
    return {item["id"]: item for item in listed}


def _written(document: Document) -> list[str]:
    listed = operations(document)
    child = listed[document["operations"]["write"]["childIds"][0]]
    return list(child["output"])


def _read_columns(document: Document) -> dict[str, str]:
    attributes = {item["id"]: item["name"] for item in document.get("attributes", ())}
    return {
        attribute: f"{uri}#{attributes[attribute]}"
        for read in document["operations"].get("reads", [])
        for uri in read["inputSources"]
        for attribute in read.get("output", ())
    }
