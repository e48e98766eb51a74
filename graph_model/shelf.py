"""Values that are kept for a while: as many as a bound allows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_ONE_IN: Final = 16
"""Of the new values that find no room, one in so many takes the place of the oldest."""
_ROUNDS: Final = 4
_NEAR: Final = 256
"""What was asked for so few values ago is asked for by everybody."""


class Shelf(Generic[_Key, _Value]):
    """Values by key, whose weights are at most ``most``; what was not asked for longest goes.

    Safe from several threads.
    """

    def __init__(self, most: int, weigh: Callable[[_Value], int]) -> None:
        self._most = most
        self._weigh = weigh
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def find(self, keys: Iterable[_Key]) -> dict[_Key, _Value]:
        """Those of these that are kept."""
        with self._lock:
            found = {key: self._values[key] for key in keys if key in self._values}
            for key in found:
                self._values.move_to_end(key)
        return found

    def get(self, key: _Key) -> _Value | None:
        """The value of one key, as ``find`` finds it."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
        return value

    def keep(self, values: Mapping[_Key, _Value]) -> None:
        """A key has one value for ever: one that is kept already stays."""
        with self._lock:
            for key, value in values.items():
                if key not in self._values:
                    self._values[key] = value
                    self._bytes += self._weigh(value)
                    self._make_room(key)

    def _make_room(self, newest: _Key) -> None:  # noqa: ARG002 - see the shelves below
        while self._bytes > self._most:
            self._drop_oldest()

    def _drop_oldest(self) -> _Key:
        key, gone = self._values.popitem(last=False)
        self._bytes -= self._weigh(gone)
        return key


class WaitingShelf(Shelf[_Key, _Value]):
    """Values that wait in a queue, each to be asked for once, by ``spend``.

    What was spent goes first. Of more than there is room for, the oldest is the next to be wanted:
    so a new value is not kept, but for one in 16, which lets nothing wait for ever.
    """

    def __init__(self, most: int, weigh: Callable[[_Value], int]) -> None:
        super().__init__(most, weigh)
        self._spent: set[_Key] = set()
        self._late = 0

    def spend(self, key: _Key) -> _Value | None:
        """The value of one key, if it is kept; it may be asked for again, for a while."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key, last=False)
                self._spent.add(key)
        return value

    def _make_room(self, newest: _Key) -> None:
        if self._bytes <= self._most:
            return
        self._late += 1
        oldest_goes = self._late % _ONE_IN == 0  # and all that was spent before it
        while self._spent and (oldest_goes or self._bytes > self._most):
            self._drop_oldest()
        if oldest_goes:
            self._drop_oldest()
        elif self._bytes > self._most:
            self._values.move_to_end(newest, last=False)
        super()._make_room(newest)

    def _drop_oldest(self) -> _Key:
        key = super()._drop_oldest()
        self._spent.discard(key)
        return key


class RecurringShelf(Shelf[_Key, _Value]):
    """Values that come again in rounds, to be found by ``find``.

    Of more than there is room for, each would go just before it comes again, and none be found.
    So while the oldest may come again (it was asked for within the last rounds, as long as all that
    is kept), only one new value in 16 takes the place of others: most of what is kept is found.
    What everybody asks for, again and again, makes no round longer.
    """

    def __init__(self, most: int, weigh: Callable[[_Value], int]) -> None:
        super().__init__(most, weigh)
        self._asked = self._late = 0
        self._last: dict[_Key, int] = {}

    def find(self, keys: Iterable[_Key]) -> dict[_Key, _Value]:
        """Those of these that are kept."""
        with self._lock:
            found = {}
            for key in keys:
                self._asked += self._asked - self._last.get(key, -_NEAR) >= _NEAR
                if key in self._values:
                    found[key] = self._values[key]
                    self._values.move_to_end(key)
                    self._last[key] = self._asked
        return found

    def _make_room(self, newest: _Key) -> None:
        self._last[newest] = self._asked
        if self._bytes > self._most:
            self._late += 1
            idle = self._asked - self._last[next(iter(self._values))]
            if idle < _ROUNDS * len(self._values) and self._late % _ONE_IN:
                self._values.move_to_end(newest, last=False)  # the first to go
        super()._make_room(newest)

    def _drop_oldest(self) -> _Key:
        key = super()._drop_oldest()
        del self._last[key]
        return key
