"""Every exception that Headwater raises on purpose, and how a console program ends with one.

    HeadwaterError
    ├── InvalidInput            the client can correct it: 4xx
    │   ├── InvalidDocument     a plan or event breaks the protocol; names the field
    │   ├── InvalidFields       one or more fields are wrong; names each of them
    │   ├── DocumentTooLarge    a document exceeds its limit: 413
    │   ├── InvalidReference    a node reference or id that cannot be read
    │   └── AmbiguousReference  a reference that fits several nodes; lists their ids
    ├── NotFound                nothing with this id or name is known
    ├── Conflict                a request contradicts an earlier one: 409
    ├── Refused                 the client may not do this, or not now
    │   ├── NotAuthenticated    no key, or an unknown one: 401
    │   ├── NotAllowed          a key without the role that is needed: 403
    │   ├── WrongSignature      a request is not signed as its key would sign it: 403
    │   ├── ForeignScope        a key reports for another capture scope than its own: 403
    │   ├── OtherOrigin         a page of another origin would change something: 403
    │   └── TooManyRequests     more requests than the key's rate: 429
    ├── Unavailable             try again later: 503
    │   ├── AnswerTimeout       a server has a request and does not answer it in time
    │   ├── JournalUnavailable  a document cannot be made durable now
    │   │   ├── DiskNearlyFull      the disk of the data folder has only its reserve left
    │   │   └── ProjectedElsewhere  another process projects for longer than this one waits
    │   ├── GraphUnavailable    the graph database does not answer
    │   │   └── GraphTimeout    ... within the time it was given
    │   ├── ProjectionStopped   the process ends in the middle of a command
    │   └── Rebuilding          the graph is behind the journal
    ├── GraphRejected           the graph database refuses a request: a bug of ours
    ├── FactConflict            two facts share an id and differ: a bug of ours
    ├── DamagedDocument         the stored body of a document has changed since it was written: 500
    ├── ConfigurationError      a setting or a tool on this machine is wrong; stops start-up
    └── EngineError             the embedded Gremlin Server cannot be started or has died

Exceptions carry the refused value, so that a log line and a reply can both name it. The driver's
own exceptions (gremlin_python, aiohttp) never leave ``graph_model/stores/gremlin``. A console
program ends with 0 after success, 1 after a failure, 2 after a wrong call or setting, its error
in one line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TextIO, TypeVar

Errors = Mapping[str, Sequence[str]]
MOST_ERRORS: Final = 50
"""Places that a refusal names."""
WHOLE_DOCUMENT: Final = "document"
"""The place of what is wrong with a document as a whole."""
_MEBIBYTE: Final = 1 << 20
_LARGE: Final = _MEBIBYTE
"""A request above this size may be refused while smaller ones are taken."""


def sentence(errors: Errors) -> str:
    """``depth: expected an integer; node: expected a text``."""
    return "; ".join(
        f"{path}: expected {' and '.join(expected)}" for path, expected in errors.items()
    )


class HeadwaterError(Exception):
    """The root: catch it to catch everything that is ours."""


class InvalidInput(HeadwaterError):
    """The caller sent something that can never be accepted as it is."""


class InvalidDocument(InvalidInput):
    """A document breaks the protocol.

    ``path`` is where, in the document's own spelling (``operations.reads[2].id``; empty for the
    document as a whole); ``expected`` describes a correct value. ``errors`` has this place and,
    of a reader that goes on, the others that are wrong.
    """

    def __init__(self, path: str, expected: str, errors: Errors | None = None) -> None:
        self.path = path
        self.expected = expected
        self.errors = errors or {path or WHOLE_DOCUMENT: [expected]}
        super().__init__(sentence(self.errors))


class InvalidFields(InvalidInput):
    """A request or a message breaks the contract in one or more named places.

    ``errors`` maps each place to the expected value; ``reason`` is its name in metrics.
    """

    def __init__(self, errors: Errors, reason: str = "invalid") -> None:
        self.reason = reason
        self.errors = dict(list(errors.items())[:MOST_ERRORS])
        super().__init__(sentence(self.errors))


class DocumentTooLarge(InvalidInput):
    """A document has more than ``limit`` bytes, inflated or as it came."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the document is larger than {limit:,} bytes")


