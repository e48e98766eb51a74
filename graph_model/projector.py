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
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Final

from graph_model import identity, naming
from graph_model.commands import (
    KEY_PREFIX,
    NO_ORDERS,
    Command,
    CommandKind,
    Forget,
    Orders,
    Statement,
    collect_orders,
    read_command,
    translate_command,
)
from graph_model.errors import HeadwaterError, Unavailable
from graph_model.facts import Facts, merge
from graph_model.naming import Rules
from graph_model.projection.attempts import (
    ATTEMPT_KEY,
    Attempt,
    Outline,
    attempt_of,
    read_attempt,
    write_attempt,
)
from graph_model.projection.known import Known
from graph_model.projection.outcome import damage_of, project_apart, reason_of
from graph_model.projection.plans import carries_discriminator
from graph_model.projection.projections import Projection, settlements
from graph_model.projection.revision import EVENTS_A_STEP, revise
from graph_model.projection.ruling import standing_rules, wanted_rules
from graph_model.projection.translation import Translation, projection_epoch
from graph_model.projection.waiting import Waiting
from graph_model.rebuilding import Phase, Progress, Rebuild
from graph_model.retention import CATALOGUE_KEY, FILLING, WHOLE, affected_plan_ids
from graph_model.store import (
    ROUND_KEY,
    Body,
    Catalogue,
    Checkpoints,
    DocumentKind,
    DocumentState,
    Generations,
    Graph,
    Journal,
    NoCheckpoints,
    Origin,
    StoredDocument,
)
from graph_model.withdrawal import withdraw

log = logging.getLogger(__name__)

#: Where the journal keeps the epoch that graph and catalogue were projected under.
EPOCH_KEY: Final = "projection_epoch"
#: The epoch of a journal whose graph and catalogue are to be emptied before anything else.
FROM_NOTHING: Final = "from nothing"
#: Where it keeps that a rebuild is wanted, or which process is at it and when it last said so.
REBUILD_KEY: Final = "rebuild"
#: Which projector wrote last; only that one may trust its memory of what is written.
WRITER_KEY: Final = "writer"
#: Changes with every command, so that every process learns of it.
ORDERS_KEY: Final = "orders"
_NONE: Final = "none"
_WANTED: Final = "wanted"
_SILENT_SECONDS: Final = 60
_PLANS_A_BATCH: Final = 100
_WITNESSES: Final = 20
_BYTES_A_BATCH: Final = 16 << 20
_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 5.0
_TOLD_SECONDS: Final = 0.1
_CALM_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 1.0
_LINGER_SECONDS: Final = 0.2
"""Between two rounds, while nobody waits for the graph: a round costs some 4 ms whatever it takes
up. Whoever begins to wait ends the pause, and there is none while more waits than a round takes."""


# --- the projector -------------------------------------------------------------------------------


