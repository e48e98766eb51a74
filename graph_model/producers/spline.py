"""Spline's plans and events: the documents of one plan id.

A cache of plan heads makes a new event of a known plan cost only itself: the plan's document is
then neither parsed nor translated again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from graph_model.commands import NO_ORDERS, Orders
from graph_model.facts import ArrivalRow, ExecutionRow, Facts
from graph_model.naming import Rules
from graph_model.projection.attempts import earlier_sets
from graph_model.projection.notes import projected
from graph_model.projection.outcome import Outcome
from graph_model.projection.plans import (
    gather,
    may_recover,
    read_event_document,
    read_plan_document,
    states_of,
)
from graph_model.projection.projections import FORGOTTEN_REASON, Projection, projection_of
from graph_model.store import DocumentKind, DocumentState, StoredDocument
from graph_model.translate import (
    TRANSLATOR_VERSION,
    PlanHead,
    translate_execution,
    translate_plan,
)

_HEADS_KEPT: Final = 2_000


class Spline:
    """A producer, see ``producer.Producer``."""

    kinds = frozenset({DocumentKind.PLAN, DocumentKind.EVENT})
    additions = frozenset({DocumentKind.EVENT})
    versions = (TRANSLATOR_VERSION,)

    def translator(self, rules: Rules) -> SplineTranslator:
        """See ``producer.Producer``."""
        return SplineTranslator(rules)


class _Untranslatable(Exception):
    """A plan cannot speak: the next one of its scope does, or its events wait."""

    def __init__(self, plan: StoredDocument, reason: Exception) -> None:
        super().__init__(str(reason))
        self.plan = plan
        self.reason = reason


class SplineTranslator:
    """Translates the documents of plan ids under one set of rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._heads: OrderedDict[str, PlanHead] = OrderedDict()

    def forget(self) -> None:
        """Drop what is remembered of plans."""
        self._heads.clear()

    def knows(self, document: StoredDocument) -> bool:
        """Whether a new event of this plan can be translated without the plan's body."""
        return _key(document) in self._heads

    def project(
        self, documents: Sequence[StoredDocument], new: Collection[int], orders: Orders
    ) -> Projection:
        """See ``producer.Translator``."""
        live = [d for d in documents if d.position in new or _is_live(d)]
        aside = Outcome()
        while True:
            try:
                projection = self._project_gathered(live, new, orders)
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
        self, live: Sequence[StoredDocument], new: Collection[int], orders: Orders
    ) -> Projection:
        gathered = gather(live)
        plans_changed = any(d.position in new and d.kind == DocumentKind.PLAN for d in live)
        outcome = Outcome({at: (state, reason) for at, state, reason in states_of(gathered)})
        for plan, events in gathered.chosen.values():
            asked = [e for e in events if plans_changed or e.position in new]
            self._project_subject(plan, asked, orders, outcome, known=not plans_changed)
        if not plans_changed:
            return projection_of(outcome, None, live, unsettled=outcome.covered)
        return projection_of(outcome, self._former(live, covered=outcome.covered), live)

    def _project_subject(
        self,
        plan: StoredDocument,
        events: Sequence[StoredDocument],
        orders: Orders,
        outcome: Outcome,
        *,
        known: bool,
    ) -> None:
        """One plan with its events (the new ones alone when it is ``known`` already)."""
        if known and not events:
            return  # a command has settled what was new: nothing is said anew
        remaining = [e for e in events if e.content_hash not in orders.forgotten]
        outcome.drop(e for e in events if e.content_hash in orders.forgotten)
        if not remaining and plan.content_hash in orders.forgotten:
            self._heads.pop(_key(plan), None)
            if not known or plan.state == DocumentState.WAITING:
                outcome.states[plan.position] = (DocumentState.WAITING, FORGOTTEN_REASON)
            outcome.covered = True
            return
        facts, head = self._known_head(plan) if known else self._new_head(plan)
        if head.left_out and plan.body:
            outcome.states[plan.position] = projected(plan, head.left_out)
        shown = _add_executions(head, remaining, orders, outcome, self._rules)
        if facts is None:
            return
        if shown or not remaining:
            outcome.parts += [facts, _arrival(head.execution_plan, plan)]
            self._remember(plan, head)
            return
        self._heads.pop(_key(plan), None)
        if not known:
            outcome.hide([plan], dropped=all(e.position in outcome.dropped for e in remaining))

    def _known_head(self, plan: StoredDocument) -> tuple[Facts | None, PlanHead]:
        """The facts and the head of a plan; no facts when it is remembered."""
        head = self._heads.get(_key(plan))
        if head is not None:
            self._heads.move_to_end(_key(plan))
            return None, head
        return translate_plan(read_plan_document(plan), self._rules)

    def _new_head(self, plan: StoredDocument) -> tuple[Facts, PlanHead]:
        try:
            return translate_plan(read_plan_document(plan), self._rules)
        except Exception as error:
            raise _Untranslatable(plan, error) from error

    def _remember(self, plan: StoredDocument, head: PlanHead) -> None:
        """Only of a plan whose facts are on their way: the next event adds nothing but itself."""
        self._heads[_key(plan)] = head
        self._heads.move_to_end(_key(plan))
        if len(self._heads) > _HEADS_KEPT:
            self._heads.popitem(last=False)

    def _former(self, documents: Sequence[StoredDocument], *, covered: bool) -> Facts | None:
        """What may stand of these documents, apart from what all say; None when no plan spoke.

        Every event counts: a round with a new one may have broken off.
        """
        outcome = Outcome()
        for some in earlier_sets(documents, _is_event, covered=covered):
            for plan, events in gather(some).chosen.values():
                facts, head = translate_plan(read_plan_document(plan), self._rules)
                outcome.parts += [facts, _arrival(head.execution_plan, plan)]
                _add_executions(head, events, NO_ORDERS, outcome, self._rules)
        return outcome.facts if outcome.parts else None


def _add_executions(
    head: PlanHead,
    events: Sequence[StoredDocument],
    orders: Orders,
    outcome: Outcome,
    rules: Rules,
) -> int:
    """Adds the facts of each event that no command covers; how many of the events are shown.

    One event that breaks the protocol takes neither its plan nor its neighbours with it.
    """
    shown = 0
    for event in events:
        try:
            facts = translate_execution(head, read_event_document(event), rules)
        except Exception as error:
            outcome.set_aside([event], error)
            shown += 1
            continue
        row = _execution_row(facts)
        if orders.prunes(row):
            outcome.hide([event], dropped=orders.drops(row))
        else:
            outcome.parts += [facts, _arrival(row.id, event)]
            shown += 1
    return shown


def _arrival(told: str, document: StoredDocument) -> Facts:
    return Facts(rows=(ArrivalRow(told, document.received_at),))


def _execution_row(facts: Facts) -> ExecutionRow:
    return next(row for row in facts.rows if isinstance(row, ExecutionRow))


def _key(plan: StoredDocument) -> str:
    return f"{plan.scope}\n{plan.content_hash}"


def _is_event(document: StoredDocument) -> bool:
    return document.kind == DocumentKind.EVENT


def _is_live(document: StoredDocument) -> bool:
    return document.state != DocumentState.FAILED or may_recover(document)
