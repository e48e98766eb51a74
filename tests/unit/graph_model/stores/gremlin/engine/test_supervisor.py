"""The engine is started again when it died, not in a hot loop, and people are told the remedy."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from graph_model.errors import EngineError, GraphUnavailable
from graph_model.stores.gremlin.engine import supervisor
from graph_model.stores.gremlin.engine.memory import DAY_SECONDS, HEAP_SETTING, Kill, read_kill
from graph_model.stores.gremlin.engine.supervisor import (
    BYTES_PER_ELEMENT,
    OUT_OF_MEMORY,
    URL_SETTING,
    Memory,
    Supervisor,
    capacity,
)
from tests.waiting import eventually


@dataclass
class Engine:
    """Dies when told to; ``starts`` counts how often it was started."""

    heap_mb: int = 2048
    exit_code: int | None = None
    running: bool = True
    starts: int = 0
    refuses: bool = False

    def start(self) -> None:
        self.starts += 1
        if self.refuses:
            raise EngineError("it does not come up")
        self.running, self.exit_code = True, None

    def alive(self) -> bool:
        return self.running

    def log_end(self, lines: int = 20) -> str:
        return "the log ends so"

    def die(self, code: int) -> None:
        self.running, self.exit_code = False, code


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Watched:
    engine: Engine = field(default_factory=Engine)
    clock: Clock = field(default_factory=Clock)
    limits: Iterator[int] = field(default_factory=lambda: itertools.repeat(3_000 * 2**20))

    def __post_init__(self) -> None:
        self.supervisor = self.started()

    def started(self, folder: Path | None = None) -> Supervisor:
        """A service begins to watch the engine, on a machine of 3,000 MB by default."""
        return Supervisor(
            self.engine,
            folder=folder,
            clock=self.clock,
            now=self.clock,
            limit=lambda: next(self.limits),
        )


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_an_engine_that_runs_is_left_alone(watched: Watched) -> None:
    assert not watched.supervisor.restart()
    assert watched.supervisor.failure is None
    assert watched.engine.starts == 0


def test_the_first_death_is_followed_by_a_start_at_once(watched: Watched) -> None:
    watched.engine.die(-9)
    assert watched.supervisor.restart()
    assert watched.engine.starts == 1
    assert watched.supervisor.failure is None


@pytest.mark.parametrize("code", [OUT_OF_MEMORY, -9, 137, 1])
def test_deaths_in_a_row_are_followed_by_longer_and_longer_pauses(
    watched: Watched, code: int
) -> None:
    pauses = []
    for _ in range(10):
        watched.engine.die(code)
        waited = 0
        while not watched.supervisor.restart():
            watched.clock.now += 1
            waited += 1
        pauses.append(waited)
    assert pauses == [0, 30, 60, 120, 240, 480, 960, 1800, 1800, 1800]
    assert watched.engine.starts == 10


def test_an_engine_that_ends_with_its_service_is_no_death_and_is_not_started_again(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """The projector may still wait for the engine, for example to fill it."""
    watched.supervisor.stop()
    watched.engine.running = False
    assert not watched.supervisor.restart()
    assert watched.supervisor.failure is None
    assert watched.engine.starts == 0
    assert caplog.text == ""


def test_a_death_after_a_long_life_is_a_first_one(watched: Watched) -> None:
    for _ in range(3):
        watched.engine.die(1)
        watched.clock.now += 100
        assert watched.supervisor.restart()
        watched.clock.now += 1000


def test_an_engine_that_does_not_come_up_is_a_death_too(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """The engine's own words stay in the log: the reason is told to whoever asks."""
    watched.engine.die(1)
    watched.engine.refuses = True
    with pytest.raises(EngineError):
        watched.supervisor.restart()
    assert not watched.supervisor.restart()
    assert watched.engine.starts == 1
    assert watched.supervisor.failure == "the engine does not start: see engine.log"
    assert "it does not come up" in caplog.text


def test_a_full_heap_is_named_with_the_setting_and_the_way_out(watched: Watched) -> None:
    watched.engine.die(OUT_OF_MEMORY)
    failure = watched.supervisor.failure
    assert failure is not None
    for words in ("2,048 MB", HEAP_SETTING, "Neptune", URL_SETTING):
        assert words in failure


