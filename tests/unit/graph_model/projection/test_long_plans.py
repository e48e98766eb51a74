"""A subject with very many events: projected and rebuilt in pieces, the same in the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

import pytest

from graph_model.errors import GraphUnavailable
from graph_model.facts import Facts
from graph_model.naming import Rules
from graph_model.producers.commands import Commands, Cutoff, Prune
from graph_model.producers.declared import Declarations
from graph_model.producers.openlineage.producer import OpenLineage
from graph_model.producers.producer import CommandEffects
from graph_model.producers.projections import Projection
from graph_model.producers.registry import Producers
from graph_model.producers.spline.producer import Spline, SplineTranslator
from graph_model.projection.projector import EPOCH_KEY, Projector
from graph_model.projection.run_window import DEFAULT, RunWindow
from graph_model.stores.documents import DocumentState, StoredDocument, Submission
from tests.projections import SmallHeadwater, lineage_event, project, small_headwater
from tests.unit.graph_model.producers.openlineage.test_projection import run_event
from tests.unit.graph_model.producers.test_commands import command
from tests.unit.graph_model.projection.projector.test_projector import (
    a_plan,
    an_event,
    event,
    plan,
    writing_to,
)

STEP: Final = 10
ROUND: Final = 20
PLANS: Final = 2
START: Final = 1_700_000_000_000
EVENTS: Final = [event(an_event(START + number)) for number in range(45)]
MINE: Final = [plan(a_plan()), *EVENTS]
CHANGED: Final = [*MINE, plan(writing_to("file:/data/elsewhere"), api_version="1.1")]
BOTH_SCOPES: Final = [
    plan(a_plan(), scope="a"),
    plan(a_plan(), scope="b"),
    *(event(an_event(START + number), scope="ab"[number >= 30]) for number in range(60)),
]

Elements = tuple[object, object]


class MeasuredTranslator(SplineTranslator):
    """Notes how many documents it is given at once."""

    def __init__(self, rules: Rules, clock_tolerance: int, given: list[int]) -> None:
        super().__init__(rules, clock_tolerance)
        self._given = given

    def project(
        self, documents: Sequence[StoredDocument], new: Collection[int], effects: CommandEffects
    ) -> Projection:
        self._given.append(len(documents))
        return super().project(documents, new, effects)


class MeasuredSpline(Spline):
    """``given``: of all its translators."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def translator(self, rules: Rules, clock_tolerance: int) -> SplineTranslator:
        return MeasuredTranslator(rules, clock_tolerance, self.given)


class DyingGraph:
    """Loses the connection at the n-th write, and at all later ones."""

    def __init__(self, inner: Any, writes: int) -> None:
        self._inner = inner
        self._left = writes

    def write(self, facts: Facts) -> None:
        self._left -= 1
        if self._left < 0:
            raise GraphUnavailable("the process dies here")
        self._inner.write(facts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def bound_pieces(monkeypatch: pytest.MonkeyPatch, step: int, new: int) -> None:
    monkeypatch.setattr("graph_model.projection.attempts.EVENTS_A_STEP", step)
    monkeypatch.setattr("graph_model.projection.rebuilding._DOCUMENTS_A_STEP", step)
    monkeypatch.setattr("graph_model.projection.projector.commands.EVENTS_A_STEP", step)
    monkeypatch.setattr("graph_model.projection.projector.subject_projector.NEW_A_ROUND", new)
    monkeypatch.setattr("graph_model.projection.projector.commands.NEW_A_ROUND", new)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    bound_pieces(monkeypatch, STEP, ROUND)


def at_once(submissions: Iterable[Submission], runs: RunWindow = DEFAULT) -> Elements:
    """All elements and rows where everything is projected in one piece."""
    with pytest.MonkeyPatch.context() as patched:
        bound_pieces(patched, 1_000_000, 1_000_000)
        headwater = project(submissions, stepwise=False, runs=runs)
    result = headwater.elements()
    headwater.close()
    return result


def accepted(submissions: Sequence[Submission]) -> SmallHeadwater:
    headwater = small_headwater()
    for submission in submissions:
        headwater.accept(submission)
    return headwater


def lose_graph(headwater: SmallHeadwater) -> None:
    """The graph is empty, and the next projector fills it from the journal."""
    headwater.graph.clear()
    headwater.project_through()
    headwater.projector.prepare()


def measured(headwater: SmallHeadwater) -> list[int]:
    """How many documents are translated at once from here on."""
    spline = MeasuredSpline()
    producers = Producers((spline, Commands(), OpenLineage(), Declarations()))
    headwater.projector = Projector(
        headwater.journal, headwater.graph, headwater.generations, producers=producers
    )
    return spline.given


def begin_rebuild(headwater: SmallHeadwater, *, epoch: bool) -> None:
    """On request, or because another translator made the present projection."""
    if epoch:
        headwater.journal.set_meta(EPOCH_KEY, "an older one")
        headwater.projector.prepare()
    else:
        headwater.projector.request_rebuild()


def finish_rebuild(headwater: SmallHeadwater) -> None:
    while headwater.projector.rebuild_step():
        pass


def assert_projected_in_pieces(
    headwater: SmallHeadwater, submissions: Sequence[Submission], *, most: int
) -> None:
    """All of these are projected, at most so many events at a time, as if all came at once."""
    given = measured(headwater)
    headwater.project()
    assert max(given) <= most + PLANS
    assert headwater.journal.summary().projected == len(submissions)
    assert headwater.elements() == at_once(submissions)
    headwater.close()


# --- rounds --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "submissions",
    [MINE, [*EVENTS, MINE[0]], CHANGED, CHANGED[::-1], BOTH_SCOPES],
    ids=["plan first", "plan last", "changed", "changed, backwards", "two scopes"],
)
def test_pending_events_of_one_subject_key_are_projected_in_pieces(
    submissions: list[Submission],
) -> None:
    headwater = accepted(submissions)
    assert_projected_in_pieces(headwater, submissions, most=ROUND)


