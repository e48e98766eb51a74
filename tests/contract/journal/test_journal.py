"""The content of every journal (store.Journal), whatever database is under it."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from api.serving.doctor import _database
from api.settings import read_settings
from graph_model.errors import DamagedDocument, InvalidReference, JournalUnavailable
from graph_model.producers.commands import COMMAND_KIND
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.database import claim_database, open_database, opening, transactions, write
from graph_model.stores.documents import DocumentState, Submission, content_hash
from graph_model.stores.journal import Journal, read_meta
from graph_model.stores.journal.arrivals import Repeat, packed, record
from graph_model.stores.journal.journal import Backlog, JournalSummary
from graph_model.stores.journal.stored_documents import DocumentsSize
from graph_model.stores.journal.tables import bodies, documents
from tests.contract.databases import (
    EVERY,
    empty_database,
    full_scans,
    instructions,
    recorded_plans,
    schema_on,
)
from tests.contract.postgresql import postgresql
from tests.contract.submissions import a_receipt, a_submission, an_event
from tests.projections import budget

WAITING, PENDING = DocumentState.WAITING, DocumentState.PENDING
PROJECTED, FAILED = DocumentState.PROJECTED, DocumentState.FAILED
PLAN, EVENT, COMMAND = PLAN_KIND, EVENT_KIND, COMMAND_KIND


@pytest.fixture
def journal(engine: sa.Engine) -> Journal:
    return Journal(engine)


@pytest.fixture(params=EVERY)
def shared_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with empty_database(request.param, request) as url:
        yield url


@pytest.fixture
def file_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'headwater.db'}"


def stored_bodies(engine: sa.Engine) -> int:
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(bodies)).scalar_one()


def test_it_is_a_journal(journal: Journal) -> None:
    kept: Journal = journal
    assert kept.summary() == JournalSummary(0, 0, 0, 0, 0)


def test_subject_keys_come_in_order_from_the_first_one_behind_another(journal: Journal) -> None:
    keys = ("p-1", "p-3", "p-2", "p-1")
    journal.accept(
        [a_submission(f"{n}", subject_key=key) for n, key in enumerate(keys)], a_receipt()
    )
    assert journal.subject_keys("", 2) == ("p-1", "p-2")
    assert journal.subject_keys("p-2", 2) == ("p-3",)
    assert journal.subject_keys("p-3", 2) == ()


def test_the_newest_documents_of_a_key_come_with_their_bodies_in_one_scope(
    journal: Journal,
) -> None:
    bodies = [a_submission(f"{n}", subject_key="run:r", scope="laptop") for n in range(4)]
    others = [a_submission("a", subject_key="run:r"), a_submission("b", scope="laptop")]
    journal.accept([*bodies, *others], a_receipt("raw"))
    result = journal.newest_documents("run:r", "laptop", 3)
    assert [(item.position, item.body) for item in result] == [
        (n + 1, bodies[n].body) for n in range(1, 4)
    ]
    assert journal.newest_documents("run:other", "laptop", 3) == ()
    subjects = {document.subject for document in result}
    some = journal.newest_of_subjects(subjects, {document.kind for document in result}, 1)
    assert [document.position for document in some] == [6]
    assert journal.newest_of_subjects(subjects, {EVENT_KIND}, 1) == ()


# --- accept --------------------------------------------------------------------------------------


def test_documents_get_positions_in_order_and_come_back_whole(journal: Journal) -> None:
    first = a_submission('{"id": "plan-1"}', scope="laptop", subject="sub_a")
    assert journal.accept([first], a_receipt("raw-1", received_at=5)) == (1,)
    assert journal.accept([an_event("a"), an_event("b")], a_receipt("raw-2")) == (2, 3)

    stored = journal.document(1)
    assert stored is not None
    assert (stored.position, stored.kind, stored.api_version) == (1, PLAN, "1.2")
    assert (stored.subject_key, stored.scope, stored.subject) == ("plan-1", "laptop", "sub_a")
    assert stored.content_hash == first.content_hash
    assert (stored.state, stored.reason, stored.received_at) == (PENDING, None, 5)
    assert (stored.body, stored.size) == (first.body, len(first.body))
    assert journal.document(4) is None


def test_a_repeat_keeps_position_and_state_and_adds_a_receipt(
    journal: Journal, engine: sa.Engine
) -> None:
    journal.accept([a_submission("x")], a_receipt("raw-1", received_at=1))
    journal.settle([1], PROJECTED)
    assert journal.accept([a_submission("x")], a_receipt("raw-2", received_at=2)) == (1,)

    assert journal.states([1]) == {1: PROJECTED}
    assert journal.summary().received == 1
    assert stored_bodies(engine) == 1
    assert journal.receipts(1) == (a_receipt("", 1), a_receipt("", 2))
    document = journal.document(1)
    assert document is not None
    assert document.received_at == 1


def test_repeats_leave_no_gaps_between_positions(journal: Journal) -> None:
    for _ in range(3):
        journal.accept([an_event("a"), an_event("b")], a_receipt())
    assert journal.accept([an_event("b"), an_event("c")], a_receipt()) == (2, 3)


def test_one_body_in_two_scopes_is_two_documents_and_stored_once(
    journal: Journal, engine: sa.Engine
) -> None:
    here, there = a_submission("x", scope="here"), a_submission("x", scope="there")
    assert journal.accept([here, there, here], a_receipt()) == (1, 2, 1)
    assert journal.summary().received == 2
    assert stored_bodies(engine) == 1
    assert len(journal.receipts(1)) == 1


def test_the_same_bytes_as_another_kind_are_another_document(journal: Journal) -> None:
    asked = [a_submission("x"), an_event("x"), a_submission("x", api_version="1.1")]
    assert journal.accept(asked, a_receipt()) == (1, 2, 3)


def test_accepting_nothing_changes_nothing(journal: Journal) -> None:
    assert journal.accept([], a_receipt("raw")) == ()
    assert journal.recall("raw", "") == ()


def test_more_documents_than_one_statement_takes_are_accepted(journal: Journal) -> None:
    asked = [an_event(str(number)) for number in range(1_234)]
    assert journal.accept(asked, a_receipt("raw")) == tuple(range(1, 1_235))
    assert len(journal.recall("raw", "")) == 1_234
    assert len(journal.states(range(1, 2_000))) == 1_234


def test_a_failure_half_way_leaves_nothing_behind(journal: Journal, engine: sa.Engine) -> None:
    def fail(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "journal_receipts" in statement:
            raise RuntimeError("planted")

    event.listen(engine, "before_cursor_execute", fail)
    with pytest.raises(RuntimeError, match="planted"):
        journal.accept([an_event("x")], a_receipt("raw"))
    event.remove(engine, "before_cursor_execute", fail)

    assert journal.summary().received == 0
    assert stored_bodies(engine) == 0
    assert journal.accept([an_event("x")], a_receipt("raw")) != ()


def test_text_that_databases_refuse_is_stored_all_the_same(journal: Journal) -> None:
    odd = a_submission("x", subject_key="plan \ud800 \0 end", scope="sc\udfffope")
    assert journal.accept([odd], a_receipt("raw\0")) == (1,)
    document = journal.document_of("plan \ud800 \0 end", odd.content_hash)
    assert document is not None
    assert document.subject_key == "plan \ufffd \ufffd end"
    assert [item.position for item in journal.recall("raw\0", "sc\udfffope")] == [1]


@budget(40)
@given(body=st.binary(max_size=3_000))
def test_any_bytes_come_back_as_they_were(body: bytes) -> None:
    journal = Journal(open_database("sqlite://"))
    submission = Submission(PLAN, "1.2", "p", "", "s", content_hash(PLAN, "1.2", body), body)
    (position,) = journal.accept([submission], a_receipt())
    document = journal.document(position)
    assert document is not None
    assert document.body == body
    assert journal.verify() == ()
    journal.close()


# --- recall and acknowledge ----------------------------------------------------------------------


def test_bytes_are_recalled_in_their_scope_in_order_without_bodies(journal: Journal) -> None:
    journal.accept([an_event("b", scope="s")], a_receipt("other"))
    journal.accept([an_event("a", scope="s"), an_event("b", scope="s")], a_receipt("raw"))
    recalled = journal.recall("raw", "s")
    assert [document.position for document in recalled] == [2, 1]
    assert [document.body for document in recalled] == [b"", b""]
    assert recalled[0].size == 1
    assert journal.recall("raw", "") == ()
    assert journal.recall("unknown", "s") == ()


def test_bytes_whose_documents_name_several_scopes_are_not_recalled(journal: Journal) -> None:
    # Under another key the unlabelled one of them would belong to another scope.
    journal.accept([an_event("a", scope="s"), an_event("b", scope="t")], a_receipt("raw"))
    assert journal.recall("raw", "s") == ()
    assert journal.recall("raw", "t") == ()


def test_hashes_of_processes_that_ended_are_forgotten_and_documents_stay(
    journal: Journal,
) -> None:
    for raw_hash in ("0f" * 32, "kold-" + "a" * 64, "knew-" + "b" * 64, "knew-" + "c" * 64):
        journal.accept([an_event(raw_hash)], a_receipt(raw_hash))
    assert [journal.forget_bytes("knew-", 1) for _ in range(3)] == [1, 1, 0]
    known = [
        bool(journal.recall(f"{head}-{sign * 64}", ""))
        for head, sign in (("kold", "a"), ("knew", "b"), ("knew", "c"))
    ]
    assert known == [False, True, True]
    assert journal.summary().received == 4


def test_an_empty_raw_hash_is_not_remembered(journal: Journal) -> None:
    journal.accept([an_event("a")], a_receipt(""))
    assert journal.recall("", "") == ()


def test_of_two_readings_of_the_same_bytes_the_last_is_recalled(journal: Journal) -> None:
    journal.accept([an_event("a"), an_event("b")], a_receipt("raw"))
    journal.accept([an_event("c")], a_receipt("raw"))
    assert [document.position for document in journal.recall("raw", "")] == [3]


def test_recalled_documents_equal_those_that_the_journal_lists(journal: Journal) -> None:
    expected: dict[tuple[str, str], tuple[int, ...]] = {}
    for number in range(40):
        scope = "s" if number % 3 else ""
        said = [an_event(f"{number} {part}", scope=scope) for part in range(1 + number % 4 // 3)]
        if number % 5 == 0:
            said.append(an_event("shared", scope=scope))
        expected[str(number), scope] = journal.accept(said, a_receipt(str(number)))
    half = {position for key, item in expected.items() if int(key[0]) % 2 for position in item}
    journal.conclude([(half, DocumentState.PROJECTED, None)])
    for asked in (list(expected), list(reversed(expected))):
        for key in asked:
            recalled = journal.recall(*key)
            assert tuple(item.position for item in recalled) == expected[key]
            for entry in recalled:
                state = DocumentState.PROJECTED if entry.position in half else DocumentState.PENDING
                assert entry == journal.document(entry.position)._replace(body=b"")
                assert entry.state == state
    assert journal.recall("1", "") == journal.recall("39", "s") == ()


def test_recalled_bytes_may_be_taken_as_something_else(journal: Journal) -> None:
    journal.accept([an_event("first")], a_receipt("raw"))
    journal.conclude([((1,), DocumentState.PROJECTED, None)])
    assert [item.position for item in journal.recall("raw", "")] == [1]
    journal.accept([an_event("other")], a_receipt("raw"))
    assert [item.position for item in journal.recall("raw", "")] == [2]


def test_acknowledging_known_bytes_adds_receipts(journal: Journal) -> None:
    journal.accept([an_event("a"), an_event("b")], a_receipt("raw", 1))
    assert journal.acknowledge("raw", "", a_receipt("raw", 2)) is True
    assert [len(journal.receipts(position)) for position in (1, 2)] == [2, 2]


def test_acknowledging_unknown_bytes_does_nothing(journal: Journal) -> None:
    journal.accept([an_event("a", scope="s")], a_receipt("raw", 1))
    assert journal.acknowledge("raw", "", a_receipt("raw", 2)) is False
    assert len(journal.receipts(1)) == 1


# --- plans and states ----------------------------------------------------------------------------


def test_a_plan_gives_its_documents_of_every_scope_by_position_with_bodies(
    journal: Journal,
) -> None:
    journal.accept([an_event("e1", subject_key="p")], a_receipt())
    journal.accept([a_submission("other", subject_key="q")], a_receipt())
    journal.accept([a_submission("p", subject_key="p", scope="s")], a_receipt())
    assert [(item.position, item.scope, item.body) for item in journal.documents_of("p")] == [
        (1, "", b"e1"),
        (3, "s", b"p"),
    ]
    assert journal.documents_of("unknown") == ()
    assert journal.documents_by_key(["p", "unknown"]) == {"p": journal.documents_of("p")}


def test_an_outline_has_the_kinds_asked_for_and_pending_documents(journal: Journal) -> None:
    events = [an_event(f"e{number}") for number in range(4)]
    journal.accept([*events[:2], a_submission("p"), a_submission("p2"), *events[2:]], a_receipt())
    journal.settle([1, 3], PROJECTED)
    journal.settle([5], WAITING)
    assert [item.position for item in journal.documents_of("plan-1")] == [1, 2, 3, 4, 5, 6]
    for kinds, positions in (([PLAN], [2, 3, 4, 6]), ([], [2, 4, 6]), ([EVENT], [1, 2, 4, 5, 6])):
        outline = journal.outline(["plan-1", "unknown"], kinds)
        assert {key: [item.position for item in entry] for key, entry in outline.items()} == {
            "plan-1": positions
        }


def test_a_subject_key_with_many_pending_documents_does_not_hide_the_others(
    journal: Journal,
) -> None:
    many = [an_event(str(number), subject_key="many") for number in range(250)]
    journal.accept(
        [an_event("a", subject_key="a"), *many, an_event("b", subject_key="b")], a_receipt()
    )
    journal.accept(
        [an_event(f"again {number}", subject_key="many") for number in range(5)], a_receipt()
    )
    assert journal.pending(10, COMMAND) == ("a", "many", "b")
    assert journal.pending(2, COMMAND) == ("a", "many")


def test_an_outline_has_at_most_so_many_pending_documents_of_other_kinds(
    journal: Journal,
) -> None:
    events = [an_event(str(number)) for number in range(5)]
    journal.accept([a_submission("p"), *events, an_event("other", subject_key="q")], a_receipt())
    journal.settle([2], PROJECTED)
    for most, result in ((0, 0), (3, 3), (100, 5)):
        outline = journal.outline(["plan-1", "q"], [PLAN], most)
        documents = [entry for some in outline.values() for entry in some]
        assert [item.position for item in documents if item.kind == PLAN] == [1]
        assert (
            sum(document.kind == EVENT and document.state == PENDING for document in documents)
            == result
        )
        assert len(documents) == result + 1


def test_sizes_count_documents_and_bytes_by_subject_key(journal: Journal) -> None:
    journal.accept([a_submission("plan"), an_event("123"), an_event("45678")], a_receipt())
    journal.accept([an_event("other", subject_key="q")], a_receipt())
    asked = ["plan-1", "q", "unknown"]
    assert journal.sizes(asked) == {"plan-1": DocumentsSize(3, 12), "q": DocumentsSize(1, 5)}
    assert journal.sizes(asked, [EVENT]) == {
        "plan-1": DocumentsSize(2, 8),
        "q": DocumentsSize(1, 5),
    }
    assert journal.sizes(["q"], [PLAN]) == {}
    assert journal.sizes([]) == {}


def test_positions_are_told_without_documents_after_a_moment(journal: Journal) -> None:
    journal.accept([a_submission("plan"), *(an_event(str(n)) for n in range(5))], a_receipt())
    journal.settle([4, 5], PROJECTED)
    journal.settle([3], WAITING)
    assert journal.positions_to("plan-1", [EVENT], 2) == (2, 3, 4, 5)
    journal.reopen(states=[PROJECTED, WAITING])
    assert journal.positions_to("plan-1", [EVENT], 2) == (2, 4, 5)
    assert journal.positions_to("plan-1", [EVENT], 3) == (2, 3, 4, 5)
    assert journal.positions_to("plan-1", [PLAN, EVENT], 6) == (1, 2, 3, 4, 5, 6)
    assert journal.positions_to("another", [EVENT], 6) == ()


def test_pending_plans_come_oldest_first_and_once(journal: Journal) -> None:
    for number, subject_key in enumerate(["b", "a", "b", "c"]):
        journal.accept([an_event(str(number), subject_key=subject_key)], a_receipt())
    assert journal.pending(10, COMMAND) == ("b", "a", "c")
    assert journal.pending(2, COMMAND) == ("b", "a")
    assert journal.pending(0, COMMAND) == ()
    journal.settle([1], PROJECTED)
    assert journal.pending(10, COMMAND) == ("a", "b", "c")
    journal.settle([3], WAITING)
    journal.settle([2], FAILED, "no reason")
    assert journal.pending(10, COMMAND) == ("c",)
    journal.accept([a_submission("d", kind=COMMAND, subject_key="d")], a_receipt())
    assert journal.pending(10, COMMAND) == ("d", "c")


def test_a_plan_with_many_pending_documents_hides_no_other(journal: Journal) -> None:
    journal.accept([an_event(str(n), subject_key="busy") for n in range(350)], a_receipt())
    journal.accept([an_event("x", subject_key="quiet")], a_receipt())
    assert journal.pending(2, COMMAND) == ("busy", "quiet")


def test_settling_sets_state_and_reason_and_the_next_one_replaces_both(
    journal: Journal,
) -> None:
    journal.accept([an_event("a"), an_event("b")], a_receipt())
    journal.settle([1, 2, 99], FAILED, "operations.write: expected an object")
    document = journal.document(2)
    assert document is not None
    assert (document.state, document.reason) == (FAILED, "operations.write: expected an object")
    journal.settle([2], PROJECTED)
    document = journal.document(2)
    assert document is not None
    assert (document.state, document.reason) == (PROJECTED, None)
    journal.settle([], FAILED)
    assert journal.states([1, 2, 3]) == {1: FAILED, 2: PROJECTED}


def test_reopening_returns_documents_to_pending_and_counts_them(journal: Journal) -> None:
    journal.accept([an_event(str(n)) for n in range(8)], a_receipt())
    journal.settle([1, 2], FAILED, "why")
    journal.settle([3, 4], PROJECTED)
    journal.settle([5, 6], WAITING)
    assert journal.reopen(states=[FAILED, WAITING, PENDING]) == 4
    assert journal.summary() == JournalSummary(8, 0, 6, 2, 0)
    document = journal.document(2)
    assert document is not None
    assert document.reason is None
    assert document.is_fresh
    assert journal.reopen(states=[PENDING]) == 0
    assert journal.reopen(states=[]) == 0


def test_a_document_that_was_projected_is_not_fresh_when_it_is_reopened(
    journal: Journal,
) -> None:
    journal.accept([an_event(str(n)) for n in range(3)], a_receipt())
    journal.settle([1], PROJECTED, "it was pruned")
    journal.settle([2], FAILED, "why")
    journal.reopen(states=[PROJECTED, FAILED])
    assert [document.is_fresh for document in journal.documents([1, 2, 3, 4])] == [
        False,
        True,
        True,
    ]
    journal.settle([1], PROJECTED)
    assert [document.reason for document in journal.documents([1])] == [None]


def test_the_events_of_a_subject_key_that_no_round_waits_for_are_told_by_position(
    journal: Journal,
) -> None:
    events = [an_event(str(n)) for n in range(6)]
    journal.accept([a_submission("plan"), *events], a_receipt())
    journal.settle([1, 3, 5], PROJECTED)
    journal.settle([6], WAITING)
    journal.settle([7], FAILED, "why")
    subject_key = events[0].subject_key
    assert journal.settled_positions(subject_key, [EVENT]) == (3, 5, 6, 7)
    named = [events[0].content_hash, events[1].content_hash, events[4].content_hash]
    assert journal.settled_positions(subject_key, [EVENT], named) == (3, 6)
    assert journal.settled_positions("another", [EVENT]) == ()
    assert journal.settled_positions(subject_key, [EVENT], []) == ()
    assert journal.settled_positions(subject_key, [PLAN, EVENT], named) == (3, 6)
    hashes = [document.content_hash for document in journal.documents(range(1, 8))]
    assert list(journal.content_hashes(subject_key)) == hashes


def test_reopening_may_begin_at_a_position(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.stores.journal.intake._REOPEN_CHUNK", 3)
    journal.accept([an_event(str(n)) for n in range(10)], a_receipt())
    journal.settle(range(1, 11), PROJECTED)
    assert journal.reopen(states=[PROJECTED], first=11) == 0
    assert journal.reopen(states=[PROJECTED], first=5) == 6
    states = journal.states(range(1, 11))
    assert [n for n, state in states.items() if state == PENDING] == [5, 6, 7, 8, 9, 10]


def test_the_first_unprojected_position_is_the_oldest_pending_one_or_the_next(
    journal: Journal,
) -> None:
    assert (journal.first_unprojected(), journal.newest()) == (1, 0)
    journal.accept([an_event(str(n)) for n in range(4)], a_receipt())
    assert (journal.first_unprojected(), journal.newest()) == (1, 4)
    journal.settle([1, 2, 4], PROJECTED)
    assert journal.first_unprojected() == 3
    journal.settle([3], WAITING)
    assert journal.first_unprojected() == 5
    journal.accept([a_submission("d", kind=COMMAND, subject_key="d")], a_receipt())
    assert journal.first_unprojected() == 5
    assert journal.first_unprojected(besides=COMMAND) == 6


def test_reopening_works_through_a_journal_in_parts(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.stores.journal.intake._REOPEN_CHUNK", 3)
    journal.accept([an_event(str(n)) for n in range(10)], a_receipt())
    journal.settle(range(1, 11), PROJECTED)
    assert journal.reopen(states=[PROJECTED]) == 10
    assert journal.summary().pending == 10


# --- reading -------------------------------------------------------------------------------------


def test_a_document_is_found_by_its_subject_key_and_its_content(journal: Journal) -> None:
    older, newer = (a_submission("a", api_version=version) for version in ("1", "1.2"))
    journal.accept([newer, older], a_receipt())
    journal.accept([a_submission("a", api_version="1", scope="s")], a_receipt())
    result = journal.document_of("plan-1", older.content_hash)
    assert result is not None
    assert (result.position, result.api_version, result.body) == (2, "1", b"a")
    assert journal.document_of("plan-2", older.content_hash) is None
    assert journal.document_of("plan-1", "unknown") is None


def test_entries_come_newest_first_without_bodies(journal: Journal) -> None:
    journal.accept([an_event("a"), a_submission("p")], a_receipt())
    page = journal.entries()
    assert [(entry.position, entry.kind, entry.body) for entry in page.items] == [
        (2, PLAN, b""),
        (1, EVENT, b""),
    ]
    assert (page.total, page.next) == (2, None)


def test_pages_of_entries_neither_repeat_nor_lose_any_while_documents_come(
    journal: Journal,
) -> None:
    journal.accept([an_event(str(n)) for n in range(7)], a_receipt())
    seen: list[int] = []
    cursor: str | None = None
    while True:
        page = journal.entries(limit=3, cursor=cursor)
        seen += [entry.position for entry in page.items]
        cursor = page.next
        if cursor is None or len(seen) > 7:
            break
        journal.accept([an_event(f"later {cursor}")], a_receipt())
    assert seen == [7, 6, 5, 4, 3, 2, 1]


def test_entries_are_filtered_by_state_and_kind_with_their_total(journal: Journal) -> None:
    journal.accept([an_event("a"), a_submission("p"), an_event("b"), an_event("c")], a_receipt())
    journal.settle([1, 2], FAILED, "why")
    failed = journal.entries(state=FAILED, limit=1)
    assert ([entry.position for entry in failed.items], failed.total) == ([2], 2)
    assert failed.items[0].reason == "why"
    events = journal.entries(kind=EVENT)
    assert ([entry.position for entry in events.items], events.total) == ([4, 3, 1], 3)
    both = journal.entries(kind=EVENT, state=FAILED)
    assert ([entry.position for entry in both.items], both.total) == ([1], 1)


@pytest.mark.parametrize("cursor", ["", "x", "MQ", "é", "WyJydW5zIiwxXQ", "W10", "bnVsbA", "=" * 9])
def test_a_cursor_from_elsewhere_is_refused(journal: Journal, cursor: str) -> None:
    with pytest.raises(InvalidReference):
        journal.entries(cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_a_limit_out_of_range_is_refused(journal: Journal, limit: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        journal.entries(limit=limit)


def test_the_summary_counts_distinct_documents(journal: Journal) -> None:
    journal.accept([an_event(str(n)) for n in range(10)], a_receipt())
    journal.accept([an_event(str(n)) for n in range(10)], a_receipt())
    journal.settle([1], WAITING)
    journal.settle([2, 3], PROJECTED)
    journal.settle([4, 5, 6], FAILED)
    assert journal.summary() == JournalSummary(10, waiting=1, pending=4, projected=2, failed=3)


def test_the_summary_follows_documents_that_another_process_takes_settles_and_removes(
    engine: sa.Engine,
) -> None:
    asked, other = Journal(engine), Journal(engine)
    other.accept([a_submission("p"), *(an_event(str(n)) for n in range(5))], a_receipt())
    assert asked.summary() == JournalSummary(6, waiting=0, pending=6, projected=0, failed=0)
    other.settle(range(1, 6), PROJECTED)
    other.accept([an_event("later")], a_receipt())
    assert asked.summary() == JournalSummary(7, waiting=0, pending=2, projected=5, failed=0)
    other.conclude([], dropped=[2, 7])
    assert asked.summary() == JournalSummary(5, waiting=0, pending=1, projected=4, failed=0)
    other.accept([an_event("last")], a_receipt())
    other.settle([6], FAILED)
    assert (
        asked.statistics().documents
        == Journal(engine).statistics().documents
        == {
            (PLAN, PROJECTED): 1,
            (EVENT, PROJECTED): 3,
            (EVENT, FAILED): 1,
            (EVENT, PENDING): 1,
        }
    )


def test_the_backlog_is_as_old_as_the_pending_document_that_came_first(journal: Journal) -> None:
    assert journal.backlog() == Backlog(0, None)
    for number in range(4):
        journal.accept([an_event(str(number))], a_receipt(received_at=100 + number))
    journal.settle([1, 3], PROJECTED)
    assert journal.backlog() == Backlog(2, 101)
    journal.settle([2, 4], FAILED)
    assert journal.backlog() == Backlog(0, None)


def test_a_setting_is_kept_and_replaced(journal: Journal) -> None:
    assert journal.get_meta("epoch") is None
    journal.set_meta("epoch", "1")
    journal.set_meta("epoch", "2")
    journal.set_meta("other", "")
    assert journal.get_meta("epoch") == "2"
    assert journal.get_meta("other") == ""
    of_its_own = {"journal_id": journal.id, "journal_new": "true"}
    assert journal.get_every_meta() == {"epoch": "2", "other": "", **of_its_own}


def test_a_setting_is_replaced_where_it_is_still_the_one_that_was_read(
    journal: Journal,
) -> None:
    assert not journal.replace_meta("rebuild", "none", "wanted")
    assert journal.get_meta("rebuild") is None
    assert journal.replace_meta("rebuild", None, "wanted")
    assert not journal.replace_meta("rebuild", None, "wanted again")
    assert journal.replace_meta("rebuild", "wanted", "first 1")
    assert not journal.replace_meta("rebuild", "wanted", "second 1")
    assert journal.replace_meta("rebuild", "first 1", "first 1")
    assert journal.get_meta("rebuild") == "first 1"


def test_of_threads_that_have_read_one_value_one_replaces_it(journal: Journal) -> None:
    journal.set_meta("rebuild", "none")
    with ThreadPoolExecutor(8) as threads:
        names = [f"process {number}" for number in range(8)]
        replaced = list(
            threads.map(lambda name: journal.replace_meta("rebuild", "none", name), names)
        )
    assert replaced.count(True) == 1
    assert journal.get_meta("rebuild") == names[replaced.index(True)]


def test_a_note_is_read_without_a_journal_being_made(engine: sa.Engine) -> None:
    assert read_meta(engine, "epoch") is None
    assert sa.inspect(engine).get_table_names() == []
    Journal(engine).set_meta("epoch", "1")
    assert (read_meta(engine, "epoch"), read_meta(engine, "other")) == ("1", None)


def test_a_journal_has_an_id_of_its_own_for_ever(engine: sa.Engine) -> None:
    journal = Journal(engine)
    assert len(journal.id) == 32
    assert Journal(engine).id == journal.id
    assert Journal(open_database("sqlite://")).id != journal.id


# --- verify --------------------------------------------------------------------------------------


def test_an_intact_journal_has_nothing_to_report(journal: Journal) -> None:
    journal.accept([an_event(str(n)) for n in range(120)], a_receipt())
    assert journal.verify() == ()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"packed": b"\x78\x9c rubbish"}, "cannot be inflated"),
        ({"packed": zlib.compress(b"another")}, "its content has another hash"),
        ({"api_version": "9"}, "its content has another hash"),
        ({"size": 1_000}, "recorded were 1000"),
    ],
)
def test_a_damaged_body_is_reported(
    journal: Journal, engine: sa.Engine, change: dict[str, object], complaint: str
) -> None:
    damaged = an_event("b")
    journal.accept([an_event("a"), damaged, an_event("c")], a_receipt())
    with engine.begin() as connection:
        connection.execute(
            bodies.update().where(bodies.c.content_hash == damaged.content_hash).values(**change)
        )
    (problem,) = journal.verify()
    assert complaint in problem
    assert damaged.content_hash in problem


def test_a_body_that_cannot_be_inflated_is_an_error_that_names_its_document(
    journal: Journal, engine: sa.Engine
) -> None:
    journal.accept([an_event("a")], a_receipt())
    with engine.begin() as connection:
        connection.execute(bodies.update().values(packed=b"rubbish"))
    with pytest.raises(DamagedDocument, match="document 1 is damaged"):
        journal.document(1)
    (result,) = journal.documents([1])
    assert (result.body, result.damage[:18]) == (b"", "cannot be inflated")


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("DELETE FROM journal_receipts WHERE position = 2", "it has no receipt"),
        ("UPDATE journal_documents SET state = 'odd' WHERE position = 2", "'odd' is unknown"),
        (
            "UPDATE journal_documents SET state = 'failed' WHERE position = 2",
            "failed without a reason",
        ),
        ("UPDATE journal_documents SET kind = 'plan' WHERE position = 2", "its body's event"),
    ],
)
def test_rows_that_contradict_each_other_are_reported(
    journal: Journal, engine: sa.Engine, statement: str, complaint: str
) -> None:
    journal.accept([an_event("a"), an_event("b"), an_event("c")], a_receipt("raw"))
    with engine.begin() as connection:
        connection.exec_driver_sql(statement)
    (problem,) = journal.verify()
    assert problem.startswith("document 2: ")
    assert complaint in problem


def test_rows_without_their_document_are_reported(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([an_event("a"), an_event("b")], a_receipt("raw"))
    journal.close()
    path = str(engine.url.database)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM journal_documents WHERE position = 2")
    connection.close()
    assert journal.verify() == (
        f"body {an_event('b').content_hash}: no document has it",
        "document 2: a receipt names it, but it does not exist",
        "document 2: a record of bytes names it, but it does not exist",
    )
    journal.close()


def test_the_file_itself_is_checked(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([an_event(str(n)) for n in range(50)], a_receipt())
    journal.close()
    path = str(engine.url.database)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'plan_id, kind', 'kind, plan_id')"
            " WHERE name = 'journal_documents_by_plan'"
        )
    connection.close()
    assert any(problem.startswith("the database file: ") for problem in journal.verify())
    journal.close()


def test_a_check_tells_how_far_it_is(journal: Journal) -> None:
    journal.accept([an_event(str(n)) for n in range(120)], a_receipt())
    answer: list[tuple[int, int]] = []
    journal.verify(lambda done, total: answer.append((done, total)))
    assert answer == [(50, 120), (100, 120), (120, 120)]


def test_a_missing_body_is_reported(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([an_event("a"), an_event("b")], a_receipt())
    with engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        first = an_event("a").content_hash
        connection.execute(bodies.delete().where(bodies.c.content_hash == first))
        connection.commit()
    assert journal.verify() == (f"document 1: its body {first} is missing",)
    journal.close()


# --- several writers -----------------------------------------------------------------------------


def test_threads_accept_at_the_same_time(journal: Journal) -> None:
    def accept(worker: int) -> list[int]:
        mine: list[int] = []
        for number in range(25):
            mine += journal.accept([an_event(f"{worker}/{number}")], a_receipt(f"{worker}"))
            journal.accept([an_event(f"shared {number}")], a_receipt())
            journal.summary()
        return mine

    with ThreadPoolExecutor(8) as pool:
        positions = [position for mine in pool.map(accept, range(8)) for position in mine]
    assert len(set(positions)) == 200
    assert journal.summary().received == 225
    assert journal.verify() == ()


def start_writer(url: str, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contract.journal.journal_writer", url, name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def test_two_processes_accept_at_the_same_time(shared_url: str) -> None:
    writers = [start_writer(shared_url, name, 150) for name in ("one", "two")]
    printed = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    positions = {int(position) for lines in printed for position in lines}
    assert len(positions) == 300

    journal = Journal(open_database(shared_url))
    assert set(journal.states(positions)) == positions
    assert journal.verify() == ()
    journal.close()


@pytest.mark.parametrize("seed", range(3))
def test_acknowledged_documents_survive_a_killed_process(shared_url: str, seed: int) -> None:
    writer = start_writer(shared_url, "doomed", 1_000_000)
    assert writer.stdout is not None
    enough = random.Random(seed).randrange(1, 300)
    positions = [int(writer.stdout.readline()) for _ in range(enough)]
    writer.send_signal(signal.SIGKILL)
    # It went on until the signal: lines printed meanwhile count too, except a torn last one.
    rest = writer.stdout.read().splitlines(keepends=True)
    positions += [int(line) for line in rest if line.endswith("\n")]
    writer.stdout.close()
    assert writer.wait() == -signal.SIGKILL

    journal = Journal(open_database(shared_url))
    for number, position in enumerate(positions):
        document = journal.document(position)
        assert document is not None
        assert document.body == f"doomed {number}".encode()
    assert journal.verify() == ()
    assert len(journal.accept([an_event("the next")], a_receipt())) == 1
    journal.close()


def test_everything_is_there_after_a_restart(shared_url: str) -> None:
    journal = Journal(open_database(shared_url))
    journal.accept([a_submission("p"), an_event("e")], a_receipt("raw"))
    journal.settle([2], WAITING, "its plan has not come")
    journal.set_meta("epoch", "7")
    journal.close()
    journal.close()

    again = Journal(open_database(shared_url))
    assert again.summary() == JournalSummary(2, 1, 1, 0, 0)
    assert [document.position for document in again.recall("raw", "")] == [1, 2]
    assert again.get_meta("epoch") == "7"
    again.close()


@pytest.mark.parametrize("seed", range(2))
def test_acknowledged_documents_survive_a_killed_server(seed: int) -> None:
    """PostgreSQL as it is set up by default, its processes ended as by a power cut."""
    with postgresql() as server:
        writer = start_writer(server.url, "doomed", 1_000_000)
        assert writer.stdout is not None
        enough = random.Random(seed).randrange(1, 300)
        positions = [int(writer.stdout.readline()) for _ in range(enough)]
        server.kill()
        rest = writer.stdout.read().splitlines(keepends=True)
        positions += [int(line) for line in rest if line.endswith("\n")]
        writer.stdout.close()
        assert writer.wait() == 1  # it was told that the journal is away

        server.start()
        journal = Journal(open_database(server.url))
        for number, position in enumerate(positions):
            document = journal.document(position)
            assert document is not None
            assert document.body == f"doomed {number}".encode()
        assert journal.verify() == ()
        journal.close()


def test_the_same_documents_from_two_processes_are_stored_once(shared_url: str) -> None:
    writers = [start_writer(shared_url, "same", 150) for _ in range(2)]
    printed = [writer.communicate()[0].split() for writer in writers]
    assert printed[0] == printed[1]
    engine = open_database(shared_url)
    journal = Journal(engine)
    assert journal.summary().received == stored_bodies(engine) == 150
    assert {len(journal.receipts(int(position))) for position in printed[0]} == {2}
    assert journal.verify() == ()
    journal.close()


def test_a_reader_that_remembers_the_last_position_misses_none(shared_url: str) -> None:
    """Documents of several processes become visible in the order of their positions."""
    journal = Journal(open_database(shared_url))
    writers = [start_writer(shared_url, name, 120) for name in ("one", "two", "three")]
    engine = open_database(shared_url)
    seen: list[int] = []

    def look() -> None:
        with engine.connect() as connection:
            asked = sa.select(documents.c.position).where(
                documents.c.position > (seen[-1] if seen else 0)
            )
            seen.extend(connection.execute(asked.order_by(documents.c.position)).scalars())

    while any(writer.poll() is None for writer in writers):
        look()
    look()
    for writer in writers:
        writer.communicate()
    assert len(seen) == journal.summary().received == 360
    engine.dispose()
    journal.close()


def test_threads_share_transactions(shared_url: str) -> None:
    engine = open_database(shared_url)
    journal = Journal(engine)
    commits: list[object] = []
    event.listen(engine, "commit", commits.append)
    with ThreadPoolExecutor(16) as pool:
        accepted = list(
            pool.map(lambda n: journal.accept([an_event(str(n))], a_receipt(str(n))), range(320))
        )
    assert {position for (position,) in accepted} == set(range(1, 321))
    assert len(commits) < 320
    for number, (position,) in enumerate(accepted):
        (recalled,) = journal.recall(str(number), "")
        assert (recalled.position, len(journal.receipts(position))) == (position, 1)
    assert journal.verify() == ()
    journal.close()


def test_repeats_and_first_receipts_in_one_transaction_keep_apart(engine: sa.Engine) -> None:
    Journal(engine)
    old, new = an_event("old"), an_event("new")
    with engine.begin() as connection:
        assert record(connection, [packed((old,), a_receipt("r1", 1))]) == [(1,)]
    with engine.begin() as connection:
        requests = [
            Repeat("", a_receipt("r1", 2)),
            packed((new, old), a_receipt("r2", 3)),
            packed((new,), a_receipt("r3", 4)),
            Repeat("", a_receipt("unknown", 5)),
            packed((new,), a_receipt("r2", 6)),
        ]
        assert record(connection, requests) == [(1,), (2, 1), (2,), (), (2,)]
    journal = Journal(engine)
    assert [receipt.received_at for receipt in journal.receipts(1)] == [1, 2, 3]
    assert [receipt.received_at for receipt in journal.receipts(2)] == [3, 4, 6]
    assert [item.position for item in journal.recall("r2", "")] == [2]
    document = journal.document(2)
    assert document is not None
    assert document.received_at == 3


# --- projecting ----------------------------------------------------------------------------------


def test_one_projector_works_at_a_time(server_url: str) -> None:
    with schema_on(server_url) as url:
        first, other = Journal(open_database(url)), Journal(open_database(url))
        entered = threading.Event()

        def project() -> None:
            with other.projecting():
                entered.set()

        with ThreadPoolExecutor(1) as pool:
            with first.projecting():
                waiting = pool.submit(project)
                await_lock(url)
                assert not entered.is_set()
            waiting.result(60)
        assert entered.is_set()
        first.close()
        other.close()


def test_a_projector_that_waits_too_long_gives_up(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_LOCK_SECONDS", 0.05)
    with schema_on(server_url) as url:
        first, other = Journal(open_database(url)), Journal(open_database(url))
        with first.projecting(), pytest.raises(JournalUnavailable, match="another process"):
            other.projecting().__enter__()
        with other.projecting():
            pass
        first.close()
        other.close()


def await_lock(url: str) -> None:
    """Until a session waits for an advisory lock."""
    engine = open_database(url)
    waiting = sa.text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.execute(waiting).scalar():
            pass
    engine.dispose()


def test_services_share_a_database_or_have_it_alone(server_url: str) -> None:
    engine = open_database(server_url)
    with claim_database(engine, shared=True) as first, claim_database(engine, shared=True) as both:
        assert first
        assert both
        with claim_database(engine, shared=False) as alone:
            assert not alone
    with claim_database(engine, shared=False) as alone:
        assert alone
        with claim_database(engine, shared=True) as beside:
            assert not beside
    engine.dispose()


def test_a_server_s_message_about_its_disk_is_told_plainly(server_url: str) -> None:
    engine = open_database(server_url)

    def fail(connection: sa.Connection) -> None:
        connection.exec_driver_sql("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE='53100'; END $$")

    with pytest.raises(JournalUnavailable, match="disk of the PostgreSQL server is full"):
        write(engine, fail, JournalUnavailable)
    engine.dispose()


def test_the_doctor_asks_the_database(server_url: str) -> None:
    right, wrong = server_url, "postgresql://me:hunter2@127.0.0.1:1/db"
    for url, answers in ((right, True), (wrong, False)):
        (result,) = _database(read_settings({"HEADWATER_DATABASE": url}))
        assert result.right is answers
        assert "hunter2" not in result.text


# --- size ----------------------------------------------------------------------------------------


def test_size_and_age_are_told(journal: Journal) -> None:
    empty = journal.size()
    assert (empty.oldest, empty.newest) == (None, None)
    journal.accept([an_event(random.Random(1).randbytes(400_000).hex())], a_receipt(received_at=5))
    journal.accept([an_event("b")], a_receipt(received_at=9))
    journal.accept([an_event("b")], a_receipt(received_at=12))
    size = journal.size()
    assert (size.oldest, size.newest) == (5, 9)
    assert size.stored_bytes > empty.stored_bytes > 0


# --- failures ------------------------------------------------------------------------------------


def test_a_full_disk_refuses_documents_until_there_is_room_again(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([an_event("small")], a_receipt("raw"))
    room = {"pages": 0}

    def limit_pages(connection: sqlite3.Connection, *_: object) -> None:
        (used,) = connection.execute("PRAGMA page_count").fetchone()
        # A number below the size of the file stands for that size.
        connection.execute(f"PRAGMA max_page_count = {room['pages'] or used}")

    event.listen(engine, "checkout", limit_pages)
    large = an_event(random.Random(1).randbytes(200_000).hex())
    with pytest.raises(JournalUnavailable, match="no space left"):
        journal.accept([an_event("also"), large], a_receipt("raw-2"))
    assert journal.summary().received == 1
    assert journal.recall("raw-2", "") == ()
    assert journal.verify() == ()

    room["pages"] = 1_000_000
    assert len(journal.accept([an_event("also"), large], a_receipt("raw-2"))) == 2
    assert journal.verify() == ()
    journal.close()


def test_a_database_that_another_process_holds_is_unavailable_and_then_works(
    file_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_BUSY_MILLISECONDS", 20)
    engine = open_database(file_url)
    journal = Journal(engine)
    other = sqlite3.connect(str(engine.url.database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(JournalUnavailable, match="locked"):
        journal.accept([an_event("a")], a_receipt())
    assert journal.summary().received == 0  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    assert journal.accept([an_event("a")], a_receipt()) == (1,)
    journal.close()


def test_a_lock_that_passes_is_waited_for(file_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_BUSY_MILLISECONDS", 1)
    engine = open_database(file_url)
    journal = Journal(engine)
    other = sqlite3.connect(str(engine.url.database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    tries: list[str] = []

    def let_go(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement == "BEGIN IMMEDIATE":
            tries.append(statement)
            if len(tries) == 2:
                other.execute("ROLLBACK")

    event.listen(engine, "before_cursor_execute", let_go)
    assert journal.accept([an_event("a")], a_receipt()) == (1,)
    assert len(tries) == 2
    other.close()
    journal.close()


def test_a_damaged_file_is_unavailable_with_a_reason(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([an_event(str(n)) for n in range(500)], a_receipt())
    journal.close()
    path = Path(str(engine.url.database))
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(JournalUnavailable, match="damaged"):
        journal.entries()
    journal.close()


# --- cost ----------------------------------------------------------------------------------------


def test_no_question_walks_the_whole_journal(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([a_submission("p"), an_event("e")], a_receipt("raw"))
    with recorded_plans(engine) as lines:
        journal.pending(10, COMMAND)
        journal.recall("raw", "")
        journal.receipts(1)
        journal.states([1])
        journal.document(1)
        journal.entries(state=PENDING, kind=EVENT)
        journal.entries(kind=EVENT)
        journal.get_meta("x")
        journal.accept([an_event("f")], a_receipt("raw"))
        journal.acknowledge("raw", "", a_receipt())
    text = "\n".join(lines)
    assert full_scans(lines, ("journal_",)) == []
    assert "TEMP B-TREE" not in text
    for index in ("by_state", "by_kind"):
        assert f"journal_documents_{index} (" in text
    journal.close()


def test_statistics_that_were_asked_for_before_do_not_walk_the_journal(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([an_event(str(n)) for n in range(500)], a_receipt())
    journal.settle(range(1, 501), PROJECTED)
    with engine.begin() as connection:
        connection.exec_driver_sql("ANALYZE")
    first = instructions(engine, journal.statistics)
    journal.accept([an_event("late")], a_receipt())
    assert instructions(engine, journal.statistics) < first / 5
    journal.close()


@pytest.mark.parametrize(
    ("ask", "seek"),
    [
        (lambda journal: journal.documents_of("p"), "by_plan (plan_id=?)"),
        (lambda journal: journal.documents_by_key(["p", "q"]), "by_plan (plan_id=?)"),
        (
            lambda journal: journal.settled_positions("p", [EVENT]),
            "by_plan (plan_id=? AND kind=?)",
        ),
        (lambda journal: journal.outline(["p"], [PLAN]), "by_plan (plan_id=? AND kind=?)"),
        (lambda journal: journal.outline(["p"], [PLAN], 5), "by_plan (plan_id=?"),
        (lambda journal: journal.sizes(["p"]), "by_plan (plan_id=?)"),
        (lambda journal: journal.sizes(["p"], [EVENT]), "by_plan (plan_id=? AND kind=?)"),
        (
            lambda journal: journal.positions_to("p", [EVENT], 1),
            "by_plan (plan_id=? AND kind=?)",
        ),
        (
            lambda journal: journal.reopen(states=[FAILED, WAITING]),
            "by_state (state=? AND position>? AND position<?)",
        ),
    ],
)
def test_a_plan_costs_its_own_documents(
    file_url: str, ask: Callable[[Journal], object], seek: str
) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    journal.accept([a_submission("p")], a_receipt())
    with recorded_plans(engine) as lines:
        ask(journal)
    assert any(f"journal_documents_{seek}" in line for line in lines), lines
    assert full_scans(lines, ("journal_",)) == []
    journal.close()


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["accept", "settle", "reopen"]),
            st.integers(0, 12),
            st.sampled_from(list(DocumentState)),
        ),
        max_size=25,
    )
)
def test_the_summary_always_adds_up(steps: list[tuple[str, int, DocumentState]]) -> None:
    engine = open_database("sqlite://")
    journal = Journal(engine)
    expected: dict[str, DocumentState] = {}
    positions: dict[str, int] = {}
    for action, number, state in steps:
        name = str(number)
        if action == "accept":
            (positions[name],) = journal.accept([an_event(name)], a_receipt())
            expected.setdefault(name, PENDING)
        elif action == "settle" and name in positions:
            journal.settle([positions[name]], state)
            expected[name] = state
        elif action == "reopen":
            count = journal.reopen(states=[state])
            changed = [key for key, was in expected.items() if was is state is not PENDING]
            assert count == len(changed)
            expected |= dict.fromkeys(changed, PENDING)
    summary = journal.summary()
    result = list(expected.values())
    assert summary == JournalSummary(len(result), *(result.count(state) for state in DocumentState))
    with engine.connect() as connection:
        stored = connection.execute(sa.select(sa.func.count()).select_from(documents)).scalar_one()
    assert stored == summary.received
    journal.close()
