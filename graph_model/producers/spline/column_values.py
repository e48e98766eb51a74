"""Values of attributes and expressions: each kind of function on its arguments.

A value has sources, sets of read columns by how they flow, and struct members.

Sets are integers with a bit per source, so that a union costs a machine word per 64 sources and
is shared by every column that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from graph_model import labels
from graph_model.producers.spline.documents import ExecutionPlan, Function, Reference
from graph_model.producers.spline.expressions.definitions import (
    CYCLE,
    DANGLING,
    AttributeDefinition,
    Definitions,
    Gap,
    Inputs,
    Node,
)
from graph_model.producers.spline.expressions.forms import stable
from graph_model.producers.spline.expressions.functions import (
    CASTS,
    MERGES,
    BoundFunction,
    ChildRole,
    FramedExpression,
    LambdaResult,
    Lambdas,
    Place,
    TooManyBound,
    canonical,
    fields_of,
    is_aggregate,
    is_clause,
    is_subquery,
    is_transparent,
    is_union,
    roles,
    struct_field,
    subplan_text,
)
from graph_model.producers.spline.expressions.text import evaluate

# --- the sources of one value ---------------------------------------------------------------------


#: The kinds of flow, in the order of the places of :attr:`Value.flows`.
HOWS: Final = (
    labels.IDENTITY,
    labels.TRANSFORMATION,
    labels.AGGREGATION,
    labels.CONDITIONAL,
    labels.WINDOW,
)
IDENTITY, TRANSFORMATION, AGGREGATION, CONDITIONAL, WINDOW = range(5)

Flows = tuple[int, int, int, int, int]
NO_FLOWS: Final[Flows] = (0, 0, 0, 0, 0)

#: Bounds of one value; a struct beyond them is kept as a whole.
_MAX_PARTS: Final = 64
_MAX_SIZE: Final = 2_000
_MAX_DEPTH: Final = 32
LARGE_STRUCT: Final = f"a struct of more than {_MAX_SIZE:,} members or {_MAX_DEPTH} levels"

Source = tuple[str, tuple[str, ...]]

_WORD: Final = 1_024  # bits processed at once
_ONES: Final = (1 << _WORD) - 1


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A part that is a read column or a nested field of one; ``how`` it flowed here."""

    attribute: str
    path: tuple[str, ...]
    how: int


@dataclass(frozen=True, slots=True)
class Struct:
    """A part that was built in the plan: its members in order."""

    names: tuple[str, ...]
    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """The sources of a value.

    ``flows`` are the sources by kind of flow. ``parts`` are the alternatives from which a field can
    be selected (None: unknown; (): a literal without fields); ``shared`` flows into every selected
    field (the conditions of a CASE that chose between structs). ``size`` counts the nested values,
    ``depth`` the nesting of structs.
    """

    flows: Flows = NO_FLOWS
    parts: tuple[ReadColumn | Struct, ...] | None = ()
    shared: Flows = NO_FLOWS
    size: int = field(default=1, compare=False)
    depth: int = field(default=0, compare=False)


EMPTY: Final = Value()


class ColumnNumbering:
    """Numbers the read columns in order of occurrence: the bits of :data:`Flows`."""

    def __init__(self) -> None:
        self._numbers: dict[Source, int] = {}
        self._listed: list[Source] = []

    def bit(self, attribute: str, path: tuple[str, ...]) -> int:
        source = (attribute, path)
        number = self._numbers.setdefault(source, len(self._listed))
        if number == len(self._listed):
            self._listed.append(source)
        return 1 << number

    def of(self, bits: int) -> Iterator[Source]:
        """The sources in a set, in order of occurrence."""
        start = 0
        while bits:
            empty = ((bits & -bits).bit_length() - 1) // _WORD * _WORD
            bits >>= empty
            start += empty
            word = bits & _ONES
            while word:
                lowest = word & -word
                yield self._listed[start + lowest.bit_length() - 1]
                word ^= lowest
            bits >>= _WORD
            start += _WORD


# --- flows ---------------------------------------------------------------------------------------


