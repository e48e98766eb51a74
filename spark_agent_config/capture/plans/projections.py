"""The projections of an Expand that the plan's JSON leaves out.

Spark writes ``null`` for a sequence that is no plain list, as an unpivot makes it. The listener
then reads the operator in the JVM, one call an expression.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from spark_agent_config.capture.questions import class_name, items

_MISSING: Final = '"projections":null'
#: Operators and cells that are looked at; beyond these the columns end, with a gap.
_MOST_OPERATORS: Final = 1_000
_MOST_CELLS: Final = 2_000


def with_projections(text: str, plan: Any) -> str:
    """The plan's JSON (``text``), completed. ``plan`` is the JVM's; raises py4j's exceptions."""
    if _MISSING not in text.replace(" ", ""):
        return text
    answers = {
        _first_id(json.loads(str(expand.output().head().toJSON()))): _projections(expand)
        for expand in _operators(plan)
        if class_name(expand) == "Expand"
    }
    nodes = json.loads(text)
    for node in _nodes(nodes):
        if "projections" in node and node["projections"] is None:
            output = node.get("output") or [[{}]]
            node["projections"] = answers.get(_first_id(output[0]))
    return json.dumps(nodes)


def _projections(expand: Any) -> list[list[Any]] | None:
    rows = list(items(expand.projections()))
    if len(rows) * int(expand.output().size()) > _MOST_CELLS:
        return None
    return [[json.loads(str(cell.toJSON())) for cell in items(row)] for row in rows]


def _operators(plan: Any) -> Iterator[Any]:
    """The operators of a plan; a command's query is among its children."""
    pending = [plan]
    for _ in range(_MOST_OPERATORS):
        if not pending:
            return
        node = pending.pop()
        yield node
        pending += [*items(node.children()), *items(node.innerChildren())]


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every node in the JSON, those of nested plans included."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            yield part
            pending += part.values()
        elif isinstance(part, list):
            pending += part


def _first_id(tree: Any) -> int | None:
    """The expression id at the root of an expression's JSON."""
    root = tree[0] if tree else {}
    number = (root.get("exprId") or {}).get("id")
    return number if isinstance(number, int) else None
