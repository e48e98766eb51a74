"""The columns and the edges that the walks of one question have found, up to the answer's limit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from graph_model import labels
from graph_model.facts import Edge
from graph_model.lineage.bounds import TEXT_LIMIT, Bounds, count_left_out
from graph_model.lineage.columns.hops import Cell, Hop, column_id, node_of
from graph_model.lineage.history import Moment
from graph_model.lineage.inventory import Name
from graph_model.lineage.questions import ColumnEdge, ColumnNode, LeftOut, Reach
from graph_model.lineage.traces import Trace


@dataclass(slots=True)
class ColumnFindings:
    """The results of the walks of one question so far.

    ``hidden`` are datasets (ids): the walk goes through their columns, and they take no place of
    visible ones.
    """

    limit: int
    bounds: Bounds
    nodes: dict[str, ColumnNode] = field(default_factory=dict)
    datasets: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    edges: dict[str, Edge] = field(default_factory=dict)
    reached: int = 0
    folded: bool = False
    moments: set[Moment] = field(default_factory=set)  # at which the walk read the tables
    traces: dict[Reach, Trace[Cell]] = field(default_factory=dict)  # of the walks downstream
    seen: frozenset[str] | None = None  # the edges (ids) that reads have seen; None: all
    hidden: Collection[str] = ()
    hidden_columns: set[str] = field(default_factory=set)  # found in hidden datasets
    full: bool = False  # a column was left out

    def admit(self, names: Iterable[Name]) -> bool:
        """Admit columns, each with its table, up to the limit; whether any visible one was new.

        Hidden columns take no place of visible ones: they have a limit of their own, and are
        admitted while there is room for visible ones.
        """
        new = sorted(node for node in map(node_of, set(names)) if node.id not in self.nodes)
        hidden = [node for node in new if node.dataset in self.hidden]
        self.hidden_columns |= {node.id for node in hidden}
        admitted = self._admit(
            [node for node in new if node.id not in self.hidden_columns], hidden=False
        )
        if hidden and not self.full:
            self._admit(hidden, hidden=True)
        return admitted

    def _admit(self, new: Iterable[ColumnNode], *, hidden: bool) -> bool:
        """``new`` are all hidden, or all visible, in the order of their ids."""
        tables = {dataset for dataset in self.datasets if (dataset in self.hidden) == hidden}
        known = self.nodes.keys()
        before = taken = len(known & self.hidden_columns if hidden else known - self.hidden_columns)
        for node in new:
            tables.add(node.dataset)
            if taken + 1 + len(tables) > max(self.limit, 2):
                self.bounds.cut("nodes", self.limit)
                self.full = True
                break
            self.nodes[node.id] = node
            self.datasets.add(node.dataset)
            taken += 1
        return taken > before

    def admit_asked(self, names: Iterable[Name]) -> None:
        """Admit the requested columns."""
        asked = set(names)
        self.admit(asked)
        self.answers |= {column_id(name) for name in asked} & self.nodes.keys()

    def admit_sources(self, hops: Collection[Hop], depth: int) -> set[Cell]:
        """Admit the sources of the hops of a level, up to the limit; those that are drawn."""
        reached = {hop.source for hop in hops}
        names = {cell.name for cell in reached}
        self.moments |= {cell.moment for cell in reached}
        if self.admit(names):
            self.reached = max(self.reached, depth)
        self.edges |= {hop.edge.id: hop.edge for hop in hops}
        self.answers |= {column_id(name) for name in names} & self.nodes.keys()
        return {cell for cell in reached if column_id(cell.name) in self.nodes}

    def add_edges_inside(self, edges: Iterable[Edge]) -> None:
        """Add those of these edges that are between drawn columns."""
        drawn = self.nodes.keys()
        self.edges |= {edge.id: edge for edge in edges if {edge.out_id, edge.in_id} <= drawn}

    def admit_results(self, by_depth: Mapping[int, Iterable[Name]]) -> None:
        """Admit columns downstream, by their least number of steps from the start."""
        for depth in sorted(by_depth):
            if self.admit(by_depth[depth]):
                self.reached = max(self.reached, depth)

    def left_out(self) -> tuple[LeftOut, ...]:
        """How many of the found derivations are not drawn, per drawn column."""
        steps = ((edge.out_id, edge.in_id) for edge in self.edges.values())
        return count_left_out(steps, self.nodes.keys(), self.hidden_columns)

    def drawn(self, hidden_plans: Collection[str] = ()) -> list[ColumnEdge]:
        """The drawn edges between columns, folded (``fold_column_edges``)."""
        found = [e for e in self.edges.values() if {e.out_id, e.in_id} <= self.nodes.keys()]
        if sum(len(str(edge.value("expression") or "")) for edge in found) > TEXT_LIMIT:
            self.bounds.cut("bytes", TEXT_LIMIT)
            found = [_without_expression(edge) for edge in found]
        return fold_column_edges(found, hidden_plans, self.seen)


def _without_expression(edge: Edge) -> Edge:
    return edge._replace(
        properties=tuple((key, "" if key == "expression" else v) for key, v in edge.properties)
    )


def fold_column_edges(
    edges: Iterable[Edge],
    hidden_plans: Collection[str] = (),
    seen: Collection[str] | None = None,
) -> list[ColumnEdge]:
    """One edge per (from, to, kind, how); expressions joined in sorted order. Hidden logical plans
    (ids) are behind an edge only where no other plan is. A value is masked where every plan that
    counts masks it. ``seen`` are the edges (ids) that reads have seen, None all of them.
    """
    texts: dict[tuple[str, str, str, str], dict[str, set[str]]] = {}  # by plan
    unmasked: dict[tuple[str, str, str, str], set[str]] = {}
    were_seen = set[tuple[str, str, str, str]]()
    for edge in edges:
        values = dict(edge.properties)
        key = (edge.out_id, edge.in_id, str(values["kind"]), str(values["how"]))
        of_plan = texts.setdefault(key, {}).setdefault(str(values["logical_plan"]), set())
        of_plan.add(str(values.get("expression", "")))
        if values.get("masking") is not True:
            unmasked.setdefault(key, set()).add(str(values["logical_plan"]))
        if seen is None or edge.id in seen:
            were_seen.add(key)
    return [
        _fold(key, texts[key], hidden_plans, unmasked.get(key, ()))._replace(seen=key in were_seen)
        for key in sorted(texts)
    ]


def _fold(
    key: tuple[str, str, str, str],
    texts: Mapping[str, set[str]],
    hidden_plans: Collection[str],
    unmasked: Collection[str],
) -> ColumnEdge:
    plans = sorted(texts.keys() - set(hidden_plans)) or sorted(texts)
    expressions = {text for plan in plans for text in texts[plan] if text}
    text = labels.BETWEEN_EXPRESSIONS.join(sorted(expressions))
    return ColumnEdge(*key, text, tuple(plans), masking=set(unmasked).isdisjoint(plans))
