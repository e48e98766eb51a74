"""Backup and restore: the same journal from every database, into every database."""

from __future__ import annotations

import errno
import gzip
import hashlib
import itertools
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api.console.storage import read_backup, read_lines, write_backup
from graph_model.errors import ConfigurationError, HeadwaterError, InvalidInput
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.projector import EPOCH_KEY, Projector
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentState, Submission, content_hash
from graph_model.stores.journal import Journal
from graph_model.stores.journal.archive import Contents
from graph_model.stores.journal.tables import bodies, documents, receipts
from graph_model.stores.keys import (
    ID_BYTES,
    SECRET_BYTES,
    KeyRequest,
    NewKey,
    SqlKeys,
    checked_key,
    key_lines,
    make_key,
)
from graph_model.values import Role
from tests.contract.databases import EVERY, empty_database
from tests.contract.submissions import a_receipt, a_submission, an_event
from tests.e2e.producer_service import a_plan as a_real_plan
from tests.e2e.producer_service import an_event as a_real_event
from tests.memory_graph import MemoryGraph
from tests.projections import submission

NOW = 1_700_000_000_000
Open = Callable[[str], sa.Engine]


@pytest.fixture
def opened(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens an empty database of a kind; those in a file are one."""
    with ExitStack() as stack:

        def open_one(kind: str) -> sa.Engine:
            engine = open_database(stack.enter_context(empty_database(kind, request)))
            stack.callback(engine.dispose)
            Journal(engine)
            return engine

        yield open_one


def fill(engine: sa.Engine) -> Journal:
    """Every state, two scopes of one body, repeats."""
    journal = Journal(engine)
    journal.accept([a_submission("plan ü \u2028", scope="a")], a_receipt("r1", 1))
    journal.accept([a_submission("plan ü \u2028", scope="b")], a_receipt("r2", 2))
    journal.accept([an_event(str(n)) for n in range(120)], a_receipt("r3", 3))
    journal.accept([an_event("7")], a_receipt("r4", 4))
    journal.acknowledge("r1", "a", a_receipt("r1", 5))
    journal.settle([1, 2], DocumentState.PROJECTED)
    journal.settle([3], DocumentState.WAITING, "its plan")
    journal.settle([4], DocumentState.FAILED, "a reason\nof two lines")
    return journal


def rows_of(engine: sa.Engine) -> dict[str, list[Any]]:
    with engine.connect() as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(sa.select(table).order_by(*table.primary_key))
            ]
            for table in (bodies, documents, receipts)
        }


def back_up(engine: sa.Engine, file: Path) -> Contents:
    return write_backup(engine, file, lambda: NOW, lambda _done, _total: None)


def restore(engine: sa.Engine, file: Path, *, replace: bool = False) -> Contents:
    anew = {EPOCH_KEY: ""}
    return read_backup(engine, file, anew, replace=replace, progress=lambda _done, _total: None)


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(EVERY, 2)))
def test_a_journal_comes_back_row_by_row(
    opened: Open, source: str, target: str, tmp_path: Path
) -> None:
    origin, copy, file = opened(source), opened(target), tmp_path / "b.gz"
    fill(origin)
    contents = back_up(origin, file)
    assert restore(copy, file) == contents == Contents(NOW, 122, 124, 1, 3)
    assert rows_of(copy) == rows_of(origin)
    journal = Journal(copy)
    assert journal.recall("r1", "a") == ()
    assert b'"raw"' not in b"".join(read_lines(file))
    assert journal.verify() == ()
    assert journal.get_meta(EPOCH_KEY) == ""
    # Numbering goes on.
    assert journal.accept([an_event("new")], a_receipt("r9", 9)) == (123,)
    assert journal.accept([an_event("7")], a_receipt("r9", 9)) == (10,)
    assert journal.verify() == ()


def test_a_body_that_is_no_text_comes_back(opened: Open, tmp_path: Path) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    body = b"\xff\x00 no text"
    hashed = content_hash("plan", "1.2", body)
    first = Submission(PLAN_KIND, "1.2", "p", "", "s", hashed, body)
    Journal(origin).accept([first], a_receipt())
    back_up(origin, file)
    restore(copy, file)
    document = Journal(copy).document(1)
    assert document is not None
    assert document.body == body


def test_the_same_projection_comes_of_a_restored_journal(opened: Open, tmp_path: Path) -> None:
    origin, copy, file = opened("file"), opened("server"), tmp_path / "b.gz"
    plan = submission(PLAN_KIND, a_real_plan())
    Journal(origin).accept([plan, submission(EVENT_KIND, a_real_event())], a_receipt("raw"))
    before = projected(origin)
    back_up(origin, file)
    restore(copy, file)
    assert projected(copy) == before


def projected(engine: sa.Engine) -> tuple[str, list[str]]:
    """The digest of the catalogue and the elements of the graph, once all is projected."""
    journal, graph = Journal(engine), MemoryGraph()
    generations = Generations(engine, journal)
    projector = Projector(journal, graph, generations)
    projector.prepare()
    while projector.project_pending():
        pass
    assert journal.summary().pending == 0
    digest = generations.current.digest()
    assert digest != Catalogue(open_database("sqlite://")).digest()
    return digest, sorted(repr(element) for element in graph.scan())


def test_an_empty_journal_is_a_backup_like_any_other(opened: Open, tmp_path: Path) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    assert back_up(origin, file) == restore(copy, file) == Contents(NOW, 0, 0, None, None)


def test_documents_that_come_while_a_backup_runs_are_left_for_the_next(
    opened: Open, tmp_path: Path
) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    journal = fill(origin)
    came: list[int] = []

    def meanwhile(_done: int, _total: int) -> None:
        came.extend(journal.accept([an_event(f"late {len(came)}")], a_receipt("r3", 9)))
        journal.acknowledge("r2", "b", a_receipt("r2", 9))

    write_backup(origin, file, lambda: NOW, meanwhile)
    assert len(came) == 2
    assert restore(copy, file) == Contents(NOW, 122, 124, 1, 3)
    assert Journal(copy).verify() == ()


def test_a_backup_is_for_its_owner_alone_and_leaves_nothing_beside(
    opened: Open, tmp_path: Path
) -> None:
    file = tmp_path / "b.gz"
    (tmp_path / "b.gz.partial").write_text("left by one that was killed")
    back_up(opened("memory"), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["b.gz"]


def test_a_backup_that_fails_leaves_the_one_before(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, file = opened("memory"), tmp_path / "b.gz"
    journal = Journal(engine)
    journal.accept([an_event("a")], a_receipt())
    back_up(engine, file)
    before = file.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HeadwaterError, match="No space left"):
        back_up(engine, file)
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["b.gz"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE journal_bodies SET packed = x'00' WHERE content_hash = '{hash}'", "be inflated"),
        ("UPDATE journal_bodies SET api_version = '1.3' WHERE content_hash = '{hash}'", "hash"),
        ("UPDATE journal_documents SET kind = 'evenu' WHERE position = 2", "hash"),
        ("UPDATE journal_documents SET received_at = x'00' WHERE position = 2", "the time"),
    ],
)
def test_a_backup_goes_on_past_a_damaged_document_and_names_it(
    opened: Open, tmp_path: Path, damage: str, said: str
) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    hurt = an_event("b")
    Journal(origin).accept([an_event("a")], a_receipt("one"))
    Journal(origin).accept([hurt, an_event("c")], a_receipt("several"))
    with origin.begin() as connection:
        connection.exec_driver_sql(damage.format(hash=hurt.content_hash))
    contents = back_up(origin, file)
    assert (contents.documents, contents.receipts) == (2, 2)
    (answer,) = contents.damaged
    assert answer.startswith("document 2 (")
    assert said in answer
    assert restore(copy, file).damaged == contents.damaged
    journal = Journal(copy)
    assert [document.position for document in journal.documents([1, 2, 3])] == [1, 3]
    assert journal.verify() == ()
    # Sent again, it is new, and whole.
    assert journal.recall("several", "") == ()
    (position,) = journal.accept([hurt], a_receipt("again"))
    assert journal.documents([position])[0].body == hurt.body


def test_a_backup_leaves_an_impossible_receipt_out_and_names_it(
    opened: Open, tmp_path: Path
) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    journal = Journal(origin)
    journal.accept([an_event("a")], a_receipt("one"))
    journal.accept([an_event("a")], a_receipt("two"))
    with origin.begin() as connection:
        connection.exec_driver_sql("UPDATE journal_receipts SET received_at = -9 WHERE id = 2")
    assert journal.verify() == ("document 1: the time -9 is none in receipt 2",)
    contents = back_up(origin, file)
    assert (contents.documents, contents.receipts, len(contents.damaged)) == (1, 1, 1)
    assert "receipt 2 of document 1" in contents.damaged[0]
    restore(copy, file)
    assert Journal(copy).verify() == ()


def test_a_place_that_cannot_be_written_is_named(opened: Open, tmp_path: Path) -> None:
    with pytest.raises(HeadwaterError, match=r"nowhere.*No such file"):
        back_up(opened("memory"), tmp_path / "nowhere" / "b.gz")


# --- keys ----------------------------------------------------------------------------------------


def a_key(name: str, number: int) -> NewKey:
    asked = KeyRequest(name, frozenset({Role.READER, Role.PRODUCER}), "east", 60)
    return make_key(asked, bytes([number]) * (ID_BYTES + SECRET_BYTES), NOW + number)


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(EVERY, 2)))
def test_keys_come_back_as_they_were_and_open_the_door_again(
    opened: Open, source: str, target: str, tmp_path: Path
) -> None:
    origin, copy, file = opened(source), opened(target), tmp_path / "b.gz"
    keys, kept, ended = SqlKeys(origin), a_key("jobs", 1), a_key("old", 2)
    for made in (kept, ended):
        keys.add(made.key)
    keys.revoke("old", NOW)
    assert back_up(origin, file).keys == restore(copy, file).keys == 2
    assert SqlKeys(copy).list() == keys.list()
    assert SqlKeys(copy).find(kept.text) == kept.key
    assert SqlKeys(copy).find(ended.text) is None
    text = b"".join(read_lines(file)).decode()
    assert not any(made.text.rpartition("_")[2] in text for made in (kept, ended))


def test_a_key_of_a_backup_of_version_1_is_bounded_by_its_scope() -> None:
    values = next(key_lines_of(a_key("jobs", 1)))["key"]
    del values["any_scope"]
    assert checked_key(values)["any_scope"] == 0


def key_lines_of(made: NewKey) -> Iterator[dict[str, Any]]:
    database = open_database("sqlite://")
    SqlKeys(database).add(made.key)
    with database.connect() as connection:
        yield from key_lines(connection)
    database.dispose()


def test_a_restore_neither_revives_nor_removes_a_key(opened: Open, tmp_path: Path) -> None:
    engine, file = opened("memory"), tmp_path / "b.gz"
    keys = SqlKeys(engine)
    keys.add(a_key("jobs", 1).key)
    back_up(engine, file)
    keys.revoke("jobs", NOW)
    keys.add(a_key("later", 2).key)
    before = keys.list()
    restore(engine, file, replace=True)
    assert keys.list() == before


def test_a_backup_of_the_first_format_without_keys_is_read(opened: Open, tmp_path: Path) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    fill(origin)
    back_up(origin, file)
    begin, *lines, end = [json.loads(line) for line in read_lines(file)]
    texts = [
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for line in (begin | {"format": 1}, *lines)
    ]
    end["end"]["sha256"] = hashlib.sha256(b"".join(texts)).hexdigest()
    file.write_bytes(gzip.compress(b"".join(texts) + json.dumps(end).encode() + b"\n"))
    assert restore(copy, file) == Contents(NOW, 122, 124, 1, 3)
    assert rows_of(copy) == rows_of(origin)


# --- refused -------------------------------------------------------------------------------------


def test_a_journal_that_holds_something_is_left_alone(opened: Open, tmp_path: Path) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    fill(origin)
    back_up(origin, file)
    Journal(copy).accept([an_event("mine")], a_receipt())
    before = rows_of(copy)
    with pytest.raises(ConfigurationError, match="--replace"):
        restore(copy, file)
    assert rows_of(copy) == before
    restore(copy, file, replace=True)
    assert rows_of(copy) == rows_of(origin)


def altered(change: Callable[[list[Any]], None]) -> Callable[[Path], None]:
    """Changes the lines of a backup as they were parsed."""

    def alter(file: Path) -> None:
        lines = [json.loads(line) for line in read_lines(file)]
        change(lines)
        text = "".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
        )
        file.write_bytes(gzip.compress(text.encode()))

    return alter


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def rewrite(file: Path) -> None:
    file.write_text("no backup")


def damage(file: Path) -> None:
    packed = bytearray(file.read_bytes())
    packed[len(packed) // 2] ^= 0xFF
    file.write_bytes(packed)


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        pytest.param(cut, "no whole backup", id="cut"),
        pytest.param(rewrite, "no whole backup", id="text"),
        pytest.param(damage, "backup", id="damaged"),
        pytest.param(altered(lambda lines: lines.pop()), "last line is missing", id="no end"),
        pytest.param(altered(lambda lines: lines.pop(5)), "its content differs", id="one less"),
        pytest.param(altered(lambda lines: lines.pop(0)), "made by headwater", id="no head"),
        pytest.param(altered(lambda lines: lines.append({})), "follows the end", id="more"),
        pytest.param(
            altered(lambda lines: lines[3].update(body="x")), "another hash", id="another body"
        ),
        pytest.param(
            altered(lambda lines: lines[3].update(state="failed")),
            "its content differs",
            id="state",
        ),
        pytest.param(altered(lambda lines: lines.insert(3, lines[5])), "not in order", id="twice"),
        pytest.param(altered(lambda lines: lines[0].update(format=3)), "format is 3", id="newer"),
        pytest.param(altered(lambda lines: lines[3].pop("kind")), "line 4.*no 'kind'", id="field"),
        pytest.param(altered(lambda lines: lines.insert(2, {"x": 1})), "unknown kind", id="odd"),
        pytest.param(altered(lambda lines: lines.insert(2, {"key": {}})), "no 'id'", id="key"),
        pytest.param(altered(lambda lines: lines.insert(2, [])), "damaged", id="list"),
    ],
)
def test_a_backup_that_is_not_whole_is_refused_and_changes_nothing(
    opened: Open, tmp_path: Path, alter: Callable[[Path], None], said: str
) -> None:
    origin, copy, file = opened("file"), opened("memory"), tmp_path / "b.gz"
    fill(origin)
    back_up(origin, file)
    alter(file)
    Journal(copy).accept([an_event("mine")], a_receipt())
    before = rows_of(copy)
    with pytest.raises(InvalidInput, match=said):
        restore(copy, file, replace=True)
    assert rows_of(copy) == before
