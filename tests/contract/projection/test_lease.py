"""Several processes on one PostgreSQL: the projector that wrote last goes on while many come."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

from graph_model.errors import GraphUnavailable, JournalUnavailable, Unavailable
from graph_model.facts import Edge, Facts
from graph_model.producers.commands import Prune
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.projector import Projector, loop
from graph_model.projection.run_window import NONE
from graph_model.projection.writing import write_facts
from graph_model.stores.catalogue import Generations
from graph_model.stores.catalogue.rows import CATALOGUE_KEY, FILLING
from graph_model.stores.database import Claim, Database, Lease, Lock, open_database, transactions
from graph_model.stores.documents import Receipt, Submission
from graph_model.stores.graph import Graph
from graph_model.stores.gremlin.engine.forgetful import ForgetfulGraph
from graph_model.stores.journal import Journal
from tests.contract.databases import schema_on
from tests.memory_graph import MemoryGraph
from tests.projections import project, submission
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event
from tests.unit.graph_model.projection.test_crashes import command
from tests.waiting import eventually

MANY = 6
RECEIPT = Receipt(0, "", "test", "raw")
PATIENCE_SECONDS = 30


def documents_of(plans: Iterable[int], run: int) -> list[Submission]:
    """A plan document and an event of each."""
    result = []
    for number in plans:
        body = a_plan(id=str(uuid.UUID(int=number + 1)), name=f"job {number}")
        ran = an_event(1_700_000_000_000 + run, planId=body["id"])
        result += [submission(PLAN_KIND, body), submission(EVENT_KIND, ran)]
    return result


@dataclass
class Process:
    """The parts of one process alone; the graph and the database are shared."""

    database: Database
    journal: Journal
    generations: Generations
    projector: Projector

    def take(self, *plans: int, run: int = 0) -> tuple[int, ...]:
        """Make a plan document and an event of each durable; their positions."""
        return self.journal.accept(documents_of(plans, run), Receipt(0, "", "test", "raw"))

    def look(self) -> int:
        """One look of its projector: how many subjects it took up."""
        return self.projector.project_pending()

    def close(self) -> None:
        self.projector.stop()
        self.generations.close()
        self.journal.close()


class WatchedGraph(MemoryGraph):
    """Tells how many elements it was asked to write; does not answer while ``away``."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0
        self.away = False

    def write(self, facts: Facts) -> None:
        if self.away:
            raise GraphUnavailable("away")
        self.written += facts.size
        super().write(facts)


def process_on(url: str, graph: Graph) -> Process:
    database = open_database(url)
    journal = Journal(database)
    generations = Generations(database, journal)
    projector = Projector(journal, graph, generations, runs=NONE)
    projector.prepare()
    return Process(database, journal, generations, projector)


@dataclass
class Shared:
    graph: WatchedGraph
    first: Process
    second: Process


@pytest.fixture
def shared(server_url: str) -> Iterator[Shared]:
    graph = WatchedGraph()
    with schema_on(server_url) as url:
        made = Shared(graph, process_on(url, graph), process_on(url, graph))
        yield made
        made.first.close()
        made.second.close()


# --- the lease -----------------------------------------------------------------------------------


def lease_of(process: Process) -> Lease:
    return process.journal.lease()


def test_a_lease_is_one_process_s_until_that_gives_it_up(shared: Shared) -> None:
    first, other = lease_of(shared.first), lease_of(shared.second)
    assert first.take()
    assert first.take()
    assert not other.take()
    first.give_up()
    assert other.take()
    assert not first.take()
    for each in (first, other):
        each.give_up()
        each.give_up()


def test_a_lease_whose_session_has_ended_is_another_s(shared: Shared) -> None:
    first, other = lease_of(shared.first), lease_of(shared.second)
    assert first.take()
    end_session_of_lease(shared.second.database)
    while not other.take():
        pass
    with pytest.raises(JournalUnavailable):
        first.take()
    assert not first.take()
    first.give_up()
    other.give_up()


