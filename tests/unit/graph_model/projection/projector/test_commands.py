"""A command that cannot be carried out is set aside; the facts that it took away are restored."""

from __future__ import annotations

from typing import Any, Final

import pytest

from graph_model.errors import GraphRejected, GraphUnavailable
from graph_model.facts import CommandRow, ExecutionRow, ForgottenRow, JobRow
from graph_model.producers.commands import Command, Cutoff, Forget, Instruction, Prune, submit
from graph_model.projection.projector import Projector, commands
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.rows import ROUND_KEY
from graph_model.stores.documents import DocumentState, Submission
from graph_model.stores.gremlin.engine.forgetful import ForgetfulGraph
from tests.projections import SmallHeadwater, elements_of, project, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import (
    PLAN_ID,
    a_plan,
    an_event,
    event,
    plan,
)

_FIRST: Final = 1_600_000_000_000
_SECOND: Final = 1_700_000_000_000
_OTHER_ID: Final = "f1111111-2222-5333-8444-555555555555"
_THIRD_ID: Final = "e1111111-2222-5333-8444-555555555555"
_OTHER: Final = a_plan(id=_OTHER_ID, name="other")
MINE: Final = [plan(a_plan()), event(an_event(_FIRST)), event(an_event(_SECOND))]
OTHERS: Final = [
    plan(_OTHER),
    event(an_event(_FIRST, planId=_OTHER_ID)),
    event(an_event(_SECOND, planId=_OTHER_ID)),
]
BEHIND: Final = [event(an_event(_SECOND + 1))]


def submitted(command: Instruction) -> Submission:
    return submit(Command("ana", 1, "", "", command))


def prune_both() -> Submission:
    """The first run of each of the two jobs."""
    jobs = [Cutoff("default", name, "", "file:/data/out", _SECOND) for name in ("demo", "other")]
    return submitted(Prune(tuple(jobs), drop_bodies=False))


class StubbornGraph:
    """Removes no element of the other plan, so many times."""

    def __init__(
        self, headwater: SmallHeadwater, refusals: int, error: Exception | None = None
    ) -> None:
        self._inner = headwater.graph
        self._kept = {
            row.id
            for row in headwater.catalogue.scan()
            if isinstance(row, ExecutionRow) and row.plan_id == _OTHER_ID
        }
        self.refusals = refusals
        self._error = error or GraphRejected("nobody foresaw this")

    def remove(self, vertices: Any, edges: Any) -> None:
        if self.refusals and self._kept.intersection(vertices):
            self.refusals -= 1
            raise self._error
        self._inner.remove(vertices, edges)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def stubborn(refusals: int, error: Exception | None = None) -> SmallHeadwater:
    """Both jobs projected, and a graph that refuses from now on."""
    headwater = project([*MINE, *OTHERS], stepwise=False)
    headwater.project_through(StubbornGraph(headwater, refusals, error))
    return headwater


def state_of(headwater: SmallHeadwater, command: Submission) -> tuple[DocumentState, str | None]:
    (document,) = headwater.journal.documents_of(command.subject_key)
    return document.state, document.reason


def rebuild(headwater: SmallHeadwater) -> None:
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass


def test_a_command_that_cannot_be_carried_out_is_set_aside_and_blocks_nothing() -> None:
    headwater = stubborn(1_000)
    command = prune_both()
    headwater.accept(command, *BEHIND)
    headwater.project()
    assert state_of(headwater, command) == (
        DocumentState.FAILED,
        "GraphRejected: nobody foresaw this",
    )
    assert headwater.journal.summary().pending == 0
    headwater.close()


def test_a_half_carried_out_command_is_taken_back() -> None:
    headwater = stubborn(1_000)
    headwater.accept(prune_both(), *BEHIND)
    headwater.project()
    assert headwater.elements() == elements_of([*MINE, *OTHERS, *BEHIND], stepwise=False)
    shown = (*headwater.journal.documents_of(PLAN_ID), *headwater.journal.documents_of(_OTHER_ID))
    assert {(item.state, item.reason) for item in shown} == {(DocumentState.PROJECTED, None)}
    headwater.close()


def test_a_forget_command_that_is_set_aside_leaves_the_documents_still_in_the_journal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commands, "SUBJECTS_AT_ONCE", 1)
    headwater = stubborn(1_000)
    named = (MINE[1], OTHERS[1])
    command = submitted(
        Forget((PLAN_ID, _OTHER_ID), tuple(sorted(item.content_hash for item in named)))
    )
    headwater.accept(command)
    headwater.project()
    assert state_of(headwater, command)[0] == DocumentState.FAILED
    left = [MINE[0], MINE[2], *OTHERS]  # the first plan came first: its event has left the journal
    assert headwater.elements() == elements_of(left, stepwise=False)
    headwater.close()


