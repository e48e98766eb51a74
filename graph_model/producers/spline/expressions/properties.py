"""The parameters of an operation as readable (name, text) pairs, for the operation view.

    condition    a > 10
    projectList  a, b, a + b AS c
    order        salary DESC NULLS LAST
    joinType     LEFT OUTER

By names, never inlined: an operation is read beside its neighbours. A value that each run changes
without changing the logic (expression ids, numbers of RDDs, times of creation) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Operation,
    Reference,
    as_reference,
    references_in,
)
from graph_model.producers.spline.expressions.forms import stable
from graph_model.producers.spline.expressions.roles import subplan_text
from graph_model.producers.spline.expressions.text import Renderer, shortened

MAX_PROPERTY: Final = 100_000
_MAX_DEPTH: Final = 64  # of lists and objects in each other
_RDD_NUMBER: Final = re.compile(r"(?<=RDD)\[\d+\]")
_SESSION_LINES: Final = re.compile(r"^(?:Created Time|Last Access|Created By):.*\n?", re.MULTILINE)


def operation_properties(
    plan: ExecutionPlan, operation: Operation, renderer: Renderer
) -> tuple[tuple[str, str], ...]:
    """Readable parameters in alphabetical order; a parameter without a value is left out.

    ``subqueries`` is added where the operation holds subqueries whose plans are only text.
    """
    shown = {name: value_text(value, renderer) for name, value in operation.params.items()}
    if subplans := _subplans(plan, operation, renderer):
        shown["subqueries"] = shortened("\n".join(subplans), MAX_PROPERTY)
    return tuple(sorted((name, text) for name, text in shown.items() if text))


def value_text(value: Any, renderer: Renderer) -> str:
    """A parameter's JSON value as text; '' for an empty value."""
    return shortened(_text(value, renderer), MAX_PROPERTY)


def _text(value: Any, renderer: Renderer, depth: int = 0) -> str:
    if depth > _MAX_DEPTH:
        return "..."
    top = depth == 0
    if isinstance(value, str):
        return _stable(value)
    if (reference := as_reference(value)) is not None:
        return renderer.projection(reference)
    if value is None:
        return "" if top else "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        inside = ", ".join(_listed(value, renderer, depth + 1))
        return inside if top else f"({inside})"
    if isinstance(value, dict):
        return _order(value, renderer) or _pairs(value, renderer, depth + 1)
    return str(value)


def _stable(text: str) -> str:
    """Nearly no text has a volatile part; the quick test costs less than the search."""
    if "#" in text:
        text = stable(text)
    if "RDD[" in text:
        text = _RDD_NUMBER.sub("", text)
    return _SESSION_LINES.sub("", text) if ":" in text else text


def _listed(value: list[Any], renderer: Renderer, depth: int) -> Iterator[str]:
    """Items as text, until they are far more than is ever shown."""
    left = 10 * MAX_PROPERTY
    for item in value:
        reference = as_reference(item)
        if reference is not None:
            text = renderer.projection(reference)
        else:
            text = _text(item, renderer, depth)
        left -= len(text)
        yield text if left >= 0 else "..."
        if left < 0:
            return


def _order(value: Mapping[str, Any], renderer: Renderer) -> str | None:
    """An item of a Sort: ``{expression, direction, nullOrdering}``."""
    expression = as_reference(value.get("expression"))
    if expression is None:
        return None
    words = (value.get("direction"), value.get("nullOrdering"))
    text = renderer.text(expression, inline=False)
    return " ".join((text, *(word for word in words if isinstance(word, str))))


def _pairs(value: Mapping[str, Any], renderer: Renderer, depth: int) -> str:
    return ", ".join(
        f"{key}: {_text(item, renderer, depth)}" for key, item in sorted(value.items())
    )


def _subplans(plan: ExecutionPlan, operation: Operation, renderer: Renderer) -> list[str]:
    """Plans of the subqueries in an operation's expressions, as text without expression ids."""
    if not renderer.has_subplans:
        return []
    found: list[str] = []
    seen: set[Reference] = set()
    stack = list(references_in(operation.params))[::-1]
    while stack:
        reference = stack.pop()
        function = plan.functions.get(reference.id) if reference.kind == "expression" else None
        if function is None or reference in seen:
            continue
        seen.add(reference)
        if (text := subplan_text(function)) is not None:
            found.append(stable(text).rstrip())
        stack.extend(reversed(function.children))
    return found
