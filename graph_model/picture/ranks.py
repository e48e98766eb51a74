"""Ranks of a layered layout: which boxes stand beside each other, across the way of the data.

Cycles are broken first. A box has the rank of its longest path from a source; sources stand
before their first target. Ranks broken to a breadth hold so much at most: of the boxes that could
stand in one, those with the longest way to an end go first, and the others wait for the next.
In each rank the cells, boxes and waypoints, are put in order: by the barycentre of their neighbours
in alternating sweeps, with neighbours exchanged where that removes crossings; then single cells
move to where their edges cross least.
Pure and deterministic: ties are broken by the order of the boxes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop
from itertools import accumulate
from typing import Final

#: From either side.
_SWEEPS: Final = 6
_SIFTINGS: Final = 3
_MOST_SIFTED: Final = 150


def components_of(nodes: Sequence[str], links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Connected components, largest first, each in the order of ``nodes``."""
    parent = {node: node for node in nodes}

    def root(node: str) -> str:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in links:
        parent[root(a)] = root(b)
    groups: dict[str, list[str]] = {}
    for node in nodes:
        groups.setdefault(root(node), []).append(node)
    rank = {node: i for i, node in enumerate(nodes)}
    return sorted(groups.values(), key=lambda group: (-len(group), rank[group[0]]))


