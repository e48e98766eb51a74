"""The intake of the documents that a command reads: the journal, or the producer routes of a
running server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from api.console.call import Call
from api.http.bodies import CONTENT_TYPES
from api.serving.storage import claim, opened_storage
from api.settings import Settings
from collectors.intake import DirectIntake, Intake
from graph_model.documents.files import Prepared, Refusal
from graph_model.errors import (
    ConfigurationError,
    ForeignScope,
    HeadwaterError,
    InvalidInput,
    Unavailable,
)
from graph_model.producers.openlineage.events.documents import EVENT_KINDS
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind
from graph_model.stores.journal import Journal
from graph_model.values import now

if TYPE_CHECKING:
    from api.http.client import ServerAnswer


@contextmanager
def intake_of_documents(
    call: Call, *, direct: bool, route: str, principal: str
) -> Iterator[Intake]:
    """The data folder's journal, held, or the running server."""
    if not direct:
        yield ServerIntake(call.url(), call.api_key())
        return
    settings = call.settings()
    with _claimed_journal(settings, settings.address, now, route, principal) as journal:
        yield journal


@contextmanager
def _claimed_journal(
    settings: Settings,
    url: str,
    clock: Callable[[], int],
    route: str,
    principal: str,
) -> Iterator[DirectIntake]:
    """The journal of the settings, created if missing. The data folder stays locked meanwhile.

    Raises ConfigurationError, naming the server's address, when a server has locked the folder.
    PostgreSQL lets both write, and a running server projects the new documents.
    """
    with ExitStack() as stack:
        try:
            if not settings.database:
                stack.enter_context(claim(settings.data))
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{error}; a running Headwater takes it: --url {url}"
            ) from error
        database = stack.enter_context(opened_storage(settings, make=True))
        yield DirectIntake(Journal(database), clock, route, principal)


_ANSWER_SECONDS: Final = 60
_MEDIA_TYPES: Final = {version: media_type for media_type, version in CONTENT_TYPES.items()}
_EVENT_BATCH: Final = "/api/v1/lineage/batch"
_ALONE: Final = "/producer/execution-plans"
_PATHS: Final[Mapping[DocumentKind, str]] = {
    PLAN_KIND: _ALONE,
    EVENT_KIND: "/producer/execution-events",
    **dict.fromkeys(EVENT_KINDS, _EVENT_BATCH),
}
"""The route for documents of a kind; documents of other kinds go only into the server's own
journal.
"""
_REFUSED: Final = frozenset({400, 413, 415, 422})
_LATER: Final = frozenset({408, 429, 500, 502, 503, 504})


class ServerIntake:
    """An intake: posts to the producer routes of a running Headwater at ``url``.

    Where that server requires keys, ``api_key`` needs the roles producer and reader.
    """

    def __init__(self, url: str, api_key: str | None = None) -> None:
        from api.http.client import check_address  # requests: a journal needs no such check

        check_address(url)
        self._url = url.rstrip("/")
        self._api_key = api_key

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        """See Intake. Consecutive OpenLineage events share a request."""
        refused: list[Refusal] = []
        for _, group in groupby(documents, _request_key):
            refused += self._post(list(group))
        return tuple(refused)

    def received(self) -> int:
        try:
            return int(json.loads(self._ask("GET", "/journal?summary=true"))["received"])
        except (ValueError, KeyError, TypeError) as error:
            from api.http.client import shown

            raise HeadwaterError(f"the server at {shown(self._url)} is not a Headwater") from error

    def _post(self, documents: Sequence[Prepared]) -> list[Refusal]:
        first = documents[0]
        path = _PATHS.get(first.submission.kind)
        if path is None:
            reason = f"a {first.submission.kind} is not taken over HTTP: import it without --url"
            return [Refusal(document.piece.where, reason) for document in documents]
        if first.is_of_foreign_scope:
            reason = (
                f"its scope {first.submission.scope!r} was not its own: import it without --url"
            )
            return [Refusal(document.piece.where, reason) for document in documents]
        try:
            answer = self._ask("POST", path, _body(documents, path), _media_type(documents))
        except InvalidInput as error:
            if len(documents) == 1:
                return [Refusal(first.piece.where, str(error))]
            return [refusal for document in documents for refusal in self._post([document])]
        return _refused_of(documents, answer) if path == _EVENT_BATCH else []

    def _ask(
        self, method: str, path: str, body: bytes = b"", media_type: str = "application/json"
    ) -> bytes:
        from api.http.client import send, shown

        url, key = self._url, self._api_key
        answer = send(method, url, path, body, media_type, key, seconds=_ANSWER_SECONDS)
        if answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return answer.body
        raise _error_of(shown(url), answer)


def _refused_of(documents: Sequence[Prepared], answer: bytes) -> list[Refusal]:
    """The events that the answer to a batch of OpenLineage events lists as refused."""
    failed = json.loads(answer)["failed_events"]
    return [
        Refusal(documents[refused["index"]].piece.where, refused["reason"]) for refused in failed
    ]


def _request_key(document: Prepared) -> tuple[object, ...]:
    """Equal for adjacent documents that one request can carry; a plan is always posted alone."""
    kind, version = document.submission.kind, document.submission.api_version
    path = _PATHS.get(kind)
    alone = document.piece.where if path == _ALONE else ""
    return path or kind, version, alone, document.is_of_foreign_scope


def _body(documents: Sequence[Prepared], path: str) -> bytes:
    bodies = [document.submission.body for document in documents]
    return bodies[0] if path == _ALONE else b"[" + b",".join(bodies) + b"]"


def _media_type(documents: Sequence[Prepared]) -> str:
    return _MEDIA_TYPES.get(documents[0].submission.api_version, "application/json")


def _error_of(url: str, answer: ServerAnswer) -> HeadwaterError:
    """The error that an error response of a server, at ``url`` as it is shown, stands for.

    A document counts as refused only where Headwater itself refused it, not a proxy before it.
    """
    code, message, fields = answer.status, *_message(answer)
    foreign = code == HTTPStatus.FORBIDDEN and ForeignScope.FIELD in fields
    if message and (code in _REFUSED or foreign):
        return InvalidInput(message)
    reason = f"{url} answers {code}{f': {message}' if message else ''}"
    return Unavailable(reason) if code in _LATER else HeadwaterError(reason)


def _message(answer: ServerAnswer) -> tuple[str, frozenset[str]]:
    """The message of a Headwater error body with the fields at fault, otherwise an empty text."""
    try:
        body: Any = json.loads(answer.body)
        if body["code"] == answer.status:
            return str(body["message"]), frozenset(body["errors"])
    except (ValueError, KeyError, TypeError):
        pass
    return "", frozenset()
