"""The documents of one plan id -> what the stores must hold of them, and what becomes of each.

Nothing here touches a store. A cache of plan heads makes a new event of a known plan cost only
itself: the plan's document is then neither parsed nor translated again.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Final

from graph_model import identity, naming
from graph_model.commands import NO_ORDERS, Orders, read_command, translate_command
from graph_model.errors import HeadwaterError, Unavailable
from graph_model.facts import ArrivalRow, ExecutionRow, Facts, merge
from graph_model.naming import Rules
from graph_model.openlineage import OPENLINEAGE_VERSION
from graph_model.projection import openlineage
from graph_model.projection.attempts import earlier_sets
from graph_model.projection.notes import projected
from graph_model.projection.outcome import PROJECTED, Outcome, States
from graph_model.projection.plans import (
    GATHERING_VERSION,
    gather,
    may_recover,
    read_event_document,
    read_plan_document,
    states_of,
)
from graph_model.store import DocumentKind, DocumentState, StoredDocument
from graph_model.translate import (
    TRANSLATOR_VERSION,
    PlanHead,
    translate_execution,
    translate_plan,
)

_HEADS_KEPT: Final = 2_000
_FORGOTTEN_REASON: Final = "it was forgotten: it speaks again with a run that was not"


@dataclass(frozen=True, slots=True)
class Projection:
    """What one plan id asks of the stores, and the states its documents get when it is done.

    ``parts`` together are its facts; what many subjects say alike (a known logical plan) is the
    same value in each of them.
    """

    parts: tuple[Facts, ...]
    former: Facts | None  # what stood before, when some of it may have to go
    states: States
    dropped: tuple[int, ...] = ()  # positions that are to leave the journal
    earlier: tuple[int, ...] = ()  # positions of what ``former`` comes from
    unsettled: bool = False  # a command covers a new event: does its plan still say something?

    @property
    def facts(self) -> Facts:
        """All of them as one; raises FactConflict where two contradict each other."""
        return merge(self.parts)

    def silenced(self) -> Iterator[int]:
        """The positions of plans that were forgotten and have nothing else to speak for."""
        return (position for position, _, reason in self.states if reason == _FORGOTTEN_REASON)


def settlements(
    projections: Iterable[Projection],
) -> list[tuple[list[int], DocumentState, str | None]]:
    """The states of several projections: the positions that share one (and its reason) together."""
    together: dict[tuple[DocumentState, str | None], list[int]] = {}
    for projection in projections:
        for position, state, reason in projection.states:
            together.setdefault((state, reason), []).append(position)
    return [(positions, state, reason) for (state, reason), positions in together.items()]


def projection_epoch(rules: Rules) -> str:
    """Changes when equal documents must be projected anew: translator version and rules."""
    parser = version("sqlglot")  # another parser may find the tables of another JDBC query
    return identity.digest(
        "projection",
        TRANSLATOR_VERSION,
        OPENLINEAGE_VERSION,
        GATHERING_VERSION,
        naming.rules_digest(rules),
        parser,
    )


class _Untranslatable(Exception):
    """A plan cannot speak: the next one of its scope does, or its events wait."""

    def __init__(self, plan: StoredDocument, reason: Exception) -> None:
        super().__init__(str(reason))
        self.plan = plan
        self.reason = reason


class Translation:
    """Translates the documents of plan ids, or of OpenLineage's keys, under one set of rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._heads: OrderedDict[str, PlanHead] = OrderedDict()
        self._said = openlineage.Said()

    def forget(self) -> None:
        """Drop what is remembered of plans; what events said is theirs for ever."""
        self._heads.clear()

    def knows(self, plan: StoredDocument) -> bool:
        """Whether a new event of this plan can be translated without the plan's body."""
        return _key(plan) in self._heads

    def project(
        self, documents: Sequence[StoredDocument], orders: Orders = NO_ORDERS
    ) -> Projection:
        """What the PENDING ones among these documents add, and what they take back.

        ``documents`` are all plan documents of the plan id and at least its PENDING events; all
        events too when a plan document is PENDING. What cannot be translated is set aside with
        its reason, a document whose stored body is damaged like any other; only Unavailable is
        raised.
        """
        new = {d.position for d in documents if d.state == DocumentState.PENDING}
        return self._try(documents, new, orders)

    def project_all(
        self, documents: Sequence[StoredDocument], orders: Orders = NO_ORDERS
    ) -> Projection:
        """All facts of these documents (every one of the plan id), as if they had just come.

        Of a command the rows alone: what it takes away, others must carry out.
        """
        if documents and documents[0].kind == DocumentKind.COMMAND:
            return merge_projections(map(_project_command, documents))
        return self._try(documents, {document.position for document in documents}, orders)

    def _try(
        self, documents: Sequence[StoredDocument], new: Collection[int], orders: Orders
    ) -> Projection:
        damaged = [document for document in documents if document.damage]
        if damaged:
            whole = [document for document in documents if not document.damage]
            return _with_damaged(self._try(whole, new, orders), damaged, orders)
        try:
            return self._project(documents, new, orders)
        except Unavailable:
            raise
        except Exception as error:
            return _set_aside(documents, new, error)

    def _project(
        self, documents: Sequence[StoredDocument], new: Collection[int], orders: Orders
    ) -> Projection:
        if documents and documents[0].kind.is_openlineage:
            return self._project_events(documents, orders)
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
            return _projection(outcome, None, live, unsettled=outcome.covered)
        return _projection(outcome, self._former(live, covered=outcome.covered), live)

    def _project_events(self, documents: Sequence[StoredDocument], orders: Orders) -> Projection:
        """OpenLineage's documents of one key: all of them, for a run is a function of the set."""
        outcome = openlineage.translate_events(documents, orders, self._rules)
        former = openlineage.former_facts(
            documents, orders, self._rules, self._said, covered=outcome.covered
        )
        self._said.keep(documents, outcome)
        return _projection(outcome, former, documents)

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
                outcome.states[plan.position] = (DocumentState.WAITING, _FORGOTTEN_REASON)
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


