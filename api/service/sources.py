"""Sources for a question to the graph: stores, a deadline, the state of projection."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from flask import Response, json
from werkzeug.exceptions import HTTPException

from api.http.blueprint import Blueprint
from api.http.errors import answer_bug, answer_headwater, answer_http, error_response
from api.http.rights import current_principal
from api.service import current_service
from graph_model.answers.sources import Sources
from graph_model.errors import HeadwaterError, NotFound, Rebuilding
from graph_model.lineage import Partial
from graph_model.stores.roles import Role

#: The longest time of a walk: after it, the answer is the part found so far.
TIME_LIMIT_MS: Final = 20_000
_NEVER_HELD: Final = frozenset({"document", "key", "layer", "place for uploads", "rebuild"})
_MAKE_ROOM: Final = (
    "the requested node may be in one of them. A larger heap (HEADWATER_GREMLIN_HEAP) or a prune"
    " command makes room (docs/graph.md)"
)


def current_sources() -> Sources:
    """The stores and rules of the app that answers the current request; its time begins now."""
    service = current_service()
    catalogue = service.catalogue
    kept = service.kept(catalogue)
    return Sources(
        graph=service.graph,
        catalogue=catalogue,
        journal=service.journal,
        rules=service.projector.rules,
        producers=service.producers,
        governance=kept.governance,
        structure=kept.structure,
        hidden=kept.governance.hidden,
        opens_hidden=current_principal().may(Role.ADMIN),
        expired=_deadline(),
        time_limit_ms=TIME_LIMIT_MS,
    )


def _deadline() -> Callable[[], bool]:
    """A function that reports whether the time for an answer that begins now is over."""
    end = time.monotonic() + TIME_LIMIT_MS / 1000
    return lambda: time.monotonic() > end


def is_rebuilding() -> bool:
    """Whether the graph is behind the journal. After a failure an engine that forgets its elements
    may be: it was started anew, or did not take what the catalogue has.
    """
    service = current_service()
    state = service.projector.state
    return state == "rebuilding" or (state == "unavailable" and service.graph.forgets)


def lacking() -> Partial | None:
    """The reason why every answer of the graph is partial now, if it is: a rebuild, or a full graph
    that holds documents back.
    """
    if is_rebuilding():
        return Partial("rebuilding", 0)
    return None if current_service().projector.full is None else Partial("full", 0)


@contextmanager
def whole_or_later() -> Iterator[None]:
    """While the graph is behind, a missing node may still come: 503 instead of 404."""
    rebuilding = is_rebuilding()
    try:
        yield
    except NotFound as error:
        if rebuilding or is_rebuilding():
            raise Rebuilding(f"{error} yet: the graph is being rebuilt") from error
        raise


def answer_errors(
    blueprint: Blueprint, spelled: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> None:
    """Have every error of these routes answered in another API's words: ``spelled`` makes its body
    from ours (``http.errors``); status and headers stay.
    """

    def respelled(response: Response) -> Response:
        body = response.get_json(silent=True)  # a redirect has none
        if isinstance(body, dict):
            response.set_data(json.dumps(spelled(body)))
        return response

    blueprint.register_error_handler(HTTPException, lambda error: respelled(answer_http(error)))
    blueprint.register_error_handler(HeadwaterError, lambda error: respelled(_answered(error)))
    blueprint.register_error_handler(Exception, lambda error: respelled(answer_bug(error)))


def _answered(error: HeadwaterError) -> Response:
    """While the graph is behind, a missing node may still come: 503 instead of 404."""
    if isinstance(error, NotFound) and is_rebuilding():
        return answer_headwater(Rebuilding(f"{error} yet: the graph is being rebuilt"))
    return answer_headwater(error)


def answer_not_found(error: NotFound) -> Response:
    """404. While the graph is full, the message also says why a new node may be missing, with the
    remedy.
    """
    answer = answer_headwater(error)
    full = current_service().projector.full
    if full is None or error.kind in _NEVER_HELD:
        return answer
    return error_response(HTTPStatus.NOT_FOUND, f"{error}. But {full}: {_MAKE_ROOM}")
