"""Column lineage inside one plan: the read columns behind each written column.

Knows plans in normal form and the definitions of ``expressions``; no I/O, no graph. The rules:

- **How a value flows.** An alias, a union's branch, a CTE, a field picked from a struct and a cast
  to the type that the value already has are IDENTITY; any other cast or function is
  TRANSFORMATION; crossing an aggregate function, over a window too, is AGGREGATION. One source may
  reach a column in several ways: each is a derivation of its own (``a / sum(a) OVER ()``).
- **A value that only decides** is INDIRECT: conditions of CASE, IF and FILTER (WHERE …), the
  ordering of max_by and the comparison of a pivot are CONDITIONAL; PARTITION BY, ORDER BY and the
  arguments of ranking functions are WINDOW. A column that decides about an input of an expression
  also decides about its result. ``coalesce(a, b)`` takes both as values.
- **Plan-wide influences.** Conditions of joins of any kind (semi and anti too) are JOIN; those of
  filters are FILTER, and so are both sides of EXCEPT and INTERSECT, whose values are those of
  their left side alone; DISTINCT and dropDuplicates are GROUP_BY, as Spark itself rewrites them.
  Conditions are split at AND: a column carries only the conjuncts that it stands in.
- **Structs.** A struct built in the plan is TRANSFORMATION of all its members, also where each is a
  plain column: another value is made. It is remembered by member, so picking a field takes that
  member's sources alone, as they flowed into it; a field picked from a read column extends
  ``source_path``. Both hold through arrays, explode, CASE and unions; any other function closes
  the struct. A written struct that is not closed tells the fields that each source flows into.
- **Lambdas** (``expressions.functions``). A variable is the element, key or accumulator that it
  stands for, so a field picked from it is that of the element. The result of a lambda of transform,
  zip_with and aggregate flows on; that of filter, exists, forall and a comparator
  is CONDITIONAL. An array of which a lambda takes no element says how many there are: CONDITIONAL.
  Keys of a map are the map as a whole. A fold is no AGGREGATION: it stays within its row.
- **Generators.** Every column of explode, posexplode and the like comes from all inputs; those of
  ``stack`` and ``inline`` from the inputs in their place.
- **UPDATE and MERGE** keep a row's value (IDENTITY) or set it (by the expression); their
  conditions are CONDITIONAL for the columns that they set. A clause's condition chooses rows, as
  a filter does: the copied value is IDENTITY, unlike a value that a CASE of the query chooses. The
  condition of a clause that deletes rows is FILTER (the listener's ``deletions``).

Each attribute and expression that the outputs or the conditions need is valued once, inputs
before their users, so the cost is linear in the plan.

Conditions, joins and groups that decide about the rows of a whole output are its influences.

A written struct tells the fields that each of its sources flows into. A value knows the members of
a struct that the plan builds, and the read column behind a struct that it copies
(``column_values``). Where the written column has these members by its declared type, a source
counts for its own members; anything else counts for the whole struct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from graph_model import labels, naming
from graph_model.producers.spline.column_values import (
    CONDITIONAL,
    HOWS,
    NO_FLOWS,
    TRANSFORMATION,
    ColumnNumbering,
    Flows,
    ReadColumn,
    Source,
    Struct,
    TooLarge,
    Valuation,
    Value,
    all_sources,
    as_influence,
    raised,
    union_flows,
)
from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Operation,
    Reference,
    as_reference,
    references_in,
    type_text,
)
from graph_model.producers.spline.expressions.definitions import (
    AMBIGUOUS_OUTPUT,
    MERGE,
    OPAQUE_RDD,
    UNKNOWN_OUTPUT,
    ColumnAssignment,
    Definitions,
    Gap,
    operation_word,
    readable,
)
from graph_model.producers.spline.expressions.functions import canonical
from graph_model.producers.spline.expressions.text import Renderer, shortened, value_text

MOST_DERIVATIONS: Final = 100_000
"""The limit for one plan: if each column depends on all, their number grows with the square, and
each derivation is an edge."""
MOST_INFLUENCES: Final = 200_000
"""Pairs of a column and a condition; those of one column are one edge."""


class Derivation(NamedTuple):
    """A written column comes from a read one.

    ``output`` is the column's place in :attr:`PlanColumns.outputs`; ``source`` the id of the read
    attribute and ``source_path`` the fields picked below it, () for the whole column. ``kind`` is
    DIRECT with ``how`` IDENTITY, TRANSFORMATION or AGGREGATION, or INDIRECT with WINDOW or
    CONDITIONAL. ``expression`` is the written column in terms of read columns, as SQL-like text.
    ``fields`` are those of a written struct that the source flows into (``naming.columns``); ():
    the whole column.
    """

    output: int
    source: str
    source_path: tuple[str, ...]
    kind: str
    how: str
    expression: str
    fields: Fields = ()


class Influence(NamedTuple):
    """A read column decides about the whole output; ``how`` FILTER, JOIN, GROUP_BY or SORT.

    ``expression`` is the condition (the conjunct that the column stands in), the grouping or the
    order, in terms of read columns.
    """

    source: str
    source_path: tuple[str, ...]
    how: str
    expression: str


@dataclass(frozen=True, slots=True)
class PlanColumns:
    """``outputs`` are the attribute ids written, in order; () when the document
    does not list them.
    """

    outputs: tuple[str, ...]
    derivations: tuple[Derivation, ...]
    influences: tuple[Influence, ...]
    gaps: tuple[Gap, ...]


def derive(plan: ExecutionPlan, renderer: Renderer | None = None) -> PlanColumns:
    """The column lineage of a plan. Pure; never raises because a document is incomplete.

    A plan with more than MOST_DERIVATIONS derivations, or MOST_INFLUENCES influences, gets no
    column lineage and the gap labels.TOO_LARGE, because half of a lineage looks complete.
    """
    return _Deriver(plan, renderer if renderer is not None else Renderer(plan)).derive()


class _Deriver:
    def __init__(self, plan: ExecutionPlan, renderer: Renderer) -> None:
        self.plan = plan
        self.renderer = renderer
        self.definitions: Definitions = renderer.definitions
        self.valuation = Valuation(plan, self.definitions)
        self.gaps: dict[Gap, None] = {}
        self.influencing: dict[tuple[str, str], int] = {}  # (how, text) => the columns in it

    def derive(self) -> PlanColumns:
        outputs = self._outputs()
        derivations: tuple[Derivation, ...] = ()
        influences: tuple[Influence, ...] = ()
        try:
            self._count(outputs)
            derivations = tuple(self._derivations(outputs))
            influences = tuple(self._influences())
        except TooLarge as error:
            self.gaps[Gap(labels.TOO_LARGE, str(error))] = None
        gaps = tuple(sorted({**self.gaps, **self.valuation.gaps}))
        return PlanColumns(outputs, derivations, influences, gaps)

    def _count(self, outputs: Sequence[str]) -> None:
        """Raises TooLarge before pairs are listed: the sets are small, the
        lists of pairs are not.
        """
        derivations = sum(
            sum(map(int.bit_count, self.valuation.flows(_attribute(output)))) for output in outputs
        )
        check_count(derivations, MOST_DERIVATIONS, "derivations")
        for item in statements(self.plan, self.definitions, self.renderer):
            key = (item.how, item.text)
            self.influencing[key] = self.influencing.get(key, 0) | self._bits(item)
        influences = sum(map(int.bit_count, self.influencing.values()))
        check_count(influences, MOST_INFLUENCES, "influences")

    def _outputs(self) -> tuple[str, ...]:
        """The output of the write's input; () with a gap where the document does not list it."""
        known = self.definitions.outputs[self.plan.write.id]
        if known is None and self.plan.reads:
            self.gaps[self._without_output(self.plan.write)] = None
        return tuple(known or ())

    def _without_output(self, operation: Operation) -> Gap:
        """The first operation below with a schema, skipping operations without one."""
        while True:
            inputs = [self.definitions.operations[child] for child in operation.children]
            schemas = [self.definitions.outputs[item.id] for item in inputs]
            if sum(schema is not None for schema in schemas) > 1:
                return Gap(AMBIGUOUS_OUTPUT, self.definitions.place(operation))
            silent = [item for item in inputs if self.definitions.outputs[item.id] is None]
            if "RDD" in operation.name:
                return Gap(OPAQUE_RDD, self.definitions.place(operation))
            if not silent:
                return Gap(UNKNOWN_OUTPUT, self.definitions.place(operation))
            operation = silent[0]

    # --- derivations -----------------------------------------------------------------------------

    def _derivations(self, outputs: Sequence[str]) -> Iterator[Derivation]:
        updates = self._updates(len(outputs))
        reached = self._fields(outputs)
        for place, identifier in enumerate(outputs):
            reference = _attribute(identifier)
            flows = self.valuation.flows(reference)
            text = self.renderer.text(reference, inline=True)
            fields = reached.get(place, {})
            if updates:
                kept = flows
                flows, text = self._updated(flows, text, updates[place])
                fields = fields if flows == kept else {}
            yield from self._spelled(place, flows, text, fields)

    def _fields(self, outputs: Sequence[str]) -> dict[int, dict[FlowKey, Fields]]:
        """Per output that is a struct the fields that its sources flow into; none where all
        together are too many: half of the fields looks complete.
        """
        reading = FieldsOfOutputs(self.plan, self.valuation.sources)
        try:
            return {
                place: fields
                for place, output in enumerate(outputs)
                if (fields := reading.of(output, self.valuation.value(_attribute(output))))
            }
        except TooManyFields as error:
            self.gaps[Gap(labels.FIELDS_TOO_MANY, str(error))] = None
            return {}

    def _spelled(
        self, place: int, flows: Flows, text: str, fields: Mapping[FlowKey, Fields]
    ) -> Iterator[Derivation]:
        for number, bits in enumerate(flows):
            kind = labels.DIRECT if number < CONDITIONAL else labels.INDIRECT
            for source, path in self.valuation.sources.of(bits):
                reached = fields.get((number, (source, path)), ())
                yield Derivation(place, source, path, kind, HOWS[number], text, reached)

    def _updates(self, count: int) -> list[ColumnAssignment]:
        """Per output the new value in an UPDATE; [] for any other write."""
        write = self.plan.write
        if "updateExpressions" not in write.params:
            return []
        assignments = self.definitions.commands.of(write).updated()
        if len(assignments) != count:
            counts = f"{len(assignments)} expressions, {count} columns"
            self.gaps[Gap(MERGE, f"{write.name}: {counts}")] = None
            return []
        return assignments

    def _updated(self, kept: Flows, name: str, set_to: ColumnAssignment) -> tuple[Flows, str]:
        """Rows for which the condition is false keep their value."""
        if not set_to.complete:
            self.gaps[Gap(MERGE, f"{self.plan.write.name}: {name}")] = None
        if not set_to.changed and [self.valuation.flows(item) for item in set_to.same] == [kept]:
            return kept, name
        same = [self.valuation.flows(item) for item in set_to.same]
        changed = [raised(self.valuation.flows(r), TRANSFORMATION) for r in set_to.changed]
        influences = [as_influence(self.valuation.flows(r), CONDITIONAL) for r in set_to.conditions]
        return union_flows((kept, *same, *changed, *influences)), self._chosen(name, set_to)

    def _chosen(self, name: str, set_to: ColumnAssignment) -> str:
        """``CASE WHEN dept = HR THEN salary + bonus ELSE salary END``; without a condition the new
        value.
        """
        texts = (self.renderer.text(reference, inline=True) for reference in set_to.same)
        new = set_to.text or ", ".join(texts) or "?"
        condition = value_text(self.plan.write.params.get("condition"), self.renderer)
        if condition:
            new = f"CASE WHEN {readable(condition)} THEN {new} ELSE {name} END"
        return shortened(new, self.renderer.limit)

    # --- influences ------------------------------------------------------------------------------

    def _influences(self) -> Iterator[Influence]:
        for (how, text), bits in self.influencing.items():
            for source, path in self.valuation.sources.of(bits):
                yield Influence(source, path, how, text)

    def _bits(self, statement: RowCondition) -> int:
        bits = 0
        for reference in statement.references:
            bits |= all_sources(self.valuation.flows(reference))
        return bits


