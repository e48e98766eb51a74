"""The edges found at the requested ids, cut to a limit at each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from graph_model.facts import Edge
from graph_model.stores.graph import Direction, EdgePage, Neighbours


def neighbours_of(pairs: Iterable[tuple[str, str]], direction: Direction, limit: int) -> Neighbours:
    """Keep ``limit`` edges (from, to) per requested vertex, and list those with more; as
    ``page_of``.
    """
    check_asked(direction, limit)
    ends: defaultdict[str, list[str]] = defaultdict(list)
    for out_id, in_id in pairs:
        if direction is Direction.DOWNSTREAM:
            ends[out_id].append(in_id)
        else:
            ends[in_id].append(out_id)
    found = {key: tuple(sorted(set(sorted(others)[:limit]))) for key, others in ends.items()}
    return Neighbours(found, frozenset(key for key in ends if len(ends[key]) > limit))


def check_asked(direction: Direction, limit: int) -> None:
    """Raise ValueError for arguments that ``GraphReader.edges`` refuses."""
    if direction is Direction.BOTH:
        raise ValueError("edges are asked for one direction at a time")
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")


def page_of(found: Sequence[Edge], direction: Direction, limit: int) -> EdgePage:
    """Keep ``limit`` edges per vertex and label, those with the least ids, and list those with
    more.

    ``found`` are edges at the requested ids, on the side that ``direction`` names. Raises
    ValueError for arguments that ``GraphReader.edges`` refuses.
    """
    check_asked(direction, limit)
    groups: defaultdict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in sorted(found, key=lambda edge: edge.id):
        end = edge.out_id if direction is Direction.DOWNSTREAM else edge.in_id
        groups[end, edge.label].append(edge)
    kept = sorted(
        (edge for group in groups.values() for edge in group[:limit]), key=lambda edge: edge.id
    )
    more = frozenset(end for (end, _), group in groups.items() if len(group) > limit)
    return EdgePage(tuple(kept), more)