def test_nobody_else_asks_for_the_lease_of_a_file(tmp_path: Path) -> None:
    journal = Journal(open_database(tmp_path / "headwater.db"))
    assert not journal.lease().is_shared
    assert journal.lease().take()
    assert journal.lease().take()
    journal.close()


def end_session_of_lease(database: Database, lock: Lock = Lock.LEASE) -> None:
    """As if the process that holds the lease had been killed, if one does."""
    ended = sa.text(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        " AND granted AND (classid::bigint << 32) | objid::bigint = :lock"
    )
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(ended, {"lock": int(lock)})


# --- projectors that share it --------------------------------------------------------------------


def test_while_many_come_one_projector_goes_on_and_writes_nothing_twice(shared: Shared) -> None:
    shared.first.take(*range(MANY))
    assert shared.first.look() == MANY
    written = shared.graph.written
    shared.second.take(*range(MANY), run=1)
    assert shared.second.look() == 0
    assert shared.first.look() == MANY
    assert shared.graph.written - written == 0


def test_documents_that_come_one_by_one_are_projected_by_the_process_that_takes_them(
    shared: Shared,
) -> None:
    for number, process in enumerate([shared.first, shared.second, shared.first]):
        process.take(number)
        assert process.look() == 1


def test_a_lease_is_kept_for_some_time_after_the_last_round_of_many(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.first.take(*range(MANY))
    assert shared.first.look() == MANY
    assert shared.first.look() == 0
    shared.second.take(0, run=1)
    assert shared.second.look() == 0
    monkeypatch.setattr(loop, "_KEPT_SECONDS", 0.0)
    shared.first.take(*range(MANY), run=2)
    assert shared.first.look() == MANY
    shared.second.take(0, run=3)
    assert shared.second.look() == 1


def test_a_projector_that_stops_gives_over_at_once(shared: Shared) -> None:
    shared.first.projector.start()
    positions = shared.first.take(*range(MANY))
    shared.first.projector.notify()
    assert shared.first.projector.wait(positions, PATIENCE_SECONDS)
    shared.second.take(*range(MANY), run=1)
    shared.first.projector.stop()
    while shared.second.look():
        pass
    assert shared.second.journal.summary().pending == 0


def test_the_process_of_a_killed_projector_is_followed_by_another(shared: Shared) -> None:
    shared.first.take(*range(MANY))
    assert shared.first.look() == MANY
    shared.second.take(*range(MANY), run=1)
    end_session_of_lease(shared.second.database)
    while not shared.second.look():
        pass
    assert shared.second.journal.summary().pending == 0


def test_a_projector_whose_graph_does_not_answer_gives_way(shared: Shared) -> None:
    shared.first.take(*range(MANY))
    assert shared.first.look() == MANY
    shared.first.take(MANY)
    shared.graph.away = True
    with pytest.raises(GraphUnavailable):
        shared.first.projector.work_until(lambda: False)
    shared.graph.away = False
    assert shared.second.look() == 1


def test_a_request_hears_that_the_projector_of_another_process_is_done(shared: Shared) -> None:
    for process in (shared.first, shared.second):
        process.projector.start()
    positions = shared.first.take(*range(MANY))
    shared.first.projector.notify()
    assert shared.first.projector.wait(positions, PATIENCE_SECONDS)
    positions = shared.second.take(0, MANY, run=1)
    shared.second.projector.notify()
    assert shared.second.projector.wait(positions, PATIENCE_SECONDS)


def have_second_rebuild(shared: Shared) -> None:
    """The first process has projected many documents, and the second begins to rebuild them."""
    shared.first.take(*range(MANY))
    assert shared.first.look() == MANY
    shared.second.projector.request_rebuild()
    assert shared.second.projector.rebuild_step()


def test_a_process_that_rebuilds_gets_the_lease(shared: Shared) -> None:
    have_second_rebuild(shared)
    shared.second.take(MANY)
    assert shared.second.look() == 0
    assert shared.first.look() == 0
    assert shared.second.look() == 1


def test_a_rebuild_whose_process_was_killed_is_begun_again_by_another_at_once(
    shared: Shared,
) -> None:
    have_second_rebuild(shared)
    shared.first.take(MANY)
    assert shared.first.look() == 0
    assert not shared.first.projector.rebuild_step()
    end_session_of_lease(shared.first.database, Lock.REBUILD)
    while not shared.first.look():
        pass
    while shared.first.projector.rebuild_step():
        pass
    assert shared.first.journal.summary().pending == 0
    expected = project(documents_of(range(MANY + 1), 0), stepwise=False, runs=NONE)
    result = shared.first.generations.current.scan()
    assert {item.id for item in shared.graph.scan()} == {
        entry.id for entry in expected.graph.scan()
    }
    assert set(result) == set(expected.catalogue.scan())
    expected.close()


def test_work_for_a_limited_time_waits_for_the_process_that_has_the_lease(shared: Shared) -> None:
    other = lease_of(shared.second)
    assert other.take()
    shared.first.take(0)
    looks = count()
    assert not shared.first.projector.work_until(lambda: next(looks) > 1)
    assert shared.first.journal.summary().pending == 2
    other.give_up()
    assert shared.first.projector.work_until(lambda: False)
    assert shared.first.journal.summary().pending == 0


@pytest.mark.parametrize("seed", range(3))
def test_however_the_lease_changes_hands_the_projection_is_that_of_one_process(
    shared: Shared, seed: int
) -> None:
    chance, taken = random.Random(seed), list[Submission]()
    for run in range(12):
        process = chance.choice((shared.first, shared.second))
        plans = chance.sample(range(2 * MANY), chance.choice((1, MANY)))
        taken += documents_of(plans, run)
        process.take(*plans, run=run)
        if chance.random() < 0.3:
            end_session_of_lease(process.database)
        with suppress(JournalUnavailable):  # the session was another's
            chance.choice((shared.first, shared.second)).look()
    while shared.first.journal.summary().pending:
        for process in (shared.first, shared.second):
            with suppress(JournalUnavailable):
                process.look()
    expected = project(taken, stepwise=False, runs=NONE)
    result = shared.first.generations.current.scan()
    assert {item.id for item in shared.graph.scan()} == {
        entry.id for entry in expected.graph.scan()
    }
    assert set(result) == set(expected.catalogue.scan())
    expected.close()


# --- services with an engine of their own ---------------------------------------------------------


@contextmanager
def with_own_engine(url: str) -> Iterator[tuple[Process, ForgetfulGraph]]:
    """A process that must be alone on the database. Waits until it is."""
    database = open_database(url)
    claim = Claim(database, shared=False)
    while not claim.take():
        pass
    journal = Journal(database)
    generations = Generations(database, journal)
    graph = ForgetfulGraph(MemoryGraph(), lambda: [item.elements for item in generations.written])
    projector = Projector(journal, graph, generations, runs=NONE, keeps_database=claim.keep)
    yield Process(database, journal, generations, projector), graph
    projector.stop()
    generations.close()
    claim.give_up()
    journal.close()


def swap_an_edge(graph: ForgetfulGraph, process: Process) -> None:
    """One edge for another between the same vertices, so that all numbers stay."""
    edge = next(item for item in graph.scan() if isinstance(item, Edge))
    graph.remove([], [edge.id])
    write_facts(graph, process.generations.current, Facts(edges=(edge._replace(id="ed_other"),)))


def test_a_service_that_lost_its_database_to_another_one_writes_nothing_until_it_has_it_again(
    server_url: str,
) -> None:
    with schema_on(server_url) as url, with_own_engine(url) as (first, graph):
        first.take(0)
        first.projector.work_until(lambda: False)
        end_session_of_lease(first.database, Lock.SERVICE)
        with with_own_engine(url) as (second, other):
            second.projector.work_until(lambda: False)
            first.take(1)
            with pytest.raises(Unavailable):
                first.projector.work_until(lambda: False)
            with pytest.raises(Unavailable, match="another Headwater"):
                first.projector.work_until(lambda: False)
            assert first.journal.summary().pending == 2
            swap_an_edge(other, second)
        first.projector.work_until(lambda: False)
        assert first.journal.summary().pending == 0
        kept = first.generations.current.elements.pages()
        held = {vertex.id for page in kept for vertex in (*page.vertices, *page.edges)}
        assert {item.id for item in graph.scan()} == held


# --- a service that starts while another one is busy ---------------------------------------------


def starting_on(url: str, graph: Graph) -> Process:
    database = open_database(url)
    journal = Journal(database)
    generations = Generations(database, journal)
    projector = Projector(journal, graph, generations, runs=NONE)
    return Process(database, journal, generations, projector)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "_LOCK_SECONDS", 0.05)


