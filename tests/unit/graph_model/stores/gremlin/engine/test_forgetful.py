"""The elements of an engine that forgets them are kept, and given back to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph_model import identity, labels
from graph_model.errors import (
    FactConflict,
    GraphRejected,
    GraphUnavailable,
    ProjectionStopped,
    Unavailable,
)
from graph_model.facts import Facts, JobRow, Row, merge
from graph_model.projection.writing import write_facts
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from graph_model.stores.gremlin.engine.forgetful import ForgetfulGraph
from tests.contract.facts_to_write import everything, facts, plan, vertex, whole
from tests.memory_graph import MemoryGraph

ODD = facts(vertex(labels.DATASET, "odd", a=True, b=2**40, c=0.5, d="é'\n\ud800", e="", f=1))
WRITTEN = merge([plan("daily", columns=3, executions=2), ODD])

ROWS = (JobRow(identity.job_id("default", "daily"), "default", "daily", shared=False),)


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    made = Catalogue(open_database(tmp_path / "catalogue.db"))
    yield made
    made.close()


def started(catalogue: Catalogue, **engine: Any) -> ForgetfulGraph:
    """Over an engine that has just been started."""
    return ForgetfulGraph(MemoryGraph(), lambda: [catalogue.elements], **engine)


def test_an_engine_gets_everything_back_with_the_types_of_its_values(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.stores.catalogue.rows._ELEMENTS_PAGE", 4)
    graph = started(catalogue)
    write_facts(graph, catalogue, WRITTEN)
    write_facts(graph, catalogue, WRITTEN)
    assert graph.is_whole()
    again = started(catalogue)
    assert not again.is_whole()
    again.restore()
    assert again.is_whole()
    assert everything(again) == whole(WRITTEN)


def test_an_engine_that_another_program_filled_has_only_what_is_kept(
    catalogue: Catalogue,
) -> None:
    write_facts(started(catalogue), catalogue, ODD)
    engine = MemoryGraph()
    engine.write(plan("weekly"))
    graph = ForgetfulGraph(engine, lambda: [catalogue.elements])
    assert not graph.is_whole()
    graph.restore()
    assert everything(graph) == whole(ODD)


def test_a_vertex_is_kept_no_longer_with_the_edges_at_it(catalogue: Catalogue) -> None:
    graph = started(catalogue)
    write_facts(graph, catalogue, WRITTEN)
    graph.remove([item.id for item in WRITTEN.vertices if item.label == labels.COLUMN], ())
    again = started(catalogue)
    again.restore()
    assert everything(again) == everything(graph)


class Broken(MemoryGraph):
    """Refuses what it is told to, answers no write of edges, and no removal."""

    def __init__(self, *refused: str) -> None:
        super().__init__()
        self._refused = refused

    def check(self, facts: Facts) -> None:
        if any(each.id in self._refused for each in facts.vertices):
            raise GraphRejected("no engine can hold it")

    def write(self, facts: Facts) -> None:
        self.check(facts)
        if facts.edges:
            raise GraphUnavailable("away")
        super().write(facts)

    def remove(self, *_: Any) -> None:
        raise GraphUnavailable("away")


def rows_of(catalogue: Catalogue) -> list[Row]:
    return list(catalogue.scan())


def test_what_no_engine_can_hold_is_neither_kept_nor_has_rows(catalogue: Catalogue) -> None:
    graph = ForgetfulGraph(Broken(ODD.vertices[0].id), lambda: [catalogue.elements])
    with pytest.raises(GraphRejected):
        write_facts(graph, catalogue, Facts(ODD.vertices, (), ROWS))
    assert catalogue.elements.count() == (0, 0)
    assert rows_of(catalogue) == []


def test_a_start_has_elements_and_rows_of_a_write_that_ended_before_the_engine_had_it(
    catalogue: Catalogue,
) -> None:
    graph = ForgetfulGraph(Broken(), lambda: [catalogue.elements])
    with pytest.raises(Unavailable):
        write_facts(graph, catalogue, Facts(WRITTEN.vertices, WRITTEN.edges, ROWS))
    again = started(catalogue)
    again.restore()
    assert everything(again) == whole(WRITTEN)
    assert rows_of(catalogue) == list(ROWS)


class Away(MemoryGraph):
    """Does not answer one write of edges."""

    away = True

    def write(self, facts: Facts) -> None:
        super().write(Facts(facts.vertices))
        if facts.edges and self.away:
            self.away = False
            raise GraphUnavailable("away")
        super().write(facts)


def test_an_engine_that_did_not_answer_has_what_is_kept_before_the_next_removal(
    catalogue: Catalogue,
) -> None:
    graph = ForgetfulGraph(Away(), lambda: [catalogue.elements])
    with pytest.raises(Unavailable):
        write_facts(graph, catalogue, WRITTEN)
    graph.remove([each.id for each in WRITTEN.vertices if each.label == labels.COLUMN], ())
    again = started(catalogue)
    again.restore()
    assert everything(again) == everything(graph)
    assert sum(again.count()) < WRITTEN.size


def test_rows_that_contradict_stored_ones_keep_no_elements(catalogue: Catalogue) -> None:
    graph = started(catalogue)
    write_facts(graph, catalogue, Facts(rows=ROWS))
    other = tuple(row._replace(name="other") for row in ROWS)
    with pytest.raises(FactConflict):
        write_facts(graph, catalogue, Facts(ODD.vertices, (), other))
    assert catalogue.elements.count() == graph.count() == (0, 0)


def test_a_server_that_keeps_its_elements_has_them_before_the_rows_and_no_copy(
    catalogue: Catalogue,
) -> None:
    with pytest.raises(Unavailable):
        write_facts(Broken(), catalogue, Facts(WRITTEN.vertices, WRITTEN.edges, ROWS))
    assert rows_of(catalogue) == []
    write_facts(MemoryGraph(), catalogue, Facts(WRITTEN.vertices, WRITTEN.edges, ROWS))
    assert catalogue.elements.count() == (0, 0)


def test_a_load_ends_where_the_service_stops(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.stores.catalogue.rows._ELEMENTS_PAGE", 1)
    write_facts(started(catalogue), catalogue, WRITTEN)
    again, asked = started(catalogue), iter([False, False, True])
    with pytest.raises(ProjectionStopped):
        again.restore(lambda: next(asked))
    assert sum(again.count()) == 2
    assert not again.is_whole()
    again.restore()
    assert again.is_whole()


class Picky(MemoryGraph):
    """Refuses pages with these vertices; all at first, where it is ``unwell``."""

    def __init__(self, *refused: str, unwell: bool = False) -> None:
        super().__init__()
        self._refused = refused
        self._unwell = unwell

    def write(self, facts: Facts) -> None:
        ids = {each.id for each in facts.vertices}
        if self._unwell or not ids.isdisjoint(self._refused):
            self._unwell = False
            raise GraphRejected("500: for a reason that nobody knows")
        super().write(facts)


def test_an_engine_that_refuses_one_of_the_kept_elements_is_filled_from_the_journal(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    odd = ODD.vertices[0].id
    write_facts(started(catalogue), catalogue, WRITTEN)
    again = ForgetfulGraph(Picky(odd), lambda: [catalogue.elements])
    again.restore()
    assert again.count() == catalogue.elements.count() == (0, 0)
    assert odd in caplog.text


def test_an_engine_that_refuses_elements_for_a_moment_gets_all_that_is_kept(
    catalogue: Catalogue,
) -> None:
    write_facts(started(catalogue), catalogue, WRITTEN)
    again = ForgetfulGraph(Picky(unwell=True), lambda: [catalogue.elements])
    again.restore()
    assert everything(again) == whole(WRITTEN)


@pytest.mark.parametrize("kept", [ODD, facts(*(vertex(labels.DATASET, str(n)) for n in range(50)))])
def test_an_engine_that_refuses_everything_takes_nothing_of_what_is_kept_away(
    catalogue: Catalogue, kept: Facts
) -> None:
    write_facts(started(catalogue), catalogue, kept)
    refusing = Picky(*(each.id for each in kept.vertices))
    with pytest.raises(GraphUnavailable):
        ForgetfulGraph(refusing, lambda: [catalogue.elements]).restore()
    again = started(catalogue)
    again.restore()
    assert everything(again) == whole(kept)


def test_a_removal_that_breaks_off_in_the_engine_is_whole_after_a_start(
    catalogue: Catalogue,
) -> None:
    write_facts(started(catalogue), catalogue, ODD)
    graph = ForgetfulGraph(Broken(), lambda: [catalogue.elements])
    with pytest.raises(Unavailable):
        graph.remove([ODD.vertices[0].id], ())
    again = started(catalogue)
    again.restore()
    assert everything(again) == []


class Busy(MemoryGraph):
    """Does not answer one removal."""

    busy = True

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        if self.busy:
            self.busy = False
            raise GraphUnavailable("busy")
        super().remove(vertex_ids, edge_ids)


def test_an_engine_that_did_not_remove_has_no_more_than_is_kept_before_the_next_write(
    catalogue: Catalogue,
) -> None:
    graph = ForgetfulGraph(Busy(), lambda: [catalogue.elements])
    write_facts(graph, catalogue, WRITTEN)
    gone = [each.id for each in WRITTEN.vertices if each.label == labels.COLUMN]
    with pytest.raises(Unavailable):
        graph.remove(gone, ())
    write_facts(graph, catalogue, ODD)
    assert graph.vertices(gone) == ()
    assert graph.is_whole()


def test_a_graph_that_is_too_large_for_the_engine_is_not_loaded(catalogue: Catalogue) -> None:
    write_facts(started(catalogue), catalogue, WRITTEN)
    elements = WRITTEN.size
    fitting = started(catalogue, capacity=lambda: elements)
    fitting.restore()
    assert sum(fitting.count()) == elements
    small = started(catalogue, capacity=lambda: elements // 2)
    small.restore()
    assert small.count() == catalogue.elements.count() == (0, 0)
