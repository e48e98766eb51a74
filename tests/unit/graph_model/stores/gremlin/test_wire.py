"""The bytes on the wire: rows, requests and answers, compared with the driver's own work."""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from gremlin_python.driver.serializer import GraphBinarySerializersV1
from gremlin_python.process.traversal import Bytecode, Direction, T
from gremlin_python.statics import long
from gremlin_python.structure.graph import Path
from gremlin_python.structure.io.graphbinaryV1 import GraphBinaryWriter
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model import labels
from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Vertex, merge, properties, stages
from graph_model.stores.graph import Direction as Way
from graph_model.stores.gremlin import graphbinary, traversals
from graph_model.stores.gremlin.dialect import EMBEDDED
from graph_model.stores.gremlin.graph import GremlinWriter, batches
from tests.contract.facts_to_write import fact_sets, plan, vertex
from tests.unit.graph_model.stores.gremlin import fake_gremlin

REQUEST = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")


def driver_bytes(value: object) -> bytes:
    buffer = bytearray()
    GraphBinaryWriter(graphbinary.SERIALIZERS).to_dict(value, buffer)
    return bytes(buffer)


def typed(pairs: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    return {
        key: long(value) if type(value) is int else value  # the driver would choose by size
        for key, value in pairs
    }


# --- rows ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(fact_sets())
def test_rows_are_the_bytes_that_the_driver_would_send(written: Any) -> None:
    for each in written.vertices:
        row = {"s": {T.id_: each.id}, "c": {T.label: each.label, **typed(each.properties)}}
        assert graphbinary.vertex_row(each) == driver_bytes(row)
    for each in written.edges:
        created = {
            T.label: each.label,
            Direction.OUT: each.out_id,
            Direction.IN: each.in_id,
            **typed(each.properties),
        }
        assert graphbinary.edge_row(each) == driver_bytes({"s": {T.id_: each.id}, "c": created})


def test_a_batch_is_the_list_of_its_rows_in_a_path() -> None:
    rows = [driver_bytes("a"), driver_bytes(True)]
    assert driver_bytes(graphbinary.rows(rows)) == driver_bytes(Path([set()], [["a", True]]))


@pytest.mark.parametrize(
    ("value", "complaint"),
    [("half \ud83d", "surrogate"), (2**63, "64 bits"), (-(2**63) - 1, "64 bits")],
)
def test_a_value_that_no_engine_can_hold_is_rejected(value: Any, complaint: str) -> None:
    bad = Vertex("ds_1", labels.DATASET, (("v", value),))
    with pytest.raises(GraphRejected, match=complaint):
        graphbinary.vertex_row(bad)


# --- batches -------------------------------------------------------------------------------------


def sizes(elements: list[Vertex], **bounds: Any) -> list[int]:
    dialect = replace(EMBEDDED, **bounds)
    return [len(batch.elements) for batch in batches(elements, dialect, graphbinary.vertex_row)]


def test_a_batch_ends_at_each_bound_of_the_dialect() -> None:
    seven = [vertex(labels.COLUMN, number, path="p", dataset="d") for number in range(7)]
    length = len(graphbinary.vertex_row(seven[0]))
    assert sizes(seven, batch_elements=3) == [3, 3, 1]
    assert sizes(seven, batch_records=9) == [3, 3, 1]  # a label and two properties each
    assert sizes(seven, batch_bytes=3 * length) == [3, 3, 1]
    assert sizes(seven, batch_elements=7) == [7]
    assert sizes([]) == []


def test_an_element_beyond_every_bound_goes_alone() -> None:
    large = [vertex(labels.COLUMN, number, path="p" * 100) for number in range(3)]
    assert sizes(large, batch_bytes=10, batch_records=1) == [1, 1, 1]


def test_a_batch_has_each_id_once_in_one_order() -> None:
    elements = [vertex(labels.COLUMN, number) for number in (3, 1, 2, 1, 3)]
    (batch,) = batches(elements, EMBEDDED, graphbinary.vertex_row)
    assert [each.id for each in batch.elements] == sorted({each.id for each in elements})
    assert batch.rows == tuple(graphbinary.vertex_row(each) for each in batch.elements)


def test_edges_of_one_vertex_stay_together() -> None:
    edges = [Edge(f"e{number}", labels.HAS, f"v{number % 2}", "x") for number in range(6)]
    (batch,) = batches(edges, EMBEDDED, graphbinary.edge_row)
    assert [each.out_id for each in batch.elements] == ["v0"] * 3 + ["v1"] * 3


def test_a_plan_in_one_request_has_its_marker_after_its_edges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The embedded engine is read between two elements of a request."""
    sent: list[bytes] = []

    def upsert_rows(_: Sequence[bytes], edges: Sequence[bytes]) -> Bytecode:
        sent.extend(edges)
        return Bytecode()

    monkeypatch.setattr(traversals, "upsert_rows", upsert_rows)
    connections = SimpleNamespace(dialect=EMBEDDED, submit=lambda _: [1])
    written = merge([plan("daily", executions=2), plan("weekly")])
    GremlinWriter(connections).write(written)  # type: ignore[arg-type]
    staged = stages(written)
    edges, markers = (
        set(map(graphbinary.edge_row, item)) for item in (staged.edges, staged.markers)
    )
    assert set(sent[: len(edges)]) == edges
    assert set(sent[len(edges) : -len(staged.execution_edges)]) == markers


# --- requests ------------------------------------------------------------------------------------


def test_the_form_for_neptune_is_a_chain_of_literal_merges_with_single_values() -> None:
    chain = traversals.upsert_vertex_chain(
        [Vertex("ds_1", "dataset", properties({"uri": "s3://a", "at": 5, "ok": True}))]
    )
    assert chain.source_instructions == []
    merge, option, end = chain.step_instructions
    assert merge == ["mergeV", {T.id_: "ds_1"}]
    assert end == ["id"]
    assert [str(each) for each in option[:2]] == ["option", "Merge.on_create"]
    created = option[2]
    assert created.pop(T.label) == "dataset"
    values = {key: value.source_instructions[0] for key, value in created.items()}
    assert [[str(each) for each in value] for value in values.values()] == [
        ["CardinalityValueTraversal", "Cardinality.single", "5"],
        ["CardinalityValueTraversal", "Cardinality.single", "True"],
        ["CardinalityValueTraversal", "Cardinality.single", "s3://a"],
    ]
    assert type(values["at"][2]) is long
    assert type(values["ok"][2]) is bool


def test_an_edge_is_searched_by_its_id_alone() -> None:
    chain = traversals.upsert_edge_chain(
        [Edge("e_1", "feeds", "ds_1", "lp_1", properties({"mode": "append"}))]
    )
    assert chain.step_instructions[0] == ["mergeE", {T.id_: "e_1"}]
    assert chain.step_instructions[1][2] == {
        T.label: "feeds",
        Direction.OUT: "ds_1",
        Direction.IN: "lp_1",
        "mode": "append",
    }


def test_a_chain_has_three_steps_an_element_at_most() -> None:
    many = [vertex(labels.DATASET, number, uri="u") for number in range(100)]
    request = traversals.upsert_vertex_chain(many)
    assert len(request.step_instructions) == 201


def test_rows_of_any_number_are_one_plan() -> None:
    first = traversals.upsert_vertex_rows([b"1"])
    many = traversals.upsert_vertex_rows([b"1"] * 1000)
    assert len(first.step_instructions) == len(many.step_instructions) == 6


@pytest.mark.parametrize(
    "request_for",
    [
        traversals.remove_vertices,
        traversals.remove_edges,
        traversals.vertices,
        lambda ids: traversals.edges(ids, Way.UPSTREAM, {"has": None}, 5),
    ],
)
def test_no_ids_never_become_all_ids(request_for: Any) -> None:
    with pytest.raises(ValueError, match="no ids"):
        request_for([])


def test_no_request_ends_in_iterate() -> None:
    requests = [
        traversals.upsert_vertex_rows([b"1"]),
        traversals.upsert_edge_chain([Edge("e", "has", "a", "b")]),
        traversals.remove_edges(["e"]),
        traversals.remove_some_vertices(5),
        traversals.vertices(["v"]),
        traversals.all_edges(),
    ]
    for request in requests:
        assert request.step_instructions[-1][0] not in ("none", "discard")


# --- answers -------------------------------------------------------------------------------------

_ITEMS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.text(max_size=20),
        st.integers(-(2**31), 2**31 - 1),
        st.integers(-(2**63), 2**63 - 1).map(long),
        st.floats(allow_nan=False),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def message(items: list[Any], code: int = 200, text: str = "") -> bytes:
    return fake_gremlin.answer(REQUEST.bytes, items, code, text)


@settings(deadline=None)
@given(st.lists(_ITEMS, max_size=5), st.text(max_size=20))
def test_an_answer_is_read_as_the_driver_reads_it(items: list[Any], text: str) -> None:
    data = message(items, 206, text)
    theirs = GraphBinarySerializersV1().deserialize_message(data)
    ours = graphbinary.answer(data)
    assert repr(ours.items) == repr(theirs["result"]["data"])
    assert (ours.request_id, ours.code) == (theirs["requestId"], 206)
    assert ours.message == (theirs["status"]["message"] or "")


@pytest.mark.parametrize("repeated", ["text", [1, 2], {"a": True}])
def test_a_traverser_stands_for_as_many_items_as_it_says(repeated: Any) -> None:
    data = bytearray()
    GraphBinaryWriter().to_dict(repeated, data)
    item = b"\x21\x00" + struct.pack(">q", 3) + bytes(data)
    empty = message([])
    assert empty.endswith(b"\x09\x00\x00\x00\x00\x00")
    whole = empty[:-4] + struct.pack(">i", 1) + item
    assert graphbinary.answer(whole).items == [repeated] * 3


def test_types_beyond_the_few_are_left_to_the_driver() -> None:
    data = message(["text", uuid.UUID(int=7), 2.5])
    assert graphbinary.answer(data).items == ["text", uuid.UUID(int=7), 2.5]


def test_an_error_without_a_request_id_is_read_too() -> None:
    data = fake_gremlin.answer(None, [], 498, "no such request")
    read = graphbinary.answer(data)
    assert (read.request_id, read.code, read.message) == (None, 498, "no such request")


@given(st.binary(max_size=80))
def test_rubbish_is_no_answer(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"not an answer|too many"):
        graphbinary.answer(data)


@settings(deadline=None)
@given(st.data())
def test_half_an_answer_is_no_answer(data: st.DataObject) -> None:
    whole = message(["a text", {"b": [1.5]}, True], 200, "done")
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(ValueError, match="not an answer"):
        graphbinary.answer(whole[:cut])


def test_not_a_number_survives_the_row() -> None:
    row = graphbinary.scalar(math.nan)
    assert math.isnan(struct.unpack(">d", row[2:])[0])
