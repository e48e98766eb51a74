"""Everything projected anew beside the projection in force: equal content, nothing lost."""

from __future__ import annotations

import copy
from collections.abc import Collection
from itertools import count
from typing import Any

import pytest

from graph_model import identity, labels
from graph_model.errors import GraphUnavailable
from graph_model.facts import Edge, Facts, Vertex
from graph_model.projection.projector import EPOCH_KEY, Projector
from graph_model.projection.projector.rebuild_control import REBUILD_KEY
from graph_model.projection.rebuilding import Phase
from graph_model.stores.database import DiskReserve, keep_reserve
from graph_model.stores.documents import DocumentState
from graph_model.stores.graph import elements_digest
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater, elements_of, project, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import (
    TROUBLE,
    a_plan,
    an_event,
    event,
    plan,
    writing_to,
)


@pytest.fixture(scope="module")
def expected() -> tuple[object, object]:
    return elements_of(TROUBLE, stepwise=False)


def rebuild(headwater: SmallHeadwater) -> None:
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass


def alien() -> Facts:
    """Elements that an older translator might have left."""
    name = (("name", "gone"), ("namespace", "default"))
    return Facts((Vertex(identity.job_id("default", "gone"), labels.JOB, name),))


def test_a_rebuild_gives_the_same_and_says_so(expected: tuple[object, object]) -> None:
    headwater = project(TROUBLE, stepwise=True)
    before = headwater.catalogue
    rebuild(headwater)
    assert headwater.catalogue is not before
    assert headwater.elements() == expected
    progress = headwater.projector.progress
    assert progress is not None
    assert progress.phase is Phase.DONE
    assert progress.before == progress.after is not None
    assert (progress.plans_done, progress.removed) == (progress.plans, 0)
    headwater.close()


@pytest.mark.parametrize("label", [labels.DATASET, labels.EXECUTION_PLAN, labels.EXECUTION])
def test_values_of_a_former_translator_become_those_of_this_one(
    label: str, expected: tuple[object, object]
) -> None:
    headwater = project(TROUBLE, stepwise=True)
    former = [
        each._replace(properties=tuple((key, f"former {value}") for key, value in each.properties))
        for each in headwater.graph.scan()
        if isinstance(each, Vertex) and each.label == label
    ]
    assert former
    headwater.graph.correct(former)
    assert headwater.elements() != expected
    rebuild(headwater)
    assert headwater.elements() == expected
    headwater.close()


def test_the_other_elements_say_what_their_ids_do() -> None:
    """So no translator can give one of them other values: the fingerprint of a plan covers what its
    operations and edges say, and so do the ids of its operations and edges.
    """
    headwater = project(TROUBLE, stepwise=True)
    seen = set[str]()
    for each in headwater.graph.scan():
        values = {key: str(value) for key, value in each.properties}
        if not isinstance(each, Vertex):
            plans = {each.out_id, each.in_id, values.get("logical_plan", "")}
            ends = {identity.kind_of(end) for end in plans}
            assert not values or ends & {labels.LOGICAL_PLAN, labels.OPERATION}, each
            continue
        seen.add(each.label)
        if each.label == labels.JOB:
            assert each.id == identity.job_id(values["namespace"], values["name"])
        elif each.label == labels.COLUMN:
            assert each.id == identity.column_id(values["dataset_id"], values["path"])
        elif each.label == labels.LOGICAL_PLAN:
            assert values["name"].endswith(values["fingerprint"][:8])
        elif each.label == labels.OPERATION:
            assert identity.kind_of(values["logical_plan"]) == labels.LOGICAL_PLAN
        elif each.label == labels.RUN:
            assert not values
    assert {labels.JOB, labels.COLUMN, labels.LOGICAL_PLAN, labels.OPERATION} <= seen
    headwater.close()


