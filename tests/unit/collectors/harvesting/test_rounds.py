"""Rounds of a harvester: where they begin, what they repeat, and what a cut leaves."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from collectors.harvesting.rounds import (
    Harvested,
    Position,
    PositionFile,
    begin,
    harvest,
)
from graph_model.documents.files import Prepared, Refusal
from graph_model.errors import ConfigurationError, Unavailable

NOW = 1_000_000
MINUTE = 60_000


class Shelf:
    """A source of a few events by (key, time, mark)."""

    name = "shelf"

    def __init__(
        self, *things: tuple[str, int, str], overlap: int | None = 100, kept: int | None = 10_000
    ) -> None:
        self.things = things
        self.overlap = overlap
        self.kept = kept

    def settings(self) -> Mapping[str, str]:
        return {"shelf": "upper"}

    def findings(self, since: int, known: Container[str]) -> Iterator[Harvested]:
        for key, at, mark in self.things:
            if (self.overlap is None or at >= since) and key not in known:
                yield Harvested(key, at, lambda key=key: (event(key),), mark)  # type: ignore[misc]


def event(key: str) -> dict[str, Any]:
    if key == "bad":
        return {"eventTime": "never", "job": {}}
    return {
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "urn:test",
        "job": {"namespace": "n", "name": key},
        "outputs": [{"namespace": "s3://lake", "name": key}],
    }


class Pile:
    """An intake that can be away."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.away = False

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        if self.away:
            raise Unavailable("away")
        self.taken += [one.piece.where for one in documents]
        return ()

    def received(self) -> int:
        return len(self.taken)


def positions(folder: Path, source: Shelf) -> PositionFile:
    return PositionFile(None, folder, source)


@pytest.mark.parametrize(
    ("position", "asked", "expected"),
    [
        (None, None, NOW - 10_000),
        (None, 5, 5),
        (Position(900, 5_000), None, 4_900),
        (Position(900, 5_000), 3_000, 4_900),  # a restart with --since 7d goes on
        (Position(900, 5_000), 100, 100),  # an earlier one fetches what is missing
        (Position(4_950, 5_000), None, 4_950),  # the overlap ends where the first load began
    ],
)
def test_a_round_begins_at_its_position(
    position: Position | None, asked: int | None, expected: int
) -> None:
    assert begin(Shelf(), position, asked, NOW) == expected


def test_what_was_taken_is_not_taken_again_within_the_overlap(tmp_path: Path) -> None:
    source, pile = Shelf(("a", NOW - 50, ""), ("b", NOW - 20, "")), Pile()
    place = positions(tmp_path, source)
    harvest(source, pile, place, 0, NOW, print)
    source.things = (*source.things, ("late", NOW - 60, ""))
    counts = harvest(source, pile, place, None, NOW + 10, print)
    assert (pile.taken, counts.findings) == (["a", "b", "late"], 1)
    harvest(source, pile, place, None, NOW + 10_000, print)
    position = place.load()
    assert position is not None
    assert position.taken == {}  # a history forgets what no round can meet again


def test_another_mark_of_a_state_is_taken_again_and_none_is_forgotten(tmp_path: Path) -> None:
    source, pile = Shelf(("a", 1, "x"), ("b", 1, "x"), overlap=None, kept=None), Pile()
    place = positions(tmp_path, source)
    harvest(source, pile, place, None, NOW, print)
    source.things = (("a", 2, "y"), ("b", 2, "x"))
    harvest(source, pile, place, None, 9 * NOW, print)
    source.things = (("a", 3, "x"), ("b", 3, "x"))  # as it was before
    harvest(source, pile, place, None, 10 * NOW, print)
    assert pile.taken == ["a", "b", "a", "a"]


def test_a_position_stays_where_it_is_while_the_intake_is_away(tmp_path: Path) -> None:
    source, pile = Shelf(("a", NOW - 50, "")), Pile()
    place = positions(tmp_path, source)
    pile.away = True
    with pytest.raises(Unavailable):
        harvest(source, pile, place, 0, NOW, print)
    assert place.load() is None
    pile.away = False
    assert harvest(source, pile, place, 0, NOW, print).documents == 1


def test_a_refused_event_is_said_once_and_holds_nothing_up(tmp_path: Path) -> None:
    source, pile, said = Shelf(("bad", NOW, ""), ("b", NOW, "")), Pile(), list[str]()
    place = positions(tmp_path, source)
    counts = harvest(source, pile, place, 0, NOW, said.append)
    assert (counts.documents, counts.refused, pile.taken) == (1, 1, ["b"])
    assert said[0].startswith("bad: refused: ")
    assert harvest(source, pile, place, None, NOW, said.append).refused == 0


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"since": 1, "until": 2, "taken": [1]}'])
def test_a_damaged_position_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"p\.json is no position"):
        PositionFile(path, tmp_path, Shelf()).load()


def test_the_position_of_another_harvest_is_refused(tmp_path: Path) -> None:
    path, lower = tmp_path / "p.json", Shelf()
    lower.settings = lambda: {"shelf": "lower"}  # type: ignore[method-assign]
    PositionFile(path, tmp_path, lower).save(Position(1, 2))
    with pytest.raises(ConfigurationError, match="of another harvest, shelf-"):
        PositionFile(path, tmp_path, Shelf()).load()


def test_a_stop_in_the_middle_repeats_nothing_and_loses_nothing(tmp_path: Path) -> None:
    things = [(key, NOW - at, "") for key, at in (("a", 90), ("b", 50), ("c", 20))]
    source, pile, asked = Shelf(*things), Pile(), iter([False, True])
    place = positions(tmp_path, source)
    harvest(source, pile, place, 0, NOW, print, stopped=lambda: next(asked))
    assert (pile.taken, place.load()) == (["a"], Position(0, 0, {"a": (NOW - 90, "")}))
    harvest(source, pile, place, None, NOW, print)
    assert pile.taken == ["a", "b", "c"]


def test_a_stop_while_older_things_are_fetched_does_not_count_them_as_covered(
    tmp_path: Path,
) -> None:
    source, pile, asked = (
        Shelf(("a", 50, ""), ("b", 60, ""), kept=None),
        Pile(),
        iter([False, True]),
    )
    place = positions(tmp_path, source)
    place.save(Position(NOW - 500, NOW))
    harvest(source, pile, place, 10, NOW, print, stopped=lambda: next(asked))
    harvest(source, pile, place, 10, NOW, print)
    assert pile.taken == ["a", "b"]
    assert place.load() == Position(10, NOW)


def test_what_was_found_before_a_source_failed_is_durable(tmp_path: Path) -> None:
    source, pile = Shelf(("a", NOW - 50, "")), Pile()
    place, findings = positions(tmp_path, source), source.findings

    def failing(since: int, known: Container[str]) -> Iterator[Harvested]:
        yield from findings(since, known)
        raise Unavailable("throttled")

    source.findings = failing  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="throttled"):
        harvest(source, pile, place, 0, NOW, print)
    assert (pile.taken, place.load()) == (["a"], Position(0, 0, {"a": (NOW - 50, "")}))


def test_a_pause_longer_than_the_source_keeps_its_history_is_said(tmp_path: Path) -> None:
    source, said = Shelf(), list[str]()
    place = positions(tmp_path, source)
    place.save(Position(0, 5_000))
    harvest(source, Pile(), place, None, 20_000, said.append)
    assert said == [
        "  shelf keeps no history any longer of the time "
        "from 1970-01-01T00:00:05.000Z to 1970-01-01T00:00:10.000Z"
    ]
    harvest(source, Pile(), place, None, 21_000, said.append)
    assert len(said) == 1
