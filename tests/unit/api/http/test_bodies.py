"""Large documents enter one after the other, in the order in which they came."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from api.http.bodies import UnpackingMemory
from tests.waiting import eventually

MEBIBYTE = 1024 * 1024
SOON = 60.0


class Observed(UnpackingMemory):
    """``asked``: the sizes that were compared with what is left."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.asked: list[int] = []

    def _fits(self, size: int) -> bool:
        self.asked.append(size)
        return super()._fits(size)


def test_the_largest_document_waits_for_none_that_came_later() -> None:
    """Two small ones that always fit beside each other kept a large one out for good."""
    memory, entered = UnpackingMemory(256 * MEBIBYTE), list[str]()

    def enter(name: str, size: int) -> None:
        with memory.hold(size * MEBIBYTE):
            entered.append(name)

    with ThreadPoolExecutor(2) as threads:
        with memory.hold(200 * MEBIBYTE):
            large = threads.submit(enter, "large", 250)
            eventually(lambda: len(memory._waiting) == 1)
            later = threads.submit(enter, "later", 20)
            eventually(lambda: len(memory._waiting) == 2 or later.done())
        large.result(SOON)
        later.result(SOON)
    assert entered == ["large", "later"]


def test_who_gives_up_leaves_the_turn_to_the_next() -> None:
    memory, stopped = Observed(256 * MEBIBYTE), Event()

    class GivesUp(Exception):
        pass

    def refuse(size: int) -> bool:
        raise GivesUp

    memory._fits = refuse  # type: ignore[method-assign]
    try:
        with memory.hold(20 * MEBIBYTE):
            raise AssertionError("it entered")
    except GivesUp:
        stopped.set()
    del memory._fits
    assert stopped.is_set()
    with memory.hold(20 * MEBIBYTE):
        assert memory.asked == [20 * MEBIBYTE]


def test_small_documents_enter_whoever_waits() -> None:
    memory = UnpackingMemory(16 * MEBIBYTE)
    with memory.hold(100 * MEBIBYTE), memory.hold(16 * MEBIBYTE):
        assert len(memory._waiting) == 0
