"""The steps of engine.groovy in the server for writes: the form is Gremlin's, with its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from gremlin_python.driver.client import Client
from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import GraphTraversalSource, __
from gremlin_python.process.traversal import CardinalityValue, Direction, Merge, T
from gremlin_python.structure.graph import Graph

from graph_model import labels
from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Vertex
from graph_model.stores.gremlin.connection import Connections
from graph_model.stores.gremlin.dialect import EMBEDDED
from graph_model.stores.gremlin.graph import GremlinGraph
from tests.contract.facts_to_write import facts, vertex
from tests.contract.gremlin_server import PATIENT

pytestmark = pytest.mark.engine

_UPSERT_VERTICES = ".mergeV(__.select('s')).option(Merge.onCreate, __.select('c'))"
_UPSERT_EDGES = ".mergeE(__.select('s')).option(Merge.onCreate, __.select('c'))"


def g() -> GraphTraversalSource:
    return traversal().with_graph(Graph())


def row(id: str, **created: Any) -> dict[str, Any]:
    return {"s": {T.id_: id}, "c": {T.label: "job", **created}}


@pytest.fixture
def connections(gremlin_graph: GremlinGraph, gremlin_url: str) -> Iterator[Connections]:
    """To the shared engine, emptied, for requests that no writer of ours would send."""
    pool = Connections(gremlin_url, EMBEDDED, limits=PATIENT)
    yield pool
    pool.close()


def upsert(connections: Connections, *rows: dict[str, Any]) -> None:
    merge = g().inject(list(rows)).unfold().merge_v(__.select("s"))
    connections.submit(merge.option(Merge.on_create, __.select("c")).count().bytecode)


def steps_of(url: str, question: str) -> str:
    """The names of the steps that the server made of a question, from its profile."""
    client = Client(url, "g")
    try:
        (profile,) = client.submit(f"{question}.profile()").all().result()
    finally:
        client.close()
    return " ".join(each["name"] for each in profile["metrics"])


# --- looking ids up ------------------------------------------------------------------------------


def test_our_upserts_look_their_ids_up(gremlin_graph: GremlinGraph, gremlin_url: str) -> None:
    vertices = "g.inject(['s': [(T.id): 'J'], 'c': [(T.label): 'job']])" + _UPSERT_VERTICES
    assert "UpsertVertexStep" in steps_of(gremlin_url, vertices)
    edges = "g.inject(['s': [(T.id): 'E'], 'c': [(T.label): 'has', (Direction.OUT): 'J',"
    edges += " (Direction.IN): 'J']])" + _UPSERT_EDGES
    assert "UpsertEdgeStep" in steps_of(gremlin_url, edges)
    assert set(gremlin_graph.scan()) == {Vertex("J", "job"), Edge("E", "has", "J", "J")}


@pytest.mark.parametrize(
    "question",
    [
        "g.mergeV([(T.id): 'J']).option(Merge.onCreate, [(T.label): 'job'])",
        "g.inject([(T.id): 'J', (T.label): 'job']).mergeV()",
        "g.inject(['s': [(T.id): 'J'], 'c': [(T.label): 'job']])"
        + _UPSERT_VERTICES
        + ".option(Merge.onMatch, __.select('c'))",
    ],
)
def test_merges_of_other_forms_are_left_alone(
    gremlin_graph: GremlinGraph, gremlin_url: str, question: str
) -> None:
    assert "Upsert" not in steps_of(gremlin_url, question)


def test_existing_elements_are_left_as_they_are(
    gremlin_graph: GremlinGraph, connections: Connections
) -> None:
    upsert(connections, row("J", name="first"))
    upsert(connections, row("J", name="second", more=True), row("K", name="other"))
    assert set(gremlin_graph.scan()) == {
        Vertex("J", "job", (("name", "first"),)),
        Vertex("K", "job", (("name", "other"),)),
    }


def test_a_row_that_comes_twice_in_a_request_is_one_element_and_counted_twice(
    gremlin_graph: GremlinGraph, connections: Connections
) -> None:
    same = [row("J", name="daily"), row("J", name="daily"), row("J", name="another")]
    merge = g().inject(same).unfold().merge_v(__.select("s"))
    counted = connections.submit(merge.option(Merge.on_create, __.select("c")).count().bytecode)
    assert counted == [3]
    assert set(gremlin_graph.scan()) == {Vertex("J", "job", (("name", "daily"),))}


def test_an_upsert_of_rows_is_one_step_that_looks_ids_up(
    gremlin_graph: GremlinGraph, gremlin_url: str
) -> None:
    rows = "g.inject([[['s': [(T.id): 'J'], 'c': [(T.label): 'job']]]]).unfold().unfold()"
    steps = steps_of(gremlin_url, rows + _UPSERT_VERTICES)
    assert "UpsertVertexStep" in steps
    assert "MergeVertexStep" not in steps
    assert set(gremlin_graph.scan()) == {Vertex("J", "job")}


def test_names_beyond_those_that_are_kept_once_are_written_all_the_same(
    gremlin_graph: GremlinGraph, connections: Connections
) -> None:
    names = {f"name {number}": number for number in range(1_200)}
    upsert(connections, row("J", **names), row("K", **names))
    found = {each.id: dict(each.properties) for each in gremlin_graph.scan()}
    assert found == {"J": names, "K": names}


def test_a_search_for_more_than_an_id_is_gremlins(
    gremlin_graph: GremlinGraph, connections: Connections
) -> None:
    upsert(connections, row("J", name="daily"))
    upsert(connections, {"s": {T.id_: "J", "name": "daily"}, "c": {T.label: "job"}})
    upsert(connections, {"s": {"name": "weekly"}, "c": {T.label: "job", T.id_: "W"}})
    assert set(gremlin_graph.scan()) == {
        Vertex("J", "job", (("name", "daily"),)),
        Vertex("W", "job", (("name", "weekly"),)),
    }


def test_a_value_that_names_its_cardinality_is_gremlins(
    gremlin_graph: GremlinGraph, connections: Connections
) -> None:
    upsert(connections, row("J", name=CardinalityValue.single("daily")))
    assert set(gremlin_graph.scan()) == {Vertex("J", "job", (("name", "daily"),))}


@pytest.mark.parametrize(
    "created",
    [
        {T.label: "job", T.id_: "another"},
        {T.label: 7},
        {T.label: "job", 7: "seven"},
    ],
)
def test_a_row_that_cannot_be_is_refused_and_the_rows_before_it_stand(
    gremlin_graph: GremlinGraph, connections: Connections, created: dict[Any, Any]
) -> None:
    with pytest.raises(GraphRejected):
        upsert(connections, row("J"), {"s": {T.id_: "K"}, "c": created})
    assert set(gremlin_graph.scan()) == {Vertex("J", "job")}


@pytest.mark.parametrize("missing", ["from", "to", "said"])
def test_an_edge_without_an_end_says_which_and_is_not_there(
    gremlin_graph: GremlinGraph, connections: Connections, missing: str
) -> None:
    ends = {Direction.OUT: "J", Direction.IN: "J"}
    if missing != "said":
        ends[Direction.OUT if missing == "from" else Direction.IN] = "nowhere"
    else:
        del ends[Direction.IN]
    whole = {"s": {T.id_: "E"}, "c": {T.label: "has", Direction.OUT: "J", Direction.IN: "J"}}
    half = {"s": {T.id_: "F"}, "c": {T.label: "has", **ends}}
    upsert(connections, row("J"))
    merge = g().inject([whole, half]).unfold().merge_e(__.select("s"))
    with pytest.raises(GraphRejected, match=r"In Vertex not spec|nowhere"):
        connections.submit(merge.option(Merge.on_create, __.select("c")).count().bytecode)
    assert {each.id for each in gremlin_graph.scan()} == {"J", "E"}


def test_a_request_that_failed_fails_no_other(
    gremlin_graph: GremlinGraph, connections: Connections
) -> None:
    for number in range(5):
        with pytest.raises(GraphRejected):
            upsert(connections, {"s": {T.id_: "K"}, "c": {T.label: 7}})
        gremlin_graph.write(facts(vertex(labels.JOB, number)))
    assert gremlin_graph.count() == (5, 0)
