"""Every request that the Neptune dialect can send, held by golden files and by a strict checker."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import __
from gremlin_python.process.traversal import (
    Binding,
    Bytecode,
    Cardinality,
    CardinalityValue,
    Direction,
    Merge,
    T,
)
from gremlin_python.structure.graph import Graph
from hypothesis import given, settings

from graph_model import labels
from graph_model.facts import Edge, Vertex, properties
from graph_model.stores.graph import Direction as Way
from graph_model.stores.gremlin import graphbinary, traversals
from graph_model.stores.gremlin.connection import Connections
from graph_model.stores.gremlin.dialect import EMBEDDED, NEPTUNE
from graph_model.stores.gremlin.graph import batches
from tests.contract.facts_to_write import fact_sets, vertex
from tests.neptune import STEPS, RefusedByNeptune, check, shape, walk

GOLDEN: Final = Path(__file__).with_name("golden_neptune")
REWRITE: Final = "HEADWATER_TEST_GOLDEN"  # =write: after a change that was meant

VERTICES: Final = [
    Vertex("ds_1", labels.DATASET, properties({"uri": "s3://lake/é'\"$", "kind": "file"})),
    Vertex("ex_2", labels.EXECUTION, properties({"at": 1_700_000_000_000, "ok": True, "x": 0.5})),
]
EDGES: Final = [
    Edge("e_1", labels.FEEDS, "ds_1", "lp_1", properties({"mode": "append"})),
    Edge("e_0", labels.HAS, "jb_1", "lp_1"),
]

REQUESTS: Final[dict[str, Callable[[], Bytecode]]] = {
    "upsert_vertex_chain": lambda: traversals.upsert_vertex_chain(VERTICES),
    "upsert_edge_chain": lambda: traversals.upsert_edge_chain(EDGES),
    "correct_vertices": lambda: traversals.correct_vertices(VERTICES),
    "remove_vertices": lambda: traversals.remove_vertices(["ds_1", "ds_2"]),
    "remove_edges": lambda: traversals.remove_edges(["e_1", "e_2"]),
    "remove_some_vertices": lambda: traversals.remove_some_vertices(NEPTUNE.clear_elements),
    "remove_some_edges": lambda: traversals.remove_some_edges(NEPTUNE.clear_elements),
    "is_there_a_vertex": traversals.is_there_a_vertex,
    "is_there_an_edge": traversals.is_there_an_edge,
    "vertices": lambda: traversals.vertices(["ds_1", "jb_1"]),
    "edges": lambda: traversals.edges(["ds_1"], Way.DOWNSTREAM, [labels.FEEDS, labels.HAS], 5),
    "edges.upstream": lambda: traversals.edges(["ds_1"], Way.UPSTREAM, ["has"], 1),
    "neighbours": lambda: traversals.neighbours(["ds_1"], Way.DOWNSTREAM, "feeds", 5),
    "neighbours.upstream": lambda: traversals.neighbours(["lp_1"], Way.UPSTREAM, "has", 1),
    "neighbours.of_a_kind": lambda: traversals.neighbours(
        ["jb_1"], Way.DOWNSTREAM, "has", 5, "day"
    ),
    "all_vertices": traversals.all_vertices,
    "all_edges": traversals.all_edges,
    "count_vertices": traversals.count_vertices,
    "count_edges": traversals.count_edges,
    "ping": traversals.ping,
}
OF_THE_EMBEDDED_ENGINE: Final = {
    "edge_ids_at",
    "upsert_rows",
    "upsert_vertex_rows",
    "upsert_edge_rows",
}


def test_every_traversal_of_the_project_is_here() -> None:
    """One that is added must be held too, or be said to be the embedded engine's alone."""
    public = {
        name
        for name, item in inspect.getmembers(traversals, inspect.isfunction)
        if item.__module__ == traversals.__name__ and not name.startswith("_")
    }
    assert public == {name.partition(".")[0] for name in REQUESTS} | OF_THE_EMBEDDED_ENGINE
    assert {file.stem for file in GOLDEN.iterdir()} == set(REQUESTS)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_equals_its_golden_file_and_neptune_takes_it(name: str) -> None:
    request = REQUESTS[name]()
    check(request, 1000, NEPTUNE)
    golden = GOLDEN / f"{name}.gremlin"
    if os.environ.get(REWRITE) == "write":
        golden.write_text(shape(request), "utf-8")
    assert shape(request) == golden.read_text("utf-8")


