"""Spline's plans and events as documents: recognised, journalled, those of one plan id -> facts.

The journal keeps a document as it was sent, unknown fields included, with secrets masked.

A cache of plan heads makes a new event of a known plan cost only itself: the plan's document is
then neither parsed nor translated again.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache

from graph_model.errors import InvalidDocument
from graph_model.facts import ArrivalRow, ExecutionRow, Facts
from graph_model.json_fields import join, read_object
from graph_model.naming import Rules
from graph_model.producers.bounds import count_times
from graph_model.producers.producer import (
    NO_EFFECTS,
    Additions,
    CommandEffects,
    ProjectAll,
    Reported,
    SpelledRead,
    Spellings,
)
from graph_model.producers.projections import (
    FORGOTTEN_REASON,
    Outcome,
    Projection,
    earlier_sets,
    projected,
    projection_of,
)
from graph_model.producers.spline import TRANSLATOR_VERSION, lifting
from graph_model.producers.spline.documents import (
    API_VERSIONS,
    EVENT_KIND,
    PLAN_KIND,
    read_event,
    read_labels,
    read_plan,
    read_uuid,
)
from graph_model.producers.spline.executions import translate_execution
from graph_model.producers.spline.gathering import (
    GATHERING_VERSION,
    LongHistory,
    carries_discriminator,
    gather,
    may_recover,
    read_event_document,
    read_plan_document,
    states_of,
)
from graph_model.producers.spline.plans import PlanHead, translate_plan
from graph_model.stores.documents import (
    DocumentKind,
    DocumentState,
    StoredDocument,
    Submission,
    compact_json,
    content_hash,
    make_submission,
)
from spark_agent_config.masking import mask_secrets

# --- documents in files and messages --------------------------------------------------------------


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
            if (part := body.get(key)) is not None:
                yield Reported(kind, _INTERNAL_VERSION, part, f".{key}")


def _lineage_file(document: Mapping[str, Any]) -> Iterator[Reported]:
    """``_LINEAGE``: a plan and its event in the agent's own form, which is 1.2 except for
    references.

    Either may be null: the agent writes the ones that it has.
    """
    for key, kind in _FILE_PARTS.items():
        if (part := document.get(key)) is not None:
            translated = _with_references(part, False) if kind == PLAN_KIND else part
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


# --- submissions ----------------------------------------------------------------------------------


SCOPE_LABEL: Final = "captureScope"
STAND_IN: Final = "00000000-0000-0000-0000-000000000000"
"""The id of a plan without one, while it is checked."""

_MOST_SCOPE: Final = 200
_NAMELESS_PLANS: Final = uuid.UUID("0b5f6f4e-6c53-5b0a-9f0e-2f6c9d1b7a41")
"""The namespace of ids for plans that bring none: the same body gets the same id."""


def plan_submission(document: Any, version: str, key_scope: str = "") -> Submission:
    """Raises InvalidDocument, naming the invalid fields.

    A plan without an id gets one from its content, so that a repeat is the same plan. ``key_scope``
    is the scope of a plan that names none.
    """
    read_plan(_lifted_plan(document, version), STAND_IN)
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
    """Raises InvalidDocument, naming the invalid fields; ``path`` is the event's place.

    The scope of an event is that of its own label, otherwise that of its API key. The plan of an
    event without a scope is chosen from the whole set of documents when it is projected
    (``spline.gathering``), so that the order of arrival does not matter.
    """
    read_event(_lifted_event(document, version, path), path)
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


def _lifted_plan(document: Any, version: str) -> Any:
    """A plan in the form of API 1.2, from any version."""
    if spoken_version(document, version) != "1":
        return document
    return lifting.lift(read_object(document, ""))


def _lifted_event(document: Any, version: str, path: str) -> Any:
    """An event in the form of API 1.2; ``path`` is its place."""
    if spoken_version(document, version) != "1":
        return document
    try:
        return lifting.lift_event(read_object(document, ""))
    except InvalidDocument as error:
        inner = f"{path}.{error.path}" if path and error.path else path or error.path
        raise InvalidDocument(inner, error.expected) from error


# --- the producer ---------------------------------------------------------------------------------


_MOST_HEADS_BYTES: Final = 64 << 20
_HEAD_OVERHEAD: Final = 1_000
"""Bytes of objects beside their text: a usual head takes 2 kB in all."""


class Spline:
    """A producer, see ``producer.Producer``."""

    kinds = (PLAN_KIND, EVENT_KIND)
    additions = frozenset({EVENT_KIND})
    from_clients = True
    api_versions = API_VERSIONS
    versions = (TRANSLATOR_VERSION, GATHERING_VERSION)
    announced: Mapping[str, DocumentKind] = {
        "ExecutionPlan": PLAN_KIND,
        "ExecutionEvent": EVENT_KIND,
    }
    openings: tuple[str, ...] = ()
    spelled = frozenset({PLAN_KIND})

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:
        return recognise(document)

    def submission(self, reported: Reported) -> Submission:
        submit = plan_submission if reported.kind == PLAN_KIND else event_submission
        return submit(reported.document, reported.api_version)

    def event(self, document: StoredDocument, rules: Rules) -> None:
        """None: its plans are documents of their own."""

    def spellings(self, document: StoredDocument) -> Spellings | None:
        if document.kind != PLAN_KIND:
            return None
        plan = read_plan_document(document).plan
        reads = (
            SpelledRead(read.sources, read.params, read.extra.get("roots")) for read in plan.reads
        )
        return Spellings(plan.labels, plan.name, plan.write.target, tuple(reads))

    def translator(self, rules: Rules, clock_tolerance: int) -> SplineTranslator:
        return SplineTranslator(rules, clock_tolerance)


class _Untranslatable(Exception):
    """A plan that cannot be translated: the next one of its scope is used, or its events wait."""

    def __init__(self, plan: StoredDocument, reason: Exception) -> None:
        super().__init__(str(reason))
        self.plan = plan
        self.reason = reason


class PlanHeads:
    """The heads of known plans by plan document; the least recently used are evicted.

    Safe from several threads: a replay request clears them.
    """

    def __init__(self, most_bytes: int = _MOST_HEADS_BYTES) -> None:
        self._kept: LRUCache[str, PlanHead] = LRUCache(most_bytes, _weigh_head)
        self._lock = Lock()

    def find(self, plan: StoredDocument) -> PlanHead | None:
        """A head found counts as used."""
        with self._lock:
            return self._kept.get(_key(plan))

    def keep(self, plan: StoredDocument, head: PlanHead) -> None:
        with self._lock, suppress(ValueError):  # larger than the whole cache
            self._kept[_key(plan)] = head

    def forget(self, plan: StoredDocument) -> None:
        with self._lock:
            self._kept.pop(_key(plan), None)

    def forget_all(self) -> None:
        with self._lock:
            self._kept.clear()


def _weigh_head(head: PlanHead) -> int:
    """Approximate bytes."""
    return _HEAD_OVERHEAD + len(repr(head))


class SplineTranslator:
    """Translates the documents of plan ids under one set of rules."""

    def __init__(self, rules: Rules, clock_tolerance: int) -> None:
        self._rules = rules
        self._clock_tolerance = clock_tolerance
        self._heads = PlanHeads()

    def forget(self) -> None:
        """Drop the cached plans."""
        self._heads.forget_all()

    @property
    def additions(self) -> Additions:
        return self

    def knows(self, document: StoredDocument) -> bool:
        """Whether a new event of this plan can be translated without the plan's body."""
        return self._heads.find(document) is not None

    def unlearn(self, document: StoredDocument) -> None:
        self._heads.forget(document)

    def suffices(self, document: StoredDocument) -> bool:
        """Whether this is not an event that may contradict its plan, whose body is then needed."""
        return not carries_discriminator(document)

    def project_pieces(
        self,
        others: Sequence[StoredDocument],
        additions: Iterator[StoredDocument],
        project: ProjectAll,
        forgotten: Collection[str],
        batch_size: int,
    ) -> Iterator[Projection]:
        return LongHistory(others, project, forgotten).project_pieces(additions, batch_size)

    def project(
        self, documents: Sequence[StoredDocument], new: Collection[int], effects: CommandEffects
    ) -> Projection:
        live = [d for d in documents if d.position in new or _is_live(d)]
        aside = Outcome()
        while True:
            try:
                projection = self._project_gathered(live, new, effects)
            except _Untranslatable as failure:
                aside.set_aside([failure.plan], failure.reason)
                live = [d for d in live if d.position != failure.plan.position]
            else:
                changes = aside.changes(documents)
                return (
                    replace(projection, states=projection.states + changes)
                    if changes
                    else projection
                )

    def _project_gathered(
        self, live: Sequence[StoredDocument], new: Collection[int], effects: CommandEffects
    ) -> Projection:
        gathered = gather(live)
        plans_changed = any(d.position in new and d.kind == PLAN_KIND for d in live)
        outcome = Outcome({at: (state, reason) for at, state, reason in states_of(gathered)})
        for plan, events in gathered.chosen.values():
            asked = [e for e in events if plans_changed or e.position in new]
            self._project_subject(plan, asked, effects, outcome, known=not plans_changed)
        if not plans_changed:
            return projection_of(outcome, None, live, unsettled=outcome.covered)
        return projection_of(outcome, self._former(live, covered=outcome.covered), live)

    def _project_subject(
        self,
        plan: StoredDocument,
        events: Sequence[StoredDocument],
        effects: CommandEffects,
        outcome: Outcome,
        *,
        known: bool,
    ) -> None:
        """One plan with its events (only the new ones when it is ``known`` already)."""
        if known and not events:
            return  # a command has settled every new document
        remaining = [e for e in events if e.content_hash not in effects.forgotten]
        outcome.drop(e for e in events if e.content_hash in effects.forgotten)
        if not remaining and plan.content_hash in effects.forgotten:
            self._heads.forget(plan)
            if not known or plan.state == DocumentState.WAITING:
                outcome.states[plan.position] = (DocumentState.WAITING, FORGOTTEN_REASON)
            outcome.covered = True
            return
        if known and not plan.body and self._heads.find(plan) is None:
            outcome.covered = True  # its head was evicted during the round: all is read again
            return
        facts, head = self._known_head(plan) if known else self._new_head(plan)
        if head.left_out and plan.body:
            outcome.states[plan.position] = projected(plan, head.left_out)
        shown = self._add_executions(head, remaining, effects, outcome)
        if facts is None:
            return
        if shown or not remaining:
            outcome.parts += [facts, _arrival(head.execution_plan, plan)]
            # written in this round: the next event adds only itself
            self._heads.keep(plan, head)
            return
        self._heads.forget(plan)
        if not known:
            outcome.hide([plan], dropped=all(e.position in outcome.dropped for e in remaining))

    def _known_head(self, plan: StoredDocument) -> tuple[Facts | None, PlanHead]:
        """The facts and the head of a plan; no facts when its head is cached."""
        head = self._heads.find(plan)
        if head is not None:
            return None, head
        return translate_plan(read_plan_document(plan), self._rules)

    def _new_head(self, plan: StoredDocument) -> tuple[Facts, PlanHead]:
        try:
            return translate_plan(read_plan_document(plan), self._rules)
        except Exception as error:
            raise _Untranslatable(plan, error) from error

    def _former(self, documents: Sequence[StoredDocument], *, covered: bool) -> Facts | None:
        """Facts that may be in the graph for these documents, other than those of all together;
        None where no plan was translated.

        Every event counts, because a round with a new one may have broken off.
        """
        outcome = Outcome()
        for some in earlier_sets(documents, _is_event, covered=covered):
            for plan, events in gather(some).chosen.values():
                facts, head = translate_plan(read_plan_document(plan), self._rules)
                outcome.parts += [facts, _arrival(head.execution_plan, plan)]
                self._add_executions(head, events, NO_EFFECTS, outcome)
        return outcome.facts if outcome.parts else None

    def _add_executions(
        self,
        head: PlanHead,
        events: Sequence[StoredDocument],
        effects: CommandEffects,
        outcome: Outcome,
    ) -> int:
        """Adds the facts of each event that no command covers; returns the number of those events.

        One invalid event fails alone, without its plan and the other events.
        """
        shown = 0
        for event in events:
            try:
                facts = self._execution(head, event)
            except Exception as error:
                outcome.set_aside([event], error)
                shown += 1
                continue
            row = _execution_row(facts)
            if effects.prunes(row):
                outcome.hide([event], dropped=effects.drops(row))
            else:
                outcome.parts += [facts, _arrival(row.id, event)]
                shown += 1
        return shown

    def _execution(self, head: PlanHead, document: StoredDocument) -> Facts:
        event = read_event_document(document)
        facts = translate_execution(head, event, self._rules)
        claim = (event.timestamp, document.received_at)
        return count_times(facts, (claim,), self._clock_tolerance)


def _arrival(owner: str, document: StoredDocument) -> Facts:
    return Facts(rows=(ArrivalRow(owner, document.received_at),))


def _execution_row(facts: Facts) -> ExecutionRow:
    return next(row for row in facts.rows if isinstance(row, ExecutionRow))


def _key(plan: StoredDocument) -> str:
    return f"{plan.scope}\n{plan.content_hash}"


def _is_event(document: StoredDocument) -> bool:
    return document.kind == EVENT_KIND


def _is_live(document: StoredDocument) -> bool:
    return document.state != DocumentState.FAILED or may_recover(document)
