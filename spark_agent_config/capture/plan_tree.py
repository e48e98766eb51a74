"""Spark's plan JSON => trees. Pure, and iterative: a plan may be thousands of operators deep.

``LogicalPlan.toJSON`` is a list of nodes in pre-order. A node holds ``class``, ``num-children``
and the fields of its constructor; a field that refers to a child holds the child's index, an
expression holds such a list again, and a subquery expression holds the list of a whole plan:

    [{"class": "…logical.Filter", "num-children": 1, "condition": [{…}, {…}], "child": 0}, {…}]

Recursive CTEs (Spark 4.1): the sources of a column after any number of rounds. Pure.

    WITH RECURSIVE r AS (SELECT id, 0 AS up FROM a UNION ALL SELECT b.id, r.id FROM b JOIN r …)

After two rounds ``up`` holds the ``id`` of the first round: ``a.id`` or ``b.id``. References in a
document must not form a cycle, so a column of the inner reference to ``r`` refers directly to every
possible source from the earlier rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

_Node = TypeVar("_Node")
#: Packages of operators; any other class in a plan's JSON is an expression.
_OPERATORS: Final = re.compile(r"\.plans\.logical\.|\.execution\.|\.commands\.|\.streaming\.")
# Expressions that live among the operators: MERGE's clauses and actions, aggregators.
_NO_OPERATORS: Final = re.compile(
    r"\.expressions\.|\.execution\.aggregate\.|(?:Clause|Action|Assignment)$|MergeRows\$"
)
#: A use of a common expression, and the most nodes of one that is put in its place.
_USE: Final = "CommonExpressionRef"
_MOST_REPEATED: Final = 100
_EXPRESSION_PACKAGE: Final = "org.apache.spark.sql.catalyst.expressions."


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """An expression. ``kind`` is the class as the stock agent names it: ``aggregate.Sum``."""

    kind: str
    fields: Mapping[str, Any]
    children: tuple[Expression, ...]
    subplan: Plan | None

    @property
    def expression_id(self) -> int | None:
        return id_of(self.fields.get("exprId"))


#: An expression field: one expression, or lists of them (``projections`` is a list of lists).
Expressions = Expression | tuple["Expressions", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An operator. ``expressions`` are the fields that hold expressions, decoded.

    ``inner`` are the fields that hold a plan which is no child (``query`` of a command).
    """

    kind: str
    fields: Mapping[str, Any]
    children: tuple[Plan, ...]
    expressions: Mapping[str, Expressions]
    inner: Mapping[str, Plan] = field(default_factory=dict)

    def subplans(self) -> tuple[Plan, ...]:
        """Plans of the subqueries that this operator's expressions hold, in order."""
        return tuple(
            node.subplan
            for value in self.expressions.values()
            for tree in flatten(value)
            for node in walk(tree)
            if node.subplan is not None
        )


def read_plan(nodes: Sequence[Mapping[str, Any]]) -> Plan:
    """The tree of a plan's JSON, without CTEs that nothing reads.

    Raises ValueError when the list is not one whole tree.
    """
    stack: list[Plan] = []
    for node in reversed(nodes):
        children = _pop(stack, node)
        expressions: dict[str, Expressions] = {}
        inner: dict[str, Plan] = {}
        for name, value in node.items():
            if _is_tree(value) and not _is_expression(value[0]):
                inner[name] = read_plan(value)
            elif (decoded := _read_expressions(value)) is not None:
                expressions[name] = decoded
        plan = Plan(_simple_name(node["class"]), node, children, expressions, inner)
        stack.append(_with_used_definitions(plan) if plan.kind == "WithCTE" else plan)
    return _only(stack)


def _with_used_definitions(plan: Plan) -> Plan:
    """``WITH a AS (…), b AS (…) SELECT … FROM a``: b is defined and never read, so it goes."""
    *definitions, query = plan.children
    unread = {definition.fields.get("id"): definition for definition in definitions}
    used: list[Plan] = []
    pending = [query]
    while pending:
        node = pending.pop()
        pending += (*node.children, *node.subplans(), *node.inner.values())
        read = unread.pop(node.fields.get("cteId"), None) if node.kind == "CTERelationRef" else None
        if read is not None:
            used.append(read)
            pending.append(read)
    kept = (definition for definition in definitions if definition in used)
    return replace(plan, children=(*kept, query))


def walk(tree: Expression) -> Iterator[Expression]:
    """The expression and everything below it, in pre-order; subqueries are not entered."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def flatten(value: Expressions) -> tuple[Expression, ...]:
    """All expressions of a field, in any nesting of lists."""
    if isinstance(value, Expression):
        return (value,)
    return tuple(tree for part in value for tree in flatten(part))


def id_of(value: object) -> int | None:
    """``{"product-class": "…ExprId", "id": 7, …}`` => 7."""
    number = value.get("id") if isinstance(value, Mapping) else None
    return number if isinstance(number, int) else None


def object_name(value: object) -> str | None:
    """``{"object": "…plans.LeftOuter$"}`` => ``LeftOuter``."""
    name = value.get("object") if isinstance(value, Mapping) else None
    return _simple_name(name).removesuffix("$") if isinstance(name, str) else None


def _read_expressions(value: object) -> Expressions | None:
    """The expressions that a field's value holds; None where it holds something else."""
    if not isinstance(value, list) or not value:
        return None
    if _is_tree(value):
        return read_expression(value) if _is_expression(value[0]) else None
    parts = [() if part == [] else _read_expressions(part) for part in value]
    known = tuple(part for part in parts if part is not None)
    return known if len(known) == len(parts) and any(known) else None