def test_no_step_is_allowed_that_nothing_uses() -> None:
    used = {step[0] for name in REQUESTS for step in walk(REQUESTS[name]())}
    assert used == STEPS


@settings(deadline=None)
@given(fact_sets())
def test_whatever_is_written_is_written_as_neptune_takes_it(written: Any) -> None:
    for vertex_batch in batches(written.vertices, NEPTUNE, graphbinary.vertex_row):
        check(traversals.upsert_vertex_chain(vertex_batch.elements), 1000, NEPTUNE)
    for edge_batch in batches(written.edges, NEPTUNE, graphbinary.edge_row):
        check(traversals.upsert_edge_chain(edge_batch.elements), 1000, NEPTUNE)


def test_the_largest_batches_stay_within_all_bounds() -> None:
    """Measured with the bytes that go over the wire, for a chain is longer than its rows."""
    slim = [vertex(labels.DAY, number) for number in range(500)]
    rich = [
        vertex(labels.OPERATION, number, **{f"p{each}": "x" * 5000 for each in range(8)})
        for number in range(300)
    ]
    connections = Connections("ws://nowhere.invalid:1/gremlin", NEPTUNE)
    for elements in (slim, rich):
        for batch in batches(elements, NEPTUNE, graphbinary.vertex_row):
            request = traversals.upsert_vertex_chain(batch.elements)
            _, payload = connections._encode(request, 1.0)
            check(request, len(payload), NEPTUNE)


# --- the checker refuses -------------------------------------------------------------------------


def g() -> Any:
    return traversal().with_graph(Graph())


def merged(created: dict[Any, Any], search: dict[Any, Any] | None = None) -> Any:
    return g().merge_v(search or {T.id_: "a"}).option(Merge.on_create, created).id_()


def linked(created: dict[Any, Any]) -> Any:
    return g().merge_e({T.id_: "e"}).option(Merge.on_create, created).id_()


def chain_of(ids: list[str], **values: Any) -> Any:
    created = {T.label: "job", **{k: CardinalityValue.single(v) for k, v in values.items()}}
    built = g()
    for each in ids:
        built = built.merge_v({T.id_: each}).option(Merge.on_create, dict(created))
    return built.id_()