@pytest.mark.usefixtures("small_pieces")
def test_a_plan_that_comes_to_many_waiting_events_takes_them_up_in_pieces() -> None:
    headwater = project(EVENTS, stepwise=False)
    assert headwater.journal.summary().waiting == len(EVENTS)
    headwater.accept(MINE[0])
    assert_projected_in_pieces(headwater, MINE, most=STEP)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("submissions", [MINE, CHANGED, BOTH_SCOPES])
def test_a_lost_graph_is_filled_again_in_pieces(submissions: list[Submission]) -> None:
    headwater = project(submissions, stepwise=False)
    lose_graph(headwater)
    assert headwater.journal.summary().pending == len(submissions)
    assert_projected_in_pieces(headwater, submissions, most=ROUND)


@pytest.mark.usefixtures("small_pieces")
def test_a_plan_that_changes_under_many_events_takes_all_that_was_before_with_it() -> None:
    headwater = project(MINE, stepwise=False)
    headwater.accept(CHANGED[-1])
    given = measured(headwater)
    headwater.project()
    assert max(given) <= STEP + PLANS
    assert headwater.elements() == at_once(CHANGED)
    headwater.close()


@pytest.mark.usefixtures("small_pieces")
def test_events_that_a_prune_covers_hide_their_plan_without_a_look_at_all_others() -> None:
    cutoff = Cutoff("default", "demo", "", "file:/data/out", START + 1_000)
    prune = command(Prune((cutoff,), drop_bodies=False))
    headwater = project([*MINE, prune], stepwise=False)
    headwater.accept(*(event(an_event(START + 500 + number)) for number in range(30)))
    given = measured(headwater)
    headwater.project()
    assert max(given) <= ROUND + PLANS
    assert headwater.elements() == at_once([*MINE, prune])
    headwater.close()


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("runs", [DEFAULT, RunWindow(1_000)], ids=str)
def test_a_plan_whose_every_event_was_pruned_comes_back_before_its_new_events(
    runs: RunWindow,
) -> None:
    """Some of the new events are covered as well, so the projector reads all of them."""
    cutoff = Cutoff("default", "demo", "", "file:/data/out", START + 1_000)
    prune = command(Prune((cutoff,), drop_bodies=False))
    headwater = project([*MINE, prune], stepwise=False, runs=runs)
    newer = [event(an_event(START + 985 + number)) for number in range(30)]
    headwater.accept(*newer)
    headwater.project()
    assert headwater.journal.summary().failed == 0
    assert headwater.elements() == at_once([*MINE, prune, *newer], runs)
    headwater.close()


@pytest.mark.usefixtures("small_pieces")
def test_a_projector_has_caught_up_only_with_the_last_piece() -> None:
    headwater = accepted(MINE)
    while headwater.journal.summary().pending:
        assert headwater.projector.state != "ready"
        headwater.projector.work_until(every_other_time())
    headwater.projector.work_until(lambda: False)
    assert headwater.projector.state == "ready"
    headwater.close()


def every_other_time() -> Callable[[], bool]:
    answers = iter([False])
    return lambda: next(answers, True)


