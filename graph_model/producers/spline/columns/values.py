"""The sources of one value: sets of read columns by how they flow, and struct members.

Sets are integers with a bit per source, so that a union costs a machine word per 64 sources and
is shared by every column that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from graph_model import labels

#: The kinds of flow, in the order of the places of :attr:`Value.flows`.
HOWS: Final = (
    labels.IDENTITY,
    labels.TRANSFORMATION,
    labels.AGGREGATION,
    labels.CONDITIONAL,
    labels.WINDOW,
)
IDENTITY, TRANSFORMATION, AGGREGATION, CONDITIONAL, WINDOW = range(5)

Flows = tuple[int, int, int, int, int]
NO_FLOWS: Final[Flows] = (0, 0, 0, 0, 0)

#: Bounds of one value; a struct beyond them is kept as a whole.
_MAX_PARTS: Final = 64
_MAX_SIZE: Final = 2_000
_MAX_DEPTH: Final = 32
LARGE_STRUCT: Final = f"a struct of more than {_MAX_SIZE:,} members or {_MAX_DEPTH} levels"

Source = tuple[str, tuple[str, ...]]

_WORD: Final = 1_024  # bits processed at once
_ONES: Final = (1 << _WORD) - 1


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A part that is a read column or a nested field of one; ``how`` it flowed here."""

    attribute: str
    path: tuple[str, ...]
    how: int


@dataclass(frozen=True, slots=True)
class Struct:
    """A part that was built in the plan: its members in order."""

    names: tuple[str, ...]
    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """The sources of a value.

    ``flows`` are the sources by kind of flow. ``parts`` are the alternatives from which a field can
    be selected (None: unknown; (): a literal without fields); ``shared`` flows into every selected
    field (the conditions of a CASE that chose between structs). ``size`` counts the nested values,
    ``depth`` the nesting of structs.
    """

    flows: Flows = NO_FLOWS
    parts: tuple[ReadColumn | Struct, ...] | None = ()
    shared: Flows = NO_FLOWS
    size: int = field(default=1, compare=False)
    depth: int = field(default=0, compare=False)


EMPTY: Final = Value()


class ColumnNumbering:
    """Numbers the read columns in order of occurrence: the bits of :data:`Flows`."""

    def __init__(self) -> None:
        self._numbers: dict[Source, int] = {}
        self._listed: list[Source] = []

    def bit(self, attribute: str, path: tuple[str, ...]) -> int:
        source = (attribute, path)
        number = self._numbers.setdefault(source, len(self._listed))
        if number == len(self._listed):
            self._listed.append(source)
        return 1 << number

    def of(self, bits: int) -> Iterator[Source]:
        """The sources in a set, in order of occurrence."""
        start = 0
        while bits:
            empty = ((bits & -bits).bit_length() - 1) // _WORD * _WORD
            bits >>= empty
            start += empty
            word = bits & _ONES
            while word:
                lowest = word & -word
                yield self._listed[start + lowest.bit_length() - 1]
                word ^= lowest
            bits >>= _WORD
            start += _WORD


# --- flows ---------------------------------------------------------------------------------------


def union_flows(flows: Iterable[Flows]) -> Flows:
    identity = transformation = aggregation = conditional = window = 0
    for one in flows:
        identity |= one[IDENTITY]
        transformation |= one[TRANSFORMATION]
        aggregation |= one[AGGREGATION]
        conditional |= one[CONDITIONAL]
        window |= one[WINDOW]
    return (identity, transformation, aggregation, conditional, window)


def raised(flows: Flows, how: int) -> Flows:
    """The flows after a step that is at least ``how``: weaker direct flows become that strong."""
    identity, transformation, aggregation, conditional, window = flows
    if how == TRANSFORMATION:
        return (0, identity | transformation, aggregation, conditional, window)
    if how == AGGREGATION:
        return (0, 0, identity | transformation | aggregation, conditional, window)
    return flows


def as_influence(flows: Flows, how: int) -> Flows:
    """All sources as CONDITIONAL or WINDOW, because they only decide."""
    everything = all_sources(flows)
    return (0, 0, 0, everything, 0) if how == CONDITIONAL else (0, 0, 0, 0, everything)


def all_sources(flows: Flows) -> int:
    return flows[0] | flows[1] | flows[2] | flows[3] | flows[4]


# --- values --------------------------------------------------------------------------------------


def column(
    sources: ColumnNumbering, attribute: str, path: tuple[str, ...] = (), how: int = 0
) -> Value:
    """A read column, or a field below one."""
    flows = list(NO_FLOWS)
    flows[how] = sources.bit(attribute, path)
    return Value(tuple(flows), (ReadColumn(attribute, path, how),))  # type: ignore[arg-type]


def closed(flows: Flows) -> Value:
    """A value of which only the sources are known."""
    return Value(flows, None)


