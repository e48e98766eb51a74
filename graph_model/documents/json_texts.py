"""UTF-8 bytes -> a JSON value, within bounds, with one value for each key of an object.

JSON leaves the meaning of a key given twice open, and clients do it: OpenLineage's for Spark gives
``processing_engine`` twice. Equal values count once. Of different ones the last counts, as in
Python's own reader, and the document notes the place (``producers.projections``). All other
values are dropped, so that no secret can hide in one of them.

    {"a": 1, "a": 1}         =>  {"a": 1}
    {"b": {"a": 1, "a": 2}}  =>  {"b": {"a": 2}, "_repeatedKeys": ["b.a"]}
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from graph_model.errors import DocumentTooLarge, InvalidFields
from graph_model.producers.projections import REPEATED_KEYS, repeated_keys

_MOST_NOTED: Final = 20
_LONGEST: Final = 200

_Place = tuple["_Place", str] | None
"""The place of a value: the place of its container, and the last step from there."""
MOST_VALUES: Final = 8_000_000
"""Commas and opening brackets outside strings. An agent's document has one in ten bytes or more, so
64 MB of it pass; ``[{},{},…]`` has one in two and takes forty times its size in memory."""
# To its end, or to the body's where it has none: a search never reads a string twice.
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_STRETCH: Final = re.compile(rb'[^"]*+(?:' + _STRING + rb'[^"]*+){0,10000}+', re.DOTALL)
_MARKS: Final = (b",", b"[", b"{")
_MEMORY_A_BYTE: Final = 6
"""The text, its characters and the masked text; measured over all shapes, with the next."""
_MEMORY_A_MARK: Final = 160
"""A comma, bracket or colon stands for an object of Python: 50 to 150 bytes with its copies."""


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
        fields = dict(pairs)
        if len(fields) != len(pairs):
            names = {name: None for name, value in pairs if not _say_the_same(value, fields[name])}
            if names:
                self._differing[id(fields)] = fields, list(names)
        return fields

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
            for fields, place in _objects(document)
            for name in self._differing.get(id(fields), (fields, ()))[1]
        ]
        left_out = len(places) - _MOST_NOTED
        more = [f"and {left_out:,} more"] if left_out > 0 else []
        return [_spelled(place) for place in places[:_MOST_NOTED]] + more


def _say_the_same(value: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: ``true`` is not ``1``, as it is in Python."""
    return value is other or (value == other and _sorted(value) == _sorted(other))


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


class RepeatedKey(InvalidFields):
    """An object has a key twice, where it may not: ``parse_json`` takes it."""


def memory_for(text: bytes) -> int:
    """About the bytes of memory that a JSON text, or a piece of one, needs while it is parsed,
    checked and masked.

        {},{},…  => 110 bytes for each of the text, a usual document => 30
    """
    marks = sum(map(text.count, (*_MARKS, b":")))  # those in strings, too: a bound costs little
    return _MEMORY_A_BYTE * len(text) + _MEMORY_A_MARK * marks


def parse_json(body: bytes) -> Any:
    """The JSON value of UTF-8 bytes; a byte order mark is skipped.

    Refused (InvalidFields): bytes that are not UTF-8 or not JSON, NaN and numbers beyond a double,
    nesting beyond the interpreter's stack, more than MOST_VALUES values. Of a key given twice in
    one object the last value counts, and where they differ the document notes it
    (``repeated_keys``). A lone surrogate (text cut in the middle of a character) becomes U+FFFD: it
    is no reason to lose a document.
    """
    if _exceeds(body):
        raise InvalidFields({"document": [f"at most {MOST_VALUES:,} values"]}, "too-large")
    try:
        return _parse(body, _load_strictly)
    except RepeatedKey:
        return _parse(body, _load_repeated)


def parse_instruction(body: bytes) -> Any:
    """``parse_json`` of an instruction carried out at once: a key with two values is refused."""
    value = parse_json(body)
    if twice := repeated_keys(value):
        listed = ", ".join(map(repr, twice))
        raise InvalidFields({"document": [f"one value for each key, not two for {listed}"]})
    return value


