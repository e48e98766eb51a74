"""A crash at any step of a projection, whatever comes next: the graph of a fresh projection."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import GraphUnavailable, ProjectionStopped
from graph_model.facts import Facts, stages
from graph_model.producers.commands import (
    Command,
    CommandKind,
    Cutoff,
    Forget,
    Instruction,
    Prune,
    Retract,
    Statement,
    read_command,
    submit,
    write_value,
)
from graph_model.projection.projector import EPOCH_KEY, Projector
from graph_model.projection.rebuilding import Phase
from graph_model.projection.run_window import DEFAULT, NONE, RunWindow
from graph_model.stores.documents import DocumentState, Submission
from graph_model.stores.gremlin.engine.forgetful import ForgetfulGraph
from tests.memory_graph import MemoryGraph
from tests.projections import budget, lineage_event, small_headwater
from tests.unit.graph_model.producers.openlineage import test_projection as openlineage
from tests.unit.graph_model.projection.projector import test_projector as spline

_MOST_STEPS: Final = 60
_MOST_DOCUMENTS: Final = 12
_MOST_MEETINGS: Final = 8
TROUBLE: Final = [*spline.TROUBLE, *map(lineage_event, openlineage.TROUBLE)]


def run_event(kind: str, minute: int, output: str, run: str = "f", **facets: Any) -> Submission:
    """Of a run of the job ``forgotten``, which says each time that it writes something else."""
    outputs = [openlineage.dataset(output, "k", **facets)]
    return lineage_event(openlineage.run_event(run, kind, minute, "forgotten", outputs=outputs))


def command(given: Instruction) -> Submission:
    return submit(Command("ana", 1, "", "", given))


def forget(*documents: Submission) -> Submission:
    keys = sorted({document.subject_key for document in documents})
    return command(Forget(tuple(keys), tuple(document.content_hash for document in documents)))


def forgotten_run() -> list[Submission]:
    """Two commands name its events on the way; a run is a function of its remaining events."""
    start, running, end = (
        run_event("START", 30, "t"),
        run_event("RUNNING", 31, "only here"),
        run_event("COMPLETE", 32, "u"),
    )
    return [start, running, end, forget(running), forget(start)]


def forgotten_ends() -> list[Submission]:
    """Two runs of one job; one command names events of both."""
    ends = [run_event("COMPLETE", 40 + at, f"of {run}", run) for at, run in enumerate("gh")]
    others = [run_event("FAIL", 42 + at, "both", run) for at, run in enumerate("gh")]
    return [*ends, *others, forget(*ends)]


def renamed() -> list[Submission]:
    """A table gets another name in a run that is forgotten."""
    rename = {
        "lifecycleStateChange": "RENAME",
        "previousIdentifier": {"namespace": "s3://lake", "name": "former"},
    }
    written = run_event("COMPLETE", 50, "former", "w")
    answer = run_event("COMPLETE", 51, "latter", "v", lifecycleStateChange=rename)
    return [written, answer, run_event("START", 50, "latter", "v"), forget(answer)]


def declared() -> list[Submission]:
    """Two declarations under one key, of which one is taken back."""
    job = {"namespace": "etl", "name": "declared twice"}
    said = [
        lineage_event(
            {
                "eventTime": f"2026-03-01T11:1{minute}:00Z",
                "job": job,
                "inputs": [openlineage.dataset(source, "x")],
                "outputs": [openlineage.dataset("t", "x")],
            }
        )
        for minute, source in enumerate(("a", "only declared"))
    ]
    return [*said, command(Retract((said[1].subject_key,), (said[1].content_hash,)))]


def pruned(name: str, number: int, *, drop_bodies: bool, later: int | None) -> list[Submission]:
    """A plan with two bodies and versions; its runs are pruned up to a time, one may stay."""
    body = spline.a_plan(id=f"{number}4444444-2222-5333-8444-555555555555", name=name)
    elsewhere = spline.writing_to("file:/data/elsewhere") | {"id": body["id"], "name": name}
    times = [1_600_000_000_000, 1_600_000_000_001, *([later] if later else [])]
    events = [spline.event(spline.an_event(at, planId=body["id"])) for at in times]
    cutoff = Cutoff("default", name, "", "file:/data/out", 1_650_000_000_000)
    plans = [spline.plan(body)]
    if not drop_bodies:  # else the rest depends on which of them went first
        plans.append(spline.plan(elsewhere, api_version="1.1"))
    return [*plans, *events, command(Prune((cutoff,), drop_bodies=drop_bodies))]


def forgotten_plan() -> list[Submission]:
    """Nothing is left of it, of its scopes or of its run."""
    body = spline.a_plan(id="84444444-2222-5333-8444-555555555555", name="gone")
    said = [
        spline.plan(body),
        spline.plan(body, scope="laptop"),
        spline.event(spline.an_event(planId=body["id"])),
    ]
    return [*said, forget(*said)]


def forgotten_event(plan_id: str) -> list[Submission]:
    """One of two runs of a plan that stays."""
    body = spline.a_plan(id=plan_id, name="stays")
    events = [spline.event(spline.an_event(at, planId=body["id"])) for at in (1_000, 2_000)]
    return [spline.plan(body), *events, forget(events[0])]


def stated() -> list[Submission]:
    """Statements of people about a table, which change no facts."""
    key = "file:/data/out"
    return [
        command(Statement(CommandKind.HIDE, key, value)) for value in ('{"reason":"old"}', None)
    ]


def ruled() -> list[Submission]:
    """Other naming rules: everything is projected anew."""
    pattern = {"pattern": "dem(?P<job>.+)", "name": "\\g<job>", "shared": False}
    value = write_value({"jobPatterns": [pattern]})
    return [command(Statement(CommandKind.RULES, "rules", value))]


STORIES: Final = [
    forgotten_run(),
    forgotten_ends(),
    renamed(),
    declared(),
    pruned("daily", 4, drop_bodies=False, later=1_700_000_000_000),
    pruned("weekly", 9, drop_bodies=True, later=None),
    forgotten_plan(),
    forgotten_event("04444444-2222-5333-8444-555555555555"),
    forgotten_event("a4444444-2222-5333-8444-555555555555"),
    stated(),
    ruled(),
]


class Killed(BaseException):
    """An end that nobody can catch: the process is gone."""


class Fault:
    """Once armed: lets so many steps pass, then acts, once; ``acted``: whether it came to that."""

    def __init__(self) -> None:
        self.acted = False
        self.disarm()

    def arm(self, steps: int, act: Callable[[], None]) -> None:
        self._left, self._act = steps, act
        self.acted = False

    def disarm(self) -> None:
        self._left, self._act = 0, _nothing

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.acted = True
            self._act()


def _nothing() -> None:
    pass


def raising(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


class FragileGraph:
    """Writes and removes piece by piece, and may be interrupted between any two."""

    def __init__(self, inner: MemoryGraph, fault: Fault) -> None:
        self._inner = inner
        self._fault = fault

    def write(self, facts: Facts) -> None:
        staged = stages(facts)
        for piece in _halves(staged.vertices, staged.execution_vertices):
            self._fault.step()
            self._inner.write(Facts(vertices=tuple(piece)))
        for piece in _halves(staged.edges, staged.markers, staged.execution_edges):
            self._fault.step()
            self._inner.write(Facts(edges=tuple(piece)))

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        for piece in _halves(sorted(edge_ids)):
            self._fault.step()
            self._inner.remove((), piece)
        for piece in _halves(sorted(vertex_ids)):
            self._fault.step()
            self._inner.remove(piece, ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _halves(*wholes: Sequence[Any]) -> list[Sequence[Any]]:
    cut = [(whole, len(whole) // 2) for whole in wholes]
    return [part for whole, half in cut for part in (whole[:half], whole[half:]) if part]


class FragileStore:
    """May be interrupted before each of the calls named, which are transactions."""

    def __init__(self, inner: Any, fault: Fault, *names: str) -> None:
        self._inner = inner
        self._fault = fault
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            self._fault.step()
        return getattr(self._inner, name)


class FragileGenerations:
    def __init__(self, inner: Any, fault: Fault) -> None:
        self._inner = inner
        self._fault = fault

    @property
    def current(self) -> FragileStore:
        return FragileStore(self._inner.current, self._fault, "record", "withdraw", "clear")

    def __getattr__(self, name: str) -> Any:
        if name in {"adopt", "begin", "switch", "drop_former"}:
            self._fault.step()
        return getattr(self._inner, name)


@dataclass(frozen=True)
class Meeting:
    """Documents come, and a round meets ``wrong`` at one of its steps, which ends it."""

    documents: tuple[Submission, ...]
    wrong: str
    step: int


#: ``killed``: the process. ``emptied``: the engine. ``both``. ``away``: the engine answers again
#: soon. ``paused``: nothing goes wrong, and the rest comes later. ``anew``, ``replayed``: somebody
#: asks for a rebuild, or for projected documents to be projected again, and the process is killed.
#: ``stopped``: the service stops in a round, and starts with an empty engine.
WRONG: Final = (
    "nothing", "paused", "stopped", "away", "emptied", "killed", "both", "anew", "replayed"
)  # fmt: skip
_KILLED: Final = {"killed", "both", "anew", "replayed"}


def is_ready(projector: Projector) -> bool:
    return projector.state == "ready"


class Deployment:
    """A small Headwater whose process and engine may end at any step and start again."""

    def __init__(self, window: RunWindow = DEFAULT, fault: Fault | None = None) -> None:
        self.headwater = small_headwater()
        self._window = window
        self.fault = fault or Fault()
        self.start()

    def start(self) -> None:
        """A new process over the stores as they are."""
        stores = self.headwater
        stores.kill_rebuilding_process()
        self.graph = ForgetfulGraph(FragileGraph(stores.graph, self.fault), self._kept)
        self.projector = Projector(
            FragileStore(stores.journal, self.fault, "conclude", "settle", "set_meta", "reopen"),  # type: ignore[arg-type]
            self.graph,
            FragileGenerations(stores.generations, self.fault),  # type: ignore[arg-type]
            runs=self._window,
        )

    def _kept(self) -> list[Any]:
        written = self.headwater.generations.written
        return [FragileStore(item.elements, self.fault, "remove", "clear") for item in written]

    def meet(self, meeting: Meeting) -> None:
        if meeting.documents:
            self.headwater.accept(*meeting.documents)
        if meeting.wrong == "nothing":
            self.work()
        elif meeting.wrong == "paused":
            self.round()
        elif meeting.wrong == "stopped":
            self._stop(meeting.step)
        else:
            self._fail(meeting.wrong, meeting.step)

    def _stop(self, step: int) -> None:
        self.fault.arm(step, self.projector._stopping.set)
        with suppress(ProjectionStopped):
            self.round()
        self.fault.disarm()
        self.projector.stop()
        self.headwater.graph.clear()
        self.start()

    def _fail(self, wrong: str, step: int) -> None:
        error = Killed() if wrong in _KILLED else GraphUnavailable("away")
        self.fault.arm(step, raising(error))
        with suppress(Killed, GraphUnavailable):
            if wrong == "anew":
                self.projector.request_rebuild()
            if wrong == "replayed":
                self.projector.replay(list(DocumentState))
            self.round()
        self.fault.disarm()
        if wrong in {"emptied", "both"}:
            self.headwater.graph.clear()
            self.projector._prepared = False
        if wrong in _KILLED:
            self.start()

    def round(self) -> bool:
        """One round, as the projector's thread takes it; whether there was anything to do."""
        if not self.projector._prepared:
            self.projector.prepare()
            self.projector._prepared = True
        projected = self.projector.project_pending()
        return self.projector.rebuild_step() or projected > 0

    def work(self) -> None:
        self.projector.work_until(lambda: False)


