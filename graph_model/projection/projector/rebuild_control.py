"""Starts a rebuild (``projection.rebuilding``), and decides which of several processes runs it.

One process rebuilds at a time, a step between two rounds: the journal notes its name, and it has
the journal's lease for rebuilds. A process that dies gives up the lease, so that another one, or
its own next start, begins the rebuild again at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final

from graph_model.errors import DiskNearlyFull
from graph_model.producers.commands import Command
from graph_model.producers.projections import Projection
from graph_model.producers.registry import Translation
from graph_model.projection.projector.commands_in_force import COMMANDS_KEY, CommandsInForce
from graph_model.projection.projector.commits import WRITER_KEY, Commits
from graph_model.projection.projector.rules import EPOCH_KEY, FROM_NOTHING, RulesInForce
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.projection.rebuilding import Phase, Progress, Rebuild
from graph_model.projection.runs.graph_runs import GraphRuns
from graph_model.projection.runs.window import RUNS_KEY
from graph_model.stores.documents import StoredDocument

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
