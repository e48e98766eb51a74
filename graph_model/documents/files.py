"""Documents in log files and exports: recognised, each with its line.

    lines -> JSON values, with their first line -> plans and events

Recognised are:

- lines of ``headwater journal export``;
- documents of any producer and lists of them, on one line or over many: each producer recognises
  its own;
- documents that a dispatcher or a transport writes behind any logger's prefix, as its producer
  announces them: ``ExecutionPlan (apiVersion: 1.2):`` and JSON after it, or an
  event of OpenLineage by its beginning.

Messages that a log or its collector broke at some width, inside a string too, are joined
by the prefix of each part. Everything here is pure: lines in, pieces and refusals out, in order,
and a bad piece does not affect the next.

    26/03/01 10:00:00 INFO ConsoleTransport: {"eventTime": "2026-03-01T1      log4j, at a width:
    26/03/01 10:00:00 INFO ConsoleTransport: 0:00:00Z", …}                    the prefix again
    2026-03-01T10:00:00.1Z 26/03/01 10:00:00 INFO ConsoleTransport: {"ev…     CloudWatch, YARN:
    2026-03-01T10:00:00.2Z entTime": …                                        a time of its own
    2026-03-01T10:00:00.1Z stdout P {"eventTime": …                           containers:
    2026-03-01T10:00:00.2Z stdout F …}                                        P goes on, F ends
    … {"eventTime": "2026-03-01T1                                             a terminal:
    0:00:00Z", …}                                                             nothing

A prefix is compared word by word with the one of the first part, where digits stand for digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

from graph_model import identity
from graph_model.documents.json_texts import parse_json
from graph_model.errors import InvalidFields
from graph_model.producers.producer import Reported
from graph_model.producers.projections import REPEATED_KEYS, repeated_keys
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.documents import DocumentKind, Submission

# How dispatchers announce documents, whatever their format: by a marker in a log, by headers.
#
#     INFO ConsoleTransport: ExecutionPlan (apiVersion: 1.2): {…}     a marker: a name, a version
#     INFO ConsoleTransport: {"eventTime": …}                         the document's own beginning
#     __TypeId__: ExecutionPlan_1.2                                   headers of a message
#     ABSA-Spline-Entity-Type: ExecutionPlan
#
# The names and beginnings are those of the producers (``Producer.announced``,
# ``Producer.openings``).

TYPE_HEADER: Final = "__TypeId__"
ENTITY_HEADER: Final = "ABSA-Spline-Entity-Type"
VERSION_HEADER: Final = "ABSA-Spline-API-Version"
_NEVER: Final = "(?!)"
_DEFAULT_VERSION: Final = "1.1"
"""For a type without a version: agents 0.7 send one, and wrote API 1.1 whatever else they state."""


@dataclass(frozen=True, slots=True)
class Markers:
    """``pattern`` finds the place where a document begins in a line: group 1 is its announced name
    and group 2 its version, none for a document that announces itself by one of ``openings``.
    """

    pattern: re.Pattern[str]
    openings: tuple[str, ...]


@lru_cache(maxsize=4)
def markers_of(producers: Producers) -> Markers:
    """The markers of all formats."""
    names = "|".join(map(re.escape, producers.announced)) or _NEVER
    beginnings = "|".join(map(re.escape, producers.openings)) or _NEVER
    pattern = rf"\b({names}) \(apiVersion: ([0-9.]{{1,8}})\):|(?={beginnings})"
    return Markers(re.compile(pattern), producers.openings)


def is_announced(headers: Mapping[str, str]) -> bool:
    """Whether the headers of a message name the kind of its document."""
    return TYPE_HEADER in headers or ENTITY_HEADER in headers


def kind_and_version(headers: Mapping[str, str], producers: Producers) -> tuple[DocumentKind, str]:
    """``ExecutionPlan_1.2`` => (plan, 1.2); otherwise from the two headers of Spline's client.

    Raises InvalidFields for a name or a version that no producer has.
    """
    if TYPE_HEADER in headers:
        name, separator, version = headers[TYPE_HEADER].partition("_")
        where, version = TYPE_HEADER, version if separator else _DEFAULT_VERSION
    else:
        name = headers.get(ENTITY_HEADER, "")
        where, version = ENTITY_HEADER, headers.get(VERSION_HEADER, _DEFAULT_VERSION)
    kind = producers.announced.get(name)
    if kind is None:
        given = f"not {name[:60]!r}" if name else "and there is none"
        listed = ", ".join(producers.announced)
        raise InvalidFields({f"header {where}": [f"one of {listed}, {given}"]})
    version, known = plain_version(version), producers.versions_of(kind)
    if version not in known:
        listed = ", ".join(known)
        raise InvalidFields(
            {f"header {where}": [f"an API version among {listed}, not {version[:20]!r}"]}
        )
    return kind, version


def plain_version(version: str) -> str:
    """``1.0`` => ``1``."""
    return version.removesuffix(".0")


# --------------------------------------------------------------------------------------------------

_LONGEST: Final = 500
_TIME_DIGITS: Final = 6
_WORD: Final = re.compile(r"\S+\s*")
_LEVEL: Final = re.compile(r"[\[<(]?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b", re.IGNORECASE)
_SOURCE_END: Final = "|"
_PART_OR_FULL: Final = ("P", "F")
_JSON_START: Final = re.compile(r"\s*(\{|\[\s*([\[{\]]|$))")
_SPACE: Final = re.compile(r"\s*+")
_SEPARATORS: Final = re.compile(r"[,;\s]*+")
_NEW_DOCUMENT: Final = re.compile(r'\{\s*"')
_STRING_END: Final = r'[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>"|\\?\Z)'
_TOKEN: Final = re.compile(f'"{_STRING_END}|[{{}}\\[\\]]', re.DOTALL)
_REST_OF_STRING: Final = re.compile(_STRING_END, re.DOTALL)


class Prefix:
    """The text before a message on its first line: a time, a level, a logger; "" for nothing."""

    def __init__(self, text: str) -> None:
        self._text = text if len(text) <= _LONGEST else ""

    @classmethod
    def before(cls, line: str, place: int) -> Prefix:
        """The text of a line before this place."""
        return cls(line[: min(place, _LONGEST + 1)])

    def continued(self, line: str) -> str | None:
        """The text that a line adds to the message; None where it is another record.

        The most words that the line shares with the prefix are taken off: all of them, or such as
        hold a time or name a source (``spark-1  |``). A level right after a time begins another
        record.
        """
        shared = 0
        for count, pattern in enumerate(self._words, 1):
            match = pattern.match(line, shared)
            if match is None:
                return self._after_time(line, count - 1, shared)
            shared = match.end()
        return line[shared:]

    def _after_time(self, line: str, words: int, shared: int) -> str | None:
        """``words`` of the prefix, up to ``shared``, begin the line."""
        prefix = line[:shared].rstrip()
        if sum(map(str.isdigit, prefix)) < _TIME_DIGITS and not prefix.endswith(_SOURCE_END):
            return line
        is_record = self._has_level and _LEVEL.match(line, shared) is not None
        return None if words and is_record else line[shared:]

    @cached_property
    def _words(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_shape(word) for word in _WORD.findall(self._text.lstrip()))

    @cached_property
    def _has_level(self) -> bool:
        return any(_LEVEL.match(word) for word in _WORD.findall(self._text))


def _shape(word: str) -> re.Pattern[str]:
    """A word and the space behind it: ``10:00:00 `` => digits, a colon, …, one space."""
    bare = word.rstrip()
    space = re.escape(word[len(bare) :])
    if bare in _PART_OR_FULL:
        return re.compile(f"[PF]{space}")
    parts = re.split(r"([0-9]+)", bare)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = ["[0-9]++"] * len(parts[1::2])
    return re.compile("".join(parts) + space)


@dataclass(frozen=True, slots=True)
class Piece:
    """One document. ``where`` is ``file:line``.

    ``scope``, ``subject_key`` and ``received_at`` (epoch ms) come from an export; None for
    documents from elsewhere.
    """

    kind: DocumentKind
    api_version: str
    document: Any
    where: str
    scope: str | None = None
    subject_key: str | None = None
    received_at: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that is no document, or not a whole one. ``where`` is ``file:line``."""

    where: str
    reason: str


