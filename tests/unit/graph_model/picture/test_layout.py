"""The layered layout: deterministic, no overlaps, data flows to the right."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.picture.layout import (
    FALL_GAP,
    LAYER_GAP,
    ROW_GAP,
    Box,
    Course,
    Flow,
    Window,
    arrange,
    course_within,
    lay_out,
)
from graph_model.picture.ranks import ordered

nodes = st.integers(2, 25)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Box], list[tuple[str, str]]]:
    count = draw(nodes)
    boxes = [
        Box(f"n{i}", draw(st.integers(40, 200)), draw(st.integers(20, 300)), f"k{i % 3}")
        for i in range(count)
    ]
    ends = st.integers(0, count - 1)
    links = draw(st.lists(st.tuples(ends, ends), max_size=60))
    return boxes, [(f"n{a}", f"n{b}") for a, b in links]


@given(graphs(), st.randoms())
@settings(deadline=None)
def test_the_order_of_the_input_does_not_matter(
    graph: tuple[list[Box], list[tuple[str, str]]], rng: random.Random
) -> None:
    boxes, edges = graph
    shuffled_boxes, shuffled_edges = list(boxes), list(edges)
    rng.shuffle(shuffled_boxes)
    rng.shuffle(shuffled_edges)
    assert lay_out(boxes, edges) == lay_out(shuffled_boxes, shuffled_edges)


@given(graphs())
@settings(deadline=None)
def test_no_two_boxes_overlap(graph: tuple[list[Box], list[tuple[str, str]]]) -> None:
    boxes, edges = graph
    points = lay_out(boxes, edges)
    assert points.keys() == {box.id for box in boxes}
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            apart_x = abs(points[a.id].x - points[b.id].x) >= (a.width + b.width) / 2 - 1e-6
            apart_y = abs(points[a.id].y - points[b.id].y) >= (a.height + b.height) / 2 - 1e-6
            assert apart_x or apart_y, (a, b, points[a.id], points[b.id])


@given(graphs())
@settings(deadline=None)
def test_without_cycles_every_edge_goes_right(
    graph: tuple[list[Box], list[tuple[str, str]]],
) -> None:
    boxes, edges = graph
    forward = [(a, b) if int(a[1:]) < int(b[1:]) else (b, a) for a, b in edges if a != b]
    points = lay_out(boxes, forward)
    assert all(points[a].x < points[b].x for a, b in forward)


@given(graphs(), st.sampled_from([None, 90.0, 500.0]))
@settings(deadline=None)
def test_top_down_every_edge_goes_down_and_no_two_boxes_overlap(
    graph: tuple[list[Box], list[tuple[str, str]]], breadth: float | None
) -> None:
    boxes, edges = graph
    forward = [(a, b) if int(a[1:]) < int(b[1:]) else (b, a) for a, b in edges if a != b]
    layout = arrange(boxes, forward, Flow.DOWN, breadth)
    assert all(layout.points[a].y < layout.points[b].y for a, b in forward)
    assert layout.widths == {box.id: box.width for box in boxes}
    for first, other in combinations(boxes, 2):
        a, b = layout.points[first.id], layout.points[other.id]
        apart_x = abs(a.x - b.x) >= (first.width + other.width) / 2 - 1e-6
        apart_y = abs(a.y - b.y) >= (first.height + other.height) / 2 - 1e-6
        assert apart_x or apart_y, (first, other)


def test_a_chain_lies_on_one_line() -> None:
    boxes = [Box(name, 100, 40) for name in "abcd"]
    points = lay_out(boxes, [("a", "b"), ("b", "c"), ("c", "d")])
    assert len({round(point.y, 6) for point in points.values()}) == 1
    assert [points[name].x for name in "abcd"] == sorted(points[name].x for name in "abcd")


def test_two_crossing_edges_are_uncrossed() -> None:
    boxes = [Box(name, 100, 40) for name in ("a", "b", "x", "y", "root")]
    edges = [("a", "y"), ("b", "x"), ("root", "a"), ("root", "b")]
    points = lay_out(boxes, edges)
    assert (points["a"].y < points["b"].y) == (points["y"].y < points["x"].y)


def test_the_side_from_which_fewer_edges_cross_begins() -> None:
    """Three ranks of four. Sweeps that begin at the first rank end with four crossings."""
    after = [[4], [5, 6], [7], [5, 6], [8, 9], [11], [9, 11], [8], [], [], [], []]
    ranks = ordered([range(4), range(4, 8), range(8, 12)], after)
    place = {cell: at for rank in ranks for at, cell in enumerate(rank)}
    links = [(a, b) for a, beyond in enumerate(after) for b in beyond]
    crossing = [
        (item, other)
        for item, other in combinations(links, 2)
        if item[0] // 4 == other[0] // 4
        and (place[item[0]] - place[other[0]]) * (place[item[1]] - place[other[1]]) < 0
    ]
    assert len(crossing) == 1


def test_rows_keep_their_gap() -> None:
    boxes = [Box("s", 80, 40), *(Box(f"t{i}", 80, 40) for i in range(5))]
    points = lay_out(boxes, [("s", f"t{i}") for i in range(5)])
    rows = sorted(points[f"t{i}"].y for i in range(5))
    assert all(b - a >= 40 + ROW_GAP - 1e-6 for a, b in pairwise(rows))


def test_a_cycle_is_laid_out_and_a_loop_is_ignored() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")]
    points = lay_out([Box(n, 50, 20) for n in "abc"], edges)
    assert len({(p.x, p.y) for p in points.values()}) == 3


@given(graphs())
@settings(deadline=None)
def test_an_edge_that_follows_its_route_crosses_no_box(
    graph: tuple[list[Box], list[tuple[str, str]]],
) -> None:
    boxes, edges = graph
    layout = arrange(boxes, edges)
    for route in layout.routes.values():
        for point in route:
            for box in boxes:
                at = layout.points[box.id]
                beside = abs(point.x - at.x) >= layout.widths[box.id] / 2 - 1e-6
                clear = abs(point.y - at.y) >= box.height / 2 + ROW_GAP / 2
                assert beside or clear, (route, box)


def test_boxes_of_a_layer_have_the_width_of_the_widest() -> None:
    boxes = [Box("a", 90, 40, "a"), Box("b", 200, 40, "b"), Box("c", 120, 40, "c")]
    layout = arrange(boxes, [("a", "c"), ("b", "c")])
    assert layout.widths == {"a": 200, "b": 200, "c": 120}
    assert layout.points["a"].x == layout.points["b"].x


def test_an_edge_over_two_layers_has_one_waypoint_and_its_counterpart_the_same() -> None:
    boxes = [Box(name, 100, 40, name) for name in "abcd"]
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "b")]
    layout = arrange(boxes, edges)
    assert set(layout.routes) == {("a", "c")}
    [waypoint] = layout.routes["a", "c"]
    assert waypoint.x == layout.points["b"].x


@pytest.mark.parametrize(
    ("window", "flow"),
    [
        (Window(2_000, 300), Flow.RIGHT),  # legible to the right
        (Window(700, 700), Flow.DOWN),  # six ranks side by side would be too small
        (Window(340, 600), Flow.DOWN),  # too small both ways, and larger down
        (Window(700, 80), Flow.RIGHT),  # too small both ways, and larger to the right
    ],
)
def test_a_chain_flows_as_it_is_read_best_in_a_window(window: Window, flow: Flow) -> None:
    boxes = [Box(f"b{number}", 180, 46) for number in range(6)]
    chain = [(f"b{number}", f"b{number + 1}") for number in range(5)]
    assert _course(boxes, chain, window).flow is flow


def test_of_two_ways_that_cannot_be_read_whole_that_is_taken_of_which_more_can() -> None:
    ranks = [[f"{rank}{place}" for place in range(5)] for rank in range(5)]
    boxes = [Box(name, 130, 160) for rank in ranks for name in rank]
    edges = [(a, b) for before, after in pairwise(ranks) for a in before for b in after]
    assert _course(boxes, edges, Window(600, 640)).flow is Flow.DOWN


def test_ranks_are_broken_where_the_whole_picture_can_be_read_then() -> None:
    boxes = [Box("hub", 150, 42), *(Box(f"b{number}", 150, 42) for number in range(9))]
    edges = [(f"b{number}", "hub") for number in range(9)]
    course = _course(boxes, edges, Window(390, 400))
    assert course == Course(Flow.DOWN, 390 / 0.75)
    layout = arrange(boxes, edges, course.flow, course.breadth)
    ends = [at.x + side * 75 for at in layout.points.values() for side in (-1, 1)]
    assert max(ends) - min(ends) <= 390 / 0.75
    assert len({at.y for at in layout.points.values()}) == 5
    assert all(layout.points["hub"].y > layout.points[a].y for a, _ in edges)


def test_ranks_that_fit_and_those_of_a_fan_that_the_page_folds_stay_whole() -> None:
    boxes = [Box("hub", 150, 42), *(Box(f"b{number}", 150, 42) for number in range(25))]
    edges = [(f"b{number}", "hub") for number in range(25)]
    assert _course(boxes, edges, Window(390, 900)).breadth is None
    assert _course(boxes[:3], edges[:2], Window(390, 900)).breadth is None


def _course(boxes: list[Box], edges: list[tuple[str, str]], window: Window) -> Course:
    return course_within(dict.fromkeys(Flow, boxes), edges, window, legible=0.75)


def test_top_down_ranks_stand_closer() -> None:
    boxes = [Box("a", 100, 40, "a"), Box("b", 100, 40, "b")]
    right, down = (arrange(boxes, [("a", "b")], flow).points for flow in Flow)
    assert right["b"].x - right["a"].x == 100 + LAYER_GAP
    assert down["b"].y - down["a"].y == 40 + FALL_GAP < 40 + LAYER_GAP
