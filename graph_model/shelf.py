"""Values that are kept for a while: as many as a bound allows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


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
                    self._make_room()

    def _make_room(self) -> None:
        while self._bytes > self._most:
            _, gone = self._values.popitem(last=False)
            self._bytes -= self._weigh(gone)
