"""Expressions: how each part of one contributes to its value, and its text.

The rules are those of Spark plans (``graph_model.producers.spline.columns``): a value flows, an
aggregate function makes AGGREGATION and any other TRANSFORMATION; conditions of CASE, IF and FILTER
(WHERE …) and an ordering inside an aggregate are CONDITIONAL; PARTITION BY, ORDER BY and the
arguments of ranking functions are WINDOW.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

from sqlglot import exp

from graph_model import labels
from graph_model.sql.values import composed

Mask = Callable[[str], str]
"""A literal's text without what it holds."""

_MOST_TEXT: Final = 2_000
_MOST_NAME: Final = 200

_WRAPPERS: Final = (
    exp.Paren, exp.Alias, exp.Aliases, exp.PivotAlias, exp.Window, exp.Filter, exp.Ordered,
    exp.Order, exp.WithinGroup, exp.Distinct, exp.IgnoreNulls, exp.RespectNulls, exp.Tuple,
    exp.Kwarg, exp.WindowSpec, exp.Collate, exp.HavingMax,
)  # fmt: skip
"""Hand on what is in them."""

#: sqlglot counts them among the aggregates; they pick one row's value.
_PICKING: Final = (exp.Lag, exp.Lead, exp.NthValue)
_RANKING: Final = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile
)  # fmt: skip
_AGGREGATES: Final = frozenset(
    {"bool_and", "bool_or", "every", "json_object_agg", "jsonb_object_agg", "json_agg", "jsonb_agg",
     "group_concat_distinct", "approximate", "listaggdistinct", "hll", "mode", "checksum_agg",
     "xmlagg", "product", "collect", "map_agg", "multimap_agg", "map_union", "histogram", "sum",
     "max", "min", "avg", "count"}
)  # fmt: skip
"""Aggregate functions that sqlglot takes for unknown ones; the plain ones behind a schema."""

#: Arguments that only decide over the result.
_DECIDING: Final[dict[type[Any], tuple[frozenset[str], str]]] = {
    exp.Case: (frozenset({"this"}), labels.CONDITIONAL),
    exp.If: (frozenset({"this"}), labels.CONDITIONAL),
    exp.Nvl2: (frozenset({"this"}), labels.CONDITIONAL),
    exp.Nullif: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.Filter: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.ArgMax: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.ArgMin: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.ArrayFilter: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.HavingMax: (frozenset({"expression"}), labels.CONDITIONAL),
    exp.Order: (frozenset({"expressions"}), labels.CONDITIONAL),
    exp.Window: (frozenset({"partition_by", "order", "spec"}), labels.WINDOW),
}
_PERCENTILES: Final = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)


def parts_of(node: exp.Expr, how: str) -> Iterator[tuple[exp.Expr, str]]:
    """The parts of an expression, each with its flow into the whole."""
    kind = type(node)
    if isinstance(node, _RANKING):
        how = composed(labels.WINDOW, how)
    elif _is_aggregate(node):
        how = composed(how, labels.AGGREGATION)
    elif not isinstance(node, _WRAPPERS):
        how = composed(how, labels.TRANSFORMATION)
    deciding, decision = _DECIDING.get(kind, (frozenset(), how))
    if kind is exp.Order and node.this is None:  # ORDER BY of a window or of a WITHIN GROUP
        deciding = frozenset()
    if kind is exp.WithinGroup and not isinstance(node.this, _PERCENTILES):
        deciding, decision = frozenset({"expression"}), labels.CONDITIONAL
    elif kind is exp.WithinGroup:
        how = composed(how, labels.AGGREGATION)
    elif kind is exp.Window and node.args.get("over") == "KEEP":  # (DENSE_RANK LAST ORDER BY c)
        decision = labels.CONDITIONAL
    asking = _asking(node)
    for key, value in node.args.items():
        own = composed(decision, how) if key in deciding else how
        if isinstance(value, exp.Expr):
            yield value, own
        elif isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, exp.Expr):
                    yield item, composed(labels.CONDITIONAL, how) if place in asking else own


def _asking(node: exp.Expr) -> Collection[int]:
    """Places of arguments that only decide: DECODE(a, 1, b, c) => 0, 1; sumIf(b, a > 1) => 1."""
    last = len(node.expressions) - 1
    if isinstance(node, exp.DecodeCase):
        return {0, *range(1, last, 2)}
    if isinstance(node, exp.CombinedAggFunc) and str(node.this).endswith("If"):
        return {last}
    return ()


def _is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.AggFunc):
        return not isinstance(node, _PICKING)
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in _AGGREGATES


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """``a AND (b AND c)`` => a, b, c."""
    stack = [condition]
    while stack:
        node = stack.pop()
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.And):
            stack.extend((node.expression, node.this))
        else:
            yield node


def items(clause: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions of GROUP BY (sets, cubes and rollups, too) or ORDER BY."""
    stack: list[exp.Expr] = [clause]
    while stack:
        node = stack.pop()
        if isinstance(node, _LISTS):
            for value in node.args.values():
                listed = value if isinstance(value, list) else [value]
                stack.extend(item for item in reversed(listed) if isinstance(item, exp.Expr))
        else:
            yield node


_LISTS: Final = (
    exp.Group, exp.Order, exp.Ordered, exp.GroupingSets, exp.Cube, exp.Rollup, exp.Tuple, exp.Paren,
    exp.Cluster, exp.Sort, exp.Distinct,
)  # fmt: skip


# --- text ----------------------------------------------------------------------------------------

_LITERALS: Final = (
    exp.Literal, exp.National, exp.RawString, exp.UnicodeString, exp.ByteString, exp.HexString,
    exp.Heredoc,
)  # fmt: skip


class Texts:
    """Expressions as text of their dialect, with literals masked."""

    def __init__(self, dialect: str, mask: Mask) -> None:
        self._dialect = dialect
        self._mask = mask
        self._known: dict[int, tuple[exp.Expr, str]] = {}  # by id; the node keeps its id taken

    def of(self, node: exp.Expr | str) -> str:
        """At most 2,000 characters; an expression that nests too deeply has the text "..."."""
        if isinstance(node, str):
            return node
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._written(node))
        return known[1]

    def joined(self, nodes: Sequence[exp.Expr | str]) -> str:
        return _shortened(labels.BETWEEN_EXPRESSIONS.join(sorted({self.of(n) for n in nodes})))

    def name(self, node: exp.Expr) -> str:
        """The name of a column without an alias."""
        return self.of(node)[:_MOST_NAME]

    def _written(self, node: exp.Expr) -> str:
        for literal in node.find_all(*_LITERALS):
            if literal.args.get("is_string", True) and literal.arg_key != "unit":
                literal.set("this", self._mask(literal.this))
        try:
            return _shortened(node.sql(dialect=self._dialect, comments=False))
        except RecursionError:
            return "..."


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "..."
