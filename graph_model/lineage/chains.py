"""Chains of states, pure: the distance of a state from a goal, and the states of short chains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Final, TypeVar

FAR: Final = 2**31
"""More steps than any walk takes."""

_State = TypeVar("_State", bound=Hashable)


def distances(
    nexts: Mapping[_State, Collection[_State]], goals: Mapping[_State, int]
) -> dict[_State, int]:
    """Per state the least number of steps to a goal, added to the goal's own number.

    States that reach no goal are left out. Linear in the number of steps, cycles included.
    """
    previous: defaultdict[_State, list[_State]] = defaultdict(list)
    for state, following in nexts.items():
        for one in following:
            previous[one].append(state)
    found: dict[_State, int] = {}
    waiting: defaultdict[int, list[_State]] = defaultdict(list)
    for goal, number in goals.items():
        waiting[number].append(goal)
    while waiting:
        distance = min(waiting)
        for state in waiting.pop(distance):
            if state not in found:
                found[state] = distance
                if previous[state]:
                    waiting[distance + 1] += previous[state]
    return found


def levels(
    nexts: Mapping[_State, Collection[_State]], roots: Iterable[_State]
) -> dict[_State, int]:
    """Per state the least number of steps from a root."""
    found = dict.fromkeys(roots, 0)
    frontier = list(found)
    while frontier:
        following = []
        for state in frontier:
            for one in nexts.get(state, ()):
                if one not in found:
                    found[one] = found[state] + 1
                    following.append(one)
        frontier = following
    return found


def steps_away(
    state: _State,
    nexts: Mapping[_State, Collection[_State]],
    away: Mapping[_State, int],
    at_goal: bool = False,
) -> int:
    """The least number of steps, at least one, from a state to a goal; FAR where there is none.

    A table may derive from itself. ``at_goal``: whether a goal's own number counts.
    """
    if at_goal:
        return away.get(state, FAR)
    return 1 + min((away[one] for one in nexts.get(state, ()) if one in away), default=FAR)
