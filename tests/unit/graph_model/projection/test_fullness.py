"""A full graph: runs leave, new subjects wait, all others go on, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from graph_model import labels
from graph_model.facts import Edge, Vertex
from graph_model.naming import DEFAULT_RULES, Rules
from graph_model.producers.commands import Cutoff, Prune
from graph_model.projection.fullness import HELD, Fullness
from graph_model.projection.projector import Projector
from graph_model.projection.run_window import DEFAULT, RunWindow
from graph_model.stores.documents import DocumentState, Submission
from tests.projections import SmallHeadwater, lineage_event, project, small_headwater
from tests.unit.graph_model.projection.projector.test_commands import submitted
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan

_AT: Final = 1_700_000_000_000
_MOST_STEPS: Final = 1_000


def plan_id(job: int) -> str:
    return f"00000000-0000-5000-8000-{job:012d}"


def plan_of(job: int) -> Submission:
    body = a_plan(id=plan_id(job), name=f"job {job}", extraInfo={"appName": f"job {job}"})
    body["operations"]["write"]["outputSource"] = f"file:/data/out{job}"
    return plan(body)


def event_of(job: int, run: int = 0) -> Submission:
    extra = {"appId": f"app-{job}-{run}", "readMetrics": {}, "writeMetrics": {}}
    return event(an_event(_AT + 60_000 * run + job, planId=plan_id(job), extra=extra))


def pair(job: int) -> list[Submission]:
    return [plan_of(job), event_of(job)]


class Bounded:
    """A Headwater whose graph holds ``capacity`` elements."""

    def __init__(self, runs: RunWindow = DEFAULT) -> None:
        self.headwater = small_headwater()
        self.capacity = 1_000_000
        self.start(runs)

    def start(self, runs: RunWindow = DEFAULT, rules: Rules = DEFAULT_RULES) -> None:
        """Another process takes over."""
        made = self.headwater
        made.projector = Projector(
            made.journal,
            made.graph,
            made.generations,
            runs=runs,
            rules=rules,
            capacity=lambda: self.capacity,
        )
        made.projector.prepare()
        self.go_on()

    def take(self, *submissions: Submission) -> list[DocumentState]:
        """Their states when all is done."""
        positions = self.headwater.accept(*submissions)
        self.go_on()
        states = self.headwater.journal.states(positions)
        return [states[at] for at in positions]

    def go_on(self) -> None:
        """Do the work of the thread until there is nothing left."""
        projector = self.headwater.projector
        projector.make_room()
        for _ in range(_MOST_STEPS):
            if not (projector.project_pending() or projector.rebuild_step()):
                return
            projector.make_room()
        raise AssertionError("it never comes to an end")

    @property
    def size(self) -> int:
        return sum(self.headwater.graph.count())

    def labelled(self, label: str) -> int:
        result = self.headwater.graph.scan()
        return sum(isinstance(item, Vertex) and item.label == label for item in result)

    @property
    def elements(self) -> object:
        return self.headwater.elements()


@pytest.fixture
def bounded() -> Iterator[Bounded]:
    made = Bounded()
    yield made
    made.headwater.close()


def told_at_once(*submissions: Submission) -> object:
    """The elements of a Headwater without a bound."""
    made: SmallHeadwater = project(submissions, stepwise=False)
    result = made.elements()
    made.close()
    return result


def test_the_runs_leave_a_graph_that_is_nearly_full(bounded: Bounded) -> None:
    bounded.take(*pair(1), *pair(2))
    assert bounded.labelled(labels.RUN) == 2
    bounded.capacity = int(bounded.size / 0.95)
    bounded.go_on()
    assert {bounded.labelled(item) for item in (labels.DAY, labels.RUN, labels.EXECUTION)} == {0}
    assert bounded.labelled(labels.LOGICAL_PLAN) == 2


def test_the_runs_return_when_there_is_room_for_them(bounded: Bounded) -> None:
    bounded.take(*pair(1), *pair(2))
    bounded.capacity = int(bounded.size / 0.95)
    bounded.go_on()
    assert bounded.take(event_of(1, run=1)) == [DocumentState.PROJECTED]
    assert bounded.labelled(labels.RUN) == 0
    bounded.capacity *= 2
    bounded.go_on()
    assert bounded.elements == told_at_once(*pair(1), *pair(2), event_of(1, run=1))


def test_runs_that_left_do_not_return_to_fill_the_graph_again(bounded: Bounded) -> None:
    bounded.take(*pair(1), *pair(2))
    bounded.capacity = int(bounded.size / 0.95)
    bounded.go_on()
    small = bounded.size
    bounded.start()
    assert bounded.size == small


def full(bounded: Bounded) -> None:
    """One job is in a graph that has no room for a second one."""
    bounded.take(*pair(1))
    bounded.capacity = bounded.size
    bounded.go_on()  # its run leaves
    bounded.capacity = bounded.size + 3


def test_a_new_job_waits_for_room_and_the_graph_stays_within_its_bound(bounded: Bounded) -> None:
    full(bounded)
    assert bounded.take(*pair(2)) == [DocumentState.WAITING] * 2
    document = bounded.headwater.journal.document(3)
    assert document is not None
    assert document.reason == HELD
    assert bounded.size <= bounded.capacity
    assert bounded.headwater.projector.full is not None


def test_a_run_of_a_job_that_is_in_a_full_graph_is_projected(bounded: Bounded) -> None:
    full(bounded)
    bounded.take(*pair(2))
    assert bounded.take(event_of(1, run=1)) == [DocumentState.PROJECTED]
    rows = bounded.headwater.catalogue.list_jobs(now=0, limit=10)
    assert rows.total == 1


def test_after_a_restart_a_full_graph_still_knows_its_elements(bounded: Bounded) -> None:
    full(bounded)
    bounded.take(*pair(2))
    bounded.start()
    assert bounded.take(event_of(1, run=1)) == [DocumentState.PROJECTED]
    assert bounded.take(event_of(2, run=1)) == [DocumentState.WAITING]


def test_a_run_of_a_job_that_waits_waits_with_it(bounded: Bounded) -> None:
    full(bounded)
    bounded.take(*pair(2))
    assert bounded.take(event_of(2, run=1)) == [DocumentState.WAITING]


def test_documents_written_again_do_not_make_a_few_elements_look_like_room(
    bounded: Bounded,
) -> None:
    full(bounded)
    graph, capacity, now = bounded.headwater.graph, bounded.capacity, [0.0]
    fullness = Fullness(bounded.headwater.journal, graph, lambda: capacity, lambda: now[0])
    fullness.begin()
    fullness.hold()
    fullness.wrote(capacity // 20)  # all of it was there
    fullness.hold()
    edge = next(item.id for item in graph.scan() if isinstance(item, Edge))
    graph.remove((), [edge])
    now[0] += 3_600
    assert not fullness.may_release


def test_an_openlineage_run_waits_like_any_other(bounded: Bounded) -> None:
    full(bounded)
    body = {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T08:15:00.000Z",
        "producer": "https://example.org/tool",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "11111111-2222-7333-8444-555555555555"},
        "job": {"namespace": "tool", "name": "job"},
        "outputs": [{"namespace": "s3://lake", "name": "out/table"}],
    }
    assert bounded.take(lineage_event(body)) == [DocumentState.WAITING]
    bounded.capacity *= 10
    bounded.go_on()
    assert bounded.elements == told_at_once(*pair(1), lineage_event(body))


def test_with_a_larger_heap_everything_is_projected_that_waited(bounded: Bounded) -> None:
    full(bounded)
    bounded.take(*pair(2), *pair(3))
    bounded.take(event_of(3, run=1))
    bounded.capacity *= 10
    bounded.start()
    assert bounded.elements == told_at_once(*pair(1), *pair(2), *pair(3), event_of(3, run=1))
    assert bounded.headwater.projector.full is None


def test_an_event_without_a_plan_goes_on_waiting_for_it(bounded: Bounded) -> None:
    full(bounded)
    bounded.take(*pair(2), event_of(3))
    bounded.capacity *= 10
    bounded.go_on()
    assert bounded.headwater.journal.summary().waiting == 1


def test_a_prune_makes_room(bounded: Bounded) -> None:
    bounded.take(*pair(1), *pair(4), *pair(5), *pair(6))
    bounded.capacity = bounded.size + 3
    assert bounded.take(*pair(2)) == [DocumentState.WAITING] * 2
    gone = tuple(
        Cutoff("default", f"job {job}", "", f"file:/data/out{job}", _AT * 2) for job in (4, 5, 6)
    )
    bounded.take(submitted(Prune(gone, drop_bodies=True)))
    bounded.start()  # which counts the graph again; a service that runs does so within a minute
    assert bounded.headwater.journal.summary().waiting == 0
    assert bounded.labelled(labels.JOB) == 2


def test_a_graph_that_is_filled_from_nothing_takes_the_subjects_that_fit(bounded: Bounded) -> None:
    bounded.take(*pair(1), *pair(2), *pair(3))
    bounded.capacity = bounded.size * 2 // 3
    bounded.headwater.graph.clear()
    bounded.start()
    assert 0 < bounded.size <= bounded.capacity
    assert bounded.headwater.journal.summary().pending == 0
    assert bounded.headwater.journal.summary().waiting > 0


def test_a_rebuild_leaves_out_waiting_documents(bounded: Bounded) -> None:
    full(bounded)
    bounded.take(*pair(2))
    bounded.capacity = bounded.size + 20
    bounded.headwater.projector.request_rebuild()
    bounded.go_on()
    assert bounded.headwater.projector.progress is not None
    assert bounded.size <= bounded.capacity
    assert bounded.headwater.journal.summary().waiting == 2