@pytest.mark.parametrize(
    ("code", "words"),
    [(-9, "killed (signal 9)"), (137, HEAP_SETTING), (1, "code 1"), (134, "engine.log")],
)
def test_every_end_has_its_reason(
    watched: Watched, code: int, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    watched.engine.die(code)
    assert "the log ends so" not in str(watched.supervisor.failure)
    assert "the log ends so" in caplog.text
    assert words in str(watched.supervisor.failure)
    assert watched.supervisor.failure == watched.supervisor.failure


# --- how full ------------------------------------------------------------------------------------


def test_capacity_follows_the_heap() -> None:
    assert capacity(1024) >= 1_500_000
    assert capacity(4096) == pytest.approx(2 * capacity(2048), abs=2)
    assert capacity(2048) * BYTES_PER_ELEMENT < 2048 * 2**20


def test_an_engine_that_is_nearly_full_names_the_remedy() -> None:
    roomy, full = Memory(1000, 2048), Memory(int(0.9 * capacity(2048)), 2048)
    assert (roomy.is_nearly_full, full.is_nearly_full) == (False, True)
    assert HEAP_SETTING not in str(roomy)
    assert "90%" in str(full)
    assert HEAP_SETTING in str(full)
    assert "Neptune" in str(full)


def test_it_is_logged_once_that_the_engine_is_nearly_full(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    assert watched.supervisor.memory is None
    for share in (0.1, 0.85, 0.86, 0.87):
        watched.supervisor.observe(int(share * capacity(2048)))
    assert caplog.text.count(HEAP_SETTING) == 1
    watched.supervisor.observe(10)
    assert watched.supervisor.memory == Memory(10, 2048)


def test_a_watched_graph_is_counted_until_the_end(watched: Watched) -> None:
    counted = threading.Event()

    def count() -> tuple[int, int]:
        counted.set()
        return 3, 4

    watched.supervisor.watch(count)
    assert counted.wait(60)
    watched.supervisor.stop()
    watched.supervisor.stop()
    assert watched.supervisor.memory == Memory(7, 2048)


def test_a_graph_that_is_away_is_counted_another_time(watched: Watched) -> None:
    asked = threading.Event()

    def count() -> tuple[int, int]:
        asked.set()
        raise GraphUnavailable("away")

    watched.supervisor.watch(count)
    assert asked.wait(60)
    watched.supervisor.stop()
    assert watched.supervisor.memory is None


class Growing:
    """A graph that is filled; ``asked`` is set by every count."""

    def __init__(self) -> None:
        self.elements = 0
        self.asked = threading.Event()

    def count(self) -> tuple[int, int]:
        self.asked.set()
        return self.elements, 0


def test_a_count_while_the_graph_was_filled_is_not_told_for_the_whole(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look after a start finds an engine that is still to be filled."""
    monkeypatch.setattr(supervisor, "_TICK_SECONDS", 0.001)
    graph, filled = Growing(), threading.Event()
    watched.supervisor.watch(graph.count, filled.is_set)
    assert graph.asked.wait(60)
    assert watched.supervisor.memory is None
    graph.elements = 1234
    filled.set()
    assert eventually(lambda: watched.supervisor.memory) == Memory(1234, 2048)
    watched.engine.die(1)
    assert watched.supervisor.memory is None
    filled.clear()
    assert watched.supervisor.restart()
    graph.elements = 7
    filled.set()
    assert eventually(lambda: watched.supervisor.memory) == Memory(7, 2048)
    watched.supervisor.stop()


def test_a_number_of_elements_that_overflowed_the_engine_is_not_tried_again(
    watched: Watched,
) -> None:
    before = watched.supervisor.capacity
    watched.engine.die(OUT_OF_MEMORY)
    assert watched.supervisor.restart()
    assert 0 < watched.supervisor.capacity < before
    watched.engine.die(-9)
    after = watched.supervisor.capacity
    watched.supervisor.restart()
    assert watched.supervisor.capacity == after, "killed by somebody: that tells nothing of room"


def test_memory_reports_the_lowered_capacity_so_that_a_held_graph_is_nearly_full(
    watched: Watched,
) -> None:
    elements = int(0.64 * capacity(2048))
    watched.supervisor.observe(elements)
    overflow(watched.supervisor, watched.engine)
    watched.supervisor.observe(elements)
    memory = watched.supervisor.memory
    assert memory is not None
    assert memory.capacity == watched.supervisor.capacity == capacity(2048, 1)
    assert memory.share == pytest.approx(0.8, abs=0.001)
    assert f"{capacity(2048):,} before it overflowed" in str(memory)


@pytest.mark.parametrize(
    ("share", "whole", "is_lowered"), [(0.4, True, False), (0.6, True, True), (0.4, False, True)]
)
def test_only_a_graph_that_was_half_full_or_incomplete_can_have_outgrown_its_heap(
    watched: Watched, share: float, whole: bool, is_lowered: bool
) -> None:
    """A reader's traversal filled it: the service took its graph for too large."""
    watched.supervisor.observe(int(share * capacity(2048)), whole=whole)
    watched.engine.die(OUT_OF_MEMORY)
    assert ("the graph no longer fits" in (watched.supervisor.failure or "")) == is_lowered
    assert ("a question filled" in (watched.supervisor.failure or "")) != is_lowered
    assert (watched.supervisor.capacity < capacity(2048)) == is_lowered


def test_a_lowered_capacity_comes_back_a_day_after_the_first_overflow(watched: Watched) -> None:
    overflow(watched.supervisor, watched.engine)
    watched.clock.now += DAY_SECONDS - 1
    assert watched.supervisor.capacity == capacity(2048, 1)
    watched.supervisor.observe(10)
    watched.clock.now += 1
    assert watched.supervisor.capacity == capacity(2048)
    assert watched.supervisor.memory == Memory(10, 2048)


def test_each_further_overflow_lowers_it_for_a_day_longer(watched: Watched) -> None:
    overflow(watched.supervisor, watched.engine)
    watched.clock.now += DAY_SECONDS
    overflow(watched.supervisor, watched.engine)
    watched.clock.now += 2 * DAY_SECONDS - 1
    assert watched.supervisor.capacity == capacity(2048, 1)
    watched.clock.now += 1
    assert watched.supervisor.capacity == capacity(2048)


def test_of_two_overflows_in_a_row_one_fifth_comes_back_at_a_time(
    watched: Watched, tmp_path: Path
) -> None:
    before = watched.started(tmp_path)
    overflow(before, watched.engine)
    watched.clock.now += 1000
    overflow(before, watched.engine)
    counted = []
    for _ in range(5):
        counted.append(watched.started(tmp_path).capacity)
        watched.clock.now += DAY_SECONDS
    assert counted == [capacity(2048, number) for number in (2, 2, 1, 1, 0)]


def test_a_clock_that_was_set_back_gives_nothing_back(watched: Watched) -> None:
    overflow(watched.supervisor, watched.engine)
    watched.clock.now -= 400
    assert watched.supervisor.capacity == capacity(2048, 1)


def test_a_note_of_an_older_version_counts_from_the_time_of_its_file(
    watched: Watched, tmp_path: Path
) -> None:
    note = tmp_path / "overflows.json"
    note.write_text('{"heap_mb": 2048, "number": 1}', "utf-8")
    os.utime(note, (watched.clock.now, watched.clock.now))
    assert watched.started(tmp_path).capacity == capacity(2048, 1)
    watched.clock.now += DAY_SECONDS
    assert watched.started(tmp_path).capacity == capacity(2048)


def test_a_kill_from_outside_is_noted_with_heap_and_memory_and_its_remedy(
    watched: Watched, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched.limits = iter([3_000 * 2**20, 1_000 * 2**20])  # another process takes some meanwhile
    supervisor = watched.started(tmp_path)
    watched.engine.die(-9)
    assert supervisor.restart()
    kill = read_kill(tmp_path)
    assert kill == Kill(1000, 2048, 3000)
    assert str(kill) in caplog.text
    assert "share 3,000 MB of memory: lower HEADWATER_GREMLIN_HEAP to 1500, or" in str(kill)


@pytest.mark.parametrize("code", [OUT_OF_MEMORY, 1, -15])
def test_another_end_is_no_kill(watched: Watched, tmp_path: Path, code: int) -> None:
    supervisor = watched.started(tmp_path)
    watched.engine.die(code)
    assert supervisor.restart()
    assert read_kill(tmp_path) is None


def test_a_kill_is_settled_by_a_smaller_heap_more_memory_or_a_week() -> None:
    kill = Kill(1000, 2048, 3000)
    assert not kill.is_settled(2000, 2048, 3000)
    assert kill.is_settled(2000, 1500, 3000)
    assert kill.is_settled(2000, 2048, 4000)
    assert kill.is_settled(2000 + 7 * DAY_SECONDS, 2048, 3000)


def test_a_heap_that_fitted_is_not_asked_to_be_smaller() -> None:
    assert HEAP_SETTING not in str(Kill(1000, 1024, 3000))
    assert "give the machine or the container more" in str(Kill(1000, 1024, 3000))


@pytest.mark.parametrize("content", ["", "[]", '{"at": "x"}', '{"at": 1}'])
def test_a_note_of_a_kill_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "killed.json").write_text(content, "utf-8")
    assert read_kill(tmp_path) is None


def overflow(supervisor: Supervisor, engine: Engine) -> None:
    engine.die(OUT_OF_MEMORY)
    assert supervisor.restart()


def test_a_restart_of_the_service_knows_how_many_elements_overflowed_the_engine(
    tmp_path: Path,
) -> None:
    engine = Engine()
    before = Supervisor(engine, folder=tmp_path)
    overflow(before, engine)
    after = Supervisor(Engine(), folder=tmp_path)
    assert after.capacity == before.capacity < capacity(2048)


def test_with_a_larger_heap_nothing_is_known_and_with_a_smaller_one_all(tmp_path: Path) -> None:
    engine = Engine(heap_mb=1024)
    learned = Supervisor(engine, folder=tmp_path)
    overflow(learned, engine)
    share = learned.capacity / capacity(1024)
    assert Supervisor(Engine(heap_mb=2048), folder=tmp_path).capacity == capacity(2048)
    smaller = Supervisor(Engine(heap_mb=512), folder=tmp_path).capacity
    assert smaller == pytest.approx(share * capacity(512), abs=2)


@pytest.mark.parametrize("content", ["", "[]", '{"heap_mb": "x", "number": 1}', "\xff"])
def test_a_note_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "overflows.json").write_bytes(content.encode("latin-1"))
    assert Supervisor(Engine(), folder=tmp_path).capacity == capacity(2048)


def test_an_overflow_counts_even_where_it_cannot_be_noted(tmp_path: Path) -> None:
    engine = Engine()
    supervisor = Supervisor(engine, folder=tmp_path / "missing")
    overflow(supervisor, engine)
    assert supervisor.capacity < capacity(2048)
