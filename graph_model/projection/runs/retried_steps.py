"""Work in steps: a step that fails is taken again, one that succeeds is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

_Done = TypeVar("_Done")


class Steps(Generic[_Done]):
    """``begin`` gives all steps from the first one on. It is called again when its iterator
    fails.
    """

    def __init__(self, begin: Callable[[], Iterator[Callable[[], _Done]]]) -> None:
        self._begin = begin
        self._steps = begin()
        self._due: Callable[[], _Done] | None = None

    def take(self) -> _Done | None:
        """The result of the next step; None after the last one. Raises the step's errors."""
        if self._due is None:
            self._due = self._next()
        if self._due is None:
            return None
        done = self._due()
        self._due = None
        return done

    def _next(self) -> Callable[[], _Done] | None:
        try:
            return next(self._steps, None)
        except BaseException:
            self._steps = self._begin()
            raise
