"""Recursive CTEs (Spark 4.1): the sources of a column after any number of rounds. Pure.

    WITH RECURSIVE r AS (SELECT id, 0 AS up FROM a UNION ALL SELECT b.id, r.id FROM b JOIN r …)

After two rounds ``up`` holds the ``id`` of the first round: ``a.id`` or ``b.id``. References in a
document must not form a cycle, so a column of the inner reference to ``r`` refers directly to every
possible source from the earlier rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

#: A position in the output of the loop, or the id of an attribute that is read.
_Found = tuple[set[int], list[str]]


def ingredients(
    steps: Sequence[str], inner: Sequence[Collection[str]], parts: Callable[[str], Sequence[str]]
) -> list[tuple[list[int], list[str]]]:
    """For each column of the loop: the columns of the anchor, and the attributes of the step.

    ``steps`` are the ids of the step's output, ``inner[n]`` those of the loop's column ``n`` inside
    the step, ``parts`` returns the sources of an attribute or an expression: none for one that is
    read.
    """
    places = {identifier: n for n, identifiers in enumerate(inner) for identifier in identifiers}
    direct = [_made_of(step, places, parts) for step in steps]
    found = []
    for column in range(len(steps)):
        rounds, pending, read = {column}, [column], dict[str, None]()
        while pending:
            before, attributes = direct[pending.pop()]
            read |= dict.fromkeys(attributes)
            pending += [n for n in before - rounds if n < len(direct)]
            rounds |= before
        found.append((sorted(rounds), sorted(read, key=_number)))
    return found


def _made_of(start: str, places: dict[str, int], parts: Callable[[str], Sequence[str]]) -> _Found:
    columns: set[int] = set()
    read: list[str] = []
    seen, pending = {start}, [start]
    while pending:
        identifier = pending.pop()
        if identifier in places:
            columns.add(places[identifier])
            continue
        below = parts(identifier)
        if not below and identifier.startswith("attr-"):
            read.append(identifier)
        pending += [part for part in below if part not in seen]
        seen.update(below)
    return columns, read


def _number(identifier: str) -> int:
    return int(identifier.rpartition("-")[2])
