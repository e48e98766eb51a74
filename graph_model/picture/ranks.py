"""Ranks of a layered layout: which boxes stand beside each other, across the way of the data.

Cycles are broken first. A box has the rank of its longest path from a source; sources stand
before their first target. Ranks broken to a breadth hold so much at most: of the boxes that could
stand in one, those with the longest way to an end go first, and the others wait for the next.
Pure and deterministic: ties are broken by the order of the boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop


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
