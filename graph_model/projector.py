"""From the journal to graph and catalogue: the one writer of projections.

What is projected together is a *plan id*: all plan documents and events that carry it, whatever
scope they came under, for an event that came without a scope belongs to the plan that one scope
has reported. :func:`gather` decides that as a function of the set of documents alone, so any
order of arrival gives the same subjects.

The common case, a new event of a known plan, costs only itself (law 4 of the design). When a plan
document changes what was projected before (a higher API version, another body), the new facts are
written first, then those withdrawn that nothing supports any more (``withdrawal``).

Order of commit: graph, catalogue, journal state. A crash in between repeats work, never loses it.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from graph_model import identity, lifting, naming
from graph_model.documents import ExecutionEvent, read_event, read_plan
from graph_model.errors import HeadwaterError, Unavailable
from graph_model.facts import Facts, merge
from graph_model.naming import Rules
from graph_model.store import (
    Catalogue,
    DocumentKind,
    DocumentState,
    Graph,
    Journal,
    StoredDocument,
)
from graph_model.translate import (
    TRANSLATOR_VERSION,
    PlanDocument,
    PlanHead,
    Subject,
    translate_execution,
    translate_plan,
)
from graph_model.withdrawal import withdraw

log = logging.getLogger(__name__)

#: Where the journal keeps the epoch that graph and catalogue were projected under.
EPOCH_KEY: Final = "projection_epoch"
_HEADS_KEPT: Final = 2_000
_PLANS_A_BATCH: Final = 20
_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 5.0
_WAITING_REASON: Final = "its execution plan has not been received yet"
_SHADOWED_REASON: Final = "another document of the same plan id has precedence"
_CONTRADICTS: Final = "another discriminator than its plan: "
_GATHERING_VERSION: Final = "2"
"""Counted up when :func:`gather` decides otherwise for equal documents."""


# --- documents -> subjects ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gathered:
    """The documents of one plan id, sorted out.

    ``chosen`` maps a scope to its plan document and the events that belong to it; ``shadowed``
    are plan documents that another one of their scope outranks; ``waiting`` are events without
    a plan to go with; ``contradicting`` are events whose discriminator is not that of the plan
    they would go with, each with the reason to show.
    """

    chosen: dict[str, tuple[StoredDocument, tuple[StoredDocument, ...]]]
    shadowed: tuple[StoredDocument, ...]
    waiting: tuple[StoredDocument, ...]
    contradicting: tuple[tuple[StoredDocument, str], ...] = ()


def gather(documents: Sequence[StoredDocument]) -> Gathered:
    """Which plan speaks for each scope, and which events go with it.

    Of several plan documents of one scope the highest API version wins, then the least hash. An
    event goes with the plan of its own scope; an event without a scope, when no plan is without
    one, with the only scope that has a plan.

    Spline answers "UUID collision" when a plan id comes again with another ``discriminator``, so
    there the order of arrival decides. Here a plan document with another discriminator is a
    second body of its id, ranked like any other, and an event is held against the plan that
    speaks in the end. One that carries no discriminator contradicts nothing.
    """
    plans: dict[str, list[StoredDocument]] = {}
    events: list[StoredDocument] = []
    for document in documents:
        if document.kind == DocumentKind.PLAN:
            plans.setdefault(document.scope, []).append(document)
        else:
            events.append(document)
    ranked = {scope: sorted(found, key=_rank) for scope, found in plans.items()}
    going: dict[str, list[StoredDocument]] = {scope: [] for scope in ranked}
    waiting: list[StoredDocument] = []
    contradicting: list[tuple[StoredDocument, str]] = []
    for event in sorted(events, key=lambda document: document.content_hash):
        scope = _scope_for(event.scope, ranked.keys())
        if scope is None:
            waiting.append(event)
        elif reason := _contradiction(event, ranked[scope][0]):
            contradicting.append((event, reason))
        else:
            going[scope].append(event)
    return Gathered(
        {scope: (found[0], tuple(going[scope])) for scope, found in sorted(ranked.items())},
        tuple(other for found in ranked.values() for other in found[1:]),
        tuple(waiting),
        tuple(contradicting),
    )


def _contradiction(event: StoredDocument, plan: StoredDocument) -> str:
    """Why this event is no run of this plan; empty when nothing speaks against it."""
    said = _discriminator(event)
    if said is None:
        return ""  # before the plan is looked at: a plan is large
    known = _discriminator(plan)
    if known is None or said == known:
        return ""
    return (
        f"{_CONTRADICTS}{said[:100]!r} is not {known[:100]!r}. Two different plans share this "
        "plan id: give one of them an id of its own, or send the event with its plan's "
        "discriminator"
    )


def _discriminator(document: StoredDocument) -> str | None:
    """Agents send none, so nearly every document is answered without parsing it."""
    if b'"discriminator"' not in document.body:
        return None
    value = json.loads(document.body).get("discriminator")
    return None if value is None else str(value)


def _rank(document: StoredDocument) -> tuple[tuple[int, ...], str]:
    version = tuple(-int(part) for part in document.api_version.split("."))
    return (*version, 0)[:2], document.content_hash


def _scope_for(scope: str, known: Collection[str]) -> str | None:
    if scope in known:
        return scope
    return next(iter(known)) if scope == "" and len(known) == 1 else None


def read_plan_document(document: StoredDocument) -> PlanDocument:
    """The normal form of a stored plan; raises InvalidDocument."""
    body = json.loads(document.body)
    if document.api_version == "1":
        body = lifting.lift(body)
    return PlanDocument(
        read_plan(body, document.plan_id),
        document.scope,
        document.content_hash,
        document.api_version,
    )


def read_event_document(document: StoredDocument) -> ExecutionEvent:
    """The normal form of a stored event; raises InvalidDocument."""
    body = json.loads(document.body)
    return read_event(lifting.lift_event(body) if document.api_version == "1" else body)


def read_subjects(gathered: Gathered) -> tuple[Subject, ...]:
    """The subjects as values."""
    return tuple(
        Subject(read_plan_document(plan), tuple(read_event_document(event) for event in events))
        for plan, events in gathered.chosen.values()
    )


# --- the projector -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Projection:
    """What one plan id asks of the stores, and the states its documents get when it is done."""

    facts: Facts
    former: Facts | None  # what stood before, when some of it may have to go
    states: tuple[tuple[int, DocumentState, str | None], ...]


def projection_epoch(rules: Rules) -> str:
    """Changes when equal documents must be projected anew: translator version and rules."""
    parser = version("sqlglot")  # another parser may find the tables of another JDBC query
    return identity.digest(
        "projection", TRANSLATOR_VERSION, _GATHERING_VERSION, naming.rules_digest(rules), parser
    )


class Projector:
    """Keeps graph and catalogue up with the journal, on a thread of its own.

    ``revive`` is called when the graph does not answer; it may restart an embedded engine and
    returns True when the graph is empty now and must be refilled.
    """

    def __init__(
        self,
        journal: Journal,
        graph: Graph,
        catalogue: Catalogue,
        *,
        rules: Rules = naming.DEFAULT_RULES,
        revive: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self._journal = journal
        self._graph = graph
        self._catalogue = catalogue
        self._rules = rules
        self._revive = revive
        self._changed = threading.Condition()
        self._notified = False
        self._stopping = threading.Event()
        self._sleep = sleep or (lambda seconds: _pause(self._stopping, seconds))
        self._thread: threading.Thread | None = None
        self._state = "rebuilding"
        self._heads: OrderedDict[str, PlanHead] = OrderedDict()
        self._round = 0
        self._witness: str | None = None

    # what others ask

    @property
    def state(self) -> str:
        """``ready``, ``rebuilding`` (behind after a start) or ``unavailable`` (no graph)."""
        return self._state

    def lag(self) -> int:
        """How many documents are accepted and not projected yet."""
        return self._journal.summary().pending

    def notify(self, subject: str = "") -> None:  # noqa: ARG002 - which one is read from the journal
        """A subject has new documents."""
        with self._changed:
            self._notified = True
            self._changed.notify_all()

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait until none of these documents is pending; False when the time ran out first."""
        end = time.monotonic() + timeout
        while True:
            with self._changed:
                seen = self._round
            states = self._journal.states(positions)
            if all(state != DocumentState.PENDING for state in states.values()):
                return True
            if not self._await_round(seen, end - time.monotonic()):
                return False

    def _await_round(self, seen: int, timeout: float) -> bool:
        with self._changed:
            return timeout > 0 and self._changed.wait_for(lambda: self._round != seen, timeout)

    def replay(self, states: Collection[DocumentState]) -> int:
        """Set documents in these states back to pending; how many."""
        reopened = self._journal.reopen(states=states)
        self._heads.clear()
        self.notify()
        return reopened

    # the thread

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="projector", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        self._stopping.set()
        self.notify()
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        prepared = False
        while not self._stopping.is_set():
            try:
                if not prepared:
                    self.prepare()
                    prepared = True
                if self.project_pending() == 0:
                    prepared = self._graph_is_whole()
                    if prepared:
                        self._state = "ready"
                        self._await_notification()
                pause = _FIRST_PAUSE_SECONDS
            except Unavailable as error:
                self._state = "unavailable"
                log.warning("projection pauses %.1f s: %s", pause, error)
                self._sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                prepared = prepared and not self._try_to_revive()
            except Exception:
                log.exception("projection failed in an unforeseen way; it goes on")
                self._sleep(_LONGEST_PAUSE_SECONDS)

    def _graph_is_whole(self) -> bool:
        """Whether the graph still holds what was written last.

        An engine that was restarted behind our back is empty, and its connections mend
        themselves: only looking tells. An engine that died while idle raises GraphUnavailable.
        """
        if self._witness is None:
            self._graph.ping()
            return True
        return bool(self._graph.vertices((self._witness,)))

    def _try_to_revive(self) -> bool:
        try:
            return self._revive()
        except HeadwaterError as error:
            log.warning("the graph could not be brought back: %s", error)
            return False

    def _await_notification(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._notified or self._stopping.is_set(), timeout=5.0)
            self._notified = False

    def prepare(self) -> None:
        """Bring an empty or outdated graph to a state from which pending documents complete it.

        An empty graph (a restarted embedded engine) gets every document again; another epoch
        (new translator or rules) starts graph and catalogue from nothing.
        """
        self._witness = None  # one that vanished from a graph with content is not asked again
        epoch = projection_epoch(self._rules)
        known = self._journal.get_meta(EPOCH_KEY)
        if known != epoch:
            self._graph.clear()
            self._catalogue.clear()
        elif self._graph.count()[0] > 0:
            return
        self._state = "rebuilding"
        self._journal.reopen(states=(DocumentState.PROJECTED, DocumentState.WAITING))
        self._journal.set_meta(EPOCH_KEY, epoch)

    def project_pending(self) -> int:
        """One round: project up to a batch of plan ids; how many were taken up."""
        plan_ids = self._journal.pending(_PLANS_A_BATCH)
        if not plan_ids:
            return 0
        if len(plan_ids) == 1 or not self._project_together(plan_ids):
            for plan_id in plan_ids:
                self._project_alone(plan_id)
        self._tell_round()
        return len(plan_ids)

    def _project_together(self, plan_ids: Sequence[str]) -> bool:
        """A batch in one write; False when something in it cannot be projected."""
        try:
            self._project(plan_ids)
        except (Unavailable, MemoryError):
            raise
        except Exception:
            log.exception("a batch of %d plans cannot be projected; each on its own", len(plan_ids))
            return False
        return True

    def _project_alone(self, plan_id: str) -> None:
        """One plan id; what fails in an unforeseen way is set aside and blocks nobody."""
        try:
            self._project([plan_id])
        except (Unavailable, MemoryError):
            raise
        except Exception as error:
            log.exception("plan %s cannot be projected", plan_id)
            self._set_aside(self._documents(plan_id), f"{type(error).__name__}: {error}")

    def _tell_round(self) -> None:
        with self._changed:
            self._round += 1
            self._changed.notify_all()

    def _project(self, plan_ids: Sequence[str]) -> None:
        projections = [self._prepare_projection(plan_id) for plan_id in plan_ids]
        facts = merge(projection.facts for projection in projections)
        self._graph.write(facts)
        if facts.vertices:
            self._witness = facts.vertices[0].id
        self._catalogue.record(facts.rows)
        for projection in projections:
            if projection.former is not None:
                withdraw(projection.former, projection.facts, self._graph, self._catalogue)
        for projection in projections:
            self._settle(projection)

    def _settle(self, projection: Projection) -> None:
        by_state: dict[tuple[DocumentState, str | None], list[int]] = {}
        for position, state, reason in projection.states:
            by_state.setdefault((state, reason), []).append(position)
        for (state, reason), positions in by_state.items():
            self._journal.settle(positions, state, reason)

    def _documents(self, plan_id: str) -> tuple[StoredDocument, ...]:
        """Everything of a plan id when a plan is new; else its plans and its new events."""
        documents = self._journal.plan(plan_id, all_events=False)
        new_plan = any(
            d.kind == DocumentKind.PLAN and d.state == DocumentState.PENDING for d in documents
        )
        return self._journal.plan(plan_id) if new_plan else documents

    def _prepare_projection(self, plan_id: str) -> Projection:
        documents = self._documents(plan_id)
        try:
            return self._read(documents)
        except Unavailable:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:500]
            log.warning("plan %s cannot be translated: %s", plan_id, reason)
            return Projection(
                Facts(),
                None,
                tuple(
                    (document.position, DocumentState.FAILED, reason)
                    for document in documents
                    if document.state == DocumentState.PENDING
                ),
            )

    def _set_aside(self, documents: Sequence[StoredDocument], reason: str) -> None:
        pending = [d.position for d in documents if d.state == DocumentState.PENDING]
        self._journal.settle(pending, DocumentState.FAILED, reason[:500])

    def _read(self, documents: Sequence[StoredDocument]) -> Projection:
        live = [d for d in documents if d.state != DocumentState.FAILED or _may_recover(d)]
        gathered = gather(live)
        new = {d.position for d in live if d.state == DocumentState.PENDING}
        plans_changed = any(d.position in new and d.kind == DocumentKind.PLAN for d in live)
        parts: list[Facts] = []
        for plan, events in gathered.chosen.values():
            head = None if plans_changed else self._known_head(plan)
            if head is None:
                facts, head = translate_plan(read_plan_document(plan), self._rules)
                parts.append(facts)
                self._keep_head(plan, head)
            for event in events:
                if plans_changed or event.position in new:
                    parts.append(translate_execution(head, read_event_document(event)))
        former = self._former(live, new) if plans_changed else None
        return Projection(merge(parts), former, _states(gathered))

    def _former(self, documents: Sequence[StoredDocument], new: set[int]) -> Facts | None:
        """What the documents projected before stood for; None when there were no plans."""
        before = gather([d for d in documents if d.position not in new])
        if not before.chosen:
            return None
        return merge(
            part for subject in read_subjects(before) for part in _parts_of(subject, self._rules)
        )

    def _known_head(self, plan: StoredDocument) -> PlanHead | None:
        key = f"{plan.scope}\n{plan.content_hash}"
        head = self._heads.get(key)
        if head is not None:
            self._heads.move_to_end(key)
        return head

    def _keep_head(self, plan: StoredDocument, head: PlanHead) -> None:
        self._heads[f"{plan.scope}\n{plan.content_hash}"] = head
        while len(self._heads) > _HEADS_KEPT:
            self._heads.popitem(last=False)