# --- rebuilds ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("epoch", [False, True])
@pytest.mark.parametrize("submissions", [MINE, CHANGED, BOTH_SCOPES])
def test_a_rebuild_takes_bounded_steps(submissions: list[Submission], epoch: bool) -> None:
    headwater = project(submissions, stepwise=False)
    given = measured(headwater)
    begin_rebuild(headwater, epoch=epoch)
    finish_rebuild(headwater)
    assert max(given) <= STEP + PLANS
    assert headwater.elements() == at_once(submissions)
    progress = headwater.projector.progress
    assert progress is not None
    assert (progress.plans_done, progress.removed) == (progress.plans, 0)
    assert progress.before == progress.after
    headwater.close()


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("epoch", [False, True])
@pytest.mark.parametrize("after", [1, 2, 4, 8])
@pytest.mark.parametrize("late", [event(an_event(START + 500)), CHANGED[-1]])
def test_a_document_between_two_pieces_is_in_the_result(
    late: Submission, after: int, epoch: bool
) -> None:
    headwater = project(MINE, stepwise=False)
    begin_rebuild(headwater, epoch=epoch)
    for _ in range(after):
        headwater.projector.rebuild_step()
    headwater.accept(late)
    headwater.project()
    finish_rebuild(headwater)
    begin_rebuild(headwater, epoch=False)  # a withdrawal in the sweep leaves some to the next one
    finish_rebuild(headwater)
    assert headwater.elements() == at_once([*MINE, late])
    assert headwater.journal.summary().projected == len(MINE) + 1
    headwater.close()


@pytest.mark.usefixtures("small_pieces")
def test_a_rebuild_leaves_a_plan_hidden_whose_every_event_is_pruned() -> None:
    """A piece with events of another scope alone does not bring it back."""
    cutoff = Cutoff("a", "demo", "a", "file:/data/out", START + 1_000)
    everything = [*BOTH_SCOPES, command(Prune((cutoff,), drop_bodies=False))]
    headwater = project(everything, stepwise=False)
    begin_rebuild(headwater, epoch=False)
    finish_rebuild(headwater)
    assert headwater.elements() == at_once(everything)
    headwater.close()


# --- crashes -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("writes", [0, 1, 3, 5])
@pytest.mark.parametrize("road", ["new", "lost", "late", "changed"])
def test_a_crash_between_two_pieces_loses_nothing(road: str, writes: int) -> None:
    headwater = small_headwater()
    before = {"new": [], "lost": MINE, "late": EVENTS, "changed": MINE}[road]
    for item in before:
        headwater.accept(item)
    headwater.project()
    if road == "lost":
        lose_graph(headwater)
    headwater.accept(*{"new": MINE, "lost": [], "late": MINE[:1], "changed": CHANGED[-1:]}[road])
    headwater.project_through(DyingGraph(headwater.graph, writes))
    with pytest.raises(GraphUnavailable):
        headwater.project()
    assert headwater.journal.summary().pending > 0
    headwater.project_through()
    headwater.project()
    expected = CHANGED if road == "changed" else MINE
    assert headwater.elements() == at_once(expected)
    assert headwater.journal.summary().projected == len(expected)
    headwater.close()


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("writes", [0, 1, 5])
def test_a_rebuild_goes_on_with_the_piece_that_failed(writes: int) -> None:
    headwater = project(MINE, stepwise=False)
    headwater.project_through(DyingGraph(headwater.graph, writes))
    headwater.projector.request_rebuild()
    with pytest.raises(GraphUnavailable):
        finish_rebuild(headwater)
    headwater.project_through()
    heir = Projector(headwater.journal, headwater.graph, headwater.generations)
    heir.prepare()
    assert headwater.elements() == at_once(MINE)
    assert headwater.journal.summary().projected == len(MINE)
    headwater.close()


def test_thousands_of_events_of_one_subject_key_come_in_pieces_of_the_stated_size() -> None:
    events = [event(an_event(START + number)) for number in range(1_100)]
    headwater = accepted([MINE[0], *events])
    given = measured(headwater)
    headwater.project()
    headwater.projector.request_rebuild()
    finish_rebuild(headwater)
    assert max(given) == 1_001
    assert headwater.journal.summary().projected == 1_101
    progress = headwater.projector.progress
    assert progress is not None
    assert progress.before == progress.after
    assert headwater.elements() == at_once([MINE[0], *events])
    headwater.close()


@pytest.mark.usefixtures("small_pieces")
def test_documents_set_aside_keep_their_state() -> None:
    broken = event({"planId": a_plan()["id"], "timestamp": None})
    submissions = [*MINE, broken]
    headwater = project(submissions, stepwise=False)
    begin_rebuild(headwater, epoch=True)
    finish_rebuild(headwater)
    (failed,) = headwater.journal.entries(state=DocumentState.FAILED).items
    assert failed.position == len(submissions)
    assert headwater.elements() == at_once(submissions)
    headwater.close()


def test_the_log_warns_of_a_run_at_each_further_number_of_events(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("graph_model.projection.projector.subject_projector.MANY_TOGETHER", 3)
    events = [lineage_event(run_event("r", "RUNNING", minute)) for minute in range(7)]
    headwater = project(events, stepwise=True)
    lines = [line for line in caplog.messages if "translated together" in line]
    assert [line.partition(",")[0] for line in lines] == [
        "run:r has 3 documents",
        "run:r has 6 documents",
    ]
    headwater.close()
