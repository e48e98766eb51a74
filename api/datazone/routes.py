# ruff: noqa: N815 - parameters are spelled as on the wire
"""DataZone's lineage API as its clients call it: SDKs of AWS, Glue, OpenLineage's transport.

    POST /v2/domains/dzd_a1b2/lineage/events  =>  {"id": "0000000000001a", "domainId": "dzd_a1b2"}

A posted body is one event of OpenLineage, without a Content-Type. Its id is its position in the
journal: an event that comes again, as it does when an SDK tries again, has the id that it had.
Events are listed in the order of their receipt. Errors have the names of the service's exceptions,
and botocore raises these. Times are epoch seconds.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

from cachetools import LRUCache
from flask import Response, current_app, jsonify, request
from marshmallow import fields
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.exceptions import NotFound as NoRoute

from api.datazone import nodes
from api.http.blueprint import (
    ASKING,
    DECLARING,
    READING,
    Blueprint,
    current_principal,
    decode_names,
)
from api.intake.commands import cover_forget, give
from api.intake.documents import Delivery, Reading, count_refusals, current_delivery, take
from api.logs import current_request_id
from api.schemas.fields import Choice, Instant, IntegerField, Query, RequestBody, TextField
from api.service import current_service
from api.service.parts import answer_errors, current_sources
from api.settings import DATAZONE_DOMAIN, Settings
from graph_model.answers.openlineage import (
    MOST_READ,
    ReportedEvent,
    reported_event,
    walk_events,
)
from graph_model.answers.sources import Sources
from graph_model.documents.json_texts import parse_json
from graph_model.errors import Conflict, InvalidDocument, InvalidFields, NotFound
from graph_model.producers.openlineage.events.documents import (
    RUN_EVENT_KIND,
    Dataset,
    JobEvent,
    RunEvent,
)
from graph_model.producers.openlineage.producer import SPECIFICATION, event_submission
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.stores.pages import read_cursor, walk_rows, write_cursor

Json = dict[str, Any]
MOST_BYTES: Final = 300_000
"""Of an event, as of the service."""
MOST_TOKENS: Final = 10_000
"""Client tokens that this process remembers, the newest."""
_AT_ONCE: Final = 0.0
"""The SDK is called from the job's own thread."""
_TOKEN: Final = re.compile(r"[\x21-\x7E]{1,128}")
_EVENT_ID: Final = re.compile(r"[0-9a-f]{14}")
_EVENT: Final = Reading(
    RUN_EVENT_KIND, lambda event, _, scope: (event_submission(event, scope),), None
)
_NAMES: Final = {
    401: "UnauthorizedException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    409: "ConflictException",
    429: "ThrottlingException",
}
_FAILED: Final = 500
_PATHS: Final = ("/v2/domains/", "/tags/")
"""Below them are all operations of the service."""
_OPERATIONS: Final = "those of lineage, GetAsset and ListAssetRevisions"
_STATUS: Final = {
    DocumentState.WAITING: "REQUESTED",
    DocumentState.PENDING: "REQUESTED",
    DocumentState.PROJECTED: "SUCCESS",
    DocumentState.FAILED: "FAILED",
}
_STATUSES: Final = ("REQUESTED", "PROCESSING", "SUCCESS", "FAILED")
_EVENTS_CURSOR: Final = "lineage events"
_RUN_STATES: Final = ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")
_LATER: Final = "it was received before under the same client token with other content"


def _spelled(body: Mapping[str, Any]) -> Json:
    code = body["code"]
    kind = "InternalServerException" if code >= _FAILED else "ValidationException"
    return {"__type": _NAMES.get(code, kind), "message": body["message"]}


blueprint = Blueprint(
    "datazone",
    __name__,
    url_prefix="/v2/domains/<domain>",
    access=READING,
    most_signed=MOST_BYTES,
    description="DataZone's lineage API",
)
answer_errors(blueprint, _spelled)
count_refusals(blueprint, {"post_event": "lineage"})
decode_names(blueprint)


@blueprint.before_request  # type: ignore[untyped-decorator]
def _check_domain() -> None:
    domain = (request.view_args or {}).get("domain", "")
    if not DATAZONE_DOMAIN.fullmatch(domain):
        raise InvalidFields({"domainIdentifier": [f"an id as {DATAZONE_DOMAIN.pattern}"]})
    domains = dict(_settings().datazone_domains)
    if domains and domain not in domains:
        raise NotFound("domain", domain)


def _settings() -> Settings:
    settings: Settings = current_app.config["HEADWATER"]
    return settings


def _prefix(domain: str) -> str:
    """The beginning of the namespaces of a domain's jobs."""
    return dict(_settings().datazone_domains).get(domain, "")


