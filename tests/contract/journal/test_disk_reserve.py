"""A journal on a disk with only its reserve left: documents wait outside, removals come in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.console.storage import write_backup
from collectors.intake import DirectIntake
from collectors.sqs.messages import MessageReader, take_batch
from collectors.sqs.queues import Message
from graph_model.errors import DiskNearlyFull, HeadwaterError
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import DiskReserve, keep_reserve, open_database
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import Journal
from tests.contract.submissions import a_receipt, a_submission, an_event
from tests.unit.collectors.sqs.test_messages import LIMIT, RUN_EVENT, a_message

MB = 1 << 20
RESERVED = 20 * MB


@dataclass
class Reserved:
    """A journal in a file; ``free`` is the room on its disk, measured anew each time."""

    file: Path
    free: int = 1_000 * MB
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.engine = open_database(self.file)
        keep_reserve(self.engine, DiskReserve(RESERVED, lambda: self.free, self.tick))
        self.journal = Journal(self.engine)

    def tick(self) -> float:
        self.seconds += 1
        return self.seconds

    @property
    def log(self) -> int:
        return self.file.with_name(f"{self.file.name}-wal").stat().st_size


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Reserved]:
    made = Reserved(tmp_path / "headwater.db")
    yield made
    made.journal.close()


def test_documents_and_repeats_are_refused_and_removals_are_taken(disk: Reserved) -> None:
    journal = disk.journal
    journal.accept([a_submission("a")], a_receipt("raw"))
    disk.free = RESERVED - 1
    with pytest.raises(DiskNearlyFull):
        journal.accept([a_submission("b")], a_receipt())
    with pytest.raises(DiskNearlyFull):
        journal.acknowledge("raw", "", a_receipt())
    assert journal.summary().received == 1
    assert journal.accept([a_submission("removal")], a_receipt(), makes_room=True) == (2,)
    disk.free = RESERVED + MB
    assert journal.accept([a_submission("b")], a_receipt()) == (3,)
    assert journal.acknowledge("raw", "", a_receipt())


def test_the_journal_counts_as_taking_documents_meanwhile(disk: Reserved) -> None:
    disk.free = 0
    with pytest.raises(DiskNearlyFull):
        disk.journal.accept([a_submission("b")], a_receipt())
    disk.journal.ensure_taking()


def test_a_body_counts_as_it_came_and_twice_as_it_is_stored(disk: Reserved) -> None:
    """In the projection, in the write-ahead log and in the file."""
    noise = a_submission(random.Random(1).randbytes(MB).hex())  # 2 MB, and 1 MB where it is stored
    plain = a_submission("0" * 2 * MB)
    disk.free = RESERVED + 4 * MB - 1
    with pytest.raises(DiskNearlyFull, match="this request may take 4"):
        disk.journal.accept([noise], a_receipt())
    disk.journal.accept([plain], a_receipt())
    disk.free = RESERVED + 5 * MB
    disk.journal.accept([noise], a_receipt())


def test_documents_that_wait_for_their_projection_keep_their_room(disk: Reserved) -> None:
    positions = disk.journal.accept([an_event(f"{at}") for at in range(1_000)], a_receipt())
    disk.free = RESERVED + 2 * MB
    with pytest.raises(DiskNearlyFull, match=r"22\.0 MB free \(2\.9 MB of it"):
        disk.journal.accept([a_submission("a")], a_receipt())
    disk.journal.settle(positions, DocumentState.PROJECTED)
    disk.journal.accept([a_submission("a")], a_receipt())


def test_a_short_disk_gets_every_free_page_and_the_log_back(disk: Reserved) -> None:
    journal, rng = disk.journal, random.Random(1)
    bodies = [a_submission(rng.randbytes(60_000).hex()) for _ in range(100)]
    positions = [at for one in bodies for at in journal.accept([one], a_receipt())]
    journal.conclude([], positions[1:])
    while journal.tidy():
        pass
    assert disk.file.stat().st_size > 400_000, "a tenth stays for the next rows"
    assert disk.log > 1_000_000
    disk.free = 0
    while journal.tidy():
        pass
    assert disk.file.stat().st_size < 400_000
    assert disk.log == 0
    assert journal.verify() == ()


def test_a_log_that_a_reader_needs_is_emptied_later(disk: Reserved) -> None:
    disk.journal.accept([a_submission("a")], a_receipt())
    disk.free = 0
    with disk.engine.connect() as reader:
        reader.exec_driver_sql("PRAGMA busy_timeout = 10").close()
        assert reader.exec_driver_sql("SELECT count(*) FROM journal_documents").scalar() == 1
        disk.journal.accept([a_submission("b")], a_receipt(), makes_room=True)
        assert not disk.journal.tidy()
        assert disk.log > 0
        reader.rollback()
    assert not disk.journal.tidy()
    assert disk.log == 0


def test_the_catalogue_beside_the_journal_knows_the_reserve(disk: Reserved) -> None:
    generations = Generations(disk.engine, disk.journal)
    file = disk.file.with_name("catalogue-0.db-wal")
    assert file.stat().st_size > 0
    disk.free = 0
    assert not generations.current.tidy()
    assert file.stat().st_size == 0
    generations.close()


def test_a_backup_on_the_same_disk_stops_at_the_reserve_and_leaves_nothing(disk: Reserved) -> None:
    disk.journal.accept([a_submission("a")], a_receipt())
    file = disk.file.with_name("backup.gz")
    write_backup(disk.engine, file, lambda: 1, lambda _done, _total: None)
    before = file.read_bytes()
    disk.free = 0
    with pytest.raises(HeadwaterError, match="make the backup on another disk"):
        write_backup(disk.engine, file, lambda: 2, lambda _done, _total: None)
    assert file.read_bytes() == before
    assert not file.with_name("backup.gz.partial").exists()


# --- the road over a queue ------------------------------------------------------------------------


def test_messages_stay_in_the_queue_until_there_is_room(disk: Reserved) -> None:
    """Also at their last delivery: want of room makes no message poison."""
    reader = MessageReader(None, (), LIMIT)
    intake = DirectIntake(disk.journal, lambda: 1, "sqs", "queue")
    aside: list[str] = []
    messages = [
        Message(f"m-{at}", a_message({**RUN_EVENT, "eventTime": f"2026-01-0{at}T00:00:00Z"}).body,
                {}, receives=50)
        for at in (1, 2, 3)
    ]  # fmt: skip

    def take() -> tuple[list[str], int]:
        outcome = take_batch(
            messages, reader, lambda _: intake, lambda one, why: aside.append(f"{one}{why}")
        )
        return outcome.failed, outcome.taken

    disk.free = 0
    assert take() == (["m-1", "m-2", "m-3"], 0)
    disk.free = 1_000 * MB
    assert take() == ([], 3)
    assert aside == []
    assert disk.journal.summary().received == 3