def finish(process: Process) -> None:
    """All that is pending is projected, and the service ready."""
    while process.projector.work_until(lambda: process.projector.state == "ready"):
        pass


@pytest.mark.usefixtures("impatient")
def test_a_service_that_starts_during_a_long_command_is_ready_before_it_ends(
    server_url: str,
) -> None:
    graph = WatchedGraph()
    with schema_on(server_url) as url:
        first, second = process_on(url, graph), starting_on(url, graph)
        first.take(*range(MANY))
        finish(first)
        first.journal.accept([command(Prune((), drop_bodies=True))], RECEIPT)
        with first.journal.projecting():
            second.projector.start()
            eventually(lambda: second.projector.state == "ready")
            taken = second.take(MANY)
        eventually(lambda: second.projector.wait(taken, 1.0))
        assert second.projector.state == "ready"
        second.close()
        first.close()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("behind", ["documents", "catalogue"])
def test_a_service_that_starts_while_another_one_fills_the_graph_is_not_ready_before_that_is_done(
    server_url: str, caplog: pytest.LogCaptureFixture, behind: str
) -> None:
    caplog.set_level("INFO")
    graph = WatchedGraph()
    with schema_on(server_url) as url:
        first, second = process_on(url, graph), starting_on(url, graph)
        first.take(*range(MANY))
        finish(first)
        if behind == "documents":
            first.take(MANY)
        else:
            first.journal.set_meta(CATALOGUE_KEY, FILLING)
        with first.journal.projecting():
            second.projector.start()
            eventually(
                lambda: sum("waits for its turn" in message for message in caplog.messages) > 2
            )
            assert second.projector.state == "rebuilding"
        eventually(lambda: second.projector.state == "ready")
        second.close()
        first.close()


@pytest.mark.usefixtures("impatient")
def test_a_service_that_waits_for_its_turn_stays_ready(
    shared: Shared, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    finish(shared.first)
    shared.second.projector.start()
    eventually(lambda: shared.second.projector.state == "ready")
    with shared.first.journal.projecting():
        taken = shared.second.take(1)
        shared.second.projector.notify()
        eventually(lambda: "waits for its turn: ready" in caplog.text)
        assert shared.second.projector.state == "ready"
    eventually(lambda: shared.second.projector.wait(taken, 1.0))


def test_a_command_that_another_service_carries_out_keeps_no_service_from_answering(
    shared: Shared,
) -> None:
    shared.first.take(*range(MANY))
    finish(shared.first)
    lease = lease_of(shared.first)
    assert lease.take()
    shared.first.journal.accept([command(Prune((), drop_bodies=True))], RECEIPT)
    shared.second.projector.prepare()
    shared.second.projector.start()
    eventually(lambda: shared.second.projector.state == "ready")
    lease.give_up()
