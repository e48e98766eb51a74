"""MERGE, UPDATE and DELETE as operators with the possible values of each column.

They come in three shapes: Delta's commands hold a source, a target and clauses; Hudi's hold the
statement as it was analysed; Spark's own (``ReplaceData``, ``WriteDelta``, which Iceberg uses) hold
a query whose output is the changed rows, with columns of bookkeeping among them. All become one
operator on top of the reads, with the target's columns as its output and the possible values of
each column:

    UPDATE t SET pay = pay + 1 WHERE dept = 'HR'
    => UpdateCommand [dept: -, pay: CASE WHEN dept = 'HR' THEN pay + 1]

An unchanged row keeps its value, so every column is also a source of itself. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from spark_agent_config.capture.plan_tree import Expression, Expressions, Plan, flatten, walk

#: The operator's field with the values per column, in the order of its ``output``.
ASSIGNMENTS: Final = "assignments"
#: Its field with the conditions of the clauses that delete: they choose among all rows.
DELETIONS: Final = "deletions"
#: The parameter of a CASE that holds a clause's condition: nobody wrote it as an expression.
CLAUSE: Final = "clause"
#: Delta's commands, which are reported by their own names.
DELTA_COMMANDS: Final = frozenset({"MergeIntoCommand", "UpdateCommand", "DeleteCommand"})
#: Spark's: only the table's operation names the command.
ROW_LEVEL_WRITES: Final = frozenset({"ReplaceData", "WriteDelta"})
#: How Spark calls the command before it rewrites it.
COMMAND_NAMES: Final[Mapping[str, str]] = {
    "MERGE": "MergeIntoTable",
    "UPDATE": "UpdateTable",
    "DELETE": "DeleteFromTable",
}
_ACTION: Final = "DeltaMergeAction"
#: The assignments of a clause, beside its condition: Delta's field for them, and Spark's.
_SETTERS: Final = frozenset({_ACTION, "Assignment"})
_DISCARD: Final = "Discard"
#: Clauses that delete end like this: Delta's, and Spark's.
_DELETING: Final = ("DeleteClause", "DeleteAction")
#: Hudi's commands, and the field with Spark's own: its reported name, and its name.
HUDI_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "MergeIntoHoodieTableCommand": ("mergeInto", COMMAND_NAMES["MERGE"]),
    "UpdateHoodieTableCommand": ("ut", COMMAND_NAMES["UPDATE"]),
    "DeleteHoodieTableCommand": ("dft", COMMAND_NAMES["DELETE"]),
}
_HUDI_BOOKKEEPING: Final = "_hoodie_"
_ACTIONS: Final = ("matchedActions", "notMatchedActions", "notMatchedBySourceActions")
_CLAUSES: Final = ("matchedClauses", "notMatchedClauses", "notMatchedBySourceClauses")
#: Spark counts its expression ids up from 0.
_FIRST_ADDED: Final = -2
_INSTRUCTIONS: Final = (
    "matchedInstructions",
    "notMatchedInstructions",
    "notMatchedBySourceInstructions",
)


def changed_rows(
    name: str, command: Plan, written: Sequence[Mapping[str, Any]] = ()
) -> Plan | None:
    """The operator for a row-level command; None for any other, and if its parts are missing.

    ``name`` is the reported one: one of DELTA_COMMANDS, or of COMMAND_NAMES' values. ``written``
    are the fields of the table after a MERGE of Delta that adds columns to it.
    """
    if command.kind in DELTA_COMMANDS:
        return _delta(command, written)
    if command.kind in ROW_LEVEL_WRITES:
        return _rewritten(name, command)
    if command.kind in HUDI_COMMANDS:
        return _analysed(name, command.inner.get(HUDI_COMMANDS[command.kind][0]))
    if command.kind == "DeleteFromTable" and command.children:
        columns = _named_output(command.children[0])
        condition = command.expressions.get("condition")
        unchanged: list[tuple[Expression, ...]] = [()] * len(columns)
        return _operator(command.kind, command.children, columns, unchanged, condition)
    return None


def merged_rows(plan: Plan, own: Collection[int | None] = ()) -> Plan:
    """``MergeRows`` by its instructions: each puts out a value for every column, or drops the row.

    Keep(condition, output), Split(condition, output, otherOutput), Discard(condition). A Split
    takes one row out, mostly nulls, and puts the other in. ``own`` are the ids of the target's
    columns: a row that keeps its value does so on no condition. Any other operator is given back
    as it is.
    """
    if plan.kind != "MergeRows" or ASSIGNMENTS in plan.expressions:
        return plan
    output = flatten(plan.expressions.get("output", ()))
    values: list[list[Expression]] = [[] for _ in output]
    deletions: list[Expression] = []
    for name in _INSTRUCTIONS:
        instructions = flatten(plan.expressions.get(name, ()))
        conditions = [_condition(instruction) for instruction in instructions]
        deleting = [instruction.kind.endswith(_DISCARD) for instruction in instructions]
        deletions += _deletions(deleting, conditions)
        for instruction, condition in zip(instructions, conditions, strict=True):
            made = _children(instruction, "otherOutput") or _children(instruction, "output")
            for column, value in zip(values, made, strict=False):
                kept = value.expression_id is not None and value.expression_id in own
                column.append(value if kept else _guarded(condition, value))
    return _operator("MergeRows", plan.children, output, values, deletions=deletions)


def _delta(command: Plan, written: Sequence[Mapping[str, Any]]) -> Plan | None:
    target = command.inner.get("target")
    if target is None:
        return None
    columns = _with_added(_named_output(target), written)
    source = command.inner.get("source")
    children = (target,) if source is None else (source, target)
    condition = command.expressions.get("condition")
    if command.kind == "MergeIntoCommand":
        values, deletions = _merged(command, columns), _deletions_of(command, _CLAUSES)
        return _operator(command.kind, children, columns, values, condition, deletions)
    if command.kind == "UpdateCommand":
        return _operator(command.kind, children, columns, _updated(command, columns, condition))
    return _operator(command.kind, children, columns, [()] * len(columns), condition)


def _with_added(
    columns: tuple[Expression, ...], written: Sequence[Mapping[str, Any]]
) -> tuple[Expression, ...]:
    """The target's columns and those that the command adds: Spark has given these no ids yet."""
    known = {str(column.fields.get("name")).lower() for column in columns}
    added = [field for field in written if str(field["name"]).lower() not in known]
    return (*columns, *(_added(place, field) for place, field in enumerate(added)))


