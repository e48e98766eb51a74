"""Chains between columns drawn as one edge: columns that stay, and how it is composed."""

from __future__ import annotations

import pytest

from graph_model.lineage import Answer, ColumnEdge, ColumnNode, keep_ends

D, INDIRECT = "DIRECT", "INDIRECT"


def answer(*edges: tuple[str, str, str, str]) -> Answer:
    names = sorted({end for edge in edges for end in edge[:2]})
    return Answer(
        datasets=tuple(f"ds_{name}" for name in names),
        jobs=(),
        plans=(),
        columns=tuple(ColumnNode(name, f"ds_{name}", name) for name in names),
        column_edges=tuple(ColumnEdge(*edge, f"text {edge[0]}", ("lp",)) for edge in edges),
        as_of=None,
        depth_asked=9,
        depth_reached=3,
        partial=None,
        via=("b",),
    )


def chains(found: Answer) -> list[tuple[str, str, str, str, int | None]]:
    return [(e.source, e.target, e.kind, e.how, e.hops) for e in found.column_edges]


@pytest.mark.parametrize(
    ("hows", "expected"),
    [
        (((D, "IDENTITY"), (D, "IDENTITY")), (D, "IDENTITY")),
        (((D, "AGGREGATION"), (D, "TRANSFORMATION")), (D, "AGGREGATION")),
        (((D, "IDENTITY"), (D, "TRANSFORMATION")), (D, "TRANSFORMATION")),
        (((INDIRECT, "FILTER"), (D, "AGGREGATION")), (INDIRECT, "FILTER")),
        (((INDIRECT, "FILTER"), (INDIRECT, "JOIN")), (INDIRECT, "JOIN")),
        (((D, "AGGREGATION"), (INDIRECT, "SORT")), (INDIRECT, "SORT")),
    ],
)
@pytest.mark.parametrize("start", ["a", "c"])
def test_how_is_composed_the_same_from_either_end(
    hows: tuple[tuple[str, str], ...], expected: tuple[str, str], start: str
) -> None:
    made = answer(("a", "b", *hows[0]), ("b", "c", *hows[1]))
    result = keep_ends(made, {start})
    assert chains(result) == [("a", "c", *expected, 2)]
    assert [column.id for column in result.columns] == ["a", "c"]
    assert result.datasets == ("ds_a", "ds_c")
    assert result.via == ()
    assert (result.column_edges[0].expression, result.column_edges[0].plans) == ("", ())


def test_a_single_step_keeps_its_words() -> None:
    result = keep_ends(answer(("a", "b", D, "IDENTITY")), {"b"})
    assert result.column_edges[0].expression == "text a"
    assert result.column_edges[0].plans == ("lp",)


def test_both_sides_of_a_column_have_their_ends() -> None:
    made = answer(
        ("a", "b", D, "IDENTITY"), ("b", "c", D, "IDENTITY"), ("c", "d", D, "AGGREGATION"),
        ("c", "e", D, "IDENTITY"), ("e", "f", D, "IDENTITY"),
    )  # fmt: skip
    result = keep_ends(made, {"c"})
    assert chains(result) == [
        ("a", "c", D, "IDENTITY", 2),
        ("c", "d", D, "AGGREGATION", 1),
        ("c", "f", D, "IDENTITY", 2),
    ]


def test_two_ways_of_computing_are_two_edges() -> None:
    made = answer(
        ("a", "b", D, "IDENTITY"), ("b", "d", D, "IDENTITY"),
        ("a", "c", D, "AGGREGATION"), ("c", "d", D, "IDENTITY"),
    )  # fmt: skip
    assert chains(keep_ends(made, {"d"})) == [
        ("a", "d", D, "AGGREGATION", 2),
        ("a", "d", D, "IDENTITY", 2),
    ]


def test_a_column_that_feeds_itself_ends_at_its_sources() -> None:
    made = answer(("a", "t", D, "IDENTITY"), ("t", "t", D, "TRANSFORMATION"))
    assert chains(keep_ends(made, {"t"})) == [
        ("a", "t", D, "IDENTITY", 1),
        ("a", "t", D, "TRANSFORMATION", 2),
        ("t", "t", D, "TRANSFORMATION", 1),  # and it comes to nothing but itself
    ]


def test_a_cycle_that_nothing_feeds_ends_at_its_farthest_column() -> None:
    made = answer(
        ("a", "b", D, "IDENTITY"), ("b", "c", D, "IDENTITY"), ("c", "a", D, "IDENTITY")
    )  # fmt: skip
    result = keep_ends(made, {"c"})
    assert ("a", "c", D, "IDENTITY", 2) in chains(result)
    assert ("c", "b", D, "IDENTITY", 2) in chains(result)


def test_a_column_alone_stays() -> None:
    made = answer(("a", "b", D, "IDENTITY"))
    assert [column.id for column in keep_ends(made, {"c"}).columns] == []
    assert chains(keep_ends(made, set())) == []


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ("c", [("a", "b", D, "IDENTITY", 1)]),
        ("bc", []),
        ("b", [("a", "c", D, "IDENTITY", 2)]),
    ],
)
def test_a_chain_leads_through_hidden_columns_and_ends_before_them(
    hidden: str, expected: list[tuple[str, str, str, str, int | None]]
) -> None:
    whole = answer(("a", "b", D, "IDENTITY"), ("b", "c", D, "IDENTITY"))
    assert chains(keep_ends(whole, ["a"], {f"ds_{name}" for name in hidden})) == expected
