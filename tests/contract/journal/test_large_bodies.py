"""Large bodies in S3 (moto): durable before their rows, once, removed with the last row, never
lost.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api.console.storage import read_backup, write_backup
from graph_model.errors import ConfigurationError, JournalUnavailable
from graph_model.stores.aws import LargeBodies, S3Bodies, open_bodies
from graph_model.stores.database import open_database
from graph_model.stores.documents import Submission
from graph_model.stores.journal import Journal
from graph_model.stores.journal.stored_bodies import MARK, keep_large
from graph_model.stores.journal.tables import bodies
from pipeline.journal import read_rows
from tests.aws import Aws, moto_server
from tests.contract.submissions import a_receipt, a_submission

ABOVE = 2_000


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with moto_server() as server:
        yield server


@pytest.fixture
def store(aws: Aws) -> S3Bodies:
    return open_bodies(f"s3://{aws.bucket()}/bodies", client=aws.client("s3"))


@pytest.fixture
def kept(engine: sa.Engine, store: S3Bodies) -> sa.Engine:
    keep_large(engine, LargeBodies(store, ABOVE))
    return engine


def large(name: str, **more: Any) -> Submission:
    """A document that no compression makes small."""
    text = random.Random(name).randbytes(3 * ABOVE).hex()
    return a_submission(f'{{"id":"{name}","text":"{text}"}}', subject_key=name, **more)


def small(name: str) -> Submission:
    return a_submission(f'{{"id":"{name}"}}', subject_key=name)


def names_of(store: S3Bodies) -> set[str]:
    return {name for name in store.names(0) if not name.startswith("journal-")}


def rows_of(engine: sa.Engine) -> dict[str, bytes]:
    with engine.connect() as connection:
        return {row.content_hash: row.packed for row in connection.execute(sa.select(bodies))}


def test_a_large_body_lies_in_the_store_and_a_small_one_in_the_database(
    kept: sa.Engine, store: S3Bodies
) -> None:
    journal = Journal(kept)
    first, other = large("large"), small("small")
    positions = journal.accept([first, other], a_receipt())
    assert names_of(store) == {first.content_hash}
    rows = rows_of(kept)
    assert rows[first.content_hash] == MARK
    assert rows[other.content_hash] != MARK
    assert [document.body for document in journal.documents(positions)] == [first.body, other.body]
    assert journal.documents_of("large")[0].body == first.body
    assert journal.verify() == ()


def test_a_repeat_is_known_and_puts_nothing_else(kept: sa.Engine, store: S3Bodies) -> None:
    journal = Journal(kept)
    (first,) = journal.accept([large("x")], a_receipt())
    (second,) = journal.accept([large("x")], a_receipt())
    (third,) = journal.accept([large("x", scope="other")], a_receipt())
    assert first == second != third
    assert len(names_of(store)) == 1


def test_the_body_goes_with_the_last_document_that_has_it(kept: sa.Engine, store: S3Bodies) -> None:
    journal = Journal(kept)
    (first,) = journal.accept([large("x")], a_receipt())
    (second,) = journal.accept([large("x", scope="other")], a_receipt())
    journal.conclude((), [first])
    assert len(names_of(store)) == 1
    journal.conclude((), [second])
    assert names_of(store) == set()
    assert rows_of(kept) == {}
    assert journal.verify() == ()


def test_an_object_that_is_gone_is_damage_of_its_document_alone(
    kept: sa.Engine, store: S3Bodies
) -> None:
    journal = Journal(kept)
    positions = journal.accept([large("x"), large("y")], a_receipt())
    store.remove([large("x").content_hash])
    damaged, whole = journal.documents(positions)
    assert damaged.damage == "is missing"
    assert whole.body == large("y").body
    assert any("missing in the store" in line for line in journal.verify())


def test_an_object_in_the_place_of_another_is_damage(kept: sa.Engine, store: S3Bodies) -> None:
    journal = Journal(kept)
    (position,) = journal.accept([large("x")], a_receipt())
    name, other = large("x").content_hash, store.get(large("x").content_hash)
    assert other is not None
    store.remove([name])
    store.put(name, b"rubbish" + other)
    assert "cannot be inflated" in journal.documents([position])[0].damage


def test_a_put_does_not_replace_an_existing_object(store: S3Bodies) -> None:
    store.put("abc", b"first")
    store.put("abc", b"second")
    assert store.get("abc") == b"first"
    assert store.get("abd") is None


class Gate:
    """A call that stops here until it may go on."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._goes_on = threading.Event()

    def __call__(self) -> None:
        self._reached.set()
        assert self._goes_on.wait(60)

    def open(self) -> None:
        self._goes_on.set()

    def await_call(self) -> None:
        assert self._reached.wait(60)


