"""One round: interrupted attempts, then commands, then the new documents of a batch of subjects."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from graph_model.producers.commands import COMMAND_KIND, KEY_PREFIX
from graph_model.projection.attempts import ATTEMPT_KEY, Attempt, read_attempt
from graph_model.projection.projector.commands import CommandRunner
from graph_model.projection.projector.commands_in_force import COMMANDS_KEY, CommandsInForce
from graph_model.projection.projector.commits import WRITER_KEY, Commits
from graph_model.projection.projector.readiness import Activity
from graph_model.projection.projector.rebuild_control import REBUILD_KEY, RebuildControl
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.projection.projector.subject_projector import SubjectProjector
from graph_model.projection.runs.carried_runs import RUNS_KEY
from graph_model.projection.waiters import Waiters
from graph_model.stores.catalogue.origin import ROUND_KEY
from graph_model.stores.documents import DocumentState

_PLANS_A_BATCH: Final = 100
_MANY_PLANS: Final = 5
_KEPT_SECONDS: Final = 5.0
"""A projector keeps the lease this long after a round of many subjects, because its memory of known
elements is valid until another process writes. While documents come one by one, it gives up the
lease after each round, so that no document waits for the pause of a projector in another
process."""


class Rounds:
    """``caught_up``: whether the last round completed everything that was there when it began;
    ``elsewhere``: whether it left everything to another process, which has the lease.

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
        taken = 0
        if keys and not self.elsewhere:
            taken = self._project(keys)
        else:
            self._wake_waiting_requests()
        if taken >= _MANY_PLANS and self._lease.is_shared:
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
        self._wake_waiting_requests()
        return 0

    def _pending(self) -> Sequence[str]:
        """Commands first: documents that they remove must not be shown even for a moment."""
        return self._journal.pending(_PLANS_A_BATCH, COMMAND_KIND)

    def _wake_waiting_requests(self) -> None:
        """Wake requests of this process whose documents another process has projected."""
        if awaited := self._waiting.awaited():
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
