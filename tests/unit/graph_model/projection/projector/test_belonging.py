"""Journal, catalogue and graph belong together; one that does not is made anew, with a reason.

Files are removed, put back from copies, swapped and damaged while the service is stopped, and pages
while it runs. In the end every answer is that of the documents in the journal.
"""

from __future__ import annotations

import logging
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from api.serving.doctor import _stores
from api.serving.storage import DATABASE_FILE, open_storage
from api.settings import read_settings
from graph_model.errors import ConfigurationError, JournalUnavailable, Unavailable
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.catalogue.tables import VERSION
from graph_model.stores.documents import DocumentState, Receipt, Submission
from graph_model.stores.journal import Journal
from tests.memory_graph import MemoryGraph
from tests.projections import elements_of
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan
from tests.waiting import eventually

CATALOGUE: Final = "catalogue-0.db"


class House:
    """Everything on one data folder; ``kept`` is a graph that outlives it (an external one)."""

    def __init__(
        self, folder: Path, kept: MemoryGraph | None = None, *, new_journal: bool = False
    ) -> None:
        settings = read_settings({"HEADWATER_DATA": str(folder)})
        self.database = open_storage(settings, make=True)
        self.journal = Journal(self.database)
        self.generations = Generations(self.database, self.journal)
        self.graph = kept or MemoryGraph()
        self.projector = Projector(
            self.journal, self.graph, self.generations, accepts_new_journal=new_journal
        )
        self._taken: list[int] = []

    def take(self, *submissions: Submission) -> None:
        self._taken += self.journal.accept(submissions, Receipt(0, "", "test", "raw"))
        self.projector.notify()

    def settle(self) -> None:
        """Until everything is projected and answers are whole.

        The projector lingers before its next round unless somebody waits for a document.
        """
        self.projector.wait(self._taken, 5.0)
        eventually(lambda: self.projector.state == "ready" and not self.journal.backlog().documents)
        eventually(lambda: self.journal.get_meta("rebuild") in (None, "none"))

    def elements(self) -> Any:
        return (
            tuple(sorted(self.graph.scan(), key=lambda element: element.id)),
            tuple(sorted(self.generations.current.scan(), key=repr)),
        )

    def close(self) -> None:
        self.projector.stop()
        self.generations.close()
        self.journal.close()


def numbered(*numbers: int) -> list[Submission]:
    found: list[Submission] = []
    for number in numbers:
        name = f"{number:08d}-2222-5333-8444-555555555555"
        found.append(plan(a_plan(id=name, name=f"job {number}")))
        found.append(event(an_event(1_700_000_000_000 + number, planId=name)))
    return found


@pytest.fixture(params=["embedded", "external"])
def kept(request: pytest.FixtureRequest) -> MemoryGraph | None:
    return MemoryGraph() if request.param == "external" else None


@pytest.fixture
def folder(tmp_path: Path, kept: MemoryGraph | None) -> Path:
    """Two plans came, one after the other, then the service was stopped."""
    data = tmp_path / "data"
    run(data, kept, *numbered(1, 2))
    return data


def run(data: Path, kept: MemoryGraph | None, *submissions: Submission) -> None:
    """A service that takes these, a round each, and is stopped."""
    house = House(data, kept)
    house.projector.start()
    for one in submissions:
        house.take(one)
        house.settle()
    house.close()


def remove(data: Path) -> None:
    for file in data.glob("catalogue-*"):
        file.unlink()


def no_bytes(data: Path) -> None:
    (data / CATALOGUE).write_bytes(b"")


def half(data: Path) -> None:
    file = data / CATALOGUE
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def no_database(data: Path) -> None:
    (data / CATALOGUE).write_bytes(b"this is no database at all\n" * 1_000)


def rubbish(data: Path) -> None:
    """The header stands, no page behind it."""
    file = data / CATALOGUE
    content = bytearray(file.read_bytes())
    content[4_096:] = random.Random(3).randbytes(len(content) - 4_096)
    file.write_bytes(content)


def another_catalogue(data: Path) -> None:
    other = data.with_name("other")
    run(other, None, *numbered(7, 8, 9))
    remove(data)
    shutil.copy(other / CATALOGUE, data / CATALOGUE)


def another_catalogue_of_another_number(data: Path) -> None:
    """The journal's own number is free: an empty catalogue would be made for it."""
    another_catalogue(data)
    (data / CATALOGUE).rename(data / "catalogue-3.db")


