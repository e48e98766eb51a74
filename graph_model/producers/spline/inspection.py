"""The fine view of one plan: its operations, schemas and expressions, read from its document.

Expressions and in-plan attributes are not in the graph (DESIGN "Vocabulary"): a plan is walked in
memory when someone opens it. Values are the document's own: unlike in the graph, literals are not
masked here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graph_model.picture.layout import Box, Point, lay_out
from graph_model.picture.operations import (
    BOX_HEIGHT,
    Named,
    OperationView,
    OutputColumn,
    PlanInspection,
    Property,
    box_width,
)
from graph_model.producers.spline import PlanDocument
from graph_model.producers.spline.documents import ExecutionPlan, Operation, outputs, type_text
from graph_model.producers.spline.expressions import Renderer, operation_properties

_OPERATIONS_SHOWN = 2_000
_COLUMNS_SHOWN = 20_000


def inspect(
    document: PlanDocument,
    *,
    references_of: Callable[[PlanDocument, str], tuple[Named, ...]],
    layout: bool,
) -> PlanInspection[Named]:
    """Walk a plan once. ``references_of`` names the datasets behind a URI of the document."""
    plan = document.plan
    shown = plan.operations[:_OPERATIONS_SHOWN]
    known = {operation.id for operation in shown}
    edges = tuple(
        (child, operation.id)
        for operation in shown
        for child in operation.children
        if child in known
    )
    consumers: dict[str, list[str]] = {}
    for child, consumer in edges:
        consumers.setdefault(child, []).append(consumer)
    labels = {operation.id: _label(operation) for operation in shown}
    points = _places(shown, labels, edges) if layout else {}
    renderer = Renderer(plan)
    schemas = outputs(plan)
    columns = _columns_shown(shown, schemas)
    operations = tuple(
        OperationView(
            id=operation.id,
            kind=operation.kind,
            name=operation.name,
            label=labels[operation.id],
            inputs=operation.children,
            outputs=tuple(consumers.get(operation.id, ())),
            schema=_schema(plan, renderer, operation, schemas, columns[operation.id]),
            properties=_properties(plan, operation, renderer),
            datasets=tuple(
                named
                for uri in (operation.target, *operation.sources)
                if uri
                for named in references_of(document, uri)
            ),
            point=points.get(operation.id),
            width=box_width(labels[operation.id]),
            height=BOX_HEIGHT,
        )
        for operation in shown
    )
    whole = all(columns[o.id] == len(schemas[o.id] or ()) for o in shown)
    return PlanInspection(operations, edges, len(shown) < len(plan.operations) or not whole)


def _columns_shown(
    operations: Sequence[Operation], schemas: dict[str, Sequence[str] | None]
) -> dict[str, int]:
    """The number of columns of each operation that fit; the last operations take precedence."""
    left = _COLUMNS_SHOWN
    shown: dict[str, int] = {}
    for operation in reversed(operations):
        shown[operation.id] = min(left, len(schemas[operation.id] or ()))
        left -= shown[operation.id]
    return shown


def _schema(
    plan: ExecutionPlan,
    renderer: Renderer,
    operation: Operation,
    schemas: dict[str, Sequence[str] | None],
    most: int,
) -> tuple[OutputColumn, ...] | None:
    emitted = schemas[operation.id]
    if emitted is None:
        return None
    arrived = {a for child in operation.children for a in schemas[child] or ()}
    return tuple(_output_column(plan, renderer, key, key in arrived) for key in emitted[:most])


def _output_column(
    plan: ExecutionPlan, renderer: Renderer, key: str, passes_through: bool
) -> OutputColumn:
    attribute = plan.attributes.get(key)
    if attribute is None:
        return OutputColumn(key, None, key, None)
    expression = None
    if attribute.children and not passes_through:
        parts = [renderer.text(child, inline=False) for child in attribute.children]
        expression = ", ".join(parts)
    return OutputColumn(
        attribute.name, type_text(plan.data_types, attribute.data_type), key, expression
    )


def _properties(
    plan: ExecutionPlan, operation: Operation, renderer: Renderer
) -> tuple[Property, ...]:
    listed = [
        Property(name, text) for name, text in operation_properties(plan, operation, renderer)
    ]
    if operation.kind == "write":
        listed.insert(0, Property("mode", "append" if operation.append else "overwrite"))
        listed.insert(0, Property("outputSource", operation.target))
    if operation.sources:
        listed.insert(0, Property("inputSources", ", ".join(operation.sources)))
    return tuple(listed)


def _label(operation: Operation) -> str:
    """A short label: the last path part of the source or target, otherwise the node's name."""
    source = operation.target or (operation.sources[0] if operation.sources else "")
    tail = source.rstrip("/").rpartition("/")[2] or source
    if tail:
        return tail if len(tail) <= 40 else f"{tail[:39]}…"
    return operation.name.partition(" ")[0] or operation.name


def _places(
    operations: Sequence[Operation], labels: dict[str, str], edges: Sequence[tuple[str, str]]
) -> dict[str, Point]:
    order = {operation.id: i for i, operation in enumerate(operations)}
    boxes = [
        Box(o.id, box_width(labels[o.id]), BOX_HEIGHT, f"{order[o.id]:06d}") for o in operations
    ]
    return lay_out(boxes, edges)
