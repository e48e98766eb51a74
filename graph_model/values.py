"""Plain values: text as stores hold, lists compare and failures keep it; times; batches; roles.

Of a failure's text a part is stored, and a line of it names the cause:

    org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 …
        at org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(…)
    Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
      File "mail.py", line 7, in address
    ValueError: no mail address for ann           <- this one

Spark wraps the exception of a task in several of its own, and the wrappers come first.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Final, TypeVar, overload

_Value = TypeVar("_Value")
_MOST_STORED: Final = 4_000
_PART: Final = 1_997
_LONGEST: Final = 300
_TRACEBACK: Final = "Traceback (most recent call last):"
#: Java's causes; those of a suppressed exception are indented. py4j writes the first without words.
_CAUSE: Final = re.compile(r"^(?:Caused by)?: (.+)", re.MULTILINE)
#: The Python exceptions for an exception of the JVM.
_WRAPPER: Final = "py4j.protocol.Py4JJavaError"


def storable(text: str) -> str:
    """The text as every database stores it: NUL and lone surrogates become U+FFFD.

    A producer may send either inside JSON. PostgreSQL and Neptune refuse the first, UTF-8 has no
    form for the second, and a document must not fail for it.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def storable_value(value: _Value) -> _Value | str:
    """A text as ``storable`` makes it, any other value as it is."""
    return storable(value) if isinstance(value, str) else value


def plain(text: str) -> str:
    """``Ünïcode ÉTÉ => unicode ete``."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


def shortened(text: str) -> str:
    """At most 4,000 characters of a text, with the same :func:`cause_line`: the beginning, and the
    end or the part from the cause on. An ellipsis, on a line indented like a frame, stands for the
    rest.
    """
    if len(text) <= _MOST_STORED:
        return text
    cause = cause_line(text) or ""
    same = (cut for cut in _cuts(text, cause) if (cause_line(cut) or "") == cause)
    return next(same, text[:_MOST_STORED])


def _cuts(text: str, cause: str) -> Iterator[str]:
    """Shorter texts, the best first."""
    beginning = text[:_PART]
    line = text.rfind("\n", 0, text.rfind(cause)) + 1
    heading = max(text.rfind(mark, 0, line) for mark in ("\nCaused by: ", _TRACEBACK))
    yield f"{beginning}\n\t…{text[-_PART:]}"
    yield f"{beginning}\n\t…\n{text[line : line + _PART]}"
    yield f"{beginning}\n\t…\n{text[max(heading, 0) :][:_PART].lstrip()}"
    yield f"{beginning}\n\t…\n{_TRACEBACK}\n{text[line : line + _PART - len(_TRACEBACK) - 1]}"
    yield f"{cause}\n\t…{beginning}"
    yield cause


def cause_line(error: str | None) -> str | None:
    """Python's last exception, else Java's last cause, else the first line; None without text.

    At most 300 characters.
    """
    lines = (error or "").strip().splitlines()
    text = "\n".join(lines)
    raised = [line for line in _raised(lines) if not line.startswith(_WRAPPER)]
    causes = [line for line in _CAUSE.findall(text) if _TRACEBACK not in line]
    last = [*lines[:1], *causes[-1:], *raised[-1:]][-1:]
    return last[0].rstrip()[:_LONGEST] if last else None


def _raised(lines: Sequence[str]) -> Iterator[str]:
    """The exceptions of tracebacks: each stands below its frames, which are indented, unless the
    traceback was cut.
    """
    in_frames = False
    for line in lines:
        if line.endswith(_TRACEBACK):
            in_frames = True
        elif in_frames and line and not line[0].isspace():
            in_frames = False
            if not line.startswith("Caused by: "):
                yield line


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
LATEST: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
EXPECTED: Final = "a time: epoch milliseconds or ISO 8601, such as 2026-03-01T08:15:00.000Z"
#: A "+" that is not percent-encoded arrives as a space: "...T08:15:00 02:00" => "+02:00".
_LOST_PLUS: Final = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")
_DATE_AND_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]")


def now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


@overload
def iso(at: int) -> str: ...


@overload
def iso(at: int | None) -> str | None: ...


def iso(at: int | None) -> str | None:
    """``1772352900000`` => ``2026-03-01T08:15:00.000Z``."""
    if at is None:
        return None
    moment = datetime.fromtimestamp(at // 1000, UTC).isoformat()
    return f"{moment[:19]}.{at % 1000:03d}Z"


def parse_instant(text: str) -> int:
    """Epoch milliseconds (floor). Digits alone are epoch milliseconds, few or many; a
    time without a zone is UTC, a date is its midnight.

    Raises ValueError for anything else, and before 1970 or after the year 9999.
    """
    if text.isascii() and text.isdigit():
        return _within(int(text) if len(text) < 20 else LATEST + 1)
    if _DATE_AND_TIME.match(text):
        text = _LOST_PLUS.sub("+", text)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _within((moment - _EPOCH) // _MILLISECOND)


def _within(milliseconds: int) -> int:
    if not 0 <= milliseconds <= LATEST:
        raise ValueError("before 1970 or after 9999")
    return milliseconds


_Item = TypeVar("_Item")


def batched(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """``[1, 2, 3], 2 => [1, 2], [3]``: ``itertools.batched`` of Python 3.12, with lists."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


# --- the roles of API keys: console, settings and their descriptions follow from them -------------


class Role(StrEnum):
    """A key has one or more; ``ADMIN`` has them all. A route names the one that it needs
    (``api.http.blueprint``).
    """

    READER = "reader"
    PRODUCER = "producer"
    ADMIN = "admin"


MAY: Final[Mapping[Role, str]] = {
    Role.READER: "read",
    Role.PRODUCER: "report",
    Role.ADMIN: "do everything",
}
ROLES: Final = tuple(role.value for role in Role)
ANONYMOUS_ROLES: Final = tuple(role.value for role in Role if role is not Role.ADMIN)
"""The roles that a caller without a key can have."""
