"""How a schema spells its columns and their types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
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
_NESTING: Final = ("array", "map", "struct")
_WHOLE_DECIMAL: Final = "decimal(10,0)"


def same_type(one: str | None, other: str | None) -> bool:
    """Whether two agents' spellings mean one type: ``long`` and ``bigint``; ``array``, without an
    element type, and ``array<int>``.
    """
    if one is None or other is None:
        return one == other
    first, second = sorted((plain_type(one), plain_type(other)), key=len)
    return first == second or (first in _NESTING and second.startswith(f"{first}<"))


def plain_type(text: str) -> str:
    """In the spelling of Spark's SQL, from any agent: ``array<LongType>`` => ``array<bigint>``."""
    spelled = _WORD.sub(lambda found: _sql_type(found[0]), _without_blanks(text))
    return _WHOLE_DECIMAL if spelled == "decimal" else spelled


def _without_blanks(text: str) -> str:
    """``map< string, int >`` => ``map<string,int>``."""
    return "".join(piece.strip(" ") for piece in _MARK.split(text.strip()))


def _sql_type(word: str) -> str:
    name = word.lower()
    if len(name) > len(_CLASS):
        name = name.removesuffix(_CLASS)
    return _SQL_TYPES.get(name, name)


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
