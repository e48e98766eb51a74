"""When everything is projected anew: on request, or where the stores do not belong together.

It starts a rebuild (``projection.rebuilding``), and decides which of several processes runs it.

One process rebuilds at a time, a step between two rounds: the journal notes its name, and it has
the journal's lease for rebuilds. A process that dies gives up the lease, so that another one, or
its own next start, begins the rebuild again at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final

from graph_model.errors import DiskNearlyFull, JournalUnavailable
from graph_model.producers.commands import Command
from graph_model.producers.projections import Projection
from graph_model.producers.registry import Translation
from graph_model.projection.graph_runs import GraphRuns
from graph_model.projection.projector.commits import WRITER_KEY, Commits
from graph_model.projection.projector.readiness import GraphProbe, Readiness, Waiters
from graph_model.projection.projector.rules import (
    COMMANDS_KEY,
    EPOCH_KEY,
    FROM_NOTHING,
    CommandsInForce,
    ProjectionStores,
    RulesInForce,
)
from graph_model.projection.rebuilding import Phase, Progress, Rebuild
from graph_model.projection.run_window import RUNS_KEY
from graph_model.stores.catalogue.rows import CATALOGUE_KEY, FILLING, is_catalogue_whole
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.stores.journal import NEW_KEY

log = logging.getLogger(__name__)

#: The journal's setting for a wanted rebuild, or for the process that has begun it.
REBUILD_KEY: Final = "rebuild"
_NONE: Final = "none"
_WANTED: Final = "wanted"


class RebuildControl:
    """``notify`` wakes the projector. The rebuild that runs in this process is ``commits.rebuild``.

    ``begins_from_nothing``: a rebuild did not fit beside the projection in force, so the next
    preparation empties the graph.
    """

    def __init__(
        self,
        stores: ProjectionStores,
        rules: RulesInForce,
        commands_in_force: CommandsInForce,
        commits: Commits,
        notify: Callable[[], None],
        runs: GraphRuns,
    ) -> None:
        self._runs = runs
        self._stores = stores
        self._rules = rules
        self._commands_in_force = commands_in_force
        self._commits = commits
        self._notify = notify
        self._lease = stores.journal.rebuild_lease()
        self._progress: Progress | None = None
        self.begins_from_nothing = False

    @property
    def progress(self) -> Progress | None:
        """The progress of the rebuild that runs here, or ran last; None before the first."""
        under_way = self._commits.rebuild
        return self._progress if under_way is None else under_way.progress

    @property
    def is_noted(self) -> bool:
        """Whether a rebuild is wanted or under way, in any process."""
        return _is_noted(self._stores.journal.get_meta(REBUILD_KEY))

    def request(self) -> Progress:
        """Project everything anew, beside the projection in force; a running rebuild continues,
        here or in another process.

        The journal keeps the request until the rebuild is done. The returned progress is that of a
        rebuild that has not begun.
        """
        under_way = self._commits.rebuild
        # One that is just ending has taken back its note: it does not go on.
        if under_way is not None and self.is_noted:
            return under_way.progress
        journal = self._stores.journal
        self._progress = self._not_begun(Phase.WANTED)
        while not _is_noted(noted := journal.get_meta(REBUILD_KEY)):
            if journal.replace_meta(REBUILD_KEY, noted, _WANTED):
                break
        self._notify()
        return self._progress

    def _not_begun(self, phase: Phase) -> Progress:
        return Progress(phase, 0, self._stores.journal.count_subject_keys(), 0, None, None)

    def follow_rules(self) -> None:
        """Read the newest rules; the projection in force keeps its own until a rebuild has replaced
        it.
        """
        rules, known = self._rules, self._stores.journal.get_meta(EPOCH_KEY)
        wanted = rules.read_wanted()
        if wanted != rules.wanted:
            rules.want(wanted)
            if known != rules.epoch or self._commits.rebuild is not None:
                self.drop()
                self.request()
        if known == rules.epoch and rules.in_force != wanted:
            rules.put_in_force(wanted)  # another process has replaced it, or they are the same

    def load_commands(self, epoch: str | None) -> None:
        """Read the commands in force, rules among them, if a command has come since."""
        if epoch == self._commands_in_force.epoch and self._commands_in_force.loaded:
            return
        self.follow_rules()
        self._commands_in_force.load(epoch)

    def add_command(self, command: Command, epoch: str) -> None:
        """Add one command to the loaded ones, where only this one has come since."""
        if self._commands_in_force.loaded:
            self.follow_rules()
            self._commands_in_force.add(command, epoch)
        else:
            self.load_commands(epoch)

    def is_elsewhere(self, noted: str | None) -> bool:
        """Whether another process runs the rebuild. For the projector's thread.

        Else this one has the lease where a rebuild is noted. Where another process had begun it,
        that one has died or waits: it is noted as wanted, so that no process goes on without the
        documents that are projected from here on.
        """
        if not _is_noted(noted):
            return False
        if not self._lease.take():
            return True
        if noted not in {_WANTED, self._commits.name}:
            self._stores.journal.set_meta(REBUILD_KEY, _WANTED)
        return False

    def give_way(self) -> None:
        """Let another process rebuild; this one goes on later where none has."""
        self._lease.give_up()

    def step(self) -> bool:
        """One step of a rebuild that is wanted or under way; False when there is none.

        A change of the runs that the graph carries comes first.
        """
        journal, rules = self._stores.journal, self._rules
        if self._commits.rebuild is None and self._runs.is_other:
            with journal.projecting():
                return self._change_runs(journal.get_meta(REBUILD_KEY))
        if self._commits.rebuild is None and not self.is_noted:
            return False
        with journal.projecting():
            noted = journal.get_meta(REBUILD_KEY)
            elsewhere = self.is_elsewhere(noted)
            if noted != self._commits.name:
                self._discard()
            if elsewhere or not _is_noted(noted):
                return False
            if self._commits.rebuild is None:
                if not self._has_room():
                    return False
                self._begin()
            if self.follow_runs(journal.get_meta(RUNS_KEY)):
                return True
            self._commits.take_turn(journal.get_meta(WRITER_KEY))
            self._commits.forget()
            self.load_commands(journal.get_meta(COMMANDS_KEY))
            if self._commits.rebuild is None:  # other rules came: the next step begins with them
                return True
            if self._stores.fullness.share() >= 1.0 and not self._commits.rebuild.switched:
                self._begin_from_nothing()
                return True
            going_on = self._commits.rebuild.step()
            if self._commits.rebuild.switched and not rules.settled:
                journal.set_meta(EPOCH_KEY, rules.epoch)
                rules.put_in_force(rules.wanted)
            if not going_on:
                self._end()
        return True

    def follow_runs(self, noted: str | None) -> bool:
        """Read the note of the runs that the graph carries, which another process may have changed.
        Returns whether that ends a rebuild with other runs; it begins again.
        """
        if not self._runs.follow(noted):
            return False
        self._commits.forget()
        if self._commits.rebuild is None:
            return False
        self.drop()
        self.request()
        return True

    def _change_runs(self, noted: str | None) -> bool:
        """Take a step towards other runs in the graph, unless a rebuild runs in another process: it
        would remove them again.
        """
        if self.is_elsewhere(noted):
            return False
        self._commits.forget()
        return self._runs.step()

    def revisit(self, subject_keys: Collection[str]) -> None:
        """Make a rebuild under other rules visit these subjects (again): their facts are about to
        change under the rules in force.
        """
        if self._commits.rebuild is not None and not self._rules.settled:
            self._commits.rebuild.revisit(subject_keys)

    def drop(self) -> None:
        """Give up the running rebuild. The next one removes the elements that it added."""
        self._discard()
        self._lease.give_up()

    def _discard(self) -> None:
        if self._commits.rebuild is not None:
            self._progress = self._commits.rebuild.progress
            self._commits.rebuild.close()
            self._commits.rebuild = None

    def _has_room(self) -> bool:
        """Whether a second catalogue leaves the reserve of the disk free. An upgrade wants a
        rebuild without anybody who would be refused: it waits, and the old answers serve.
        """
        try:
            self._stores.generations.ensure_next_fits()
        except DiskNearlyFull as failure:
            if self._progress is None or self._progress.phase is not Phase.SHORT:
                log.warning("a rebuild waits for room on the disk: %s", failure)
                self._progress = self._not_begun(Phase.SHORT)
            return False
        return True

    def _begin(self) -> None:
        log.info("rebuild started; the current graph and catalogue stay in use")
        self._stores.journal.set_meta(REBUILD_KEY, self._commits.name)
        self._commits.rebuild = Rebuild(
            self._stores.journal,
            self._stores.graph,
            self._stores.generations,
            self._project_anew(Translation(self._rules.wanted, self._rules.producers)),
            self._runs,
            self._rules.producers,
            compare=self._stores.journal.get_meta(EPOCH_KEY) == self._rules.epoch,
            settled=self._rules.settled,
        )

    def _project_anew(
        self, translation: Translation
    ) -> Callable[[Sequence[StoredDocument]], Projection]:
        """A function that translates all documents of a subject under the wanted rules."""
        return lambda documents: self._commands_in_force.project_all(documents, translation)

    def _begin_from_nothing(self) -> None:
        log.warning("the graph has no room for a second projection: it is emptied and filled anew")
        self._stores.journal.set_meta(EPOCH_KEY, FROM_NOTHING)
        self._stores.journal.set_meta(REBUILD_KEY, _NONE)
        self.drop()
        self.begins_from_nothing = True

    def _end(self) -> None:
        self._stores.journal.set_meta(EPOCH_KEY, self._rules.epoch)
        self._stores.journal.set_meta(REBUILD_KEY, _NONE)
        self.drop()
        log.info("rebuild finished")


def _is_noted(noted: str | None) -> bool:
    return noted not in {None, _NONE}


# --------------------------------------------------------------------------------------------------
#
# Checks before the first round, and after a lost graph, that journal, catalogue and graph belong
# together; else repairs them.

_TAKEN_UP: Final = (DocumentState.PROJECTED, DocumentState.WAITING)
_FOREIGN: Final = (
    "the journal is {}, and beside it is {}: a volume is not mounted, a file was removed or "
    "swapped, or another database is named. No document is taken. Stop the service and bring the "
    "journal that belongs there back, or restore a backup; to go on with this journal, "
    "headwater serve --new-journal (once)"
)
_RESTORED: Final = ""
"""The epoch of a journal that was restored: whatever is beside it is to be replaced."""


class Preparation:
    """Brings graph and catalogue to a state from which pending documents complete them."""

    def __init__(
        self,
        stores: ProjectionStores,
        rules: RulesInForce,
        commits: Commits,
        rebuild_control: RebuildControl,
        probe: GraphProbe,
        readiness: Readiness,
        waiting: Waiters,
        runs: GraphRuns,
        *,
        accepts_new_journal: bool,
        stopping: Callable[[], bool],
    ) -> None:
        self._accepts_new_journal = accepts_new_journal
        self._stopping = stopping
        self._runs = runs
        self._stores = stores
        self._rules = rules
        self._commits = commits
        self._rebuild_control = rebuild_control
        self._probe = probe
        self._readiness = readiness
        self._waiting = waiting
        self._is_half_filled = False  # by a preparation that broke off

    def prepare(self) -> None:
        """Bring an empty or outdated graph to a state from which pending documents complete it.

        A graph that forgot its elements (a restarted embedded engine) gets them again; an empty one
        gets every document. Another epoch (new translator, rules or tables) is projected beside
        the one in force. If the catalogue does not match this journal, or the graph not this
        catalogue, every document is projected again as well, and superfluous elements are removed
        from the graph. Raises ProjectionStopped where ``stopping`` returns True while it is filled.
        """
        self._commits.forget()
        self._probe.forget()
        self._stores.fullness.begin()
        self._rebuild_control.drop()
        with self._stores.journal.projecting():
            self._stores.generations.refresh()
            self._begin_journal()
            self._prepare()

    def has_answers(self) -> bool:
        """Whether the catalogue in force has any executions."""
        return self._stores.generations.current.newest_event(None) is not None

    def can_answer_unprepared(self) -> bool:
        """Whether answers are whole before this process has prepared: it has found that journal,
        catalogue and graph belong together, while another process projects for long.
        """
        known = self._stores.journal.get_meta(EPOCH_KEY)
        if known != self._rules.epoch or not self._has_every_answer():
            return False
        self._readiness.join()
        return self._probe.find() is None and self._readiness.has_caught_up(nothing_left=False)

    def _begin_journal(self) -> None:
        """Take the journal into use, unless something beside it was made from another one, which
        is probably missing: then no document is taken, and JournalUnavailable says what to do.
        """
        journal = self._stores.journal
        is_new = journal.get_meta(NEW_KEY) == "true"
        is_accepted = self._accepts_new_journal or journal.get_meta(EPOCH_KEY) == _RESTORED
        if not is_accepted and (foreign := self._find_foreign(is_new=is_new)) is not None:
            reason = _FOREIGN.format("new and empty" if is_new else "another one", foreign)
            journal.hold(reason)
            raise JournalUnavailable(reason)
        if is_new or is_accepted:
            self._stores.generations.set_foreign_aside()
            journal.set_meta(NEW_KEY, "")
        journal.hold(None)

    def _find_foreign(self, *, is_new: bool) -> str | None:
        """What is beside the journal and was made from another one."""
        stores = self._stores
        foreign = stores.generations.find_foreign(is_new=is_new)
        vertices = 0 if foreign or not is_new else stores.graph.count()[0]
        return f"a graph of {vertices:,} vertices" if vertices else foreign

    def _has_every_answer(self) -> bool:
        return is_catalogue_whole(self._stores.journal) and self.has_answers()

    def _prepare(self) -> None:
        known = self._stores.journal.get_meta(EPOCH_KEY)
        self._rules.read(known)
        rebuild_reason = self._set_mismatch_aside()
        if not self._stores.graph.forgets:  # an engine that forgets, later, is not to get these
            self._stores.generations.current.elements.clear()
        if known == FROM_NOTHING:
            self._stores.graph.clear()
            self._rebuild_control.begins_from_nothing = False
        elif not self._stores.graph.is_whole():
            self._readiness.begin()
            self._stores.graph.restore(self._stopping)
        is_filled = self._stores.graph.count()[0] > 0 and not self._is_half_filled
        if is_filled and rebuild_reason is None:
            rebuild_reason = self._probe.find()
        self._explain(rebuild_reason)
        outdated = known != self._rules.epoch
        if is_filled and rebuild_reason is None:
            self._runs.compare()
            if is_catalogue_whole(self._stores.journal):
                self._readiness.join()
            if outdated:
                self._rebuild_control.request()
                if self.has_answers():  # old answers serve until the new ones are complete
                    self._readiness.state = "ready"
            return
        if is_filled:
            self._rebuild_control.request()  # its sweep removes superfluous elements
        self._fill(anew=outdated or rebuild_reason is not None)

    def _fill(self, *, anew: bool) -> None:
        """Set all documents back to PENDING. Answers are partial, and where this breaks off, the
        next preparation takes the graph for empty.
        """
        journal, generations = self._stores.journal, self._stores.generations
        self._readiness.begin()
        self._is_half_filled = True
        self._rules.put_in_force(self._rules.wanted)
        if anew:
            self._commits.take_turn(None)  # facts that another process has written are skipped
            journal.set_meta(CATALOGUE_KEY, FILLING)
            generations.current.clear()
        journal.reopen(states=_TAKEN_UP)
        self._waiting.forget()
        self._runs.fill()
        if anew:  # last: after a crash before this, the next start rejects the catalogue
            generations.adopt()
        journal.set_meta(EPOCH_KEY, self._rules.epoch)
        self._is_half_filled = False

    def _set_mismatch_aside(self) -> str | None:
        """Why journal and catalogue do not belong together; None where they do."""
        mismatch = self._stores.generations.find_mismatch()
        if mismatch is None:
            return None
        self._readiness.begin()  # before any request reads the emptied catalogue
        self._stores.generations.set_aside()
        return f"the catalogue is rebuilt: {mismatch}"

    def _explain(self, rebuild_reason: str | None) -> None:
        self._readiness.rebuild_reason = rebuild_reason if self._stores.journal.newest() else None
        if self._readiness.rebuild_reason is not None:
            log.warning("a rebuild is needed: %s", self._readiness.rebuild_reason)
