"""The route of the toy format: a blueprint that names its access is all that it takes."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.http.blueprint import REPORTING, Blueprint
from api.intake.documents import ANY_SIZE, Reading, current_delivery, take
from api.service import current_service
from graph_model.producers.producer import Reported
from graph_model.stores.documents import Submission
from tests.copies.producer import COPY_KIND, VERSION, Copies

blueprint = Blueprint("copies", __name__, access=REPORTING)


def prepare(document: Any, version: str, key_scope: str) -> tuple[Submission, ...]:
    del key_scope  # a copy names no scope, and this format leaves the key's out
    return (Copies().submission(Reported(COPY_KIND, version, document)),)


@blueprint.route("/copies", methods=["POST"])
def copies() -> Response:
    take(Reading(COPY_KIND, prepare, ANY_SIZE), current_delivery(VERSION), current_service(), 0)
    return Response(status=201)