def another_journal(data: Path) -> None:
    """The same journal is in another folder as well, where it belongs to its catalogue."""
    other = data.with_name("other")
    run(other, None, *numbered(1, 2))
    for file in data.glob(f"{DATABASE_FILE}*"):
        file.unlink()
    for file in other.glob(f"{DATABASE_FILE}*"):
        shutil.copy(file, data / file.name)


def former_version(data: Path) -> None:
    """As the Headwater before this one left its catalogue."""
    with closing(sqlite3.connect(data / CATALOGUE)) as catalogue, catalogue:
        changed = catalogue.execute(
            "UPDATE headwater_schema SET version = ? WHERE component = 'catalogue'", (VERSION - 1,)
        )
        assert changed.rowcount == 1


def another_journal_at_an_upgrade(data: Path) -> None:
    another_journal(data)
    former_version(data)


def check_whole(data: Path, kept: MemoryGraph | None, said: str, *expected: int) -> None:
    """The next start says why, is not ready until everything is there, and stays well after it."""
    house = House(data, kept)
    house.projector.prepare()
    assert house.projector.state == "rebuilding"
    assert said in (house.projector.rebuild_reason or "")
    house.projector.start()
    house.settle()
    assert house.projector.rebuild_reason is None
    assert house.elements() == elements_of(numbered(*expected), stepwise=False)
    house.close()
    again = House(data, kept)
    again.projector.prepare()
    assert again.projector.rebuild_reason is None
    again.close()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (remove, "missing or empty"),
        (no_bytes, "missing or empty"),
        (half, "damaged"),
        (no_database, "damaged"),
        (rubbish, "damaged"),
    ],
)
def test_a_catalogue_that_is_not_the_journals_is_made_anew(
    folder: Path,
    kept: MemoryGraph | None,
    harm: Callable[[Path], None],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    harm(folder)
    doctor = {one.name: one for one in _stores(read_settings({"HEADWATER_DATA": str(folder)}))}
    assert not doctor["catalogue"].right
    assert "rebuilds" in doctor["catalogue"].text
    with caplog.at_level(logging.WARNING):
        check_whole(folder, kept, said, 1, 2)
    assert "a rebuild is needed" in caplog.text
    aside = [file.name for file in folder.glob("*_set_aside.db")]
    assert aside == ([] if said == "missing or empty" else ["catalogue-0_set_aside.db"])
    doctor = {one.name: one for one in _stores(read_settings({"HEADWATER_DATA": str(folder)}))}
    assert doctor["catalogue"].right


def test_a_catalogue_of_a_former_version_is_emptied_and_made_anew(
    folder: Path, kept: MemoryGraph | None
) -> None:
    former_version(folder)
    check_whole(folder, kept, "missing or empty", 1, 2)
    assert not list(folder.glob("*_set_aside.db"))


def copy_of(data: Path, *patterns: str) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for pattern in patterns for one in data.glob(pattern)}


def put_back(data: Path, copies: dict[str, bytes], *patterns: str) -> None:
    for pattern in patterns:
        for file in data.glob(pattern):
            file.unlink()
    for name, content in copies.items():
        (data / name).write_bytes(content)