def read_expression(nodes: Sequence[Mapping[str, Any]]) -> Expression:
    """The tree of an expression's JSON. Raises ValueError when the list is not one whole tree."""
    stack: list[Expression] = []
    for node in reversed(nodes):
        children = _pop(stack, node)
        plan = node.get("plan")
        subplan = read_plan(plan) if _is_tree(plan) else None
        kind = str(node["class"]).removeprefix(_EXPRESSION_PACKAGE)
        kind = kind if len(kind) < len(node["class"]) else _simple_name(kind)
        stack.append(_without_definitions(Expression(kind, node, children, subplan)))
    return _only(stack)


def _without_definitions(tree: Expression) -> Expression:
    """An operand that NULLIF or BETWEEN of Spark 4 defines once, put back where it is used.

        nullif(With(NullIfResult(ref 5 = b, ref 5), def 5: a)) => nullif(a, b)

    One of many nodes stays defined: in a chain of them each one inside would double the former.
    """
    if tree.kind == "NullIf" and [child.kind for child in tree.children] == ["NullIfResult"]:
        comparison = tree.children[0].children[0]
        return replace(tree, children=comparison.children)
    if tree.kind != "With":
        return tree
    used, *definitions = tree.children
    known = {id_of(each.fields.get("id")): each.children[0] for each in definitions}
    if any(sum(1 for _ in walk(each)) > _MOST_REPEATED for each in known.values()):
        return tree
    stack: list[Expression] = []
    for node in reversed(list(walk(used))):
        children = tuple(stack.pop() for _ in node.children)
        definition = known.get(id_of(node.fields.get("id"))) if node.kind == _USE else None
        stack.append(definition or replace(node, children=children))
    return stack[0]


def _is_tree(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], Mapping)
        and "num-children" in value[0]
    )


def _is_expression(node: Mapping[str, Any]) -> bool:
    """Expressions may live anywhere, as Delta's ``CheckOverflowInTableWrite`` does."""
    name = str(node["class"])
    return _NO_OPERATORS.search(name) is not None or _OPERATORS.search(name) is None


def _simple_name(class_name: str) -> str:
    return class_name.rpartition(".")[2]


def _pop(stack: list[_Node], node: Mapping[str, Any]) -> tuple[_Node, ...]:
    """Take a node's children off the stack; they were pushed last child first."""
    count = node["num-children"]
    if count > len(stack):
        raise ValueError(f"{node['class']} has {count} children, {len(stack)} are there")
    return tuple(stack.pop() for _ in range(count))


def _only(stack: list[_Node]) -> _Node:
    if len(stack) != 1:
        raise ValueError(f"expected one tree, found {len(stack)}")
    return stack[0]


#: A position in the output of the loop, or the id of an attribute that is read.
_Found = tuple[set[int], list[str]]


def ingredients(
    steps: Sequence[str], inner: Sequence[Collection[str]], parts: Callable[[str], Sequence[str]]
) -> list[tuple[list[int], list[str]]]:
    """For each column of the loop: the columns of the anchor, and the attributes of the step.

    ``steps`` are the ids of the step's output, ``inner[n]`` those of the loop's column ``n`` inside
    the step, ``parts`` returns the sources of an attribute or an expression: none for one that is
    read.
    """
    places = {identifier: n for n, identifiers in enumerate(inner) for identifier in identifiers}
    direct = [_made_of(step, places, parts) for step in steps]
    per_column = []
    for column in range(len(steps)):
        rounds, pending, read = {column}, [column], dict[str, None]()
        while pending:
            before, attributes = direct[pending.pop()]
            read |= dict.fromkeys(attributes)
            pending += [n for n in before - rounds if n < len(direct)]
            rounds |= before
        per_column.append((sorted(rounds), sorted(read, key=_number)))
    return per_column


def _made_of(start: str, places: dict[str, int], parts: Callable[[str], Sequence[str]]) -> _Found:
    columns: set[int] = set()
    read: list[str] = []
    seen, pending = {start}, [start]
    while pending:
        identifier = pending.pop()
        if identifier in places:
            columns.add(places[identifier])
            continue
        below = parts(identifier)
        if not below and identifier.startswith("attr-"):
            read.append(identifier)
        pending += [part for part in below if part not in seen]
        seen.update(below)
    return columns, read


def _number(identifier: str) -> int:
    return int(identifier.rpartition("-")[2])
