"""A request that brings documents -> the journal, durable before anyone is answered.

    wire bytes -> known already? -> parse -> lift (version 1) -> check -> mask -> submissions
    -> accept (fsync) -> tell the projector -> wait a moment for the graph

The bytes are looked up before they are parsed: jobs re-send the same plan run after run, and a
repeat costs one hash and one receipt. What is journaled is the document as it was sent, unknown
fields included, with secrets masked, in one compact spelling.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from marshmallow import Schema, ValidationError

from api.bodies import ROOM, compact_json, parse_json, wire_hash
from api.errors import InvalidRequest, flatten
from api.schemas.event import EventSchema
from api.schemas.plan import STAND_IN, PlanSchema
from api.service import Service
from graph_model import lifting, naming
from graph_model.documents import read_event, read_labels, read_plan, read_uuid
from graph_model.errors import InvalidDocument
from graph_model.journal import content_hash, make_submission
from graph_model.store import (
    DocumentKind,
    DocumentState,
    Journal,
    Receipt,
    StoredDocument,
    Submission,
)

MOST_EVENTS: Final = 10_000
"""Events in one request: agents send one, importers a few hundred."""

SCOPE_LABEL: Final = "captureScope"
_SMALL: Final = 32_768  # bytes on the wire
_SOON: Final = 4 * 1024 * 1024
"""Bytes of a document that are in the graph within a second or two."""
_MOST_SCOPE: Final = 200
_NAMELESS_PLANS: Final = uuid.UUID("0b5f6f4e-6c53-5b0a-9f0e-2f6c9d1b7a41")
"""The namespace of ids for plans that bring none: the same body gets the same id."""

_PLAN: Final = PlanSchema()
_EVENT: Final = EventSchema()


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a request brought: ``raw`` are the bytes on the wire, ``inflate`` unpacks them.

    ``version`` is the API version of its Content-Type, ``encoding`` ``gzip`` or ``identity``.
    ``principal`` is who sent it, ``scope`` the capture scope of the key it came with.
    """

    raw: bytes
    encoding: str
    version: str
    route: str
    inflate: Callable[[bytes], bytes]
    principal: str = ""
    scope: str = ""