def test_facts_that_a_command_set_aside_has_restored_are_there_after_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first plan's run was removed; then the second failed."""
    monkeypatch.setattr(commands, "SUBJECTS_AT_ONCE", 1)
    headwater = small_headwater()

    def start(engine: Any) -> Projector:
        kept = ForgetfulGraph(
            engine, lambda: [item.elements for item in headwater.generations.written]
        )
        return Projector(headwater.journal, kept, headwater.generations)

    headwater.accept(*MINE, *OTHERS)
    start(headwater.graph).work_until(lambda: False)
    projector = start(StubbornGraph(headwater, 1_000))
    command = prune_both()
    headwater.accept(command)
    projector.work_until(lambda: False)
    assert state_of(headwater, command)[0] == DocumentState.FAILED
    headwater.graph.clear()
    start(headwater.graph).work_until(lambda: False)
    assert headwater.elements() == elements_of([*MINE, *OTHERS], stepwise=False)
    headwater.close()


def test_a_command_that_fails_once_is_tried_again() -> None:
    headwater = stubborn(1)
    command = prune_both()
    headwater.accept(command)
    headwater.project()
    assert state_of(headwater, command) == (DocumentState.PROJECTED, None)
    assert headwater.elements() == elements_of([*MINE, *OTHERS, command], stepwise=False)
    headwater.close()


def test_the_subject_keys_of_a_command_go_in_one_round() -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    headwater.project_through()
    before = rounds(headwater)
    headwater.accept(prune_both())
    headwater.project()
    assert rounds(headwater) == before + 1
    assert [row.at for row in headwater.catalogue.executions(limit=9).items] == [_SECOND, _SECOND]
    headwater.close()


class GraphThatListens:
    """Notes which of these executions it has, each time that it removes something."""

    def __init__(self, headwater: SmallHeadwater) -> None:
        self._headwater = headwater
        self._inner = headwater.graph
        self.seen: list[list[int]] = []

    def remove(self, vertices: Any, edges: Any) -> None:
        rows = self._headwater.catalogue.executions(limit=9).items
        self.seen.append(sorted(row.at for row in rows))
        self._inner.remove(vertices, edges)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.mark.parametrize("removed", [False, True])
