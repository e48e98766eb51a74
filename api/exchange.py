"""One request and its answer: its id, the access line, what is measured of it.

A caller may bring its own id (``X-Request-Id``), so that one id runs through the logs of several
services; one that is not well-formed is replaced. The id is in the answer's header and in every
line that the request logs.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable
from typing import Any, Final

from flask import Flask, Response, g, request

from api.logs import FIELDS, current_request_id
from api.metrics import Metrics
from api.principals import current_principal

HEADER: Final = "X-Request-Id"
_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_MOST_PATH: Final = 200
UNMATCHED: Final = "unmatched"

log = logging.getLogger("headwater.access")


def request_id_of(given: str | None) -> str:
    """The caller's id where it is well-formed, else a new one."""
    if given is not None and _WELL_FORMED.fullmatch(given):
        return given
    return secrets.token_hex(8)


def watch(app: Flask, metrics: Metrics, seconds: Callable[[], float]) -> None:
    """Give every request of this app its id, and tell log and metrics how it went.

    ``seconds`` never go back. Called before anything else is registered, so that it sees every
    request first and every answer last.
    """

    def begin() -> None:
        g.began = seconds()
        g.request_id_token = current_request_id.set(request_id_of(request.headers.get(HEADER)))

    def end(response: Response) -> Response:
        response.headers[HEADER] = current_request_id.get()
        took = seconds() - g.began
        metrics.answered(request.method, route(), response.status_code, took)
        _tell(response, took)
        return response

    def forget(_error: BaseException | None) -> None:
        if (token := g.pop("request_id_token", None)) is not None:
            current_request_id.reset(token)

    app.before_request(begin)
    app.after_request(end)
    app.teardown_request(forget)


def route() -> str:
    """The template that the request's path was matched to: one of a bounded number."""
    return request.url_rule.rule if request.url_rule is not None else UNMATCHED


def _tell(response: Response, took: float) -> None:
    """The access line. Queries stay out of it: they hold names, and nobody knows what else."""
    if not log.isEnabledFor(logging.INFO):
        return
    fields: dict[str, Any] = {
        "method": request.method,
        "path": request.path[:_MOST_PATH],
        "route": route(),
        "status": response.status_code,
        "durationMs": round(took * 1000, 1),
        "bytes": response.content_length or 0,
        "bytesReceived": request.content_length or 0,
        "principal": current_principal().name,
    }
    log.info(
        "%(method)s %(path)r %(status)d %(durationMs).1f ms %(bytes)d B %(principal)s",
        fields,
        extra={FIELDS: fields},
    )
