# ruff: noqa: N815 - fields are spelled as on the wire
"""A request with documents -> the journal, durable before the answer.

    bytes -> known already? -> parse -> lift (version 1) -> check -> mask -> submissions
    -> accept (fsync) -> wake the projector -> wait a moment for the graph

The bytes are looked up before they are parsed: jobs send the same plan again run after run, and a
repeat costs one hash and one receipt. The journal keeps the document as it was sent, unknown
fields included, with secrets masked, in one compact spelling.

The outcome of a request, or of one document of it, is answered, counted and logged.

Of a plan or an event that is refused (producer API 1.2 and 1.1), marshmallow checks the envelope
and the short lists, so that one reply names all their errors. The long lists (attributes,
expressions: tens of thousands of entries) go through the one typed pass of
``graph_model.producers.spline.documents``, which also knows the rules between the parts: ids used
once, childIds that exist, no cycle. The schema accepts every plan that this pass accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from flask import Response, current_app, g, request
from marshmallow import Schema, ValidationError, fields, validates_schema
from werkzeug.wsgi import get_input_stream

from api.http.blueprint import Blueprint, Principal, current_principal
from api.http.bodies import UNPACKING_MEMORY, is_gzip, read_bounded, wire_hash
from api.http.errors import Reason, flatten
from api.schemas.fields import (
    Envelope,
    Labels,
    LongList,
    PlainObject,
    ScalarText,
    Truth,
    Uri,
    Uuid,
    expecting,
    list_of,
    list_of_objects,
)
from api.service import Service, current_service
from api.settings import Settings
from graph_model.documents.json_texts import parse_json
from graph_model.errors import InvalidDocument, InvalidFields
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.producer import (
    STAND_IN,
    event_submission,
    lifted_event,
    lifted_plan,
    plan_submission,
)
from graph_model.stores.documents import (
    DocumentKind,
    DocumentState,
    Receipt,
    StoredDocument,
    Submission,
)
from graph_model.stores.journal import Journal


class ProductSchema(Envelope):
    """A name and a version."""

    name = ScalarText(required=True)
    version = ScalarText(required=True)


class AgentSchema(Envelope):
    """The agent's name and version; an empty object counts as none."""

    name = ScalarText()
    version = ScalarText()


class OperationSchema(Envelope):
    """The fields of every operation."""

    id = ScalarText(required=True)
    name = ScalarText(allow_none=True)
    childIds = list_of(ScalarText(), "a list of operation ids", allow_none=True)
    params = PlainObject()
    extra = PlainObject()


class WriteSchema(OperationSchema):
    """The one operation that writes."""

    outputSource = Uri(required=True)
    append = Truth(required=True)
    childIds = list_of(ScalarText(), "a list of operation ids", required=True)


class ReadSchema(OperationSchema):
    """An operation that reads one or several sources."""

    inputSources = list_of(Uri(), "a list of URIs", required=True)
    output = list_of(ScalarText(), "a list of ids", allow_none=True)


class TransformSchema(OperationSchema):
    """Any other operation; the order of ``childIds`` is significant (left, right)."""

    output = list_of(ScalarText(), "a list of ids", allow_none=True)


class OperationsSchema(Envelope):
    """The operations of a plan."""

    write = fields.Nested(WriteSchema, required=True, error_messages=expecting("a JSON object"))
    reads = list_of_objects(ReadSchema)
    other = list_of_objects(TransformSchema)


class ExpressionsSchema(Envelope):
    """Functions and constants, referenced by id."""

    functions = LongList({"type": "object", "required": ["id", "name"]})
    constants = LongList({"type": "object", "required": ["id", "value"]})


class PlanSchema(Envelope):
    """An execution plan."""

    id = Uuid(allow_none=True)
    name = ScalarText(allow_none=True)
    discriminator = ScalarText(allow_none=True)
    labels = Labels()
    operations = fields.Nested(
        OperationsSchema, required=True, error_messages=expecting("a JSON object")
    )
    attributes = LongList({"type": "object", "required": ["id", "name"]})
    expressions = fields.Nested(
        ExpressionsSchema, allow_none=True, error_messages=expecting("a JSON object")
    )
    systemInfo = fields.Nested(
        ProductSchema, required=True, error_messages=expecting("a JSON object")
    )
    agentInfo = fields.Nested(
        AgentSchema, allow_none=True, error_messages=expecting("a JSON object")
    )
    extraInfo = PlainObject()

    @validates_schema(pass_original=True, skip_on_field_errors=True)
    def check_whole(self, _data: Any, document: Any, **_: Any) -> None:
        """The typed pass: long lists, and the rules between the parts."""
        try:
            read_plan(document, STAND_IN)
        except InvalidDocument as error:
            raise ValidationError({error.path: [error.expected]}) from error


class EventSchema(Envelope):
    """An execution of a plan; ``timestamp`` (epoch ms) is its end, ``error`` any value or none."""

    planId = Uuid(required=True)
    timestamp = fields.Raw(
        required=True,
        error_messages={"required": "milliseconds since 1970 as an integer, up to the year 9999"},
        metadata={"type": "integer", "description": "Epoch milliseconds at the end."},
        allow_none=True,
    )
    durationNs = fields.Raw(allow_none=True, metadata={"type": "integer"})
    discriminator = ScalarText(allow_none=True)
    labels = Labels()
    error = fields.Raw(allow_none=True)
    extra = PlainObject()

    @validates_schema(pass_original=True, skip_on_field_errors=True)
    def check_whole(self, _data: Any, document: Any, **_: Any) -> None:
        """The typed pass: times within bounds, whole numbers."""
        try:
            read_event(document)
        except InvalidDocument as error:
            raise ValidationError({error.path: [error.expected]}) from error


MOST_EVENTS: Final = 10_000
"""Events in one request: agents send one, importers a few hundred."""

ANY_SIZE: Final = 0
LARGE: Final = 32_768  # bytes on the wire
"""Nearly every event is new: parsing a small one is faster than looking it up."""
_SOON: Final = 4 * 1024 * 1024
"""Bytes of a document that are in the graph within a second or two."""

_PLAN: Final = PlanSchema()
_EVENT: Final = EventSchema()


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
    return Delivery(
        read_bounded(get_input_stream(request.environ), limit),
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
    positions = journal.accept(submissions, receipt, remember=remembered)
    return Taken(submissions, tuple(dict.fromkeys(positions)))


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

# The producer takes nothing that the schemas refuse, and is many times faster; the schemas name
# everything that is wrong with a document, where the producer stops at the first.


def prepare_plans(document: Any, version: str, key_scope: str = "") -> tuple[Submission]:
    """The one plan of a request; raises InvalidInput naming every place that is wrong."""
    try:
        return (plan_submission(document, version, key_scope),)
    except InvalidDocument:
        _load(_PLAN, lifted_plan(document, version), many=False)
        raise


def prepare_events(document: Any, version: str, key_scope: str = "") -> tuple[Submission, ...]:
    """Checked and masked events, in order, equal ones once; raises InvalidInput naming every place
    that is wrong.
    """
    events, refusals = read_each(
        document, lambda event, path: event_submission(event, version, key_scope, path)
    )
    if refusals:
        lifted = [lifted_event(event, version, f"[{at}]") for at, event in enumerate(document)]
        _load(_EVENT, lifted, many=True)
        raise refusals[0].error
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


def _load(schema: Schema, document: Any, *, many: bool) -> None:
    try:
        schema.load(document, many=many)
    except ValidationError as error:
        raise InvalidFields(flatten(error.messages)) from error


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
    service.refusals.log_refusal(kind, reason, current_principal().name)
