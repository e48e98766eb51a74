"""Plans and events of Spline -> submissions to the journal, checked and masked.

The journal keeps the document as it was sent, unknown fields included, with secrets masked.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.json_fields import join, read_object
from graph_model.producers.spline import lifting
from graph_model.producers.spline.documents import (
    EVENT_KIND,
    PLAN_KIND,
    read_event,
    read_labels,
    read_plan,
    read_uuid,
)
from graph_model.stores.documents import Submission, compact_json, content_hash, make_submission
from spark_agent_config.masking import mask_secrets

SCOPE_LABEL: Final = "captureScope"
STAND_IN: Final = "00000000-0000-0000-0000-000000000000"
"""The id of a plan without one, while it is checked."""

_MOST_SCOPE: Final = 200
_NAMELESS_PLANS: Final = uuid.UUID("0b5f6f4e-6c53-5b0a-9f0e-2f6c9d1b7a41")
"""The namespace of ids for plans that bring none: the same body gets the same id."""


def plan_submission(document: Any, version: str, key_scope: str = "") -> Submission:
    """Raises InvalidDocument, naming the first invalid field.

    A plan without an id gets one from its content, so that a repeat is the same plan. ``key_scope``
    is the scope of a plan that names none.
    """
    read_plan(lifted_plan(document, version), STAND_IN)
    spoken = spoken_version(document, version)
    body = compact_json(mask_secrets(document))
    given = document.get("id")
    plan_id = _id_of_nameless(spoken, body) if given is None else read_uuid(given, "id")
    scope = scope_of(document, "") or key_scope
    return make_submission(PLAN_KIND, spoken, plan_id, scope, body)


def _id_of_nameless(version: str, body: bytes) -> str:
    return str(uuid.uuid5(_NAMELESS_PLANS, content_hash(PLAN_KIND, version, body)))


def event_submission(
    document: Any, version: str, key_scope: str = "", path: str = ""
) -> Submission:
    """Raises InvalidDocument, naming the first invalid field; ``path`` is the event's place.

    The scope of an event is that of its own label, otherwise that of its API key. The plan of an
    event without a scope is chosen from the whole set of documents when it is projected
    (``spline.gathering``), so that the order of arrival does not matter.
    """
    read_event(lifted_event(document, version, path))
    body = compact_json(mask_secrets(document))
    plan_id = read_uuid(document.get("planId"), join(path, "planId"))
    scope = scope_of(document, path) or key_scope
    return make_submission(EVENT_KIND, spoken_version(document, version), plan_id, scope, body)


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
    """The first value of the label ``captureScope``, otherwise the empty scope."""
    where = join(path, "labels")
    values = read_labels(document.get("labels"), where).get(SCOPE_LABEL, ())
    scope = values[0].strip() if values else ""
    if len(scope) > _MOST_SCOPE or not scope.isprintable():
        raise InvalidDocument(
            f"{where}.{SCOPE_LABEL}", f"a name of up to {_MOST_SCOPE} printable characters"
        )
    return scope


def lifted_plan(document: Any, version: str) -> Any:
    """A plan in the form of API 1.2, from any version."""
    if spoken_version(document, version) != "1":
        return document
    return lifting.lift(read_object(document, ""))


def lifted_event(document: Any, version: str, path: str = "") -> Any:
    """An event in the form of API 1.2; ``path`` is its place."""
    if spoken_version(document, version) != "1":
        return document
    try:
        return lifting.lift_event(read_object(document, ""))
    except InvalidDocument as error:
        inner = f"{path}.{error.path}" if path and error.path else path or error.path
        raise InvalidDocument(inner, error.expected) from error