def outcome_of(
    meetings: Iterable[Meeting], batch: int = 2, of_command: int = 1, window: RunWindow = DEFAULT,
    fault: Fault | None = None,
) -> tuple[object, object]:  # fmt: skip
    """All elements and rows, when a new process has done the rest of the work.

    A round takes up ``batch`` subjects, so that others wait while it works; a command gives way to
    them after each ``of_command`` of its own.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("graph_model.projection.projector.loop._PLANS_A_BATCH", batch)
        patched.setattr("graph_model.projection.projector.commands.SUBJECTS_AT_ONCE", of_command)
        patched.setattr("graph_model.projection.projector.commands.EVENTS_A_STEP", 1)
        patched.setattr("graph_model.projection.attempts.EVENTS_A_STEP", 1)
        deployment = Deployment(window, fault)
        for meeting in meetings:
            deployment.meet(meeting)
        deployment.start()
        deployment.work()
        result = deployment.headwater.elements()
        deployment.graph.restore()  # an engine that starts now has no others
        assert deployment.headwater.elements() == result
        deployment.headwater.close()
    return result


def check_each_step(
    meetings_at: Callable[[int], list[Meeting]], expected: tuple[object, object],
    first: int = 1, every: int = 1,
) -> int:  # fmt: skip
    """What goes wrong at one step, then at a later one, until there is no such step; the last."""
    for step in count(first, every):
        fault = Fault()
        assert outcome_of(meetings_at(step), fault=fault) == expected, step
        if not fault.acted:
            return step - every
    raise AssertionError


def fresh(documents: Iterable[Submission], window: RunWindow = DEFAULT) -> tuple[object, object]:
    """The same of a Headwater that has them all before it projects the first."""
    deployment = Deployment(window)
    deployment.headwater.accept(*documents)
    deployment.work()
    result = deployment.headwater.elements()
    deployment.headwater.close()
    return result


@st.composite
def histories(draw: st.DrawFn) -> list[Meeting]:
    """Stories mixed with trouble, told in any order, a few documents at a time."""
    stories = draw(st.lists(st.sampled_from(STORIES), min_size=1, max_size=3, unique_by=id))
    trouble = draw(st.lists(st.sampled_from(TROUBLE), max_size=4, unique_by=id))
    answer = draw(st.permutations([*chain(*stories), *trouble]))[:_MOST_DOCUMENTS]
    meetings: list[Meeting] = []
    while answer:
        count = draw(st.integers(0, 4) if len(meetings) < _MOST_MEETINGS else st.just(4))
        step = draw(st.integers(1, 12) | st.integers(1, _MOST_STEPS))
        meetings.append(Meeting(tuple(answer[:count]), draw(st.sampled_from(WRONG)), step))
        answer = answer[count:]
    return meetings


@given(histories(), st.sampled_from([1, 100]))
@budget(25)
def test_a_crash_at_any_step_leaves_the_result_of_a_fresh_projection(
    meetings: list[Meeting], of_command: int
) -> None:
    documents = [document for meeting in meetings for document in meeting.documents]
    assert outcome_of(meetings, of_command=of_command) == fresh(documents)


_WINDOWS: Final = [NONE, RunWindow(1), DEFAULT, RunWindow(1_000)]


@given(histories(), st.sampled_from([1, 100]), st.sampled_from(_WINDOWS))
@budget(25)
def test_a_start_with_an_empty_engine_has_the_result_of_a_fresh_projection(
    meetings: list[Meeting], of_command: int, window: RunWindow
) -> None:
    documents = [document for meeting in meetings for document in meeting.documents]
    lost = [*meetings, Meeting((), "both", 1)]
    assert outcome_of(lost, of_command=of_command, window=window) == fresh(documents, window)


def _changes_no_rules(meetings: list[Meeting]) -> bool:
    """Answers under former rules are complete while everything is projected under others."""
    return not any(
        "#command/rules" in document.subject_key for m in meetings for document in m.documents
    )


@given(histories().filter(_changes_no_rules))
@budget(20)
def test_a_process_is_ready_only_when_the_answers_to_the_documents_before_its_start_are_complete(
    meetings: list[Meeting],
) -> None:
    deployment = Deployment()
    for meeting in meetings:
        deployment.meet(meeting)
        deployment.start()
        projector, journal = deployment.projector, deployment.headwater.journal
        projector.work_until(partial(is_ready, projector))
        states = journal.states(range(1, journal.newest() + 1))
        assert DocumentState.PENDING not in states.values()
        elements, rows = deployment.headwater.elements()
        deployment.work()
        last_elements, last_rows = deployment.headwater.elements()
        assert rows == last_rows
        assert {element.id for element in last_elements} <= {item.id for item in elements}
    deployment.headwater.close()


def test_a_kill_while_a_rebuild_writes_runs_costs_no_projection_from_the_journal() -> None:
    """The engine has the run's elements of before the switch, and the new catalogue not yet."""
    deployment, body = Deployment(), spline.a_plan()
    first, second = (spline.event(spline.an_event(at, planId=body["id"])) for at in (1_000, 2_000))
    deployment.headwater.accept(spline.plan(body), first)
    deployment.work()
    deployment.projector.request_rebuild()
    while deployment.projector.progress.phase is not Phase.KEEPING:  # type: ignore[union-attr]
        deployment.projector.rebuild_step()
    (last,) = deployment.headwater.accept(second)
    deployment.projector.project_pending()
    deployment.headwater.graph.clear()
    deployment.start()
    deployment.projector.prepare()
    states = deployment.headwater.journal.states(range(1, last + 1))
    assert set(states.values()) == {DocumentState.PROJECTED}
    assert deployment.graph.is_whole()
    deployment.headwater.close()