def struct(names: Sequence[str], members: Sequence[Value]) -> Value:
    """A struct of these members; as a whole it derives from all of them."""
    flows = union_flows(raised(member.flows, TRANSFORMATION) for member in members)
    size = 1 + sum(member.size for member in members)
    depth = 1 + max((member.depth for member in members), default=0)
    if size > _MAX_SIZE or depth > _MAX_DEPTH:
        return closed(flows)
    return Value(flows, (Struct(tuple(names), tuple(members)),), size=size, depth=depth)


def merged(values: Sequence[Value]) -> Value:
    """Any of these: branches of a union, of a CASE."""
    if len(values) == 1:
        return values[0]
    flows = union_flows(value.flows for value in values)
    shared = union_flows(value.shared for value in values)
    parts: dict[ReadColumn | Struct, None] = {}
    for value in values:
        if value.parts is None:
            return Value(flows, None, shared)
        parts.update(dict.fromkeys(value.parts))
    size = sum(value.size for value in values)
    if len(parts) > _MAX_PARTS or size > _MAX_SIZE:
        return Value(flows, None, shared)
    return Value(flows, tuple(parts), shared, size, max(value.depth for value in values))


def stepped(value: Value, how: int) -> Value:
    """The value after a step that keeps its fields selectable: an element of an array."""
    if how == IDENTITY:
        return value
    parts = None if value.parts is None else tuple(_part(part, how) for part in value.parts)
    shared = raised(value.shared, how)
    return Value(raised(value.flows, how), parts, shared, value.size, value.depth)


def _part(part: ReadColumn | Struct, how: int) -> ReadColumn | Struct:
    if isinstance(part, ReadColumn):
        return ReadColumn(part.attribute, part.path, max(part.how, how))
    return Struct(part.names, tuple(stepped(member, how) for member in part.members))


def under(value: Value, influences: Flows) -> Value:
    """The value, with the sources that influence it."""
    if influences == NO_FLOWS:
        return value
    flows = union_flows((value.flows, influences))
    shared = union_flows((value.shared, influences))
    return Value(flows, value.parts, shared, value.size, value.depth)


def add_sources(value: Value, flows: Flows) -> Value:
    """The value, with sources that no selected field takes: the keys of a map."""
    whole = union_flows((value.flows, flows))
    return Value(whole, value.parts, value.shared, value.size, value.depth)


def compared(value: Value, sources: ColumnNumbering) -> Value:
    """The value, chosen or placed by comparison with others: max, sort_array.

    Structs are compared field by field: in ``max(struct(a, b))`` field ``b`` is a value of b that
    ``a`` has chosen, and ``a`` is chosen by itself alone. In a struct that was read, the fields
    before the picked one are not known: the struct as a whole decides.
    """
    whole, shared = value.flows, value.shared
    parts: list[ReadColumn | Struct] = []
    for part in value.parts or ():
        if isinstance(part, Struct):
            ordered = _compared_struct(part, sources)
            deciding = union_flows(member.flows for member in ordered.members)[CONDITIONAL]
            whole = union_flows((whole, (0, 0, 0, deciding, 0)))
            parts.append(ordered)
        else:
            read = column(sources, part.attribute, part.path)
            shared = union_flows((shared, as_influence(read.flows, CONDITIONAL)))
            parts.append(part)
    kept = None if value.parts is None else tuple(parts)
    return Value(whole, kept, shared, value.size, value.depth)


def _compared_struct(part: Struct, sources: ColumnNumbering) -> Struct:
    """The struct with the influence of its members on those that follow."""
    before = NO_FLOWS
    members: list[Value] = []
    for member in part.members:
        members.append(under(compared(member, sources), before))
        before = union_flows((before, as_influence(member.flows, CONDITIONAL)))
    return Struct(part.names, tuple(members))


def picked(value: Value, name: str | None, place: int | None, sources: ColumnNumbering) -> Value:
    """One field of a struct, or of the structs in an array.

    From a struct with unknown members, the field derives from all sources, transformed.
    """
    if value.parts is None:
        return closed(raised(value.flows, TRANSFORMATION))
    found: list[Value] = []
    for part in value.parts:
        one = _pick(part, name, place, sources)
        if one is None:
            return closed(raised(value.flows, TRANSFORMATION))
        found.append(one)
    return under(merged(found) if found else EMPTY, value.shared)


def _pick(
    part: ReadColumn | Struct, name: str | None, place: int | None, sources: ColumnNumbering
) -> Value | None:
    if isinstance(part, ReadColumn):
        if name is None:
            return None
        return column(sources, part.attribute, (*part.path, name), part.how)
    if place is not None and 0 <= place < len(part.members):
        return part.members[place]
    folded = name.casefold() if name is not None else None
    for known, member in zip(part.names, part.members, strict=True):
        if known.casefold() == folded:
            return member
    return None