Found = Piece | Refusal


def recognise(
    lines: Iterable[str], name: str, limit: int, producers: Producers = PRODUCERS
) -> Iterator[Found]:
    """All documents of a file; ``limit`` bounds one document, in characters.

    A file that begins with JSON is JSON throughout; any other is a log, in which a document follows
    a dispatcher's marker, or begins as an event of OpenLineage does. Bytes that are no UTF-8 come
    as lone surrogates (``errors="surrogateescape"``); a document that holds one is refused.
    """
    for value in _values(lines, limit, markers_of(producers)):
        where = f"{name}:{value.line}"
        if value.wrong:
            yield Refusal(where, value.wrong)
            continue
        try:
            document = parse_json(value.text.encode("utf-8"))
        except UnicodeEncodeError:
            yield Refusal(where, value.explained("expected UTF-8"))
        except InvalidFields as error:
            yield Refusal(where, value.explained(str(error)))
        else:
            yield from _pieces(document, value.marker, where, producers)


# --- lines -> JSON values ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Value:
    """The text of a JSON value on the lines from ``line`` to ``last``, or the error in it,
    ``wrong``.
    """

    line: int
    marker: tuple[str, str] | None
    text: str = ""
    wrong: str = ""
    last: int = 0

    def explained(self, reason: str) -> str:
        """The reason of a refusal, with the lines that were joined."""
        joined = f" (lines {self.line} to {self.last} joined)" if self.last > self.line else ""
        return f"{reason}{joined}"


