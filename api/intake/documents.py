"""A request with documents -> the journal, durable before the answer.

    bytes -> known already? -> parse -> read by its producer, masked -> submissions
    -> accept (fsync) -> wake the projector -> wait a moment for the graph

The bytes are looked up before they are parsed: jobs send the same plan again run after run, and a
repeat costs one hash and one receipt. The journal keeps the document as it was sent, unknown
fields included, with secrets masked, in one compact spelling.

The outcome of a request, or of one document of it, is answered, counted and logged.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from flask import Response, current_app, g, request
from werkzeug.wsgi import get_input_stream

from api.http.blueprint import Blueprint, Principal, current_principal
from api.http.bodies import UNPACKING_MEMORY, is_gzip, read_bounded, wire_hash
from api.http.errors import Reason
from api.service import Service, current_service
from api.service.refusals import LOOKED_AT
from api.settings import Settings
from graph_model.documents.json_texts import parse_json
from graph_model.errors import InvalidDocument, InvalidFields
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.producers.spline.producer import event_submission, plan_submission
from graph_model.stores.documents import (
    DocumentKind,
    DocumentState,
    Receipt,
    StoredDocument,
    Submission,
)
from graph_model.stores.journal import Journal

MOST_EVENTS: Final = 10_000
"""Events in one request: agents send one, importers a few hundred."""

ANY_SIZE: Final = 0
LARGE: Final = 32_768  # bytes on the wire
"""Nearly every event is new: parsing a small one is faster than looking it up."""
_SOON: Final = 4 * 1024 * 1024
"""Bytes of a document that are in the graph within a second or two."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The documents of a request: ``raw`` are its bytes, which may be ``most`` unpacked.

    ``version`` is the API version of its Content-Type, ``encoding`` ``gzip`` or ``identity``.
    ``sender`` made it.
    """

    raw: bytes
    encoding: str
    version: str
    route: str
    most: int
    sender: Principal

    def unpacked(self) -> AbstractContextManager[bytes]:
        """Its text, while the memory for its documents is held; raises InvalidInput."""
        packed = self.encoding == "gzip"
        return UNPACKING_MEMORY.unpacked(self.raw, packed=packed, limit=self.most)


def current_delivery(version: str, most: int | None = None) -> Delivery:
    """The body of the current request, still packed, and the metadata in its headers. ``most``
    bytes where another API bounds its bodies more tightly than the settings.
    """
    settings: Settings = current_app.config["HEADWATER"]
    packed = is_gzip(request.headers.get("Content-Encoding"))
    largest = settings.max_body_bytes if most is None else min(most, settings.max_body_bytes)
    limit = settings.max_compressed_bytes if packed else largest
    raw = read_bounded(get_input_stream(request.environ), limit)
    g.body = (raw, packed)  # for the list of refusals
    return Delivery(
        raw,
        "gzip" if packed else "identity",
        version,
        request.path,
        largest,
        current_principal(),
    )


Documents = Sequence[Submission] | Sequence[StoredDocument]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the documents of a request are read: JSON, its version, the key's scope -> submissions.

    Bytes above the size ``remember_from`` that come again are recognised, and not prepared again;
    None: never.
    """

    kind: DocumentKind
    prepare: Callable[[Any, str, str], Sequence[Submission]]
    remember_from: int | None

    def remembers(self, delivery: Delivery) -> bool:
        return self.remember_from is not None and len(delivery.raw) > self.remember_from


class Taken(NamedTuple):
    """Documents that are durable. ``positions`` in the journal: each once, of bytes that were known
    only those of documents that are yet to be projected.
    """

    documents: Documents
    positions: tuple[int, ...]


def take(reading: Reading, delivery: Delivery, service: Service, wait_seconds: float) -> Taken:
    """Make the documents of a request durable, and give the graph a moment.

    Raises InvalidInput, ForeignScope or JournalUnavailable.
    """
    idle = service.projector.idle
    taken = _make_durable(reading, delivery, service.journal, service.clock())
    if taken.positions:
        service.projector.notify()
        if idle and wait_seconds > 0 and _is_soon_projected(taken.documents, service):
            service.projector.wait(taken.positions, wait_seconds)
    return taken


def _make_durable(
    reading: Reading, delivery: Delivery, journal: Journal, received_at: int
) -> Taken:
    raw_hash = wire_hash(reading.kind, delivery.version, delivery.encoding, delivery.raw)
    sender = delivery.sender
    receipt = Receipt(received_at, sender.name, delivery.route, raw_hash)
    remembered = reading.remembers(delivery)
    known = journal.recall(raw_hash, sender.scope) if remembered else ()
    sender.check_scopes(document.scope for document in known)
    if known and journal.acknowledge(raw_hash, sender.scope, receipt):
        pending = (
            document.position for document in known if document.state == DocumentState.PENDING
        )
        return Taken(known, tuple(pending))
    submissions = tuple(_read(delivery, reading))
    sender.check_scopes(submission.scope for submission in submissions)
    if sender.is_bounded:
        _check_plans(submissions, sender, journal)
    positions = journal.accept(submissions, receipt, remember=remembered)
    return Taken(submissions, tuple(dict.fromkeys(positions)))