class Projector:
    """Keeps graph and catalogue up with the journal, on a thread of its own.

    ``revive`` is called when the graph does not answer; it may restart an embedded engine and
    returns True when the graph is empty now and must be refilled. ``observe`` is told after every
    round how many plan ids it took up and how many seconds it took. ``checkpoints`` are those of a
    graph that forgets: one is taken between two rounds, when the graph is exactly what the journal
    says is projected.
    """

    def __init__(
        self,
        journal: Journal,
        graph: Graph,
        generations: Generations,
        *,
        rules: Rules = naming.DEFAULT_RULES,
        revive: Callable[[], bool] = lambda: False,
        checkpoints: Checkpoints | None = None,
        sleep: Callable[[float], None] | None = None,
        observe: Callable[[int, float], None] | None = None,
    ) -> None:
        self._journal = journal
        self._graph = graph
        self._generations = generations
        self._defaults = rules
        self._want(wanted_rules(journal, rules))
        self._stand_by(self._wanted)
        self._revive = revive
        self._checkpoints = checkpoints or NoCheckpoints()
        self._projected_at = float("-inf")
        self._prepared = False
        self._filling = False  # a prepare() that was interrupted left the graph in between
        self._observe = observe
        self._changed = threading.Condition()
        self._notified = False
        self._projecting = False
        self._waiting = Waiting()
        self._trouble: str | None = None
        self._last = 0
        self._finished: Attempt | None = None
        self._interrupted: Attempt | None = None
        self._stopping = threading.Event()
        self._sleep = sleep or (lambda seconds: _pause(self._stopping, seconds))
        self._thread: threading.Thread | None = None
        self._state = "rebuilding"
        self._caught_up = False
        self._goal: int | None = None  # ready is who has projected all up to here
        self._known = Known()
        self._known_catalogue: Catalogue | None = None
        self._witness: str | None = None
        self._look_after = 0.0
        self._name = uuid.uuid4().hex
        self._rebuild: Rebuild | None = None
        self._progress: Progress | None = None
        self._doubt: str | None = None
        self._round = 0  # the last that the journal has concluded
        self._orders: Orders | None = None
        self._orders_epoch: str | None = None
        self._any_forgotten = False

    # which rules are in force (``projection.ruling``)

    @property
    def rules(self) -> Rules:
        """The naming rules that what stands was projected under; any thread may ask."""
        return self._rules

    def _epoch_of(self, rules: Rules) -> str:
        return identity.digest(projection_epoch(rules), self._generations.version)

    def _want(self, rules: Rules) -> None:
        self._wanted, self._epoch = rules, self._epoch_of(rules)

    def _stand_by(self, rules: Rules) -> None:
        self._rules, self._standing_epoch = rules, self._epoch_of(rules)
        self._translation = Translation(rules)

    def _follow_rules(self) -> None:
        """Take up the newest rules; what stands keeps its own until a rebuild has replaced it."""
        known = self._journal.get_meta(EPOCH_KEY)
        wanted = wanted_rules(self._journal, self._defaults)
        if wanted != self._wanted:
            self._want(wanted)
            if known != self._epoch or self._rebuild is not None:
                self._drop_rebuild()
                self.request_rebuild()
        if known == self._epoch and self._rules != wanted:
            self._stand_by(wanted)  # another process has replaced it, or they are what they were

    # what others ask

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue in force; one answer asks once and keeps it."""
        return self._generations.current

    @property
    def progress(self) -> Progress | None:
        """How far the rebuild is that runs here, or ran last; None before the first."""
        return self._progress if self._rebuild is None else self._rebuild.progress

    def request_rebuild(self) -> Progress:
        """Project everything anew, beside what stands; one that is under way goes on.

        Remembered until it is done. The progress is that of a rebuild that has not begun.
        """
        if self._rebuild is not None:
            return self._rebuild.progress
        self._progress = Progress(Phase.WANTED, 0, self._journal.count_plan_ids(), 0, None, None)
        self._journal.set_meta(REBUILD_KEY, _WANTED)
        self.notify()
        return self._progress

    @property
    def state(self) -> str:
        """``ready``, ``rebuilding`` (behind after a start) or ``unavailable`` (no graph)."""
        if self._state == "ready" and self._generations.damage is not None:
            return "rebuilding"  # as the next round will find
        return self._state

    @property
    def trouble(self) -> str | None:
        """Why nothing is projected while the state is ``unavailable``."""
        return self._trouble if self._state == "unavailable" else None

    @property
    def doubt(self) -> str | None:
        """Why graph or catalogue could not be trusted and everything is projected anew; None when
        that is done.
        """
        return self._doubt or self._generations.damage

    def lag(self) -> int:
        """How many documents are accepted and not projected yet."""
        return self._journal.summary().pending

    @property
    def idle(self) -> bool:
        """Whether nothing is being projected, or is about to be: a new document is at once."""
        return not (self._notified or self._projecting)

    def notify(self, subject: str = "") -> None:  # noqa: ARG002 - which one is read from the journal
        """A subject has new documents."""
        with self._changed:
            self._notified = True
            self._changed.notify_all()

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait until none of these documents is pending; False when the time ran out first.

        Told from memory. What was concluded before this process began, or by another one, is
        found by a round that has nothing to project, which is asked for after a moment.
        """
        soon = min(timeout, _TOLD_SECONDS)
        if self._waiting.wait(positions, soon):
            return True
        self.notify()
        return self._waiting.wait(positions, timeout - soon)

    def replay(self, states: Collection[DocumentState]) -> int:
        """Set documents in these states back to pending; how many."""
        with self._checkpoints.voided():
            reopened = self._journal.reopen(states=states)
        self._waiting.forget()
        self._translation.forget()
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
            if self._thread.is_alive():
                return  # it may still write: no moment for a checkpoint
        if self._checkpoints.worth_taking:
            self._take_checkpoint()

    def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            try:
                if not self._prepared:
                    self.prepare()
                    self._prepared = True
                self._prepared = self._work()
                if self._is_moment_for_checkpoint():
                    self._take_checkpoint()
                pause = _FIRST_PAUSE_SECONDS
            except Unavailable as error:
                self._state, self._trouble = "unavailable", error.reason
                self._known.forget()
                self._look_after = 0.0
                log.warning("projection pauses %.1f s: %s", pause, error)
                self._sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                if self._try_to_revive():
                    self._prepared = False
            except Exception:
                log.exception("projection failed in an unforeseen way; it goes on")
                self._sleep(_LONGEST_PAUSE_SECONDS)

    def _work(self) -> bool:
        """A round of new documents, then a step of a rebuild; idle when there is neither.

        False when the graph turned out to be empty, or the catalogue to be damaged: looked at
        first, for what is known to be written is not written again.
        """
        if not self._graph_is_whole():
            return False
        if self._generations.damage is not None:
            return False
        if self._generations.refresh():  # to one that may not hold everything yet
            self._state, self._goal = "rebuilding", None
        if self._journal.get_meta(EPOCH_KEY) != self._standing_epoch:
            self._follow_rules()
        projected = self.project_pending()
        if projected:
            self._projected_at = time.monotonic()
        rebuilt = self.rebuild_step()
        if self._state != "ready" and self._has_caught_up() and self._answers_are_whole():
            if self._journal.get_meta(CATALOGUE_KEY) == FILLING:
                self._journal.set_meta(CATALOGUE_KEY, WHOLE)
            self._state, self._goal = "ready", None  # the rest of a rebuild is seen by nobody
            self._doubt = None
        if not projected and not rebuilt:
            self._await_notification()
        if self._caught_up and not rebuilt:
            self._waiting.pause(_LINGER_SECONDS)
        return True

    def _has_caught_up(self) -> bool:
        """Whether all is projected that was there when this began to ask.

        Under load there is always something newer, and more of it than one round takes up.
        """
        if self._goal is None:
            self._goal = self._journal.newest()
        return self._caught_up or self._journal.first_unprojected() > self._goal

    def _answers_are_whole(self) -> bool:
        """Whether the catalogue in force says all that was projected, while a rebuild goes on."""
        if self._rebuild is None or self._rebuild.switched:
            return True
        return self._has_answers()

    def _has_answers(self) -> bool:
        return self._generations.current.newest_event(None) is not None

    def _graph_is_whole(self) -> bool:
        """Whether the graph still holds what was written last.

        An engine that was restarted behind our back is empty, and its connections mend
        themselves: only looking tells, once in a while. An engine that died while idle raises
        GraphUnavailable.
        """
        if time.monotonic() < self._look_after:
            return True
        if self._witness is None:
            self._graph.ping()
        elif not self._graph.vertices((self._witness,)):
            return False
        self._look_after = time.monotonic() + _LOOK_SECONDS
        return True

    def _try_to_revive(self) -> bool:
        try:
            return self._revive()
        except HeadwaterError as error:
            log.warning("the graph could not be brought back: %s", error)
            return False

    def _is_moment_for_checkpoint(self) -> bool:
        """When nobody writes, for the engine is busy with it; sooner where it cannot wait."""
        calm = time.monotonic() - self._projected_at >= _CALM_SECONDS
        return self._checkpoints.overdue or (calm and self._checkpoints.due)

    def _take_checkpoint(self) -> None:
        """Between two rounds; not while a rebuild has left more in the graph than belongs there."""
        if self._prepared and self._rebuild is None:
            first = self._journal.first_unprojected
            self._checkpoints.take(self._standing_epoch, first, self._last)

    def _await_notification(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._notified or self._stopping.is_set(), timeout=5.0)
            self._notified = False

    def prepare(self) -> None:
        """Bring an empty or outdated graph to a state from which pending documents complete it.

        An empty graph (a restarted embedded engine) gets its checkpoint and the documents that
        follow it, or every document again. Another epoch (new translator, rules or tables) is
        projected anew beside what stands. Where the catalogue is none of this journal, or the graph
        none of this catalogue, every document is projected again as well, and what the graph has
        beyond them is swept away.
        """
        self._known.forget()
        self._witness = None
        self._drop_rebuild()
        with self._journal.projecting():
            self._generations.refresh()
            self._prepare()

    def _prepare(self) -> None:
        known = self._journal.get_meta(EPOCH_KEY)
        self._want(wanted_rules(self._journal, self._defaults))
        self._stand_by(standing_rules(self._journal, self._defaults, known, self._epoch_of))
        if known == FROM_NOTHING:
            self._graph.clear()
        is_filled = self._graph.count()[0] > 0 and not self._filling
        doubt = self._find_doubt(is_filled=is_filled)
        outdated = known != self._epoch
        if is_filled and doubt is None:
            if outdated:
                self.request_rebuild()
                if self._has_answers():
                    self._state = "ready"  # with the old answers, until the new ones are complete
            return
        if is_filled:
            self.request_rebuild()  # for its sweep
        self._fill(anew=outdated or doubt is not None)

    def _fill(self, *, anew: bool) -> None:
        """Set everything back to PENDING that the graph, or the catalogue, does not hold."""
        self._state, self._goal = "rebuilding", None
        self._filling = True
        self._stand_by(self._wanted)
        if anew:
            self._take_turn(None)  # what another process knows to be written is written no more
            with self._checkpoints.voided():
                self._journal.set_meta(CATALOGUE_KEY, FILLING)
                self._generations.current.clear()
        first = self._checkpoints.restore(self._epoch) or 1
        self._journal.reopen(states=(DocumentState.PROJECTED, DocumentState.WAITING), first=first)
        self._waiting.forget()
        if anew:  # only now: whoever dies before this leaves a catalogue that nobody trusts
            self._generations.adopt()
        self._journal.set_meta(EPOCH_KEY, self._epoch)
        self._filling = False

    def _find_doubt(self, *, is_filled: bool) -> str | None:
        """Why journal, catalogue and graph do not belong together; None where they do."""
        doubt = self._generations.doubt()
        if doubt is not None:
            self._state, self._goal = "rebuilding", None  # before anyone sees that it is empty
            self._generations.set_aside()
            doubt = f"the catalogue is made anew: {doubt}"
        elif is_filled:
            doubt = self._find_witness()
        self._doubt = doubt if self._journal.newest() else None
        if self._doubt is not None:
            log.warning("everything is projected anew: %s", self._doubt)
        return doubt

    def _find_witness(self) -> str | None:
        """Choose a job to look for in the graph from time to time. Why that cannot be, else None:
        a graph that has none of the catalogue's jobs was emptied and filled by somebody else.
        """
        named = [one.job.id for one in self._generations.current.list_jobs(limit=_WITNESSES).items]
        found = self._graph.vertices(named)
        if named and not found:
            return "the graph has none of the jobs that the catalogue names"
        self._witness = found[0].id if found else None
        return None

    def project_pending(self) -> int:
        """One round: project up to a batch of plan ids; how many were taken up.

        One projector at a time, whatever the processes; while another process rebuilds, it also
        projects what is new.
        """
        self._caught_up = True
        self._notified = False  # whoever notified has committed: this round finds it
        keys = self._journal.pending(_PLANS_A_BATCH)
        self._projecting = bool(keys)
        if not keys:
            self._look_around()
            return 0
        began = time.monotonic()
        with self._journal.projecting():
            noted = self._journal.get_every_meta()
            self._round = int(noted.get(ROUND_KEY) or 0)
            if self._rebuild is None and self._rebuilds_elsewhere(noted.get(REBUILD_KEY)):
                return 0
            if not self._take_turn(noted.get(WRITER_KEY)):
                keys = self._journal.pending(_PLANS_A_BATCH)  # another may have projected some
            self._load_orders(noted.get(ORDERS_KEY))
            taken = self._project_batch(keys, read_attempt(noted.get(ATTEMPT_KEY)))
            self._caught_up = taken == len(keys) < _PLANS_A_BATCH
        if self._observe is not None and taken:
            self._observe(taken, time.monotonic() - began)
        return taken

    def _look_around(self) -> None:
        """Another process may have projected what somebody waits for here."""
        if awaited := self._waiting.awaited():
            states = self._journal.states(awaited)
            pending = {at for at, state in states.items() if state == DocumentState.PENDING}
            self._waiting.conclude(awaited - pending)

    def _project_batch(self, keys: Sequence[str], noted: Attempt | None) -> int:
        """Commands first and each alone, then as many others as fit into memory; how many.

        Before all of it what broke off the last time (``noted``), here or in another process, but
        nothing of it that a command names by now: that may be what it broke off at.
        """
        commands = [key for key in keys if key.startswith(KEY_PREFIX)]
        if noted is not None and noted != self._finished:
            self._hear(commands)
        self._finish_attempt(noted)
        for key in commands:
            self._obey(key)
        others = keys[len(commands) :]  # looked at now: a command may have settled some
        return len(commands) + self._begin_attempt(others)

    def _finish_attempt(self, attempt: Attempt | None) -> None:
        self._interrupted = attempt if attempt != self._finished else None
        if attempt is None or self._interrupted is None:
            return
        outline = {
            key: attempt.among(found) for key, found in self._journal.outline(attempt.keys).items()
        }
        begun = [key for key in attempt.keys if any(map(_is_new, outline.get(key, ())))]
        self._carry_out(replace(attempt, keys=tuple(begun)), outline)
        self._finished = attempt

    def _begin_attempt(self, plan_ids: Sequence[str]) -> int:
        """Project what is new of as many of these as fit into memory together; how many."""
        outline = self._journal.outline(plan_ids) if plan_ids else {}
        attempt = attempt_of(self._within_bounds(plan_ids, outline), outline)
        changes = (d for key in attempt.keys for d in outline.get(key, ()) if _is_new(d))
        # a new event of a known plan only adds: repeating it takes nothing back
        only_adds = not any(map(self._translation.needs_all, changes))
        with nullcontext() if only_adds else self._noted(attempt):
            self._carry_out(attempt, outline)
        return len(attempt.keys)

    @contextmanager
    def _noted(self, attempt: Attempt) -> Iterator[None]:
        """Noted before it begins, finished only after all of it: also one that was made before."""
        self._journal.set_meta(ATTEMPT_KEY, write_attempt(attempt))
        self._finished = None
        yield
        self._finished = attempt

    def _carry_out(self, attempt: Attempt, outline: Outline) -> None:
        project_apart(
            attempt.keys,
            lambda some: self._project(some, outline, attempt),
            lambda key, reason: self._set_plan_aside(key, reason, attempt),
        )

    def _within_bounds(self, plan_ids: Sequence[str], outline: Outline) -> Sequence[str]:
        """As many of the first as fit into memory together; at least one."""
        total = 0
        for place, plan_id in enumerate(plan_ids):
            total += sum(one.size for one in outline.get(plan_id, ()) if _is_new(one))
            if total > _BYTES_A_BATCH and place:
                return plan_ids[:place]
        return plan_ids

    # what people ordered

    def _load_orders(self, epoch: str | None) -> None:
        """Read the commands in force, when another one has come since; drop what it touches."""
        if epoch == self._orders_epoch and self._orders is not None:
            return
        self._follow_rules()
        catalogue = self._generations.current
        kinds = (CommandKind.PRUNE, CommandKind.RETRACT)
        rows = [row for kind in kinds for row in catalogue.commands(kind.value)]
        self._orders = collect_orders(read_command(json.loads(row.body)) for row in rows)
        self._any_forgotten = bool(catalogue.commands(CommandKind.FORGET.value))
        self._translation.forget()
        self._orders_epoch = epoch

    def _orders_for(self, documents: Sequence[StoredDocument]) -> Orders:
        orders = self._orders or NO_ORDERS
        if not self._any_forgotten:
            return orders
        hashes = {document.content_hash for document in documents}
        return replace(orders, forgotten=self._generations.current.forgotten(hashes))

    def _hear(self, keys: Sequence[str]) -> None:
        """Put commands in force; what they cover goes when they are obeyed."""
        heard = False
        for document in (one for key in keys for one in self._journal.plan(key)):
            try:
                command = read_command(json.loads(document.body))
                rows = translate_command(command, document.content_hash).rows
            except (HeadwaterError, ValueError):
                continue  # it is set aside when it is its turn
            if not isinstance(command.order, Statement):
                self._generations.current.record(rows)
                heard = True
        if heard:
            epoch = uuid.uuid4().hex
            self._journal.set_meta(ORDERS_KEY, epoch)
            self._load_orders(epoch)

    def _obey(self, key: str) -> None:
        """Carry out a command: a crash on the way carries it out again from the start."""
        for document in self._journal.plan(key):
            if document.damage:
                self._settle([document.position], DocumentState.FAILED, damage_of(document))
                continue
            try:
                command = read_command(json.loads(document.body))
                facts = translate_command(command, document.content_hash)
            except (HeadwaterError, ValueError) as error:
                self._settle([document.position], DocumentState.FAILED, reason_of(error))
                continue
            if not isinstance(command.order, Statement):  # which changes nothing in the graph
                self._void_checkpoint()
            self._generations.current.record(facts.rows, self._origin(document.position))
            if self._rebuild is not None:
                self._rebuild.add(facts)
            epoch = uuid.uuid4().hex
            self._journal.set_meta(ORDERS_KEY, epoch)
            self._load_orders(epoch)
            named = command.order.documents if isinstance(command.order, Forget) else None
            for plan_id in self._touched_by(command):
                self._project_again(plan_id, named)
            self._settle([document.position], DocumentState.PROJECTED)

    def _touched_by(self, command: Command) -> list[str]:
        """Plan ids: also those that it had begun with when it broke off, which no row may name."""
        affected = affected_plan_ids(command, self._generations.current)
        return sorted(affected.union(self._interrupted.keys if self._interrupted else ()))

    def _project_again(self, plan_id: str, named: Collection[str] | None) -> None:
        """A command changed what the documents of a plan id stand for: what is new comes first."""
        while True:
            outline = self._journal.outline([plan_id]).get(plan_id, ())
            if not any(map(_is_new, outline)):
                break
            self._begin_attempt([plan_id])
        plans = [one for one in outline if one.kind == DocumentKind.PLAN]
        attempt = attempt_of([plan_id], {plan_id: plans})
        with self._noted(attempt):
            for revised in self._revisions(plan_id, plans, named):
                self._commit([revised])

    def _revisions(
        self, plan_id: str, plans: Sequence[StoredDocument], named: Collection[str] | None
    ) -> Iterable[Projection]:
        """What to commit: all at once where it is little, or where it cannot be taken apart."""
        events = self._journal.event_positions(plan_id)
        if plans and len(events) > EVENTS_A_STEP:
            read = self._journal.documents([one.position for one in plans])
            covered = events if named is None else self._journal.event_positions(plan_id, named)
            return revise(self._journal, read, events, covered, self._revised)
        documents = [one for one in self._journal.plan(plan_id) if not _is_new(one)]
        if not documents:
            return ()
        revised = self._revised(documents)
        return (replace(revised, dropped=(*revised.dropped, *revised.silenced())),)

    def _revised(self, documents: Sequence[StoredDocument]) -> Projection:
        """All documents of a plan id under the commands in force, and what they say without."""
        former = self._translation.project_all(documents).facts
        return replace(self._project_all(documents), former=former)

    def _project_all(self, documents: Sequence[StoredDocument]) -> Projection:
        return self._translation.project_all(documents, self._orders_for(documents))

    # projecting everything anew

    def rebuild_step(self) -> bool:
        """One step of a rebuild that is wanted or under way; False when there is none."""
        if self._rebuild is None and self._journal.get_meta(REBUILD_KEY) in {None, _NONE}:
            return False
        with self._journal.projecting():
            if self._rebuild is None:
                if self._rebuilds_elsewhere(self._journal.get_meta(REBUILD_KEY)):
                    return False
                log.info("projecting everything anew, beside what stands")
                self._void_checkpoint()
                self._rebuild = Rebuild(
                    self._journal,
                    self._graph,
                    self._generations,
                    self._project_anew(Translation(self._wanted)),
                    compare=self._journal.get_meta(EPOCH_KEY) == self._epoch,
                )
            self._take_turn(self._journal.get_meta(WRITER_KEY))
            self._known.forget()
            self._journal.set_meta(REBUILD_KEY, f"{self._name} {int(time.time())}")
            self._load_orders(self._journal.get_meta(ORDERS_KEY))
            if self._rebuild is None:  # other rules have come: the next step begins with them
                return True
            going_on = self._rebuild.step()
            if self._rebuild.switched and self._rules != self._wanted:
                self._journal.set_meta(EPOCH_KEY, self._epoch)
                self._stand_by(self._wanted)
            if not going_on:
                self._end_rebuild()
        return True

    def _project_anew(
        self, translation: Translation
    ) -> Callable[[Sequence[StoredDocument]], Projection]:
        """As ``_project_all``, under the rules that are wanted."""
        return lambda documents: translation.project_all(documents, self._orders_for(documents))

    def _end_rebuild(self) -> None:
        self._journal.set_meta(EPOCH_KEY, self._epoch)
        self._journal.set_meta(REBUILD_KEY, _NONE)
        self._drop_rebuild()
        log.info("everything is projected anew")

    def _drop_rebuild(self) -> None:
        if self._rebuild is not None:
            self._progress = self._rebuild.progress
            self._rebuild.close()
            self._rebuild = None

    def _rebuilds_elsewhere(self, noted: str | None) -> bool:
        """Whether another process is at it: it says so with every step it takes."""
        owner, _, seen = (noted or _NONE).partition(" ")
        if owner in {_NONE, _WANTED, self._name}:
            return False
        return time.time() - int(seen or 0) < _SILENT_SECONDS

    def _project(self, plan_ids: Sequence[str], outline: Outline, attempt: Attempt) -> None:
        if self._rebuild is not None and self._rules != self._wanted:
            self._rebuild.revisit(plan_ids)
        asked = {plan_id: outline.get(plan_id, ()) for plan_id in plan_ids}
        gathered = [attempt.among(one) for one in self._documents(asked)]
        orders = self._orders_for([document for one in gathered for document in one])
        projections = [self._translation.project(one, orders) for one in gathered]
        for place, plan_id in enumerate(plan_ids):
            # what broke off may have written of it what a command has named since
            broken_off = self._interrupted is not None and plan_id in self._interrupted.keys
            if projections[place].unsettled or (broken_off and projections[place].dropped):
                everything = attempt.among(self._journal.plan(plan_id))
                projections[place] = self._revised(everything)
        self._commit(projections)

    def _commit(self, projections: Sequence[Projection]) -> None:
        """Graph, catalogue, withdrawals, states; then bodies go that nothing shows any more."""
        parts = [part for one in projections for part in one.parts]
        dropped = [position for one in projections for position in one.dropped]
        concluded = [position for one in projections for position, _, _ in one.states]
        origin = self._origin(*set(concluded).difference(dropped))
        try:
            self._write(parts, origin)
            former = [one.former for one in projections if one.former is not None]
            if former:  # together: what another one of them says now stays
                self._checkpoints.void_overtaken(at for one in projections for at in one.earlier)
                self._withdraw(merge(former), parts)
        except BaseException:
            self._known.forget()
            raise
        if dropped:
            self._void_checkpoint()  # what goes from the journal must not come back from there
        self._conclude(settlements(projections), dropped, origin)
        self._checkpoints.projected(len(concluded))
        self._projecting = False  # before the clients that wait send their next document
        self._waiting.conclude(concluded)
        self._last = max(self._last, *concluded, 0)

    def _origin(self, *positions: int) -> Origin | None:
        """What the catalogue holds after this round; None where it never held all of it."""
        if not self._generations.trusted:
            return None
        return Origin(self._journal.id, self._round + 1, max(positions, default=0))

    def _conclude(
        self,
        settled: Collection[tuple[Collection[int], DocumentState, str | None]],
        dropped: Collection[int],
        origin: Origin | None,
    ) -> None:
        """The end of a round: the journal notes it with the states of its documents."""
        if origin is None:
            self._journal.conclude(settled, dropped)
        else:
            self._journal.conclude(settled, dropped, {ROUND_KEY: str(origin.round)})
            self._round = origin.round

    def _write(self, parts: Sequence[Facts], origin: Origin | None) -> None:
        """What is not known to be there already, graph before catalogue."""
        catalogue = self._generations.current
        if catalogue is not self._known_catalogue or self._rebuild is not None:
            self._known.forget()
            self._known_catalogue = catalogue
        new = merge(map(self._known.new, parts))
        self._graph.write(new)
        self._checkpoints.wrote(len(new.vertices) + len(new.edges))
        if self._witness is None:
            self._witness = next((one.id for part in parts for one in part.vertices), None)
        catalogue.record(new.rows, origin)
        self._known.learn(new)
        if self._rebuild is not None and self._rules == self._wanted:
            self._rebuild.add(merge(parts))

    def _withdraw(self, former: Facts, current: Sequence[Facts]) -> None:
        gone = withdraw(former, current, self._graph, self._generations.current)
        self._known.unlearn(gone)
        if any(vertex.id == self._witness for vertex in gone.vertices):
            self._witness = None
        if self._rebuild is not None:
            self._rebuild.note_withdrawal(gone)

    def _take_turn(self, writer: str | None) -> bool:
        """Say in the journal who writes; after another process nothing is known for certain.

        True where this one wrote last.
        """
        if writer == self._name:
            return True
        self._known.forget()
        self._journal.set_meta(WRITER_KEY, self._name)
        return False

    def _void_checkpoint(self) -> None:
        with self._checkpoints.voided():
            pass

    def _documents(self, outline: Outline) -> list[Sequence[StoredDocument]]:
        """Per plan id everything when a plan is new; else its plans and its new events.

        A plan that is known needs no body: what is left to read of a run is its event.
        """
        needed = [one.position for found in outline.values() for one in self._to_read(found)]
        bodies = self._journal.bodies(needed)
        found: dict[str, Sequence[StoredDocument]] = {
            plan_id: [_with_body(one, bodies) for one in listed]
            for plan_id, listed in outline.items()
        }
        as_wholes = [key for key in found if not self._suffice(found[key])]
        read = self._journal.plans(as_wholes)
        found |= {key: read.get(key, ()) for key in as_wholes}
        return list(found.values())

    def _to_read(self, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
        """Those whose bodies a round needs; none of a plan id that is read as a whole."""
        if any(_is_new(d) and self._translation.needs_all(d) for d in documents):
            return []
        return [d for d in documents if _is_new(d) or not self._translation.knows(d)]

    def _suffice(self, documents: Sequence[StoredDocument]) -> bool:
        new = [d for d in documents if _is_new(d)]
        return not any(self._translation.needs_all(d) or carries_discriminator(d) for d in new)

    def _set_plan_aside(self, plan_id: str, reason: str, attempt: Attempt) -> None:
        tried = attempt.among(self._journal.plan(plan_id))
        pending = [one.position for one in tried if _is_new(one)]
        self._settle(pending, DocumentState.FAILED, reason)

    def _settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        self._journal.settle(positions, state, reason)
        self._waiting.conclude(positions)


def _is_new(document: StoredDocument) -> bool:
    return document.state == DocumentState.PENDING


def _with_body(document: StoredDocument, bodies: Mapping[int, Body]) -> StoredDocument:
    body = bodies.get(document.position)
    if body is None:
        return document
    return document._replace(body=body.content, damage=body.damage or document.damage)


def _pause(stopping: threading.Event, seconds: float) -> None:
    stopping.wait(seconds)