@dataclass(slots=True)
class _Capture:
    """A JSON value in the making, a line at a time. A line may end anywhere in it: a line feed in
    JSON is blank space or a place where a log broke the text.

    ``prefix`` precedes it on its first line.
    """

    line: int
    marker: tuple[str, str] | None
    prefix: Prefix
    opening: str = ""
    parts: list[str] = field(default_factory=list)
    size: int = 0
    nesting: bytearray = field(default_factory=bytearray)
    tail: str = ""
    in_string: bool = False
    escaped: bool = False
    last: int = 0

    def feed(self, text: str, place: int, limit: int) -> int | None:
        """Take text from this place on; the end of the value once it has come, else None."""
        self.opening = self.opening or text[place : place + 1]
        end = self._end_in(text, self._after_string(text, place))
        taken = text[place:end]
        self._keep(taken, limit)
        self.tail = "" if self.in_string else taken.rstrip()[-1:] or self.tail
        return end

    def _after_string(self, text: str, place: int) -> int:
        """Where the string ends in which the last line did."""
        start = min(place + self.escaped, len(text))
        if not self.in_string or (self.escaped and place == len(text)):
            return place
        self.escaped = False
        match = _REST_OF_STRING.match(text, start)
        return self._leave(match) if match else len(text)

    def _leave(self, string: re.Match[str]) -> int:
        """The end of a string, or of the line inside of it."""
        self.in_string = string["end"] != '"'
        self.escaped = string["end"] == "\\"
        return string.end()

    def _end_in(self, text: str, start: int) -> int | None:
        for token in _TOKEN.finditer(text, start):
            if token[0][0] == '"':
                self._leave(token)
            elif token[0] in "{[":
                self.nesting += token[0].encode()
            else:
                del self.nesting[-1:]
                if not self.nesting:
                    return token.end()
        return None

    def _keep(self, text: str, limit: int) -> None:
        self.size += len(text)
        self.parts.append(text)
        if self.size > limit:
            self.parts.clear()

    def value(self, limit: int) -> _Value:
        if self.size > limit:
            return self.broken(f"the document is larger than {limit:,} characters")
        return _Value(self.line, self.marker, "".join(self.parts), last=self.last)

    def broken(self, reason: str) -> _Value:
        return _Value(self.line, self.marker, wrong=reason, last=self.last)

    def ends_before(self, line: str, markers: Markers) -> bool:
        """Whether a line can only begin another document: this value was cut off.

        Printed over many lines, an object's own lines are indented; ``{"`` in the first column of a
        line after an unfinished one is the next document of a file with one to a line, unless an
        object had to come. In a log an event begins where a marker follows words, not JSON.
        """
        if not self.marker:
            begins = self.opening == "{" and _NEW_DOCUMENT.match(line) is not None
            return begins and not self._awaits_object()
        match = markers.pattern.search(line)
        if match is None or line[:1] in " \t":
            return False
        if not match.start():
            return self.opening != "" and not self._awaits_object()
        return match[1] is not None or '"' not in line[: match.start()]

    def _awaits_object(self) -> bool:
        return self.tail in (":", "[") or (self.tail == "," and self.nesting[-1:] == b"[")


def _values(lines: Iterable[str], limit: int, markers: Markers) -> Iterator[_Value]:
    scanner = _Scanner(limit, markers)
    for number, line in enumerate(lines, 1):
        yield from scanner.take(line, number)
    yield from scanner.end("the file ends inside the document")


