"""A sample of the same on the embedded Gremlin Server: the graph is the engine's, not ours."""

from __future__ import annotations

from random import Random

import pytest

from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import Receipt
from graph_model.stores.gremlin.graph import GremlinGraph
from graph_model.stores.journal import Journal
from tests.oracle.comparison import ComparedHistory, told
from tests.oracle.documents import submissions
from tests.oracle.generation import new_history, nodes_of, some_question
from tests.oracle.histories import Asked, History, in_short, read_known_histories

pytestmark = pytest.mark.engine

_SAMPLE = (
    "catalog-name-moves",
    "columns-in-time",
    "cycle-of-two-turns",
    "finer-partition",
    "merge",
    "one-plan-many-partitions",
    "overwritten-after-it-was-read",
    "read-only-before-an-overwrite",
    "two-producers-append-twice",
)
KNOWN = {known.name: known.history for known in read_known_histories()}
_GENERATED = 4


def compare(history: History, asked: list[Asked], graph: GremlinGraph) -> None:
    database = open_database("sqlite://")
    journal = Journal(database)
    generations = Generations(database, journal)
    try:
        projector = Projector(journal, graph, generations)
        projector.prepare()
        journal.accept(submissions(history), Receipt(0, "", "test", "raw"))
        while projector.project_pending():
            pass
        compared = ComparedHistory(history, graph, generations.current)
        result = [difference for item in asked for difference in compared.differences(item)]
    finally:
        generations.close()
        journal.close()
    assert not result, f"{told(result[:5])}\n{in_short(history)}"


@pytest.mark.parametrize("name", _SAMPLE)
def test_a_known_history_is_answered_as_the_oracle_does(
    name: str, gremlin_graph: GremlinGraph
) -> None:
    history = KNOWN[name]
    asked = [Asked(node, "both", depth) for node in nodes_of(history) for depth in (1, 50)]
    compare(history, asked, gremlin_graph)


@pytest.mark.parametrize("seed", range(_GENERATED))
def test_a_generated_history_is_answered_as_the_oracle_does(
    seed: int, gremlin_graph: GremlinGraph
) -> None:
    random = Random(seed)
    history = new_history(random)
    compare(history, [some_question(random, history) for _ in range(15)], gremlin_graph)
