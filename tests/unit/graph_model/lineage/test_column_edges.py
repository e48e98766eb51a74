"""The edges between columns of an answer: what the plans behind one edge have in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import pytest

from graph_model import identity, labels
from graph_model.facts import Edge, Facts, Vertex
from graph_model.lineage import Lineage, Question
from graph_model.lineage.column_walks import fold_column_edges
from graph_model.producers.openlineage.producer import event_submission
from graph_model.stores.graph import Direction, EdgePage
from tests.estates import Run, event, table_id
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater


def derivation(plan: str, *, masking: bool) -> Edge:
    values = {
        "kind": labels.DIRECT, "how": labels.TRANSFORMATION, "expression": f"sha2({plan})",
        "logical_plan": plan, **({"masking": True} if masking else {}),
    }  # fmt: skip
    return Edge(f"edge {plan}", labels.DERIVES, "a", "b", tuple(sorted(values.items())))


@pytest.mark.parametrize(
    ("masking", "hidden", "expected"),
    [
        ({"p": True}, (), True),
        ({"p": False}, (), False),
        ({"p": True, "q": True}, (), True),
        ({"p": True, "q": False}, (), False),
        ({"p": True, "q": False}, ("q",), True),
    ],
)
def test_a_value_is_masked_where_every_plan_that_counts_masks_it(
    masking: dict[str, bool], hidden: tuple[str, ...], expected: bool
) -> None:
    edges = [derivation(plan, masking=masks) for plan, masks in masking.items()]
    (folded,) = fold_column_edges(edges, hidden)
    assert folded.masking is expected


def test_influences_through_a_pattern_are_counted_as_they_are_drawn(
    headwater: SmallHeadwater,
) -> None:
    """``day`` of ``in_*.csv`` and that of ``in_1.csv`` decide over the rows of the copy."""
    columns = ["k", "day"]
    land = Run(0, 0, {"s3 raw": columns}, "s3 in_1.csv", columns, {"day": [("s3 raw", "day", "")]})
    copy = Run(
        1, 1, {"s3 in_*.csv": columns}, "s3 out", ["k"],
        {"k": [("s3 in_*.csv", "k", "")]}, [("s3 in_*.csv", "day", "FILTER")],
    )  # fmt: skip
    headwater.accept(*(event_submission(event(run)) for run in (land, copy)))
    headwater.project()
    column = identity.column_id(table_id("s3 out"), "k")
    lineage = Lineage(headwater.graph, headwater.catalogue)
    for question in (
        Question(column, Direction.UPSTREAM, indirect=True),
        Question(table_id("s3 out"), Direction.UPSTREAM, columns=True, indirect=True),
    ):
        answer = lineage.ask(question)
        drawn = {edge.source for edge in answer.column_edges if edge.kind == labels.INDIRECT}
        tables = [table_id(table) for table in ("s3 in_*.csv", "s3 in_1.csv")]
        assert drawn == {identity.column_id(table, "day") for table in tables}
        counted = {influence.dataset: influence.columns for influence in answer.influences[column]}
        assert counted == dict.fromkeys(tables, 1)


class AskedGraph(MemoryGraph):
    """Notes whose edges are asked for, upstream and downstream."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[Direction, set[str]] = {direction: set() for direction in Direction}

    def edges(
        self, ids: Collection[str], direction: Direction, labels: Sequence[str], limit: int
    ) -> EdgePage:
        self.asked[direction] |= set(ids)
        return super().edges(ids, direction, labels, limit)


def test_a_source_without_a_schema_costs_the_edges_of_its_own_columns(
    headwater: SmallHeadwater,
) -> None:
    """``raw`` has no schema, so whether its columns are used is asked of them; those of the tables
    behind it have the same names and stand in schemas.
    """
    copied = {"k": [("s3 raw", "k", "")]}
    tables = ("raw", "a", "b", "c")
    runs = [Run(0, 0, {"s3 raw": None}, "s3 a", ["k"], copied)]
    for number, (source, target) in enumerate(pairwise(tables[1:]), 1):
        again = {"k": [(f"s3 {source}", "k", "")]}
        runs.append(Run(number, number, {f"s3 {source}": None}, f"s3 {target}", ["k"], again))
    headwater.accept(*(event_submission(event(run)) for run in runs))
    headwater.project()
    elements = list(headwater.graph.scan())
    graph = AskedGraph()
    graph.write(
        Facts(
            tuple(element for element in elements if isinstance(element, Vertex)),
            tuple(item for item in elements if isinstance(item, Edge)),
        )
    )
    lineage = Lineage(graph, headwater.catalogue)
    answer = lineage.ask(Question(table_id("s3 raw"), Direction.DOWNSTREAM, 3, columns=True))
    columns = {table: identity.column_id(table_id(f"s3 {table}"), "k") for table in tables}
    assert {column.id for column in answer.columns} == set(columns.values())
    assert graph.asked[Direction.DOWNSTREAM] & set(columns.values()) == {columns["raw"]}