def union_flows(flows: Iterable[Flows]) -> Flows:
    identity = transformation = aggregation = conditional = window = 0
    for bits in flows:
        identity |= bits[IDENTITY]
        transformation |= bits[TRANSFORMATION]
        aggregation |= bits[AGGREGATION]
        conditional |= bits[CONDITIONAL]
        window |= bits[WINDOW]
    return (identity, transformation, aggregation, conditional, window)


def raised(flows: Flows, how: int) -> Flows:
    """The flows after a step that is at least ``how``: weaker direct flows become that strong."""
    identity, transformation, aggregation, conditional, window = flows
    if how == TRANSFORMATION:
        return (0, identity | transformation, aggregation, conditional, window)
    if how == AGGREGATION:
        return (0, 0, identity | transformation | aggregation, conditional, window)
    return flows


def as_influence(flows: Flows, how: int) -> Flows:
    """All sources as CONDITIONAL or WINDOW, because they only decide."""
    everything = all_sources(flows)
    return (0, 0, 0, everything, 0) if how == CONDITIONAL else (0, 0, 0, 0, everything)


def all_sources(flows: Flows) -> int:
    return flows[0] | flows[1] | flows[2] | flows[3] | flows[4]


# --- values --------------------------------------------------------------------------------------


def column(
    sources: ColumnNumbering, attribute: str, path: tuple[str, ...] = (), how: int = 0
) -> Value:
    """A read column, or a field below one."""
    flows = list(NO_FLOWS)
    flows[how] = sources.bit(attribute, path)
    return Value(tuple(flows), (ReadColumn(attribute, path, how),))  # type: ignore[arg-type]


def closed(flows: Flows) -> Value:
    """A value of which only the sources are known."""
    return Value(flows, None)


def struct(names: Sequence[str], members: Sequence[Value]) -> Value:
    """A struct of these members; as a whole it derives from all of them."""
    flows = union_flows(raised(member.flows, TRANSFORMATION) for member in members)
    size = 1 + sum(member.size for member in members)
    depth = 1 + max((member.depth for member in members), default=0)
    if size > _MAX_SIZE or depth > _MAX_DEPTH:
        return closed(flows)
    return Value(flows, (Struct(tuple(names), tuple(members)),), size=size, depth=depth)


def names_built(values: Sequence[Value]) -> tuple[str, ...]:
    """The fields of the first of these values, if the plan builds it in one way; else ()."""
    parts = values[0].parts if values else None
    return parts[0].names if parts and len(parts) == 1 and isinstance(parts[0], Struct) else ()


def merged(values: Sequence[Value]) -> Value:
    """Any of these: branches of a union, of a CASE."""
    if len(values) == 1:
        return values[0]
    flows = union_flows(value.flows for value in values)
    shared = union_flows(value.shared for value in values)
    parts: dict[ReadColumn | Struct, None] = {}
    for value in values:
        if value.parts is None:
            return Value(flows, None, shared)
        parts.update(dict.fromkeys(value.parts))
    size = sum(value.size for value in values)
    if len(parts) > _MAX_PARTS or size > _MAX_SIZE:
        return Value(flows, None, shared)
    return Value(flows, tuple(parts), shared, size, max(value.depth for value in values))


def stepped(value: Value, how: int) -> Value:
    """The value after a step that keeps its fields selectable: an element of an array."""
    if how == IDENTITY:
        return value
    parts = None if value.parts is None else tuple(_part(part, how) for part in value.parts)
    shared = raised(value.shared, how)
    return Value(raised(value.flows, how), parts, shared, value.size, value.depth)


def _part(part: ReadColumn | Struct, how: int) -> ReadColumn | Struct:
    if isinstance(part, ReadColumn):
        return ReadColumn(part.attribute, part.path, max(part.how, how))
    return Struct(part.names, tuple(stepped(member, how) for member in part.members))


def under(value: Value, influences: Flows) -> Value:
    """The value, with the sources that influence it."""
    if influences == NO_FLOWS:
        return value
    flows = union_flows((value.flows, influences))
    shared = union_flows((value.shared, influences))
    return Value(flows, value.parts, shared, value.size, value.depth)


