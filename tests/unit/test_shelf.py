"""Values that are kept for a while (graph_model.shelf)."""

from __future__ import annotations

import pytest

from graph_model.shelf import RecurringShelf, Shelf

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


@pytest.mark.parametrize("kind", [Shelf, RecurringShelf])
def test_the_bound_holds_whatever_the_values_weigh(kind: type[Shelf[str, int]]) -> None:
    shelf: Shelf[str, int] = kind(ROOM, lambda value: value)
    for number in range(300):
        shelf.keep({f"{number} {weight}": weight for weight in (1, 30, number)})
        kept = shelf.find([f"{n} {w}" for n in range(number + 1) for w in {1, 30, n}])
        assert sum(kept.values()) <= ROOM
