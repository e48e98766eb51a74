"""Documents that were captured and not sent -> what their plans say. Nothing is stored.

They are translated as the projector translates what it takes from the journal, under the rules in
force, so both sides of a comparison were made by the same hands.
"""

from __future__ import annotations

from collections.abc import Iterable

from graph_model.errors import InvalidDocument
from graph_model.facts import Facts, merge
from graph_model.impact.outline import PlanOutline, outlines
from graph_model.naming import Rules
from graph_model.projection.translation import Translation
from graph_model.store import DocumentKind, DocumentState, StoredDocument, Submission


def captured_outlines(submissions: Iterable[Submission], rules: Rules) -> tuple[PlanOutline, ...]:
    """The plans of these documents that write something; events of Spline say nothing of them.

    Raises InvalidDocument for a document that cannot be translated, naming its plan id.
    """
    stored: dict[str, list[StoredDocument]] = {}
    for position, one in enumerate(submissions, 1):
        if one.kind not in (DocumentKind.EVENT, DocumentKind.COMMAND):
            stored.setdefault(one.plan_id, []).append(_stored(one, position))
    translation = Translation(rules)
    return outlines(merge(_facts(translation, documents) for documents in stored.values()))


def _facts(translation: Translation, documents: list[StoredDocument]) -> Facts:
    projection = translation.project_all(documents)
    for _, state, reason in projection.states:
        if state == DocumentState.FAILED:
            raise InvalidDocument(documents[0].plan_id, f"a plan that can be read: {reason}")
    return projection.facts


def _stored(one: Submission, position: int) -> StoredDocument:
    return StoredDocument(
        position=position,
        kind=one.kind,
        api_version=one.api_version,
        plan_id=one.plan_id,
        scope=one.scope,
        subject=one.subject,
        content_hash=one.content_hash,
        state=DocumentState.PENDING,
        reason=None,
        received_at=0,
        size=len(one.body),
        body=one.body,
    )
