"""The reserve of a disk: who is refused, when the disk is measured, what the error says."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from graph_model.errors import DiskNearlyFull
from graph_model.stores.database import DiskReserve

MB = 1 << 20


@dataclass
class Disk:
    """Free bytes and seconds as a test says; None: the disk cannot be measured."""

    free: int | None
    now: float = 0.0
    measured: int = 0
    reserve: DiskReserve = field(init=False)

    def __post_init__(self) -> None:
        self.reserve = DiskReserve(256 * MB, self.measure, lambda: self.now)

    def measure(self) -> int:
        self.measured += 1
        if self.free is None:
            raise OSError("no such device")
        return self.free


def refused(disk: Disk, size: int) -> str:
    with pytest.raises(DiskNearlyFull) as caught:
        disk.reserve.take(size)
    return caught.value.reason


def test_documents_are_taken_down_to_the_reserve_and_not_a_byte_further() -> None:
    disk = Disk(256 * MB + 10)
    disk.reserve.take(10)
    refused(disk, 1)
    disk.reserve.take(0)
    assert not disk.reserve.is_reached
    assert disk.reserve.refusal is None
    disk.now, disk.free = 1.0, 256 * MB - 1
    reason = refused(disk, 0)
    assert disk.reserve.is_reached
    assert disk.reserve.refusal is not None
    assert disk.reserve.refusal.reason == reason
    assert "new documents are refused" in reason


def test_a_thousand_requests_in_one_second_measure_once() -> None:
    disk = Disk(1_000 * MB)
    for step in range(1_000):
        disk.now = step / 1_001
        disk.reserve.take(1)
        assert not disk.reserve.is_reached
    assert disk.measured == 1
    disk.now = 1.0
    disk.reserve.take(1)
    assert disk.measured == 2


def test_what_was_taken_counts_until_the_next_measurement() -> None:
    disk = Disk(300 * MB)
    for _ in range(4):
        disk.reserve.take(11 * MB)
    refused(disk, 11 * MB)
    disk.now = 1.0
    disk.reserve.take(11 * MB)


def test_a_large_request_is_refused_where_small_ones_still_pass() -> None:
    disk = Disk(300 * MB)
    text = refused(disk, 64 * MB)
    assert "this request may take 64.0 MB: it is refused until there is room" in text
    disk.reserve.take(1 * MB)


def test_there_is_room_again_without_anybody_saying_so() -> None:
    disk = Disk(100 * MB)
    refused(disk, 0)
    disk.free = 400 * MB
    refused(disk, 0)  # measured a moment ago
    disk.now = 1.0
    disk.reserve.take(0)


def test_room_for_the_projection_of_earlier_documents_is_not_given_away() -> None:
    """A bulk import is projected later than it is taken."""
    disk, waiting = Disk(356 * MB), [100 * MB]
    disk.reserve.promised = lambda: waiting[0]
    text = refused(disk, 1)
    assert "has 356.0 MB free (100.0 MB of it for documents that wait), 256.0 MB are" in text
    disk.now, waiting[0] = 1.0, 0
    disk.reserve.take(90 * MB)


def test_far_from_the_reserve_nobody_is_asked_what_is_promised() -> None:
    disk = Disk(8 * 256 * MB)
    disk.reserve.promised = lambda: 1 // 0
    disk.reserve.take(MB)


def test_a_disk_that_cannot_be_measured_refuses_nothing() -> None:
    disk = Disk(None)
    disk.reserve.take(64 * MB)
    assert not disk.reserve.is_reached
    disk.now, disk.free = 1.0, 0
    refused(disk, 0)


def test_the_error_names_what_is_short_the_figures_and_the_remedies() -> None:
    text = refused(Disk(12 * MB), 5)
    assert "the disk of the data folder has 12.0 MB free" in text
    assert "256.0 MB are reserved for removals (HEADWATER_DISK_RESERVE)" in text
    assert "new documents are refused until there is room" in text
    for remedy in ("headwater prune --drop-bodies", "HEADWATER_KEEP", "a larger disk"):
        assert remedy in text