def _added(place: int, field: Mapping[str, Any]) -> Expression:
    fields = {
        "name": field["name"],
        "dataType": field["type"],
        "nullable": field["nullable"],
        "exprId": {"id": _FIRST_ADDED - place},
    }
    return Expression("AttributeReference", fields, (), None)


def _merged(command: Plan, columns: Sequence[Expression]) -> list[list[Expression]]:
    values: list[list[Expression]] = [[] for _ in columns]
    places = {str(column.fields.get("name")).lower(): i for i, column in enumerate(columns)}
    for name in _CLAUSES:
        for clause in flatten(command.expressions.get(name, ())):
            condition = _condition_of(clause)
            for action in (child for child in clause.children if child.kind == _ACTION):
                place = places.get(_column_of(action))
                if place is None or not action.children or _is_same(columns[place], action):
                    continue
                values[place].append(_guarded(condition, action.children[0]))
    return values


def _deletions_of(merge: Plan, fields: Sequence[str]) -> list[Expression]:
    deletions: list[Expression] = []
    for name in fields:
        clauses = flatten(merge.expressions.get(name, ()))
        deleting = [clause.kind.endswith(_DELETING) for clause in clauses]
        deletions += _deletions(deleting, list(map(_condition_of, clauses)))
    return deletions


def _deletions(
    deleting: Sequence[bool], conditions: Sequence[Expression | None]
) -> list[Expression]:
    """The conditions that decide which rows the clauses of one kind delete: those up to the last
    clause that deletes, since a row goes to the first clause that takes it.

        WHEN MATCHED AND pay > 5 THEN UPDATE … WHEN MATCHED THEN DELETE  =>  pay > 5
    """
    last = max((place for place, deletes in enumerate(deleting) if deletes), default=-1)
    return [
        condition
        for condition in conditions[: last + 1]
        if condition is not None and not _is_true(condition)
    ]


