"""Column identity: case folding, nested paths, and columns of one schema that share a name; how a
schema spells its columns and their types.

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
    segments = split_path(path)
    holder = listed.get(column_path(segments[:1])) if len(segments) > 1 else None
    return None if holder is None else ColumnSpelling(path, None, holder.position)


def read_spellings(columns: str) -> Mapping[str, ColumnSpelling]:
    """The columns of a ``SchemaRow`` (a JSON text), by their folded paths."""
    return {
        listed["path"]: ColumnSpelling(listed["name"], listed.get("type"), position)
        for position, listed in enumerate(json.loads(columns))
    }
