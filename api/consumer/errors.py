"""Errors in the form that Spline's viewers expect.

    {"errorId": "3f0c…", "timestamp": 1700000000000, "message": "no event 'x' is known"}

The id is the request's: a person copies it from the screen and finds the line in the log.
The status and headers are those of every other error.
"""

from __future__ import annotations

from flask import Response, json
from werkzeug.exceptions import HTTPException

from api.http.blueprint import Blueprint
from api.http.errors import answer_bug, answer_headwater, answer_http
from api.logs import current_request_id
from api.service import current_service
from api.service.sources import is_rebuilding
from graph_model.errors import HeadwaterError, NotFound, Rebuilding


def answer_errors(blueprint: Blueprint) -> None:
    """Have every error of this blueprint's routes answered so."""
    blueprint.register_error_handler(HTTPException, lambda error: respelled(answer_http(error)))
    blueprint.register_error_handler(HeadwaterError, lambda error: respelled(_answered(error)))
    blueprint.register_error_handler(Exception, lambda error: respelled(answer_bug(error)))


def _answered(error: HeadwaterError) -> Response:
    """While the graph is behind, a missing node may still come: 503 instead of 404."""
    if isinstance(error, NotFound) and is_rebuilding():
        return answer_headwater(Rebuilding(f"{error} yet: the graph is being rebuilt"))
    return answer_headwater(error)


def respelled(response: Response) -> Response:
    """Another body; a redirect has none."""
    body = response.get_json(silent=True)
    if isinstance(body, dict):
        body = {
            "errorId": current_request_id.get(),
            "timestamp": current_service().clock(),
            "message": body.get("message", ""),
        }
        response.set_data(json.dumps(body))
    return response