def test_a_long_command_gives_way_to_documents_unless_another_command_may_remove_them(
    removed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SUBJECTS_AT_ONCE", 1)
    headwater = project([*MINE, *OTHERS], stepwise=False)
    graph = GraphThatListens(headwater)
    headwater.project_through(graph)
    headwater.accept(*BEHIND)
    headwater.project()  # the work that an earlier projector had begun is done
    body = a_plan(id=_THIRD_ID, name="third")
    run = event(an_event(_SECOND + 2, planId=_THIRD_ID))
    headwater.accept(prune_both(), plan(body), run)
    if removed:
        headwater.accept(submitted(Forget((_THIRD_ID,), (run.content_hash,))))
    headwater.project()
    assert any(_SECOND + 2 in seen for seen in graph.seen) != removed
    headwater.close()


def rounds(headwater: SmallHeadwater) -> int:
    return int(headwater.journal.get_meta(ROUND_KEY) or 0)


def test_a_command_waits_for_a_graph_that_is_away() -> None:
    headwater = stubborn(10, GraphUnavailable("away"))
    command = prune_both()
    headwater.accept(command)
    for _ in range(10):
        with pytest.raises(GraphUnavailable):
            headwater.project()
    assert state_of(headwater, command)[0] == DocumentState.PENDING
    headwater.project()
    assert state_of(headwater, command)[0] == DocumentState.PROJECTED
    headwater.close()


def test_a_rebuild_leaves_a_command_aside_and_a_replay_carries_it_out() -> None:
    headwater = stubborn(3)
    command = prune_both()
    headwater.accept(command)
    headwater.project()
    rebuild(headwater)
    assert state_of(headwater, command)[0] == DocumentState.FAILED
    assert headwater.elements() == elements_of([*MINE, *OTHERS], stepwise=False)
    headwater.projector.replay({DocumentState.FAILED})
    headwater.project()
    assert state_of(headwater, command)[0] == DocumentState.PROJECTED
    assert headwater.elements() == elements_of([*MINE, *OTHERS, command], stepwise=False)
    headwater.close()


class StubbornGenerations:
    """Of a catalogue that takes no commands, nor gives any back."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def current(self) -> Any:
        return StubbornCatalogue(self._inner.current)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class StubbornCatalogue:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def record(self, rows: Any, *origin: Any) -> None:
        self._refuse(rows)
        self._inner.record(rows, *origin)

    def withdraw(self, rows: Any) -> None:
        self._refuse(rows)
        self._inner.withdraw(rows)

    def _refuse(self, rows: Any) -> None:
        if any(isinstance(row, CommandRow | ForgottenRow) for row in rows):
            raise ValueError("a text that no column holds")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_where_a_command_cannot_be_taken_back_everything_is_projected_anew() -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    stores: Any = headwater.generations
    headwater.generations = StubbornGenerations(stores)  # type: ignore[assignment]
    headwater.project_through()
    command = prune_both()
    headwater.accept(command, *BEHIND)
    headwater.project()
    assert headwater.projector.progress is not None
    while headwater.projector.rebuild_step():
        pass
    assert state_of(headwater, command)[0] == DocumentState.FAILED
    headwater.generations = stores
    assert headwater.elements() == elements_of([*MINE, *OTHERS, *BEHIND], stepwise=False)
    headwater.close()


def test_a_command_that_cannot_be_put_in_force_after_a_round_broke_off_blocks_nothing() -> None:
    headwater = stubborn(1, GraphUnavailable("away"))
    first = prune_both()
    headwater.accept(first)
    with pytest.raises(GraphUnavailable):
        headwater.project()
    stores: Any = headwater.generations
    headwater.generations = StubbornGenerations(stores)  # type: ignore[assignment]
    headwater.project_through()
    headwater.accept(*BEHIND)
    headwater.project()
    assert state_of(headwater, first)[0] == DocumentState.FAILED
    assert headwater.journal.summary().pending == 0
    headwater.close()


class CommandsRead:
    """How many rows of former commands the catalogue is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = 0
        read = Catalogue.commands_after

        def counted(
            catalogue: Catalogue, kind: str, row: CommandRow | None, limit: int
        ) -> tuple[CommandRow, ...]:
            found = read(catalogue, kind, row, limit)
            self.rows += len(found)
            return found

        monkeypatch.setattr(Catalogue, "commands_after", counted)


@pytest.mark.parametrize("former", [2, 30])
def test_a_step_of_retention_reads_no_former_command_again(
    former: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    headwater.project_through()
    for number in range(former):
        headwater.accept(submit(Command("ana", number, "", "", one_job("demo", number + 1))))
        headwater.project()
    read = CommandsRead(monkeypatch)
    headwater.accept(submit(Command("ana", former, "", "", one_job("demo", _SECOND))))
    headwater.project()
    headwater.accept(event(an_event(_FIRST + 1)))
    headwater.project()
    assert read.rows == 0
    kept = {row.at for row in headwater.catalogue.executions(job=_demo(headwater), limit=9).items}
    assert kept == {_SECOND}
    headwater.close()


def one_job(name: str, before: int) -> Prune:
    return Prune((Cutoff("default", name, "", "file:/data/out", before),), drop_bodies=False)


def _demo(headwater: SmallHeadwater) -> str:
    (job,) = (
        item
        for item in headwater.catalogue.scan()
        if isinstance(item, JobRow) and item.name == "demo"
    )
    return job.id


def test_another_process_hears_of_every_command_at_once() -> None:
    headwater = project(MINE, stepwise=False)
    headwater.project_through()
    headwater.accept(submitted(one_job("demo", _SECOND)))
    headwater.project()
    headwater.project_through()  # a projector that begins reads the rows that the other has added
    headwater.accept(event(an_event(_FIRST + 1)))
    headwater.project()
    assert [row.at for row in headwater.catalogue.executions(limit=9).items] == [_SECOND]
    headwater.close()


def test_of_very_many_prune_commands_the_last_holds_for_later_documents() -> None:
    names = [*(f"job{number}" for number in range(100)), "demo"]
    cutoffs = [Cutoff("default", name, "", "file:/data/out", _SECOND) for name in names]
    orders = [Prune((cutoff,), drop_bodies=False) for cutoff in cutoffs]
    headwater = project(
        [submit(Command("ana", n, "", "", item)) for n, item in enumerate(orders)], stepwise=False
    )
    headwater.project_through()
    headwater.accept(*MINE)
    headwater.project()
    assert [row.at for row in headwater.catalogue.executions(limit=9).items] == [_SECOND]
    headwater.close()
