"""How a schema spells its columns and their types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from graph_model import naming

#: Spark's names of its types, and SQL's synonyms, as its SQL spells them.
_SQL_TYPES: Final = {
    "byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint",
    "real": "float", "bool": "boolean", "dec": "decimal", "numeric": "decimal", "null": "void",
    "str": "string", "timestamp_ltz": "timestamp", "calendarinterval": "interval",
}  # fmt: skip
#: A word that is no name of a field (``long:`` in ``struct<long:int>``).
_WORD: Final = re.compile(r"\b[A-Za-z_]\w*+(?! *+:)")
_MARK: Final = re.compile(r"([<>(),:])")
_CLASS: Final = "type"
_ARRAY: Final = "array"
_MAP: Final = "map"
_NESTING: Final = (_ARRAY, _MAP, "struct")
_WHOLE_DECIMAL: Final = "decimal(10,0)"
_NO_FIELDS: Final = "void"
_MOST_NESTED: Final = 32
"""Structs in structs: deeper fields are compared as a part of the struct around them."""


def same_type(text: str | None, other: str | None) -> bool:
    """Whether two agents' spellings mean one type: ``long`` and ``bigint``; ``array``, without an
    element type, and ``array<int>``.
    """
    if text is None or other is None:
        return text == other
    return _same_plain(plain_type(text), plain_type(other))


def _same_plain(text: str, other: str) -> bool:
    first, second = sorted((text, other), key=len)
    return first == second or (first in _NESTING and second.startswith(f"{first}<"))


def plain_type(text: str) -> str:
    """In the spelling of Spark's SQL, from any agent: ``array<LongType>`` => ``array<bigint>``."""
    spelled = _WORD.sub(lambda match: _sql_type(match[0]), _without_blanks(text))
    return _whole(spelled)


def _whole(spelled: str) -> str:
    return _WHOLE_DECIMAL if spelled == "decimal" else spelled


def _without_blanks(text: str) -> str:
    """``map< string, int >`` => ``map<string,int>``."""
    return "".join(piece.strip(" ") for piece in _MARK.split(text.strip()))


def _sql_type(word: str) -> str:
    name = word.lower()
    if len(name) > len(_CLASS):
        name = name.removesuffix(_CLASS)
    return _SQL_TYPES.get(name, name)


# --- the fields of a type ------------------------------------------------------------------------


class NestedChange(NamedTuple):
    """A field that one of two types lacks (its type there is None), or that has another type.

    ``path`` are the names from the column inwards, without arrays and maps, as columns are called.
    """

    path: tuple[str, ...]
    before: str | None
    after: str | None


def field_changes(before: str, after: str) -> Iterator[NestedChange]:
    """The fields by which two types of a column differ, a struct before its own fields; with a
    struct that is gone, its fields are gone.

    struct<a:int,b:string>, struct<a:bigint> => (a, int, bigint), (b, string, None)

    Nothing where a type does not list its fields (``struct`` alone, a text that was cut): they are
    unknown, not gone. Nothing either between a struct and a map, whose keys are read like fields.
    """
    return _field_changes(plain_type(before), plain_type(after), _MOST_NESTED)


def _field_changes(before: str, after: str, nesting: int) -> Iterator[NestedChange]:
    """Of two types in the spelling of :func:`plain_type`, as deep as ``nesting``."""
    old, new = _nested(before), _nested(after)
    open_ended = new.fields is None and new.may_have_fields
    if nesting == 0 or old.fields is None or open_ended or old.maps != new.maps:
        return
    former = {name.casefold(): (name, kind) for name, kind in old.fields.items()}
    latter = {name.casefold(): (name, kind) for name, kind in (new.fields or {}).items()}
    for key, (name, kind) in former.items():
        other = latter[key][1] if key in latter else None
        if other is None or not _same_plain(kind, other):
            yield NestedChange((name,), kind, other)
            for inner in _field_changes(kind, other or _NO_FIELDS, nesting - 1):
                yield inner._replace(path=(name, *inner.path))
    for key, (name, kind) in latter.items():
        if key not in former:
            yield NestedChange((name,), None, kind)


def same_nesting(text: str, other: str) -> bool:
    """Whether two types differ by their listed fields alone: structs within equal arrays and
    maps.
    """
    first, second = _nested(plain_type(text)), _nested(plain_type(other))
    listed = first.fields is not None and second.fields is not None
    return listed and first.around == second.around


class _Nested(NamedTuple):
    """A type as arrays and maps ``around`` another one, and its ``fields`` if that lists any."""

    around: tuple[str, ...]
    fields: Mapping[str, str] | None
    may_have_fields: bool

    @property
    def maps(self) -> list[str]:
        return [part for part in self.around if part != _ARRAY]


def _nested(text: str) -> _Nested:
    around: list[str] = []
    while (opened := text.partition("<"))[0] in (_ARRAY, _MAP) and text.endswith(">"):
        *key, text = _parts(opened[2][:-1])
        around.append(f"{_MAP}<{','.join(key)}>" if opened[0] == _MAP else _ARRAY)
    fields = _fields(text[len("struct<") : -1]) if text.startswith("struct<") else None
    return _Nested(tuple(around), fields, text.partition("<")[0] in _NESTING)


def _fields(text: str) -> Mapping[str, str] | None:
    """``a:int,b:array<string>``, by name; None for a text that is no list of fields."""
    pairs = [part.partition(":") for part in _parts(text)]
    if not all(name and mark and kind for name, mark, kind in pairs):
        return None
    return {name: _whole(kind) for name, _, kind in pairs}


def _parts(text: str) -> list[str]:
    """The text cut at the commas outside its brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for piece in _MARK.split(text):
        depth += (piece in ("<", "(")) - (piece in (">", ")"))
        if piece == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(piece)
    return ["".join(pieces) for pieces in parts]


# --- the columns of a schema ---------------------------------------------------------------------


class ColumnSpelling(NamedTuple):
    """A column as a schema lists it; ``position`` is its place there.

    For a field inside a listed column: the field's path, no type, the column's place.
    """

    name: str
    type: str | None
    position: int


def spell_column(path: str, listed: Mapping[str, ColumnSpelling]) -> ColumnSpelling | None:
    """The spelling of a column or a field in a schema, given by path; None: the schema has no such
    column.

    items.sku, where the schema has items => ("items.sku", None, the position of items)
    """
    if path in listed:
        return listed[path]
    segments = naming.split_path(path)
    holder = listed.get(naming.column_path(segments[:1])) if len(segments) > 1 else None
    return None if holder is None else ColumnSpelling(path, None, holder.position)


def read_spellings(columns: str) -> Mapping[str, ColumnSpelling]:
    """The columns of a ``SchemaRow`` (a JSON text), by their folded paths."""
    return {
        listed["path"]: ColumnSpelling(listed["name"], listed.get("type"), position)
        for position, listed in enumerate(json.loads(columns))
    }
