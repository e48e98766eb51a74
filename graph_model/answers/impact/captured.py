"""Captured documents that were never sent -> their plans. Nothing is stored.

The projector's own translator reads them, under the rules in force, so both sides of a comparison
are made in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable

from graph_model.answers.impact.outline import PlanOutline, outlines
from graph_model.errors import InvalidDocument
from graph_model.facts import Facts, merge
from graph_model.naming import Rules
from graph_model.producers.counted_times import NO_RECEIPT
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.producers.translation import Translation
from graph_model.stores.documents import DocumentState, StoredDocument, Submission


def captured_outlines(
    submissions: Iterable[Submission], rules: Rules, producers: Producers = PRODUCERS
) -> tuple[PlanOutline, ...]:
    """The plans of these documents that write something; documents that only report a run of a plan
    are skipped.

    Raises InvalidDocument, with the plan's id, for a document that cannot be translated.
    """
    stored: dict[str, list[StoredDocument]] = {}
    for position, one in enumerate(submissions, 1):
        if one.kind not in producers.additions:
            stored.setdefault(one.subject_key, []).append(_stored(one, position))
    translation = Translation(rules, producers)
    return outlines(merge(_facts(translation, documents) for documents in stored.values()))


def _facts(translation: Translation, documents: list[StoredDocument]) -> Facts:
    projection = translation.project_all(documents)
    for _, state, reason in projection.states:
        if state == DocumentState.FAILED:
            raise InvalidDocument(documents[0].subject_key, f"a plan that can be read: {reason}")
    return projection.facts


def _stored(one: Submission, position: int) -> StoredDocument:
    return StoredDocument(
        position=position,
        kind=one.kind,
        api_version=one.api_version,
        subject_key=one.subject_key,
        scope=one.scope,
        subject=one.subject,
        content_hash=one.content_hash,
        state=DocumentState.PENDING,
        reason=None,
        received_at=NO_RECEIPT,
        size=len(one.body),
        body=one.body,
    )