def add_sources(value: Value, flows: Flows) -> Value:
    """The value, with sources that no selected field takes: the keys of a map."""
    whole = union_flows((value.flows, flows))
    return Value(whole, value.parts, value.shared, value.size, value.depth)


def compared(value: Value, sources: ColumnNumbering) -> Value:
    """The value, chosen or placed by comparison with others: max, sort_array.

    Structs are compared field by field: in ``max(struct(a, b))`` field ``b`` is a value of b that
    ``a`` has chosen, and ``a`` is chosen by itself alone. In a struct that was read, the fields
    before the picked one are not known: the struct as a whole decides.
    """
    whole, shared = value.flows, value.shared
    parts: list[ReadColumn | Struct] = []
    for part in value.parts or ():
        if isinstance(part, Struct):
            ordered = _compared_struct(part, sources)
            deciding = union_flows(member.flows for member in ordered.members)[CONDITIONAL]
            whole = union_flows((whole, (0, 0, 0, deciding, 0)))
            parts.append(ordered)
        else:
            read = column(sources, part.attribute, part.path)
            shared = union_flows((shared, as_influence(read.flows, CONDITIONAL)))
            parts.append(part)
    kept = None if value.parts is None else tuple(parts)
    return Value(whole, kept, shared, value.size, value.depth)


def counted(value: Value) -> Value:
    """The value, chosen because most rows have it: mode. All of a struct decides about a field."""
    shared = union_flows((value.shared, as_influence(value.flows, CONDITIONAL)))
    return Value(value.flows, value.parts, shared, value.size, value.depth)


def _compared_struct(part: Struct, sources: ColumnNumbering) -> Struct:
    """The struct with the influence of its members on those that follow."""
    before = NO_FLOWS
    members: list[Value] = []
    for member in part.members:
        members.append(under(compared(member, sources), before))
        before = union_flows((before, as_influence(member.flows, CONDITIONAL)))
    return Struct(part.names, tuple(members))


def picked(value: Value, name: str | None, place: int | None, sources: ColumnNumbering) -> Value:
    """One field of a struct, or of the structs in an array.

    From a struct with unknown members, the field derives from all sources, transformed.
    """
    if value.parts is None:
        return closed(raised(value.flows, TRANSFORMATION))
    fields: list[Value] = []
    for part in value.parts:
        member = _pick(part, name, place, sources)
        if member is None:
            return closed(raised(value.flows, TRANSFORMATION))
        fields.append(member)
    return under(merged(fields) if fields else EMPTY, value.shared)


def _pick(
    part: ReadColumn | Struct, name: str | None, place: int | None, sources: ColumnNumbering
) -> Value | None:
    if isinstance(part, ReadColumn):
        if name is None:
            return None
        return column(sources, part.attribute, (*part.path, name), part.how)
    if place is not None and 0 <= place < len(part.members):
        return part.members[place]
    folded = name.casefold() if name is not None else None
    for known, member in zip(part.names, part.members, strict=True):
        if known.casefold() == folded:
            return member
    return None


# --- the values of attributes and expressions -----------------------------------------------------


