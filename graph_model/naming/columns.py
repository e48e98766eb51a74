"""Column identity: case folding, nested paths, and columns of one schema that share a name.

Spark compares names without case, so a column's identity is its folded path; spellings stay in
schemas. Where one schema tells columns apart by case alone, those keep their exact names.

An edge between columns spells the fields of a written struct that its source flows into as
JSON by the path of a field within the written column, "" for that column itself::

    {"name": false}                 the source flows into the field ``name`` and into no other
    {"": true}                      the written struct is the source: ``x.city`` is ``source.city``
    {"home": true, "total": false}  ``x.home.city`` is ``source.city``; ``x.total`` comes from all

"" stands for an edge without fields: the source flows into the whole column.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Generic, NamedTuple, TypeVar

from graph_model.values import storable

_NEEDS_QUOTES: Final = re.compile(r"[.`]|\A\Z")


class SchemaColumn(NamedTuple):
    """A column of a schema: ``name`` as spelled, ``path`` its identity within the dataset."""

    name: str
    path: str
    type: str | None


def fold(path: str) -> str:
    """Case folding as Spark compares names (Java's equalsIgnoreCase): character by character.

    No context and no growth: ``ΑΣ`` and ``ας`` fold alike, ``ß`` stays as it is.
    """
    if path.isascii():
        return path.lower()
    return "".join(map(_fold_character, path))


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    upper = character.upper()
    lower = (upper if len(upper) == 1 else character).lower()
    return lower if len(lower) == 1 else character


def column_path(segments: Sequence[str]) -> str:
    """A nested path: ("a", "b.c") => a.`b.c`; a back quote inside quotes is doubled."""
    return ".".join(map(_segment_text, segments))


def _segment_text(segment: str) -> str:
    """A path is part of an identity, and is looked up as it was stored."""
    if segment.isidentifier():
        return segment
    segment = storable(segment)
    if _NEEDS_QUOTES.search(segment) is None:
        return segment
    return "`" + segment.replace("`", "``") + "`"


def split_path(path: str) -> tuple[str, ...]:
    """The inverse of :func:`column_path`. A quote that never closes is an ordinary character."""
    segments: list[str] = []
    position = 0
    while path:
        match = _SEGMENT.match(path, position)
        if match is not None:
            segments.append(match["quoted"].replace("``", "`"))
            end = match.end()
        else:
            end = path.find(".", position)
            end = len(path) if end < 0 else end
            segments.append(path[position:end])
        if end >= len(path):
            break
        position = end + 1
    return tuple(segments)


def has_open_quote(path: str) -> bool:
    """Whether a segment begins with a back quote that does not close: ``a.`b``."""
    bare = _QUOTED_SEGMENT.sub("", path)
    return bare.startswith("`") or ".`" in bare


_QUOTED: Final = r"`(?P<quoted>(?:[^`]|``)*)`(?=\.|\Z)"
_SEGMENT: Final = re.compile(_QUOTED)
_QUOTED_SEGMENT: Final = re.compile(rf"(?:\A|(?<=\.)){_QUOTED}")


def schema_columns(
    names_and_types: Sequence[tuple[str, str | None]],
) -> tuple[tuple[SchemaColumn, ...], tuple[str, ...]]:
    """Columns in order with their identity paths, and the folded names that collide.

    Two spellings of one folded name keep their exact names and are reported. The second column of
    one exact name is ``id~2``, or the next number that no column of this schema has.
    """
    folded_names = [fold(name) for name, _ in names_and_types]
    if len(set(folded_names)) == len(folded_names):  # nearly always
        paired = zip(names_and_types, folded_names, strict=True)
        return tuple(SchemaColumn(n, _segment_text(path), kind) for (n, kind), path in paired), ()
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for (name, _), folded in zip(names_and_types, folded_names, strict=True):
        spellings[folded].add(name)
    bases = {
        name: name if len(names) > 1 else folded
        for folded, names in spellings.items()
        for name in names
    }
    taken = set(bases.values())
    uses: Counter[str] = Counter()
    columns = []
    for name, data_type in names_and_types:
        uses[name] += 1
        own = bases[name] if uses[name] == 1 else _free_name(bases[name], uses, name, taken)
        columns.append(SchemaColumn(name, column_path((own,)), data_type))
    collisions = sorted(folded for folded, names in spellings.items() if len(names) > 1)
    return tuple(columns), tuple(collisions)


def _free_name(base: str, uses: Counter[str], name: str, taken: set[str]) -> str:
    """``id~2`` for the second ``id``; the next number where a column already has that name."""
    while (candidate := f"{base}~{uses[name]}") in taken:
        uses[name] += 1
    taken.add(candidate)
    return candidate


# --- the fields of a written struct ---------------------------------------------------------------


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
