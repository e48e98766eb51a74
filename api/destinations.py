"""Where documents go that did not come as a request: the journal itself, or a running server.

    piece -> prepare (checks, masks) -> Prepared -> Destination.take -> durable

Both ways end in the same journal with the same documents; what differs is who holds it.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, Protocol

from api.access import API_KEY_HEADER
from api.bodies import CONTENT_TYPES
from api.dumps import Piece, Refusal
from api.errors import InvalidRequest
from api.intake import prepare_events, prepare_plan, scope_of
from api.openlineage import prepare_event
from api.orders import submit
from api.principals import CONSOLE_NAME
from api.settings import Settings
from api.storage import open_storage
from graph_model import identity
from graph_model.commands import read_command
from graph_model.errors import ConfigurationError, HeadwaterError, InvalidInput, Unavailable
from graph_model.store import DocumentKind, Journal, Receipt, Submission

_ANSWER_SECONDS: Final = 60
_MEDIA_TYPES: Final = {version: media_type for media_type, version in CONTENT_TYPES.items()}
_PATHS: Final = {
    DocumentKind.PLAN: "/producer/execution-plans",
    DocumentKind.EVENT: "/producer/execution-events",
}
_BATCH_PATH: Final = "/api/v1/lineage/batch"
_REFUSED: Final = frozenset({400, 413, 415, 422})
_LATER: Final = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Prepared:
    """A piece that keeps the protocol, with what the journal would hold of it."""

    piece: Piece
    submission: Submission


def prepare(piece: Piece) -> Prepared:
    """Check and mask as the routes for producers do. Raises InvalidInput, naming what is wrong."""
    try:
        if piece.kind == DocumentKind.COMMAND:
            submission = submit(read_command(piece.document))
        elif piece.kind.is_openlineage:
            submission = prepare_event(piece.document)
        elif piece.kind == DocumentKind.PLAN:
            submission = prepare_plan(piece.document, piece.api_version)
        else:
            (submission,) = prepare_events([piece.document], piece.api_version)
    except RecursionError:
        raise InvalidRequest({"document": ["JSON that is nested less deeply"]}) from None
    if piece.plan_id not in {None, submission.plan_id}:
        raise InvalidRequest({"planId": [f"the id in its body, {submission.plan_id}"]})
    if piece.scope is not None and piece.scope != submission.scope:
        subject = identity.subject_id(piece.scope, submission.plan_id)
        submission = replace(submission, scope=piece.scope, subject=subject)
    return Prepared(piece, submission)


class Destination(Protocol):
    """Takes documents for good. Repeats are welcome: they are known already."""

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        """Make documents durable; those that are refused, with the reason.

        Raises Unavailable when some may not be durable (trying again is safe), and another
        HeadwaterError when trying again cannot help.
        """

    def received(self) -> int:
        """How many distinct documents are in the journal."""


# --- the journal itself --------------------------------------------------------------------------


class JournalDestination:
    """Straight into a journal that no server uses; the next start projects what is new.

    ``clock`` gives epoch milliseconds, for documents that do not say when they were received;
    ``route`` and ``principal`` go onto their receipts.
    """

    def __init__(
        self,
        journal: Journal,
        clock: Callable[[], int],
        route: str,
        principal: str = CONSOLE_NAME,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._route = route
        self._principal = principal

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        """See Destination. One transaction for neighbours that were received together."""
        for received_at, group in groupby(documents, lambda one: one.piece.received_at):
            at = self._clock() if received_at is None else received_at
            submissions = [one.submission for one in group]
            self._journal.accept(submissions, Receipt(at, self._principal, self._route, ""))
        return ()

    def received(self) -> int:
        return self._journal.summary().received


@contextmanager
def claimed_journal(
    settings: Settings,
    url: str,
    clock: Callable[[], int],
    route: str,
    principal: str = CONSOLE_NAME,
) -> Iterator[JournalDestination]:
    """The journal of the settings; made when there is none. A data folder is held while it is used.

    Raises ConfigurationError, naming the server's address, when a server holds the folder.
    PostgreSQL lets both write, and a server projects what it finds.
    """
    from api.server import claim  # Flask and the driver: 0.5 s
    from graph_model.journal import SqlJournal

    with ExitStack() as stack:
        try:
            if not settings.database:
                stack.enter_context(claim(settings.data))
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{error}; a running Headwater takes it: --url {url}"
            ) from error
        database = open_storage(settings, make=True)
        stack.callback(database.dispose)
        yield JournalDestination(SqlJournal(database), clock, route, principal)


# --- a running server ----------------------------------------------------------------------------


class ServerDestination:
    """Through the producer routes of a running Headwater at ``url``.

    Where that asks for keys, ``api_key`` needs the roles producer and reader.
    """

    def __init__(self, url: str, api_key: str | None = None) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(f"--url {url!r}: expected an http(s) address")
        self._url = url.rstrip("/")
        self._headers = {API_KEY_HEADER: api_key} if api_key else {}

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        """See Destination. Events that follow each other share a request."""
        refused: list[Refusal] = []
        for _, group in groupby(documents, _request_key):
            refused += self._post(list(group))
        return tuple(refused)

    def received(self) -> int:
        request = urllib.request.Request(self._url + "/journal?summary=true")  # noqa: S310 - checked
        try:
            return int(json.loads(self._ask(request))["received"])
        except (ValueError, KeyError, TypeError) as error:
            raise HeadwaterError(f"what answers at {self._url} is no Headwater") from error

    def _post(self, documents: Sequence[Prepared]) -> list[Refusal]:
        first = documents[0]
        if first.submission.kind == DocumentKind.COMMAND:
            said = "a command is not taken over HTTP: import it without --url, or give it again"
            return [Refusal(one.piece.where, said) for one in documents]
        if _has_foreign_scope(first):
            said = f"its scope {first.submission.scope!r} was not its own: import it without --url"
            return [Refusal(one.piece.where, said) for one in documents]
        try:
            answer = self._ask(_request(self._url, documents))
        except InvalidInput as error:
            if len(documents) == 1:
                return [Refusal(first.piece.where, str(error))]
            return [refusal for one in documents for refusal in self._post([one])]
        return _refused_of(documents, answer) if first.submission.kind.is_openlineage else []

    def _ask(self, request: urllib.request.Request) -> bytes:
        for name, value in self._headers.items():
            request.add_unredirected_header(name, value)
        return self._open(request)

    def _open(self, request: urllib.request.Request) -> bytes:
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310
                body: bytes = answer.read()
                return body
        except urllib.error.HTTPError as error:
            raise _said(self._url, error) from error
        except OSError as error:
            raise Unavailable(f"no Headwater answers at {self._url}") from error


def _refused_of(documents: Sequence[Prepared], answer: bytes) -> list[Refusal]:
    """What the answer to a batch of OpenLineage's events says was not taken."""
    failed = json.loads(answer)["failed_events"]
    return [Refusal(documents[one["index"]].piece.where, one["reason"]) for one in failed]