def _sources(domain: str) -> Sources:
    """The sources of a domain: the jobs of other namespaces are hidden there, from admins too."""
    sources, prefix = current_sources(), _prefix(domain)
    if not prefix:
        return sources
    rows = walk_rows(lambda after: sources.catalogue.walk_jobs(after=after))
    others = frozenset(row.id for row in rows if not row.namespace.startswith(prefix))
    return replace(sources, hidden=sources.hidden | others, opens_hidden=False)


def _is_of(domain: str, reported: ReportedEvent) -> bool:
    return not (prefix := _prefix(domain)) or (
        isinstance(reported.event, RunEvent | JobEvent)
        and reported.event.job.namespace.startswith(prefix)
    )


@blueprint.after_request  # type: ignore[untyped-decorator]
def _name_error(response: Response) -> Response:
    """The headers by which SDKs know an error and a request."""
    body = response.get_json(silent=True) if response.status_code >= 400 else None
    if isinstance(body, dict) and "__type" in body:
        response.headers["X-Amzn-ErrorType"] = body["__type"]
    response.headers["X-Amzn-RequestId"] = current_request_id.get()
    return response


@blueprint.before_app_request  # type: ignore[untyped-decorator]
def _refuse_other_operations() -> Response | None:
    """What is no route here is an operation of the service that is not ours."""
    unmatched = isinstance(request.routing_exception, NoRoute | MethodNotAllowed)
    path = unquote(request.path)
    if not unmatched or not f"{path}/".startswith(_PATHS):
        return None
    text = f"no operation {request.method} {path} is known here: {_OPERATIONS} are"
    response = jsonify(_spelled({"code": HTTPStatus.NOT_FOUND, "message": text}))
    response.status_code = HTTPStatus.NOT_FOUND
    named: Response = _name_error(response)
    return named


class _TokenQuery(Query):
    maxResults = IntegerField(1, 50, load_default=50)
    nextToken = TextField(8192, load_default=None)


class _Page(_TokenQuery):
    sortOrder = Choice(("ASCENDING", "DESCENDING"), load_default="DESCENDING")


class _EventsQuery(_Page):
    timestampAfter = Instant()
    timestampBefore = Instant()
    processingStatus = Choice(_STATUSES, load_default=None)


class _NodeQuery(Query):
    timestamp = Instant()


class _HistoryQuery(_Page):
    direction = Choice(("UPSTREAM", "DOWNSTREAM"), load_default=None)
    timestampGTE = Instant()
    timestampLTE = Instant()


class _GraphBody(RequestBody):
    match = fields.Raw(required=True)
    additionalAttributes = fields.Raw(load_default=None)


# --- events --------------------------------------------------------------------------------------