class Failing(S3Bodies):
    """A store whose next calls fail, or that does something once, before or after one of them."""

    failing = False
    failing_removals = False
    removals = 0
    before_removal: Any = None
    before_rows: Any = None
    after_removal: Any = None

    def put(self, name: str, packed: bytes) -> None:
        if self.failing:
            raise JournalUnavailable("the store of large bodies does not answer")
        super().put(name, packed)
        if not name.startswith("journal-"):
            self._run_once("before_rows")

    def remove(self, names: Collection[str]) -> None:
        self.removals += 1
        self._run_once("before_removal")
        if self.failing or self.failing_removals:
            raise JournalUnavailable("the store of large bodies removes nothing")
        super().remove(names)
        self._run_once("after_removal")

    def _run_once(self, name: str) -> None:
        run = getattr(self, name)
        setattr(self, name, None)
        if run is not None:
            run()


@pytest.fixture
def failing(aws: Aws, engine: sa.Engine) -> Failing:
    bucket = aws.bucket()
    made = Failing(f"s3://{bucket}", bucket, "", aws.client("s3"), "")
    keep_large(engine, LargeBodies(made, ABOVE))
    return made


def test_without_the_store_large_documents_are_refused_and_small_ones_taken(
    engine: sa.Engine, failing: Failing
) -> None:
    journal = Journal(engine)
    failing.failing = True
    with pytest.raises(JournalUnavailable, match="store of large bodies"):
        journal.accept([large("x")], a_receipt())
    journal.accept([small("y")], a_receipt())
    journal.ensure_taking()
    assert journal.summary().received == 1


def test_a_body_outlives_its_row_while_the_store_is_away_and_goes_then(
    engine: sa.Engine, failing: Failing
) -> None:
    seconds = [0.0]
    journal = Journal(engine, clock=lambda: seconds[0])
    (position,) = journal.accept([large("x")], a_receipt())
    failing.failing = True
    journal.conclude((), [position])
    assert journal.documents([position]) == ()
    assert len(names_of(failing)) == 1
    failing.failing = False
    seconds[0] = 60.0
    journal.tidy()
    assert names_of(failing) == set()


