"""A large subject is written in pieces, and the small ones are projected between them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graph_model import labels
from graph_model.errors import GraphRejected, GraphUnavailable, Unavailable
from graph_model.facts import Edge, Facts, Vertex, is_marker
from graph_model.producers.commands import Command, Forget, submit
from graph_model.projection import writing
from graph_model.projection.attempts import ATTEMPT_KEY, Attempt, read_attempt
from graph_model.projection.projector import subject_projector
from graph_model.projection.rebuilding import Phase
from graph_model.stores.documents import DocumentState, Submission
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater, elements_of, lineage_event, small_headwater

_LARGE_BYTES = 2_000
_INPUTS = 12


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject_projector, "_BYTES_APART", _LARGE_BYTES)
    monkeypatch.setattr(writing, "_A_PIECE", 5)


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    headwater = small_headwater()
    yield headwater
    headwater.close()


def run(
    place: int, inputs: int = 1, of: str = "in", kind: str = "COMPLETE", minute: int = 0
) -> Submission:
    event: dict[str, Any] = {
        "eventType": kind,
        "eventTime": f"2026-03-01T08:{minute:02}:00Z",
        "producer": "https://example.org/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"00000000-0000-4000-8000-{place:012d}"},
        "job": {"namespace": "night", "name": f"job{place}"},
        "inputs": [
            {"namespace": "s3://lake", "name": f"{of}{i}/{'x' * 150}"} for i in range(inputs)
        ],
        "outputs": [{"namespace": "s3://lake", "name": f"out{place}"}],
    }
    return lineage_event(event)


LARGE = run(0, _INPUTS)


def is_pending(headwater: SmallHeadwater, submission: Submission) -> bool:
    states = {
        d.content_hash: d.state for d in headwater.journal.documents_of(submission.subject_key)
    }
    return states[submission.content_hash] == DocumentState.PENDING


def write_pieces(headwater: SmallHeadwater, pieces: int) -> bool:
    """Rounds in which so many pieces of LARGE are written. False where it is committed earlier."""
    headwater.accept(LARGE)
    for _ in range(pieces):
        headwater.projector.project_pending()
    return is_pending(headwater, LARGE)


def restart(headwater: SmallHeadwater) -> None:
    """As after a kill: another projector finds what is written, and the journal's note."""
    headwater.project_through()
    headwater.projector.prepare()


def at_each_piece(
    check: Callable[[SmallHeadwater], None], before: Callable[[SmallHeadwater], None] | None = None
) -> None:
    """Calls ``check`` with a Headwater that has written one piece of LARGE, two, ..."""
    for pieces in range(1, 100):
        headwater = small_headwater()
        if before is not None:
            before(headwater)
        if not write_pieces(headwater, pieces):
            assert pieces > 6
            headwater.close()
            return
        check(headwater)
        headwater.close()
    pytest.fail("it is never committed")


def test_small_subjects_are_projected_between_the_pieces_of_a_large_one() -> None:
    pending: set[tuple[bool, bool]] = set()

    def check(headwater: SmallHeadwater) -> None:
        small = run(1)
        headwater.accept(small)
        headwater.projector.project_pending()
        pending.add((is_pending(headwater, small), is_pending(headwater, LARGE)))
        headwater.project()
        assert headwater.elements() == elements_of([LARGE, small], stepwise=False)

    at_each_piece(check)
    assert (False, True) in pending
    assert (True, True) not in pending


