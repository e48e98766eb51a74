"""Whether documents are taken: the fate of the last one, or of an attempt of the same size."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from graph_model.errors import JournalUnavailable
from graph_model.stores.database import open_database, opening
from graph_model.stores.journal import Journal
from graph_model.stores.journal.arrivals import Packed, Repeat
from graph_model.stores.journal.intake import IntakeCheck, WriteTrial, attempt_at
from tests.contract.submissions import a_receipt, a_submission, an_event


@pytest.fixture
def file_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/journal.db"


@pytest.fixture
def journal(engine: sa.Engine) -> Journal:
    return Journal(engine)


def takes(journal: Journal) -> bool:
    try:
        journal.ensure_taking()
    except JournalUnavailable:
        return False
    return True


def many(count: int) -> list[str]:
    return [f"{number} {os.urandom(300).hex()}" for number in range(count)]


# --- an attempt leaves nothing -------------------------------------------------------------------


def test_an_attempt_leaves_no_document_and_takes_no_position(journal: Journal) -> None:
    journal.accept([an_event("a")], a_receipt("raw"))
    before = journal.summary()
    journal._attempt(WriteTrial())
    assert journal.summary() == before
    assert journal.verify() == ()
    assert max(map(len, journal.get_every_meta().values()), default=0) < 100
    if journal._engine.dialect.name == "sqlite":
        assert journal.accept([an_event("b")], a_receipt()) == (2,)


def test_an_attempt_at_a_refused_document_leaves_nothing_either(journal: Journal) -> None:
    for request in (
        Packed((a_submission("x"),), (b"",), a_receipt("raw")),
        Repeat("", a_receipt("raw")),
    ):
        journal._attempt(attempt_at(request))
    assert journal.summary().received == 0
    assert journal.recall("raw", "") == ()


# --- full, locked, read-only ---------------------------------------------------------------------


@contextmanager
def no_room(engine: sa.Engine, spare: int = 0) -> Iterator[None]:
    """The file may not grow by more than ``spare`` pages."""
    with engine.connect() as connection:
        used = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {used + spare}")

    def lift(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute("PRAGMA max_page_count = 1000000")

    event.listen(engine, "checkout", limit)
    yield
    event.remove(engine, "checkout", limit)
    event.listen(engine, "checkout", lift)


def test_a_full_disk_is_seen_before_a_document_is_refused(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    with no_room(engine):
        assert not takes(journal)
        with pytest.raises(JournalUnavailable, match="no space left"):
            journal.ensure_taking()
    assert takes(journal)
    journal.close()


def test_a_refusal_counts_until_there_is_room_for_the_refused_document(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    large = an_event(random.Random(1).randbytes(300_000).hex())
    with no_room(engine, spare=40):  # enough for the attempt of one that nobody sent
        assert takes(journal)
        with pytest.raises(JournalUnavailable):
            journal.accept([large], a_receipt())
        assert not takes(journal)
        assert not takes(journal)
    assert takes(journal)
    journal.close()


def test_a_document_that_passes_ends_a_refusal(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)
    large = an_event(random.Random(1).randbytes(300_000).hex())
    with no_room(engine, spare=40):
        with pytest.raises(JournalUnavailable):
            journal.accept([large], a_receipt())
        journal.accept([an_event("small")], a_receipt())
        assert takes(journal)
    journal.close()


def test_a_database_that_another_process_holds_takes_nothing(
    file_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_BUSY_MILLISECONDS", 20)
    engine = open_database(file_url)
    journal = Journal(engine)
    other = sqlite3.connect(str(engine.url.database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not takes(journal)
    other.execute("ROLLBACK")
    other.close()
    assert takes(journal)
    journal.close()


def test_a_file_that_may_not_be_written_takes_nothing(file_url: str) -> None:
    engine = open_database(file_url)
    journal = Journal(engine)

    def forbid(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute("PRAGMA query_only = ON")

    event.listen(engine, "checkout", forbid)
    assert not takes(journal)
    journal.close()


def set_read_only(url: str, word: str) -> None:
    """As an administrator, or a failover, makes a database read-only: for new connections."""
    engine = open_database(url)
    with engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("SET TRANSACTION READ WRITE")
        name = connection.exec_driver_sql("SELECT current_database()").scalar_one()
        connection.exec_driver_sql(
            f'ALTER DATABASE "{name}" SET default_transaction_read_only = {word}'
        )
    engine.dispose()


def test_a_server_that_is_read_only_takes_nothing(server_url: str) -> None:
    engine = open_database(server_url)
    journal = Journal(engine)
    assert takes(journal)
    set_read_only(server_url, "on")
    engine.dispose()
    with pytest.raises(JournalUnavailable, match="read-only"):
        journal.accept([an_event("a")], a_receipt())
    assert not takes(journal)
    set_read_only(server_url, "off")
    engine.dispose()
    assert takes(journal)
    journal.close()


# --- damage --------------------------------------------------------------------------------------

DAMAGED = [
    "journal_bodies",
    "journal_documents",
    "journal_receipts",
    "journal_raw",
    "journal_documents_by_state",
    "journal_documents_by_plan",
    "journal_receipts_by_position",
]


def damage(path: Path, name: str) -> None:
    """Overwrite the first page of a table or an index."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * size)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_page_that_documents_need_is_seen_before_one_is_refused(
    file_url: str, tmp_path: Path, name: str
) -> None:
    engine = open_database(file_url)
    Journal(engine).accept([an_event(text) for text in many(300)], a_receipt("raw"))
    engine.dispose()
    damage(tmp_path / "journal.db", name)
    journal = Journal(open_database(file_url))
    assert not takes(journal)
    journal.close()