def _condition_of(clause: Expression) -> Expression | None:
    return next((child for child in clause.children if child.kind not in _SETTERS), None)


def _updated(
    command: Plan, columns: Sequence[Expression], condition: Expressions | None
) -> list[list[Expression]]:
    """A column set to itself is left out; ``updateExpressions`` lists every column, in order."""
    decides = condition if isinstance(condition, Expression) else None
    listed = flatten(command.expressions.get("updateExpressions", ()))
    return [
        [_guarded(decides, value)] if value.expression_id != column.expression_id else []
        for column, value in zip(columns, listed, strict=False)
    ]


def _analysed(name: str, statement: Plan | None) -> Plan | None:
    """``UpdateTable``, ``MergeIntoTable`` or ``DeleteFromTable`` before Spark rewrites it."""
    if statement is None or not statement.children:
        return None
    columns = [
        column
        for column in _named_output(statement.children[0])
        if not str(column.fields.get("name")).startswith(_HUDI_BOOKKEEPING)
    ]
    condition = statement.expressions.get("condition") or statement.expressions.get(
        "mergeCondition"
    )
    values: list[list[Expression]] = [[] for _ in columns]
    places = {column.expression_id: place for place, column in enumerate(columns)}
    for decides, assignment in _assignments(statement):
        key, value = assignment.children
        place = next((places[i] for part in walk(key) if (i := part.expression_id) in places), None)
        if place is not None and value.expression_id != columns[place].expression_id:
            values[place].append(_guarded(decides, value))
    shown = None if statement.kind == COMMAND_NAMES["UPDATE"] else condition
    deletions = _deletions_of(statement, _ACTIONS)
    return _operator(name, statement.children, columns, values, shown, deletions)


def _assignments(statement: Plan) -> Iterator[tuple[Expression | None, Expression]]:
    """Each ``column = value``, with the condition of its clause."""
    condition = statement.expressions.get("condition")
    decides = condition if isinstance(condition, Expression) else None
    for assignment in flatten(statement.expressions.get("assignments", ())):
        yield decides, assignment
    for name in _ACTIONS:
        for action in flatten(statement.expressions.get(name, ())):
            for assignment in _children(action, "assignments"):
                yield _condition_of(action), assignment


def _rewritten(name: str, command: Plan) -> Plan | None:
    """The target's columns out of the query's, by name: the others are the table's bookkeeping."""
    index = command.fields.get("query")
    table = command.inner.get("table")
    if table is None or not isinstance(index, int) or index >= len(command.children):
        return None
    columns = _named_output(table)
    own = [column.expression_id for column in columns]
    query = _updated_rows(merged_rows(command.children[index], own), own)
    by_name: dict[str, Expression] = {}
    for tree in _named_output(query):
        by_name.setdefault(str(tree.fields.get("name")).lower(), tree)
    values = [
        [_mention(by_name[own_name], c)]
        if (own_name := str(c.fields.get("name")).lower()) in by_name
        else []
        for c in columns
    ]
    return _operator(name, (query,), columns, values)