def test_an_engine_that_follows_a_server_of_its_own_has_what_was_projected_there() -> None:
    documents = [spline.plan(spline.a_plan(id=f"{at}1111111-2222-5333-8444-555555555555", name=at))
                 for at in "12"]  # fmt: skip
    deployment = Deployment()
    deployment.headwater.accept(documents[0])
    deployment.work()
    deployment.headwater.accept(documents[1])
    deployment.headwater.project_through()
    deployment.headwater.projector.work_until(lambda: False)
    deployment.headwater.graph.clear()
    deployment.start()
    deployment.work()
    assert deployment.headwater.elements() == fresh(documents)
    deployment.headwater.close()


def test_a_start_while_others_wait_does_not_bring_back_withdrawn_facts() -> None:
    """It holds a run's later event beside an older document that waits; then the run changes."""

    def run(minute: int, source: str) -> Submission:
        lineage = openlineage.columns(source, "k", "x")
        output = openlineage.dataset("u", "k", columnLineage=lineage)
        return lineage_event(
            openlineage.run_event("r", "COMPLETE", minute, f"job {minute}", outputs=[output])
        )

    older, waiting = run(1, "a"), TROUBLE[0]
    documents = [older, waiting, run(2, "b"), run(3, "c")]
    meetings = [
        Meeting(tuple(documents[:3]), "paused", 0),
        Meeting((documents[3],), "nothing", 0),
        Meeting((), "both", 0),
    ]
    assert outcome_of(meetings, batch=1) == fresh(documents)


