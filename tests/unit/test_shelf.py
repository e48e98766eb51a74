"""Values that are kept for a while (graph_model.shelf)."""

from __future__ import annotations

import pytest

from graph_model.shelf import RecurringShelf, Shelf, WaitingShelf

ROOM = 100


def found_in_round(shelf: Shelf[str, int], names: list[str]) -> int:
    """How many of these are found when each is asked for in its turn, and kept if it is not."""
    found = 0
    for name in names:
        known = shelf.find([name])
        found += len(known)
        shelf.keep({} if known else {name: 1})
    return found


def named(first: int, number: int) -> list[str]:
    return [str(name) for name in range(first, first + number)]


def test_of_what_comes_in_rounds_most_that_fits_is_found() -> None:
    shelf = RecurringShelf[str, int](ROOM, lambda _: 1)
    rounds = [found_in_round(shelf, named(0, 120)) for _ in range(6)]
    assert rounds[0] == 0
    assert min(rounds[1:]) > 0.8 * ROOM


def test_what_fits_is_found_beside_what_never_comes_again() -> None:
    shelf = RecurringShelf[str, int](ROOM, lambda _: 1)
    found = []
    for number in range(60):
        found.append(found_in_round(shelf, named(0, 20)))
        found_in_round(shelf, named(1_000 * (number + 1), 10))
    assert found[1:] == [20] * 59


def test_what_comes_instead_is_found_a_few_rounds_later() -> None:
    shelf = RecurringShelf[str, int](ROOM, lambda _: 1)
    for _ in range(5):
        found_in_round(shelf, named(0, 120))
    after = [found_in_round(shelf, named(500, 120)) for _ in range(10)]
    assert after[0] == 0
    assert min(after[-3:]) > 0.8 * ROOM


def test_of_a_queue_longer_than_the_room_most_that_fits_is_found() -> None:
    shelf = WaitingShelf[str, int](ROOM, lambda _: 1)
    shelf.keep(dict.fromkeys(named(0, 2 * ROOM), 1))
    found = [shelf.spend(name) for name in named(0, ROOM)]
    assert sum(value is not None for value in found) > 0.9 * ROOM


def test_what_was_spent_makes_room_for_what_comes() -> None:
    shelf = WaitingShelf[str, int](ROOM, lambda _: 1)
    shelf.keep(dict.fromkeys(named(0, ROOM), 1))
    assert shelf.spend("0") == shelf.spend("7") == 1
    assert shelf.spend("0") == 1  # still there, until its room is wanted
    shelf.keep({"a": 1, "b": 1})
    kept = shelf.find([*named(0, ROOM), "a", "b"])
    assert set(kept) == {"a", "b", *named(0, ROOM)} - {"0", "7"}


def test_what_nobody_asks_for_does_not_stay_for_ever() -> None:
    shelf = WaitingShelf[str, int](ROOM, lambda _: 1)
    shelf.keep(dict.fromkeys(named(0, ROOM), 1))
    for number in range(2 * ROOM, 60 * ROOM):
        shelf.keep({str(number): 1})
        shelf.spend(str(number - ROOM // 2))
    assert not shelf.find(named(0, ROOM))


@pytest.mark.parametrize("kind", [Shelf, RecurringShelf, WaitingShelf])
def test_the_bound_holds_whatever_the_values_weigh(kind: type[Shelf[str, int]]) -> None:
    shelf: Shelf[str, int] = kind(ROOM, lambda value: value)
    for number in range(300):
        shelf.keep({f"{number} {weight}": weight for weight in (1, 30, number)})
        kept = shelf.find([f"{n} {w}" for n in range(number + 1) for w in {1, 30, n}])
        assert sum(kept.values()) <= ROOM