class _Tokens:
    """The content that came under each client token. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: LRUCache[tuple[str, str], str] = LRUCache(MOST_TOKENS)

    @contextmanager
    def holding(self, key: tuple[str, str], content: str) -> Iterator[None]:
        """Keeps the content from now on, unless the block fails. Raises Conflict for a token that
        came with other content, or is being taken with it.
        """
        with self._lock:
            is_new = key not in self._kept
            if self._kept.setdefault(key, content) != content:
                raise Conflict(f"clientToken: {_LATER}")
        try:
            yield
        except Exception:
            with self._lock:
                if is_new:
                    self._kept.pop(key, None)
            raise


_TOKENS: Final = _Tokens()


@blueprint.route("/lineage/events", methods=["POST"], access=DECLARING)
@blueprint.takes({"type": "string", "format": "binary"}, ("application/octet-stream",))
@blueprint.doc(
    summary="Take an OpenLineage event (PostLineageEvent)",
    responses={200: {"description": "Durable: id and domainId"}},
)
def post_event(domain: str) -> Response:
    """Durable when answered; the graph follows. The domain is answered, and keeps nothing apart."""
    token = request.headers.get("Client-Token")
    if token is not None and not _TOKEN.fullmatch(token):
        raise InvalidFields({"clientToken": ["1 to 128 printable characters of ASCII"]})
    service = current_service()
    delivery = current_delivery(SPECIFICATION, MOST_BYTES)
    key = (f"{service.journal.id} {current_principal().name}", token or "")
    content = hashlib.sha256(delivery.raw).hexdigest()
    with _TOKENS.holding(key, content) if token else nullcontext():
        _check_namespace(domain, delivery)
        taken = take(_EVENT, delivery, service, _AT_ONCE)
    service.metrics.received(taken.documents[0].kind, 1)
    return jsonify(id=_event_id(taken.positions[0]), domainId=domain)


def _check_namespace(domain: str, delivery: Delivery) -> None:
    """Raises InvalidDocument for an event of a job of another domain."""
    prefix = _prefix(domain)
    if not prefix:
        return
    with delivery.unpacked() as body:
        event = parse_json(body)
    job = event.get("job") if isinstance(event, dict) else None
    namespace = job.get("namespace") if isinstance(job, dict) else None
    if not isinstance(namespace, str) or not namespace.startswith(prefix):
        raise InvalidDocument("job.namespace", f"one of this domain, which begin with {prefix!r}")


@blueprint.answer("/lineage/events", "items and nextToken", _EventsQuery)
def list_events(query: Mapping[str, Any], domain: str) -> Response:
    """ListLineageEvents: events in the order of their receipt.

    Those that name something hidden are left out. A page may have fewer events than asked for,
    also none, and a ``nextToken``: it reads 5,000 at most.
    """
    sources = current_sources()
    token, kind = query["nextToken"], f"{_EVENTS_CURSOR} {query['sortOrder']}"
    behind = None if token is None else int(read_cursor(token, kind, int)[0])
    wanted = query["processingStatus"]
    states = [state for state, status in _STATUS.items() if wanted in (None, status)]
    items: list[Json] = []
    last = read = 0
    falling = query["sortOrder"] == "DESCENDING"
    events = walk_events(sources, behind, falling=falling, states=states)
    for position, reported in events if states else ():
        last, read = position, read + 1
        if reported is not None and _is_of(domain, reported) and _within(reported, query):
            items.append(_summary(domain, reported))
        if len(items) == query["maxResults"] or sources.expired():
            break
    more = read > 0 and (read >= MOST_READ or next(events, None) is not None)
    return _listed("items", items, write_cursor(kind, last) if more else None)


def _listed(name: str, items: Sequence[Json], following: str | None) -> Response:
    """A page; the last has no token."""
    return jsonify({name: items, **({"nextToken": following} if following else {})})


def _within(reported: ReportedEvent, query: Mapping[str, Any]) -> bool:
    after, before = query["timestampAfter"], query["timestampBefore"]
    if after is None and before is None:
        return True
    at = None if reported.event is None else reported.event.at
    return at is not None and (after is None or at > after) and (before is None or at < before)


def _summary(domain: str, reported: ReportedEvent) -> Json:
    event, document = reported.event, reported.document
    item = {
        "id": _event_id(document.position),
        "domainId": domain,
        "processingStatus": _STATUS[document.state],
        "createdAt": document.received_at / 1000,
    }
    if event is not None:
        item["eventTime"] = event.at / 1000
    if isinstance(event, RunEvent):
        item["eventSummary"] = {
            "openLineageRunEventSummary": {
                "eventType": event.type if event.type in _RUN_STATES else "OTHER",
                "runId": event.run_id,
                "job": {"namespace": event.job.namespace, "name": event.job.name},
                "inputs": [_named(dataset) for dataset in event.inputs],
                "outputs": [_named(dataset) for dataset in event.outputs],
            }
        }
    return item


def _named(dataset: Dataset) -> Json:
    return {"namespace": dataset.namespace, "name": dataset.name}


@blueprint.answer("/lineage/events/<identifier>", "The event; its metadata is in headers")
def get_event(domain: str, identifier: str) -> Response:
    """GetLineageEvent: an event as it is kept, its secrets masked, in the journal's spelling."""
    position = _position(identifier)
    try:
        reported = reported_event(current_sources(), position)
    except NotFound:
        raise NotFound("event", identifier) from None
    if not _is_of(domain, reported):
        raise NotFound("event", identifier)
    document = reported.document
    response = Response(document.body, mimetype="application/json")
    response.headers["Domain-Id"] = domain
    response.headers["Id"] = identifier
    response.headers["Processing-Status"] = _STATUS[document.state]
    response.headers["Created-At"] = _http_time(document.received_at)
    if reported.event is not None:
        response.headers["Event-Time"] = _http_time(reported.event.at)
    return response


@blueprint.answer(
    "/lineage/events/<identifier>", "id, domainId and processingStatus", methods=["DELETE"]
)
def delete_event(domain: str, identifier: str) -> Response:
    """DeleteLineageEvent: forget an event, as ``headwater forget document:N``.

    One that is gone already is answered alike.
    """
    service = current_service()
    position = _position(identifier)
    document = _kept(domain, position)
    if document is not None:
        covered = cover_forget(f"document:{position}", service)
        give(covered, current_principal().name, "DeleteLineageEvent", request.path, service)
    elif position > service.journal.newest():
        raise NotFound("event", identifier)
    return jsonify(id=identifier, domainId=domain, processingStatus="SUCCESS")