def test_events_of_a_run_go_with_the_event_that_a_command_forgets_after_a_restart() -> None:
    """One event was projected; then it is forgotten, while the end of its run comes."""
    _, running, complete, forgets, _ = forgotten_run()
    meetings = [
        Meeting((running,), "nothing", 0),
        Meeting((), "killed", 0),
        Meeting((forgets, complete), "nothing", 0),
    ]
    assert outcome_of(meetings) == fresh([running, complete, forgets])


def test_an_interrupted_attempt_is_taken_back_although_a_command_before_breaks_off_too() -> None:
    """A plan's first run is half written, then pruned; another plan comes first, and is killed."""
    half_written, _, run, *_, prune = pruned("daily", 4, drop_bodies=False, later=None)
    stays, first, _, forgets = forgotten_event("04444444-2222-5333-8444-555555555555")
    meetings = [
        Meeting((stays, first), "nothing", 0),
        Meeting((half_written, run), "killed", 4),
        Meeting((forgets, prune), "killed", 11),
    ]
    documents = [document for meeting in meetings for document in meeting.documents]
    assert outcome_of(meetings) == fresh(documents)


@pytest.mark.parametrize("wrong", ["away", "killed"])
@pytest.mark.parametrize("step", range(5, 12))
def test_the_rest_of_one_command_goes_although_another_one_comes(wrong: str, step: int) -> None:
    """The first breaks off at a run of which the second forgets more, before it is tried again."""
    start, running, end, second, first = documents = forgotten_run()
    at_once = [Meeting((end, running, first, start, second), wrong, step)]
    one_by_one = [
        Meeting((start, running, end), "nothing", 0),
        Meeting((first,), wrong, step),
        Meeting((second,), "nothing", 0),
    ]
    expected = fresh(documents)
    assert outcome_of(at_once) == expected
    assert outcome_of(one_by_one) == expected