def without_cycles(nodes: Sequence[str], links: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The links with those that close a cycle turned round (depth first, iterative)."""
    following: dict[str, list[str]] = {node: [] for node in nodes}
    entering = dict.fromkeys(nodes, 0)
    for a, b in links:
        following[a].append(b)
        entering[b] += 1
    state = dict.fromkeys(nodes, 0)  # 0 new, 1 on the stack, 2 done
    turned: set[tuple[str, str]] = set()
    for start in sorted(nodes, key=lambda node: entering[node] > 0):  # stable: sources first
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(following[start]))]
        while stack:
            node, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                state[node] = 2
                stack.pop()
            elif state[child] == 1:
                turned.add((node, child))
            elif state[child] == 0:
                state[child] = 1
                stack.append((child, iter(following[child])))
    return sorted({(b, a) if (a, b) in turned else (a, b) for a, b in links})


def ranks_of(nodes: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Longest path from a source; then sources are pulled right, beside their targets."""
    following: dict[str, list[str]] = {node: [] for node in nodes}
    entering = dict.fromkeys(nodes, 0)
    for a, b in links:
        following[a].append(b)
        entering[b] += 1
    layer = dict.fromkeys(nodes, 0)
    waiting = dict(entering)
    ready = [node for node in nodes if waiting[node] == 0]
    for node in ready:
        for child in following[node]:
            layer[child] = max(layer[child], layer[node] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    for node in nodes:
        if entering[node] == 0 and following[node]:
            layer[node] = min(layer[child] for child in following[node]) - 1
    return layer


def broken_ranks(
    nodes: Sequence[str],
    links: Sequence[tuple[str, str]],
    breadths: Mapping[str, float],
    passing: float,
    most: float,
) -> dict[str, int]:
    """Ranks that are at most so broad, as far as single boxes are not broader.

    ``links`` have no cycle; ``breadths`` are those of the boxes with the gap beside them, and
    ``passing`` is that of a link that runs through a rank.
    """
    ranks = _Ranks(nodes, links, breadths, passing)
    ranks.fill(most)
    ranks.draw_near(most)
    return ranks.rank


class _Ranks:
    def __init__(
        self,
        nodes: Sequence[str],
        links: Sequence[tuple[str, str]],
        breadths: Mapping[str, float],
        passing: float,
    ) -> None:
        self.rank: dict[str, int] = {}
        self._nodes, self._breadths, self._passing = nodes, breadths, passing
        self._following: dict[str, list[str]] = {node: [] for node in nodes}
        self._before: dict[str, list[str]] = {node: [] for node in nodes}
        for a, b in links:
            self._following[a].append(b)
            self._before[b].append(a)
        self._used: list[float] = []

    def fill(self, most: float) -> None:
        """Rank by rank, whatever may stand there and has room beside the links that pass."""
        way = self._ways()
        place = {node: number for number, node in enumerate(self._nodes)}
        waiting = {node: len(self._before[node]) for node in self._nodes}
        ready = [(-way[node], place[node], node) for node in self._nodes if waiting[node] == 0]
        heapify(ready)
        added = {n: self._breadths[n] - len(self._before[n]) * self._passing for n in self._nodes}
        least = min(added.values(), default=0)
        passing = 0
        while ready:
            used = passing * self._passing
            taken: list[str] = []
            left: list[tuple[int, int, str]] = []
            while ready and not (taken and used + least > most):
                entry = heappop(ready)
                node = entry[2]
                breadth = added[node]
                if taken and used + breadth > most:
                    left.append(entry)
                    continue
                used += breadth
                taken.append(node)
            for node in taken:
                self.rank[node] = len(self._used)
                passing += len(self._following[node]) - len(self._before[node])
                for child in self._following[node]:
                    waiting[child] -= 1
                    if waiting[child] == 0:
                        left.append((-way[child], place[child], child))
            self._used.append(used)
            ready += left
            heapify(ready)

    def draw_near(self, most: float) -> None:
        """Boxes with more links behind than before them stand near their first target, where
        there is room: fewer links pass through other ranks.
        """
        for node in sorted(self._nodes, key=lambda node: -self.rank[node]):
            following, before = self._following[node], self._before[node]
            if len(following) <= len(before):
                continue
            now, breadth = self.rank[node], self._breadths[node]
            less = (len(following) - len(before)) * self._passing
            for rank in range(min(self.rank[child] for child in following) - 1, now, -1):
                if self._used[rank] + breadth - len(following) * self._passing <= most:
                    self._used[now] -= breadth - len(before) * self._passing
                    self._used[rank] += breadth - len(following) * self._passing
                    for between in range(now + 1, rank):
                        self._used[between] -= less
                    self.rank[node] = rank
                    break

    def _ways(self) -> dict[str, int]:
        """The longest way from each box to an end, in links."""
        left = {node: len(self._following[node]) for node in self._nodes}
        ready = [node for node in self._nodes if left[node] == 0]
        way = dict.fromkeys(self._nodes, 0)
        for node in ready:
            for parent in self._before[node]:
                way[parent] = max(way[parent], way[node] + 1)
                left[parent] -= 1
                if left[parent] == 0:
                    ready.append(parent)
        return way


# --- the order in ranks --------------------------------------------------------------------------


def ordered(ranks: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> list[list[int]]:
    """The cells of each rank in an order in which few links cross. Cells are numbers from 0;
    ``after``: by cell those of the next rank that it is linked to.
    """
    orders = [_Order(ranks, after) for _ in range(2)]
    crossings = [order.sweep(backwards) for backwards, order in enumerate(orders)]
    best = orders[crossings.index(min(crossings))]
    best.sift()
    return best.ranks


class _Order:
    """``at`` is the place of each cell in its rank."""

    def __init__(self, ranks: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> None:
        self.ranks = [list(rank) for rank in ranks]
        self._after = after
        self._before: list[list[int]] = [[] for _ in after]
        for cell, following in enumerate(after):
            for other in following:
                self._before[other].append(cell)
        self._at = [0] * len(after)
        for rank in self.ranks:
            self._number(rank)

    def _number(self, rank: Sequence[int]) -> None:
        for place, cell in enumerate(rank):
            self._at[cell] = place

    def sweep(self, backwards: int) -> int:
        """Barycentre sweeps, the first one from the last rank where ``backwards`` is 1; the order
        with the fewest crossings seen is kept. Returns these.
        """
        best, fewest = [list(rank) for rank in self.ranks], self._crossings()
        last = len(self.ranks) - 1
        for sweep in range(_SWEEPS):
            if fewest == 0:
                break
            down = sweep % 2 == backwards
            for index in range(1, last + 1) if down else range(last - 1, -1, -1):
                self._sort(self.ranks[index], self._before if down else self._after)
            for rank in self.ranks:
                self._exchange(rank)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(rank) for rank in self.ranks], crossings
        self.ranks = best
        for rank in best:
            self._number(rank)
        return fewest

    def _sort(self, rank: list[int], beside: Sequence[Sequence[int]]) -> None:
        """By the mean place of the neighbours; cells without any have their own."""
        at = self._at
        means: dict[int, float] = {}
        for cell in rank:
            near = beside[cell]
            if len(near) == 1:
                means[cell] = at[near[0]]
            else:
                means[cell] = sum([at[other] for other in near]) / len(near) if near else at[cell]
        rank.sort(key=means.__getitem__)  # stable: equal means keep their order
        self._number(rank)

    def _exchange(self, rank: list[int]) -> None:
        """Neighbours in a rank change places where that removes crossings."""
        changed = False
        before, after = self._ends(rank, self._before), self._ends(rank, self._after)
        upper = 0  # the cell that stands above, by its place at first
        for lower in range(1, len(rank)):
            a, b, c, d = before[upper], before[lower], after[upper], after[lower]
            crosses = (a and b and a[-1] > b[0]) or (c and d and c[-1] > d[0])
            if crosses and _saved(a, b) + _saved(c, d) > 0:
                rank[lower - 1], rank[lower] = rank[lower], rank[lower - 1]
                changed = True
            else:
                upper = lower
        if changed:
            self._number(rank)

    def _ends(self, rank: Iterable[int], beside: Sequence[Sequence[int]]) -> list[list[int]]:
        """By the cells of a rank the sorted places of their neighbours."""
        at = self._at
        listed = []
        for cell in rank:
            near = beside[cell]
            if len(near) == 1:
                listed.append([at[near[0]]])
            else:
                listed.append(sorted([at[other] for other in near]))
        return listed

    def _crossings(self) -> int:
        return sum(self._crossings_behind(rank) for rank in self.ranks)

    def _crossings_behind(self, rank: Sequence[int]) -> int:
        """Inversions among the ends of the links to the next rank."""
        seen: list[int] = []
        crossings = 0
        for ends in self._ends(rank, self._after):
            for end in ends:
                crossings += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
        return crossings

    def sift(self) -> None:
        """Each cell moves to the place in its rank where its links cross the fewest others."""
        for _ in range(_SIFTINGS):
            moved = [self._sift_in(rank) for rank in self.ranks if len(rank) <= _MOST_SIFTED]
            if not any(moved):
                break

    def _sift_in(self, rank: list[int]) -> bool:
        before, after = self._ends(rank, self._before), self._ends(rank, self._after)
        width = max((ends[-1] + 1 for ends in before if ends), default=0)
        beyond = max((ends[-1] + 1 for ends in after if ends), default=0)
        near = dict(zip(rank, zip(before, after, strict=True), strict=True))
        ends = {cell: [*a, *(end + width for end in b)] for cell, (a, b) in near.items()}
        stacked, moved = _Stack(rank, ends), False
        for cell in list(rank):
            a, b = near[cell]
            now = rank.index(cell)
            place = stacked.best_place(now, [*_sides(a, width), *_sides(b, beyond)])
            if place is not None:
                rank.insert(place, rank.pop(now))
                stacked = _Stack(rank, ends)
                moved = True
        if moved:
            self._number(rank)
        return moved


class _Stack:
    """The cells of a rank with the ends of their links, as one list from above."""

    def __init__(self, rank: Sequence[int], ends: Mapping[int, Sequence[int]]) -> None:
        self._ends = [end for cell in rank for end in ends[cell]]
        self._stops = [0, *accumulate(len(ends[cell]) for cell in rank)]

    def best_place(self, at: int, sides: Sequence[int]) -> int | None:
        """Where the cell at this place crosses the fewest links; None where it does already.

        ``sides`` weighs each end of another cell's link: by how many crossings there are fewer
        once that cell stands above.
        """
        sums = [0, *accumulate(map(sides.__getitem__, self._ends))]
        cells = [sums[stop] for stop in self._stops]
        up = [cells[place] - cells[at] for place in range(at - 1, -1, -1)]
        down = [cells[place + 1] - cells[at + 1] for place in range(at + 1, len(cells) - 1)]
        gains = up + down
        gain = max(gains, default=0)
        if gain <= 0:
            return None
        steps = gains.index(gain)
        return at - 1 - steps if steps < at else steps + 1


def _sides(ends: Sequence[int], width: int) -> list[int]:
    """For each position how many more of the sorted ends lie beyond it than before it."""
    sides: list[int] = []
    for passed, end in enumerate(ends):
        if end < len(sides):
            sides[end] -= 1
        else:
            sides += [len(ends) - 2 * passed] * (end - len(sides))
            sides.append(len(ends) - 2 * passed - 1)
    return sides + [-len(ends)] * (width - len(sides))


def _saved(above: Sequence[int], below: Sequence[int]) -> int:
    """Crossings that vanish when two cells with these sorted ends change places."""
    if not above or not below:
        return 0
    if len(above) == len(below) == 1:
        return (above[0] > below[0]) - (above[0] < below[0])
    return _inversions(above, below) - _inversions(below, above)


def _inversions(above: Sequence[int], below: Sequence[int]) -> int:
    """How often an end of ``above`` lies beyond one of ``below``; both sorted."""
    if above[-1] <= below[0]:
        return 0
    return sum(bisect_left(below, end) for end in above)
