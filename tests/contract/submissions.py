"""Documents on their way into a journal, with defaults."""

from __future__ import annotations

from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind, Receipt, Submission, content_hash


def a_submission(
    text: str,
    *,
    kind: DocumentKind = PLAN_KIND,
    api_version: str = "1.2",
    subject_key: str = "plan-1",
    scope: str = "",
    subject: str = "sub_1",
) -> Submission:
    body = text.encode()
    return Submission(
        kind=kind,
        api_version=api_version,
        subject_key=subject_key,
        scope=scope,
        subject=subject,
        content_hash=content_hash(kind, api_version, body),
        body=body,
    )


def an_event(
    text: str, *, subject_key: str = "plan-1", subject: str = "sub_1", scope: str = ""
) -> Submission:
    return a_submission(
        text, kind=EVENT_KIND, subject_key=subject_key, subject=subject, scope=scope
    )


def a_receipt(raw_hash: str = "", received_at: int = 1_700_000_000_000) -> Receipt:
    return Receipt(received_at, "key-1", "/producer/execution-plans", raw_hash)
