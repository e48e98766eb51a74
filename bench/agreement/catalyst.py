"""The second opinion: DIRECT sources of a query's columns, from Catalyst's own tree.

Written from the meaning of Spark's operators alone: it shares no code with ``graph_model``,
and its way is another one. It goes bottom up, operator by operator, each giving its columns with
the read columns that they are made of; no references are followed. Influences (conditions,
the partition and order of a window, rankings) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Sources = frozenset[str]
Scope = Mapping[int, Sources]
NONE: Final[Sources] = frozenset()


@dataclass(frozen=True, slots=True)
class Column:
    """``id`` is Spark's expression id; ``sources`` are names of read columns."""

    id: int
    name: str
    sources: Sources


@dataclass(frozen=True, slots=True)
class Tree:
    fields: Mapping[str, Any]
    children: tuple[Tree, ...]

    @property
    def word(self) -> str:
        return str(self.fields["class"]).rsplit(".", 1)[-1]


class UnknownOperator(Exception):
    """An operator whose meaning is not defined here: define it, do not guess."""


def direct_sources(nodes: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The output columns of an analyzed plan, given as ``QueryPlan.toJSON`` writes it.

    Raises UnknownOperator.
    """
    return _Query().columns(grow(nodes))


def grow(nodes: Sequence[Mapping[str, Any]]) -> Tree:
    """Spark lists a tree in pre-order, each node with the number of its children."""
    waiting: list[Tree] = []
    for fields in reversed(nodes):
        children = tuple(waiting.pop() for _ in range(fields["num-children"]))
        waiting.append(Tree(fields, children))
    (root,) = waiting
    return root


_LEAVES: Final = {"LogicalRelation", "HiveTableRelation", "DataSourceV2Relation"}
_OWN_ROWS: Final = {"LocalRelation", "Range", "OneRowRelation"}
_SAME_COLUMNS: Final = {
    "SubqueryAlias", "View", "Filter", "Sort", "GlobalLimit", "LocalLimit", "Offset", "Distinct",
    "Deduplicate", "CTERelationDef", "ResolvedHint", "Repartition", "RepartitionByExpression",
}  # fmt: skip
_RANKINGS: Final = {"Rank", "DenseRank", "PercentRank", "CumeDist", "NTile", "RowNumber"}
# Of these only the first argument's value is in the result.
_FIRST_ONLY: Final = {"AggregateExpression", "WindowExpression", "MaxBy", "MinBy", "InSubquery"}


class _Query:
    """``outer`` has the columns of the query around a correlated subquery."""

    def __init__(self, outer: Scope | None = None, ctes: dict[int, list[Column]] | None = None):
        self._outer: Scope = {} if outer is None else outer
        self._ctes: dict[int, list[Column]] = {} if ctes is None else ctes

    # --- operators -------------------------------------------------------------------------------

    def columns(self, plan: Tree) -> list[Column]:
        word = plan.word
        if word == "WithCTE":
            return self._with(plan)
        if word == "CTERelationRef":
            return _renamed(self._ctes[plan.fields["cteId"]], plan.fields["output"])
        inputs = [self.columns(child) for child in plan.children]
        if not inputs:
            return _leaf(plan)
        if word in _SAME_COLUMNS:
            return inputs[0]
        if word in {"Intersect", "Except"}:
            return inputs[0]
        if word == "Union":
            return _by_position(inputs[0], inputs)
        if word == "Join":
            semi = plan.fields["joinType"]["object"].rsplit(".", 1)[-1] in {
                "LeftSemi$",
                "LeftAnti$",
            }
            return inputs[0] if semi else [column for side in inputs for column in side]
        return self._computed(plan, inputs[0])

    def _with(self, plan: Tree) -> list[Column]:
        for place in plan.fields["cteDefs"]:
            definition = plan.children[place]
            self._ctes[definition.fields["id"]] = self.columns(definition)
        return self.columns(plan.children[plan.fields["plan"]])

    def _computed(self, plan: Tree, given: Sequence[Column]) -> list[Column]:
        scope = {column.id: column.sources for column in given}
        if plan.word == "Project":
            return self._listed(plan.fields["projectList"], scope)
        if plan.word == "Aggregate":
            return self._listed(plan.fields["aggregateExpressions"], scope)
        if plan.word == "Window":
            return [*given, *self._listed(plan.fields["windowExpressions"], scope)]
        if plan.word == "Expand":
            return self._expanded(plan, given, scope)
        if plan.word == "Generate":
            made = self._value(grow(plan.fields["generator"]), scope)
            output = plan.fields["generatorOutput"]
            return [*given, *_made(output, [made] * len(output))]
        raise UnknownOperator(plan.word)

    def _expanded(self, plan: Tree, given: Sequence[Column], scope: Scope) -> list[Column]:
        """Each row once per projection. Where Spark's JSON leaves them out, they are those of
        grouping sets: the columns that come in, each as it is or NULL, then the set's number."""
        output, rows = plan.fields["output"], plan.fields["projections"]
        if rows is None:
            numbers = [NONE] * (len(output) - len(given))
            return _made(output, [*(column.sources for column in given), *numbers])
        values = [[self._value(grow(item), scope) for item in row] for row in rows]
        return _made(output, [NONE.union(*column) for column in zip(*values, strict=True)])

    def _listed(self, expressions: Sequence[Any], scope: Scope) -> list[Column]:
        trees = [grow(nodes) for nodes in expressions]
        return [Column(_id(t.fields), t.fields["name"], self._value(t, scope)) for t in trees]

    # --- expressions -----------------------------------------------------------------------------

    def _value(self, tree: Tree, scope: Scope) -> Sources:
        word = tree.word
        if word == "AttributeReference":
            return scope[_id(tree.fields)]
        if word == "OuterReference":
            return self._outer[_id(tree.fields["e"][0])]
        if word == "ScalarSubquery":
            inner = _Query({**self._outer, **scope}, self._ctes)
            return inner.columns(grow(tree.fields["plan"]))[0].sources
        if word == "Exists" or word in _RANKINGS:
            return NONE
        return NONE.union(*(self._value(child, scope) for child in _values(tree)))


def _values(tree: Tree) -> Sequence[Tree]:
    """The arguments whose values flow into the result."""
    children = tree.children
    if tree.word == "CaseWhen":  # when, then, when, then, else
        return children[1::2] if len(children) % 2 == 0 else (*children[1::2], children[-1])
    if tree.word == "If":
        return children[1:]
    if tree.word in _FIRST_ONLY:
        return children[:1]
    if tree.word in {"Lag", "Lead"}:  # input, offset, default
        return (children[0], *children[2:])
    return children


def _id(fields: Mapping[str, Any]) -> int:
    return int(fields["exprId"]["id"])


def _leaf(plan: Tree) -> list[Column]:
    output = [nodes[0] for nodes in plan.fields.get("output") or ()]
    if plan.word in _LEAVES:
        return [Column(_id(item), item["name"], frozenset({item["name"]})) for item in output]
    if plan.word in _OWN_ROWS:
        return [Column(_id(item), item["name"], NONE) for item in output]
    raise UnknownOperator(plan.word)


def _made(output: Sequence[Any], sources: Sequence[Sources]) -> list[Column]:
    items = [nodes[0] for nodes in output]
    return [
        Column(_id(item), item["name"], entry) for item, entry in zip(items, sources, strict=True)
    ]


def _renamed(columns: Sequence[Column], output: Sequence[Any]) -> list[Column]:
    return _made(output, [column.sources for column in columns])


def _by_position(first: Sequence[Column], branches: Sequence[Sequence[Column]]) -> list[Column]:
    united = [NONE.union(*(c.sources for c in row)) for row in zip(*branches, strict=True)]
    return [
        Column(column.id, column.name, item) for column, item in zip(first, united, strict=True)
    ]
