"""A request that brings documents -> the journal, durable before anyone is answered.

    wire bytes -> known already? -> parse -> lift (version 1) -> check -> mask -> submissions
    -> accept (fsync) -> tell the projector -> wait a moment for the graph

The bytes are looked up before they are parsed: jobs re-send the same plan run after run, and a
repeat costs one hash and one receipt. What is journaled is the document as it was sent, unknown
fields included, with secrets masked, in one compact spelling.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

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
    Arrival,
    DocumentKind,
    DocumentState,
    Receipt,
    Repeat,
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
    ``recognise`` may give the same sooner, from the text of the JSON and the key's scope.
    """

    kind: DocumentKind
    prepare: Callable[[Any, str, str], Sequence[Submission]]
    remember: bool = True
    recognise: Callable[[bytes, str], Sequence[Submission] | None] = lambda _text, _scope: None

    def remembers(self, delivery: Delivery) -> bool:
        # An event says something new nearly every time, and is parsed sooner than looked up.
        return self.remember and (self.kind == DocumentKind.PLAN or len(delivery.raw) > _SMALL)


@dataclass(frozen=True, slots=True)
class Taken:
    """Documents that are durable; ``positions`` are those that are yet to be projected."""

    documents: Documents
    positions: tuple[int, ...]


def take(reading: Reading, delivery: Delivery, service: Service, wait_seconds: float) -> Documents:
    """Make durable what a request brought, and give the graph a moment.

    Raises InvalidInput, or JournalUnavailable.
    """
    with service.crowd:
        taken = _drive(take_in_steps(reading, delivery, service), service)
        if follow(taken, service) and wait_seconds > 0:
            service.projector.wait(taken.positions, wait_seconds)
        return taken.documents


def _drive(steps: Steps, service: Service) -> Taken:
    outcome: tuple[int, ...] | Exception | None = None
    while not isinstance(step := advance(steps, outcome), Taken):
        (outcome,) = service.journal.take([step])
    return step


Steps = Generator[Arrival | Repeat, tuple[int, ...], Taken]


def advance(steps: Steps, outcome: tuple[int, ...] | Exception | None) -> Arrival | Repeat | Taken:
    """What is to be written next, after the outcome of what was (None: nothing was); at the end
    what is taken.
    """
    try:
        if isinstance(outcome, Exception):
            return steps.throw(outcome)
        return next(steps) if outcome is None else steps.send(outcome)
    except StopIteration as end:
        return cast(Taken, end.value)


def take_in_steps(reading: Reading, delivery: Delivery, service: Service) -> Steps:
    """Yields what the journal is to make durable, and is sent the positions.

    So a thread may wait for the disk, or an event loop: neither knows how documents are read.
    """
    raw_hash = wire_hash(reading.kind.value, delivery.version, delivery.encoding, delivery.raw)
    receipt = Receipt(service.clock(), delivery.principal, delivery.route, raw_hash)
    remembered = reading.remembers(delivery)
    known = service.journal.recall(raw_hash, delivery.scope) if remembered else ()
    if known and (yield Repeat(delivery.scope, receipt)):
        return Taken(known, tuple(one.position for one in known if _is_pending(one)))
    submissions = tuple(_read(delivery, reading))
    if not submissions:
        return Taken((), ())
    positions = yield Arrival(submissions, receipt, remembered)
    return Taken(submissions, tuple(dict.fromkeys(positions)))


def _is_pending(document: StoredDocument) -> bool:
    return document.state == DocumentState.PENDING


def _read(delivery: Delivery, reading: Reading) -> Sequence[Submission]:
    body = delivery.inflate(delivery.raw)
    with ROOM.hold(len(body)):
        try:
            sooner = reading.recognise(body, delivery.scope)
            if sooner is not None:
                return sooner
            return reading.prepare(parse_json(body), delivery.version, delivery.scope)
        except RecursionError:
            raise InvalidRequest({"document": ["JSON that is nested less deeply"]}) from None


def follow(taken: Taken, service: Service) -> bool:
    """Tell the projector; whether to give it a moment, so that a read right after sees the write.

    While the graph is being rebuilt or away there is no point in keeping an agent waiting, nor with
    a document that is too large to be there in that moment; while many write at once, to wait for
    each would cost all of them more than it gives.
    """
    if not taken.positions:
        return False
    for subject in dict.fromkeys(document.subject for document in taken.documents):
        service.projector.notify(subject)
    soon = all(_size(document) <= _SOON for document in taken.documents)
    return soon and service.projector.state == "ready" and not service.crowd.dense


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
