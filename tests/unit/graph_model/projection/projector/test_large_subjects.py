"""A large subject is translated beside the rounds of the small ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from graph_model.producers.commands import (
    Command,
    CommandKind,
    Cutoff,
    Forget,
    Prune,
    Statement,
    submit,
    write_value,
)
from graph_model.producers.producer import NO_EFFECTS, CommandEffects
from graph_model.producers.projections import Projection
from graph_model.producers.registry import Translation
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.projector import subject_projector
from graph_model.stores.documents import DocumentState, StoredDocument, Submission
from tests.projections import SmallHeadwater, elements_of, project, small_headwater, submission
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event
from tests.unit.graph_model.projection.test_ruling import OTHER
from tests.waiting import eventually

_LARGE_BYTES = 5_000


@pytest.fixture
def headwater(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHeadwater]:
    monkeypatch.setattr(subject_projector, "_BYTES_APART", _LARGE_BYTES)
    headwater = small_headwater()
    yield headwater
    headwater.projector.stop()
    headwater.close()


def plan_id(place: int) -> str:
    return f"00000000-0000-5000-8000-{place:012d}"


def plan(place: int, size: int = 10, **changes: Any) -> Submission:
    extra = {"appName": "demo", "text": "x" * size}
    return submission(PLAN_KIND, a_plan(id=plan_id(place), extraInfo=extra, **changes))


def event(place: int, at: int = 1_700_000_000_000, **changes: Any) -> Submission:
    return submission(EVENT_KIND, an_event(at, planId=plan_id(place), **changes))


def state_of(headwater: SmallHeadwater, place: int) -> list[DocumentState]:
    return [document.state for document in headwater.journal.documents_of(plan_id(place))]


class Held:
    """Holds each translation of one plan id until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, held: str) -> None:
        self.begun, self._released = threading.Event(), threading.Event()
        self.times = 0
        self.fails = False
        translate = Translation.project

        def project(
            of: Translation,
            documents: Sequence[StoredDocument],
            effects: CommandEffects = NO_EFFECTS,
        ) -> Projection:
            if any(document.subject_key == held for document in documents):
                self.times += 1
                self.begun.set()
                assert self._released.wait(60)
                if self.fails and threading.current_thread().name == "large-subject":
                    raise MemoryError
            return translate(of, documents, effects)

        monkeypatch.setattr(Translation, "project", project)

    def release(self) -> None:
        self._released.set()


def held_with(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch, *documents: Submission
) -> tuple[Held, Sequence[int]]:
    """The documents, whose first plan's translation has begun and is held; their positions."""
    held = Held(monkeypatch, plan_id(0))
    headwater.projector.start()
    positions = headwater.accept(*documents)
    headwater.projector.notify()
    assert held.begun.wait(60)
    return held, positions


