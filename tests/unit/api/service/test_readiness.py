"""The public reason of a part that is away holds no address and no driver's words."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from api.service.parts import NewestAnswer, ask_parts
from graph_model.errors import EngineError, GraphUnavailable, JournalUnavailable, Unavailable
from graph_model.stores.database import open_database, read
from graph_model.stores.gremlin.graph import open_graph
from graph_model.stores.journal import Journal
from tests.e2e.producer_service import headwater
from tests.memory_graph import MemoryGraph
from tests.waiting import eventually

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


def test_a_probe_waits_a_moment_for_the_graph_and_answers_from_what_is_known() -> None:
    """A stopped engine held /health/ready for five seconds."""
    may_answer, is_well, asked = threading.Semaphore(1), [True], []

    def ask_graph() -> None:
        asked.append(1)
        may_answer.acquire()
        if not is_well[0]:
            raise GraphUnavailable("it does not answer")

    newest = NewestAnswer(ask_graph, moment=0, clock=lambda: 0.0)
    newest.check()  # nothing was known: it waits
    is_well[0] = False
    newest.check()
    newest.check()  # one question is under way
    assert len(asked) == 2
    may_answer.release()
    eventually(lambda: fails(newest))
    is_well[0] = True
    may_answer.release(100)
    eventually(lambda: not fails(newest))


def test_an_answer_of_the_graph_stands_for_two_seconds() -> None:
    """A service whose engine had stopped said that it is ready for six seconds."""
    now, may_answer = [0.0], threading.Semaphore(1)

    def ask_graph() -> None:
        may_answer.acquire()

    newest = NewestAnswer(ask_graph, moment=0, clock=lambda: now[0])
    newest.check()
    now[0] = 1.9
    newest.check()  # the engine has stopped: its last answer stands
    now[0] = 3.9
    with pytest.raises(GraphUnavailable, match="no answer for 2 s"):
        newest.check()
    may_answer.release(100)
    eventually(lambda: not fails(newest))


def fails(newest: NewestAnswer) -> bool:
    try:
        newest.check()
    except GraphUnavailable:
        return True
    return False


def test_a_journal_in_which_damage_was_met_is_not_ok(tmp_path: Path) -> None:
    journal = Journal(open_database(tmp_path / "headwater.db"))
    journal.ensure_taking()
    with (
        pytest.raises(Unavailable),
        read(journal._engine, JournalUnavailable) as connection,
    ):
        connection.exec_driver_sql("SELECT * FROM a_table_that_the_file_lost")
    with pytest.raises(JournalUnavailable, match="cannot be read"):
        journal.ensure_taking()
    journal.close()


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
        said = " ".join(ask_parts(server.service).checks.values())
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


def test_a_graph_that_cannot_even_be_asked_is_away() -> None:
    def ask_graph() -> None:
        raise RuntimeError("no event loop")

    with pytest.raises(GraphUnavailable, match="could not be asked"):
        NewestAnswer(ask_graph).check()
