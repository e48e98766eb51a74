"""Chains of states, pure: those from a root to a goal that are short enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

FAR: Final = 2**31
"""More steps than any walk takes."""

_State = TypeVar("_State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ShortChains(Generic[_State]):
    """The chains of at most ``depth`` steps from one of the ``roots`` to a goal.

    ``levels``: per state on the way from them the least number of steps from a root. ``away``: per
    state the least number of steps to a goal, added to the goal's own number.
    """

    depth: int
    roots: Set[_State]
    levels: Mapping[_State, int]
    away: Mapping[_State, int]

    def hold(self, state: _State, following: _State) -> bool:
        """Whether one of them has the step from a state of ``levels`` to the following one."""
        return self.levels[state] + 1 + self.away.get(following, self.depth) <= self.depth


def short_chains(
    nexts: Mapping[_State, Collection[_State]],
    roots: Iterable[_State],
    goals: Mapping[_State, int],
    depth: int,
    *,
    at_goal: bool = False,
) -> ShortChains[_State]:
    """The chains of at most ``depth`` steps; ``nexts`` are the states that follow each.

    A table may derive from itself, so a chain has at least one step. ``at_goal``: a root that is a
    goal with a number of its own has them behind it.
    """
    away = _distances(nexts, goals)
    kept = {root for root in roots if _steps_away(root, nexts, away, at_goal) <= depth}
    return ShortChains(depth, kept, _levels(nexts, kept), away)


def _distances(
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


def _levels(
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


def _steps_away(
    state: _State,
    nexts: Mapping[_State, Collection[_State]],
    away: Mapping[_State, int],
    at_goal: bool,
) -> int:
    """The least number of steps, at least one, from a state to a goal; FAR where there is none.

    ``at_goal``: whether a goal's own number counts.
    """
    if at_goal:
        return away.get(state, FAR)
    return 1 + min((away[one] for one in nexts.get(state, ()) if one in away), default=FAR)
