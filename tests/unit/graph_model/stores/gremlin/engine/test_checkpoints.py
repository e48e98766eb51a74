"""Checkpoints of the embedded engine: valid ones, refused ones, and the rests of a crash."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from graph_model import identity, labels
from graph_model.errors import GraphRejected, GraphUnavailable, JournalUnavailable
from graph_model.facts import Facts, Vertex
from graph_model.projection.projector import Projector
from graph_model.stores.documents import DocumentState
from graph_model.stores.gremlin.engine.checkpoints import (
    LONGEST_WITHOUT_SECONDS,
    MARK_KEY,
    EngineCheckpoints,
    Mark,
    read_mark,
    write_mark,
)
from graph_model.stores.gremlin.engine.removals import REMOVALS_KEY, removals_of
from tests.projections import SmallHeadwater, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan

EPOCH = "e1"


@dataclass
class FileGraph:
    """A graph of a list of names, which saves and loads as the engine does: a file of its own."""

    names: list[str] = field(default_factory=list)
    fails: Exception | None = None
    before_answer: Callable[[], None] = lambda: None

    def count(self) -> tuple[int, int]:
        return len(self.names), 2 * len(self.names)

    def clear(self) -> None:
        self.names.clear()

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        self.names = [one for one in self.names if one not in {*vertex_ids, *edge_ids}]

    def save(self, path: Path) -> None:
        self._fail()
        path.write_text("\n".join(self.names))
        self.before_answer()

    def load(self, path: Path) -> None:
        self.names += path.read_text().split("\n")
        self._fail()

    def _fail(self) -> None:
        if self.fails is not None:
            raise self.fails


@dataclass
class Marks:
    """The journal's small values; ``full`` is a disk that takes no more."""

    kept: dict[str, str] = field(default_factory=dict)
    full: bool = False

    def get_every_meta(self) -> dict[str, str]:
        return self.kept

    def get_meta(self, key: str) -> str | None:
        return self.kept.get(key)

    def set_meta(self, key: str, value: str) -> None:
        if self.full:
            raise JournalUnavailable("no space left")
        self.kept[key] = value


