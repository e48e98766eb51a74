"""Elements known to be written are not written again, and nothing is believed for too long."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from graph_model import labels
from graph_model.errors import GraphUnavailable
from graph_model.facts import ExecutionRow, Facts, SharedFacts, key_of, merge
from graph_model.producers.spline import producer
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.producers.spline.gathering import read_plan_document
from graph_model.producers.spline.plans import translate_plan
from graph_model.producers.spline.producer import PlanHeads
from graph_model.projection.projector import WRITER_KEY
from graph_model.projection.projector.commits import KnownElements
from graph_model.stores.documents import DocumentState, Submission
from tests.projections import SmallHeadwater, small_headwater, submission
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event

HOUR = 3_600_000


def a_run(number: int) -> Submission:
    return submission(EVENT_KIND, an_event(1_700_000_000_000 + number * HOUR))


class Watched:
    """A Headwater whose graph tells the elements that it is asked to write."""

    def __init__(self) -> None:
        self.headwater: SmallHeadwater = small_headwater()
        self.written: list[Facts] = []
        write = self.headwater.graph.write

        def watched(facts: Facts) -> None:
            self.written.append(facts)
            write(facts)

        self.headwater.graph.write = watched  # type: ignore[method-assign]

    def take(self, *documents: Submission) -> Facts:
        """Project these; returns the elements that the graph was asked to write."""
        self.written.clear()
        self.headwater.accept(*documents)
        self.headwater.project()
        return merge(self.written)


@pytest.fixture
def watched() -> Any:
    made = Watched()
    yield made
    made.headwater.close()


def labels_of(facts: Facts) -> set[str]:
    return {vertex.label for vertex in facts.vertices}


def test_a_new_run_of_a_known_plan_writes_at_most_ten_elements(watched: Watched) -> None:
    first = watched.take(submission(PLAN_KIND, a_plan()), a_run(0))
    again = watched.take(a_run(1))
    assert len(first.vertices) + len(first.edges) > 20
    assert len(again.vertices) + len(again.edges) <= 10
    assert labels.EXECUTION in labels_of(again)


def test_a_plan_of_the_same_structure_writes_only_its_own_elements(watched: Watched) -> None:
    watched.take(submission(PLAN_KIND, a_plan()), a_run(0))
    twin = a_plan(id="11111111-2222-5333-8444-555555555555")
    again = watched.take(
        submission(PLAN_KIND, twin),
        submission(EVENT_KIND, an_event(planId=twin["id"])),
    )
    assert labels_of(again) <= {labels.EXECUTION_PLAN, labels.EXECUTION, labels.RUN, labels.DAY}


def test_after_another_process_has_written_everything_is_written_again(watched: Watched) -> None:
    first = watched.take(submission(PLAN_KIND, a_plan()), a_run(0))
    watched.headwater.journal.set_meta(WRITER_KEY, "another")
    twin = a_plan(id="11111111-2222-5333-8444-555555555555")
    again = watched.take(submission(PLAN_KIND, twin))
    assert labels_of(first) - {labels.EXECUTION, labels.RUN, labels.DAY} <= labels_of(again)


def test_a_failed_write_is_not_believed(watched: Watched) -> None:
    headwater = watched.headwater
    headwater.accept(submission(PLAN_KIND, a_plan()), a_run(0))
    write = headwater.graph.write

    def fail(facts: Facts) -> None:
        write(Facts(facts.vertices))
        raise GraphUnavailable("gone")

    headwater.graph.write = fail  # type: ignore[method-assign]
    with pytest.raises(GraphUnavailable):
        headwater.project()
    headwater.graph.write = write  # type: ignore[method-assign]
    headwater.project()
    tried, again, *_ = watched.written
    assert again.vertices == tried.vertices
    assert again.edges


# --- remembered plans ----------------------------------------------------------------------------


def test_a_plan_whose_head_goes_while_its_round_is_under_way_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Known when the round began, so its body was not read; then another plan took its place."""
    monkeypatch.setattr(producer, "PlanHeads", partial(PlanHeads, 3_000))
    watched = Watched()
    headwater = watched.headwater
    watched.take(submission(PLAN_KIND, a_plan()), a_run(0))
    other = a_plan(id="11111111-2222-5333-8444-555555555555", name="other")
    of_other = submission(EVENT_KIND, an_event(planId=other["id"]))
    headwater.accept(submission(PLAN_KIND, other), of_other, a_run(1))
    headwater.project()
    states = {entry.state for entry in headwater.journal.entries(limit=100).items}
    assert states == {DocumentState.PROJECTED}
    assert headwater.catalogue.executions(limit=1).total == 3
    headwater.close()


