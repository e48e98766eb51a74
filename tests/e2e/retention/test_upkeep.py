"""HEADWATER_KEEP by itself: once a night, in steps, one service of several, as commands."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.intake import commands
from api.service import Service
from api.service.storage import MEASURES_KEY, StorageUse
from api.serving import upkeep as upkeep_module
from api.serving.upkeep import Upkeep
from graph_model.errors import GraphRejected, Rebuilding, Unavailable
from graph_model.producers.commands import COMMAND_KIND, Prune
from graph_model.producers.spline.documents import EVENT_KIND
from graph_model.projection.projector.rebuild_control import REBUILD_KEY
from graph_model.retention.coverage import resolve_prune
from graph_model.retention.forecast import read_measures
from graph_model.retention.policy import SILENT_MS, RetentionPolicy
from graph_model.stores.catalogue.rows import CATALOGUE_KEY, FILLING
from graph_model.stores.database import DiskReserve
from graph_model.stores.documents import DocumentState
from tests.e2e.small_client import running
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater, project
from tests.unit.graph_model.producers.test_commands import DAY, START, daily
from tests.unit.graph_model.retention.estates import in_one_run, tables
from tests.waiting import eventually

HOUR = 3_600_000
MIDNIGHT = START - START % DAY + 30 * DAY


class Clock:
    now = MIDNIGHT

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    load = daily("load", 1, "file:/raw", "file:/staged", range(20))
    fine = daily("fine", 2, "file:/staged", "file:/fine", range(20))
    with running(project([*load, *fine], stepwise=False)) as made:
        yield made


def service_of(
    headwater: SmallHeadwater, clock: Clock, storage: StorageUse | None = None
) -> Service:
    small = headwater
    return Service(
        small.journal, small.projector, small.graph, small.generations, clock, storage=storage
    )


def upkeep(service: Service, keep: RetentionPolicy | None) -> Upkeep:
    return Upkeep(service, keep, most=5, sleep=lambda _: True)


def test_nothing_goes_before_the_hour_has_come_and_then_all_of_it(
    headwater: SmallHeadwater,
) -> None:
    clock = Clock()
    nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5, hour=4))
    assert nightly.look() == 0  # the night that goes on was not begun here
    clock.now += 4 * HOUR - 1
    assert nightly.look() == 0
    clock.now += 1
    gone = nightly.look()
    assert gone > 20
    assert headwater.catalogue.executions(limit=1).total == 40 - gone
    assert nightly.look() == 0  # once a night


def test_its_steps_are_commands_that_say_how_many_executions_they_took(
    headwater: SmallHeadwater,
) -> None:
    clock = Clock()
    nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5, days=2))
    nightly.look()
    clock.now += DAY
    gone = nightly.look()
    page = headwater.journal.entries(kind=COMMAND_KIND)
    given = [
        json.loads(found.body)
        for one in page.items
        if (found := headwater.journal.document(one.position)) is not None
    ]
    assert {one["author"] for one in given} == {"retention"}
    assert all(one["command"] == "prune" and one["dropBodies"] for one in given)
    counts = [int(one["note"].split(": covers ")[1].split()[0]) for one in given]
    assert max(counts) <= 5
    assert sum(counts) == gone
    assert given[0]["note"].startswith("HEADWATER_KEEP=runs=5,days=2: ")


@pytest.mark.parametrize("stays", [False, True])
def test_the_documents_of_removed_runs_stay_where_the_setting_says_so(
    headwater: SmallHeadwater, stays: bool
) -> None:
    clock = Clock()
    nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5, keeps_bodies=stays))
    before = len(headwater.journal.entries(kind=EVENT_KIND, limit=1000).items)
    nightly.look()
    clock.now += DAY
    gone = nightly.look()
    assert gone > 0
    left = len(headwater.journal.entries(kind=EVENT_KIND, limit=1000).items)
    assert left == (before if stays else before - gone)


def given(headwater: SmallHeadwater) -> int:
    """The commands in the journal."""
    return headwater.journal.entries(kind=COMMAND_KIND).total


def test_runs_with_an_output_that_stays_are_given_up_once_and_nothing_else_is_claimed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "headwater.upkeep")
    estate = in_one_run(tables(1), range(30), others=["file:/kept"])
    with running(project(estate, stepwise=False)) as headwater:
        clock = Clock()
        nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5))
        nightly.look()
        clock.now += DAY
        assert nightly.look() == 0
        assert "0 of 25 executions before the new cut-offs were removed" in caplog.text
        commands = given(headwater)
        assert commands == 3, "of 5, 10 and 10, since the first removes nothing"
        clock.now += DAY
        assert nightly.look() == 0
        assert given(headwater) == commands, "the next night has nothing new to say"
        assert headwater.catalogue.executions(limit=1).total == 60


def test_runs_with_many_outputs_go_in_each_step() -> None:
    with running(project(in_one_run(tables(2), range(30)), stepwise=False)) as headwater:
        clock = Clock()
        totals: list[int] = []

        def look_at_the_catalogue(_: float) -> bool:
            totals.append(headwater.catalogue.executions(limit=1).total)
            return True

        nightly = Upkeep(
            service_of(headwater, clock),
            RetentionPolicy(runs=5),
            most=10,
            sleep=look_at_the_catalogue,
        )
        nightly.look()
        clock.now += DAY
        assert nightly.look() == 50
        assert totals == [50, 40, 30, 20, 10]


def test_a_command_that_fails_ends_the_night(caplog: pytest.LogCaptureFixture) -> None:
    load = daily("load", 1, "file:/raw", "file:/staged", range(20))
    made = project(load, stepwise=False)
    made.project_through(GraphThatRemovesNothing(made.graph))
    with running(made) as headwater:
        clock = Clock()
        nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5))
        nightly.look()
        clock.now += DAY
        assert nightly.look() == 0
        (command,) = headwater.journal.entries(kind=COMMAND_KIND).items
        assert command.state == DocumentState.FAILED
        assert f"the command in document {command.position} failed" in caplog.text
        assert nightly.look() == 0
        assert given(headwater) == 1, "no further one in this night"


class GraphThatRemovesNothing:
    """Refuses every removal, for a reason that nobody foresaw."""

    def __init__(self, inner: MemoryGraph) -> None:
        self._inner = inner

    def remove(self, vertices: Any, edges: Any) -> None:
        raise GraphRejected("nobody foresaw this")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def another_rebuilds(headwater: SmallHeadwater) -> None:
    headwater.journal.set_meta(REBUILD_KEY, "another")


def test_no_night_begins_during_a_rebuild(headwater: SmallHeadwater) -> None:
    clock = Clock()
    nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5))
    nightly.look()
    clock.now += DAY
    another_rebuilds(headwater)
    assert nightly.look() == 0
    assert given(headwater) == 0
    headwater.journal.set_meta(REBUILD_KEY, "none")
    assert nightly.look() > 20


def test_a_night_is_left_for_a_rebuild_and_goes_on_afterwards(headwater: SmallHeadwater) -> None:
    clock = Clock()

    def ask_for_a_rebuild(_: float) -> bool:
        another_rebuilds(headwater)
        return True

    service = service_of(headwater, clock)
    nightly = Upkeep(service, RetentionPolicy(runs=5), most=5, sleep=ask_for_a_rebuild)
    nightly.look()
    clock.now += DAY
    assert 0 < nightly.look() <= 5
    assert nightly.look() == 0
    assert given(headwater) == 1
    headwater.journal.set_meta(REBUILD_KEY, "none")
    assert upkeep(service, RetentionPolicy(runs=5)).look() > 15


def test_a_catalogue_that_is_emptied_while_the_night_begins_removes_nothing(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executions that are left of it do not show which others are needed."""
    clock = Clock()
    nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5))
    nightly.look()
    clock.now += DAY
    chosen = resolve_prune

    def empty(*asked: Any, **options: Any) -> Prune:
        headwater.journal.set_meta(CATALOGUE_KEY, FILLING)
        return chosen(*asked, **options)

    monkeypatch.setattr(commands, "resolve_prune", empty)
    with pytest.raises(Rebuilding):
        nightly.look()
    assert given(headwater) == 0


