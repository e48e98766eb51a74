"""What is kept for a while stays within its bound."""

from __future__ import annotations

from graph_model.shelf import Shelf

ROOM = 32


def test_the_bound_holds_whatever_the_values_weigh() -> None:
    shelf: Shelf[str, int] = Shelf(ROOM, lambda value: value)
    for number in range(300):
        shelf.keep({f"{number} {weight}": weight for weight in (1, 30, number)})
        kept = shelf.find([f"{n} {w}" for n in range(number + 1) for w in {1, 30, n}])
        assert sum(kept.values()) <= ROOM


def test_what_was_not_asked_for_longest_goes() -> None:
    shelf: Shelf[str, int] = Shelf(2, lambda _: 1)
    shelf.keep({"a": 1, "b": 2})
    assert shelf.get("a") == 1
    shelf.keep({"c": 3})
    assert shelf.find(["a", "b", "c"]) == {"a": 1, "c": 3}