def test_no_round_writes_more_than_a_piece_or_the_run_of_it(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    write = MemoryGraph.write

    def counted(of: MemoryGraph, facts: Facts) -> None:
        sizes.append(facts.size)
        write(of, facts)

    monkeypatch.setattr(MemoryGraph, "write", counted)
    headwater.accept(LARGE)
    headwater.project()
    assert max(sizes) < _INPUTS
    assert sum(sizes) >= 2 * _INPUTS


def test_nothing_of_it_is_visible_before_its_commit() -> None:
    def check(headwater: SmallHeadwater) -> None:
        assert headwater.catalogue.list_jobs(now=0, limit=10).items == ()
        elements = list(headwater.graph.scan())
        assert not any(isinstance(e, Edge) and is_marker(e) for e in elements)
        assert not any(isinstance(e, Vertex) and e.label == labels.EXECUTION for e in elements)

    at_each_piece(check)


def test_after_a_kill_between_two_pieces_the_next_start_completes_it() -> None:
    def check(headwater: SmallHeadwater) -> None:
        restart(headwater)
        small = run(1)
        headwater.accept(small)
        headwater.project()
        assert headwater.elements() == elements_of([LARGE, small], stepwise=False)

    at_each_piece(check)


def test_a_later_event_that_withdraws_facts_of_it_finds_them_all_after_a_kill() -> None:
    started = run(0, 2, of="old", kind="START")
    ended = run(0, 1, of="other", kind="FAIL", minute=1)

    def check(headwater: SmallHeadwater) -> None:
        headwater.accept(run(1), ended, run(2))
        headwater.projector.project_pending()  # notes an attempt at the small ones beside it
        restart(headwater)
        headwater.project()
        everything = [started, LARGE, run(1), ended, run(2)]
        assert headwater.elements() == elements_of(everything, stepwise=False)

    def before(headwater: SmallHeadwater) -> None:
        headwater.accept(started)
        headwater.project()

    at_each_piece(check, before)


def test_a_later_event_of_it_waits_for_its_commit() -> None:
    ended = run(0, 1, of="other", kind="FAIL", minute=1)

    def check(headwater: SmallHeadwater) -> None:
        headwater.accept(ended)
        headwater.project()
        assert headwater.elements() == elements_of([LARGE, ended], stepwise=False)

    at_each_piece(check)


@pytest.mark.parametrize("killed", [False, True])
def test_a_command_that_forgets_it_between_two_pieces_leaves_nothing(killed: bool) -> None:
    forget = submit(Command("ana", 1, "", "", Forget((LARGE.subject_key,), (LARGE.content_hash,))))

    def check(headwater: SmallHeadwater) -> None:
        headwater.accept(run(1), forget)
        if killed:
            restart(headwater)
        headwater.project()
        assert headwater.elements() == elements_of([LARGE, run(1), forget], stepwise=False)
        assert len(headwater.catalogue.list_jobs(now=0, limit=10).items) == 1

    at_each_piece(check)


def test_what_another_subject_withdraws_between_two_pieces_is_written_again() -> None:
    shares = run(1, 3)  # reads tables of LARGE
    forget = submit(
        Command("ana", 1, "", "", Forget((shares.subject_key,), (shares.content_hash,)))
    )

    def before(headwater: SmallHeadwater) -> None:
        headwater.accept(shares)
        headwater.project()

    def check(headwater: SmallHeadwater) -> None:
        headwater.accept(forget)
        headwater.project()
        assert headwater.elements() == elements_of([shares, LARGE, forget], stepwise=False)

    at_each_piece(check, before)


def test_a_rebuild_that_begins_between_two_pieces_has_all_of_it() -> None:
    def check(headwater: SmallHeadwater) -> None:
        headwater.projector.request_rebuild()
        while headwater.projector.project_pending() or headwater.projector.rebuild_step():
            pass
        assert headwater.elements() == elements_of([LARGE], stepwise=False)

    at_each_piece(check)


def in_a_rebuild(
    check: Callable[[SmallHeadwater], None], *documents: Submission, expected: list[Submission]
) -> None:
    """Calls ``check`` after each step of a rebuild of these documents."""
    right = elements_of(expected, stepwise=False)
    for pieces in range(100):
        headwater = small_headwater()
        headwater.accept(*documents)
        headwater.project()
        headwater.projector.request_rebuild()
        going = all(headwater.projector.rebuild_step() for _ in range(pieces))
        check(headwater)
        while headwater.projector.project_pending() or headwater.projector.rebuild_step():
            pass
        assert headwater.elements() == right
        headwater.close()
        if not going:
            assert pieces > 10
            return
    pytest.fail("it never ends")


def test_a_rebuild_writes_a_large_subject_in_pieces_and_small_ones_pass_between_them(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    headwater.accept(LARGE, run(1))
    headwater.project()
    sizes: list[int] = []
    write = MemoryGraph.write

    def counted(of: MemoryGraph, facts: Facts) -> None:
        sizes.append(facts.size)
        write(of, facts)

    monkeypatch.setattr(MemoryGraph, "write", counted)
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass
    assert max(sizes) < _INPUTS
    assert sum(sizes) >= 2 * _INPUTS
    assert headwater.elements() == elements_of([LARGE, run(1)], stepwise=False)


def test_what_comes_between_the_pieces_of_a_rebuild_is_right_afterwards() -> None:
    ended = run(0, 1, of="other", kind="FAIL", minute=1)

    def check(headwater: SmallHeadwater) -> None:
        headwater.accept(run(1), ended)
        headwater.projector.project_pending()

    in_a_rebuild(check, LARGE, expected=[LARGE, run(1), ended])


def test_a_command_between_the_pieces_of_a_rebuild_leaves_nothing_of_what_it_forgets() -> None:
    forget = submit(Command("ana", 1, "", "", Forget((LARGE.subject_key,), (LARGE.content_hash,))))

    def check(headwater: SmallHeadwater) -> None:
        headwater.accept(forget)
        headwater.projector.project_pending()

    in_a_rebuild(check, run(1), LARGE, expected=[run(1), LARGE, forget])


def test_a_rebuild_loses_no_piece_while_the_graph_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = failing_write(monkeypatch, GraphUnavailable)

    def check(headwater: SmallHeadwater) -> None:
        failing.append(1)
        with contextlib.suppress(Unavailable):
            while headwater.projector.rebuild_step():
                pass
        failing.clear()

    in_a_rebuild(check, LARGE, run(1), expected=[LARGE, run(1)])


def test_a_rebuild_writes_at_once_what_a_graph_refuses_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing = failing_write(monkeypatch, GraphRejected)

    def check(headwater: SmallHeadwater) -> None:
        progress = headwater.projector.progress
        if progress is not None and progress.phase is Phase.TRANSLATING:
            failing.append(1)
            headwater.projector.rebuild_step()
            failing.clear()

    in_a_rebuild(check, LARGE, run(1), expected=[LARGE, run(1)])


def test_another_process_completes_it_and_this_one_leaves_it_alone() -> None:
    def check(headwater: SmallHeadwater) -> None:
        first = headwater.projector
        restart(headwater)
        headwater.project()
        headwater.projector = first
        headwater.accept(run(1))
        headwater.project()
        assert headwater.elements() == elements_of([LARGE, run(1)], stepwise=False)

    at_each_piece(check)


def failing_write(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> list[int]:
    """The graph refuses one write whenever something is in the returned list."""
    write = MemoryGraph.write
    failing: list[int] = []

    def fails_once(of: MemoryGraph, facts: Facts) -> None:
        if failing:
            failing.clear()
            raise error("once")
        write(of, facts)

    monkeypatch.setattr(MemoryGraph, "write", fails_once)
    return failing


def test_while_the_graph_is_away_no_piece_of_it_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = failing_write(monkeypatch, GraphUnavailable)

    def check(headwater: SmallHeadwater) -> None:
        failing.append(1)
        headwater.accept(run(1))
        with pytest.raises(Unavailable):
            headwater.project()
        headwater.project()
        assert headwater.elements() == elements_of([LARGE, run(1)], stepwise=False)

    at_each_piece(check)


def test_a_piece_that_the_graph_refuses_comes_with_the_commit(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = failing_write(monkeypatch, GraphRejected)
    assert write_pieces(headwater, 1)
    failing.append(1)
    headwater.project()
    assert not failing
    assert headwater.elements() == elements_of([LARGE], stepwise=False)


def test_the_note_of_an_earlier_version_is_read() -> None:
    assert read_attempt('[7, "a", "b"]') == Attempt({"a": 7, "b": 7})
    assert read_attempt('{"a": 7, "b": 3}') == Attempt({"a": 7, "b": 3})


def test_each_subject_of_a_note_keeps_its_own_last_document(headwater: SmallHeadwater) -> None:
    assert write_pieces(headwater, 1)
    headwater.accept(run(1, kind="START"))
    headwater.projector.project_pending()
    noted = read_attempt(headwater.journal.get_meta(ATTEMPT_KEY))
    assert noted == Attempt({LARGE.subject_key: 1, run(1).subject_key: 2})
