"""Commands that change some rows of a table, as operators that say what each column may become.

MERGE, UPDATE and DELETE come in two shapes: Delta's commands hold a source, a target and clauses;
Spark's own (``ReplaceData``, ``WriteDelta``, which Iceberg uses) hold a query that puts out the
changed rows, with columns of bookkeeping among them. Both become one operator on top of what is
read, with the target's columns as its output and, per column, the values that it may be set to:

    UPDATE t SET pay = pay + 1 WHERE dept = 'HR'
    => UpdateCommand [dept: -, pay: CASE WHEN dept = 'HR' THEN pay + 1]

A row that is not touched keeps its value, so every column is made of itself as well. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from spark_agent_config.plan_tree import Expression, Expressions, Plan, flatten

#: The operator's field with the values per column, in the order of its ``output``.
ASSIGNMENTS: Final = "assignments"
#: Delta's commands, which are told by their own names.
DELTA_COMMANDS: Final = frozenset({"MergeIntoCommand", "UpdateCommand", "DeleteCommand"})
#: Spark's: which command it is only the table's operation says.
ROW_LEVEL_WRITES: Final = frozenset({"ReplaceData", "WriteDelta"})
#: How Spark calls the command before it rewrites it.
COMMAND_NAMES: Final[Mapping[str, str]] = {
    "MERGE": "MergeIntoTable",
    "UPDATE": "UpdateTable",
    "DELETE": "DeleteFromTable",
}
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
    """The operator for a row-level command; None for any other, and where its parts are missing.

    ``name`` is what the command is told as: one of DELTA_COMMANDS, or of COMMAND_NAMES' values.
    ``written`` are the fields of the table after a MERGE of Delta that adds columns to it.
    """
    if command.kind in DELTA_COMMANDS:
        return _delta(command, written)
    if command.kind in ROW_LEVEL_WRITES:
        return _rewritten(name, command)
    if command.kind == "DeleteFromTable" and command.children:
        columns = _named_output(command.children[0])
        condition = command.expressions.get("condition")
        unchanged: list[tuple[Expression, ...]] = [()] * len(columns)
        return _operator(command.kind, command.children, columns, unchanged, condition)
    return None


def merged_rows(plan: Plan, own: Collection[int | None] = ()) -> Plan:
    """``MergeRows`` by its instructions: each puts out a value for every column, or drops the row.

    Keep(condition, output), Split(condition, output, otherOutput), Discard(condition). ``own`` are
    the ids of the target's columns: a row that keeps its value does so on no condition. Any other
    operator is given back as it is.
    """
    if plan.kind != "MergeRows" or ASSIGNMENTS in plan.expressions:
        return plan
    output = flatten(plan.expressions.get("output", ()))
    values: list[list[Expression]] = [[] for _ in output]
    for name in _INSTRUCTIONS:
        for instruction in flatten(plan.expressions.get(name, ())):
            condition = _child(instruction, "condition")
            for field in ("output", "otherOutput"):
                for column, value in zip(values, _children(instruction, field), strict=False):
                    kept = value.expression_id is not None and value.expression_id in own
                    column.append(value if kept else _guarded(condition, value))
    return _operator("MergeRows", plan.children, output, values)


def _delta(command: Plan, written: Sequence[Mapping[str, Any]]) -> Plan | None:
    target = command.inner.get("target")
    if target is None:
        return None
    columns = _with_added(_named_output(target), written)
    source = command.inner.get("source")
    children = (target,) if source is None else (source, target)
    condition = command.expressions.get("condition")
    if command.kind == "MergeIntoCommand":
        return _operator(command.kind, children, columns, _merged(command, columns), condition)
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
            actions = [child for child in clause.children if child.kind == "DeltaMergeAction"]
            others = [child for child in clause.children if child.kind != "DeltaMergeAction"]
            condition = others[0] if others else None
            for action in actions:
                place = places.get(_column_of(action))
                if place is None or not action.children or _is_same(columns[place], action):
                    continue
                values[place].append(_guarded(condition, action.children[0]))
    return values


def _updated(
    command: Plan, columns: Sequence[Expression], condition: Expressions | None
) -> list[list[Expression]]:
    """What is set to itself is not set; ``updateExpressions`` lists every column, in order."""
    decides = condition if isinstance(condition, Expression) else None
    listed = flatten(command.expressions.get("updateExpressions", ()))
    return [
        [_guarded(decides, value)] if value.expression_id != column.expression_id else []
        for column, value in zip(columns, listed, strict=False)
    ]


def _rewritten(name: str, command: Plan) -> Plan | None:
    """The target's columns out of the query's, by name: the others are the table's bookkeeping."""
    index = command.fields.get("query")
    table = command.inner.get("table")
    if table is None or not isinstance(index, int) or index >= len(command.children):
        return None
    columns = _named_output(table)
    own = [column.expression_id for column in columns]
    query = merged_rows(command.children[index], own)
    found: dict[str, Expression] = {}
    for tree in _named_output(query):
        found.setdefault(str(tree.fields.get("name")).lower(), tree)
    values = [
        [_mention(found[name], c)] if (name := str(c.fields.get("name")).lower()) in found else []
        for c in columns
    ]
    return _operator(name, (query,), columns, values)


def _named_output(plan: Plan) -> tuple[Expression, ...]:
    """The columns that an operator lists; an operator that lists none hands on its input's."""
    while True:
        for name in ("projectList", "output"):
            if name in plan.expressions:
                return flatten(plan.expressions[name])
        if len(plan.children) != 1:
            return ()
        plan = plan.children[0]


def _operator(
    kind: str,
    children: tuple[Plan, ...],
    columns: Sequence[Expression],
    values: Sequence[Sequence[Expression]],
    condition: Expressions | None = None,
) -> Plan:
    expressions: dict[str, Expressions] = {
        "output": tuple(columns),
        ASSIGNMENTS: tuple(tuple(listed) for listed in values),
    }
    if condition is not None:
        expressions["condition"] = condition
    fields: dict[str, Any] = dict.fromkeys(expressions)
    return Plan(kind, fields, children, expressions)


def _guarded(condition: Expression | None, value: Expression) -> Expression:
    """``CASE WHEN condition THEN value END``; the value itself where there is no condition."""
    if condition is None or _is_true(condition):
        return value
    return Expression("CaseWhen", {}, (condition, value), None)


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


def _child(instruction: Expression, field: str) -> Expression | None:
    return next(iter(_children(instruction, field)), None)


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
