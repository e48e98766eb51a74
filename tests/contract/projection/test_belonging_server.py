"""On PostgreSQL a catalogue is a schema: dropped, emptied or another's, it is made anew."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from graph_model.errors import JournalUnavailable
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.catalogue.catalogue import GENERATION_KEY, _create_schema, _drop_schema
from graph_model.stores.catalogue.tables import metadata
from graph_model.stores.database import open_database
from graph_model.stores.documents import Receipt
from graph_model.stores.journal import Journal
from tests.contract.databases import schema_on
from tests.memory_graph import MemoryGraph
from tests.projections import elements_of
from tests.unit.graph_model.projection.projector.test_projector import TROUBLE
from tests.waiting import eventually


class Service:
    """A projector at work on a shared database and a shared graph."""

    def __init__(self, url: str, graph: MemoryGraph) -> None:
        self.database = open_database(url)
        self.journal = Journal(self.database)
        self.generations = Generations(self.database, self.journal)
        self.graph = graph
        self.projector = Projector(self.journal, graph, self.generations)
        self.projector.start()

    def settle(self) -> None:
        eventually(lambda: self.projector.state == "ready" and not self.journal.backlog().documents)
        eventually(lambda: self.journal.get_meta("rebuild") in (None, "none"))

    def elements(self) -> Any:
        return (
            tuple(sorted(self.graph.scan(), key=lambda element: element.id)),
            tuple(sorted(self.generations.current.scan(), key=repr)),
        )

    def execute(self, statement: str) -> None:
        schema = f"headwater_catalogue_{self.journal.get_meta(GENERATION_KEY) or 0}"
        with self.database.begin() as connection:
            connection.exec_driver_sql(statement.format(schema=schema))

    def close(self) -> None:
        self.projector.stop()
        self.generations.close()
        self.journal.close()


@pytest.fixture
def url(server_url: str) -> Iterator[str]:
    with schema_on(server_url) as result:
        yield result


TRUNCATED = f"TRUNCATE {', '.join('{schema}.' + table for table in metadata.tables)}"
DROPPED = "DROP SCHEMA {schema} CASCADE"


@pytest.mark.parametrize("harm", [DROPPED, TRUNCATED])
@pytest.mark.parametrize("running", [False, True])
def test_a_schema_that_is_dropped_or_emptied_is_made_anew(
    url: str, harm: str, running: bool
) -> None:
    graph = MemoryGraph()
    service = Service(url, graph)
    service.journal.accept(TROUBLE, Receipt(0, "", "test", ""))
    service.settle()
    expected = elements_of(TROUBLE, stepwise=False)
    assert service.elements() == expected
    service.execute(harm)
    if not running or harm == TRUNCATED:  # an emptied table is no error: a start finds it
        service.close()
        service = Service(url, graph)
    else:
        with pytest.raises(Exception, match=r"does not answer|not exist|cannot be read"):
            service.generations.current.list_jobs(now=0)
        assert service.projector.state == "rebuilding"
        service.projector.notify()
    service.settle()
    assert service.elements() == expected
    service.close()


def test_an_empty_journal_beside_the_catalogue_of_another_takes_nothing(
    url: str, server_url: str
) -> None:
    former = Service(url, MemoryGraph())
    former.journal.accept(TROUBLE, Receipt(0, "", "test", ""))
    former.settle()
    former.close()
    with schema_on(server_url) as empty:
        service = Service(empty, MemoryGraph())
        eventually(lambda: service.projector.state == "unavailable")
        assert "--new-journal" in (service.projector.failure or "")
        with pytest.raises(JournalUnavailable, match="catalogue 0 of another journal"):
            service.journal.accept(TROUBLE, Receipt(0, "", "test", ""))
        service.close()


def test_two_services_on_one_database_do_not_doubt_the_projection_of_the_other(url: str) -> None:
    graph = MemoryGraph()
    first = Service(url, graph)
    first.journal.accept(TROUBLE[:4], Receipt(0, "", "test", ""))
    first.settle()
    two = Service(url, graph)
    for document in TROUBLE[4:]:
        two.journal.accept([document], Receipt(0, "", "test", ""))
        (first if document.content_hash < "8" else two).projector.notify()
        first.settle()
    two.settle()
    assert (first.projector.rebuild_reason, two.projector.rebuild_reason) == (None, None)
    number = first.journal.get_meta(GENERATION_KEY)
    three = Service(url, graph)
    three.settle()
    assert first.journal.get_meta(GENERATION_KEY) == number
    assert three.elements() == elements_of(TROUBLE, stepwise=False)
    for service in (first, two, three):
        service.close()


def test_two_services_make_the_schema_of_a_catalogue_at_the_same_time(url: str) -> None:
    """The second begins while the transaction of the first is open."""
    first, second = open_database(url), open_database(url)
    made: list[bool] = []

    def make() -> None:
        with second.begin() as connection:
            _create_schema(connection, 99)
        made.append(True)

    thread = threading.Thread(target=make)
    with first.begin() as connection:
        _create_schema(connection, 99)
        thread.start()
        eventually(lambda: _waiting(first) > 0)
    thread.join(60)
    with first.begin() as connection:
        _drop_schema(connection, 99)
    first.dispose()
    second.dispose()
    assert made


def _waiting(database: sa.Engine) -> int:
    """How many sessions wait for a lock."""
    with database.connect() as connection:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return int(connection.exec_driver_sql(asked).scalar_one())


def test_when_one_service_makes_the_catalogue_anew_the_other_follows(url: str) -> None:
    graph = MemoryGraph()
    first, two = Service(url, graph), Service(url, graph)
    first.journal.accept(TROUBLE, Receipt(0, "", "test", ""))
    first.settle()
    two.settle()
    first.execute(DROPPED)
    for service in (first, two):
        service.projector.notify()
        with pytest.raises(Exception, match=r"does not answer|not exist|cannot be read"):
            service.generations.current.list_jobs(now=0)
    for service in (first, two):
        service.projector.notify()
        eventually(lambda: service.projector.state == "ready")  # noqa: B023 - asked at once
    first.settle()
    two.settle()
    for service in (first, two):  # the former one is dropped: whoever has not looked since, looks
        service.projector.notify()
        number = str(service.journal.get_meta(GENERATION_KEY))
        eventually(lambda: str(service.generations._number) == number)  # noqa: B023
        service.settle()
    assert first.elements() == two.elements() == elements_of(TROUBLE, stepwise=False)
    first.close()
    two.close()