def _with_damaged(
    projection: Projection, damaged: Sequence[StoredDocument], orders: Orders
) -> Projection:
    """What the others say, and the damaged ones set aside; one that a command forgets leaves.

    What a damaged document said earlier stands until everything is projected anew: nobody can tell
    any more what it was.
    """
    outcome = Outcome()
    outcome.drop(one for one in damaged if one.content_hash in orders.forgotten)
    for document in damaged:
        if document.position not in outcome.dropped:
            outcome.set_damaged_aside(document)
    return replace(
        projection,
        states=projection.states + outcome.changes(damaged),
        dropped=tuple(sorted({*projection.dropped, *outcome.dropped})),
    )


def _project_command(document: StoredDocument) -> Projection:
    if document.damage:
        return _with_damaged(Projection((), None, ()), [document], NO_ORDERS)
    try:
        command = read_command(json.loads(document.body))
    except (HeadwaterError, ValueError) as error:
        return _set_aside([document], {document.position}, error)
    facts = translate_command(command, document.content_hash)
    return Projection((facts,), None, ((document.position, *PROJECTED),))


def merge_projections(projections: Iterable[Projection]) -> Projection:
    """Several as one; none of them takes anything back."""
    together = tuple(projections)
    parts = tuple(part for one in together for part in one.parts)
    return Projection(parts, None, sum((one.states for one in together), ()))


def _projection(
    outcome: Outcome,
    former: Facts | None,
    documents: Iterable[StoredDocument],
    *,
    unsettled: bool = False,
) -> Projection:
    found = tuple(documents)
    earlier = tuple(d.position for d in found if not d.is_fresh) if former else ()
    dropped = tuple(sorted(outcome.dropped))
    changes = outcome.changes(found)
    return Projection(tuple(outcome.parts), former, changes, dropped, earlier, unsettled)


def _set_aside(
    documents: Sequence[StoredDocument], new: Collection[int], error: Exception
) -> Projection:
    outcome = Outcome()
    outcome.set_aside([d for d in documents if d.position in new], error)
    return _projection(outcome, None, documents)