ENDS: Final = {T.label: "has", Direction.OUT: "a", Direction.IN: "b"}
REFUSED: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "a lambda": (lambda: g().V().map(lambda: ("it", "gremlin-groovy")), "map"),
    "a lambda inside": (lambda: g().V().local(__.map(lambda: ("it", "x"))), "lambda|map"),
    "io": (lambda: g().io("x.kryo").write(), r"io\(\)"),
    "a meta-property": (lambda: g().add_v("job").property("k", 1, "meta", 2), "add_?V|property"),
    "an implicit set": (lambda: merged({T.label: "job", "k": "v"}), "single"),
    "an explicit set": (
        lambda: merged({T.label: "job", "k": CardinalityValue.set_("v")}),
        "single",
    ),
    "a list of values": (
        lambda: merged({T.label: "job", "k": CardinalityValue.list_("v")}),
        "single",
    ),
    "a collection as a value": (
        lambda: merged({T.label: "job", "k": CardinalityValue.single(["a"])}),
        "is a list",
    ),
    "a map as a value": (lambda: linked({**ENDS, "k": {"a": 1}}), "is a dict"),
    "an int of unknown size": (lambda: linked({**ENDS, "k": 5}), "is a int"),
    "a cardinality on an edge": (
        lambda: linked({**ENDS, "k": CardinalityValue.single("v")}),
        "edges know none",
    ),
    "a null character": (lambda: linked({**ENDS, "k": "a\0"}), "null character"),
    "several labels": (lambda: merged({T.label: "a::b"}), "label"),
    "no label": (lambda: merged({"k": CardinalityValue.single("v")}), "label"),
    "a search by label": (
        lambda: merged({T.label: "job"}, {T.id_: "a", T.label: "job"}),
        "T.id alone",
    ),
    "a search by property": (lambda: merged({T.label: "job"}, {"name": "x"}), "T.id alone"),
    "an id that is a number": (lambda: merged({T.label: "job"}, {T.id_: 5}), "no text"),
    "an edge without an end": (lambda: linked({T.label: "has", Direction.OUT: "a"}), "both ends"),
    "ids out of order": (lambda: chain_of(["b", "a"]), "order"),
    "an id twice": (lambda: chain_of(["a", "a"]), "order"),
    "too many elements": (lambda: chain_of([f"{n:04}" for n in range(101)]), "101 elements"),
    "too many records": (
        lambda: chain_of([f"{n:04}" for n in range(60)], a="1", b="2", c="3"),
        "240 records",
    ),
    "too many steps": (lambda: chain_of([f"{n:05}" for n in range(800)]), "1601 steps"),
    "vertices and edges together": (
        lambda: (
            g()
            .merge_v({T.id_: "a"})
            .option(Merge.on_create, {T.label: "job"})
            .merge_e({T.id_: "e"})
            .option(Merge.on_create, dict(ENDS))
            .id_()
        ),
        "one chain",
    ),
    "an update": (
        lambda: g().merge_v({T.id_: "a"}).option(Merge.on_match, {"k": "v"}).id_(),
        "on_create",
    ),
    "an update with a set of values": (
        lambda: (
            g()
            .merge_v({T.id_: "a"})
            .option(Merge.on_create, {T.label: "job"})
            .option(Merge.on_match, {"k": "v"})
            .id_()
        ),
        "single",
    ),
    "elements as an answer": (
        lambda: g().merge_v({T.id_: "a"}).option(Merge.on_create, {T.label: "job"}),
        r"ends in id\(\)",
    ),
    "everything dropped": (lambda: g().V().drop(), "not bounded"),
    "too much dropped": (lambda: g().V().limit(10**6).drop(), "not bounded"),
    "too many ids": (lambda: g().V(*[f"{n:05}" for n in range(501)]).count(), "501 ids"),
    "too many ids to drop": (lambda: g().E(*[f"{n:03}" for n in range(101)]).drop(), "101 ids"),
    "ids to read twice": (lambda: g().V("b", "a", "b").count(), "twice"),
    "ids to drop out of order": (lambda: g().V("b", "a").drop(), "order"),
    "a number as an id to read": (lambda: g().V(1).count(), "no text"),
    "a step nobody vouched for": (lambda: g().V("a").group_count(), "groupCount"),
    "a step nobody vouched for, inside": (
        lambda: g().V("a").local(__.both_e().simple_path()),
        "simplePath",
    ),
    "a batch as rows": (lambda: g().inject([{"a": 1}]).unfold(), "unfold"),
    "a list to inject": (lambda: g().inject(["a"]), "a list"),
    "a side effect": (lambda: g().with_side_effect("x", 1).V("a").count(), "source step"),
    "strategies": (lambda: g().with_("evaluationTimeout", 5).V("a").count(), "source step"),
    "a set of values": (
        lambda: g().V("a").property(Cardinality.set_, "k", "v"),
        "property",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_checker_refuses(name: str) -> None:
    build, reason = REFUSED[name]
    with pytest.raises(RefusedByNeptune, match=reason):
        check(build().bytecode, 1000, NEPTUNE)


def test_the_checker_refuses_a_binding_and_the_bytes_of_rows() -> None:
    bound = Bytecode()
    bound.add_step("inject", Binding("x", 1))
    with pytest.raises(RefusedByNeptune, match="binding"):
        check(bound, 1000, NEPTUNE)
    with pytest.raises(RefusedByNeptune, match="Encoded"):
        check(traversals.upsert_vertex_rows([b"x"]), 1000, NEPTUNE)


def test_the_checker_refuses_a_request_longer_than_a_batch() -> None:
    with pytest.raises(RefusedByNeptune, match="bytes in one request"):
        check(chain_of(["a", "b"]).bytecode, 5 << 20, NEPTUNE)


def test_a_request_through_the_neptune_dialect_is_checked_in_every_test(
    neptune_objections: list[str],
) -> None:
    """The fixture that watches (conftest.py) sees this one; nothing is sent for it."""
    files = traversal().with_graph(Graph()).io("x.kryo").write().bytecode
    connections = Connections("ws://nowhere.invalid:1/gremlin", NEPTUNE)
    embedded = Connections("ws://nowhere.invalid:1/gremlin", EMBEDDED)
    embedded._encode(files, 1.0)
    assert neptune_objections == []
    with pytest.raises(RefusedByNeptune):
        connections._encode(files, 1.0)
    assert len(neptune_objections) == 1
    neptune_objections.clear()
