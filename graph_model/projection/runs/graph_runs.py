"""The runs that one projector keeps in its graph: with each commit, and after another setting."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from graph_model.facts import ExecutionRow, Facts, Row, merge
from graph_model.projection.fullness import LEAVING, ROOM_AGAIN, Fullness
from graph_model.projection.runs.estimate import estimate_elements
from graph_model.projection.runs.keeping import (
    Kept,
    keep_newest,
    remove_before,
    steps_that_trim,
    steps_that_write,
    write_since,
)
from graph_model.projection.runs.steps import Steps
from graph_model.projection.runs.wanted_runs import elements_of
from graph_model.projection.runs.window import ALL, NONE, RunWindow
from graph_model.stores.protocols import Catalogue, Checkpoints, Generations, Graph
from graph_model.stores.protocols.history import ExecutionHistory
from graph_model.stores.protocols.journal import JournalSettings

log = logging.getLogger(__name__)

#: Where the journal keeps which runs the graph carries (``RunWindow.noted``).
RUNS_KEY: Final = "graph_runs"


def setting_of(noted: str | None) -> str:
    """The setting in such a note; a graph without one has all runs."""
    return (noted or str(ALL)).split()[0]


def left_by(asked: RunWindow) -> str:
    """The note of a graph that is too full for the runs that this setting asks for."""
    return f"{NONE} {asked}"


class GraphRuns:
    """``window`` selects the runs of the graph: none while it is nearly full. ``is_other``:
    whether it still carries runs of another window. The projector's own, on its thread.
    """

    def __init__(
        self,
        window: RunWindow,
        journal: JournalSettings,
        graph: Graph,
        generations: Generations,
        checkpoints: Checkpoints,
        fullness: Fullness,
    ) -> None:
        self._asked: Final = window
        self.window = window
        self._fullness = fullness
        self._needed: int | None = None  # elements of the runs that left
        self._journal = journal
        self._graph = graph
        self._generations = generations
        self._checkpoints = checkpoints
        self.is_other = False
        self._steps: Steps[int] | None = None
        self._writing: Steps[Facts] = Steps(lambda: iter(()))
        self._noting = ""

    # --- before the first round ------------------------------------------------------------------

    def compare(self) -> None:
        """The graph stays as it was left, and may carry runs of another setting."""
        noted = self._journal.get_meta(RUNS_KEY)
        self.window = NONE if noted == left_by(self._asked) else self._asked
        self._compare(noted)

    def _compare(self, noted: str | None) -> None:
        self._steps, self.is_other = None, setting_of(noted) != str(self.window)

    def fit(self) -> bool:
        """Between two rounds: the runs leave a graph that is nearly full, and return when there is
        room for them; whether that changed.
        """
        window = self._window_that_fits()
        if window == self.window:
            return False
        move = "leave the graph, which is nearly full" if window == NONE else "return to the graph"
        log.warning("the runs of HEADWATER_GRAPH_RUNS=%s %s", self._asked, move)
        self.window, self._needed = window, None
        self._compare(self._journal.get_meta(RUNS_KEY))
        return True

    def _window_that_fits(self) -> RunWindow:
        if self.window == self._asked:
            return NONE if self._fullness.share() >= LEAVING else self._asked
        if self.is_other or self._fullness.share() >= ROOM_AGAIN:
            return NONE
        if self._needed is None:
            self._needed = sum(estimate_elements(self._generations.current, [self._asked]).values())
        return self._asked if self._fullness.share(self._needed) < ROOM_AGAIN else NONE

    def fill(self, *, restored: bool) -> None:
        """The graph is filled: it has nothing, or the elements of a checkpoint."""
        if not restored:
            self._journal.set_meta(RUNS_KEY, self._text(self._generations.current))
        elif self.window.kind == "days":
            self._journal.set_meta(RUNS_KEY, str(ALL))  # days may have passed since the checkpoint
        self.compare()

    # --- with each commit ------------------------------------------------------------------------

    def keep(self, written: Iterable[Row], gone: Iterable[Row]) -> Facts:
        """The facts that the graph is to have of the runs that these rows, just written to the
        catalogue, and the rows now gone are about.
        """
        new = {row.id: row for row in written if isinstance(row, ExecutionRow)}
        lost = [row for row in gone if isinstance(row, ExecutionRow)]
        if not (new or lost) or self.window.kind in {"all", "none"}:
            return Facts()
        catalogue = self._generations.current
        if self.window.kind == "newest":
            jobs = {row.job for row in (*new.values(), *lost)}
            kept = keep_newest(self._graph, catalogue, self.window, jobs, new.keys(), lost)
        else:
            kept = self._keep_days(catalogue, new.values())
        self.wrote(kept.changed)
        return kept.wanted

    def _keep_days(self, catalogue: Catalogue, new: Collection[ExecutionRow]) -> Kept:
        since = self.window.since(catalogue.newest_event(None))
        changed = self._move(catalogue, since)
        wanted = elements_of(row for row in new if row.at >= since)
        self._graph.write(wanted)
        return Kept(wanted, changed + len(wanted.vertices) + len(wanted.edges))

    def to_withdraw(self, gone: Facts) -> Facts:
        """The facts that go, without elements of runs that the graph does not carry, or that
        ``keep`` removes by itself.
        """
        if self.is_other or self.window.kind == "all":
            return gone
        structure = self.window.structure(gone)
        if self.window.kind != "days":
            return structure
        since = int((self._journal.get_meta(RUNS_KEY) or "").split()[-1])
        rows = (row for row in gone.rows if isinstance(row, ExecutionRow) and row.at >= since)
        return merge((structure, elements_of(rows)))

    def _move(self, catalogue: Catalogue, since: int) -> int:
        """The newest event is of another day than before: how many elements that changes."""
        setting, _, noted = (self._journal.get_meta(RUNS_KEY) or "").partition(" ")
        if setting != str(self.window) or int(noted) == since:
            return 0  # another setting: ``step`` comes to all of them
        if int(noted) < since:
            changed = remove_before(self._graph, catalogue, int(noted), since)
        else:
            changed = write_since(self._graph, catalogue, since, int(noted))
        self._journal.set_meta(RUNS_KEY, self._text(catalogue))
        return changed

    # --- after another setting, and in a rebuild -------------------------------------------------

    def step(self) -> bool:
        """A page of another setting's elements: whether there was one. Raises Unavailable."""
        if self.is_other and self._steps is None:
            self._compare(self._journal.get_meta(RUNS_KEY))  # another process may have done it
        if not self.is_other:
            return False
        if self._steps is None:
            log.info("the graph is to carry other runs: %s", self.window)
            with self._checkpoints.voided():
                pass
            self._noting = self._text(self._generations.current)
            self._steps = Steps(self._steps_that_trim)
        changed = self._steps.take()
        if changed is not None:
            self.wrote(changed)
            return True
        self._journal.set_meta(RUNS_KEY, self._noting)
        self._steps, self.is_other = None, False
        return True

    def _steps_that_trim(self) -> Iterator[Callable[[], int]]:
        return steps_that_trim(self._graph, self._generations.current, self.window)

    def begin_writing(self) -> None:
        """Everything was projected anew, without runs: ``write`` is about to write them."""
        self._noting = self._text(self._generations.current)
        self._writing = Steps(self._steps_that_write)

    def _steps_that_write(self) -> Iterator[Callable[[], Facts]]:
        if self.window.kind == "all":
            return iter(())  # each came with its execution
        return steps_that_write(self._graph, self._generations.current, self.window)

    def write(self) -> Facts | None:
        """A page of the window's elements; None when all is written. Raises Unavailable."""
        facts = self._writing.take()
        if facts is None:
            self._journal.set_meta(RUNS_KEY, self._noting)
        else:
            self.wrote(len(facts.vertices) + len(facts.edges))
        return facts

    def wrote(self, elements: int) -> None:
        """So many elements are to be written, or were removed."""
        self._checkpoints.wrote(elements)
        self._fullness.wrote(elements)

    def _text(self, catalogue: ExecutionHistory) -> str:
        if self.window != self._asked:
            return left_by(self._asked)
        return self.window.noted(catalogue.newest_event(None))