def _check_plans(submissions: Sequence[Submission], sender: Principal, journal: Journal) -> None:
    """Raises ForeignScope for an event whose plan is known in other scopes alone: it would count as
    a run of theirs (``spline.gathering``).
    """
    events = {each.subject_key for each in submissions if each.kind == EVENT_KIND}
    for plans in journal.outline(events, (PLAN_KIND,), most=0).values() if events else ():
        scopes = {plan.scope for plan in plans}
        if sender.scope not in scopes:
            sender.check_scopes(sorted(scopes))


def _read(delivery: Delivery, reading: Reading) -> Sequence[Submission]:
    with delivery.unpacked() as body:
        try:
            return reading.prepare(parse_json(body), delivery.version, delivery.sender.scope)
        except RecursionError:
            raise InvalidFields({"document": ["JSON that is nested less deeply"]}) from None


def _is_soon_projected(documents: Documents, service: Service) -> bool:
    """Whether it is worth a moment, so that a read right after sees the write."""
    return service.projector.state == "ready" and all(
        _size(document) <= _SOON for document in documents
    )


def _size(document: Submission | StoredDocument) -> int:
    return len(document.body) if isinstance(document, Submission) else document.size


# --- documents -> submissions (pure) --------------------------------------------------------------


def prepare_plans(document: Any, version: str, key_scope: str = "") -> tuple[Submission]:
    """The one plan of a request; raises InvalidInput naming every place that is wrong."""
    return (plan_submission(document, version, key_scope),)


def prepare_events(document: Any, version: str, key_scope: str = "") -> tuple[Submission, ...]:
    """Checked and masked events, in order, equal ones once; raises InvalidInput naming every place
    that is wrong.
    """
    events, refusals = read_each(
        document, lambda event, path: event_submission(event, version, key_scope, path)
    )
    if refusals:
        wrong = [refusal.error.errors for refusal in refusals]
        raise InvalidFields({path: expected for each in wrong for path, expected in each.items()})
    return once(events)


class InvalidItem(NamedTuple):
    """A document of a list that cannot be taken: its place, and the reason."""

    place: int
    error: InvalidDocument


def read_each(
    listed: Any, read: Callable[[Any, str], Submission]
) -> tuple[list[Submission], list[InvalidItem]]:
    """The documents of one request, each read by itself with its path (``[3]``).

    Raises InvalidFields for no list, and for too many.
    """
    taken: list[Submission] = []
    refusals: list[InvalidItem] = []
    for index, document in enumerate(_checked_list(listed)):
        try:
            taken.append(read(document, f"[{index}]"))
        except InvalidDocument as error:
            refusals.append(InvalidItem(index, error))
    return taken, refusals


def once(submissions: Sequence[Submission]) -> tuple[Submission, ...]:
    """Equal documents of one scope once, in order."""
    by_content = {
        (submission.content_hash, submission.scope): submission for submission in submissions
    }
    return tuple(by_content.values())


def _checked_list(document: Any) -> list[Any]:
    if not isinstance(document, list):
        raise InvalidFields({"document": ["a list of events"]})
    if len(document) > MOST_EVENTS:
        raise InvalidFields({"document": [f"at most {MOST_EVENTS:,} events in one request"]})
    return document


def created(kind: DocumentKind, number: int, body: str = "") -> Response:
    """The 201 of a request that brought so many documents of a kind."""
    current_service().metrics.received(kind, number)
    response = Response(body, status=HTTPStatus.CREATED, mimetype="application/json")
    if not body:
        del response.headers["Content-Type"]
    return response


def count_refusals(blueprint: Blueprint, kinds: Mapping[str, str]) -> None:
    """Count the requests that any handler answers with an error, and log why.

    ``kinds`` are the kinds of documents by the routes' endpoints; those of other routes bring none.
    """

    def count(response: Response) -> Response:
        kind = kinds.get((request.endpoint or "").rpartition(".")[2])
        if kind is not None and response.status_code >= HTTPStatus.BAD_REQUEST:
            current_service().metrics.refused(kind, response.status_code)
            note_reason(
                kind, g.get("reason") or Reason("other", f"answered {response.status_code}")
            )
        return response

    blueprint.after_request(count)


def note_reason(kind: str, reason: Reason) -> None:
    """Why documents of the current request, or one of a batch, are refused."""
    service = current_service()
    service.metrics.refused_for(kind, reason.kind)
    principal = current_principal().name
    service.refusals.log_refusal(kind, reason, principal)
    service.refusals.keep(kind, reason, principal, _beginning, service.clock())


def _beginning() -> bytes:
    """The first bytes of the current request's body, unpacked; none where it was not read."""
    raw, packed = g.get("body", (b"", False))
    if not packed:
        return bytes(raw[:LOOKED_AT])
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw[:LOOKED_AT], LOOKED_AT)
    except zlib.error:
        return b""