#: Functions whose result is one of their arguments or an element of one: its fields stay
#: selectable.
_CHOOSING: Final = frozenset(
    {
        "aggregateexpression", "anyvalue", "array", "arrayappend", "arraycompact", "arraydistinct",
        "arrayexcept", "arrayfilter", "arrayinsert", "arrayintersect", "arraymax", "arraymin",
        "arrayprepend", "arrayremove", "arrayrepeat", "arraysort", "arrayunion", "casewhen",
        "coalesce", "collectlist", "collectset", "concat", "decode", "elementat", "explode",
        "filter", "first", "flatten", "get", "getarrayitem", "greatest", "if", "ifnull", "lag",
        "last", "lead", "least", "max", "maxby", "min", "minby", "mode", "nthvalue", "nullif",
        "nvl", "nvl2", "reverse", "shuffle", "slice", "sortarray", "tryelementat",
        "windowexpression",
    }
)  # fmt: skip
#: Of these, the functions that compare their elements: a struct by its fields, one after another.
_COMPARING: Final = frozenset(
    {"arraymax", "arraymin", "arraysort", "greatest", "least", "max", "min", "sortarray"}
)
#: For these, only the first argument holds the elements; the others select one.
_CHOOSING_FIRST: Final = frozenset(
    {"elementat", "tryelementat", "getarrayitem", "get", "slice", "nthvalue"}
)
_PICKING: Final = frozenset({"getstructfield", "getarraystructfields"})
_EXPLODING: Final = frozenset({"explode", "explodeouter"})
_DETAIL: Final = 120
#: The approximate memory of one plan's values: a thousand steps with the sums of ten thousand
#: columns each are sets of ten million bits; a struct that every step copies takes more.
MOST_BYTES: Final = 250_000_000
_VALUE_BYTES: Final = 250


class TooLarge(Exception):
    """Stops a valuation; names the bound."""