def leaves(path: Path, name: str) -> list[int]:
    """The pages below the first one of a table with two levels: children of its interior page."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    page = path.read_bytes()[(root - 1) * size : root * size]
    cells = [
        int.from_bytes(page[12 + 2 * n : 14 + 2 * n]) for n in range(int.from_bytes(page[3:5]))
    ]
    children = [int.from_bytes(page[at : at + 4]) for at in cells]
    return [*children, int.from_bytes(page[8:12])]


def test_a_document_that_a_damaged_page_refused_is_tried_again_until_one_passes(
    file_url: str, tmp_path: Path
) -> None:
    engine = open_database(file_url)
    Journal(engine).accept([an_event(text) for text in many(3_000)], a_receipt("raw"))
    engine.dispose()
    path = tmp_path / "journal.db"
    index = "sqlite_autoindex_journal_bodies_1"
    for page in leaves(path, index)[::2]:  # half of all hashes
        with path.open("r+b") as file:
            file.seek((page - 1) * 4096)
            file.write(b"\xa5" * 4096)
    journal = Journal(open_database(file_url))
    seen = {True: 0, False: 0}
    for text in many(40):
        try:
            journal.accept([an_event(text)], a_receipt())
            passed = True
        except JournalUnavailable:
            passed = False
        seen[passed] += 1
        assert passed or not (takes(journal) or takes(journal))
    assert min(seen.values()) > 5
    journal.close()


def test_bytes_that_cannot_be_looked_up_are_a_refusal(file_url: str, tmp_path: Path) -> None:
    engine = open_database(file_url)
    Journal(engine).accept([an_event("a")], a_receipt("raw"))
    engine.dispose()
    damage(tmp_path / "journal.db", "journal_raw")
    journal = Journal(open_database(file_url))
    with pytest.raises(JournalUnavailable):
        journal.recall("raw", "")
    assert not takes(journal)
    journal.close()


# --- how often -----------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_while_attempts_succeed_there_is_one_a_second() -> None:
    clock, attempts = Clock(), list[WriteTrial]()
    check = IntakeCheck(attempts.append, clock)
    for now in (0.0, 0.5, 1.5, 2.0):
        clock.now = now
        check.check()
    assert len(attempts) == 2


def test_after_a_refusal_every_question_tries_again() -> None:
    attempts = list[WriteTrial]()

    def fail(attempt: WriteTrial) -> None:
        attempts.append(attempt)
        raise JournalUnavailable("full")

    check = IntakeCheck(fail, Clock())
    for _ in range(3):
        with pytest.raises(JournalUnavailable, match="full"):
            check.check()
    assert len(attempts) == 3
    check = IntakeCheck(attempts.append, Clock())
    check.refused(Repeat("", a_receipt("raw")), JournalUnavailable("full"))
    check.check()
    assert attempts[-1].request == Repeat("", a_receipt("raw"))


def test_a_document_that_passes_while_another_is_tried_again_stops_no_check() -> None:
    class Overtaken(IntakeCheck):
        """Another thread's document passes right after the refusal was read."""

        known: tuple[WriteTrial, JournalUnavailable] | None

        @property
        def _refused(self) -> tuple[WriteTrial, JournalUnavailable] | None:
            known, self.known = self.known, None
            return known

        @_refused.setter
        def _refused(self, refused: tuple[WriteTrial, JournalUnavailable] | None) -> None:
            self.known = refused

    attempts = list[WriteTrial]()
    check = Overtaken(attempts.append, Clock())
    check.refused(Repeat("", a_receipt("raw")), JournalUnavailable("full"))
    check._try()
    assert attempts[-1].request == Repeat("", a_receipt("raw"))


def test_of_a_very_large_request_the_room_alone_is_tried_again() -> None:
    small = Packed((a_submission("x"),), (b"x" * 100_000,), a_receipt())
    large = Packed((a_submission("x"),), (b"x" * 20_000_000,), a_receipt())
    assert attempt_at(small) == WriteTrial(small, 100_000)
    assert attempt_at(large).request is None
    assert attempt_at(large).size == 1 << 20