@dataclass
class Clock:
    """Seconds that pass when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def void(checkpoints: EngineCheckpoints) -> None:
    with checkpoints.voided():
        pass


@dataclass
class Engine:
    """A folder, a graph that is empty at each start, and a journal that stays."""

    folder: Path
    marks: Marks = field(default_factory=Marks)
    graph: FileGraph = field(default_factory=FileGraph)

    def start(self, **options: Any) -> EngineCheckpoints:
        """As after a kill: memory is gone, files and journal are there."""
        self.graph = FileGraph()
        tokens = iter(f"{n}{os.urandom(3).hex()}" for n in range(100))
        return EngineCheckpoints(
            self.folder, self.graph, self.marks, token=lambda: next(tokens), **options
        )

    def files(self) -> list[str]:
        return sorted(file.name for file in self.folder.iterdir())


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


@pytest.fixture
def saved(engine: Engine) -> Engine:
    """An engine whose checkpoint holds a, b and the documents before 8."""
    checkpoints = engine.start()
    engine.graph.names += ["a", "b"]
    assert checkpoints.take(EPOCH, lambda: 8)
    return engine


def mark_of(engine: Engine) -> Mark:
    mark = read_mark(engine.marks.get_meta(MARK_KEY))
    assert mark is not None
    return mark


# --- taking and restoring ------------------------------------------------------------------------


def test_a_graph_comes_back_with_the_position_that_follows_it(saved: Engine) -> None:
    assert saved.start().restore(EPOCH) == 8
    assert saved.graph.names == ["a", "b"]


def test_without_a_checkpoint_nothing_is_restored(engine: Engine) -> None:
    assert engine.start().restore(EPOCH) is None


def test_a_checkpoint_that_the_journal_does_not_name_is_foreign_until_it_is_removed(
    saved: Engine,
) -> None:
    assert saved.start().find_foreign() is None
    saved.marks = Marks()
    checkpoints = saved.start()
    assert checkpoints.find_foreign() == f"the engine's checkpoint {saved.files()[0]}"
    checkpoints.remove_foreign()
    assert checkpoints.find_foreign() is None
    assert saved.files() == []


def test_a_newer_checkpoint_takes_the_place_of_the_older_and_its_file(saved: Engine) -> None:
    checkpoints = saved.start()
    saved.graph.names += ["a", "b", "c"]
    assert checkpoints.take(EPOCH, lambda: 12)
    assert saved.start().restore(EPOCH) == 12
    assert saved.graph.names == ["a", "b", "c"]
    assert saved.files() == [mark_of(saved).file]


def test_the_content_of_the_graph_is_cleared_before_a_checkpoint_is_loaded(saved: Engine) -> None:
    checkpoints = saved.start()
    saved.graph.names += ["half"]
    assert checkpoints.restore(EPOCH) == 8
    assert saved.graph.names == ["a", "b"]


def test_the_position_is_asked_before_anything_is_saved(engine: Engine) -> None:
    asked: list[int] = []
    checkpoints = engine.start()

    def position() -> int:
        asked.append(len(engine.files()))
        return 3

    assert checkpoints.take(EPOCH, position)
    assert asked == [0]


def test_no_command_sets_the_mark_aside_while_the_position_is_asked(engine: Engine) -> None:
    checkpoints = engine.start()
    checkpoints.wrote(3)
    free = []

    def try_to_set_aside() -> None:
        if checkpoints._lock.acquire(blocking=False):
            checkpoints._lock.release()
            free.append(True)

    def position() -> int:
        command = threading.Thread(target=try_to_set_aside)
        command.start()
        command.join()
        return 4

    assert checkpoints.take(EPOCH, position)
    assert free == []


def test_engines_that_keep_no_checkpoints_neither_take_nor_restore(saved: Engine) -> None:
    checkpoints = saved.start(every=0)
    checkpoints.wrote(10**9)
    assert not checkpoints.due
    assert not checkpoints.worth_taking
    assert checkpoints.restore(EPOCH) is None


# --- when ----------------------------------------------------------------------------------------


def test_a_checkpoint_is_due_after_enough_has_changed(engine: Engine) -> None:
    checkpoints = engine.start(every=10)
    assert not checkpoints.worth_taking
    checkpoints.wrote(9)
    assert (checkpoints.due, checkpoints.worth_taking) == (False, True)
    checkpoints.wrote(1)
    assert checkpoints.due
    assert checkpoints.take(EPOCH, lambda: 1)
    assert (checkpoints.due, checkpoints.worth_taking) == (False, False)


def test_a_checkpoint_is_overdue_after_twice_as_much(engine: Engine) -> None:
    checkpoints = engine.start(every=10)
    checkpoints.wrote(19)
    assert (checkpoints.due, checkpoints.overdue) == (True, False)
    checkpoints.wrote(1)
    assert checkpoints.overdue
    assert checkpoints.take(EPOCH, lambda: 1)
    assert not checkpoints.overdue


def test_after_one_is_set_aside_the_next_is_due_and_overdue_after_a_while(engine: Engine) -> None:
    clock = Clock()
    checkpoints = engine.start(every=10, clock=clock)
    assert checkpoints.take(EPOCH, lambda: 1)
    clock.now += 2 * LONGEST_WITHOUT_SECONDS
    void(checkpoints)
    assert (checkpoints.due, checkpoints.overdue) == (True, False)
    clock.now += LONGEST_WITHOUT_SECONDS - 1
    void(checkpoints)
    assert not checkpoints.overdue
    clock.now += 1
    assert checkpoints.overdue, "however often it was set aside meanwhile"


def test_a_save_that_fails_is_tried_again_after_as_long(engine: Engine) -> None:
    clock = Clock()
    checkpoints = engine.start(every=10, clock=clock)
    assert checkpoints.take(EPOCH, lambda: 1)
    void(checkpoints)
    clock.now += LONGEST_WITHOUT_SECONDS
    engine.graph.fails = GraphUnavailable("away")
    assert not checkpoints.take(EPOCH, lambda: 1)
    assert not checkpoints.overdue
    clock.now += LONGEST_WITHOUT_SECONDS
    assert checkpoints.overdue
    engine.graph.fails = None
    assert checkpoints.take(EPOCH, lambda: 1)
    clock.now += LONGEST_WITHOUT_SECONDS
    assert not checkpoints.overdue


def test_documents_that_write_nothing_make_a_checkpoint_due_as_well(engine: Engine) -> None:
    checkpoints = engine.start(every=10)
    checkpoints.projected(9)
    assert (checkpoints.due, checkpoints.worth_taking) == (False, True)
    checkpoints.projected(1)
    assert checkpoints.due


def test_documents_that_write_nothing_move_the_position_and_leave_the_file(saved: Engine) -> None:
    checkpoints = saved.start()
    checkpoints.restore(EPOCH)
    before, graph = mark_of(saved), list(saved.graph.names)
    checkpoints.projected(9)
    assert checkpoints.take(EPOCH, lambda: before.position + 9)
    after = mark_of(saved)
    assert (after.file, after.position) == (before.file, before.position + 9)
    saved.graph.clear()
    assert saved.start().restore(EPOCH) == after.position
    assert saved.graph.names == graph


@pytest.mark.parametrize("change", ["written", "voided", "epoch", "behind our back"])
def test_a_graph_that_may_be_another_one_is_saved(saved: Engine, change: str) -> None:
    checkpoints = saved.start()
    checkpoints.restore(EPOCH)
    before = mark_of(saved)
    if change == "written":
        checkpoints.wrote(1)
    if change == "voided":
        with checkpoints.voided():
            pass
    if change == "behind our back":
        saved.graph.names.append("another")
    assert checkpoints.take("another" if change == "epoch" else EPOCH, lambda: before.position)
    assert mark_of(saved).file != before.file


@pytest.mark.parametrize("size", [30, 300, 3_000, 30_000])
def test_at_most_two_elements_are_saved_for_each_that_changes(engine: Engine, size: int) -> None:
    checkpoints = engine.start(every=10)
    engine.graph.names += ["x"] * (size // 3)  # three elements each
    assert checkpoints.take(EPOCH, lambda: 1)
    saved = changed = 0
    while changed < 3 * size:
        checkpoints.wrote(7)
        changed += 7
        if checkpoints.due:
            assert checkpoints.take(EPOCH, lambda: 1)
            saved += size
    assert 0 < saved <= 2 * changed


def test_a_large_graph_is_saved_after_half_as_many_changes(engine: Engine) -> None:
    checkpoints = engine.start(every=10)
    engine.graph.names += ["x"] * 20  # 60 elements
    assert checkpoints.take(EPOCH, lambda: 1)
    checkpoints.wrote(29)
    assert not checkpoints.due
    checkpoints.wrote(1)
    assert checkpoints.due


def test_a_restored_graph_counts_its_changes_from_there(saved: Engine) -> None:
    checkpoints = saved.start(every=2)
    checkpoints.wrote(100)
    checkpoints.restore(EPOCH)
    assert not checkpoints.due


# --- refusals ------------------------------------------------------------------------------------


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def changed(file: Path) -> None:
    file.write_bytes(b"X" + file.read_bytes()[1:])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (cut_short, "2 bytes instead of 3"),
        (changed, "has changed"),
        (emptied, "0 bytes"),
        (Path.unlink, "No such file"),
    ],
)
def test_a_damaged_file_is_refused_with_its_reason(
    saved: Engine, damage: Callable[[Path], None], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    damage(saved.folder / mark_of(saved).file)
    assert saved.start().restore(EPOCH) is None
    assert saved.graph.names == []
    assert reason in caplog.text
    assert "everything is rebuilt" in caplog.text
    assert saved.files() == []
    assert saved.start().restore(EPOCH) is None, "it is not tried again"


def test_a_graph_with_other_counts_than_were_saved_is_refused(
    saved: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    mark = replace(mark_of(saved), edges=5)
    saved.marks.set_meta(MARK_KEY, write_mark(mark))
    assert saved.start().restore(EPOCH) is None
    assert saved.graph.names == []
    assert "4 edges instead of 2 and 5" in caplog.text


def test_a_graph_that_is_larger_than_the_engine_is_not_loaded(
    saved: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    assert saved.start(capacity=lambda: 5).restore(EPOCH) is None
    assert "it has 6 vertices and edges, and the engine holds about 5" in caplog.text
    assert saved.graph.names == []


def test_a_graph_that_fits_is_loaded(saved: Engine) -> None:
    assert saved.start(capacity=lambda: 6).restore(EPOCH) == 8


def test_a_checkpoint_of_another_translator_is_refused(saved: Engine) -> None:
    assert saved.start().restore("e2") is None


def test_a_file_that_the_engine_cannot_read_is_refused(saved: Engine) -> None:
    checkpoints = saved.start()
    saved.graph.fails = GraphRejected("Buffer underflow")
    assert checkpoints.restore(EPOCH) is None
    assert saved.graph.names == []


def test_an_engine_that_dies_of_its_checkpoint_is_not_given_it_again(saved: Engine) -> None:
    checkpoints = saved.start()
    saved.graph.fails = GraphUnavailable("it died")
    with pytest.raises(GraphUnavailable):
        checkpoints.restore(EPOCH)
    saved.graph.fails = None
    assert checkpoints.restore(EPOCH) is None
    assert saved.graph.names == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        '{"format": 3}',
        '{"format": 2, "file": "x"}',
        json.dumps(
            {"format": 2, "file": "../checkpoint-x.kryo", "epoch": EPOCH, "position": 1}
            | {"vertices": 0, "edges": 0, "size": 0, "digest": ""}
        ),
    ],
)
def test_a_mark_that_cannot_be_one_is_none(engine: Engine, text: str) -> None:
    assert read_mark(text) is None
    engine.marks.set_meta(MARK_KEY, text)
    assert engine.start().restore(EPOCH) is None


def test_a_mark_of_the_former_format_is_read(saved: Engine) -> None:
    values = json.loads(saved.marks.kept[MARK_KEY])
    saved.marks.kept[MARK_KEY] = json.dumps(values | {"format": 1, "last": 9})
    assert saved.start().restore(EPOCH) == 8
    assert saved.graph.names == ["a", "b"]


def test_a_mark_survives_its_spelling() -> None:
    mark = Mark("checkpoint-x.kryo", EPOCH, 3, 4, 5, 6, "ab")
    assert read_mark(write_mark(mark)) == mark


# --- crashes -------------------------------------------------------------------------------------


class Killed(BaseException):
    """As kill -9: nothing of ours runs after it."""


@dataclass
class Steps:
    """The system calls that change something; the one numbered ``kill_at`` never happens."""

    done: int = 0
    kill_at: int | None = None

    def guard(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if self.done == self.kill_at:
                raise Killed
            self.done += 1
            return real(*arguments, **named)

        return call


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    counted = Steps()
    for owner, name in (
        (FileGraph, "save"),
        (os, "fsync"),
        (Path, "rename"),
        (Path, "unlink"),
        (Marks, "set_meta"),
    ):
        monkeypatch.setattr(owner, name, counted.guard(getattr(owner, name)))
    return counted


def test_a_kill_at_any_step_leaves_the_former_or_the_new_checkpoint_whole(
    engine: Engine, steps: Steps
) -> None:
    checkpoints = engine.start()
    engine.graph.names += ["a", "b"]
    checkpoints.take(EPOCH, lambda: 8)
    kept = {8: ["a", "b"]}
    for step in range(20):
        checkpoints = engine.start()
        position = 100 + step
        engine.graph.names += [f"{step}-{each}" for each in range(step + 1)]
        kept[position] = list(engine.graph.names)
        steps.done, steps.kill_at = 0, step
        try:
            checkpoints.take(EPOCH, lambda at=position: at)  # type: ignore[misc]
            killed = False
        except Killed:
            killed = True
        steps.kill_at = None
        restored = engine.start().restore(EPOCH)
        assert restored is not None
        assert engine.graph.names == kept[restored]
        if not killed:
            break
    assert not killed
    assert step >= 5, "each step was killed once"
    assert restored == position


def test_a_file_that_a_kill_left_is_removed_by_the_next_checkpoint(saved: Engine) -> None:
    (saved.folder / "checkpoint-old.kryo").write_text("x")
    (saved.folder / "checkpoint-cut.new.kryo").write_text("x")
    (saved.folder / "engine.log").write_text("kept")
    checkpoints = saved.start()
    assert checkpoints.take(EPOCH, lambda: 9)
    assert saved.files() == [mark_of(saved).file, "engine.log"]


@pytest.mark.parametrize("failure", [GraphRejected("no space left"), GraphUnavailable("it died")])
def test_a_checkpoint_that_fails_leaves_the_former_one(saved: Engine, failure: Exception) -> None:
    checkpoints = saved.start()
    saved.graph.fails = failure
    before = mark_of(saved)
    assert not checkpoints.take(EPOCH, lambda: 9)
    assert mark_of(saved) == before
    assert saved.files() == [before.file]


def test_a_journal_that_is_full_leaves_the_former_checkpoint(saved: Engine) -> None:
    checkpoints = saved.start()
    saved.marks.full = True
    assert not checkpoints.take(EPOCH, lambda: 9)
    saved.marks.full = False
    assert saved.start().restore(EPOCH) == 8


def test_a_checkpoint_that_does_not_fit_is_not_begun_and_leaves_the_former_one(
    saved: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    """The engine would fill the disk, and meanwhile no command could be journalled."""
    free = 0
    checkpoints = saved.start(free=lambda: free)
    saved.graph.names += ["a", "b", "c"]
    saved.graph.fails = AssertionError("the engine was asked")
    before = mark_of(saved)
    assert not checkpoints.take(EPOCH, lambda: 9)
    assert mark_of(saved) == before
    (line,) = [one for one in caplog.messages if "no checkpoint" in one]
    assert "the disk has 0.0 MB free" in line
    saved.graph.fails, free = None, 3_000
    assert checkpoints.take(EPOCH, lambda: 9)
    assert mark_of(saved).position == 9


def test_after_a_removal_a_checkpoint_that_does_not_fit_is_tried_again_in_time(
    saved: Engine,
) -> None:
    clock, free = Clock(), 0
    checkpoints = saved.start(free=lambda: free, clock=clock)
    saved.graph.names += ["a"]
    void(checkpoints)
    assert not checkpoints.take(EPOCH, lambda: 9)
    assert not checkpoints.due
    assert not checkpoints.overdue
    clock.now += LONGEST_WITHOUT_SECONDS
    free = 3_000
    assert checkpoints.overdue
    assert checkpoints.take(EPOCH, lambda: 9)


def test_the_file_of_a_checkpoint_that_was_set_aside_makes_room_for_the_next(saved: Engine) -> None:
    checkpoints = saved.start()
    saved.graph.names += ["a"]
    void(checkpoints)
    left: list[list[str]] = []
    saved.graph.before_answer = lambda: left.append(saved.files())
    assert checkpoints.take(EPOCH, lambda: 9)
    ((draft,),) = left
    assert draft.endswith(".new.kryo")


# --- removals after a checkpoint -----------------------------------------------------------------


def remove(engine: Engine, checkpoints: EngineCheckpoints, *ids: str) -> None:
    """Remove elements in a round that ends."""
    engine.graph.remove(ids, ())
    engine.marks.kept |= checkpoints.note_removals(ids)


def test_a_start_removes_again_the_elements_that_left_the_graph(saved: Engine) -> None:
    checkpoints = saved.start()
    assert checkpoints.restore(EPOCH) == 8
    remove(saved, checkpoints, "a", "never there")
    assert saved.start().restore(EPOCH) == 8
    assert saved.graph.names == ["b"]
    remove(saved, saved.start(), "b")
    assert saved.start().restore(EPOCH) == 8
    assert saved.graph.names == []


def test_an_edge_is_removed_as_one(saved: Engine) -> None:
    edge = identity.edge_id("feeds", "x", "y")
    asked: list[tuple[set[str], set[str]]] = []
    remove(saved, saved.start(), "a", edge)
    checkpoints = saved.start()
    saved.graph.remove = lambda *ids: asked.append((set(ids[0]), set(ids[1])))  # type: ignore[method-assign]
    checkpoints.restore(EPOCH)
    assert asked == [({"a"}, {edge})]


def test_the_removals_of_a_round_that_did_not_end_do_not_count(saved: Engine) -> None:
    saved.start().note_removals(["a"])
    saved.start().restore(EPOCH)
    assert saved.graph.names == ["a", "b"]
    remove(saved, saved.start(), "b")
    saved.start().restore(EPOCH)
    assert saved.graph.names == ["a"], "they were written over"


def test_a_journal_restored_from_a_backup_meets_only_the_removals_before_it(saved: Engine) -> None:
    checkpoints = saved.start()
    remove(saved, checkpoints, "a")
    backup = dict(saved.marks.kept)
    remove(saved, checkpoints, "b")
    saved.marks.kept = backup
    assert saved.start().restore(EPOCH) == 8
    assert saved.graph.names == ["b"]


def test_the_next_checkpoint_takes_the_place_of_the_removals(saved: Engine) -> None:
    checkpoints = saved.start()
    checkpoints.restore(EPOCH)
    remove(saved, checkpoints, "a")
    saved.graph.names.append("a")
    assert checkpoints.take(EPOCH, lambda: 9)
    assert saved.files() == [mark_of(saved).file]
    assert saved.start().restore(EPOCH) == 9
    assert saved.graph.names == ["b", "a"]


def test_a_graph_that_lost_an_element_is_another_one_than_was_saved(saved: Engine) -> None:
    checkpoints = saved.start()
    checkpoints.restore(EPOCH)
    file = mark_of(saved).file
    remove(saved, checkpoints, "a")
    saved.graph.names.append("another")
    assert checkpoints.take(EPOCH, lambda: 9)
    assert mark_of(saved).file != file


@pytest.mark.parametrize("damage", [cut_short, changed, emptied, Path.unlink])
def test_removals_that_are_damaged_refuse_the_checkpoint(
    saved: Engine, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    remove(saved, saved.start(), "a")
    (file,) = saved.folder.glob("*.removed")
    damage(file)
    assert saved.start().restore(EPOCH) is None
    assert ".removed" in caplog.text
    assert saved.files() == []


@pytest.mark.parametrize("another", [[], ["b"]], ids=["at a start", "at the next removal"])
def test_a_note_of_removals_that_cannot_be_read_refuses_the_checkpoint(
    saved: Engine, another: list[str]
) -> None:
    remove(saved, saved.start(), "a")
    saved.marks.kept[REMOVALS_KEY] = saved.marks.kept[REMOVALS_KEY].partition(" ")[0] + " many"
    assert saved.start().note_removals(another) == {}
    assert saved.start().restore(EPOCH) is None


def test_a_checkpoint_is_set_aside_where_removals_cannot_be_noted(
    saved: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    removals_of(saved.folder / mark_of(saved).file).mkdir()
    checkpoints = saved.start()
    assert checkpoints.note_removals(["a"]) == {}
    assert "set aside" in caplog.text
    assert checkpoints.due
    assert saved.start().restore(EPOCH) is None


def test_without_a_checkpoint_no_removal_is_noted(engine: Engine) -> None:
    assert engine.start().note_removals(["a"]) == {}
    assert engine.files() == []


# --- taking back ---------------------------------------------------------------------------------


def test_a_reopened_journal_sets_the_checkpoint_aside(saved: Engine) -> None:
    checkpoints = saved.start()
    with checkpoints.voided():
        assert saved.marks.get_meta(MARK_KEY) == ""
    assert saved.start().restore(EPOCH) is None


def test_a_checkpoint_that_began_before_the_journal_was_reopened_does_not_count(
    saved: Engine,
) -> None:
    checkpoints = saved.start()

    def reopen() -> None:
        with checkpoints.voided():
            pass

    saved.graph.before_answer = reopen
    checkpoints.wrote(5)
    assert not checkpoints.take(EPOCH, lambda: 9)
    assert checkpoints.worth_taking
    assert saved.files() == []
    saved.graph.before_answer = lambda: None
    assert checkpoints.take(EPOCH, lambda: 9)


def test_nothing_is_reopened_where_the_mark_cannot_be_removed(saved: Engine) -> None:
    checkpoints = saved.start()
    saved.marks.full = True
    with pytest.raises(JournalUnavailable), checkpoints.voided():
        raise AssertionError("the journal was changed")


# --- the projector -------------------------------------------------------------------------------


@dataclass
class Recorded:
    """Checkpoints that remember their calls; the last one holds documents before 3."""

    asked: list[str] = field(default_factory=list)
    due: bool = False
    overdue: bool = False
    worth_taking: bool = True

    def wrote(self, elements: int) -> None:
        self.asked.append("wrote")

    def projected(self, documents: int) -> None:
        self.asked.append(f"projected {documents}")

    def take(self, epoch: str, position: Callable[[], int]) -> bool:
        self.asked.append(f"take {position()}")
        self.worth_taking = False
        return True

    @contextmanager
    def voided(self) -> Iterator[None]:
        self.asked.append("void")
        yield

    def note_removals(self, ids: Collection[str]) -> dict[str, str]:
        return {}

    def restore(self, epoch: str) -> int | None:
        self.asked.append("restore")
        return 3


def projector_over(headwater: SmallHeadwater, checkpoints: Recorded, **options: Any) -> Projector:
    return Projector(
        headwater.journal,
        headwater.graph,
        headwater.generations,
        checkpoints=checkpoints,
        **options,
    )


@pytest.fixture
def projected() -> Iterator[SmallHeadwater]:
    """Six documents, projected into a graph that has forgotten them since."""
    headwater = small_headwater()
    for number in range(3):
        name = f"{number:08d}-0000-0000-0000-000000000000"
        headwater.accept(plan(a_plan(id=name)), event(an_event(planId=name)))
    headwater.project()
    headwater.graph.clear()
    yield headwater
    headwater.close()


def test_only_documents_from_the_checkpoints_position_on_are_projected_again(
    projected: SmallHeadwater,
) -> None:
    checkpoints = Recorded()
    projector_over(projected, checkpoints).prepare()
    assert checkpoints.asked == ["restore"]
    assert projected.journal.first_unprojected() == 3


def test_a_start_that_is_interrupted_after_the_checkpoint_is_done_again(
    projected: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a graph with something in it would pass for a whole one."""
    checkpoints = Recorded()
    projector = projector_over(projected, checkpoints)

    def interrupted(**options: Any) -> int:
        projected.graph.write(Facts((Vertex("ds_1", labels.DATASET),)))
        raise JournalUnavailable("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(projected.journal, "reopen", interrupted)
        with pytest.raises(JournalUnavailable):
            projector.prepare()
    projector.prepare()
    assert checkpoints.asked == ["restore", "restore"]
    assert projected.journal.first_unprojected() == 3


def test_an_engine_that_dies_while_the_projector_prepares_is_restarted(
    projected: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    restarted = threading.Event()

    def dead() -> tuple[int, int]:
        if not restarted.is_set():
            raise GraphUnavailable("it died")
        return 0, 0

    def restart() -> bool:
        restarted.set()
        return True

    monkeypatch.setattr(projected.graph, "count", dead)
    projector = projector_over(
        projected, Recorded(), restart_engine=restart, sleep=lambda seconds: None
    )
    projector.start()
    assert restarted.wait(60)
    projector.stop()


def test_replaying_sets_the_checkpoint_aside_and_a_stop_takes_one(
    projected: SmallHeadwater,
) -> None:
    checkpoints = Recorded()
    projector = projector_over(projected, checkpoints)
    projector.replay([DocumentState.FAILED])
    assert checkpoints.asked == ["void"]
    projector.start()
    assert projector.wait(range(1, 7), 20)
    while projector.state != "ready":
        projector.notify()
    projector.stop()
    assert checkpoints.asked[-1] == "take 7"
    projector.stop()
    assert checkpoints.asked.count("take 7") == 1


def test_a_checkpoint_that_is_due_is_taken_between_two_rounds(projected: SmallHeadwater) -> None:
    checkpoints = Recorded(due=True, worth_taking=False)
    projector = projector_over(projected, checkpoints)
    projector.start()
    while not any(asked.startswith("take") for asked in checkpoints.asked):
        projector.notify()
    projector.stop()
