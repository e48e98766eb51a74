"""A Neptune cluster, where one is named; skipped otherwise. Nothing but this can prove the dialect.

    HEADWATER_TEST_NEPTUNE=wss://my.cluster:8182/gremlin  the writer's endpoint, of an EMPTY cluster
    HEADWATER_TEST_NEPTUNE_SIGNED=1                       sign handshakes (IAM authentication)

The cluster is asked whether it is empty before anything is written, and emptied afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from graph_model import labels
from graph_model.errors import GraphRejected
from graph_model.facts import merge
from graph_model.stores.aws import signed_headers
from graph_model.stores.graph import Direction
from graph_model.stores.gremlin.connection import Limits
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from tests.contract.facts_to_write import everything, plan, whole

URL = os.environ.get("HEADWATER_TEST_NEPTUNE", "")
SIGNED = os.environ.get("HEADWATER_TEST_NEPTUNE_SIGNED") == "1"

pytestmark = pytest.mark.skipif(not URL, reason="HEADWATER_TEST_NEPTUNE names no cluster")


@pytest.fixture
def cluster() -> Iterator[GremlinGraph]:
    headers = signed_headers(URL) if SIGNED else dict
    graph = open_graph(URL, dialect="neptune", headers=headers, limits=Limits(connections=4))
    if graph.count() != (0, 0):
        graph.close()
        pytest.fail(f"{URL} is not empty: this test would remove its content")
    try:
        yield graph
    finally:
        graph.clear()
        graph.close()


def test_elements_written_twice_are_there_once_with_single_values(cluster: GremlinGraph) -> None:
    written = merge([plan("daily", columns=30, executions=2), plan("other")])
    cluster.write(written)
    cluster.write(written)
    assert everything(cluster) == whole(written)


def test_reads_are_bounded_and_directed(cluster: GremlinGraph) -> None:
    written = plan("daily", columns=30)
    cluster.write(written)
    ids = [each.id for each in written.vertices]
    assert {each.id for each in cluster.vertices(ids)} == set(ids)
    page = cluster.edges(ids, Direction.DOWNSTREAM, [labels.HAS], 2)
    assert page.cut
    assert all(each.label == labels.HAS for each in page.edges)


def test_an_edge_without_its_ends_is_refused(cluster: GremlinGraph) -> None:
    written = plan("daily")
    with pytest.raises(GraphRejected):
        cluster.write(type(written)((), written.edges))


def test_removed_elements_are_gone(cluster: GremlinGraph) -> None:
    one, other = plan("one"), plan("other")
    cluster.write(merge([one, other]))
    gone = {each.id for each in one.vertices} - {each.id for each in other.vertices}
    lone = {each.id for each in one.edges} - {each.id for each in other.edges}
    cluster.remove(gone, lone)
    assert everything(cluster) == whole(other)
