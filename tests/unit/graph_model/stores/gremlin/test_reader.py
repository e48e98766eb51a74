"""The order of questions to a graph: a marker is read before the elements that it marks."""

from __future__ import annotations

from typing import Any, cast

from gremlin_python.process.traversal import Bytecode

from graph_model import labels
from graph_model.stores.graph import Direction
from graph_model.stores.gremlin.connection import Connections
from graph_model.stores.gremlin.graph import Reader


class Asked:
    """Connections to nobody, which remember the sent requests."""

    def __init__(self) -> None:
        self.requests: list[Bytecode] = []

    def submit(self, request: Bytecode) -> list[Any]:
        self.requests.append(request)
        return []


def edge_labels(request: Bytecode) -> list[str]:
    (local,) = (step for step in request.step_instructions if step[0] == "local")
    (union,) = local[1].step_instructions
    return [
        str(step[1])
        for branch in union[1:]
        for step in branch.step_instructions
        if step[0] == "inE"
    ]


def test_edges_are_asked_in_the_order_of_ids_and_labels_that_was_given() -> None:
    asked = Asked()
    reader = Reader(cast(Connections, asked))
    ids = [f"lp_{number}" for number in range(900)] + ["col_1", "lp_0"]
    wanted = (labels.HAS, labels.FEEDS, labels.DERIVES)
    reader.edges(ids, Direction.UPSTREAM, wanted, 5)
    sent = [each for request in asked.requests for each in request.step_instructions[0][1:]]
    assert sent == ids[:-1]
    assert len(asked.requests) == 2
    assert [edge_labels(request) for request in asked.requests] == [list(wanted)] * 2


def test_edges_of_a_set_of_ids_are_asked_by_id() -> None:
    asked = Asked()
    ids = {f"lp_{number}" for number in range(20)}
    Reader(cast(Connections, asked)).edges(ids, Direction.UPSTREAM, (labels.HAS,), 5)
    assert list(asked.requests[0].step_instructions[0][1:]) == sorted(ids)