def test_a_store_that_is_away_is_asked_less_and_less_often_and_logged_once(
    engine: sa.Engine, failing: Failing, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = [0.0]
    journal = Journal(engine, clock=lambda: seconds[0])
    (position,) = journal.accept([large("x")], a_receipt())
    failing.failing_removals = True
    journal.conclude((), [position])
    for minutes in (*(1 for _ in range(60)), *(10 for _ in range(23 * 6))):  # a day
        seconds[0] += 60.0 * minutes
        journal.tidy()
        (other,) = journal.accept([small("y")], a_receipt())
        journal.conclude((), [other])
    assert 24 <= failing.removals <= 32
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "bodies of removed documents are still to be removed" in warnings[0].message


def test_documents_are_taken_while_the_store_is_slow_to_remove(
    engine: sa.Engine, failing: Failing
) -> None:
    journal = Journal(engine)
    gate = Gate()
    (position,) = journal.accept([large("x")], a_receipt())
    failing.before_removal = gate
    remover = threading.Thread(target=journal.conclude, args=((), [position]))
    remover.start()
    try:
        gate.await_call()
        taken = journal.accept([small("y"), large("z")], a_receipt())
        journal.conclude((), taken[:1])
        journal.tidy()
        assert journal.documents_of("z")[0].body == large("z").body
        assert failing.removals == 1
    finally:
        gate.open()
        remover.join()
    assert names_of(failing) == {large("z").content_hash}


def test_a_body_that_comes_back_while_it_is_removed_waits_for_that_and_is_put_again(
    engine: sa.Engine, failing: Failing
) -> None:
    """The request finds the object there, which goes before the request has a row."""
    journal = Journal(engine)
    gate = Gate()
    (position,) = journal.accept([large("x")], a_receipt())
    failing.before_removal = gate
    failing.before_rows = gate.open
    remover = threading.Thread(target=journal.conclude, args=((), [position]))
    remover.start()
    gate.await_call()
    (again,) = journal.accept([large("x")], a_receipt())
    remover.join()
    assert journal.documents([again])[0].body == large("x").body
    assert names_of(failing) == {large("x").content_hash}
    assert journal.verify() == ()


def test_a_removal_of_another_service_is_waited_for(engine: sa.Engine, failing: Failing) -> None:
    """Each service has its own engine: a name that one has freed, the other one does not remove."""
    if engine.dialect.name == "sqlite":
        pytest.skip("one process serves one folder")
    other_engine = sa.create_engine(engine.url)
    other_engine = other_engine.execution_options(**engine.get_execution_options())
    journal = Journal(engine)
    keep_large(other_engine, LargeBodies(failing, ABOVE))
    other = Journal(other_engine)
    gate = Gate()
    (position,) = journal.accept([large("x")], a_receipt())
    failing.before_removal = gate
    removers = [
        threading.Thread(target=journal.conclude, args=((), [position])),
        threading.Thread(target=other.tidy),
    ]
    removers[0].start()
    gate.await_call()
    removers[1].start()
    taken = other.accept([small("y")], a_receipt())
    gate.open()
    for remover in removers:
        remover.join()
    assert failing.removals == 1
    assert other.documents(taken)[0].body == small("y").body
    other_engine.dispose()


def test_a_document_that_comes_back_before_its_body_was_removed_has_one(
    engine: sa.Engine, failing: Failing
) -> None:
    journal = Journal(engine)
    (position,) = journal.accept([large("x")], a_receipt())
    failing.failing_removals = True
    journal.conclude((), [position])
    (again,) = journal.accept([large("x")], a_receipt())
    failing.failing_removals = False
    journal.tidy()
    assert journal.documents([again])[0].body == large("x").body
    assert journal.verify() == ()


def test_a_removal_that_ends_after_the_objects_and_before_its_commit_loses_nothing(
    engine: sa.Engine, failing: Failing
) -> None:
    journal = Journal(engine)
    (position,) = journal.accept([large("x")], a_receipt())
    failing.after_removal = crash
    with pytest.raises(KeyboardInterrupt):
        journal.conclude((), [position])
    (again,) = journal.accept([large("x")], a_receipt())
    assert journal.documents([again])[0].body == large("x").body
    assert journal.verify() == ()


def crash() -> None:
    raise KeyboardInterrupt


def test_a_body_that_is_removed_between_put_and_row_is_put_again(
    engine: sa.Engine, failing: Failing
) -> None:
    """A request finds the object there; before its transaction another one removes it."""
    journal = Journal(engine)
    (position,) = journal.accept([large("x")], a_receipt())
    failing.before_rows = lambda: journal.conclude((), [position])
    (again,) = journal.accept([large("x", scope="other")], a_receipt())
    assert again != position
    assert journal.documents([again])[0].body == large("x").body
    assert journal.verify() == ()


def test_a_document_is_taken_where_each_of_its_puts_meets_a_removal(
    engine: sa.Engine, failing: Failing
) -> None:
    journal = Journal(engine)
    others = journal.accept([large(name) for name in "abcdefghijklmnop"], a_receipt())
    left = list(others)

    def remove_another() -> None:
        journal.conclude((), [left.pop()])
        failing.before_rows = remove_another

    failing.before_rows = remove_another
    (position,) = journal.accept([large("x")], a_receipt())
    assert journal.documents([position])[0].body == large("x").body
    failing.before_rows = None
    journal.conclude((), left)
    assert names_of(failing) == {large("x").content_hash}
    assert journal.verify() == ()


def test_a_crash_between_put_and_row_leaves_an_object_that_a_check_names(
    engine: sa.Engine, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(engine)
    failing.before_rows = crash
    with pytest.raises(KeyboardInterrupt):
        journal.accept([large("x")], a_receipt())
    assert journal.summary().received == 0
    monkeypatch.setattr("graph_model.stores.journal.integrity._SETTLED_SECONDS", -1.0)
    (problem,) = journal.verify()
    assert problem.endswith(f"no document has the body {large('x').content_hash}")
    (position,) = journal.accept([large("x")], a_receipt())
    assert journal.documents([position])[0].body == large("x").body
    assert journal.verify() == ()


def test_writers_and_removers_at_once_lose_no_body(kept: sa.Engine) -> None:
    journal = Journal(kept)
    wrong: list[BaseException] = []

    def work(scope: str) -> None:
        try:
            for _ in range(8):
                (position,) = journal.accept([large("x", scope=scope)], a_receipt())
                assert journal.documents([position])[0].damage == ""
                journal.conclude((), [position])
        except BaseException as error:  # told by the thread that waits
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(scope,)) for scope in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert rows_of(kept) == {}


def test_a_journal_with_bodies_elsewhere_is_not_opened_without_the_setting(
    aws: Aws, store: S3Bodies, tmp_path: Path
) -> None:
    file = tmp_path / "headwater.db"
    first = open_database(file)
    keep_large(first, LargeBodies(store, ABOVE))
    Journal(first).accept([large("x")], a_receipt())
    first.dispose()
    plain = open_database(file)
    with pytest.raises(ConfigurationError, match=f"set HEADWATER_BODIES={store.place}"):
        Journal(plain)
    plain.dispose()
    elsewhere = open_bodies(f"s3://{aws.bucket()}", client=aws.client("s3"))
    other = open_database(file)
    keep_large(other, LargeBodies(elsewhere, ABOVE))
    with pytest.raises(ConfigurationError, match="copy all objects there first"):
        Journal(other)
    copy(aws, store, elsewhere)
    journal = Journal(other)
    assert journal.documents_of("x")[0].body == large("x").body
    other.dispose()


def copy(aws: Aws, source: S3Bodies, target: S3Bodies) -> None:
    for name in source.names(0):
        result = source.get(name)
        assert result is not None
        target.put(name, result)


def test_a_backup_holds_the_bodies_and_comes_back_into_any_journal(
    kept: sa.Engine, store: S3Bodies, aws: Aws, tmp_path: Path
) -> None:
    Journal(kept).accept([large("x"), small("y")], a_receipt())
    file = tmp_path / "backup.gz"
    write_backup(kept, file, lambda: 1_700_000_000_000, lambda _done, _total: None)
    plain, other = open_database("sqlite://"), open_database("sqlite://")
    elsewhere = open_bodies(f"s3://{aws.bucket()}", client=aws.client("s3"))
    keep_large(other, LargeBodies(elsewhere, ABOVE))
    for target in (plain, other):
        read_backup(target, file, {}, replace=False, progress=lambda _done, _total: None)
        journal = Journal(target)
        assert journal.documents_of("x")[0].body == large("x").body
        assert journal.verify() == ()
        target.dispose()
    assert names_of(elsewhere) == names_of(store)


def test_the_rebuild_on_spark_reads_the_bodies_where_they_lie(
    kept: sa.Engine, store: S3Bodies, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    Journal(kept).accept([large("x"), small("y")], a_receipt())
    query = sa.text(
        "SELECT d.position, d.kind, b.api_version, d.plan_id, d.scope, d.content_hash,"
        " d.received_at, b.packed FROM journal_documents d"
        " LEFT JOIN journal_bodies b ON b.content_hash = d.content_hash ORDER BY d.position"
    )
    with kept.connect() as connection:
        lines = list(read_rows(connection.execute(query), store.place))
    assert [line.body for line in lines] == [large("x").body, small("y").body]
    assert [line.damage for line in lines] == ["", ""]


def test_the_key_of_the_settings_encrypts_the_objects(aws: Aws) -> None:
    bucket = aws.bucket()
    client = aws.client("s3")
    key = aws.client("kms").create_key()["KeyMetadata"]["Arn"]
    open_bodies(f"s3://{bucket}/b", key, client).put("abc", b"x")
    head = client.head_object(Bucket=bucket, Key="b/ab/abc")
    assert (head["ServerSideEncryption"], head["SSEKMSKeyId"]) == ("aws:kms", key)


@pytest.mark.parametrize("place", ["", "bucket/x", "https://bucket/x", "s3:///x", "s3://b/x?y=1"])
def test_a_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(ConfigurationError, match="s3://bucket/prefix"):
        open_bodies(place)
