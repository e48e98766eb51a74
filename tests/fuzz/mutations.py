"""Captured documents, changed in a few places: near enough to real ones to get far inside.

A mutation picks a place in the document (any object key, any list item, at any depth) and does
there the work of careless or hostile clients: drops, repeats, swaps, renames, puts in a value of
another type or a reference to something else of the same document.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from tests import captures

Slot = tuple[Any, Any]  # a list or an object of the document, and an index or a key of it

AWKWARD_TEXTS: Final = (
    "",
    " ",
    "a.b",
    "a#b",
    "a/b",
    "a`b",
    "``",
    "`",
    "'",
    '"',
    "a''b",
    "%2F",
    "%",
    "%00",
    "#",
    "..",
    "\x00",
    "a\x00b",
    "\ud800",
    "a\udc00b",
    "\u202e\u0661",
    "\u200f",
    "🦆",
    "ß",
    "İ",
    "ΑΣ",
    "\ufeff",
    "<script>alert(1)</script>",
    "{{x}}",
    "$ne",
    "${x}",
    "__attrId",
    "null",
    "true",
    "-0",
    "NaN",
    "x" * 2_000,
    "x" * 100_000,
    "é" * 2_000,
    "." * 500,
    "`" * 501,
    "(" * 3_000,
    "\n",
    "\r\n\t",
    "\x1b[31m",
    "jdbc:postgresql://h/db:(select * from a join b)",
    "jdbc:",
    "jdbc:x:" + "(" * 2_000,
    "file:",
    "file:/",
    "file:///" + "../" * 300,
    "s3://b/dt=2024-01-01/x=1",
    "s3a://u:p@b/k?secret=1",
    "kafka:",
    "kafka:a,b",
    "name://",
    "C:\\data",
    "http://[::1/x",
    "abfss://c@a.dfs.core.windows.net/x",
    "memory://x/jvm_1",
    "mongodb://a,b/c",
    "dt=" * 400,
    "2024-01-01",
    "[a-",
    "*{",
    "2024-01-01T00:00:00",
    "00000000-0000-0000-0000-000000000000",
)
AWKWARD_NUMBERS: Final = (
    0, -1, 1, 1.5, -0.0, 1e308, 5e-324, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 10**4299,
)  # fmt: skip
AWKWARD_SHAPES: Final[tuple[Any, ...]] = (
    None, True, False, [], {}, [[]], [None], [{}], {"": None}, {"a": {"b": []}}, [1, "a", None],
    {"__attrId": "nobody"}, {"__exprId": "nobody"}, {"__attrId": 1}, {"__exprId": None},
    {"__attrId": "a", "__exprId": "b"}, [{"__exprId": "expr-0"}], {"__exprId": "expr-0"},
    {"_typeHint": "expr.Alias"}, {"_typeHint": "expr.AttrRef", "refId": 1}, {"_typeHint": 1},
    {"_typeHint": "expr.Binary", "symbol": [], "children": [{"_typeHint": "expr.Literal"}]},
    {"table": {"identifier": {"table": "t", "database": 1}}}, [{"__attrId": "attr-0"}] * 50,
    [{}] * 1_500, ["op-1"] * 1_500, [1] * 1_500, ["attr-0"] * 1_500,
)  # fmt: skip

awkward: Final = st.one_of(
    st.sampled_from(AWKWARD_SHAPES),
    st.sampled_from(AWKWARD_TEXTS),
    st.sampled_from(AWKWARD_NUMBERS),
    st.text(st.characters(codec=None), max_size=8),
)
_DEEDS: Final = ("drop", "put", "put", "put", "repeat", "copy", "copy", "swap", "rename", "nest")


@cache
def bodies(kind: str) -> tuple[tuple[str, Any], ...]:
    """(content type, document) of every captured request of this kind, ``plan`` or ``event``."""
    return tuple(
        (exchange.content_type, exchange.document)
        for name in captures.names()
        for exchange in captures.load(name)
        if exchange.kind == kind
    )


def slots(document: Any) -> Iterator[Slot]:
    """Every place of a document, outermost first."""
    waiting = [document]
    for value in waiting:
        keys: Any = value.keys() if isinstance(value, dict) else range(len(value))
        for key in list(keys):
            yield value, key
            if isinstance(value[key], dict | list):
                waiting.append(value[key])


@st.composite
def mutated(draw: st.DrawFn, kind: str) -> tuple[str, Any]:
    """(content type, document) with one to six mutations, now and then under another version."""
    content_type, original = draw(st.sampled_from(bodies(kind)))
    document = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 6))):
        _mutate(draw, document)
    if draw(st.integers(0, 9)) == 0:
        content_type = draw(st.sampled_from(sorted({each for each, _ in bodies(kind)})))
    return content_type, document


def _mutate(draw: st.DrawFn, document: Any) -> None:
    # Half of the mutations hit the upper storeys, which a fair choice would hardly ever visit.
    places = list(slots(document))
    if not places:
        return
    if draw(st.booleans()):
        places = places[:120]
    holder, key = draw(st.sampled_from(places))
    deed = draw(st.sampled_from(_DEEDS))
    if deed == "drop":
        del holder[key]
    elif deed == "put":
        holder[key] = copy.deepcopy(draw(awkward))
    elif deed == "repeat" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif deed in ("copy", "swap"):
        other, place = draw(st.sampled_from(places))
        value = copy.deepcopy(other[place])
        if deed == "swap":
            other[place] = copy.deepcopy(holder[key])
        holder[key] = value
    elif deed == "rename" and isinstance(holder, dict):
        holder[draw(st.sampled_from(AWKWARD_TEXTS))] = holder.pop(key)
    elif deed == "nest":
        holder[key] = [holder[key]]
