"""Which of Spline's documents a JSON object of a file or a message is, or holds, by its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from graph_model.producers.producer import Reported
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND

PLAIN_VERSION: Final = "1"
"""For documents that name no version: ``submissions.spoken_version`` looks at their content."""

_INTERNAL_VERSION: Final = "1.2"
_ENVELOPE_PARTS: Final = {"plan": PLAN_KIND, "event": EVENT_KIND}
_FILE_PARTS: Final = {"executionPlan": PLAN_KIND, "executionEvent": EVENT_KIND}


def recognise(document: Mapping[str, Any]) -> Sequence[Reported]:
    """A plan, an event, the content of the agent's ``_LINEAGE`` file, or the envelope of a
    dispatcher for SQS; () for anything else.
    """
    if "requestType" in document:
        return tuple(_enveloped(document.get("body")))
    if _FILE_PARTS.keys() & document.keys():
        return tuple(_lineage_file(document))
    if "operations" in document:
        return (Reported(PLAN_KIND, PLAIN_VERSION, document),)
    if "planId" in document and "timestamp" in document and "eventTime" not in document:
        return (Reported(EVENT_KIND, PLAIN_VERSION, document),)
    return ()


def _enveloped(body: Any) -> Iterator[Reported]:
    """``{"requestType": …, "body": {"plan": …, "event": …}}``, in API 1.2; either may be null."""
    if isinstance(body, Mapping):
        for key, kind in _ENVELOPE_PARTS.items():
            if (found := body.get(key)) is not None:
                yield Reported(kind, _INTERNAL_VERSION, found, f".{key}")


def _lineage_file(document: Mapping[str, Any]) -> Iterator[Reported]:
    """``_LINEAGE``: a plan and its event in the agent's own form, which is 1.2 except for
    references.

    Either may be null: the agent writes the ones that it has.
    """
    for key, kind in _FILE_PARTS.items():
        if (found := document.get(key)) is not None:
            translated = _with_references(found, False) if kind == PLAN_KIND else found
            yield Reported(kind, _INTERNAL_VERSION, translated, f".{key}")


_REFERENCES: Final = {"attr-": "__attrId", "expr-": "__exprId"}
_REFERRING: Final = frozenset({"childRefs", "params"})


def _with_references(value: Any, referring: bool) -> Any:
    """``{"id": "attr-3"}`` => ``{"__attrId": "attr-3"}``, but only below childRefs and params."""
    if isinstance(value, list):
        return [_with_references(item, referring) for item in value]
    if not isinstance(value, dict):
        return value
    if referring and value.keys() == {"id"} and isinstance(value["id"], str):
        name = _REFERENCES.get(value["id"][:5])
        return {name: value["id"]} if name else value
    return {
        key: _with_references(item, referring or key in _REFERRING) for key, item in value.items()
    }
