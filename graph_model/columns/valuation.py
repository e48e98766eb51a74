"""Values of attributes and expressions: how every kind of function combines its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graph_model.columns.values import (
    AGGREGATION,
    CONDITIONAL,
    EMPTY,
    IDENTITY,
    TRANSFORMATION,
    WINDOW,
    Flows,
    Sources,
    Value,
    closed,
    column,
    deciding,
    merged,
    picked,
    raised,
    stepped,
    struct,
    together,
    under,
)
from graph_model.documents import ExecutionPlan, Function, Reference
from graph_model.expressions.definitions import (
    CYCLE,
    DANGLING,
    SUBQUERY,
    Definition,
    Definitions,
    Gap,
    Inputs,
    Node,
)
from graph_model.expressions.forms import stable
from graph_model.expressions.roles import (
    Role,
    canonical,
    fields_of,
    is_aggregate,
    is_subquery,
    is_transparent,
    is_union,
    roles,
    struct_field,
    subplan_text,
)
from graph_model.expressions.walk import evaluate

#: Functions whose result is one of their values, or an element of one: fields stay pickable.
_CHOOSING: Final = frozenset(
    {
        "aggregateexpression", "anyvalue", "array", "arrayappend", "arraycompact", "arraydistinct",
        "arrayexcept", "arrayfilter", "arrayinsert", "arrayintersect", "arrayprepend",
        "arrayremove", "arrayrepeat", "arraysort", "arrayunion", "casewhen", "coalesce",
        "collectlist", "collectset", "concat", "decode", "elementat", "explode", "filter", "first",
        "flatten", "get", "getarrayitem", "greatest", "if", "ifnull", "lag", "last", "lead",
        "least", "maxby", "minby", "nthvalue", "nullif", "nvl", "nvl2", "reverse", "shuffle",
        "slice", "sortarray", "tryelementat", "windowexpression",
    }
)  # fmt: skip
#: Of these only the first argument is chosen from; the others say which element.
_CHOOSING_FIRST: Final = frozenset(
    {"elementat", "tryelementat", "getarrayitem", "get", "slice", "nthvalue"}
)
_PICKING: Final = frozenset({"getstructfield", "getarraystructfields"})
_EXPLODING: Final = frozenset({"explode", "explodeouter"})
_DETAIL: Final = 120


class Valuation:
    """Values of one plan; ``gaps`` are those met on the way."""

    def __init__(self, plan: ExecutionPlan, definitions: Definitions) -> None:
        self.plan = plan
        self.definitions = definitions
        self.sources = Sources()
        self.gaps: dict[Gap, None] = {}
        self.visited = 0  # nodes valued and edges followed: the measure of the work done
        self._known: dict[Node, Value] = {}

    def flows(self, reference: Reference) -> Flows:
        return self.value(reference).flows

    def value(self, node: Node) -> Value:
        return evaluate(node, self._inputs, self._combine, self._known)

    def _inputs(self, node: Node) -> Sequence[Node]:
        found = self._inputs_of(node)
        self.visited += 1 + len(found)
        return found

    def _inputs_of(self, node: Node) -> Sequence[Node]:
        if isinstance(node, Inputs):
            return tuple(self.definitions.inputs_of(node.operation))
        if node.kind == "attribute":
            return self.definitions.of(node.id).inputs
        function = self.plan.functions.get(node.id)
        return function.children if function is not None else ()

    def _input(self, node: Node) -> Value:
        known = self._known.get(node)
        if known is None:
            self._gap(CYCLE, self._name(node))
            return EMPTY
        return known

    def _name(self, node: Node) -> str:
        if isinstance(node, Inputs):
            return self.definitions.place(self.definitions.operations[node.operation])
        if node.kind == "attribute":
            return self.definitions.name_of(node.id)
        function = self.plan.functions.get(node.id)
        return function.name if function is not None else "?"

    def _gap(self, code: str, detail: str) -> None:
        self.gaps[Gap(code, detail)] = None

    # --- combination -----------------------------------------------------------------------------

    def _combine(self, node: Node) -> Value:
        if isinstance(node, Inputs):
            flows = together(
                self._input(n).flows for n in self.definitions.inputs_of(node.operation)
            )
            return closed(raised(flows, TRANSFORMATION))
        if node.kind == "attribute":
            return self._attribute(node.id)
        if node.id in self.plan.constants:
            return EMPTY
        function = self.plan.functions.get(node.id)
        if function is None:
            self._gap(DANGLING, "an expression that the document does not hold")
            return EMPTY
        return self._function(function)

    def _attribute(self, identifier: str) -> Value:
        definition = self.definitions.of(identifier)
        self.gaps.update(dict.fromkeys(definition.gaps))
        if definition.kind == "leaf":
            return column(self.sources, identifier)
        if definition.kind == "generated":
            return self._generated(definition)
        if not definition.inputs:
            return EMPTY
        same = [self._input(node) for node in definition.nodes]
        changed = [closed(raised(self._input(r).flows, TRANSFORMATION)) for r in definition.changed]
        value = merged([*same, *changed])
        decided = [deciding(self._input(r).flows, CONDITIONAL) for r in definition.conditions]
        return under(value, together(decided))

    def _function(self, function: Function) -> Value:
        word = canonical(function)
        values = [self._input(child) for child in function.children]
        if is_transparent(self.plan, function, word):
            return values[0]
        if is_union(function):
            return merged(values)
        if word == "typednullliteral":  # NULL of its argument's type
            return EMPTY
        if word in _PICKING and len(values) == 1:
            return picked(values[0], *struct_field(self.plan, function), self.sources)
        if word == "namedstruct":
            return self._struct(function, values)
        if is_subquery(word) and (text := subplan_text(function)) is not None:
            line = stable(text.split("\n", 1)[0])
            self._gap(SUBQUERY, f"{word}: {line[:_DETAIL]}")
        return self._call(function, word, values)

    def _call(self, function: Function, word: str, values: Sequence[Value]) -> Value:
        """By roles: values flow on, the rest decides."""
        how = AGGREGATION if is_aggregate(function, word) else TRANSFORMATION
        if is_subquery(word):
            how = IDENTITY
        given = roles(function, word)
        flowing = [v for v, role in zip(values, given, strict=True) if role is Role.VALUE]
        decided = together(
            deciding(value.flows, CONDITIONAL if role is Role.CONDITION else WINDOW)
            for value, role in zip(values, given, strict=True)
            if role is not Role.VALUE
        )
        if word in _CHOOSING_FIRST and flowing:
            kept = stepped(flowing[0], how)
            index = together(raised(value.flows, how) for value in flowing[1:])
            return under(kept, together((decided, index)))
        if (word in _CHOOSING or is_subquery(word)) and flowing:
            return under(stepped(merged(flowing), how), decided)
        flows = together(raised(value.flows, how) for value in flowing)
        if not flowing and decided == (0, 0, 0, 0, 0):
            return EMPTY if not values else closed(flows)
        return closed(together((flows, decided)))

    def _struct(self, function: Function, values: Sequence[Value]) -> Value:
        """``named_struct(name, value, …)``."""
        constants = [self.plan.constants.get(child.id) for child in function.children[::2]]
        if len(values) % 2 or None in constants:
            return closed(together(raised(value.flows, TRANSFORMATION) for value in values))
        names = [str(constant.value) for constant in constants if constant is not None]
        return struct(names, values[1::2])

    # --- generators ------------------------------------------------------------------------------

    def _generated(self, definition: Definition) -> Value:
        """One output of a generator: see the rules for explode, stack and inline."""
        node = definition.nodes[0]
        whole = stepped(self._input(node), TRANSFORMATION)
        function = self.plan.functions.get(node.id) if isinstance(node, Reference) else None
        if function is None:
            return whole
        word = canonical(function)
        arguments = [self._input(child) for child in function.children]
        if word == "stack" and len(arguments) > 1:
            return self._stacked(arguments, definition)
        if word in {"inline", "inlineouter"} and len(arguments) == 1:
            fields = fields_of(self.plan, function.children[0])
            name = fields[definition.position] if definition.position < len(fields) else None
            return stepped(
                picked(arguments[0], name, definition.position, self.sources), TRANSFORMATION
            )
        if definition.siblings == 1 and word in _EXPLODING and len(arguments) == 1:
            return stepped(arguments[0], TRANSFORMATION)
        return closed(whole.flows)

    def _stacked(self, arguments: Sequence[Value], definition: Definition) -> Value:
        """``stack(2, 'a', a, 'b', b)`` row by row: column 0 is 'a' or 'b', column 1 is a or b."""
        column_values = arguments[1:][definition.position :: definition.siblings]
        if not column_values:
            return EMPTY
        return stepped(merged(column_values), TRANSFORMATION)