def _attribute(identifier: str) -> Reference:
    return Reference("attribute", identifier)


def check_count(count: int, most: int, counted: str) -> None:
    """Raises TooLarge for more than ``most`` derivations, or influences."""
    if count > most:
        raise TooLarge(f"{count:,} {counted}, at most {most:,}")


# --- influences on the rows of a whole output -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition, a grouping or an order, with its columns and its text."""

    how: str
    references: tuple[Reference, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PriorInfluences:
    """The conditions of earlier operations, and the outputs that decided as a whole."""

    conjuncts: set[tuple[str, Reference]] = field(default_factory=set)
    columns: dict[tuple[object, ...], RowCondition] = field(default_factory=dict)


#: Parameters that group rows, in any operation.
_GROUPINGS: Final = ("groupingExpressions", "groupingAttributes", "keys")
_CONDITIONS: Final = ("condition", "asOfCondition")
#: The listener's list of the conditions under which a MERGE deletes rows.
_DELETIONS: Final = "deletions"


def statements(
    plan: ExecutionPlan, definitions: Definitions, renderer: Renderer
) -> Iterator[RowCondition]:
    """In topological order, of the operations whose rows can reach the write; each once.

    Many operations may repeat one condition or one wide output. Repetitions are recognised, so that
    the cost depends on the size of the document alone.
    """
    reached = _reached(plan, definitions)
    prior = PriorInfluences()
    for operation in plan.operations:
        if operation.id in reached:
            yield from _Reader(plan, definitions, renderer, operation, prior).statements()


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _reached(plan: ExecutionPlan, definitions: Definitions) -> set[str]:
    """From the write through inputs; a CTE counts where it is referenced, not
    where it is defined.
    """
    seen: set[str] = set()
    stack = [plan.write.id]
    while stack:
        identifier = stack.pop()
        if identifier in seen:
            continue
        seen.add(identifier)
        operation = definitions.operations[identifier]
        if (defined := definitions.cte.get(identifier)) is not None:
            stack.append(defined.id)
        stack.extend(
            child for child in operation.children if not _defines(definitions, operation, child)
        )
    return seen


def _defines(definitions: Definitions, operation: Operation, child: str) -> bool:
    below = definitions.operations[child]
    return operation_word(operation) == "WithCTE" and operation_word(below) == "CTERelationDef"


@dataclass(frozen=True, slots=True)
class _Reader:
    plan: ExecutionPlan
    definitions: Definitions
    renderer: Renderer
    operation: Operation
    prior: PriorInfluences

    def statements(self) -> Iterator[RowCondition]:
        params = self.operation.params
        word = operation_word(self.operation)
        for key in _CONDITIONS:
            if params.get(key) is not None:
                yield from self._condition(params[key], self._condition_kind(word))
        for condition in _as_list(params.get(_DELETIONS)):
            yield from self._condition(condition, labels.FILTER)
        for key in _GROUPINGS:
            if params.get(key):
                yield from self._listed(params[key], labels.GROUP_BY)
        if word == "Distinct":
            yield from self._columns(self.operation.children, labels.GROUP_BY, "DISTINCT ")
        if word == "Sort" and params.get("order"):
            yield from self._listed(params["order"], labels.SORT)
        if word in {"Except", "Intersect"}:
            yield from self._columns(self.operation.children, labels.FILTER, f"{word.upper()} ")

    def _condition_kind(self, word: str) -> str:
        joins = "Join" in word or word.startswith("MergeInto")
        return labels.JOIN if joins else labels.FILTER

    def _condition(self, value: Any, how: str) -> Iterator[RowCondition]:
        if isinstance(value, str):
            yield from self._text_condition(value, how)
        elif (reference := as_reference(value)) is not None:
            for conjunct in self._conjuncts(reference, how):
                text = self.renderer.text(conjunct, inline=True)
                yield RowCondition(how, (conjunct,), text)

    def _text_condition(self, text: str, how: str) -> Iterator[RowCondition]:
        """Delta's commands. An UPDATE's condition chooses values, not rows: see its columns."""
        if "updateExpressions" in self.operation.params:
            return
        command = self.definitions.commands.of(self.operation)
        shown = shortened(readable(text), self.renderer.limit)
        yield RowCondition(how, command.references(text)[0], shown)

    def _conjuncts(self, condition: Reference, how: str) -> Iterator[Reference]:
        """``a AND (b AND c)`` => a, b, c, without conjuncts that an earlier operation had."""
        stack = [condition]
        while stack:
            reference = stack.pop()
            if (how, reference) in self.prior.conjuncts:
                continue
            self.prior.conjuncts.add((how, reference))
            function = self.plan.functions.get(reference.id)
            if function is not None and canonical(function) == "and":
                stack.extend(reversed(function.children))
            else:
                yield reference

    def _listed(self, value: Any, how: str) -> Iterator[RowCondition]:
        references = tuple(references_in(value))
        texts = [self._item(item) for item in (value if isinstance(value, list) else [value])]
        yield RowCondition(how, references, shortened(", ".join(texts), self.renderer.limit))

    def _item(self, item: Any) -> str:
        """A grouping expression, or an item of an order, in terms of read columns."""
        if (reference := as_reference(item)) is not None:
            return self.renderer.text(reference, inline=True)
        expression = as_reference(item.get("expression")) if isinstance(item, dict) else None
        if expression is None:
            return value_text(item, self.renderer)
        words = (item.get("direction"), item.get("nullOrdering"))
        text = self.renderer.text(expression, inline=True)
        return " ".join((text, *(word for word in words if isinstance(word, str))))

    def _columns(self, children: Sequence[str], how: str, prefix: str) -> Iterator[RowCondition]:
        """All columns of the inputs. Operations without an output of their own share one result."""
        outputs = [self.definitions.outputs[child] or () for child in children]
        distinct = {id(output): output for output in outputs}
        key = (prefix, *map(id, outputs[:1]), frozenset(distinct))
        if key in self.prior.columns:
            return
        references = tuple(
            Reference("attribute", identifier)
            for output in distinct.values()
            for identifier in output
        )
        first = outputs[0] if outputs else ()
        names = [self.renderer.text(Reference("attribute", i), inline=False) for i in first]
        text = shortened(prefix + ", ".join(names), self.renderer.limit)
        self.prior.columns[key] = RowCondition(how, references, text)
        yield self.prior.columns[key]


# --- fields of written structs -------------------------------------------------------------------

FlowKey = tuple[int, Source]
"""How a source flows (a place in HOWS), and the source."""
Fields = tuple[tuple[str, bool], ...]
"""Sorted: the path of a field within the written column, and whether its own fields are those of
the source (``naming.columns``). () for the whole column.
"""

MOST_FIELDS: Final = 100_000
"""Pairs of a source and a field, and visited members, of one plan."""
MOST_CHARACTERS: Final = 5_000_000
"""Of the paths of these fields."""
_MAX_NESTED_ARRAYS: Final = 8


class TooManyFields(Exception):
    """The fields of one plan exceed a bound; names it."""


class FieldsOfOutputs:
    """The fields of the outputs of one plan. Raises TooManyFields beyond a bound."""

    def __init__(self, plan: ExecutionPlan, sources: ColumnNumbering) -> None:
        self._plan = plan
        self._sources = sources
        self._left = MOST_FIELDS
        self._characters_left = MOST_CHARACTERS

    def of(self, output: str, value: Value) -> dict[FlowKey, Fields]:
        """Per flow into an output (an attribute) the fields that it reaches, where it does not
        reach the whole.
        """
        attribute = self._plan.attributes.get(output)
        declared = attribute.data_type if attribute is not None else None
        flows: dict[FlowKey, dict[str, bool]] = {}
        if value.parts and self._fields(declared):
            self._spread(value, declared, (), flows)
        return {
            key: tuple(sorted(fields.items()))
            for key, fields in flows.items()
            if fields.get(naming.WHOLE, True)
        }

    def _spread(
        self,
        value: Value,
        declared: str | None,
        path: tuple[str, ...],
        reached: dict[FlowKey, dict[str, bool]],
    ) -> None:
        """Note the flows into the field at ``path``, of the declared type (an id), and below."""
        self._spend(1, 0)
        fields = self._fields(declared)
        inside: list[Flows] = []
        for part in (value.parts or ()) if fields else ():
            inside.append(self._flows(part))
            if isinstance(part, ReadColumn):
                self._note(inside[-1], path, reached, copied=self._has_type(part, declared))
            elif _have_names(part, fields):
                for (name, kind), member in zip(fields, part.members, strict=True):
                    self._spread(member, kind, (*path, naming.fold(name)), reached)
            else:
                self._note(inside[-1], path, reached, copied=False)
        self._note(_without(value.flows, inside), path, reached, copied=False)
        if fields:
            self._note(value.shared, path, reached, copied=False)

    def _note(
        self,
        flows: Flows,
        path: tuple[str, ...],
        reached: dict[FlowKey, dict[str, bool]],
        *,
        copied: bool,
    ) -> None:
        """A struct is TRANSFORMATION of its members, so the flows into these count as that."""
        if path:
            flows = raised(flows, TRANSFORMATION)
        spelled = naming.column_path(path)
        count = sum(map(int.bit_count, flows))
        self._spend(count, count * len(spelled))
        for how, bits in enumerate(flows):
            for source in self._sources.of(bits):
                of_source = reached.setdefault((how, source), {})
                of_source[spelled] = copied and of_source.get(spelled, True)

    def _spend(self, fields: int, characters: int) -> None:
        self._left -= fields
        self._characters_left -= characters
        if self._left < 0:
            raise TooManyFields(f"more than {MOST_FIELDS:,} fields of structs with their sources")
        if self._characters_left < 0:
            raise TooManyFields(f"more than {MOST_CHARACTERS:,} characters in paths of fields")

    def _flows(self, part: ReadColumn | Struct) -> Flows:
        """The sources of a part by how they flow."""
        if isinstance(part, Struct):
            return union_flows(raised(member.flows, TRANSFORMATION) for member in part.members)
        flows = list(NO_FLOWS)
        flows[part.how] = self._sources.bit(part.attribute, part.path)
        return tuple(flows)  # type: ignore[return-value]

    # --- types -----------------------------------------------------------------------------------

    def _fields(self, declared: str | None) -> Sequence[tuple[str, str]]:
        """The fields (name, type id) of a struct, or of the structs in an array."""
        return self._plan.fields(declared)

    def _element(self, declared: str | None) -> str | None:
        """The type within arrays."""
        for _ in range(_MAX_NESTED_ARRAYS):
            known = self._plan.data_types.get(declared) if declared is not None else None
            if known is None or known.element is None:
                break
            declared = known.element
        return declared

    def _has_type(self, part: ReadColumn, declared: str | None) -> bool:
        """Whether a read column has equal fields: the branches of a union may name them apart."""
        attribute = self._plan.attributes.get(part.attribute)
        read = attribute.data_type if attribute is not None else None
        for name in part.path:
            listed = {naming.fold(field): kind for field, kind in self._fields(read)}
            read = listed.get(naming.fold(name))
        of_read, of_declared = self._text(read), self._text(declared)
        return of_read == of_declared and of_read is not None and "..." not in of_read

    def _text(self, declared: str | None) -> str | None:
        return type_text(self._plan.data_types, self._element(declared))


def _have_names(part: Struct, fields: Sequence[tuple[str, str]]) -> bool:
    """Whether a struct has exactly the declared fields, in their order, each name once."""
    names = [naming.fold(name) for name in part.names]
    declared = [naming.fold(name) for name, _ in fields]
    return names == declared and max(Counter(names).values(), default=0) == 1


def _without(flows: Flows, others: Sequence[Flows]) -> Flows:
    """The flows that are in none of the others."""
    other = union_flows(others)
    return tuple(mine & ~its for mine, its in zip(flows, other, strict=True))  # type: ignore[return-value]