def _parse(body: bytes, load: Callable[[str], Any]) -> Any:
    try:
        return load(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _unreadable(f"UTF-8 (byte {error.start} is not)") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _unreadable(f"JSON ({error.msg}: {where})") from None
    except RecursionError:
        raise _unreadable("JSON that is nested less deeply") from None
    except ValueError as error:
        # Python's own message advises a call inside the server.
        wrong = "an integer is too long" if "integer string conversion" in str(error) else error
        raise _unreadable(f"JSON ({wrong})") from None


def _unreadable(expected: str) -> InvalidFields:
    return InvalidFields({"document": [expected]}, "unreadable")


def _load_strictly(text: str) -> Any:
    value = _load(text)
    return _load(_mended(value)) if _may_hold_surrogates(text) else value


def _load_repeated(text: str) -> Any:
    """A text in which some object has a key twice; mending may make two keys one as well."""
    value = _load_and_note(text)
    return _load_and_note(_mended(value)) if _may_hold_surrogates(text) else value


def _load_and_note(text: str) -> Any:
    repeated = RepeatedKeys()
    value = _decoder(repeated.object_of)(text)
    repeated.note(value)
    return value


def _exceeds(body: bytes) -> bool:
    """Whether a JSON text has more than MOST_VALUES values.

    Nearly every text is cleared by a glance. In one that is not, commas in strings do not count:
    strings are taken out, a stretch at a time (a body may hold millions of them).
    """
    if len(body) <= MOST_VALUES or sum(map(body.count, _MARKS)) <= MOST_VALUES:
        return False
    count = place = 0
    while count <= MOST_VALUES and (stretch := _STRETCH.match(body, place)) and stretch[0]:
        count += sum(map(_STRINGS.sub(b"", stretch[0]).count, _MARKS))
        place = stretch.end()
    return count > MOST_VALUES


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise RepeatedKey({"document": ["each key once in an object"]})
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise ValueError("a number is too large")
    return number


def _decoder(object_of: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Callable[[str], Any]:
    return json.JSONDecoder(
        object_pairs_hook=object_of, parse_constant=_refuse_constant, parse_float=_finite
    ).decode


# Made once: to make a decoder takes as long as to read a small document.
_load: Final = _decoder(_object_of)


def _may_hold_surrogates(text: str) -> bool:
    return "\\" in text and ("\\ud" in text or "\\uD" in text)


def _mended(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# A gzip stream -> its bytes, within a bound.

_CHUNK: Final = 64 * 1024
_FIRST_STEP: Final = 512
_MOST_PIECE: Final = 1024 * 1024
_GZIP: Final = 16 + zlib.MAX_WBITS


def gunzip(packed: bytes, limit: int) -> bytes:
    """Inflate one or more gzip members, never holding more than ``limit`` bytes; raises as
    ``inflated``.
    """
    return b"".join(inflated(packed, limit))


def inflated(packed: bytes, limit: int) -> Iterator[bytes]:
    """The bytes of one or more gzip members, in pieces of at most 1 MiB.

    Raises DocumentTooLarge for more than ``limit``, InvalidFields for a stream that ends early,
    fails its checksum or has other bytes behind it. It is fed in small steps: zlib copies the bytes
    behind a member, and a stream of a million empty members would be copied a million times.
    """
    left = limit + 1
    stream = memoryview(packed)
    while True:
        member = zlib.decompressobj(_GZIP)
        step = _FIRST_STEP
        while not member.eof and stream:
            part = _inflate(member, stream[:step], min(left, _MOST_PIECE))
            left -= len(part)
            if left <= 0:
                raise DocumentTooLarge(limit)
            yield part
            untouched = len(member.unused_data if member.eof else member.unconsumed_tail)
            stream = stream[min(step, len(stream)) - untouched :]
            step = min(2 * step, _CHUNK)
        if not member.eof:
            raise _not_gzip()
        if not stream:
            return


def _inflate(member: zlib._Decompress, piece: memoryview, most: int) -> bytes:
    try:
        return member.decompress(piece, most)
    except zlib.error:
        raise _not_gzip() from None


def _not_gzip() -> InvalidFields:
    return InvalidFields({"document": ["a whole gzip stream"]}, "unreadable")