def _parts_of(subject: Subject, rules: Rules) -> list[Facts]:
    facts, head = translate_plan(subject.document, rules)
    return [facts, *(translate_execution(head, event) for event in subject.events)]


def _may_recover(document: StoredDocument) -> bool:
    """Whether a failed event was only held against a plan that may not have the last word."""
    return (document.reason or "").startswith(_CONTRADICTS)


def _states(gathered: Gathered) -> tuple[tuple[int, DocumentState, str | None], ...]:
    states: list[tuple[int, DocumentState, str | None]] = []
    for plan, events in gathered.chosen.values():
        states += [(d.position, DocumentState.PROJECTED, None) for d in (plan, *events)]
    for plan in gathered.shadowed:
        states.append((plan.position, DocumentState.PROJECTED, _SHADOWED_REASON))
    for event in gathered.waiting:
        states.append((event.position, DocumentState.WAITING, _waiting_reason(gathered)))
    for event, reason in gathered.contradicting:
        states.append((event.position, DocumentState.FAILED, reason))
    return tuple(states)


def _waiting_reason(gathered: Gathered) -> str:
    """Why an event goes with no plan: there is none, or none of its scope."""
    if not gathered.chosen:
        return _WAITING_REASON
    scopes = ", ".join(repr(scope) for scope in list(gathered.chosen)[:10])
    return f"its plan is known in the scopes {scopes} only: the label captureScope would say which"


def _pause(stopping: threading.Event, seconds: float) -> None:
    stopping.wait(seconds)