class InvalidReference(InvalidInput):
    """A node reference (``dataset:…``, ``column:…#…``, ``job:…/…`` or an id) cannot be read."""

    def __init__(self, reference: str, expected: str) -> None:
        super().__init__(f"{reference!r}: expected {expected}")
        self.reference = reference
        self.expected = expected


class AmbiguousReference(InvalidInput):
    """A reference fits more than one node; ``candidates`` are their ids, any of which is exact."""

    def __init__(self, reference: str, candidates: tuple[str, ...]) -> None:
        super().__init__(f"{reference!r} fits {len(candidates)} nodes: {', '.join(candidates)}")
        self.reference = reference
        self.candidates = candidates


class NotFound(HeadwaterError):
    """Nothing of this kind is known: under this id or name, or at all, with the ``reason``."""

    def __init__(self, kind: str, asked: str = "", reason: str = "") -> None:
        named = f" {asked!r}" if asked else ""
        super().__init__(f"no {kind}{named} is known{reason and ': '}{reason}")
        self.kind = kind
        self.asked = asked


class Conflict(HeadwaterError):
    """The request contradicts an earlier one of the same caller."""


class Refused(HeadwaterError):
    """The caller may not do this, or not now."""


class NotAuthenticated(Refused):
    """There is no key, or one that is not known or was revoked; the answer does not name which."""


class NotAllowed(Refused):
    """The caller is known and lacks the role; ``needed`` names the roles of which one would do."""

    def __init__(self, principal: str, needed: tuple[str, ...]) -> None:
        super().__init__(f"{principal} may not do this: it needs the role {' or '.join(needed)}")
        self.principal = principal
        self.needed = needed


class WrongSignature(Refused):
    """The signature of a request cannot be read, is too old, or is not that of a key."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the signature is refused: {reason}")


class ForeignScope(Refused):
    """A key is bounded by its capture scope, ``own``, and a document is of another one, ``named``:
    that document alone is at fault, the key's others are taken. None: of every scope.
    """

    FIELD: Final = "captureScope"

    def __init__(self, principal: str, own: str, named: str | None = None) -> None:
        of = "this would hold in every scope" if named is None else f"a document is of {named!r}"
        super().__init__(
            f"{principal} reports for the capture scope {own!r} alone, and {of}: use a key of that "
            "scope, or one that may name any (headwater keys scope NAME --any-scope)"
        )
        self.own = own


class OtherOrigin(Refused):
    """A page of another origin would change something; ``origin`` is its own, "" when unknown."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"a page of another origin ({origin or 'untold'}) may not change anything here: "
            "Origin: expected this service's own, or one of HEADWATER_CORS_ORIGINS"
        )
        self.origin = origin


class TooManyRequests(Refused):
    """A key has used up its rate; ``retry_after`` are whole seconds until it has one request."""

    def __init__(self, principal: str, rate_per_minute: int, retry_after: int) -> None:
        super().__init__(
            f"{principal} may make {rate_per_minute} requests a minute; "
            f"try again in {retry_after} s"
        )
        self.retry_after = retry_after


class Unavailable(HeadwaterError):
    """It may work later; nothing was half done.

    ``reason`` is for any caller. ``detail`` is for the log and the console alone: an
    address, a driver's message. ``seconds``: how long the other side asks to be left alone, 0
    where it does not say.
    """

    def __init__(self, reason: str, detail: str = "", seconds: float = 0.0) -> None:
        super().__init__(f"{reason} ({detail})" if detail else reason)
        self.reason = reason
        self.seconds = seconds


class AnswerTimeout(Unavailable):
    """A server took a request and has not answered it in time: the work may be done or not."""


