"""JSON texts that give a key twice in one object.

JSON leaves the meaning open, and clients do it: OpenLineage's for Spark gives ``processing_engine``
twice. Equal values count once. Of different ones the last counts, as in Python's own reader, and
the document notes the place (``producers.document_notes``). All other values are dropped, so that
no secret can hide in one of them.

    {"a": 1, "a": 1}         =>  {"a": 1}
    {"b": {"a": 1, "a": 2}}  =>  {"b": {"a": 2}, "_repeatedKeys": ["b.a"]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from graph_model.producers.document_notes import REPEATED_KEYS, repeated_keys

_MOST_NOTED: Final = 20
_LONGEST: Final = 200

_Place = tuple["_Place", str] | None
"""The place of a value: the place of its container, and the last step from there."""


class RepeatedKeys:
    """Makes the objects of one text, and remembers those whose repeats differ.

    ``object_of`` is an ``object_pairs_hook``. Time grows with the text: a value is compared with
    the one that counts, and a comparison ends with the smaller of the two.
    """

    def __init__(self) -> None:
        # The objects are kept: an id may be given again once its object is gone.
        self._differing: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def object_of(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object; of a repeated key the last value."""
        found = dict(pairs)
        if len(found) != len(pairs):
            names = {name: None for name, value in pairs if not _say_the_same(value, found[name])}
            if names:
                self._differing[id(found)] = found, list(names)
        return found

    def note(self, value: Any) -> None:
        """Put the note into a document, or into each document of a list, that has such objects."""
        if not self._differing:
            return
        for document in value if isinstance(value, list) else (value,):
            if isinstance(document, dict) and (paths := self._paths(document)):
                document[REPEATED_KEYS] = [*repeated_keys(document), *paths]

    def _paths(self, document: dict[str, Any]) -> list[str]:
        places = [
            (place, name)
            for one, place in _objects(document)
            for name in self._differing.get(id(one), (one, ()))[1]
        ]
        left_out = len(places) - _MOST_NOTED
        more = [f"and {left_out:,} more"] if left_out > 0 else []
        return [_spelled(place) for place in places[:_MOST_NOTED]] + more


def _say_the_same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: ``true`` is not ``1``, as it is in Python."""
    return one is other or (one == other and _sorted(one) == _sorted(other))


_sorted: Final = json.JSONEncoder(sort_keys=True, check_circular=False).encode


def _objects(document: Any) -> Iterator[tuple[dict[str, Any], _Place]]:
    """Every object of a document with its place, in the order of the text."""
    waiting: list[tuple[Any, _Place]] = [(document, None)]
    while waiting:
        value, place = waiting.pop()
        if isinstance(value, dict):
            yield value, place
            waiting += [(inner, (place, name)) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            inside = reversed(list(enumerate(value)))
            waiting += [(inner, (place, str(index))) for index, inner in inside]


def _spelled(place: _Place) -> str:
    """``run.facets.parent``; of a long path its end."""
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(step[:_LONGEST])
    return ".".join(reversed(steps))[-_LONGEST:]
