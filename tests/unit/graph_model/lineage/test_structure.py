"""The structure that questions remember: only parts that count, and not without end."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity
from graph_model.facts import Edge, Facts, Vertex
from graph_model.labels import DERIVES, HAS, LOGICAL_PLAN
from graph_model.lineage import Answer, Lineage, Question, Structure
from graph_model.producers.commands import Command, submit
from graph_model.projection.projector import Projector
from graph_model.retention.coverage import resolve_forget
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import Submission
from graph_model.stores.graph import Direction, EdgePage
from graph_model.stores.journal import Journal
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater, budget, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan

START = 1_700_000_000_000
CHAIN = ("file:/data/in.csv", "file:/data/out", "file:/data/report", "file:/data/end")


def a_step(number: int) -> dict[str, object]:
    """The plan of the job that makes the next table of the chain from one."""
    body = a_plan(id=f"{number}1111111-2222-5333-8444-555555555555", name=f"step {number}")
    write = {**body["operations"]["write"], "outputSource": CHAIN[number + 1]}
    read = {**body["operations"]["reads"][0], "inputSources": [CHAIN[number]]}
    return {**body, "operations": {**body["operations"], "write": write, "reads": [read]}}


STEPS = [a_step(number) for number in range(3)]


def run_of(number: int, at: int = START) -> list[Submission]:
    body = STEPS[number]
    return [plan(body), event(an_event(at + number, planId=body["id"]))]


def forget(headwater: SmallHeadwater, number: int) -> None:
    orders = resolve_forget({str(STEPS[number]["id"])}, headwater.journal)
    headwater.accept(
        *(submit(Command("ann", START, "", "job:default/demo", order)) for order in orders)
    )
    headwater.project()


def answers_of(lineage: Callable[[], Lineage]) -> list[Answer]:
    """Everything around each table of the chain, and around each of its columns."""
    nodes = [identity.dataset_id("", uri) for uri in CHAIN]
    result = [lineage().ask(Question(node, depth=5, columns=True, chains=True)) for node in nodes]
    columns = sorted({column.id for answer in result for column in answer.columns})
    return result + [lineage().ask(Question(column, depth=5, indirect=True)) for column in columns]


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[SmallHeadwater, SmallHeadwater]]:
    """Two services on one journal, one catalogue and one graph."""
    graph, services = MemoryGraph(), []
    for _ in range(2):
        database = open_database(tmp_path / "headwater.db")
        journal = Journal(database)
        generations = Generations(database, journal)
        projector = Projector(journal, graph, generations)
        projector.prepare()
        services.append(SmallHeadwater(journal, graph, generations, projector))
    yield services[0], services[1]
    for service in services:
        service.close()


def test_elements_that_one_service_withdraws_are_in_no_answer_of_the_other(
    shared: tuple[SmallHeadwater, SmallHeadwater],
) -> None:
    writer, reader = shared
    writer.accept(*(item for number in range(3) for item in run_of(number)))
    writer.project()
    structure = Structure()

    def remembering() -> Lineage:
        return Lineage(reader.graph, reader.catalogue, structure=structure)

    whole = answers_of(remembering)
    assert len(whole[-1].column_edges) == 3
    assert answers_of(remembering) == whole
    forget(writer, 1)
    left = answers_of(remembering)
    assert left == answers_of(lambda: Lineage(reader.graph, reader.catalogue))
    out, report = (identity.dataset_id("", uri) for uri in CHAIN[1:3])
    assert all({out, report} - set(answer.datasets) for answer in left)


@budget(10)
@given(st.randoms(use_true_random=False))
def test_an_answer_is_the_same_with_and_without_remembered_structure(rng: random.Random) -> None:
    headwater = small_headwater()
    structure = Structure()
    for number in range(5):
        step = rng.randrange(3)
        if rng.random() < 0.4:
            forget(headwater, step)
        else:
            headwater.accept(*run_of(step, START + 10 * number))
            headwater.project()
        assert answers_of(
            lambda: Lineage(headwater.graph, headwater.catalogue, structure=structure)
        ) == answers_of(lambda: Lineage(headwater.graph, headwater.catalogue))
    headwater.close()


class Filling(MemoryGraph):
    """One vertex is read after the other, and others write: after the first the rest is there."""

    def __init__(self, facts: Facts, rest: Facts) -> None:
        super().__init__()
        self.write(facts)
        self._rest: Facts | None = rest

    def edges(
        self,
        ids: Collection[str],
        direction: Direction,
        labels: Sequence[str],
        limit: int,
    ) -> EdgePage:
        result: list[Edge] = []
        for each in ids:
            result += super().edges([each], direction, labels, limit).edges
            if self._rest is not None and HAS in labels:
                self.write(self._rest)
                self._rest = None
        return EdgePage(tuple(result))


def test_derivations_that_are_read_before_their_marker_is_written_are_not_remembered() -> None:
    headwater = small_headwater()
    headwater.accept(*(item for number in range(3) for item in run_of(number)))
    headwater.project()
    elements = list(headwater.graph.scan())
    edges = [element for element in elements if isinstance(element, Edge)]
    late = [e for e in edges if e.label == DERIVES or identity.kind_of(e.in_id) == LOGICAL_PLAN]
    vertices = tuple(element for element in elements if isinstance(element, Vertex))
    graph = Filling(
        Facts(vertices=vertices, edges=tuple(e for e in edges if e not in late)),
        Facts(edges=tuple(late)),
    )
    structure = Structure()
    last = identity.column_id(identity.dataset_id("", CHAIN[-1]), "branch")
    question = Question(last, depth=5, direction=Direction.UPSTREAM)
    assert not Lineage(graph, headwater.catalogue, structure=structure).ask(question).column_edges
    whole = Lineage(graph, headwater.catalogue).ask(question)
    assert len(whole.column_edges) == 3
    assert Lineage(graph, headwater.catalogue, structure=structure).ask(question) == whole
    headwater.close()