def test_a_rebuild_leaves_documents_that_wait_for_a_round_to_the_round() -> None:
    """New rules come with a command that forgets a run, and a round takes up two commands."""
    _, running, *_ = forgotten_run()
    documents = [stated()[0], *ruled(), running, forget(running)]
    meetings = [Meeting((), "nothing", 0), Meeting(tuple(documents), "nothing", 0)]
    assert outcome_of(meetings) == fresh(documents)


@pytest.mark.parametrize(("wrong", "first"), [("away", 1), ("killed", 2), ("killed", 3)])
def test_a_prune_command_that_breaks_off_at_any_step_leaves_no_execution(
    wrong: str, first: int
) -> None:
    """The rows of the pruned executions may be gone while the graph still has them."""
    *daily, prune = pruned("daily", 4, drop_bodies=False, later=1_700_000_000_000)
    before = Meeting(tuple(daily), "nothing", 0)
    steps = check_each_step(
        lambda step: [before, Meeting((prune,), wrong, step)], fresh([*daily, prune]),
        first=first, every=3,
    )  # fmt: skip
    assert steps > 20


@pytest.mark.parametrize("wrong", ["away", "killed"])
@pytest.mark.parametrize("known", [True, False])
def test_a_forget_command_removes_an_execution_whose_write_broke_off(
    wrong: str, known: bool
) -> None:
    """Its vertex was written, and neither its edges nor its row."""
    plan, run, _, forgets = forgotten_event("04444444-2222-5333-8444-555555555555")
    before, broken = ([plan], [run]) if known else ([], [plan, run])
    steps = check_each_step(
        lambda step: [
            Meeting(tuple(before), "nothing", 0),
            Meeting(tuple(broken), wrong, step),
            Meeting((forgets,), "nothing", 0),
        ],
        fresh([plan, run, forgets]),
    )
    assert steps >= 3


