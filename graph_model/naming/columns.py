"""Column identity: case folding, nested paths, and columns of one schema that share a name.

Spark compares names without case, so a column's identity is its folded path; spellings stay in
schemas. Where one schema tells columns apart by case alone, those keep their exact names.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from graph_model.storable_text import storable

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
        found = _SEGMENT.match(path, position)
        if found is not None:
            segments.append(found["quoted"].replace("``", "`"))
            end = found.end()
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
