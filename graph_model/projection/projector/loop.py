"""The projector's thread: rounds and steps of a rebuild, one after the other."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from graph_model import naming
from graph_model.errors import HeadwaterError, ProjectedElsewhere, ProjectionStopped, Unavailable
from graph_model.naming import Rules
from graph_model.producers.commands import COMMAND_KIND, KEY_PREFIX
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.projection.attempts import ATTEMPT_KEY, Attempt, read_attempt
from graph_model.projection.fullness import FULL, Fullness
from graph_model.projection.graph_runs import GraphRuns
from graph_model.projection.projector.commands import CommandRunner
from graph_model.projection.projector.commits import WRITER_KEY, Commits
from graph_model.projection.projector.large_subjects import LargeSubjects
from graph_model.projection.projector.readiness import GraphProbe, Readiness, Waiters
from graph_model.projection.projector.rebuild_control import (
    REBUILD_KEY,
    Preparation,
    RebuildControl,
)
from graph_model.projection.projector.rules import (
    COMMANDS_KEY,
    EPOCH_KEY,
    CommandsInForce,
    ProjectionStores,
    RulesInForce,
)
from graph_model.projection.projector.subject_projector import SubjectProjector
from graph_model.projection.rebuilding import Progress
from graph_model.projection.run_window import DEFAULT, RUNS_KEY, RunWindow
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.catalogue.rows import CATALOGUE_KEY, ROUND_KEY, WHOLE, is_catalogue_whole
from graph_model.stores.documents import DocumentState
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal

# One round: interrupted attempts, then commands, then the new documents of a batch of subjects.

_PLANS_A_BATCH: Final = 100
_MANY_PLANS: Final = 5
"""From so many subjects a round is of many: documents come in a stream, not one by one."""
_KEPT_SECONDS: Final = 5.0
"""A projector keeps the lease this long after a round of many subjects, because its memory of known
elements is valid until another process writes. While documents come one by one, it gives up the
lease after each round, so that no document waits for the pause of a projector in another
process."""
_LONGEST_WAIT_SECONDS: Final = 5.0


class Activity:
    """Whether there is something to do, and whether it is being done. Any thread may ask."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._notified = False
        self._projecting = False

    @property
    def idle(self) -> bool:
        """Whether nothing is projected now or soon."""
        return not (self._notified or self._projecting)

    def notify(self) -> None:
        """Note that there may be something to do, and wake the projector."""
        with self._changed:
            self._notified = True
            self._changed.notify_all()

    def wait(self, until: Callable[[], bool]) -> None:
        """Wait until a thread notifies or ``until`` returns True, but at most some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._notified or until(), _LONGEST_WAIT_SECONDS)
            self._notified = False

    def look(self) -> None:
        """Begin a round. A thread that has notified committed before, so the round finds its
        documents.
        """
        self._notified = False

    def begin(self, *, projecting: bool) -> None:
        """Note whether the round has found documents to project."""
        self._projecting = projecting

    def end(self) -> None:
        """Note that all documents that the round found are projected."""
        self._projecting = False


class Rounds:
    """``caught_up``: whether the last round completed everything that was there when it began;
    ``elsewhere``: whether it left everything to another process, which has the lease;
    ``took_many``: whether it took up many subjects.

    ``observe`` is called after every round with the number of its subjects and its seconds.
    """

    def __init__(
        self,
        stores: ProjectionStores,
        commands_in_force: CommandsInForce,
        commits: Commits,
        rebuild_control: RebuildControl,
        waiting: Waiters,
        activity: Activity,
        subject_projector: SubjectProjector,
        commands: CommandRunner,
        observe: Callable[[int, float], None] | None,
    ) -> None:
        self._journal = stores.journal
        self._lease = stores.journal.lease()
        self._commands_in_force = commands_in_force
        self._commits = commits
        self._rebuild_control = rebuild_control
        self._waiting = waiting
        self._activity = activity
        self._subject_projector = subject_projector
        self._commands = commands
        self._observe = observe
        self.caught_up = False
        self.elsewhere = False
        self.took_many = False
        self._kept_until = float("-inf")

    def project_pending(self) -> int:
        """Project up to a batch of subjects. Returns how many.

        Of all processes, only the one that has the lease projects.
        """
        self._activity.look()
        keys = self._pending()
        self._activity.begin(projecting=bool(keys))
        self.elsewhere = bool(keys) and not self._lease.take()
        self.caught_up = not self.elsewhere
        taken = self._project(keys) if keys and not self.elsewhere else 0
        if not taken:
            self.wake_requests(self._waiting.awaited())
        self.took_many = taken >= _MANY_PLANS
        if self.took_many and self._lease.is_shared:
            self._kept_until = time.monotonic() + _KEPT_SECONDS
        if not self.keeps_lease:
            self.give_way()
        return taken

    @property
    def keeps_lease(self) -> bool:
        """Whether this process soon has to look for documents that other processes took."""
        return time.monotonic() < self._kept_until

    def give_way(self) -> None:
        """Give up the lease, so that another process may project the next documents."""
        self._kept_until = float("-inf")
        self._lease.give_up()

    def _project(self, keys: Sequence[str]) -> int:
        """A round of the process that has the lease. Returns how many subjects were taken up."""
        began = time.monotonic()
        with self._journal.projecting():
            noted = self._journal.get_every_meta()
            self._commits.round = int(noted.get(ROUND_KEY) or 0)
            if self._rebuild_control.is_elsewhere(noted.get(REBUILD_KEY)):
                return self._leave()
            if not self._commits.take_turn(noted.get(WRITER_KEY)):
                keys = self._pending()  # another process may have projected some
            self._rebuild_control.follow_runs(noted.get(RUNS_KEY))
            self._rebuild_control.load_commands(noted.get(COMMANDS_KEY))
            taken = self._project_batch(keys, read_attempt(noted.get(ATTEMPT_KEY)))
            is_rest = self._subject_projector.left_some or taken < len(keys)
            self.caught_up = not is_rest and taken < _PLANS_A_BATCH
        if self._observe is not None and taken:
            self._observe(taken, time.monotonic() - began)
        return taken

    def _leave(self) -> int:
        """Leave the documents to the process that rebuilds."""
        self.elsewhere, self.caught_up = True, False
        self.give_way()
        return 0

    def _pending(self) -> Sequence[str]:
        """Commands first: documents that they remove must not be shown even for a moment. Large
        subjects that wait leave no small one out.
        """
        most = _PLANS_A_BATCH + len(self._subject_projector.large)
        return self._journal.pending(most, COMMAND_KIND)

    def wake_requests(self, awaited: frozenset[int]) -> None:
        """Wake requests of this process whose documents another process has projected."""
        if awaited:
            states = self._journal.states(awaited)
            pending = {at for at, state in states.items() if state == DocumentState.PENDING}
            self._waiting.conclude(awaited - pending)

    def _project_batch(self, keys: Sequence[str], noted: Attempt | None) -> int:
        """Carry out the commands one by one, then project as many other subjects as fit into
        memory. Returns how many.

        The interrupted attempt (``noted``), of this process or another, comes before all of them,
        but without the documents of later commands: these may be the reason of the interruption.
        """
        commands = [key for key in keys if key.startswith(KEY_PREFIX)]
        self._subject_projector.take_up(noted)
        self._commands_in_force.end_early_removals()
        if self._subject_projector.interrupted is not None:
            self._commands.put_in_force(commands)
            self._subject_projector.finish()
        for key in commands:
            self._commands.carry_out(key)
        self._subject_projector.conclude()
        others = keys[len(commands) :]  # read after the commands, which may have settled some
        return len(commands) + self._subject_projector.begin(others)


# --------------------------------------------------------------------------------------------------

log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 5.0
_NOTICE_SECONDS: Final = 0.1
_LINGER_SECONDS: Final = 0.2
"""The pause between two rounds while no request waits: a round costs some 4 ms even for one
document. A request that waits ends the pause, and there is none while more documents wait than a
round takes. It is also the pause between two looks at documents that another process is to
project."""
_GATHER_SECONDS: Final = 1.0
"""The same after a round of many subjects: in a larger round a document costs less, and most short
runs have their START and their end in one."""


class Projector:
    """Projects the journal into graph and catalogue, on a thread of its own.

    ``restart_engine`` is called when the graph does not answer; it may start an embedded engine and
    returns True when it has: the graph is then to be examined. ``observe`` is called after every
    round with the number of its subjects and its seconds. ``runs`` says which runs the graph
    carries, ``capacity`` how many elements it holds (None: any number). ``accepts_new_journal``:
    begin an empty journal beside the catalogue or graph of another one, which are replaced.
    ``keeps_database`` is asked before each round: False where another process may have worked alone
    on the database since; it raises Unavailable while one may.
    """

    def __init__(
        self,
        journal: Journal,
        graph: Graph,
        generations: Generations,
        *,
        rules: Rules = naming.DEFAULT_RULES,
        restart_engine: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], None] | None = None,
        observe: Callable[[int, float], None] | None = None,
        producers: Producers = PRODUCERS,
        runs: RunWindow = DEFAULT,
        capacity: Callable[[], int | None] = lambda: None,
        accepts_new_journal: bool = False,
        keeps_database: Callable[[], bool] = lambda: True,
    ) -> None:
        self._stores = stores = ProjectionStores(
            journal,
            graph,
            generations,
            producers,
            Fullness(journal, graph, capacity),
        )
        self._restart_engine = restart_engine
        self._keeps_database = keeps_database
        self._stopping = threading.Event()
        self._sleep = sleep or (lambda seconds: _pause(self._stopping, seconds))
        self._thread: threading.Thread | None = None
        self._prepared = False
        self._waiting = Waiters()
        self._is_shared = stores.journal.lease().is_shared
        self._activity = Activity()
        self._readiness = Readiness(stores)
        self._probe = GraphProbe(stores)
        self._rules = RulesInForce(stores, rules)
        commands_in_force = CommandsInForce(stores, self._rules)
        self._fullness = stores.fullness
        self._runs = kept = GraphRuns(runs, journal, graph, generations, stores.fullness)
        self._commits = commits = Commits(
            stores, self._rules, self._probe, self._waiting, self._activity.end, kept
        )
        self._rebuild_control = RebuildControl(
            stores, self._rules, commands_in_force, commits, self._activity.notify, kept
        )
        self._preparation = Preparation(
            stores,
            self._rules,
            commits,
            self._rebuild_control,
            self._probe,
            self._readiness,
            self._waiting,
            kept,
            accepts_new_journal=accepts_new_journal,
            stopping=self._stopping.is_set,
        )
        self._large = LargeSubjects(self._activity.notify)
        subject_projector = SubjectProjector(
            stores, self._rules, commands_in_force, commits, self._rebuild_control, self._large
        )
        commands = CommandRunner(
            stores,
            commands_in_force,
            commits,
            self._rebuild_control,
            subject_projector,
            self._stopping.is_set,
        )
        self._rounds = Rounds(
            stores,
            commands_in_force,
            commits,
            self._rebuild_control,
            self._waiting,
            self._activity,
            subject_projector,
            commands,
            observe,
        )

    # requests of others

    @property
    def rules(self) -> Rules:
        """The naming rules of the projection in force; for any thread."""
        return self._rules.in_force

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue in force; one answer asks once and keeps it."""
        return self._stores.generations.current

    @property
    def progress(self) -> Progress | None:
        """The progress of the rebuild that runs here, or ran last; None before the first."""
        return self._rebuild_control.progress

    @property
    def rebuild_waits(self) -> bool:
        """Whether a rebuild is requested or under way in any process, as the journal notes it."""
        return self._rebuild_control.is_noted

    def request_rebuild(self) -> Progress:
        """Project everything anew, beside the projection in force; a running rebuild continues.

        The journal keeps the request until the rebuild is done. The returned progress is that of a
        rebuild that has not begun.
        """
        return self._rebuild_control.request()

    @property
    def state(self) -> str:
        """``ready``, ``rebuilding`` (behind after a start) or ``unavailable`` (no graph)."""
        state = self._readiness.state
        if state == "ready" and self._stores.generations.damage is not None:
            return "rebuilding"  # the next round will find the same
        return state

    @property
    def failure(self) -> str | None:
        """Why nothing is projected while the state is ``unavailable``."""
        return self._readiness.failure if self._readiness.state == "unavailable" else None

    @property
    def rebuild_reason(self) -> str | None:
        """Why graph or catalogue could not be trusted and everything is projected anew; None when
        that is done.
        """
        return self._readiness.rebuild_reason or self._stores.generations.damage

    @property
    def full(self) -> str | None:
        """Why some documents wait although the graph answers; None where no document waits."""
        return FULL if self._fullness.holds else None

    @property
    def idle(self) -> bool:
        """Whether nothing is projected now or soon, so that a new document is projected at once."""
        return self._activity.idle

    def notify(self) -> None:
        """The journal has new documents."""
        self._activity.notify()

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait until none of these documents is pending; False when the time ran out first.

        Answered from memory. For documents that were concluded before this process began, it asks
        for a round after a moment; a round without work looks for them. Those that another process
        may conclude, while this one is busy or waits for its turn, are looked for in the journal:
        one request asks for all that wait, several times a second.
        """
        soon = min(timeout, _NOTICE_SECONDS)
        if self._waiting.wait(positions, soon):
            return True
        self.notify()
        left = timeout - soon
        step = min(left, _LINGER_SECONDS) if self._is_shared else left
        while left > 0:
            if self._is_shared:
                self._look_for_others(positions)
            if self._waiting.wait(positions, min(left, step)):
                return True
            left -= step
        return False

    def _look_for_others(self, positions: Collection[int]) -> None:
        """Conclude what another process has projected; one of all requests that wait asks."""
        try:
            self._rounds.wake_requests(self._waiting.due(positions, _LINGER_SECONDS))
        except Unavailable as error:  # the documents are kept: only their time of waiting is lost
            log.debug("waiting documents could not be looked for: %s", error)

    def replay(self, states: Collection[DocumentState]) -> int:
        """Set documents in these states back to pending; how many."""
        reopened = self._stores.journal.reopen(states=states)
        self._waiting.forget()
        self._rules.translation.forget()
        self.notify()
        return reopened

    # the work of the thread, a step at a time

    def prepare(self) -> None:
        """See ``Preparation.prepare``."""
        self._preparation.prepare()

    def project_pending(self) -> int:
        """One round, see ``Rounds.project_pending``; how many subjects were taken up."""
        return self._rounds.project_pending()

    def make_room(self) -> None:
        """Let runs leave a graph that is nearly full; take up held documents when there is room."""
        if self._commits.rebuild is None and self._runs.fit():
            self._commits.forget()
        if self._fullness.may_release:
            log.info("there is room in the graph again: held documents are pending again")
            self.replay((DocumentState.WAITING,))
            self._fullness.release()

    def rebuild_step(self) -> bool:
        """One step of a rebuild that is requested or under way; False when there is none."""
        return self._rebuild_control.step()

    # without the thread, at the times of another program

    def work_until(self, enough: Callable[[], bool]) -> bool:
        """Take rounds and steps of a rebuild until nothing is left, or ``enough`` returns True
        between two of them.

        Returns whether nothing was left: neither here nor for another process that projects now.
        Raises Unavailable; the next call begins anew.
        """
        try:
            while not enough():
                if not self._prepared:
                    self.prepare()
                    self._prepared = True
                if not self._is_whole():
                    self._prepared = False
                elif not self._advance():
                    if not self._rounds.elsewhere:
                        return True
                    self._sleep(_LINGER_SECONDS)
        except Unavailable as error:
            self._fail(error)
            self._prepared = False
            raise
        finally:
            self._give_way()
        return False

    def follow(self) -> None:
        """Read the rules and the catalogue in force, as another process has noted them."""
        self._stores.generations.refresh()
        known = self._stores.journal.get_meta(EPOCH_KEY)
        if known != self._rules.epoch_in_force:
            self._rules.read(known)

    # the thread

    def start(self) -> None:
        self._large.beside = True
        self._thread = threading.Thread(target=self._run, name="projector", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        self._stopping.set()
        self.notify()
        self._waiting.end_pauses()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                return
        self._give_way()
        self._rebuild_control.drop()

    def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            try:
                if not self._prepared:
                    self.prepare()
                    self._prepared = True
                self._prepared = self._work()
                pause = _FIRST_PAUSE_SECONDS
            except ProjectionStopped:
                log.info("the projector stops in work that the next start begins again")
            except ProjectedElsewhere:
                self._wait_for_turn()
            except Unavailable as error:
                self._fail(error)
                if self._stopping.is_set():  # the engine ends with the service
                    return
                log.warning("projection pauses %.1f s: %s", pause, error)
                self._sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                if self._try_to_restart_engine():
                    self._prepared = False
            except Exception:
                log.exception("unexpected error in the projector; it continues")
                self._give_way()
                self._sleep(_LONGEST_PAUSE_SECONDS)

    def _work(self) -> bool:
        """A round of new documents, then a step of a rebuild; idle when there is neither.

        False when the graph turned out to be empty or in doubt, or the catalogue damaged.
        """
        if not self._is_whole():
            return False
        advanced = self._advance()
        if self._rounds.elsewhere:
            self._sleep(_LINGER_SECONDS)
        elif not advanced and not self._rounds.keeps_lease:
            self._activity.wait(self._stopping.is_set)
        if self._rounds.caught_up and self._commits.rebuild is None:
            self._waiting.pause(_GATHER_SECONDS if self._rounds.took_many else _LINGER_SECONDS)
        return True

    def _is_whole(self) -> bool:
        """Whether the graph still holds its elements. Checked before a round, because known
        elements are not written again.
        """
        if not self._keeps_database():
            log.warning("another service may have worked on the database: the graph is compared")
            self._stores.graph.doubt()
            return False
        return self._probe.is_graph_whole() and self._stores.generations.damage is None

    def _advance(self) -> bool:
        """A round of new documents, then a step of a rebuild; False when there was neither."""
        if self._stores.generations.refresh():  # the new catalogue may not hold everything yet
            self._readiness.begin()
        if self._stores.journal.get_meta(EPOCH_KEY) != self._rules.epoch_in_force:
            self._rebuild_control.follow_rules()
        self.make_room()
        projected = self.project_pending()
        rebuilt = self.rebuild_step()
        if self._rebuild_control.begins_from_nothing:
            return False
        if self._readiness.state != "ready":
            self._become_ready()
        return bool(projected or rebuilt)

    def _wait_for_turn(self) -> None:
        """Become ready while another process works on graph and catalogue for long, for example for
        a large command. This process answers as well as that one, provided it has prepared or finds
        everything whole.
        """
        self._give_way()
        try:
            if not self._prepared:
                self.follow()
                if self._preparation.can_answer_unprepared():
                    self._readiness.end()
        except Unavailable as error:
            self._fail(error)
        log.info("another process projects, and this one waits for its turn: %s", self.state)

    def _give_way(self) -> None:
        """Let another process project and rebuild."""
        self._rounds.give_way()
        self._rebuild_control.give_way()

    def _fail(self, error: Unavailable) -> None:
        self._readiness.fail(error.reason)
        self._commits.forget()
        self._probe.look_soon()
        self._give_way()

    def _become_ready(self) -> None:
        """Become ready where everything is projected; a rebuild's last steps change no answer."""
        caught_up = self._readiness.has_caught_up(nothing_left=self._rounds.caught_up)
        if not (caught_up and self._answers_are_whole()):
            return
        journal = self._stores.journal
        if not is_catalogue_whole(journal):
            journal.set_meta(CATALOGUE_KEY, WHOLE)
        self._readiness.end()

    def _answers_are_whole(self) -> bool:
        """Whether the catalogue in force holds everything projected, during a rebuild."""
        rebuild = self._commits.rebuild
        return rebuild is None or rebuild.switched or self._preparation.has_answers()

    def _try_to_restart_engine(self) -> bool:
        try:
            return self._restart_engine()
        except HeadwaterError as error:
            log.warning("the graph could not be brought back: %s", error)
            return False


def _pause(stopping: threading.Event, seconds: float) -> None:
    stopping.wait(seconds)