Documents = Sequence[Submission] | Sequence[StoredDocument]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the documents of a request are read: JSON, its version, the key's scope -> submissions.

    ``remember``: bytes that come again may be recognised, and are then not prepared again.
    """

    kind: DocumentKind
    prepare: Callable[[Any, str, str], Sequence[Submission]]
    remember: bool = True

    def remembers(self, delivery: Delivery) -> bool:
        # An event says something new nearly every time, and is parsed sooner than looked up.
        return self.remember and (self.kind == DocumentKind.PLAN or len(delivery.raw) > _SMALL)


def take(reading: Reading, delivery: Delivery, service: Service, wait_seconds: float) -> Documents:
    """Make durable what a request brought, and give the graph a moment.

    Raises InvalidInput, or JournalUnavailable.
    """
    idle = service.projector.idle
    documents, positions = _make_durable(reading, delivery, service.journal, service.clock())
    if positions:
        for subject in dict.fromkeys(document.subject for document in documents):
            service.projector.notify(subject)
        if idle and wait_seconds > 0 and _is_soon_projected(documents, service):
            service.projector.wait(positions, wait_seconds)
    return documents


def _make_durable(
    reading: Reading, delivery: Delivery, journal: Journal, received_at: int
) -> tuple[Documents, tuple[int, ...]]:
    """The documents, and the positions of those that are yet to be projected."""
    raw_hash = wire_hash(reading.kind.value, delivery.version, delivery.encoding, delivery.raw)
    receipt = Receipt(received_at, delivery.principal, delivery.route, raw_hash)
    remembered = reading.remembers(delivery)
    known = journal.recall(raw_hash, delivery.scope) if remembered else ()
    if known and journal.acknowledge(raw_hash, delivery.scope, receipt):
        return known, tuple(one.position for one in known if one.state == DocumentState.PENDING)
    submissions = tuple(_read(delivery, reading))
    positions = journal.accept(submissions, receipt, remember=remembered)
    return submissions, tuple(dict.fromkeys(positions))


def _read(delivery: Delivery, reading: Reading) -> Sequence[Submission]:
    body = delivery.inflate(delivery.raw)
    with ROOM.hold(len(body)):
        try:
            return reading.prepare(parse_json(body), delivery.version, delivery.scope)
        except RecursionError:
            raise InvalidRequest({"document": ["JSON that is nested less deeply"]}) from None


def _is_soon_projected(documents: Documents, service: Service) -> bool:
    """Whether it is worth a moment, so that a read right after sees the write."""
    return service.projector.state == "ready" and all(_size(one) <= _SOON for one in documents)


def _size(document: Submission | StoredDocument) -> int:
    return len(document.body) if isinstance(document, Submission) else document.size


# --- documents -> submissions (pure) --------------------------------------------------------------


def prepare_plans(document: Any, version: str, key_scope: str = "") -> tuple[Submission]:
    """The one plan of a request; see ``prepare_plan``."""
    return (prepare_plan(document, version, key_scope),)


def prepare_plan(document: Any, version: str, key_scope: str = "") -> Submission:
    """A checked and masked plan; raises InvalidRequest naming every place that is wrong.

    A plan without an id gets one from its content, so sending it again is sending the same plan.
    ``key_scope`` is the scope of one that names none.
    """
    spoken = spoken_version(document, version)
    _check_plan(_lifted(document, spoken, lifting.lift))
    body = compact_json(naming.mask_secrets(document))
    given = document.get("id")
    plan_id = _id_of_nameless(spoken, body) if given is None else read_uuid(given, "id")
    scope = scope_of(document, "") or key_scope
    return make_submission(DocumentKind.PLAN, spoken, plan_id, scope, body)


def _id_of_nameless(version: str, body: bytes) -> str:
    content = content_hash(DocumentKind.PLAN.value, version, body)
    return str(uuid.uuid5(_NAMELESS_PLANS, content))


def prepare_events(document: Any, version: str, key_scope: str = "") -> tuple[Submission, ...]:
    """Checked and masked events, in order, equal ones once; raises InvalidRequest.

    The scope of an event is its own label's, else that of the key it came with: which plan an
    event that names no scope belongs to is decided from the whole set of documents when it is
    projected (``projection.gather``), so that the order of arrival does not matter.
    """
    if not isinstance(document, list):
        raise InvalidRequest({"document": ["a list of events"]})
    if len(document) > MOST_EVENTS:
        raise InvalidRequest({"document": [f"at most {MOST_EVENTS:,} events in one request"]})
    lifted = [
        _lifted(event, spoken_version(event, version), lifting.lift_event, f"[{index}]")
        for index, event in enumerate(document)
    ]
    _check_events(lifted)
    prepared = (
        _prepare_event(event, spoken_version(event, version), key_scope, f"[{index}]")
        for index, event in enumerate(document)
    )
    return tuple({(item.content_hash, item.scope): item for item in prepared}.values())


def _prepare_event(event: dict[str, Any], version: str, key_scope: str, path: str) -> Submission:
    body = compact_json(naming.mask_secrets(event))
    plan_id = read_uuid(event.get("planId"), f"{path}.planId")
    scope = scope_of(event, path) or key_scope
    return make_submission(DocumentKind.EVENT, version, plan_id, scope, body)


def spoken_version(document: Any, declared: str) -> str:
    """The API version that a document is written in.

    ``application/json`` stands for version 1, but scripts post newer documents under it. Version
    1 has numbers as operation ids and no top-level attributes or expressions; an event of it has
    no durationNs, error, labels or discriminator of its own. A document that has them is 1.2.
    """
    if declared != "1" or not isinstance(document, Mapping):
        return declared
    operations = document.get("operations")
    write = operations.get("write") if isinstance(operations, Mapping) else None
    named = isinstance(write, Mapping) and isinstance(write.get("id"), str)
    return "1.2" if named or _NEWER_FIELDS & document.keys() else "1"


_NEWER_FIELDS: Final = frozenset(
    {"attributes", "expressions", "durationNs", "error", "labels", "discriminator"}
)


def scope_of(document: Mapping[str, Any], path: str) -> str:
    """The first value of the label ``captureScope``, else the empty scope."""
    where = f"{path}.labels" if path else "labels"
    values = read_labels(document.get("labels"), where).get(SCOPE_LABEL, ())
    scope = values[0].strip() if values else ""
    if len(scope) > _MOST_SCOPE or not scope.isprintable():
        raise InvalidDocument(
            f"{where}.{SCOPE_LABEL}", f"a name of up to {_MOST_SCOPE} printable characters"
        )
    return scope


def _lifted(document: Any, version: str, lift: Callable[[Any], Any], path: str = "") -> Any:
    """Version 1 in the words of 1.2; anything else as it is."""
    if version != "1":
        return document
    if not isinstance(document, Mapping):
        raise InvalidDocument(path, "a JSON object")
    try:
        return lift(document)
    except InvalidDocument as error:
        inner = f"{path}.{error.path}" if path and error.path else path or error.path
        raise InvalidDocument(inner, error.expected) from error


# The typed pass takes nothing that the schemas refuse, and is many times faster; the schemas name
# everything that is wrong with a document, where the pass stops at the first.


def _check_plan(document: Any) -> None:
    try:
        read_plan(document, STAND_IN)
    except InvalidDocument:
        _load(_PLAN, document, many=False)
        raise


def _check_events(documents: Sequence[Any]) -> None:
    try:
        for document in documents:
            read_event(document)
    except InvalidDocument:
        _load(_EVENT, documents, many=True)
        raise


def _load(schema: Schema, document: Any, *, many: bool) -> None:
    try:
        schema.load(document, many=many)
    except ValidationError as error:
        raise InvalidRequest(flatten(error.messages)) from error
