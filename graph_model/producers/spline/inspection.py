"""The fine view of one plan: its operations, schemas and expressions, read from its document.

Expressions and in-plan attributes are not in the graph (DESIGN "Vocabulary"): a plan is walked in
memory when someone opens it. Values are the document's own: unlike in the graph, literals are not
masked here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from graph_model.picture.layout import Box, Flow, Point, Size, arrange, size_of
from graph_model.picture.operations import (
    ChainStep,
    FoldedStep,
    Named,
    OperationView,
    OutputColumn,
    PlanInspection,
    Property,
    StepRole,
    fold_chains,
)
from graph_model.producers.spline.documents import ExecutionPlan, Operation, outputs, type_text
from graph_model.producers.spline.expressions.text import Renderer, operation_properties
from graph_model.producers.spline.plan_logic import PlanDocument

_OPERATIONS_SHOWN = 2_000
_COLUMNS_SHOWN = 20_000
_ROLES: Final = {
    "SubqueryAlias": StepRole.NAMING,
    "View": StepRole.NAMING,
    "CTERelationDef": StepRole.DEFINING,
    "CTERelationRef": StepRole.REFERRING,
    "WithCTE": StepRole.GATHERING,
}
_MOST_ALIASES = 3


def inspect(
    document: PlanDocument,
    *,
    references_of: Callable[[PlanDocument, str], tuple[Named, ...]],
    layout: bool,
    flow: Flow = Flow.RIGHT,
    fold: bool = False,
) -> PlanInspection[Named]:
    """Walk a plan once. ``references_of`` names the datasets behind a URI of the document;
    ``fold``: steps that only give a name are part of the step that they name.
    """
    plan = document.plan
    shown = plan.operations[:_OPERATIONS_SHOWN]
    known = {operation.id: operation for operation in shown}
    steps = _folded(shown) if fold else _unfolded(shown)
    edges = tuple((child, step.id) for step in steps for child in step.children if child in known)
    consumers: dict[str, list[str]] = {}
    for child, consumer in edges:
        consumers.setdefault(child, []).append(consumer)
    labels = {step.id: _label_with(known[step.id], step.aliases) for step in steps}
    sizes = {key: size_of(label) for key, label in labels.items()}
    points = _places(sizes, edges, flow) if layout else {}
    renderer = Renderer(plan)
    schemas = outputs(plan)
    columns = _columns_shown(shown, schemas)

    def view(step: FoldedStep) -> OperationView[Named]:
        operation = known[step.id]
        return OperationView(
            id=operation.id,
            kind=operation.kind,
            name=operation.name,
            label=labels[operation.id],
            inputs=step.children,
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
            width=sizes[operation.id].width,
            height=sizes[operation.id].height,
            aliases=step.aliases,
            folded=tuple(known[operation_id].name for operation_id in step.folded),
        )

    whole = all(columns[o.id] == len(schemas[o.id] or ()) for o in shown)
    cut = len(shown) < len(plan.operations) or not whole
    return PlanInspection(tuple(view(step) for step in steps), edges, cut)


def _unfolded(operations: Sequence[Operation]) -> tuple[FoldedStep, ...]:
    return tuple(FoldedStep(operation.id, operation.children, (), ()) for operation in operations)


def _folded(operations: Sequence[Operation]) -> tuple[FoldedStep, ...]:
    return fold_chains([_step(operation) for operation in operations])


def _step(operation: Operation) -> ChainStep:
    role = _ROLES.get(operation.name.partition(" ")[0], StepRole.WORKING)
    named = operation.params.get("identifier") if role == StepRole.NAMING else None
    keys = {StepRole.DEFINING: "id", StepRole.REFERRING: "cteId"}
    definition = operation.params.get(keys[role]) if role in keys else None
    return ChainStep(
        operation.id,
        operation.children,
        role,
        str(named).rpartition(".")[2].strip("`") if named is not None else "",
        str(definition) if definition is not None else "",
    )


def _label_with(operation: Operation, aliases: Sequence[str]) -> str:
    """``employees as e``; an alias that repeats the label is left out."""
    label = _label(operation)
    others = [alias for alias in aliases if alias != label]
    if not others:
        return label
    shown = ", ".join(others[:_MOST_ALIASES])
    return f"{label} as {shown}{', …' if len(others) > _MOST_ALIASES else ''}"


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
    sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]], flow: Flow
) -> dict[str, Point]:
    """``sizes`` are in the order of the plan."""
    boxes = [
        Box(key, size.width, size.height, f"{place:06d}")
        for place, (key, size) in enumerate(sizes.items())
    ]
    return arrange(boxes, edges, flow).points