def test_a_start_after_a_rebuild_that_broke_off_goes_on_with_the_former_answers() -> None:
    documents = [item for story in STORIES[:4] for item in story]
    deployment = Deployment()
    deployment.headwater.accept(*documents)
    deployment.work()
    before = deployment.headwater.elements()
    deployment.projector.request_rebuild()
    assert deployment.projector.rebuild_step()
    deployment.headwater.graph.clear()
    deployment.start()
    deployment.projector.prepare()
    assert deployment.headwater.journal.summary().pending == 0
    assert deployment.headwater.elements() == before
    deployment.work()
    assert deployment.headwater.elements() == before
    assert not deployment.projector.rebuild_waits
    deployment.headwater.close()


def test_a_stop_in_a_command_leaves_the_rest_to_the_next_start() -> None:
    """The second of two subjects is left to the next start, which projects neither one anew."""
    documents = pruned("daily", 4, drop_bodies=False, later=1_700_000_000_000)
    others = pruned("weekly", 9, drop_bodies=False, later=1_700_000_000_000)
    given = [read_command(json.loads(story[-1].body)).instruction for story in (documents, others)]
    prunes = [instruction for instruction in given if isinstance(instruction, Prune)]
    prune = command(
        Prune(tuple(cutoff for each in prunes for cutoff in each.cutoffs), drop_bodies=False)
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("graph_model.projection.projector.commands.SUBJECTS_AT_ONCE", 1)
        deployment = Deployment()
        deployment.meet(Meeting((*documents[:-1], *others[:-1]), "paused", 0))
        (position,) = deployment.headwater.accept(prune)
        deployment.meet(Meeting((), "stopped", 4))
        deployment.projector.prepare()
        states = deployment.headwater.journal.states(range(1, position + 1))
        pending = {at for at, state in states.items() if state == DocumentState.PENDING}
        assert pending == {position}
        deployment.work()
        result = deployment.headwater.elements()
        deployment.headwater.close()
    assert result == fresh([*documents[:-1], *others[:-1], prune])


def test_a_late_event_of_a_pruned_plan_with_many_events_leaves_none_of_its_older_ones() -> None:
    plan, earlier, later, prune = pruned("weekly", 9, drop_bodies=True, later=None)
    meetings = [Meeting((plan, later), "nothing", 0), Meeting((prune, earlier), "nothing", 0)]
    assert outcome_of(meetings) == fresh([plan, later, prune, earlier])


def test_a_start_while_other_rules_are_projected_goes_on_with_the_former_answers() -> None:
    documents = [item for story in STORIES[:4] for item in story]
    deployment = Deployment()
    deployment.meet(Meeting(tuple(documents), "nothing", 0))
    deployment.projector.work_until(lambda: deployment.projector.state == "ready")
    before = deployment.headwater.elements()
    deployment.meet(Meeting(tuple(ruled()), "both", 8))
    deployment.projector.prepare()
    pending = deployment.headwater.journal.summary().pending
    assert pending <= 1, "the rules command alone"
    assert deployment.headwater.elements()[0] == before[0]
    assert set(deployment.headwater.elements()[1]) >= set(before[1])
    deployment.work()
    result = deployment.headwater.elements()
    deployment.headwater.close()
    assert result == fresh([*documents, *ruled()]) != before


def test_a_start_of_another_version_goes_on_with_the_answers_of_the_former() -> None:
    documents = [item for story in STORIES[:4] for item in story]
    deployment = Deployment()
    deployment.meet(Meeting(tuple(documents), "nothing", 0))
    deployment.projector.work_until(lambda: deployment.projector.state == "ready")
    deployment.projector.stop()
    journal = deployment.headwater.journal
    before = deployment.headwater.elements()
    journal.set_meta(EPOCH_KEY, "of an older translator")
    deployment.headwater.graph.clear()
    deployment.start()
    deployment.projector.prepare()
    assert journal.summary().pending == 0
    assert deployment.headwater.elements() == before
    deployment.work()
    assert deployment.headwater.elements() == before
    deployment.headwater.close()