def test_the_heads_of_twenty_thousand_plans_are_remembered() -> None:
    known = small_headwater()
    known.accept(submission(PLAN_KIND, a_plan()))
    (plan,) = known.journal.documents_of(a_plan()["id"])
    known.close()
    _, head = translate_plan(read_plan_document(plan))
    heads, plans = PlanHeads(), [plan._replace(content_hash=f"{n:064}") for n in range(20_000)]
    for item in plans:
        heads.keep(item, head)
    assert all(map(heads.find, plans))


def test_the_heads_of_plans_are_forgotten_by_one_thread_at_a_time() -> None:
    heads, alone = PlanHeads(), []

    class Kept(dict[str, Any]):
        def clear(self) -> None:
            alone.append(heads._lock.locked())

    heads._kept = Kept()  # type: ignore[assignment]
    heads.forget_all()
    assert alone == [True]


# --- the memory itself ---------------------------------------------------------------------------


@pytest.fixture
def facts() -> Facts:
    headwater = small_headwater()
    headwater.accept(submission(PLAN_KIND, a_plan()), a_run(0))
    written: list[Facts] = []
    headwater.graph.write = written.append  # type: ignore[method-assign, assignment]
    headwater.project()
    rows = tuple(headwater.catalogue.scan())
    headwater.close()
    return Facts(written[0].vertices, written[0].edges, rows)


def test_learnt_facts_are_not_new(facts: Facts) -> None:
    known = KnownElements()
    assert known.new(facts) == facts
    known.learn(facts)
    assert known.new(facts) == Facts()


def shared(facts: Facts) -> SharedFacts:
    return SharedFacts(key_of(facts), facts.size, lambda: facts)


def test_shared_facts_that_are_known_are_not_made(facts: Facts) -> None:
    known = KnownElements()
    known.learn_wholes([shared(facts)])

    def make() -> Facts:
        raise AssertionError("made")

    again = replace(shared(facts), make=make)
    assert known.new(again) == Facts()
    known.learn_wholes([again])


def test_an_edge_and_a_row_that_are_gone_are_new_again(facts: Facts) -> None:
    known, gone = KnownElements(), Facts(edges=facts.edges[:1], rows=facts.rows[:2])
    known.learn(facts)
    known.unlearn(gone)
    assert known.new(facts) == gone


def test_completely_known_facts_are_looked_through_again_when_some_are_gone(
    facts: Facts,
) -> None:
    whole = shared(facts)
    for gone in (Facts(edges=facts.edges[:1]), Facts(rows=facts.rows[:1])):
        known = KnownElements()
        known.learn(facts)
        known.learn_wholes([whole])
        assert known.new(whole) == Facts()
        known.unlearn(gone)
        assert known.new(whole) == gone
        known.learn(facts)
        assert known.new(whole) == Facts()
        known.learn_wholes([whole])
        known.forget()
        assert known.new(whole) == facts


def test_a_row_of_another_kind_that_is_gone_leaves_complete_facts_known(facts: Facts) -> None:
    known, structure = KnownElements(), shared(Facts(facts.vertices, facts.edges))
    run = next(row for row in facts.rows if isinstance(row, ExecutionRow))
    known.learn_wholes([structure])
    known.unlearn(Facts(rows=(run,)))
    assert known.new(structure) == Facts()
    assert known.new(Facts(rows=(run,))) == Facts(rows=(run,))


def test_completely_known_facts_outlive_their_elements(
    facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.projection.projector.commits._MOST_ELEMENTS", 3)
    known, whole = KnownElements(), shared(facts)
    known.learn_wholes([whole])
    for _ in range(2):
        known.learn(facts)
    assert known.new(whole) == Facts()
    assert known.new(facts) == Facts()


def test_the_structure_of_twenty_thousand_jobs_is_remembered(facts: Facts) -> None:
    known = KnownElements()
    wholes = [replace(shared(facts), key=f"{number:032x}") for number in range(20_000)]
    known.learn_wholes(wholes)
    assert not any(known.new(whole).edges for whole in wholes)


def test_equal_facts_have_equal_keys_and_others_have_others(facts: Facts) -> None:
    assert key_of(facts) == key_of(replace(facts))
    parts = [facts, Facts(facts.vertices), Facts(rows=facts.rows), Facts(facts.vertices[1:])]
    assert len(set(map(key_of, parts))) == len(parts)


def test_with_a_vertex_everything_is_new_again_for_its_edges_went_with_it(facts: Facts) -> None:
    known = KnownElements()
    known.learn(facts)
    known.unlearn(Facts(vertices=facts.vertices[:1]))
    assert known.new(facts) == facts


def test_the_memory_is_bounded(facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_model.projection.projector.commits._MOST_ELEMENTS", 1)
    known = KnownElements()
    known.learn(facts)
    known.learn(Facts(facts.vertices[:1]))
    assert known.new(facts).vertices == ()  # the older half
    known.learn(Facts(facts.vertices[:1]))
    assert known.new(facts).vertices == facts.vertices[1:]
