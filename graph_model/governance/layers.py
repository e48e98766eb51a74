"""Storage layers: rules on a dataset's URI, the first that matches wins.

    landing   prefix  s3://landing/            order 10
    curated   glob    s3://*/curated/**        order 20
    exports   regex   ^s3://exports-[a-z]+/    order 30

A glob and a regular expression are run by RE2, whose time is linear in the text whatever the
pattern: rules come from outside and are tried on every dataset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.governance.fields import check_fields, check_name, read_note
from graph_model.regular_expressions import check_expression, escape_text, expression_test

MOST_LAYERS: Final = 200
_MOST_PATTERN: Final = 1_000
_MOST_ORDER: Final = 1_000_000
_MOST_KNOWN: Final = 20_000  # URIs whose layer is remembered: 200 patterns take a millisecond
_COLOUR: Final = re.compile(r"#[0-9a-f]{6}")
COLOUR: Final = "#rrggbb, such as #0b6a84"
"""The expected colour, for error messages."""
_FIELDS: Final = frozenset({"match", "pattern", "order", "colour", "note"})


class MatchKind(StrEnum):
    """``GLOB`` fits the whole URI (``*`` stays within a segment, ``**`` does not, ``?`` is one
    character); ``REGEX`` is searched for anywhere in it.
    """

    PREFIX = "prefix"
    GLOB = "glob"
    REGEX = "regex"


@dataclass(frozen=True, slots=True, order=True)
class Layer:
    """``colour`` is ``#rrggbb`` in lower case; layers are tried by (order, name)."""

    order: int
    name: str
    match: MatchKind
    pattern: str
    colour: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers in the order in which they are tried."""

    items: tuple[Layer, ...] = ()
    _name_of: Callable[[str], str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(sorted(self.items)))
        tests = [(layer.name, _test(layer.match, layer.pattern)) for layer in self.items]

        @lru_cache(maxsize=_MOST_KNOWN)
        def name_of(uri: str) -> str | None:
            return next((name for name, fits in tests if fits(uri)), None)

        object.__setattr__(self, "_name_of", name_of)

    def of(self, uri: str) -> str | None:
        """The name of the first layer that the canonical URI of a dataset fits."""
        return self._name_of(uri)

    def with_one(self, layer: Layer) -> Layers:
        """The same with this layer in the place of the one of its name."""
        return Layers((*self.without(layer.name).items, layer))

    def without(self, name: str) -> Layers:
        return Layers(tuple(layer for layer in self.items if layer.name != name))

    def find(self, name: str) -> Layer | None:
        return next((layer for layer in self.items if layer.name == name), None)


NO_LAYERS: Final = Layers()


def read_layer(name: str, value: Mapping[str, Any]) -> Layer:
    """A layer from its document; raises InvalidDocument naming the field."""
    check_name(name)
    check_fields(value, _FIELDS)
    match = _read_match(value.get("match"))
    layer = Layer(
        order=_read_order(value.get("order")),
        name=name,
        match=match,
        pattern=_read_pattern(match, value.get("pattern")),
        colour=_read_colour(value.get("colour")),
        note=read_note(value.get("note", "")),
    )
    _test(layer.match, layer.pattern)
    return layer


def write_layer(layer: Layer) -> dict[str, Any]:
    """The document of a layer, without its name; ``read_layer`` reads it back."""
    return {
        "match": layer.match.value,
        "pattern": layer.pattern,
        "order": layer.order,
        "colour": layer.colour,
        "note": layer.note,
    }


def _read_match(value: Any) -> MatchKind:
    try:
        return MatchKind(value)
    except ValueError:
        raise InvalidDocument("match", "prefix, glob or regex") from None


def _read_pattern(match: MatchKind, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _MOST_PATTERN:
        raise InvalidDocument("pattern", f"a text of 1 to {_MOST_PATTERN:,} characters")
    if match is not MatchKind.PREFIX:
        check_expression(value if match is MatchKind.REGEX else _translate_glob(value), "pattern")
    return value


def _read_order(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_ORDER:
        raise InvalidDocument("order", f"a whole number from 0 to {_MOST_ORDER:,}")
    return value


def _read_colour(value: Any) -> str:
    if not isinstance(value, str) or not _COLOUR.fullmatch(value.lower()):
        raise InvalidDocument("colour", COLOUR)
    return value.lower()


def _test(match: MatchKind, pattern: str) -> Callable[[str], bool]:
    if match is MatchKind.PREFIX:
        return lambda uri: uri.startswith(pattern)
    if match is MatchKind.GLOB:
        return expression_test(_translate_glob(pattern), whole=True)
    return expression_test(pattern, whole=False)


def _translate_glob(glob: str) -> str:
    """``s3://*/raw/**`` => ``s3://[^/]*/raw/.*``."""
    parts: Iterable[str] = re.split(r"(\*\*|\*|\?)", glob)
    wild = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(wild.get(part) or escape_text(part) for part in parts)