def _kept(domain: str, position: int) -> StoredDocument | None:
    """The event at a position, None where it is gone. Raises NotFound for another document, and
    for an event of another domain.
    """
    if not current_service().journal.documents((position,)):
        return None
    reported = reported_event(current_sources(), position)
    if not _is_of(domain, reported):
        raise NotFound("event", _event_id(position))
    return reported.document


def _event_id(position: int) -> str:
    """14 letters and digits, as the service has them."""
    return f"{position:014x}"


def _position(identifier: str) -> int:
    if not re.fullmatch(r"[a-z0-9]{14}", identifier):
        raise InvalidFields({"identifier": ["the id of an event: 14 letters and digits"]})
    if not _EVENT_ID.fullmatch(identifier):
        raise NotFound("event", identifier)
    return int(identifier, 16)


def _http_time(at: int) -> str:
    return format_datetime(datetime.fromtimestamp(at // 1000, UTC), usegmt=True)


# --- nodes ---------------------------------------------------------------------------------------


@blueprint.answer(
    "/lineage/nodes/<identifier>", "A node with forms and neighbours on both sides", _NodeQuery
)
def get_node(query: Mapping[str, Any], domain: str, identifier: str) -> Response:
    """GetLineageNode: a dataset, a job or a run with its neighbours, as it was at ``timestamp``.

    By our id or by its source identifier.
    """
    node = nodes.find_node(_sources(domain), _checked(identifier), query["timestamp"])
    return jsonify(domainId=domain, **nodes.described(node))


@blueprint.answer("/lineage/nodes/<identifier>/history", "nodes and nextToken", _HistoryQuery)
def node_history(query: Mapping[str, Any], domain: str, identifier: str) -> Response:
    """ListLineageNodeHistory: the versions of a node.

    One for each time at which a run wrote or read it, of the newest 1,000.
    """
    node = nodes.find_node(_sources(domain), _checked(identifier), query["timestampLTE"])
    times, following = nodes.history(
        node,
        query["direction"],
        query["timestampGTE"],
        falling=query["sortOrder"] == "DESCENDING",
        limit=query["maxResults"],
        token=query["nextToken"],
    )
    shown = [{"domainId": domain, **nodes.summary(node, at)} for at in times]
    return _listed("nodes", shown, following)


# --- assets --------------------------------------------------------------------------------------


class _AssetQuery(Query):
    revision = TextField(64, load_default=None)


@blueprint.answer("/assets/<identifier>", "An asset with forms", _AssetQuery)
def get_asset(query: Mapping[str, Any], domain: str, identifier: str) -> Response:
    """GetAsset: a dataset by our id or by its source identifier; a revision is a write of it."""
    node = nodes.find_node(_sources(domain), _checked(identifier), None)
    return jsonify(domainId=domain, **nodes.asset(node, query["revision"]))


@blueprint.answer("/assets/<identifier>/revisions", "items and nextToken", _TokenQuery)
def asset_revisions(query: Mapping[str, Any], domain: str, identifier: str) -> Response:
    """ListAssetRevisions: the writes of a dataset, the newest first, of the newest 1,000."""
    node = nodes.find_node(_sources(domain), _checked(identifier), None)
    items, following = nodes.revisions(node, query["maxResults"], query["nextToken"])
    listed = [{"domainId": domain, **item} for item in items]
    return _listed("items", listed, following)


# --- graph ---------------------------------------------------------------------------------------


@blueprint.route("/graph/query", methods=["POST"], access=ASKING)
@blueprint.arguments(_TokenQuery)
@blueprint.arguments(_GraphBody, location="json")
@blueprint.doc(
    summary="The nodes on one side of a node (QueryGraph)",
    responses={200: {"description": "items and nextToken"}},
)
def query_graph(query: Mapping[str, Any], body: Mapping[str, Any], domain: str) -> Response:
    """At most five steps, datasets and runs in turn: what was seen to flow until now."""
    pattern = nodes.read_pattern(body["match"], body["additionalAttributes"])
    _checked(pattern.identifier)
    drawn, following = nodes.query_graph(
        _sources(domain),
        pattern,
        limit=query["maxResults"],
        token=query["nextToken"],
    )
    items = [{"lineageNode": {"domainId": domain, **node}} for node in drawn]
    return _listed("items", items, following)


def _checked(identifier: str) -> str:
    if not 1 <= len(identifier) <= nodes.LONGEST:
        raise InvalidFields({"identifier": [f"1 to {nodes.LONGEST} characters"]})
    return identifier
