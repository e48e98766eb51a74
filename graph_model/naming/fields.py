"""The fields of a written struct that a source flows into, as an edge between columns spells them.

JSON by the path of a field within the written column, "" for that column itself::

    {"name": false}                 the source flows into the field ``name`` and into no other
    {"": true}                      the written struct is the source: ``x.city`` is ``source.city``
    {"home": true, "total": false}  ``x.home.city`` is ``source.city``; ``x.total`` comes from all

"" stands for an edge without fields: the source flows into the whole column.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

from graph_model.naming.columns import column_path, split_path

WHOLE: Final = ""
"""The path of the written column itself, and the text of a source of all of it."""

_Flow = TypeVar("_Flow")
_Path = tuple[str, ...]


def spell_fields(fields: Mapping[str, bool]) -> str:
    """The text of an edge."""
    if not fields or fields.get(WHOLE) is False:
        return WHOLE
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


class _Entry(NamedTuple, Generic[_Flow]):
    flow: _Flow
    source: str
    copied: bool


class FieldSources(Generic[_Flow]):
    """The flows into one written column, found by the fields that they reach: a field of a wide
    struct costs its own flows alone.

    ``flows`` are (flow, path of the source, text of its fields).
    """

    def __init__(self, flows: Iterable[tuple[_Flow, str, str]]) -> None:
        self._at: defaultdict[_Path, list[_Entry[_Flow]]] = defaultdict(list)
        self._within: defaultdict[_Path, list[_Entry[_Flow]]] = defaultdict(list)
        for flow, source, text in flows:
            for path, copied in _read(text):
                entry = _Entry(flow, source, copied)
                self._at[path].append(entry)
                for length in range(1, len(path) + 1):
                    self._within[path[:length]].append(entry)

    def of(self, field: str) -> Iterator[tuple[_Flow, str]]:
        """Per flow into a field, or into the struct around it, the columns (paths) behind it.

        ``{"": true}`` from address, asked for city => address.city
        """
        below = split_path(field)
        for length in range(len(below)):
            for flow, source, copied in self._at.get(below[:length], ()):
                inner = below[length:] if copied else ()
                yield flow, column_path([*split_path(source), *inner]) if inner else source
        for flow, source, _ in self._within.get(below, ()):
            yield flow, source


def _read(text: str) -> Iterable[tuple[_Path, bool]]:
    if text == WHOLE:
        return [((), False)]
    return [(split_path(path), copied is True) for path, copied in json.loads(text).items()]
