"""Checks before the first round, and after a lost graph, that journal, catalogue and graph belong
together; else repairs them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from graph_model.errors import JournalUnavailable
from graph_model.projection.projector.commits import Commits
from graph_model.projection.projector.readiness import GraphProbe, Readiness
from graph_model.projection.projector.rebuild_control import RebuildControl
from graph_model.projection.projector.rules import EPOCH_KEY, FROM_NOTHING, RulesInForce
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.projection.runs.graph_runs import GraphRuns
from graph_model.projection.waiters import Waiters
from graph_model.stores.catalogue.origin import CATALOGUE_KEY, FILLING, is_catalogue_whole
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import NEW_KEY

log = logging.getLogger(__name__)

_TAKEN_UP: Final = (DocumentState.PROJECTED, DocumentState.WAITING)
_MISSING_JOURNAL: Final = (
    "the journal is new and empty, and beside it is {}: a volume is not mounted, a file was "
    "removed or another database is named. No document is taken. Stop the service and bring the "
    "journal back, or restore a backup; to begin anew, headwater serve --new-journal (once)"
)


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
        """Take a new journal into use, unless something beside it was made from another one, which
        is probably missing: then no document is taken, and JournalUnavailable says what to do.
        """
        journal, stores = self._stores.journal, self._stores
        if journal.get_meta(NEW_KEY) == "true":
            if not self._accepts_new_journal and (foreign := self._find_foreign()) is not None:
                reason = _MISSING_JOURNAL.format(foreign)
                journal.hold(reason)
                raise JournalUnavailable(reason)
            stores.generations.set_foreign_aside()
            journal.set_meta(NEW_KEY, "")
        journal.hold(None)

    def _find_foreign(self) -> str | None:
        """What is beside a new journal and was made from another one."""
        stores = self._stores
        foreign = stores.generations.find_foreign()
        vertices = 0 if foreign else stores.graph.count()[0]
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