def _request_key(one: Prepared) -> tuple[object, ...]:
    """Equal for neighbours that one request can carry: a plan never shares its own."""
    submission = one.submission
    alone = one.piece.where if submission.kind == DocumentKind.PLAN else ""
    kind = DocumentKind.RUN_EVENT if submission.kind.is_openlineage else submission.kind
    return kind, submission.api_version, alone, _has_foreign_scope(one)


def _has_foreign_scope(one: Prepared) -> bool:
    """Whether an export says a scope that the document itself does not: a route cannot carry it."""
    if one.submission.kind.is_openlineage:
        return bool(one.piece.scope)
    return one.piece.scope is not None and one.submission.scope != scope_of(one.piece.document, "")


def _request(url: str, documents: Sequence[Prepared]) -> urllib.request.Request:
    first = documents[0].submission
    bodies = [one.submission.body for one in documents]
    data = bodies[0] if first.kind == DocumentKind.PLAN else b"[" + b",".join(bodies) + b"]"
    return urllib.request.Request(  # noqa: S310 - the scheme is checked when this is made
        url + (_BATCH_PATH if first.kind.is_openlineage else _PATHS[first.kind]),
        data=data,
        headers={"Content-Type": _MEDIA_TYPES.get(first.api_version, "application/json")},
    )


def _said(url: str, error: urllib.error.HTTPError) -> HeadwaterError:
    """What an error answer means. Only a Headwater's own refusal condemns a document."""
    message = _message(error)
    if error.code in _REFUSED and message:
        return InvalidInput(message)
    said = f"{url} answers {error.code}{f': {message}' if message else ''}"
    return Unavailable(said) if error.code in _LATER else HeadwaterError(said)


def _message(error: urllib.error.HTTPError) -> str:
    """The message of one of our error bodies, else nothing."""
    try:
        body: Any = json.load(error)
        return str(body["message"]) if body["code"] == error.code else ""
    except (ValueError, KeyError, TypeError, OSError):
        return ""
