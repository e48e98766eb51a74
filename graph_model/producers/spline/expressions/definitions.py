"""The definition of each attribute of a plan, where the document's ``childRefs`` lack it as well.

The agent links an attribute to its expression for Project, Aggregate, Generate, Window and Union.
For the rest it leaves a fresh attribute without any reference, and three repairs, all of them by
position, close the gap:

- ``CTERelationRef``: its output stands for the output of the ``CTERelationDef`` of the same id;
- ``Expand`` (rollup, cube, grouping sets, unpivot): column i is the i-th item of any projection,
  or, where a document has no projections, the i-th column of its input if the names agree;
- operations that rename as a whole (View, SubqueryAlias, WithCTE, …): column i is column i.

The output of an opaque operation (``MapInPandas``, typed transformations) comes from all its
inputs. An unresolved source is a :class:`Gap`. Details of gaps name operations by their place
in the topological order and columns by name, never by id: equal logic has equal gaps.

Of Delta's MERGE, UPDATE and DELETE the agent sends expressions only as text:

    Update [condition: (t.salary > 0), actions: [`id` = id#58, `salary` = (sal2#53 + salary#60)]]
    Insert [actions: [`id` = id#36, `salary` = sal2#53]]

A name in such text is a column of the command's input. When both sides of a MERGE have the
name, the number behind it tells: numbers seen in Insert clauses are the source's, because nothing
else can be inserted; another number of the same name is the target's. An undecided name makes
the assignment incomplete: no source is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from graph_model.labels import SUBQUERY
from graph_model.producers.spline.documents import (
    Attribute,
    ExecutionPlan,
    Operation,
    Reference,
    as_reference,
    outputs,
)

# Codes of gaps.
DANGLING: Final = "dangling-reference"
OPAQUE_RDD: Final = "opaque-rdd"
OPAQUE_OPERATION: Final = "opaque-operation"
UNKNOWN_SOURCE: Final = "unknown-source"
POSITIONS: Final = "positions-disagree"
CTE: Final = "cte-not-found"
MERGE: Final = "merge-expressions"
CYCLE: Final = "cyclic-reference"
AMBIGUOUS_OUTPUT: Final = "ambiguous-output"
UNKNOWN_OUTPUT: Final = "unknown-output"


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A part of the column lineage that the document does not report."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """All columns that go into an operation: the sources of its opaque outputs."""

    operation: str


Node = Reference | Inputs

DefinitionKind = Literal["leaf", "nothing", "same", "generated", "opaque", "unknown"]


class AttributeDefinition(NamedTuple):
    """The sources of an attribute.

    - ``leaf``: a column of a dataset that a read operation reads;
    - ``nothing``: created here, from no column (literal rows, a range);
    - ``same``: the value of any of ``nodes`` (an expression, a union's branches), unchanged;
    - ``generated``: output number ``position`` of the generator ``nodes[0]``;
    - ``opaque``: everything in ``nodes``, transformed;
    - ``unknown``: the document does not report the sources.

    ``changed`` are further values that flow in transformed, ``conditions`` decide between them;
    ``text`` is the definition as the producer wrote it, where it is only text.
    """

    kind: DefinitionKind
    nodes: tuple[Node, ...] = ()
    position: int = 0
    siblings: int = 1
    changed: tuple[Reference, ...] = ()
    conditions: tuple[Reference, ...] = ()
    text: str | None = None
    gaps: tuple[Gap, ...] = ()

    @property
    def inputs(self) -> tuple[Node, ...]:
        if not self.changed and not self.conditions:
            return self.nodes
        return (*self.nodes, *self.changed, *self.conditions)

    @property
    def is_copy(self) -> bool:
        """Whether it is an unchanged copy of one other value."""
        return (
            self.kind == "same"
            and len(self.nodes) == 1
            and not (self.changed or self.conditions or self.gaps or self.text)
        )


#: Leaves with rows of their own: literal rows, ranges, results of commands.
_OWN_ROWS: Final = frozenset(
    {"LocalRelation", "Range", "OneRowRelation", "CommandResult", "Values"}
)
#: One row in, one row out, same columns in the same places, perhaps under new ids.
_RENAMING: Final = frozenset(
    {
        "View", "SubqueryAlias", "CTERelationDef", "WithCTE", "Filter", "Sort", "Distinct",
        "Deduplicate", "DeduplicateWithinWatermark", "GlobalLimit", "LocalLimit", "Offset", "Tail",
        "Sample", "Repartition", "RepartitionByExpression", "RebalancePartitions", "ResolvedHint",
        "EventTimeWatermark", "CollectMetrics", "Intersect", "Except", "InMemoryRelation",
    }
)  # fmt: skip
#: Columns that Spark adds to number the grouping sets.
_GROUPING_MARKS: Final = frozenset({"spark_grouping_id", "_gen_grouping_pos"})
#: User code over whole rows: any column may go into any other.
_OPAQUE: Final = frozenset(
    {
        "AppendColumns", "CoGroup", "DeserializeToObject", "FlatMapCoGroupsInArrow",
        "FlatMapCoGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapGroupsInPandas",
        "FlatMapGroupsInPandasWithState", "FlatMapGroupsInR", "FlatMapGroupsInRWithArrow",
        "MapElements", "MapGroups", "MapInArrow", "MapInPandas", "MapPartitions",
        "MapPartitionsInR", "MapPartitionsInRWithArrow", "PythonMapInArrow",
        "ScriptTransformation", "SerializeFromObject", "TransformWithState",
        "TransformWithStateInPandas", "TransformWithStateInPySpark",
    }
)  # fmt: skip
#: Where an operation lists the expressions of its whole output, in order.
_PROJECTIONS: Final = {"Project": "projectList", "Aggregate": "aggregateExpressions"}


def operation_word(operation: Operation) -> str:
    """The node's class without decoration: ``View (`e`, [a#1])``, ``Except All`` => first word."""
    return operation.name.replace("(", " ").split(" ", 1)[0]


def is_merge(operation: Operation) -> bool:
    return operation.kind == "transform" and operation_word(operation).startswith("MergeInto")


class Definitions:
    """Answers for one plan; each attribute is computed once, on first use."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self.plan = plan
        self.outputs: Mapping[str, Sequence[str] | None] = outputs(plan)
        self.operations = {operation.id: operation for operation in plan.operations}
        self.positions = {operation.id: place for place, operation in enumerate(plan.operations)}
        self._made: dict[str, tuple[Operation, int]] = {}  # where an attribute first appears
        self._fresh: dict[str, dict[str, int]] = {}  # per operation its new attributes
        self._read: set[str] = set()
        self._renamed: dict[str, str] = {}  # undeclared name of a generated column => the column
        self._definitions: dict[str, AttributeDefinition] = {}
        self._merges: dict[str, Mapping[str, ColumnAssignment]] = {}
        self.commands = PlanCommands(plan, self.outputs)
        self.cte: Mapping[str, Operation] = _cte_definitions(plan)
        for operation in plan.operations:
            self._register(operation)

    def place(self, operation: Operation) -> str:
        """The name of an operation in a gap."""
        return f"{operation_word(operation)} (operation {self.positions[operation.id]})"

    def of(self, attribute: str) -> AttributeDefinition:
        """The definition of the attribute."""
        known = self._definitions.get(attribute)
        if known is None:
            known = self._definitions[attribute] = self._define(attribute)
        return known

    def inputs_of(self, operation: str) -> Iterator[Reference]:
        """The columns that go into an operation; inputs with equal columns count once."""
        for output in self._distinct(self.operations[operation].children):
            for attribute in output:
                yield Reference("attribute", attribute)

    def _distinct(self, operations: Sequence[str]) -> Collection[Sequence[str]]:
        """The outputs of these operations, equal ones (which are one object) once."""
        listed = (self.outputs[operation] or () for operation in operations)
        return {id(output): output for output in listed}.values()

    def outputs_into(self, operation: str) -> frozenset[int]:
        """A key of the operation's inputs: equal outputs are one object."""
        return frozenset(id(self.outputs[child]) for child in self.operations[operation].children)

    def name_of(self, attribute: str) -> str:
        known = self.plan.attributes.get(self._renamed.get(attribute, attribute))
        return known.name if known is not None else "?"

    # --- which operation makes an attribute ------------------------------------------------------

    def _register(self, operation: Operation) -> None:
        emitted = self.outputs[operation.id] or ()
        if operation.kind == "read":
            self._read.update(emitted)
        if not emitted or any(emitted is self.outputs[child] for child in operation.children):
            return
        fresh = self._fresh.setdefault(operation.id, {})
        for index, attribute in enumerate(emitted):
            if attribute not in self._made:  # an input attribute is older
                self._made[attribute] = (operation, index)
                fresh[attribute] = len(fresh)
        if operation_word(operation) == "Generate":
            self._rename_generated(operation, fresh)

    def _rename_generated(self, operation: Operation, fresh: Collection[str]) -> None:
        """``generatorOutput`` of an aliased generator names attributes that nothing declares."""
        listed = operation.params.get("generatorOutput")
        names = [as_reference(item) for item in listed] if isinstance(listed, list) else []
        if len(names) != len(fresh):
            return
        for reference, attribute in zip(names, fresh, strict=True):
            if reference is not None and reference.id not in self.plan.attributes:
                self._renamed[reference.id] = attribute

    # --- the definition --------------------------------------------------------------------------

    def _define(self, identifier: str) -> AttributeDefinition:
        if identifier in self._renamed:
            return _same(Reference("attribute", self._renamed[identifier]))
        attribute = self.plan.attributes.get(identifier)
        operation, index = self._made.get(identifier, (None, 0))
        if attribute is not None and attribute.children:
            return self._declared(attribute, operation)
        if identifier in self._read:
            return AttributeDefinition("leaf")
        if operation is None:
            return self._unknown(DANGLING, f"{self.name_of(identifier)}, which no operation emits")
        return self._undeclared(identifier, operation, index)

    def _declared(self, attribute: Attribute, operation: Operation | None) -> AttributeDefinition:
        if operation is not None and is_merge(operation):
            return self._merged(attribute, operation)
        if operation is not None and operation_word(operation) == "Generate":
            return self._generated(attribute.id, operation, attribute.children)
        if attribute.id in self._read and not any(map(self._exists, attribute.children)):
            return AttributeDefinition("leaf")
        if operation is not None and operation_word(operation) in _OPAQUE:
            gap = Gap(OPAQUE_OPERATION, self.place(operation))
            return AttributeDefinition("same", attribute.children, gaps=(gap,))
        return _same(*attribute.children)

    def _undeclared(self, identifier: str, operation: Operation, index: int) -> AttributeDefinition:
        """A new attribute without references in the document: by the kind of operation."""
        word = operation_word(operation)
        name = self.name_of(identifier)
        if word == "CTERelationRef":
            return self._cte_column(operation, index)
        if word == "Expand":
            return self._expanded(operation, index)
        if word == "Generate":
            generator = as_reference(operation.params.get("generator"))
            return self._generated(identifier, operation, (generator,) if generator else ())
        if word in _PROJECTIONS:
            whole = self.outputs[operation.id] or ()
            return self._listed(operation, _PROJECTIONS[word], index, len(whole))
        if word == "Window":
            fresh = self._fresh[operation.id]
            return self._listed(operation, "windowExpressions", fresh[identifier], len(fresh))
        if word == "Union":
            return self._by_position(operation, operation.children, index)
        if word in _RENAMING:
            # a set operation keeps its first input; a WithCTE has its definitions first
            kept = (
                operation.children[:1]
                if word in {"Intersect", "Except"}
                else operation.children[-1:]
            )
            return self._by_position(operation, kept, index)
        if word == "LateralJoin":
            return self._unknown(SUBQUERY, f"{self.place(operation)}: {name}")
        if word in _OWN_ROWS or word == "AttachDistributedSequence":
            return AttributeDefinition("nothing")
        return self._opaque(operation)

    def _opaque(self, operation: Operation) -> AttributeDefinition:
        schemas = [self.outputs[child] for child in operation.children]
        if "RDD" in operation.name or (schemas and None in schemas):
            return self._unknown(OPAQUE_RDD, self.place(operation))
        if not schemas:
            return self._unknown(UNKNOWN_SOURCE, self.place(operation))
        gap = Gap(OPAQUE_OPERATION, self.place(operation))
        return AttributeDefinition("opaque", (Inputs(operation.id),), gaps=(gap,))

    def _cte_column(self, operation: Operation, index: int) -> AttributeDefinition:
        definition = self.cte.get(operation.id)
        if definition is None:
            return self._unknown(CTE, self.place(operation))
        theirs = self.outputs[definition.id] or ()
        return self._at(operation, theirs, len(self.outputs[operation.id] or ()), index)

    def _by_position(
        self, operation: Operation, children: Sequence[str], index: int
    ) -> AttributeDefinition:
        count = len(self.outputs[operation.id] or ())
        definitions = [
            self._at(operation, output, count, index) for output in self._distinct(children)
        ]
        broken = next((item for item in definitions if item.kind == "unknown"), None)
        return broken or _same(*(node for item in definitions for node in item.nodes))

    def _at(
        self, operation: Operation, theirs: Sequence[str], count: int, index: int
    ) -> AttributeDefinition:
        if len(theirs) != count:
            return self._unknown(POSITIONS, self.place(operation))
        return _same(Reference("attribute", theirs[index]))

    def _expanded(self, operation: Operation, index: int) -> AttributeDefinition:
        rows = operation.params.get("projections")
        if not isinstance(rows, list):
            return self._grouped(operation, index)
        count = len(self.outputs[operation.id] or ())
        nodes: dict[Reference, None] = {}
        for row in rows:
            if not isinstance(row, list) or len(row) != count:
                return self._unknown(POSITIONS, self.place(operation))
            if (reference := as_reference(row[index])) is not None:
                nodes[reference] = None
        return _same(*nodes)

    def _grouped(self, operation: Operation, index: int) -> AttributeDefinition:
        """An Expand without projections, as Spark's own JSON sometimes has it.

        Grouping sets put copies of the grouping columns last in the input, ``a, b, a', b'``, and
        Expand replaces them in order: ``a, b, a'', b'', spark_grouping_id``.
        """
        output = self.outputs[operation.id] or ()
        copies = self.outputs[operation.children[0]] or () if operation.children else ()
        if self.name_of(output[index]) in _GROUPING_MARKS:
            return AttributeDefinition("nothing")
        if index < len(copies) and self.name_of(copies[index]) == self.name_of(output[index]):
            return _same(Reference("attribute", copies[index]))
        return self._unknown(POSITIONS, self.place(operation))

    def _listed(
        self, operation: Operation, key: str, index: int, count: int
    ) -> AttributeDefinition:
        listed = operation.params.get(key)
        if isinstance(listed, list) and len(listed) == count:
            reference = as_reference(listed[index])
            if reference is not None and reference.kind == "expression":
                return _same(reference)
        return self._unknown(DANGLING, f"{self.place(operation)}: a column without an expression")

    def _generated(
        self, identifier: str, operation: Operation, generator: Sequence[Reference]
    ) -> AttributeDefinition:
        fresh = self._fresh[operation.id]
        if not generator:
            return self._opaque(operation)
        return AttributeDefinition(
            "generated", tuple(generator), fresh[identifier], siblings=len(fresh)
        )

    def _merged(self, attribute: Attribute, operation: Operation) -> AttributeDefinition:
        """MERGE keeps a row's value, or sets it as its clauses state (see ``commands``)."""
        if operation.id not in self._merges:
            self._merges[operation.id] = self.commands.of(operation).merged()
        assignment = self._merges[operation.id].get(attribute.name.lower())
        kept = tuple(child for child in attribute.children if self._exists(child))
        complete = assignment.complete if assignment else len(kept) == len(attribute.children)
        gap = Gap(MERGE, f"{self.place(operation)}: {attribute.name}")
        gaps = () if complete else (gap,)
        if assignment is None:
            return AttributeDefinition("same", kept, gaps=gaps)
        same = tuple(dict.fromkeys((*kept, *assignment.same)))
        return AttributeDefinition(
            "same",
            same,
            changed=assignment.changed,
            conditions=assignment.conditions,
            text=assignment.text,
            gaps=gaps,
        )

    def _exists(self, reference: Reference) -> bool:
        plan = self.plan
        if reference.kind == "attribute":
            return reference.id in plan.attributes or reference.id in self._renamed
        return reference.id in plan.functions or reference.id in plan.constants

    def _unknown(self, code: str, detail: str) -> AttributeDefinition:
        return AttributeDefinition("unknown", gaps=(Gap(code, detail),))


def _same(*nodes: Node) -> AttributeDefinition:
    return AttributeDefinition("same", nodes)


def _cte_definitions(plan: ExecutionPlan) -> dict[str, Operation]:
    """Per CTERelationRef operation its definition: the nearest of that id, before it if any.

    One id can be defined twice when a DataFrame made by a WITH query is joined to itself.
    """
    last: dict[str, Operation] = {}
    waiting: dict[str, list[Operation]] = {}
    definitions: dict[str, Operation] = {}
    for operation in plan.operations:
        word = operation_word(operation)
        if word == "CTERelationDef":
            key = str(operation.params.get("id"))
            last[key] = operation
            definitions.update((reference.id, operation) for reference in waiting.pop(key, ()))
        elif word == "CTERelationRef":
            key = str(operation.params.get("cteId"))
            if key in last:
                definitions[operation.id] = last[key]
            else:
                waiting.setdefault(key, []).append(operation)
    return definitions


# --- commands of Delta ---------------------------------------------------------------------------

Outputs = Mapping[str, Sequence[str] | None]

_IN_A_NAME: Final = r"[^\s()\[\],'\"=<>+*/%!&|~^`#-]"
# Only tried where a name begins: a search from every letter would take quadratic time.
_NUMBERED: Final = re.compile(rf"(?<!{_IN_A_NAME})({_IN_A_NAME}+)#(\d+)L?")
_NUMBER: Final = re.compile(r"#\d+L?")
_PARENTHESIS: Final = re.compile(r"[()]")
_WORD: Final = re.compile(r"\w+")
_ACTION: Final = re.compile(r"(?:^|, )((?:`[^`]+`\.?)+) = ")


@dataclass(frozen=True, slots=True)
class ColumnAssignment:
    """The value that a command sets a column to.

    ``same`` are columns that flow in unchanged, ``changed`` those that flow in through expressions,
    which ``text`` holds ('' for none); ``conditions`` decide whether; ``complete`` False: a name in
    the text is ambiguous or unknown.
    """

    text: str
    same: tuple[Reference, ...] = ()
    changed: tuple[Reference, ...] = ()
    conditions: tuple[Reference, ...] = ()
    complete: bool = True


def readable(text: str) -> str:
    """``(sal2#53 + salary#60L)`` => ``sal2 + salary``."""
    cleaned = _NUMBER.sub("", text).strip()
    closed_by = _closings(cleaned) if cleaned.startswith("(") else {}
    start, end = 0, len(cleaned)
    while closed_by.get(start) == end - 1:
        start, end = start + 1, end - 1
        while start < end and cleaned[start].isspace():
            start += 1
        while start < end and cleaned[end - 1].isspace():
            end -= 1
    return cleaned[start:end]


def _closings(text: str) -> dict[int, int]:
    """The position at which each parenthesis is closed."""
    opened: list[int] = []
    closed: dict[int, int] = {}
    for match in _PARENTHESIS.finditer(text):
        if match.group() == "(":
            opened.append(match.start())
        elif opened:
            closed[opened.pop()] = match.start()
    return closed


class PlanCommands:
    """The state that the commands of one plan share: names by output, as thousands may have the
    same.
    """

    def __init__(self, plan: ExecutionPlan, outputs: Outputs) -> None:
        self._plan = plan
        self._outputs = outputs
        self._named: dict[int, dict[str, str | None]] = {}  # by the identity of an output

    def of(self, operation: Operation) -> CommandText:
        """The text of a command (a write, or the MERGE below it), with its names resolved."""
        target = self._target_child(operation)
        return CommandText(
            operation.params,
            self._columns([target]),
            self._columns([child for child in operation.children if child != target]),
        )

    def _columns(self, children: Iterable[str]) -> SideColumns:
        named = {id(names): names for names in map(self._names, children)}
        return SideColumns(tuple(named.values()))

    def _names(self, child: str) -> dict[str, str | None]:
        """Lower-case name => the attribute; None for an ambiguous name."""
        output = self._outputs.get(child) or ()
        known = self._named.get(id(output))
        if known is None:
            known = self._named[id(output)] = {}
            for identifier in output:
                attribute = self._plan.attributes.get(identifier)
                name = attribute.name.lower() if attribute is not None else ""
                if known.setdefault(name, identifier) != identifier:
                    known[name] = None
        return known

    def _target_child(self, operation: Operation) -> str:
        """The input that reads the plan's target; otherwise the last one (the agent lists source,
        target).
        """
        reading = (child for child in operation.children if child in self._targets)
        return next(reading, operation.children[-1] if operation.children else "")

    @cached_property
    def _targets(self) -> set[str]:
        """Operations that read the table that the plan writes, perhaps under an alias."""
        operations: set[str] = set()
        for operation in self._plan.operations:
            reads = operation.kind == "read" and self._plan.write.target in operation.sources
            if reads or (len(operation.children) == 1 and operation.children[0] in operations):
                operations.add(operation.id)
        return operations


@dataclass(frozen=True, slots=True)
class SideColumns:
    """The columns of one side of a command: per input its attributes by lower-case name."""

    named: tuple[Mapping[str, str | None], ...]

    def get(self, name: str) -> Reference | None:
        """The only column of that name; None for an ambiguous name."""
        ids = {names[name] for names in self.named if name in names}
        identifier = ids.pop() if len(ids) == 1 else None
        return Reference("attribute", identifier) if identifier is not None else None


class CommandText:
    """Resolves the names in the text of one command: see :class:`PlanCommands`."""

    def __init__(self, params: Mapping[str, Any], target: SideColumns, source: SideColumns) -> None:
        self._params = params
        self._target = target
        self._source = source
        self._settled: dict[tuple[str, str], Reference] = {}
        for clause in self._clauses("notMatchedClauses"):
            for name, number in _NUMBERED.findall(clause.partition("actions: [")[2]):
                if (reference := self._source.get(name.lower())) is not None:
                    self._settled[(name.lower(), number)] = reference
        self._settled_names = {name for name, _ in self._settled}

    def _clauses(self, key: str) -> list[str]:
        listed = self._params.get(key)
        return [c for c in listed if isinstance(c, str)] if isinstance(listed, list) else []

    def _find(self, name: str, number: str) -> Reference | None:
        key = name.lower()
        ours, theirs = self._target.get(key), self._source.get(key)
        if ours is None or theirs is None:
            return ours or theirs
        if (key, number) in self._settled:
            return theirs
        return ours if key in self._settled_names else None

    def references(self, text: str) -> tuple[tuple[Reference, ...], bool]:
        """The columns that a text with numbers names, and whether every name was found."""
        references = [self._find(name, number) for name, number in _NUMBERED.findall(text)]
        known = dict.fromkeys(reference for reference in references if reference is not None)
        return tuple(known), None not in references

    def assignment(self, value: Any, conditions: tuple[Reference, ...] = ()) -> ColumnAssignment:
        """From an expression as text, or as a reference where the producer sends one."""
        if (reference := as_reference(value)) is not None:
            return ColumnAssignment("", same=(reference,), conditions=conditions)
        text = value if isinstance(value, str) else ""
        references, complete = self.references(text)
        if _NUMBERED.fullmatch(text.strip()):
            return ColumnAssignment("", references, (), conditions, complete)
        return ColumnAssignment(readable(text), (), references, conditions, complete)

    def condition(self, text: str) -> tuple[Reference, ...]:
        """Columns in a clause's condition, which is plain SQL: only unambiguous names count."""
        references: list[Reference] = []
        for word in dict.fromkeys(word.lower() for word in _WORD.findall(text)):
            ours, theirs = self._target.get(word), self._source.get(word)
            if (ours is None) != (theirs is None):
                references.extend(
                    reference for reference in (ours, theirs) if reference is not None
                )
        return tuple(references)

    def merged(self) -> dict[str, ColumnAssignment]:
        """Per lower-case target column of a MERGE all values that its clauses may set."""
        assignments: dict[str, list[ColumnAssignment]] = {}
        for clause in (*self._clauses("matchedClauses"), *self._clauses("notMatchedClauses")):
            head, _, actions = clause.partition("actions: [")
            conditions = self.condition(head.partition("condition: ")[2])
            for column, text in _actions(actions):
                assignments.setdefault(column, []).append(self.assignment(text, conditions))
        return {column: _merged(listed) for column, listed in assignments.items()}

    def updated(self) -> list[ColumnAssignment]:
        """Per column of an UPDATE's target, in order, its new value."""
        listed = self._params.get("updateExpressions")
        conditions = self.decides()
        return [
            self.assignment(value, conditions)
            for value in (listed if isinstance(listed, list) else ())
        ]

    def decides(self) -> tuple[Reference, ...]:
        """The columns of the command's own condition."""
        condition = self._params.get("condition")
        if (reference := as_reference(condition)) is not None:
            return (reference,)
        return self.references(condition)[0] if isinstance(condition, str) else ()


def _actions(text: str) -> Iterator[tuple[str, str]]:
    """``[`a` = x#1, `b` = (y#2 + 1)]]`` => (a, x#1), (b, (y#2 + 1))."""
    body = text.rstrip().removesuffix("]").removesuffix("]")
    matches = list(_ACTION.finditer(body))
    for index, match in enumerate(matches):
        end = matches[index + 1].start() if index + 1 < len(matches) else len(body)
        yield match.group(1).split("`.`")[0].strip("`").lower(), body[match.end() : end].strip()


def _merged(listed: Sequence[ColumnAssignment]) -> ColumnAssignment:
    return ColumnAssignment(
        text=", ".join(dict.fromkeys(item.text for item in listed if item.text)),
        same=tuple(dict.fromkeys(r for item in listed for r in item.same)),
        changed=tuple(dict.fromkeys(r for item in listed for r in item.changed)),
        conditions=tuple(dict.fromkeys(r for item in listed for r in item.conditions)),
        complete=all(item.complete for item in listed),
    )