class Valuation:
    """The values of one plan; ``gaps`` are those found on the way. Raises TooLarge beyond
    MOST_BYTES.
    """

    def __init__(self, plan: ExecutionPlan, definitions: Definitions) -> None:
        self.plan = plan
        self.definitions = definitions
        self.sources = ColumnNumbering()
        self.gaps: dict[Gap, None] = {}
        self.visited = 0  # nodes and edges, the measure of work
        self._lambdas = Lambdas(plan)
        self._known: dict[Place, Value] = {}
        self._whole: dict[frozenset[int], Value] = {}
        self._left = MOST_BYTES

    def flows(self, reference: Reference) -> Flows:
        return self.value(reference).flows

    def value(self, node: Node) -> Value:
        try:
            return evaluate(node, self._inputs, self._combine, self._known)
        except TooManyBound:
            return self._unbound(node)

    def _unbound(self, node: Node) -> Value:
        """Without lambdas: a higher-order function depends on all of its arguments."""
        self._lambdas.let_go()
        self._known.clear()
        self._whole.clear()
        self._left = MOST_BYTES
        return evaluate(node, self._inputs, self._combine, self._known)

    def _inputs(self, node: Place) -> Sequence[Place]:
        if isinstance(node, FramedExpression):
            self._lambdas.spend()
        inputs = self._inputs_of(node)
        self.visited += 1 + len(inputs)
        return inputs

    def _inputs_of(self, node: Place) -> Sequence[Place]:
        if isinstance(node, Inputs):
            if self.definitions.outputs_into(node.operation) in self._whole:
                return ()
            return tuple(self.definitions.inputs_of(node.operation))
        node, frame = (node, 0) if isinstance(node, Reference) else (node.reference, node.frame)
        if node.kind == "attribute":
            return self.definitions.of(node.id).inputs
        function = self.plan.functions.get(node.id)
        return self._arguments(function, frame) if function is not None else ()

    def _arguments(self, function: Function, frame: int) -> Sequence[Place]:
        """The arguments that the value of a function depends on, in a frame."""
        if (call := self._lambdas.call(function, frame)) is not None:
            return call.places
        if not frame:
            return function.children
        if (variable := self._lambdas.variable(function, frame)) is not None:
            return variable[1].places
        return self._lambdas.inside(function.children, frame)

    def _input(self, node: Place) -> Value:
        known = self._known.get(node)
        if known is None:
            self._gap(CYCLE, self._name(node))
            return EMPTY
        return known

    def _name(self, node: Place) -> str:
        if isinstance(node, Inputs):
            return self.definitions.place(self.definitions.operations[node.operation])
        if isinstance(node, FramedExpression):
            node = node.reference
        if node.kind == "attribute":
            return self.definitions.name_of(node.id)
        function = self.plan.functions.get(node.id)
        return function.name if function is not None else "?"

    def _gap(self, code: str, detail: str) -> None:
        self.gaps[Gap(code, detail)] = None

    # --- combination -----------------------------------------------------------------------------

    def _combine(self, node: Place) -> Value:
        handed_on = self._handed_on(node)
        if handed_on is not None:
            return handed_on
        value = self._combined(node)
        self._left -= 32 + sum(map(int.bit_length, value.flows)) // 8
        if value.size > 1 and not any(value is self._known.get(n) for n in self._inputs_of(node)):
            self._left -= value.size * _VALUE_BYTES
        if self._left < 0:
            raise TooLarge(f"more than {MOST_BYTES // 1_000_000:,} MB of sets of columns")
        return value

    def _handed_on(self, node: Place) -> Value | None:
        """The value of a column that copies another one, as nearly all columns
        of a long plan do.
        """
        if not isinstance(node, Reference) or node.kind != "attribute":
            return None
        definition = self.definitions.of(node.id)
        return self._known.get(definition.nodes[0]) if definition.is_copy else None

    def _combined(self, node: Place) -> Value:
        if isinstance(node, Inputs):
            return self._all_inputs(node)
        node, frame = (node, 0) if isinstance(node, Reference) else (node.reference, node.frame)
        if node.kind == "attribute":
            return self._attribute(node.id)
        if node.id in self.plan.constants:
            return EMPTY
        function = self.plan.functions.get(node.id)
        if function is None:
            self._gap(DANGLING, "an expression that the document does not hold")
            return EMPTY
        return self._function(function, frame)

    def _all_inputs(self, node: Inputs) -> Value:
        """Computed once for all operations over the same wide inputs."""
        outputs = self.definitions.outputs_into(node.operation)
        known = self._whole.get(outputs)
        if known is None:
            inputs = self.definitions.inputs_of(node.operation)
            flows = union_flows(self._input(item).flows for item in inputs)
            known = self._whole[outputs] = closed(raised(flows, TRANSFORMATION))
        return known

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
        influences = [
            as_influence(self._input(r).flows, CONDITIONAL) for r in definition.conditions
        ]
        return under(value, union_flows(influences))

    def _function(self, function: Function, frame: int) -> Value:
        if (call := self._lambdas.call(function, frame)) is not None:
            return self._called(call)
        word = canonical(function)
        values = [self._input(place) for place in self._arguments(function, frame)]
        if frame and (variable := self._lambdas.variable(function, frame)) is not None:
            variable[0].used.update(variable[1].arguments)
            return _any_of(values, is_key=variable[1].is_key)
        if is_transparent(self.plan, function, word) or word == "withfield":
            return values[0]
        if is_union(function):
            return merged(values)
        if word == "typednullliteral":  # NULL of its argument's type
            return EMPTY
        if word in _PICKING and len(values) == 1:
            return picked(values[0], *struct_field(self.plan, function), self.sources)
        if word == "namedstruct":
            return self._struct(function, values)
        if word == "updatefields":
            return self._updated(function, values)
        if word in CASTS and len(values) == 1:
            names = fields_of(self.plan, function.children[0])
            return self._cast(values[0], function.data_type, names)
        if word == "arrayszip":
            names = tuple(name for name, _ in self.plan.fields(function.data_type))
            elements = [stepped(value, TRANSFORMATION) for value in values]
            # Without a type, fields are found by their places.
            return self._built(names or [str(place) for place in range(len(values))], elements)
        if is_subquery(word) and (text := subplan_text(function)) is not None:
            line = stable(text.split("\n", 1)[0])
            self._gap(labels.SUBQUERY, f"{word}: {line[:_DETAIL]}")
        return self._call(function, word, values)

    def _call(self, function: Function, word: str, values: Sequence[Value]) -> Value:
        """By roles: values flow on, other arguments decide."""
        how = AGGREGATION if is_aggregate(function, word) else TRANSFORMATION
        if is_subquery(word) or is_clause(function, word):
            how = IDENTITY
        given = roles(function, word)
        flowing, influences = values, NO_FLOWS
        if given.count(ChildRole.VALUE) < len(given):
            flowing = [v for v, role in zip(values, given, strict=True) if role is ChildRole.VALUE]
            influences = union_flows(
                as_influence(value.flows, CONDITIONAL if role is ChildRole.CONDITION else WINDOW)
                for value, role in zip(values, given, strict=True)
                if role is not ChildRole.VALUE
            )
        if word in _CHOOSING_FIRST and flowing:
            kept = stepped(flowing[0], how)
            index = union_flows(raised(value.flows, how) for value in flowing[1:])
            return under(kept, union_flows((influences, index)))
        if (word in _CHOOSING or is_subquery(word)) and flowing:
            chosen = stepped(merged(flowing), how)
            if word in _COMPARING:
                chosen = compared(chosen, self.sources)
            if word == "mode":
                chosen = counted(chosen)
            return under(chosen, influences)
        flows = union_flows(raised(value.flows, how) for value in flowing)
        if not flowing and influences == NO_FLOWS:
            return EMPTY if not values else closed(flows)
        return closed(union_flows((flows, influences)))

    def _struct(self, function: Function, values: Sequence[Value]) -> Value:
        """``named_struct(name, value, …)``."""
        constants = [self.plan.constants.get(child.id) for child in function.children[::2]]
        if len(values) % 2 or None in constants:
            return closed(union_flows(raised(value.flows, TRANSFORMATION) for value in values))
        names = [str(constant.value) for constant in constants if constant is not None]
        return self._built(names, values[1::2])

    def _cast(self, value: Value, data_type: str | None, former: Sequence[str]) -> Value:
        """A cast gives the fields of a struct other names, by their places: ``CAST(struct(a, b) AS
        STRUCT<x: INT, y: INT>).y`` is b. ``former`` are the names of a struct that was read.
        """
        fields = self.plan.fields(data_type)
        changed = stepped(value, TRANSFORMATION)
        same = [name.casefold() for name, _ in fields] == [name.casefold() for name in former]
        parts: list[ReadColumn | Struct] = []
        for part in changed.parts or ():
            if isinstance(part, ReadColumn):
                if not same and len(fields) == len(former) and changed.parts == (part,):
                    return self._renamed(changed, part, fields, former)
                known: ReadColumn | Struct | None = part if fields and same else None
            else:
                known = self._cast_struct(part, fields)
            if known is None:
                return closed(changed.flows)
            parts.append(known)
        if changed.parts is None:
            return changed
        return Value(changed.flows, tuple(parts), changed.shared, changed.size, changed.depth)

    def _renamed(
        self,
        value: Value,
        part: ReadColumn,
        fields: Sequence[tuple[str, str]],
        former: Sequence[str],
    ) -> Value:
        """A read struct under other names; those of the structs within it are not compared."""
        members = []
        for name, (_, data_type) in zip(former, fields, strict=True):
            member = column(self.sources, part.attribute, (*part.path, name), part.how)
            members.append(closed(member.flows) if self.plan.fields(data_type) else member)
        built = self._built([name for name, _ in fields], members)
        return Value(value.flows, built.parts, value.shared, built.size, built.depth)

    def _cast_struct(self, part: Struct, fields: Sequence[tuple[str, str]]) -> Struct | None:
        if len(part.members) != len(fields):
            return None
        members = zip(part.members, fields, strict=True)
        return Struct(
            tuple(name for name, _ in fields),
            tuple(self._cast(member, data_type, ()) for member, (_, data_type) in members),
        )

    def _built(self, names: Sequence[str], members: Sequence[Value]) -> Value:
        value = struct(names, members)
        if value.parts is None:
            self._gap(labels.FIELDS_TOO_MANY, LARGE_STRUCT)
        return value

    def _updated(self, function: Function, values: Sequence[Value]) -> Value:
        """``s.withField('c', x).dropFields('b')``: the members of s with c and without b."""
        fields = fields_of(self.plan, function.children[0]) if function.children else ()
        fields = fields or names_built(values)
        changes = [self.plan.functions.get(child.id) for child in function.children[1:]]
        if not fields or None in changes:
            return closed(union_flows(raised(value.flows, TRANSFORMATION) for value in values))
        members = {
            name.casefold(): (name, picked(values[0], name, place, self.sources))
            for place, name in enumerate(fields)
        }
        for change, value in zip(filter(None, changes), values[1:], strict=True):
            name = str(change.params.get("name"))
            if canonical(change) == "dropfield":
                members.pop(name.casefold(), None)
            else:
                members[name.casefold()] = (name, value)
        return self._built(*zip(*members.values(), strict=True)) if members else EMPTY

    # --- higher-order functions ------------------------------------------------------------------

    def _called(self, call: BoundFunction) -> Value:
        """An argument without elements still determines the number of calls: it decides."""
        first, *others = (self._input(place) for place in call.arguments)
        body = self._input(call.bodies[-1])
        unused = union_flows(as_influence(self._input(n).flows, CONDITIONAL) for n in call.unused())
        match call.result:
            case LambdaResult.KEPT:
                return under(stepped(first, TRANSFORMATION), as_influence(body.flows, CONDITIONAL))
            case LambdaResult.DECIDED:
                return closed(union_flows((as_influence(body.flows, CONDITIONAL), unused)))
            case LambdaResult.KEYS:
                return add_sources(
                    stepped(first, TRANSFORMATION), raised(body.flows, TRANSFORMATION)
                )
            case LambdaResult.VALUES:
                keys = union_flows(
                    raised(value.flows, TRANSFORMATION) for value in (first, *others)
                )
                return add_sources(stepped(body, TRANSFORMATION), keys)
            case LambdaResult.FOLDED:
                return under(self._folded(call), unused)
            case LambdaResult.MADE:
                return under(stepped(body, TRANSFORMATION), unused)

    def _folded(self, call: BoundFunction) -> Value:
        """An accumulator that would take more sources in a further round gets all that it could
        take.
        """
        values = [self._input(place) for place in call.places]
        zero = values[1]
        merges = values[2 : 2 + MERGES]
        if merges[-1] != merges[-2]:
            return closed(union_flows(raised(value.flows, TRANSFORMATION) for value in values))
        finished = len(call.bodies) > MERGES
        return stepped(values[-1] if finished else merged([zero, merges[-1]]), TRANSFORMATION)

    # --- generators ------------------------------------------------------------------------------

    def _generated(self, definition: AttributeDefinition) -> Value:
        """One output of a generator: see the rules for explode, stack and inline."""
        node = definition.nodes[0]
        whole = stepped(self._input(node), TRANSFORMATION)
        function = self.plan.functions.get(node.id) if isinstance(node, Reference) else None
        if function is None:
            return whole
        word = canonical(function)
        count = len(function.children)
        if word == "stack" and count > 1:
            return self._stacked(function.children, definition)
        if word in {"inline", "inlineouter"} and count == 1:
            fields = fields_of(self.plan, function.children[0])
            name = fields[definition.position] if definition.position < len(fields) else None
            return stepped(
                picked(self._input(function.children[0]), name, definition.position, self.sources),
                TRANSFORMATION,
            )
        if definition.siblings == 1 and word in _EXPLODING and count == 1:
            return stepped(self._input(function.children[0]), TRANSFORMATION)
        return closed(whole.flows)

    def _stacked(self, arguments: Sequence[Reference], definition: AttributeDefinition) -> Value:
        """``stack(2, 'a', a, 'b', b)`` row by row: column 0 is 'a' or 'b', column 1 is a or b."""
        column = arguments[1 + definition.position :: definition.siblings]
        if not column:
            return EMPTY
        return stepped(merged([self._input(item) for item in column]), TRANSFORMATION)


def _any_of(values: Sequence[Value], *, is_key: bool) -> Value:
    """An element of these arrays or maps. The map does not show the sources of its keys."""
    if is_key:
        return closed(union_flows(raised(value.flows, TRANSFORMATION) for value in values))
    return merged(values) if values else EMPTY


def composed(later: str, earlier: str) -> str:
    """The flow through both steps; an influence stays an influence."""
    for how in (later, earlier):
        if how not in labels.DIRECT_HOWS:
            return how
    return max(later, earlier, key=labels.DIRECT_HOWS.index)