def test_a_document_that_comes_while_a_large_one_is_translated_does_not_wait_for_it(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, large = held_with(headwater, monkeypatch, plan(0, 9_000))
    small = headwater.accept(plan(1), event(1))
    assert headwater.projector.wait(small, 60)
    assert state_of(headwater, 0) == [DocumentState.PENDING]
    held.release()
    assert headwater.projector.wait(large, 60)
    assert held.times == 1
    assert headwater.elements() == elements_of([plan(1), event(1), plan(0, 9_000)], stepwise=False)


def test_an_event_of_a_large_plan_that_must_be_read_again_lets_others_pass(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    headwater.accept(plan(0, 9_000))
    headwater.project()
    headwater.projector.replay(())  # as a start: no plan is known
    held, late = held_with(headwater, monkeypatch, event(0))
    assert headwater.projector.wait(headwater.accept(plan(1)), 60)
    held.release()
    assert headwater.projector.wait(late, 60)
    assert headwater.elements() == elements_of([plan(0, 9_000), event(0), plan(1)], stepwise=False)


def test_documents_that_come_during_the_translation_of_their_subject_are_projected_after_it(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, _ = held_with(headwater, monkeypatch, plan(0, 9_000), event(0))
    later = headwater.accept(event(0, 1_700_000_000_001))
    headwater.projector.notify()
    held.release()
    assert headwater.projector.wait(later, 60)
    assert state_of(headwater, 0) == [DocumentState.PROJECTED] * 3
    assert headwater.elements() == elements_of(
        [plan(0, 9_000), event(0), event(0, 1_700_000_000_001)], stepwise=False
    )


def test_a_command_that_comes_during_the_translation_is_in_force_for_it(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten = event(0)
    command = submit(Command("ana", 1, "", "", Forget((plan_id(0),), (forgotten.content_hash,))))
    held, _ = held_with(
        headwater, monkeypatch, plan(0, 9_000), forgotten, event(0, 1_700_000_000_001)
    )
    last = headwater.accept(command)
    headwater.projector.notify()
    held.release()
    assert headwater.projector.wait(last, 60)
    eventually(lambda: DocumentState.PENDING not in state_of(headwater, 0))
    assert headwater.elements() == elements_of(
        [plan(0, 9_000), event(0), event(0, 1_700_000_000_001), command], stepwise=False
    )


def test_a_command_that_concerns_no_document_of_it_leaves_the_translation_as_it_is(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = Statement(CommandKind.HIDE, "elsewhere", '{"reason":"old"}')
    command = submit(Command("ana", 1, "", "", statement))
    held, large = held_with(headwater, monkeypatch, plan(0, 9_000), event(0))
    assert headwater.projector.wait(headwater.accept(command), 60)
    held.release()
    assert headwater.projector.wait(large, 60)
    assert held.times == 1
    assert headwater.elements() == elements_of([plan(0, 9_000), event(0), command], stepwise=False)


def test_rules_that_change_during_the_translation_are_those_of_its_facts(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = write_value(OTHER)
    command = submit(Command("ana", 1, "", "", Statement(CommandKind.RULES, "rules", value)))
    held = Held(monkeypatch, plan_id(0))
    headwater.projector.start()
    headwater.accept(plan(1, name="etl-1"), event(1))
    headwater.accept(plan(0, 9_000, name="etl-0"), event(0))
    headwater.projector.notify()
    assert held.begun.wait(60)
    before = headwater.projector.rules
    assert headwater.projector.wait(headwater.accept(command), 60)
    held.release()
    eventually(lambda: DocumentState.PENDING not in state_of(headwater, 0))
    eventually(lambda: not headwater.projector.rebuild_waits)
    assert headwater.projector.rules != before
    headwater.projector.stop()
    documents = [plan(1, name="etl-1"), event(1), plan(0, 9_000, name="etl-0"), event(0)]
    anew = project([command, *documents], stepwise=True)
    while anew.projector.project_pending() or anew.projector.rebuild_step():
        pass
    (job,) = headwater.catalogue.list_jobs(now=0, limit=10).items
    assert (job.job.name, headwater.elements()) == ("etl", anew.elements())
    anew.close()


def test_a_translation_that_fails_beside_the_rounds_is_made_again_in_one(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch, plan_id(0))
    held.fails = True
    held.release()
    headwater.projector.start()
    assert headwater.projector.wait(headwater.accept(plan(0, 9_000), event(0)), 60)
    assert held.times == 2
    assert headwater.elements() == elements_of([plan(0, 9_000), event(0)], stepwise=False)


def test_a_large_document_that_is_refused_is_translated_once(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch, plan_id(0))
    held.release()
    headwater.projector.start()
    refused = plan(0, 9_000, operations={})
    assert headwater.projector.wait(headwater.accept(refused, plan(1)), 60)
    assert held.times == 1
    assert state_of(headwater, 0) == [DocumentState.FAILED]
    assert headwater.elements() == elements_of([refused, plan(1)], stepwise=False)


def test_of_two_large_documents_the_second_has_its_turn_after_the_first(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, first = held_with(headwater, monkeypatch, plan(0, 9_000))
    second = headwater.accept(plan(1, 8_000))
    assert headwater.projector.wait(headwater.accept(plan(2)), 60)
    assert state_of(headwater, 1) == [DocumentState.PENDING]
    held.release()
    assert headwater.projector.wait([*first, *second], 60)
    assert headwater.elements() == elements_of(
        [plan(0, 9_000), plan(1, 8_000), plan(2)], stepwise=False
    )


def test_what_another_process_projects_meanwhile_is_not_written_again(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, large = held_with(headwater, monkeypatch, plan(0, 9_000), event(0))
    headwater.journal.settle(large, DocumentState.PROJECTED)
    held.release()
    assert headwater.projector.wait(headwater.accept(plan(1)), 60)
    assert held.times == 1
    assert headwater.elements() == elements_of([plan(1)], stepwise=False)


def test_a_projector_ends_while_a_large_document_is_translated_and_the_next_lets_others_pass(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch, plan_id(0))
    headwater.projector.start()
    large = headwater.accept(plan(0, 9_000))
    assert headwater.projector.wait(headwater.accept(plan(1)), 60)
    assert held.begun.wait(60)
    headwater.projector.stop()
    assert not any(thread.name == "projector" for thread in threading.enumerate())
    headwater.project_through()  # as after a kill: it finds the last round's note
    headwater.projector.prepare()
    headwater.projector.start()
    assert headwater.projector.wait(headwater.accept(plan(2)), 60)
    assert state_of(headwater, 0) == [DocumentState.PENDING]
    held.release()
    assert headwater.projector.wait(large, 60)
    assert headwater.elements() == elements_of([plan(0, 9_000), plan(1), plan(2)], stepwise=False)


def test_a_command_that_waits_for_a_large_document_ends_with_the_projector(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    headwater.accept(plan(0), event(0))
    headwater.project()
    held = Held(monkeypatch, plan_id(0))
    prune = Prune((Cutoff("default", "demo", "", "file:/data/out", 1_800_000_000_000),), False)
    headwater.accept(plan(0, 9_000), submit(Command("ana", 1, "", "", prune)))
    headwater.projector.start()
    assert held.begun.wait(60)
    headwater.projector.stop(60)
    assert not any(thread.name == "projector" for thread in threading.enumerate())
    held.release()


def test_a_large_subject_waits_for_the_small_ones_of_its_round_and_then_has_its_turn(
    headwater: SmallHeadwater,
) -> None:
    sizes = (9_000, 8_000, 10, 10, 10)
    headwater.accept(*(plan(place, size) for place, size in enumerate(sizes)))
    done = []
    while headwater.projector.project_pending():
        states = [state_of(headwater, place)[0] for place in range(len(sizes))]
        done.append([place for place, item in enumerate(states) if item != DocumentState.PENDING])
    assert done == [[2, 3, 4], [0, 2, 3, 4], [0, 1, 2, 3, 4]]