class _Scanner:
    """Finds JSON values line by line, holding no more than the one that is being read."""

    def __init__(self, limit: int, markers: Markers) -> None:
        self._limit = limit
        self._markers = markers
        self._is_json: bool | None = None
        self._capture: _Capture | None = None
        self._held: tuple[int, Prefix, str] | None = None
        """The line, the text before it, and the beginning of a marker at the end of a line."""

    def take(self, line: str, number: int) -> Iterator[_Value]:
        if number == 1:
            line = line.removeprefix("\ufeff")
        line = line.rstrip("\r\n")
        if self._is_json is None and line.strip():
            self._is_json = _JSON_START.match(line) is not None
        if self._capture is not None and self._capture.ends_before(line, self._markers):
            yield from self.end(f"another document begins on line {number}")
        if self._held is not None:
            line = self._with_held(line)
        if self._capture is None:
            yield from self._read_values(line, 0, number)
        else:
            yield from self._continue(self._capture, line, number)

    def _continue(self, capture: _Capture, line: str, number: int) -> Iterator[_Value]:
        """The next line of a value; a line of another record in between is passed over."""
        text = capture.prefix.continued(line) if capture.marker else line
        text = text if text is None or capture.opening else text.lstrip()
        if text:
            capture.last = number
            values, place = self._read(capture, text, 0)
            yield from values
            yield from self._read_values(text, place, number)

    def _read_values(self, line: str, place: int, number: int) -> Iterator[_Value]:
        """The values that begin in a line from this place on. A line may hold any number of them:
        nothing copies or searches its rest for each.
        """
        while (place := _end_of(_SPACE, line, place)) < len(line):
            if self._capture is None:
                place = self._begin(line, place, number)
                if self._capture is None and place < len(line):
                    yield _Value(number, None, wrong="expected JSON")
                    return
            else:
                values, place = self._read(self._capture, line, place)
                yield from values

    def end(self, reason: str) -> Iterator[_Value]:
        """Nothing more comes for the value that is being read, if one is."""
        if self._capture is not None:
            yield self._capture.broken(f"cut off: {reason}")
            self._capture = None

    def _begin(self, line: str, place: int, number: int) -> int:
        """Open a capture where a value may start; the place to go on from."""
        if self._is_json and line[place] in "{[":
            self._capture = _Capture(number, None, Prefix(""), last=number)
            return place
        if marker := self._markers.pattern.search(line, place):
            begun, prefix = number, Prefix.before(line, marker.start())
            if self._held is not None:
                begun, prefix, _ = self._held
            kind = (marker[1] or "", marker[2] or "")
            self._capture = _Capture(begun, kind, prefix, last=number)
            self._held = None
            return marker.end()
        self._held = None if self._is_json else self._hold(line, place, number)
        return _end_of(_SEPARATORS, line, place) if self._is_json else len(line)

    def _hold(self, line: str, place: int, number: int) -> tuple[int, Prefix, str] | None:
        """``… {"eve`` at the end of a line may go on as ``ntTime"`` on the next."""
        openings = self._markers.openings
        longest = max(map(len, openings), default=0)
        start = line.rfind("{", max(place, len(line) - longest))
        if start < 0 or not any(opening.startswith(line[start:]) for opening in openings):
            return None
        return number, Prefix.before(line, start), line[start:]

    def _with_held(self, line: str) -> str:
        """The line after the beginning of a marker, where it continues it."""
        _, prefix, beginning = self._held or (0, Prefix(""), "")
        joined = beginning + (prefix.continued(line) or "")
        if self._markers.pattern.match(joined):
            return joined
        self._held = None
        return line

    def _read(self, capture: _Capture, text: str, place: int) -> tuple[tuple[_Value, ...], int]:
        """The value when it ends in this text, and the place after it."""
        if not capture.opening and text[place] not in "{[":
            self._capture = None
            return (capture.broken("expected JSON after this line"),), place
        end = capture.feed(text, place, self._limit)
        if end is None:
            return (), len(text)
        self._capture = None
        return (capture.value(self._limit),), end


def _end_of(pattern: re.Pattern[str], text: str, place: int) -> int:
    """Where a match that begins at this place ends; the place itself where there is none."""
    match = pattern.match(text, place)
    return place if match is None else match.end()


# --- JSON values -> pieces -----------------------------------------------------------------------


