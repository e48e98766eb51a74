"""The public reason of a part that is away holds no address and no driver's words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.service.readiness import ask
from graph_model.errors import EngineError, GraphUnavailable, JournalUnavailable, Unavailable
from graph_model.stores.database import open_database, read
from graph_model.stores.gremlin.graph import open_graph
from tests.e2e.producer_service import headwater
from tests.memory_graph import MemoryGraph

NOWHERE = "ws://127.0.0.1:9/gremlin"
SECRETS = ("127.0.0.1", "5432", ":9", "gremlin/", "/srv", "ws:", "refused")


def test_a_database_that_is_away_is_named_in_the_log_alone() -> None:
    pytest.importorskip("psycopg")
    engine = open_database("postgresql://me@127.0.0.1:9/lineage")
    with pytest.raises(JournalUnavailable) as caught, read(engine, JournalUnavailable):
        pass
    engine.dispose()
    assert caught.value.reason == "the database does not answer"
    assert "127.0.0.1" in str(caught.value)


class Away(MemoryGraph):
    """Does not answer; the error has all that a driver may say."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def ping(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        GraphUnavailable("the graph database does not answer", f"{NOWHERE}: refused"),
        EngineError("/srv/data/engine/engine.log: refused"),
    ],
)
def test_readiness_and_refusals_tell_no_address(error: Exception) -> None:
    with headwater() as server:
        server.service = replace(server.service, graph=Away(error))
        said = " ".join(ask(server.service).checks.values())
        server.projector.state = "unavailable"
        assert "does not" in said
        assert not [word for word in SECRETS if word in said]


def test_a_graph_that_is_away_has_a_reason_without_its_address() -> None:
    graph = open_graph(NOWHERE)
    with pytest.raises(GraphUnavailable) as caught:
        graph.ping()
    graph.close()
    assert caught.value.reason == "the graph database does not answer"
    assert NOWHERE in str(caught.value)


def test_an_error_without_a_detail_is_its_reason() -> None:
    assert str(Unavailable("busy")) == Unavailable("busy").reason == "busy"