class JournalUnavailable(Unavailable):
    """A document could not be made durable (disk full, database away): it was not accepted."""


class DiskNearlyFull(JournalUnavailable):
    """The disk has only the reserve left that removals need: ``free`` and ``reserve`` in bytes.

    ``size``: the room that the refused request would have taken; ``promised``: the part of ``free``
    that documents which were taken before need for their projection.
    """

    def __init__(self, free: int, reserve: int, size: int = 0, promised: int = 0) -> None:
        large = free - promised >= reserve and size > _LARGE
        waiting = f" ({_mebibytes(promised)} of it for documents that wait)" if promised else ""
        needed = f", and this request may take {_mebibytes(size)}" if large else ""
        refused = "it is refused" if large else "new documents are refused"
        super().__init__(
            f"the disk of the data folder has {_mebibytes(free)} free{waiting},"
            f" {_mebibytes(reserve)} are reserved for removals (HEADWATER_DISK_RESERVE){needed}:"
            f" {refused} until there is room. Make some with headwater prune --drop-bodies,"
            " HEADWATER_KEEP or a larger disk"
        )


def _mebibytes(size: int) -> str:
    return f"{size / _MEBIBYTE:,.1f} MB"


class ProjectedElsewhere(JournalUnavailable):
    """Another process has projected for longer than this one waits for its turn."""


class GraphUnavailable(Unavailable):
    """The graph database cannot be reached or keeps failing after retries."""


class GraphTimeout(GraphUnavailable):
    """The graph database did not answer within the time it was given."""


class ProjectionStopped(Unavailable):
    """The projector stops in the middle of a command, which the next start carries out again, or
    while the engine gets its elements.
    """


class Rebuilding(Unavailable):
    """The graph is being rebuilt from the journal and cannot answer yet."""


class GraphRejected(HeadwaterError):
    """The graph database refuses a request that no retry can mend."""


class FactConflict(HeadwaterError):
    """Two facts have one id and different content; law 2 of the design is broken."""


class DamagedDocument(HeadwaterError):
    """The body of this document of the journal cannot be read as it was written.

    ``position`` is the document's, ``damage`` is the fault of its body (``cannot be
    inflated: ...``). No retry mends it; a backup holds it as it was.
    """

    def __init__(self, position: int, damage: str) -> None:
        super().__init__(
            f"the body of document {position} is damaged: it {damage}; a backup that was made"
            " before the damage holds it (headwater journal check lists all that is damaged)"
        )
        self.position = position
        self.damage = damage


class ConfigurationError(HeadwaterError):
    """A setting, or a tool that this machine should have, is missing or wrong."""


class EngineError(HeadwaterError):
    """The embedded Gremlin Server could not be started, or died."""


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """One call of a program: its arguments, and the world around it."""

    options: argparse.Namespace
    environment: Mapping[str, str]
    out: TextIO

    def say(self, line: str) -> None:
        """One line, at once: the output may be a pipe."""
        self.out.write(f"{line}\n")
        self.out.flush()


def count_of(number: int, noun: str) -> str:
    """``1, "table" => 1 table``; ``1200, "table" => 1,200 tables``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


_Call = TypeVar("_Call", bound=ProgramCall)


def run_command(program: str, command: Callable[[_Call], int], call: _Call, errors: TextIO) -> int:
    """Run one command; its exit code. ``call.options.debug`` shows where an error came from."""
    try:
        return command(call)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _closed_pipe()
    except (HeadwaterError, OSError) as error:
        if call.options.debug:
            raise
        errors.write(f"{program}: {_message(error)}\n")
        return 2 if isinstance(error, ConfigurationError) else 1


def _message(error: HeadwaterError | OSError) -> str:
    """``[Errno 2] No such file or directory: '/x'`` => ``/x: No such file or directory``."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _closed_pipe() -> int:
    """``headwater … | head`` closed the pipe: end without a word, also at the last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