def _pieces(
    document: Any, marker: tuple[str, str] | None, where: str, producers: Producers
) -> Iterator[Found]:
    """The pieces of a value; nesting that cannot be followed is a refusal."""
    try:
        pieces = list(
            _marked(document, marker, where, producers)
            if marker and marker[0]
            else classify(document, where, producers)
        )
    except RecursionError:
        yield Refusal(where, "expected JSON that is nested less deeply")
    else:
        noted = repeated_keys(document)
        yield from (_with_note(piece, noted) for piece in pieces) if noted else pieces


def _with_note(piece: Found, noted: Sequence[str]) -> Found:
    """A document inside of a noted value has the note, too."""
    if isinstance(piece, Refusal) or not isinstance(piece.document, dict):
        return piece
    return replace(piece, document={**piece.document, REPEATED_KEYS: list(noted)})


def _marked(
    document: Any, marker: tuple[str, str], where: str, producers: Producers
) -> Iterator[Found]:
    """The output of a dispatcher: the marker names kind and version; documents may be a list."""
    kind, version = producers.announced[marker[0]], plain_version(marker[1])
    known = producers.versions_of(kind)
    if version not in known:
        yield Refusal(where, f"API version {version}: expected one of {', '.join(known)}")
        return
    if isinstance(document, list):
        for index, item in enumerate(document):
            yield Piece(kind, version, item, f"{where}[{index}]")
        return
    yield Piece(kind, version, document, where)


def classify(document: Any, where: str, producers: Producers = PRODUCERS) -> Iterator[Found]:
    """The kind of a JSON value: a line of an export, or a document that a producer recognises."""
    if isinstance(document, list):
        for index, item in enumerate(document):
            if isinstance(item, list):
                yield Refusal(f"{where}[{index}]", "expected a plan or an event, not a list")
            else:
                yield from classify(item, f"{where}[{index}]", producers)
    elif not isinstance(document, Mapping):
        yield Refusal(where, "expected a JSON object")
    elif {"kind", "apiVersion", "body"} <= document.keys():
        yield _exported(document, where, producers)
    else:
        yield from _recognised(document, where, producers)


def _recognised(document: Mapping[str, Any], where: str, producers: Producers) -> Iterator[Found]:
    """The pieces of the first producer that knows this object."""
    for producer in producers:
        if parts := producer.recognise(document):
            yield from (
                Piece(part.kind, part.api_version, part.document, where + part.where)
                for part in parts
            )
            return
    names = ", ".join(list(document)[:5])[:100]
    given = f"an object with the fields {names}" if names else "an empty object"
    yield Refusal(where, f"expected a plan or an event, not {given}")


def _exported(line: Mapping[str, Any], where: str, producers: Producers) -> Found:
    kind, version = line["kind"], line["apiVersion"]
    if not isinstance(kind, str) or version not in producers.versions_of(kind):
        return Refusal(where, f"expected a line of an export, not {kind!r:.40} {version!r:.40}")
    scope, subject_key, received = (line.get(key) for key in ("scope", "planId", "receivedAt"))
    if not isinstance(scope, str | None) or not isinstance(subject_key, str | None):
        return Refusal(where, "expected text as scope and planId")
    if isinstance(received, bool) or not isinstance(received, int | None):
        return Refusal(where, "expected epoch milliseconds as receivedAt")
    return Piece(DocumentKind(kind), version, line["body"], where, scope, subject_key, received)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A valid piece, as the journal would hold it.

    ``is_of_foreign_scope``: an export names a scope that the document itself does not.
    """

    piece: Piece
    submission: Submission
    is_of_foreign_scope: bool


def prepare(piece: Piece, producers: Producers = PRODUCERS) -> Prepared:
    """Check and mask as the piece's producer does. Raises InvalidInput that names the fault."""
    producer = producers.of(piece.kind)
    if producer is None:
        raise InvalidFields({"kind": [f"one of {', '.join(producers.kinds)}"]})
    reported = Reported(piece.kind, piece.api_version, piece.document)
    try:
        own = producer.submission(reported)
    except RecursionError:
        raise InvalidFields({"document": ["JSON that is nested less deeply"]}) from None
    if piece.subject_key not in {None, own.subject_key}:
        raise InvalidFields({"planId": [f"the id in its body, {own.subject_key}"]})
    scope = own.scope if piece.scope is None else piece.scope
    subject = identity.subject_id(scope, own.subject_key)
    return Prepared(piece, replace(own, scope=scope, subject=subject), scope != own.scope)