def test_a_request_while_a_rebuild_ends_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests come on other threads: here one comes right after the note was taken back."""
    headwater = project(TROUBLE, stepwise=False)
    set_meta, requests = headwater.journal.set_meta, list[str]()

    def requesting(key: str, value: str) -> None:
        set_meta(key, value)
        if (key, value) == (REBUILD_KEY, "none") and not requests:
            requests.append(key)
            headwater.projector.request_rebuild()

    monkeypatch.setattr(headwater.journal, "set_meta", requesting)
    headwater.projector.request_rebuild()
    while not requests and headwater.projector.rebuild_step():
        pass
    assert headwater.projector.rebuild_waits
    headwater.close()


def test_a_rebuild_that_nobody_asked_for_waits_until_a_second_catalogue_leaves_the_reserve() -> (
    None
):
    headwater = project(TROUBLE, stepwise=False)
    seconds, free = count(), [100 + headwater.catalogue.used_bytes() - 1]
    reserve = DiskReserve(size=100, free=lambda: free[0], seconds=lambda: next(seconds))
    keep_reserve(headwater.generations._database, reserve)
    headwater.projector.request_rebuild()
    assert not headwater.projector.rebuild_step()
    progress = headwater.projector.progress
    assert progress is not None
    assert progress.phase is Phase.SHORT
    (new,) = headwater.accept(event(an_event(1_700_000_000_123)))
    headwater.project()
    assert headwater.journal.states([new])[new] is not DocumentState.PENDING
    free[0] = 100 + headwater.catalogue.used_bytes()
    assert headwater.projector.rebuild_step()
    headwater.close()


def test_elements_that_the_journal_does_not_report_are_swept_away(
    expected: tuple[object, object],
) -> None:
    headwater = project(TROUBLE, stepwise=False)
    headwater.graph.write(alien())
    rebuild(headwater)
    assert headwater.elements() == expected
    progress = headwater.projector.progress
    assert progress is not None
    assert progress.removed == 1
    assert progress.before != progress.after
    headwater.close()


@pytest.mark.parametrize(
    "damage",
    ["catalogue_datasets SET uri = x'ff'", "catalogue_executions SET at = 'x', ahead = x'00'"],
)
def test_rows_that_cannot_be_hashed_do_not_stop_the_rebuild_that_replaces_them(
    expected: tuple[object, object], damage: str
) -> None:
    """SQLite holds any value in any column: a flipped bit makes bytes of a text."""
    headwater = project(TROUBLE, stepwise=False)
    with headwater.catalogue._engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {damage}")
    rebuild(headwater)
    assert headwater.elements() == expected
    progress = headwater.projector.progress
    assert progress is not None
    assert (progress.before, progress.after is None) == (None, False)
    headwater.close()


def test_executions_of_which_the_graph_says_something_else_are_written_again(
    expected: tuple[object, object],
) -> None:
    headwater = project(TROUBLE, stepwise=False)
    executions = [
        element
        for element in headwater.graph.scan()
        if isinstance(element, Vertex) and element.label == labels.EXECUTION
    ]
    changed = [each._replace(properties=(("state", "other"),)) for each in executions]
    edges = [edge for edge in headwater.graph.scan() if isinstance(edge, Edge)]
    headwater.graph.remove([each.id for each in executions], ())
    headwater.graph.write(Facts(tuple(changed), tuple(edges)))
    assert headwater.elements() != expected
    rebuild(headwater)
    assert headwater.elements() == expected
    headwater.close()


def test_elements_lost_from_the_graph_come_back(expected: tuple[object, object]) -> None:
    headwater = project(TROUBLE, stepwise=False)
    some = [v.id for v in headwater.graph.scan() if isinstance(v, Vertex)][::3]
    headwater.graph.remove(some, ())
    rebuild(headwater)
    assert headwater.elements() == expected
    headwater.close()


class CountedReads:
    """A journal that counts how often documents are asked for; ``plan`` it does not know."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.asked: list[Collection[str]] = []
        self.weighed: list[Collection[str]] = []

    def documents_by_key(self, subject_keys: Collection[str]) -> Any:
        self.asked.append(subject_keys)
        return self._inner.documents_by_key(subject_keys)

    def sizes(self, subject_keys: Collection[str], *kinds: Any) -> Any:
        self.weighed.append(subject_keys)
        return self._inner.sizes(subject_keys, *kinds)

    def documents_of(self, subject_key: str) -> Any:
        raise AssertionError(f"{subject_key} is asked for alone")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_a_step_of_a_rebuild_asks_for_documents_and_sizes_of_its_subject_keys_at_once(
    expected: tuple[object, object],
) -> None:
    headwater = project(TROUBLE, stepwise=False)
    journal = CountedReads(headwater.journal)
    headwater.project_through(journal=journal)
    rebuild(headwater)
    (asked,) = journal.asked
    assert [list(some) for some in journal.weighed] == [asked]
    assert len(asked) == headwater.journal.count_subject_keys() > 1
    assert headwater.elements() == expected
    headwater.close()