def _updated_rows(query: Plan, own: Collection[int | None]) -> Plan:
    """The query of an UPDATE without unchanged values: every column is a source of itself anyway.

    ``if (id > 2) pay + 1 else pay`` => ``CASE WHEN id > 2 THEN pay + 1``; with a subquery in its
    condition, the changed rows and the others are a union. Spark 4.1 adds its bookkeeping in a
    projection of its own, above this one.
    """
    if query.kind == "Union":
        return replace(query, children=tuple(_updated_rows(each, own) for each in query.children))
    if query.kind != "Project":
        return query
    listed = tuple(_assigned(each, own) for each in flatten(query.expressions["projectList"]))
    return replace(
        query,
        children=tuple(_updated_rows(each, own) for each in query.children),
        expressions={**query.expressions, "projectList": listed},
    )


def _assigned(named: Expression, own: Collection[int | None]) -> Expression:
    value = named.children[0] if named.kind == "Alias" and named.children else None
    if value is None or value.kind != "If":
        return named
    condition, changed, kept = value.children
    if kept.expression_id is None or kept.expression_id not in own:
        return named
    same = changed.expression_id == kept.expression_id
    return replace(named, children=(kept if same else _guarded(condition, changed),))


def _named_output(plan: Plan) -> tuple[Expression, ...]:
    """The columns that an operator lists; an operator that lists none hands on its input's.

    A union has the columns of its first input.
    """
    while True:
        for name in ("projectList", "output"):
            if name in plan.expressions:
                return flatten(plan.expressions[name])
        if len(plan.children) != 1 and plan.kind != "Union":
            return ()
        plan = plan.children[0]


def _operator(
    kind: str,
    children: tuple[Plan, ...],
    columns: Sequence[Expression],
    values: Sequence[Sequence[Expression]],
    condition: Expressions | None = None,
    deletions: Sequence[Expression] = (),
) -> Plan:
    expressions: dict[str, Expressions] = {
        "output": tuple(columns),
        ASSIGNMENTS: tuple(tuple(listed) for listed in values),
    }
    if condition is not None:
        expressions["condition"] = condition
    if deletions:
        expressions[DELETIONS] = tuple(deletions)
    fields: dict[str, Any] = dict.fromkeys(expressions)
    return Plan(kind, fields, children, expressions)


def _guarded(condition: Expression | None, value: Expression) -> Expression:
    """``CASE WHEN condition THEN value END``; the value itself where there is no condition.

    The CASE is marked as a clause's: it chooses rows, so a value that is copied stays a copy.
    """
    if condition is None or _is_true(condition):
        return value
    return Expression("CaseWhen", {CLAUSE: True}, (condition, value), None)


def _is_same(column: Expression, action: Expression) -> bool:
    """Delta lists the columns that a clause leaves as they are too: ``dept = t.dept``."""
    return action.children[0].expression_id == column.expression_id is not None


def _mention(named: Expression, column: Expression) -> Expression:
    """A named expression of an operator's output => the mention of it, for a column of a table.

    The type is the column's: an alias has none in Spark's JSON.
    """
    fields = {**column.fields, "name": named.fields.get("name"), "exprId": named.fields["exprId"]}
    return Expression("AttributeReference", fields, (), None)


def _is_true(condition: Expression) -> bool:
    return condition.kind == "Literal" and str(condition.fields.get("value")) == "true"


def _condition(instruction: Expression) -> Expression | None:
    return next(iter(_children(instruction, "condition")), None)


def _children(instruction: Expression, field: str) -> list[Expression]:
    """A field of an instruction holds the places of its children: ``"output": [1, 2]``."""
    value = instruction.fields.get(field)
    places: Iterable[Any] = value if isinstance(value, list) else (value,)
    count = len(instruction.children)
    return [instruction.children[p] for p in places if isinstance(p, int) and p < count]


def _column_of(action: Expression) -> str:
    """``targetColNameParts``: ``"[salary]"``, or a list; a nested field changes its column."""
    parts = action.fields.get("targetColNameParts")
    if isinstance(parts, str):
        parts = parts.removeprefix("[").removesuffix("]").split(", ")
    return str(parts[0]).lower() if isinstance(parts, list) and parts else ""
