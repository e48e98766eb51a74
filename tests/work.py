"""The work of a call, counted: the same number on every machine and under every load.

A line that runs is one. So is every character of a text that the line bound to a name or put at
the end of a list, and that a method made a text or a list from: ``text = text[1:]`` in a loop over
a text is the square of its length, however fast a machine copies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from cProfile import Profile
from types import FrameType
from typing import Any, Final

_MAKING: Final = frozenset({
    "capitalize", "casefold", "decode", "encode", "expandtabs", "lower", "lstrip",
    "partition", "removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip",
    "split", "splitlines", "strip", "title", "translate", "upper", "copy", "insert", "sort",
})  # fmt: skip
_SIZED: Final = (str, bytes, bytearray, list)
_FEWEST: Final = 5_000


class TooMuchWork(Exception):
    """A call was ended at the number that it may not exceed."""


def count_work(call: Callable[[], object], most: int = sys.maxsize) -> int:
    """The work of a call, whatever it raises. It is ended above ``most``."""
    count = 0
    seen: dict[int, object] = {}  # kept, so that no other text gets the number of one

    def add(number: int) -> None:
        nonlocal count
        count += number
        if count > most:
            raise TooMuchWork

    def on_line(frame: FrameType, event: str, _argument: object) -> Any:
        add((event == "line") + _newly_bound(frame.f_locals, seen))
        return on_line

    def on_call(_frame: FrameType, event: str, made: Any) -> None:
        if event == "c_call" and getattr(made, "__name__", "") in _MAKING:
            owner = getattr(made, "__self__", None)
            add(len(owner) if isinstance(owner, _SIZED) else 1)

    tracing, profiling = sys.gettrace(), sys.getprofile()
    sys.setprofile(on_call)
    sys.settrace(on_line)
    try:
        call()
    except TooMuchWork:
        count = most + 1
    except Exception:  # a refusal has its cost as well
        pass
    finally:
        sys.settrace(tracing)
        sys.setprofile(profiling)
    return count


def count_calls(call: Callable[[], object]) -> int:
    """How many functions a call calls, Python's and built-in ones: less than its work, and counted
    at a tenth of the cost. An exception of the call goes on.
    """
    profile = Profile(subcalls=False)
    profile.runcall(call)
    return sum(entry.callcount for entry in profile.getstats())


def _newly_bound(names: dict[str, Any], seen: dict[int, object]) -> int:
    """The length of the texts of these names, and ends of their lists, that are new."""
    result = 0
    for value in names.values():
        last = value[-1] if type(value) is list and value else value
        if type(last) in (str, bytes) and id(last) not in seen:
            seen[id(last)] = last
            result += len(last)
    return result


def grows_too_fast(call: Callable[[int], Callable[[], object]], size: int, times: float) -> bool:
    """Whether twice the size is more than ``times`` the work, and twice that size again: a cost may
    begin at a length. ``call`` prepares a call of a size, which is not counted.
    """
    count_work(call(size // 2))  # what is made once
    work = max(count_work(call(size)), _FEWEST)
    for larger in (2 * size, 4 * size):
        most = int(times * work)
        work = count_work(call(larger), most)
        if work <= most:
            return False
        work = count_work(call(larger))
    return True