def test_a_request_leaves_the_rebuild_of_another_process_alone(
    expected: tuple[object, object],
) -> None:
    headwater = project(TROUBLE, stepwise=False)
    first = headwater.projector
    first.request_rebuild()
    assert first.rebuild_step()
    headwater.project_through()
    assert headwater.projector.request_rebuild().phase is Phase.WANTED
    assert not headwater.projector.rebuild_step()
    while first.rebuild_step():
        pass
    assert not headwater.projector.rebuild_waits
    assert headwater.elements() == expected
    headwater.close()


class OvertakenJournal:
    """A journal in which another process notes a step of its rebuild while a request is made."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.noted = False

    def get_meta(self, key: str) -> Any:
        result = self._inner.get_meta(key)
        if key == REBUILD_KEY and not self.noted:
            self.noted = True
            self._inner.set_meta(key, "another")
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_a_request_does_not_write_over_a_rebuild_that_begins_meanwhile() -> None:
    headwater = project(TROUBLE, stepwise=False)
    headwater.project_through(journal=OvertakenJournal(headwater.journal))
    headwater.projector.request_rebuild()
    assert headwater.journal.get_meta(REBUILD_KEY) == "another"
    headwater.close()


@pytest.mark.parametrize("arriving_after", range(8))
def test_documents_that_arrive_meanwhile_are_in_the_result(arriving_after: int) -> None:
    late = [
        event(an_event(1_700_200_000_000)),
        plan(a_plan(id="44444444-2222-5333-8444-555555555555", name="late")),
        plan(writing_to("file:/data/younger"), api_version="1.2"),
    ]
    headwater = project(TROUBLE, stepwise=False)
    headwater.projector.request_rebuild()
    steps = 0
    while headwater.projector.rebuild_step():
        if steps == arriving_after:
            headwater.accept(*late)
            headwater.project()
        steps += 1
    if steps <= arriving_after:
        headwater.accept(*late)
        headwater.project()
    rebuild(headwater)  # elements that a withdrawal left while sweeping go with the next one
    assert headwater.elements() == elements_of([*TROUBLE, *late], stepwise=False)
    headwater.close()


def test_answers_are_the_old_ones_until_everything_is_translated() -> None:
    headwater = project(TROUBLE, stepwise=False)
    rows = sorted(headwater.catalogue.scan(), key=repr)
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        assert sorted(headwater.catalogue.scan(), key=repr) == rows
    headwater.close()


def test_another_translator_projects_anew_beside_the_projection_in_force(
    expected: tuple[object, object],
) -> None:
    headwater = project(TROUBLE, stepwise=False)
    headwater.journal.set_meta(EPOCH_KEY, "an older one")
    headwater.graph.write(alien())
    again = Projector(headwater.journal, headwater.graph, headwater.generations)
    again.prepare()
    assert headwater.journal.summary().pending == 0
    while again.rebuild_step():
        pass
    assert headwater.elements() == expected
    again.prepare()
    assert not again.rebuild_step()
    headwater.close()


class BrittleGraph:
    """Does its work, and loses the connection after every n-th write or removal."""

    def __init__(self, inner: Any, every: int) -> None:
        self._inner = inner
        self._every = every
        self._calls = 0

    def write(self, facts: Facts) -> None:
        self._inner.write(facts)
        self._break()

    def remove(self, vertex_ids: Any, edge_ids: Any) -> None:
        self._inner.remove(vertex_ids, edge_ids)
        self._break()

    def _break(self) -> None:
        self._calls += 1
        if self._calls % self._every == 0:
            raise GraphUnavailable("the connection was lost after the request")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_a_rebuild_survives_a_graph_that_goes_away_at_every_other_write(
    expected: tuple[object, object],
) -> None:
    headwater = project(TROUBLE, stepwise=False)
    headwater.graph.write(alien())
    headwater.project_through(BrittleGraph(headwater.graph, 2))
    headwater.projector.request_rebuild()
    failures = 0
    while True:
        try:
            if not headwater.projector.rebuild_step():
                break
        except GraphUnavailable:
            failures += 1
    assert failures > 0
    assert headwater.elements() == expected
    headwater.close()


def test_a_process_that_dies_while_rebuilding_leaves_the_former_projection_in_force(
    expected: tuple[object, object],
) -> None:
    headwater = project(TROUBLE, stepwise=False)
    headwater.projector.request_rebuild()
    headwater.projector.rebuild_step()
    headwater.projector.rebuild_step()
    assert headwater.elements() == expected
    heir = Projector(headwater.journal, headwater.graph, headwater.generations)
    heir.prepare()
    assert not heir.rebuild_step()
    headwater.kill_rebuilding_process()
    assert headwater.elements() == expected
    while heir.rebuild_step():
        pass
    assert headwater.elements() == expected
    headwater.close()


def test_documents_are_left_to_the_process_that_rebuilds_until_it_dies() -> None:
    headwater = project(TROUBLE, stepwise=False)
    headwater.projector.request_rebuild()
    headwater.projector.rebuild_step()
    heir = Projector(headwater.journal, headwater.graph, headwater.generations)
    heir.prepare()
    late = [plan(a_plan(id="44444444-2222-5333-8444-555555555555", name="late"))]
    headwater.accept(*late)
    assert heir.project_pending() == 0
    assert not heir._rounds.caught_up
    headwater.kill_rebuilding_process()
    assert heir.project_pending() == 1
    while heir.rebuild_step():
        pass
    assert headwater.elements() == elements_of([*TROUBLE, *late], stepwise=False)
    headwater.close()


def test_a_process_that_waited_drops_a_rebuild_that_another_has_taken_over() -> None:
    headwater = project(TROUBLE, stepwise=False)
    waiting = headwater.projector
    waiting.request_rebuild()
    waiting.rebuild_step()
    waiting.work_until(lambda: True)
    other = Projector(headwater.journal, headwater.graph, headwater.generations)
    other.prepare()
    late = [plan(a_plan(id="44444444-2222-5333-8444-555555555555", name="late"))]
    headwater.accept(*late)
    assert other.project_pending() == 1  # the documents of the waiting one's rebuild lack it
    assert waiting.project_pending() == 0
    other.stop()
    while waiting.rebuild_step():
        pass
    assert headwater.elements() == elements_of([*TROUBLE, *late], stepwise=False)
    headwater.close()


def test_a_start_after_a_crash_in_a_rebuild_fills_an_empty_graph_before_it_is_ready() -> None:
    headwater = project(TROUBLE, stepwise=False)
    headwater.projector.request_rebuild()
    headwater.projector.rebuild_step()
    headwater.kill_rebuilding_process()
    headwater.graph = MemoryGraph()  # the engine has ended with the service
    headwater.project_through()
    headwater.projector.prepare()
    assert headwater.projector.state == "rebuilding"
    assert headwater.projector.work_until(lambda: False)
    assert headwater.projector.state == "ready"
    assert headwater.elements() == elements_of(TROUBLE, stepwise=False)
    headwater.close()


def test_a_document_that_fails_no_more_is_projected_by_a_rebuild() -> None:
    headwater = small_headwater()
    (position, _) = headwater.accept(plan(a_plan()), event(an_event()))
    headwater.journal.settle([position], DocumentState.FAILED, "a defect that is mended now")
    headwater.project()
    rebuild(headwater)
    assert headwater.journal.summary().projected == 2
    assert headwater.elements() == elements_of([plan(a_plan()), event(an_event())], stepwise=False)
    headwater.close()


def test_an_event_that_cannot_be_translated_takes_nothing_with_it() -> None:
    broken = copy.deepcopy(an_event(1_700_000_000_009))
    del broken["timestamp"]
    headwater = project([plan(a_plan()), event(broken), event(an_event())], stepwise=False)
    (failed,) = headwater.journal.entries(state=DocumentState.FAILED).items
    assert "timestamp" in (failed.reason or "")
    assert headwater.journal.summary().projected == 2
    assert headwater.elements() == elements_of([plan(a_plan()), event(an_event())], stepwise=False)
    headwater.close()


def test_the_hash_of_a_graph_does_not_depend_on_the_order() -> None:
    headwater = project(TROUBLE, stepwise=False)
    elements = list(headwater.graph.scan())
    assert elements_digest(elements) == elements_digest(reversed(elements))
    assert elements_digest(elements) != elements_digest(elements[1:])
    headwater.close()