@pytest.mark.parametrize("more", [numbered(3), numbered(3)[:1], numbered(3, 4, 5)])
def test_an_older_copy_of_the_catalogue_is_made_anew(
    folder: Path, kept: MemoryGraph | None, more: list[Submission]
) -> None:
    copies = copy_of(folder, "catalogue-*")
    run(folder, kept, *more)
    put_back(folder, copies, "catalogue-*")
    numbers = (1, 2, *range(3, 3 + (len(more) + 1) // 2))
    house = House(folder, kept)
    house.projector.start()
    eventually(lambda: house.projector.state == "ready" and not house.journal.backlog().documents)
    house.settle()
    expected = [*numbered(1, 2), *more] if len(more) == 1 else numbered(*numbers)
    assert house.elements() == elements_of(expected, stepwise=False)
    house.close()


@pytest.mark.parametrize("count", [1, 2, 6])
def test_a_catalogue_that_knows_documents_which_the_journal_lost_is_made_anew(
    folder: Path, kept: MemoryGraph | None, count: int
) -> None:
    """The journal was put back from an older copy."""
    copies = copy_of(folder, f"{DATABASE_FILE}*")
    run(folder, kept, *numbered(3, 4, 5)[:count])
    put_back(folder, copies, f"{DATABASE_FILE}*")
    check_whole(folder, kept, "newer than the journal", 1, 2)


def lose_journal(data: Path) -> None:
    for file in data.glob(f"{DATABASE_FILE}*"):
        file.unlink()


def lose_journal_after_a_rebuild(data: Path) -> None:
    """The catalogue has a number that an empty journal does not open."""
    lose_journal(data)
    (data / CATALOGUE).rename(data / "catalogue-3.db")


def lose_journal_and_damage_catalogue(data: Path) -> None:
    lose_journal(data)
    no_database(data)


def lose_journal_at_an_upgrade(data: Path) -> None:
    lose_journal(data)
    former_version(data)


@pytest.mark.parametrize(
    "harm",
    [
        lose_journal,
        lose_journal_after_a_rebuild,
        lose_journal_and_damage_catalogue,
        lose_journal_at_an_upgrade,
    ],
)
def test_an_empty_journal_beside_the_catalogue_of_another_is_not_ready_and_takes_nothing(
    folder: Path, kept: MemoryGraph | None, harm: Callable[[Path], None]
) -> None:
    harm(folder)
    for _ in range(2):  # a restart changes nothing
        house = House(folder, kept)
        with pytest.raises(JournalUnavailable, match=r"catalogue .*--new-journal"):
            house.projector.prepare()
        with pytest.raises(JournalUnavailable, match="the journal is new"):
            house.take(*numbered(5))
        with pytest.raises(JournalUnavailable, match="the journal is new"):
            house.journal.ensure_taking()
        assert kept is None or kept.count()[0]
        house.close()
    check_begins_anew(folder, kept)
    kept_aside = {"catalogue-0_set_aside.db", "catalogue-3_set_aside.db"}
    assert kept_aside & {file.name for file in folder.glob("catalogue-*")}


@pytest.mark.parametrize(
    "swap",
    [
        another_catalogue,
        another_catalogue_of_another_number,
        another_journal,
        another_journal_at_an_upgrade,
    ],
)
def test_a_journal_beside_the_catalogue_of_another_is_not_ready_and_takes_nothing(
    folder: Path, kept: MemoryGraph | None, swap: Callable[[Path], None]
) -> None:
    swap(folder)
    before = copy_of(folder, "catalogue-*")
    for _ in range(2):  # a restart changes nothing
        house = House(folder, kept)
        with pytest.raises(JournalUnavailable, match=r"of another journal.*--new-journal"):
            house.projector.prepare()
        with pytest.raises(JournalUnavailable, match="the journal is another one"):
            house.take(*numbered(5))
        house.close()
        assert before.items() <= copy_of(folder, "catalogue-*").items()
    house = House(folder, kept, new_journal=True)
    house.projector.start()
    house.settle()
    assert house.elements() == elements_of(numbered(1, 2), stepwise=False)
    house.close()
    again = House(folder, kept)
    again.projector.prepare()
    assert again.projector.rebuild_reason is None
    again.close()


def test_an_empty_journal_before_the_graph_of_another_leaves_it_as_it_is(tmp_path: Path) -> None:
    graph = MemoryGraph()
    run(tmp_path / "former", graph, *numbered(1, 2))
    content = tuple(graph.scan())
    house = House(tmp_path / "new", graph)
    with pytest.raises(JournalUnavailable, match=r"a graph of .*--new-journal"):
        house.projector.prepare()
    assert tuple(graph.scan()) == content
    house.close()
    check_begins_anew(tmp_path / "new", graph)


def check_begins_anew(data: Path, kept: MemoryGraph | None) -> None:
    """An accepted journal takes nothing over from the one before, and needs no word again."""
    house = House(data, kept, new_journal=True)
    house.projector.start()
    eventually(lambda: house.projector.state == "ready")
    house.close()
    house = House(data, kept)
    house.projector.start()
    house.take(*numbered(5))
    house.settle()
    assert house.elements() == elements_of(numbered(5), stepwise=False)
    house.close()


@pytest.mark.parametrize("harm", [no_bytes, half, no_database])
def test_a_damaged_journal_is_refused_and_left_as_it_is(
    folder: Path, harm: Callable[[Path], None]
) -> None:
    journal = folder / DATABASE_FILE
    shutil.copy(folder / CATALOGUE, folder / "kept")
    shutil.move(journal, folder / CATALOGUE)
    harm(folder)
    shutil.move(folder / CATALOGUE, journal)
    shutil.move(folder / "kept", folder / CATALOGUE)
    before = journal.read_bytes()
    with pytest.raises(ConfigurationError, match="restore the newest backup"):
        House(folder)
    assert journal.read_bytes() == before
    assert (folder / CATALOGUE).is_file()


def test_a_crash_between_the_catalogue_and_the_journal_is_no_mismatch(
    folder: Path, kept: MemoryGraph | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(folder, kept)
    house.projector.prepare()
    while house.projector.project_pending():
        pass

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(house.journal, "conclude", killed)
    house.take(*numbered(3))
    with pytest.raises(KeyboardInterrupt):
        house.projector.project_pending()
    house.generations.close()
    house.journal.close()
    again = House(folder, kept)
    again.projector.prepare()
    assert again.projector.rebuild_reason is None
    again.projector.start()
    again.settle()
    assert again.elements() == elements_of(numbered(1, 2, 3), stepwise=False)
    again.close()


def test_a_crash_while_everything_is_made_anew_begins_it_again(
    folder: Path, kept: MemoryGraph | None
) -> None:
    remove(folder)
    for steps in range(4):
        house = House(folder, kept)
        house.projector.prepare()
        assert house.projector.state == "rebuilding"
        for _ in range(steps):
            house.projector.rebuild_step()
        house.take(*numbered(10 + steps))
        house.projector.project_pending()
        house.generations.close()
        house.journal.close()
    house = House(folder, kept)
    house.projector.start()
    house.settle()
    numbers = (1, 2, 10, 11, 12, 13)
    assert house.elements() == elements_of(numbered(*numbers), stepwise=False)
    house.close()


@pytest.fixture
def running(folder: Path, kept: MemoryGraph | None) -> Iterator[House]:
    house = House(folder, kept)
    house.projector.start()
    house.settle()
    yield house
    house.close()


def test_a_page_that_breaks_while_the_service_runs_is_noticed_and_mended(
    running: House, folder: Path
) -> None:
    former = running.generations.current
    file = folder / CATALOGUE
    former._engine.dispose()  # pages that are read already would hide it
    content = bytearray(file.read_bytes())
    content[4_096:] = b"\xff" * (len(content) - 4_096)
    file.write_bytes(content)
    with pytest.raises(Unavailable, match="damaged"):
        former.list_jobs(now=0)
    assert "damaged" in (running.projector.rebuild_reason or "")
    assert running.projector.state != "ready"
    running.projector.notify()
    running.settle()
    assert running.generations.current is not former
    assert running.elements() == elements_of(numbered(1, 2), stepwise=False)
    running.take(*numbered(3))
    running.settle()
    assert running.elements() == elements_of(numbered(1, 2, 3), stepwise=False)


def test_a_graph_that_was_emptied_while_the_service_idles_is_filled_again(running: House) -> None:
    running.graph.clear()
    running.projector._probe.look_soon()
    running.projector.notify()
    eventually(lambda: running.graph.count()[0] > 0)
    running.settle()
    assert running.elements() == elements_of(numbered(1, 2), stepwise=False)


def test_a_graph_that_was_emptied_while_the_service_was_stopped_is_filled_again(
    folder: Path, kept: MemoryGraph | None
) -> None:
    house = House(folder, MemoryGraph())
    house.projector.start()
    house.settle()
    assert house.elements() == elements_of(numbered(1, 2), stepwise=False)
    house.close()


def test_a_graph_of_another_journal_is_made_anew(folder: Path, tmp_path: Path) -> None:
    foreign = MemoryGraph()
    run(tmp_path / "other", foreign, *numbered(7, 8))
    check_whole(folder, foreign, "none of the jobs that the catalogue names", 1, 2)


@pytest.mark.parametrize(
    "seed",
    [*range(8), *(pytest.param(seed, marks=pytest.mark.part("recovery")) for seed in range(8, 30))],
)
def test_wherever_a_bit_of_the_catalogue_flips_the_service_starts_and_a_rebuild_mends_all(
    tmp_path: Path, seed: int
) -> None:
    """Structure that breaks is found. A value that changes in its place is not: it may contradict
    its document, which is set aside then.
    """
    data, rng = tmp_path / "data", random.Random(seed)
    run(data, None, *numbered(1, 2))
    content = bytearray((data / CATALOGUE).read_bytes())
    for _ in range(20):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    (data / CATALOGUE).write_bytes(content)
    house = House(data)
    house.projector.start()
    house.take(*numbered(3))
    house.settle()
    failed = house.journal.entries(state=DocumentState.FAILED).items
    assert all("FactConflict" in (one.reason or "") for one in failed)
    house.projector.request_rebuild()
    house.settle()
    assert house.journal.summary().projected == 6
    assert house.elements() == elements_of(numbered(1, 2, 3), stepwise=False)
    house.close()