def test_one_of_two_services_does_it(headwater: SmallHeadwater) -> None:
    clock = Clock()
    service = service_of(headwater, clock)
    one, other = upkeep(service, RetentionPolicy(runs=5)), upkeep(service, RetentionPolicy(runs=5))
    assert (one.look(), other.look()) == (0, 0)
    clock.now += DAY
    assert one.look() > 0
    assert other.look() == 0


def test_the_next_service_does_the_work_that_an_ending_one_leaves(
    headwater: SmallHeadwater,
) -> None:
    clock = Clock()
    service = service_of(headwater, clock)
    ending = Upkeep(service, RetentionPolicy(runs=5), most=5, sleep=lambda _: False)
    ending.look()
    clock.now += DAY
    assert 0 < ending.look() <= 5
    following = upkeep(service, RetentionPolicy(runs=5))
    assert following.look() > 5
    assert following.look() == 0


def test_a_stop_does_not_wait_for_a_step_and_the_next_service_goes_on_at_once(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The projector, which stops after it, breaks the step off and saves the graph."""
    clock = Clock()
    service = service_of(headwater, clock)

    def wait(_positions: object, timeout: float) -> bool:
        time.sleep(timeout)
        return False

    monkeypatch.setattr(headwater.projector, "wait", wait)
    stopping = upkeep(service, RetentionPolicy(runs=5))
    stopping.look()
    clock.now += DAY
    night = threading.Thread(target=stopping.look)
    night.start()
    eventually(lambda: given(headwater) == 1)
    stopping.stop()
    night.join(60)
    assert not night.is_alive()
    monkeypatch.undo()
    assert upkeep(service, RetentionPolicy(runs=5)).look() > 5


def test_a_step_may_take_longer_than_a_look_at_the_stop(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock, answers = Clock(), [False, False]
    wait = headwater.projector.wait
    monkeypatch.setattr(
        headwater.projector, "wait", lambda *asked: answers.pop() if answers else wait(*asked)
    )
    nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5))
    nightly.look()
    clock.now += DAY
    assert nightly.look() > 20
    assert "takes too long" not in caplog.text


def test_a_step_that_never_ends_ends_the_night(
    headwater: SmallHeadwater, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    nightly = upkeep(service_of(headwater, clock), RetentionPolicy(runs=5))
    nightly.look()
    clock.now += DAY
    answers = [True, False]
    monkeypatch.setattr(upkeep_module, "_STEP_SECONDS", 0)
    monkeypatch.setattr(headwater.projector, "wait", lambda *_: answers.pop())
    assert nightly.look() == 0
    assert "takes too long" in caplog.text
    assert (given(headwater), answers) == (1, [True])


def test_an_upkeep_that_never_began_stops(headwater: SmallHeadwater) -> None:
    upkeep(service_of(headwater, Clock()), None).stop()


class Killed(BaseException):
    """The process ends here."""


def test_the_night_of_a_killed_service_is_done_when_it_gives_no_sign_any_more(
    headwater: SmallHeadwater,
) -> None:
    clock = Clock()
    service = service_of(headwater, clock)

    def die(_: float) -> bool:
        raise Killed

    dying = Upkeep(service, RetentionPolicy(runs=5), most=5, sleep=die)
    dying.look()
    clock.now += DAY
    with pytest.raises(Killed):
        dying.look()
    following = upkeep(service, RetentionPolicy(runs=5))
    clock.now += SILENT_MS
    assert following.look() == 0, "it may be at work"
    clock.now += 1
    assert following.look() > 5


def test_documents_and_questions_go_on_between_two_steps(headwater: SmallHeadwater) -> None:
    clock = Clock()
    service = service_of(headwater, clock)
    totals: list[int] = []

    def report_a_run(_: float) -> bool:
        (new,) = daily("load", 1, "file:/raw", "file:/staged", [40 + len(totals)])[1:]
        assert service.projector.wait(headwater.accept(new), 10.0)
        totals.append(headwater.catalogue.executions(limit=1).total)
        return True

    nightly = Upkeep(service, RetentionPolicy(runs=5), most=5, sleep=report_a_run)
    nightly.look()
    clock.now += DAY
    gone = nightly.look()
    assert len(totals) >= 4
    gone_before = [40 + place - total for place, total in enumerate(totals, 1)]
    assert gone_before == sorted(set(gone_before)), "each step takes some, and new runs are there"
    assert gone_before[-1] == gone


def test_without_the_setting_nothing_goes(headwater: SmallHeadwater) -> None:
    clock = Clock()
    nightly = upkeep(service_of(headwater, clock), None)
    for _ in range(3):
        assert nightly.look() == 0
        clock.now += DAY


def test_it_looks_more_often_while_documents_are_refused_and_says_so_once(
    headwater: SmallHeadwater, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every five seconds then, once a minute else; no thread."""
    seconds, looks = [0.0], []
    reserve = DiskReserve(10, lambda: 0 if 100 < seconds[0] <= 115 else 20, lambda: seconds[0])
    storage = StorageUse(headwater.journal, headwater.generations, Clock(), reserve=reserve)

    def sleep(pause: float) -> bool:
        seconds[0] += pause
        return seconds[0] <= 200

    nightly = Upkeep(service_of(headwater, Clock(), storage), None, sleep=sleep)
    monkeypatch.setattr(nightly, "look", lambda: looks.append(seconds[0]))
    nightly._run()
    assert looks == [60, 105, 110, 115, 175]
    said = [one.message for one in caplog.records if one.name == "headwater.upkeep"]
    assert said == [
        "the disk has only its reserve left: new documents are refused",
        "the disk has room again: new documents are taken",
    ]


def test_retention_goes_on_while_the_disk_cannot_be_measured(
    headwater: SmallHeadwater, tmp_path: Path
) -> None:
    clock = Clock()
    storage = StorageUse(
        headwater.journal, headwater.generations, clock, folder=tmp_path / "nowhere"
    )
    with pytest.raises(Unavailable, match="nowhere"):
        storage.forecast()
    nightly = upkeep(service_of(headwater, clock, storage), RetentionPolicy(runs=5))
    nightly.look()
    clock.now += DAY
    assert nightly.look() > 0
    kept = read_measures(headwater.journal.get_meta(MEASURES_KEY))
    assert [one.at for one in kept] == [MIDNIGHT, MIDNIGHT + DAY]
