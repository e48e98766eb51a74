"""The promises of every graph (graph_model/stores/graph.py: GraphReader, GraphWriter)."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Facts, Scalar, Vertex, edge, is_marker, merge, properties
from graph_model.stores.graph import Direction, Graph
from tests.contract.facts_to_write import (
    everything,
    exact,
    fact_sets,
    facts,
    part_of,
    plan,
    vertex,
    visible_plans,
    whole,
)

Open = Callable[[], Graph]
DOWN, UP = Direction.DOWNSTREAM, Direction.UPSTREAM

# The store is one for all examples of a test; each example empties it.
random_facts = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


# --- writing -------------------------------------------------------------------------------------


def test_written_elements_are_those_that_a_scan_gives(store: Open) -> None:
    graph, written = store(), plan("daily")
    graph.write(written)
    assert everything(graph) == whole(written)
    assert graph.count() == (len(written.vertices), len(written.edges))


def test_an_empty_graph_has_nothing(store: Open) -> None:
    graph = store()
    assert everything(graph) == []
    assert graph.count() == (0, 0)


def test_writing_nothing_writes_nothing(store: Open) -> None:
    graph = store()
    graph.write(Facts())
    assert graph.count() == (0, 0)


def test_writing_twice_leaves_the_same_graph(store: Open) -> None:
    graph, written = store(), plan("daily")
    graph.write(written)
    graph.write(written)
    assert everything(graph) == whole(written)


def test_the_order_of_writes_does_not_matter(store: Open) -> None:
    first, other = plan("one", executions=2), plan("other")
    graph = store()
    graph.write(first)
    graph.write(other)
    forwards = everything(graph)
    graph.clear()
    graph.write(other)
    graph.write(first)
    assert everything(graph) == forwards == whole(merge([first, other]))


@random_facts
@given(data=st.data())
def test_any_facts_come_back_as_they_were_in_whatever_parts_they_came(
    store: Open, data: st.DataObject
) -> None:
    graph = store()
    graph.clear()
    written = data.draw(fact_sets())
    graph.write(part_of(data.draw, written))
    graph.write(part_of(data.draw, written))
    graph.write(written)
    assert everything(graph) == whole(written)


def test_five_thousand_elements_arrive_whole(store: Open) -> None:
    columns = [vertex(labels.COLUMN, "big", number, path=f"c{number}") for number in range(2000)]
    derived = [
        edge(labels.DERIVES, columns[number].id, columns[(number * 7 + step) % 2000].id)
        for number in range(2000)
        for step in (1, 3)
    ]
    graph, written = store(), facts(*columns, *derived[:3000])
    graph.write(written)
    assert everything(graph) == whole(written)


def test_an_edge_without_its_ends_is_refused(store: Open) -> None:
    graph = store()
    here, gone = vertex(labels.DATASET, "here"), vertex(labels.DATASET, "gone")
    with pytest.raises(GraphRejected):
        graph.write(facts(here, edge(labels.FEEDS, here.id, gone.id)))
    # A few elements go in one transaction, where an engine has transactions.
    assert everything(graph) in (exact([here]), [])


def test_a_plan_whose_structure_is_refused_is_not_marked(store: Open) -> None:
    graph, written = store(), plan("daily")
    dangling = edge(labels.READS, written.vertices[0].id, identity.vertex_id(labels.SCHEMA, "x"))
    with pytest.raises(GraphRejected):
        graph.write(merge([written, facts(dangling)]))
    assert visible_plans(graph) == []


def test_writers_of_overlapping_facts_end_with_all_of_them(store: Open) -> None:
    parts = [plan(f"job{number}", columns=30) for number in range(4)]
    failures: list[BaseException] = []

    def run(graph: Graph, part: Facts) -> None:
        try:
            for _ in range(3):
                graph.write(part)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(store(), part)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert everything(store()) == whole(merge(parts))


def test_writers_of_the_same_facts_end_with_one_of_each(store: Open) -> None:
    written = plan("shared", columns=60)
    graphs = [store() for _ in range(4)]
    threads = [threading.Thread(target=graph.write, args=(written,)) for graph in graphs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert everything(store()) == whole(written)


# --- values --------------------------------------------------------------------------------------

VALUES: dict[str, Scalar] = {
    "empty": "",
    "quotes": 'it\'s "quoted" `so` \\ and $1 {x}',
    "script": "g.V().drop()'); System.exit(1) //",
    "lines": "a\nb\r\n\tc",
    "unicode": "Größe 表 🏞 \u200f ا é é",
    "long_text": "x" * 2000,
    "true": True,
    "false": False,
    "zero": 0,
    "one": 1,
    "negative": -1,
    "int32": 2**31 - 1,
    "beyond_int32": 2**31,
    "milliseconds": 1_700_000_000_123,
    "longest": 2**63 - 1,
    "shortest": -(2**63),
    "float": 0.1,
    "whole_float": 1.0,
    "tiny": 5e-324,
    "huge": 1.7976931348623157e308,
    "infinite": float("-inf"),
    "minus_zero": -0.0,
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_keeps_its_type_and_every_bit(store: Open, name: str) -> None:
    graph = store()
    start = Vertex(identity.vertex_id(labels.DATASET, 1), labels.DATASET, (("v", VALUES[name]),))
    loop = edge(labels.NAMES, start.id, start.id, {"v": VALUES[name]})
    graph.write(facts(start, loop))
    assert exact(graph.vertices([start.id])) == exact([start])
    assert exact(graph.edges([start.id], DOWN, [labels.NAMES], 1).edges) == exact([loop])


def test_property_keys_may_be_words_that_engines_use_themselves(store: Open) -> None:
    graph = store()
    values: dict[str, Scalar] = {
        "id": "a",
        "label": "b",
        "key": "c",
        "value": 1,
        "größe": 2,
        "a b": 3,
        "name": "n",
    }
    odd = Vertex(identity.vertex_id(labels.DATASET, "odd"), labels.DATASET, properties(values))
    graph.write(facts(odd))
    assert graph.vertices([odd.id]) == (odd,)


@pytest.mark.parametrize(
    "name", ["x" * 2000, "naïve 表 'q'", "a::b", "-", "with space", "\U0001f3de"]
)
def test_an_id_may_be_any_text(store: Open, name: str) -> None:
    """Ours are short and plain; a graph should not be the reason."""
    graph = store()
    odd = Vertex(name, labels.DATASET)
    loop = Edge(name, labels.NAMES, name, name)
    graph.write(facts(odd, loop))
    assert graph.vertices([name]) == (odd,)
    assert graph.edges([name], UP, [labels.NAMES], 1).edges == (loop,)
    graph.remove([name], [name])
    assert graph.count() == (0, 0)


# --- reading -------------------------------------------------------------------------------------


def test_vertices_come_sorted_once_each_and_unknown_ids_are_left_out(store: Open) -> None:
    graph, written = store(), plan("daily")
    graph.write(written)
    ids = [each.id for each in written.vertices]
    result = graph.vertices([*reversed(ids), *ids, identity.vertex_id(labels.JOB, "nobody")])
    assert result == tuple(sorted(written.vertices, key=lambda each: each.id))


def test_no_ids_find_nothing(store: Open) -> None:
    graph = store()
    graph.write(plan("daily"))
    assert graph.vertices([]) == ()
    assert graph.edges([], DOWN, [labels.HAS], 5).edges == ()


def test_more_ids_than_fit_one_request_are_all_found(store: Open) -> None:
    graph = store()
    many = [vertex(labels.COLUMN, "many", number) for number in range(1203)]
    loops = [edge(labels.DERIVES, each.id, each.id) for each in many]
    graph.write(facts(*many, *loops))
    ids = [each.id for each in many]
    assert len(graph.vertices(ids)) == 1203
    assert exact(graph.edges(ids, UP, [labels.DERIVES], 2).edges) == exact(loops)


@pytest.fixture
def star() -> Facts:
    """Five edges ``has`` and two ``derives`` leave the hub; one ``has`` enters it."""
    hub = vertex(labels.DATASET, "hub")
    leaves = [vertex(labels.COLUMN, "leaf", number) for number in range(5)]
    return facts(
        hub,
        *leaves,
        *(edge(labels.HAS, hub.id, leaf.id) for leaf in leaves),
        *(edge(labels.DERIVES, hub.id, leaf.id, {"how": "IDENTITY"}) for leaf in leaves[:2]),
        edge(labels.HAS, leaves[0].id, hub.id),
    )


HUB = identity.vertex_id(labels.DATASET, "hub")
LEAF = identity.vertex_id(labels.COLUMN, "leaf", 0)


def labelled(star: Facts, label: str, *, out: str) -> list[Edge]:
    return [each for each in star.edges if each.label == label and each.out_id == out]


def test_edges_follow_direction_and_label(store: Open, star: Facts) -> None:
    graph = store()
    graph.write(star)
    assert exact(graph.edges([HUB], DOWN, [labels.HAS], 10).edges) == exact(
        labelled(star, labels.HAS, out=HUB)
    )
    assert exact(graph.edges([HUB], UP, [labels.HAS], 10).edges) == exact(
        labelled(star, labels.HAS, out=LEAF)
    )
    assert graph.edges([HUB], UP, [labels.DERIVES], 10).edges == ()
    assert graph.edges([HUB], DOWN, [], 10).edges == ()


def test_edges_come_sorted_by_id_with_all_properties(store: Open, star: Facts) -> None:
    graph = store()
    graph.write(star)
    result = graph.edges([HUB, LEAF], DOWN, [labels.HAS, labels.DERIVES], 10)
    assert result.edges == tuple(sorted(star.edges, key=lambda each: each.id))
    assert result.cut == frozenset()


def test_a_limit_holds_for_each_vertex_and_label_and_a_cut_is_told(
    store: Open, star: Facts
) -> None:
    graph = store()
    graph.write(star)
    both = [labels.HAS, labels.DERIVES]
    result = graph.edges([HUB, LEAF], DOWN, both, 2)
    assert result.cut == {HUB}
    assert [each.label for each in result.edges if each.out_id == HUB].count(labels.HAS) == 2
    assert [each.label for each in result.edges if each.out_id == HUB].count(labels.DERIVES) == 2
    assert [each.label for each in result.edges if each.out_id == LEAF] == [labels.HAS]
    assert graph.edges([HUB, LEAF], DOWN, both, 4).cut == {HUB}
    assert graph.edges([HUB, LEAF], DOWN, both, 5).cut == frozenset()
    assert graph.edges([HUB, LEAF], DOWN, both, 1).cut == {HUB}
    assert graph.edges([LEAF], UP, both, 1).cut == frozenset()


def test_neighbours_are_the_other_ends_of_edges(store: Open, star: Facts) -> None:
    graph = store()
    graph.write(star)
    leaves = tuple(sorted(each.in_id for each in labelled(star, labels.HAS, out=HUB)))
    down = graph.neighbours([HUB, LEAF], DOWN, labels.HAS, 5)
    assert (down.found, down.cut) == ({HUB: leaves, LEAF: (HUB,)}, frozenset())
    assert graph.neighbours([HUB], UP, labels.HAS, 5).found == {HUB: (LEAF,)}
    assert graph.neighbours([HUB], UP, labels.DERIVES, 5).found == {}
    assert graph.neighbours([], DOWN, labels.HAS, 5).found == {}
    some = graph.neighbours([HUB, LEAF], DOWN, labels.HAS, 4)
    assert some.cut == {HUB}
    assert len(some.found[HUB]) == 4
    assert set(some.found[HUB]) < set(leaves)


def test_neighbours_of_one_kind_leave_the_others_uncounted(store: Open, star: Facts) -> None:
    graph = store()
    graph.write(star)
    other = Vertex(identity.vertex_id(labels.DAY, "of the hub"), labels.DAY)
    graph.write(Facts((other,), (edge(labels.HAS, HUB, other.id),)))
    result = graph.neighbours([HUB, LEAF], DOWN, labels.HAS, 1, labels.DAY)
    assert (result.found, result.cut) == ({HUB: (other.id,)}, frozenset())
    kinds = {each.label for each in graph.vertices([LEAF])}
    assert graph.neighbours([other.id], UP, labels.HAS, 1, labels.DAY).found == {}
    assert graph.neighbours([HUB], UP, labels.HAS, 1, kinds.pop()).found == {HUB: (LEAF,)}


def test_unknown_ids_have_no_edges(store: Open, star: Facts) -> None:
    graph = store()
    graph.write(star)
    assert graph.edges([identity.vertex_id(labels.JOB, "x")], DOWN, [labels.HAS], 1).edges == ()


@pytest.mark.parametrize(("direction", "limit"), [(Direction.BOTH, 5), (DOWN, 0), (UP, -1)])
def test_an_impossible_question_is_refused(store: Open, direction: Direction, limit: int) -> None:
    with pytest.raises(ValueError, match=r"direction|limit"):
        store().edges([HUB], direction, [labels.HAS], limit)
    with pytest.raises(ValueError, match=r"direction|limit"):
        store().neighbours([HUB], direction, labels.HAS, limit)


# --- removing ------------------------------------------------------------------------------------


def test_removed_edges_and_vertices_are_gone_and_nothing_else(store: Open) -> None:
    first, other = plan("one"), plan("other")
    graph = store()
    graph.write(merge([first, other]))
    only_one = {each.id for each in first.vertices} - {each.id for each in other.vertices}
    lone_edges = {each.id for each in first.edges} - {each.id for each in other.edges}
    graph.remove(only_one, lone_edges)
    assert everything(graph) == whole(other)


def test_a_vertex_takes_its_edges_with_it(store: Open, star: Facts) -> None:
    graph = store()
    graph.write(star)
    graph.remove([HUB], [])
    assert graph.count() == (5, 0)
    assert graph.edges([LEAF], UP, [labels.HAS], 5).edges == ()


def test_removing_an_edge_leaves_its_ends(store: Open, star: Facts) -> None:
    graph = store()
    graph.write(star)
    graph.remove([], [each.id for each in star.edges])
    assert exact(graph.scan()) == exact(star.vertices)


def test_corrected_vertices_have_the_new_values_and_keep_their_edges(
    store: Open, star: Facts
) -> None:
    graph = store()
    graph.write(star)
    edges = {each for each in graph.scan() if isinstance(each, Edge)}
    new = properties({"name": "other", "at": 2**53})
    others = sorted(star.vertices[2:])
    corrected = sorted(each._replace(properties=new) for each in star.vertices[:2])
    graph.correct(corrected)
    graph.correct([])
    assert graph.vertices([each.id for each in corrected]) == tuple(corrected)
    assert graph.vertices([each.id for each in others]) == tuple(others)
    assert {each for each in graph.scan() if isinstance(each, Edge)} == edges
    assert graph.count() == (len(star.vertices), len(star.edges))


def test_removing_the_unknown_or_nothing_changes_nothing(store: Open) -> None:
    graph, written = store(), plan("daily")
    graph.write(written)
    graph.remove([identity.vertex_id(labels.JOB, "x")], [identity.edge_id(labels.HAS, "a", "b")])
    graph.remove([], [])
    assert everything(graph) == whole(written)


def test_removed_elements_can_be_written_again(store: Open) -> None:
    graph, written = store(), plan("daily")
    graph.write(written)
    graph.remove([each.id for each in written.vertices], [each.id for each in written.edges])
    assert graph.count() == (0, 0)
    graph.write(written)
    assert everything(graph) == whole(written)


def test_a_cleared_graph_is_empty_and_can_be_filled_again(store: Open) -> None:
    graph, written = store(), plan("daily")
    graph.write(written)
    graph.clear()
    assert everything(graph) == []
    graph.write(written)
    assert everything(graph) == whole(written)


@random_facts
@given(data=st.data())
def test_removing_some_of_any_facts_leaves_the_others(store: Open, data: st.DataObject) -> None:
    graph = store()
    graph.clear()
    written = data.draw(fact_sets(size=6))
    graph.write(written)
    gone = part_of(data.draw, written)
    vertices, edges = {each.id for each in gone.vertices}, {each.id for each in gone.edges}
    graph.remove(vertices, edges)
    assert everything(graph) == exact(
        [
            *(each for each in written.vertices if each.id not in vertices),
            *(
                each
                for each in written.edges
                if each.id not in edges and not {each.out_id, each.in_id} & vertices
            ),
        ]
    )


# --- the whole -----------------------------------------------------------------------------------


def test_a_scan_may_be_left_before_its_end(store: Open) -> None:
    graph, written = store(), plan("daily", columns=20)
    graph.write(written)
    assert next(iter(graph.scan())) is not None
    assert everything(graph) == whole(written)


def test_a_marker_is_written_as_any_edge_is(store: Open) -> None:
    graph = store()
    graph.write(plan("daily"))
    assert [is_marker(each) for each in visible_plans(graph)] == [True]


def test_an_open_graph_answers_and_can_be_closed_twice(store: Open) -> None:
    graph = store()
    graph.ping()
    graph.close()
    graph.close()
