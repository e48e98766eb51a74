"""DataZone's lineage API as its writers call it: SDKs of AWS, Glue, OpenLineage's transport.

    POST /v2/domains/dzd_a1b2/lineage/events  =>  {"id": "0000000000001a", "domainId": "dzd_a1b2"}

The body is one event of OpenLineage, without a Content-Type. Its id is its position in the journal:
an event that comes again, as it does when an SDK tries again, has the id that it had, whatever its
``Client-Token``. Errors have the names of the service's exceptions, and botocore raises these.

Signatures are not checked: where keys are needed, a signed request needs one as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flask import Response, jsonify, request

from api.http.blueprint import Blueprint
from api.http.rights import REPORTING
from api.intake.documents import Reading, count_refusals, current_delivery, take
from api.service import current_service
from api.service.sources import answer_errors
from graph_model.errors import InvalidFields
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.producers.openlineage.producer import SPECIFICATION, event_submission

MOST_BYTES: Final = 300_000
"""Of an event, as of the service."""
_AT_ONCE: Final = 0.0
"""The SDK is called from the job's own thread."""
_DOMAIN: Final = re.compile(r"dzd[-_][a-zA-Z0-9_-]{1,36}")
_TOKEN: Final = re.compile(r"[\x21-\x7E]{1,128}")
_SIGNED: Final = "AWS4-"
_NOT_CHECKED: Final = ". Signatures of AWS are not checked here"
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


def _spelled(body: Mapping[str, Any]) -> dict[str, Any]:
    code = body["code"]
    kind = "InternalServerException" if code >= _FAILED else "ValidationException"
    signed = code == 401 and request.headers.get("Authorization", "").startswith(_SIGNED)
    return {
        "__type": _NAMES.get(code, kind),
        "message": f"{body['message']}{_NOT_CHECKED if signed else ''}",
    }


blueprint = Blueprint(
    "datazone",
    __name__,
    url_prefix="/v2/domains/<domain>/lineage",
    access=REPORTING,
    description="DataZone's lineage API",
)
answer_errors(blueprint, _spelled)
count_refusals(blueprint, {"post_event": "lineage"})


@blueprint.route("/events", methods=["POST"])
@blueprint.takes({"type": "string", "format": "binary"}, ("application/octet-stream",))
@blueprint.doc(
    summary="Take an OpenLineage event (PostLineageEvent)",
    responses={200: {"description": "Durable: id and domainId"}},
)
def post_event(domain: str) -> Response:
    """Durable when answered; the graph follows. The domain is answered, and keeps nothing apart."""
    if not _DOMAIN.fullmatch(domain):
        raise InvalidFields({"domainIdentifier": [f"an id as {_DOMAIN.pattern}"]})
    token = request.headers.get("Client-Token")
    if token is not None and not _TOKEN.fullmatch(token):
        raise InvalidFields({"clientToken": ["1 to 128 printable characters of ASCII"]})
    service = current_service()
    taken = take(_EVENT, current_delivery(SPECIFICATION, MOST_BYTES), service, _AT_ONCE)
    service.metrics.received(taken.documents[0].kind, 1)
    return jsonify(id=_event_id(taken.positions[0]), domainId=domain)


def _event_id(position: int) -> str:
    """14 letters and digits, as the service has them."""
    return f"{position:014x}"
