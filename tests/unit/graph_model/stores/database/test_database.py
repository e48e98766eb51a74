"""Opening databases, versions of tables, and the look of a failure from outside."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from zlib import compress

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql

from graph_model.errors import ConfigurationError, JournalUnavailable, Unavailable
from graph_model.producers.spline.documents import EVENT_KIND
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import (
    GroupCommit,
    StoredText,
    chunks,
    insert_new,
    open_database,
    opening,
    prepare,
    read,
    shown,
    transactions,
    write,
)
from graph_model.stores.database.statements import translated
from graph_model.stores.documents import Receipt, make_submission
from graph_model.stores.journal import Journal
from graph_model.values import storable

metadata = sa.MetaData()
things = sa.Table("things", metadata, sa.Column("name", StoredText(), primary_key=True))


def pragma(engine: sa.Engine, name: str) -> object:
    with read(engine, Unavailable) as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def add(engine: sa.Engine, *names: str) -> None:
    def work(connection: sa.Connection) -> None:
        connection.execute(insert_new(connection, things), [{"name": name} for name in names])

    write(engine, work, Unavailable)


def count(engine: sa.Engine) -> object:
    with read(engine, Unavailable) as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(things)).scalar()


# --- opening -------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_text", [True, False])
def test_a_path_is_a_file_whose_folder_is_made(tmp_path: Path, as_text: bool) -> None:
    path = tmp_path / "new" / "data" / "headwater.db"
    engine = open_database(str(path) if as_text else path)
    prepare(engine, "things", 1, metadata)
    assert path.exists()
    engine.dispose()


def test_every_connection_syncs_each_commit_to_disk(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    with engine.connect(), engine.connect():  # a second connection, set up like the first
        assert pragma(engine, "journal_mode") == "wal"
        assert pragma(engine, "synchronous") == 2
        assert pragma(engine, "foreign_keys") == 1
        assert pragma(engine, "busy_timeout") == 3_000
    engine.dispose()


def test_opening_touches_no_file_yet(tmp_path: Path) -> None:
    open_database(tmp_path / "headwater.db").dispose()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["nonsense://x", "://", "sqlite+nothing:///x"])
def test_a_url_that_means_nothing_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigurationError):
        open_database(url)


def test_a_folder_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="folder"):
        open_database(tmp_path / "file" / "headwater.db")


def test_a_password_is_never_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_database("nonsense://me:hunter2@host/db")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgres://me:hunter2@h/db", "postgresql+psycopg://me:***@h/db"),
        (
            "postgresql://me@h/db?password=hunter2",
            "postgresql+psycopg://me@h/db?password=%2A%2A%2A",
        ),
    ],
)
def test_the_url_that_a_person_sees_holds_no_password(url: str, expected: str) -> None:
    engine = open_database(url)
    assert shown(engine.url).startswith(expected)
    assert "hunter2" not in shown(engine.url)


def test_a_server_that_does_not_answer_is_a_configuration_error_without_its_password() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(ConfigurationError, match="does not answer") as caught:
            Journal(open_database(f"postgresql://me:hunter2@127.0.0.1:{port}/db"))
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_no_database_is_a_configuration_error(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    path.write_text("certainly not a database, whatever its name says" * 100)
    with pytest.raises(ConfigurationError, match="no SQLite database"):
        Journal(open_database(path))


def test_a_database_in_memory_is_shared_by_threads() -> None:
    engine = open_database("sqlite://")
    prepare(engine, "things", 1, metadata)

    def work(worker: int) -> None:
        for number in range(20):
            add(engine, f"{worker}/{number}", "shared")
            count(engine)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert count(engine) == 121
    engine.dispose()


# --- versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("component", "open_it"), [("journal", Journal), ("catalogue", Catalogue)])
def test_tables_of_a_newer_version_are_left_alone(
    tmp_path: Path, component: str, open_it: type[Journal] | type[Catalogue]
) -> None:
    engine = open_database(tmp_path / "headwater.db")
    open_it(engine)
    open_it(engine)  # the same version is fine
    with engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE headwater_schema SET version = 99 WHERE component = '{component}'"
        )
    with pytest.raises(ConfigurationError, match=r"version 99.*start the newer.*backup"):
        open_it(engine)
    engine.dispose()


def test_an_older_journal_is_read_as_it_is_and_closed_to_the_headwater_that_wrote_it(
    tmp_path: Path,
) -> None:
    engine = open_database(tmp_path / "headwater.db")
    body = b'{"written":"by an older one"}'
    old = make_submission(EVENT_KIND, "1.2", "p", "", body)
    Journal(engine).accept([old], Receipt(0, "", "test", "raw"))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE journal_bodies SET packed = :p"), {"p": compress(body)})
        connection.exec_driver_sql("UPDATE headwater_schema SET version = 1")
    newer = Journal(engine)
    new = make_submission(EVENT_KIND, "1.2", "p", "", b'{"written":"by this one"}')
    newer.accept([new], Receipt(1, "", "test", "raw 2"))
    assert [item.body for item in newer.documents_of("p")] == [old.body, new.body]
    assert newer.verify() == ()
    with engine.connect() as connection:
        asked = "SELECT version FROM headwater_schema WHERE component = 'journal'"
        assert connection.exec_driver_sql(asked).scalar() == 2
    engine.dispose()


def test_journal_and_catalogue_live_in_one_file(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    Journal(engine)
    Catalogue(engine)
    names = sa.inspect(engine).get_table_names()
    assert {name.split("_")[0] for name in names} == {"headwater", "journal", "catalogue"}
    engine.dispose()


def test_processes_that_start_together_make_the_tables_once(tmp_path: Path) -> None:
    program = (
        "import sys; from graph_model.stores.database import open_database;"
        "from graph_model.stores.journal import Journal; Journal(open_database(sys.argv[1]))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "headwater.db")]
    root = Path(__file__).parents[5]
    processes = [subprocess.Popen(command, cwd=root) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]


# --- transactions --------------------------------------------------------------------------------


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    prepare(engine, "things", 1, metadata)

    def work(connection: sa.Connection) -> None:
        connection.execute(things.insert(), {"name": "x"})
        raise RuntimeError("planted")

    with pytest.raises(RuntimeError, match="planted"):
        write(engine, work, Unavailable)
    assert count(engine) == 0
    add(engine, "y")
    assert count(engine) == 1
    engine.dispose()


def test_a_broken_constraint_is_a_bug_and_not_a_bad_time(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    prepare(engine, "things", 1, metadata)
    add(engine, "x", "x")
    with pytest.raises(sa.exc.IntegrityError):
        write(engine, lambda c: c.execute(things.insert(), {"name": "x"}), Unavailable)
    engine.dispose()


def test_a_read_only_database_is_unavailable_with_a_plain_reason(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    engine = open_database(path)
    prepare(engine, "things", 1, metadata)
    engine.dispose()
    engine = open_database(f"sqlite:///file:{path}?mode=ro&uri=true")
    with pytest.raises(JournalUnavailable, match="read-only"):
        write(engine, lambda c: c.execute(things.insert(), {"name": "x"}), JournalUnavailable)
    engine.dispose()


@pytest.mark.parametrize("code", ["FULL", "IOERR_WRITE", "IOERR_SHMSIZE"])
def test_a_disk_without_room_is_told_with_what_to_do(code: str) -> None:
    """SHMSIZE: of the file that processes share, the first to grow at a start on a full disk."""
    original = sqlite3.OperationalError("disk I/O error")
    original.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}")
    error = translated(sa.exc.OperationalError("", {}, original), JournalUnavailable)
    assert isinstance(error, JournalUnavailable)
    assert error.reason.startswith("no space left for the database: free space on its disk, ")


def test_a_writer_that_holds_its_turn_for_too_long_makes_others_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_TURN_SECONDS", 0.01)
    engine = open_database(tmp_path / "headwater.db")
    prepare(engine, "things", 1, metadata)

    def work(_connection: sa.Connection) -> None:
        with ThreadPoolExecutor(1) as pool, pytest.raises(Unavailable, match="another writer"):
            pool.submit(add, engine, "x").result()

    write(engine, work, Unavailable)
    add(engine, "y")
    assert count(engine) == 1
    engine.dispose()


def test_a_pool_without_a_free_connection_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_POOL_SECONDS", 0.01)
    engine = open_database("sqlite://")
    with engine.connect(), pytest.raises(Unavailable, match="no connection became free"):
        count(engine)
    engine.dispose()


def test_reading_sees_one_state_while_others_write(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    prepare(engine, "things", 1, metadata)
    with read(engine, Unavailable) as connection:
        asked = sa.select(sa.func.count()).select_from(things)
        assert connection.execute(asked).scalar() == 0
        add(engine, "x")
        assert connection.execute(asked).scalar() == 0
    assert count(engine) == 1
    engine.dispose()


# --- several requests, one commit ----------------------------------------------------------------


class Held:
    """Work on ``things`` that waits in its first transaction until it is let go."""

    def __init__(self, engine: sa.Engine, **options: int) -> None:
        self.batches: list[list[str]] = []
        self.entered, self.let_go = threading.Event(), threading.Event()
        self.group = GroupCommit(engine, self.work, JournalUnavailable, **options)

    def work(self, connection: sa.Connection, names: Sequence[str]) -> list[str]:
        self.batches.append(list(names))
        self.entered.set()
        assert self.let_go.wait(60)
        if "bad" in names:
            raise RuntimeError("planted")
        connection.execute(insert_new(connection, things), [{"name": name} for name in names])
        return [name.upper() for name in names]

    def queue(self, pool: ThreadPoolExecutor, *names: str) -> list[Future[str]]:
        """The first leads and is held; the others wait behind it."""
        asked = [pool.submit(self.group.run, names[0])]
        assert self.entered.wait(60)
        asked += [pool.submit(self.group.run, name) for name in names[1:]]
        while len(self.group._waiting) < len(names) - 1:
            time.sleep(0.001)
        self.let_go.set()
        return asked


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = open_database(tmp_path / "headwater.db")
    prepare(engine, "things", 1, metadata)
    yield engine
    engine.dispose()


def test_requests_that_wait_share_one_transaction_and_each_gets_its_own_result(
    engine: sa.Engine,
) -> None:
    held = Held(engine)
    with ThreadPoolExecutor(8) as pool:
        asked = held.queue(pool, *"abcdefg")
        assert [future.result() for future in asked] == list("ABCDEFG")
    assert [len(batch) for batch in held.batches] == [1, 6]
    assert count(engine) == 7


def test_a_transaction_takes_a_bounded_number_of_requests(engine: sa.Engine) -> None:
    held = Held(engine, most=3)
    with ThreadPoolExecutor(8) as pool:
        assert len({future.result() for future in held.queue(pool, *"abcdefgh")}) == 8
    assert [len(batch) for batch in held.batches] == [1, 3, 3, 1]


def test_a_request_that_fails_fails_alone(engine: sa.Engine) -> None:
    held = Held(engine)
    with ThreadPoolExecutor(8) as pool:
        asked = held.queue(pool, "a", "b", "bad", "c")
        assert [asked[place].result() for place in (0, 1, 3)] == ["A", "B", "C"]
        with pytest.raises(RuntimeError, match="planted"):
            asked[2].result()
    assert count(engine) == 3
    assert held.group.run("d") == "D"


def test_a_database_that_is_busy_fails_all_that_wait_at_once(
    engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(engine)
    tries: list[int] = []

    def busy(_engine: object, work: Callable[[sa.Connection], object], error: object) -> object:
        tries.append(1)
        if len(tries) == 1:
            return write(engine, work, JournalUnavailable)
        raise JournalUnavailable("the database is busy")

    monkeypatch.setattr(transactions, "write", busy)
    with ThreadPoolExecutor(8) as pool:
        asked = held.queue(pool, *"abcde")
        assert asked[0].result() == "A"
        for future in asked[1:]:
            with pytest.raises(JournalUnavailable, match="busy"):
                future.result()
    assert len(tries) == 2


def test_a_write_that_waits_too_long_is_told_so_and_nothing_of_it_is_written(
    engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_GROUP_SECONDS", 0.01)
    held = Held(engine)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(held.group.run, "a")
        assert held.entered.wait(60)
        with pytest.raises(JournalUnavailable, match="too many requests wait"):
            held.group.run("b")
        held.let_go.set()
        assert first.result() == "A"
    assert held.batches == [["a"]]


def test_an_interrupt_of_the_leader_leaves_nobody_waiting(engine: sa.Engine) -> None:
    class Interrupted(Held):
        def work(self, connection: sa.Connection, names: Sequence[str]) -> list[str]:
            done = super().work(connection, names)
            if len(self.batches) == 2:
                raise KeyboardInterrupt
            return done

    held = Interrupted(engine)
    with ThreadPoolExecutor(4) as pool:
        asked = held.queue(pool, *"abc")
        assert asked[0].result() == "A"
        errors = {type(future.exception(30)) for future in asked[1:]}
    assert errors == {KeyboardInterrupt, JournalUnavailable}
    assert held.group.run("d") == "D"
    assert count(engine) == 2


# --- small parts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain", "plain"),
        ("Straße 😀", "Straße 😀"),
        ("a\0b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("\udfff\0é", "\ufffd\ufffdé"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_text_is_made_storable(text: str, stored: str) -> None:
    assert storable(text) == stored


@given(st.text(st.characters(codec=None), max_size=20))
def test_every_text_becomes_one_that_databases_take(text: str) -> None:
    stored = storable(text)
    assert "\0" not in stored
    assert stored.encode().decode() == stored
    assert storable(stored) == stored
    connection = sqlite3.connect(":memory:")
    assert connection.execute("SELECT ?", (stored,)).fetchone() == (stored,)
    connection.close()


@pytest.mark.parametrize(
    ("size", "expected"), [(2, [[1, 2], [3]]), (3, [[1, 2, 3]]), (5, [[1, 2, 3]])]
)
def test_values_come_in_chunks(size: int, expected: list[list[int]]) -> None:
    assert [list(chunk) for chunk in chunks(iter([1, 2, 3]), size)] == expected
    assert list(chunks([])) == []


def test_on_postgresql_text_is_compared_by_code_point() -> None:
    statement = sa.schema.CreateTable(things).compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]
    assert 'COLLATE "C" NOT NULL' in str(statement)
