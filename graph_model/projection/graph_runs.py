"""The runs that one projector keeps in its graph: with each commit, and after another setting."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, Generic, TypeVar

from graph_model.facts import ExecutionRow, Facts, Row
from graph_model.projection.fullness import LEAVING, ROOM_AGAIN, Fullness
from graph_model.projection.kept_runs import (
    KeptRuns,
    estimate_elements,
    keep_newest,
    steps_that_trim,
    steps_that_write,
)
from graph_model.projection.run_window import (
    NONE,
    RUNS_KEY,
    CarriedRuns,
    RunWindow,
    read_carried,
    structure,
)
from graph_model.stores.catalogue import Generations
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal

log = logging.getLogger(__name__)


class GraphRuns:
    """Keeps the runs that the journal notes for the graph (``carried``).

    Several services may share the graph. Each notes its own setting once, with its first step, and
    follows the note from then on; so the service that started last decides. Used by the projector
    alone, on its thread.
    """

    def __init__(
        self,
        window: RunWindow,
        journal: Journal,
        graph: Graph,
        generations: Generations,
        fullness: Fullness,
    ) -> None:
        self._own: Final = window
        self._is_new = True  # its own setting is yet to be noted
        self._carried = CarriedRuns(window)
        self._noted: str | None = None
        self._fullness = fullness
        self._needed: int | None = None  # elements of the runs that left
        self._journal = journal
        self._graph = graph
        self._generations = generations
        self._steps: Steps[int] | None = None
        self._writing: Steps[Facts] = Steps(lambda: iter(()))

    @property
    def window(self) -> RunWindow:
        """The runs that the graph carries: none while it is nearly full."""
        return self._carried.window

    @property
    def is_other(self) -> bool:
        """Whether the graph is to get other runs; ``step`` makes it so."""
        return self._carried.moving or self._wants_own

    @property
    def _wants_own(self) -> bool:
        return self._is_new and self._carried.asked != self._own

    # --- the note of the journal -----------------------------------------------------------------

    def compare(self) -> None:
        """Read the note before the first round. The graph stays as it was left, and may carry
        other runs.
        """
        self._read(self._journal.get_meta(RUNS_KEY))
        self._is_new = self._wants_own

    def follow(self, noted: str | None) -> bool:
        """Read the note, which another process may have changed. Returns whether it now has
        another window.
        """
        if noted == self._noted:
            return False
        former = self.window
        self._read(noted)
        if self.window == former:
            return False
        log.info(
            "another service has the graph carry the runs %s: this one, with "
            "HEADWATER_GRAPH_RUNS=%s, follows it until it starts again",
            self.window,
            self._own,
        )
        return True

    def _read(self, noted: str | None) -> None:
        self._noted, self._carried, self._steps = noted, read_carried(noted), None

    def _note(self, carried: CarriedRuns) -> None:
        self._journal.set_meta(RUNS_KEY, str(carried))
        self._noted, self._carried, self._steps = str(carried), carried, None

    def fit(self) -> bool:
        """Between two rounds, let the runs leave a graph that is nearly full, or return to one that
        has room for them. Returns whether anything changed.
        """
        window = self._window_that_fits()
        if window == self.window:
            return False
        move = "leave the graph, which is nearly full" if window == NONE else "return to the graph"
        log.warning("the runs of HEADWATER_GRAPH_RUNS=%s %s", self._carried.asked, move)
        self._begin(CarriedRuns(self._carried.asked, left=window == NONE))
        return True

    def _window_that_fits(self) -> RunWindow:
        asked = self._carried.asked
        if self.window == asked:
            return NONE if self._fullness.share() >= LEAVING else asked
        if self.is_other or self._fullness.share() >= ROOM_AGAIN:
            return NONE
        if self._needed is None:
            self._needed = sum(estimate_elements(self._generations.current, [asked]).values())
        return asked if self._fullness.share(self._needed) < ROOM_AGAIN else NONE

    def fill(self) -> None:
        """Begin to fill a graph that is empty."""
        self._note(replace(self._carried, moving=False))
        self.compare()

    # --- with each commit ------------------------------------------------------------------------

    def keep(self, written: Iterable[Row], gone: Iterable[Row]) -> KeptRuns:
        """Update the graph for the runs of these rows: ``written`` were just written to the
        catalogue, ``gone`` removed from it.
        """
        new = {row.id: row for row in written if isinstance(row, ExecutionRow)}
        lost = [row for row in gone if isinstance(row, ExecutionRow)]
        if not (new or lost) or self.window == NONE:
            return KeptRuns()
        catalogue = self._generations.current
        jobs = {row.job for row in (*new.values(), *lost)}
        kept = keep_newest(self._graph, catalogue, self.window, jobs, new.keys(), lost)
        self.wrote(kept.changed)
        return kept

    def to_withdraw(self, gone: Facts) -> Facts:
        """The removed facts, without elements of runs that the graph does not carry or that
        ``keep`` removes by itself.
        """
        return gone if self._carried.moving else structure(gone)

    # --- another setting, and in a rebuild -----------------------------------------

    def step(self) -> bool:
        """Write and remove one page of the elements that change with another setting or day.
        Returns whether there was a page. Raises Unavailable.
        """
        self.follow(self._journal.get_meta(RUNS_KEY))  # another process may have done it
        if not self.is_other:
            return False
        if self._wants_own:
            self._begin(CarriedRuns(self._own))
            self._is_new = False
        if self._steps is None:
            self._steps = Steps(self._steps_that_change)
        changed = self._steps.take()
        if changed is None:
            self._end()
        else:
            self.wrote(changed)
        return True

    def _begin(self, carried: CarriedRuns) -> None:
        """Note the change before it begins, so that other services and the next start know it."""
        log.info("the projector changes the runs in the graph to %s", carried.window)
        self._needed = None
        self._note(replace(carried, moving=True))

    def _end(self) -> None:
        self._note(replace(self._carried, moving=False))

    def _steps_that_change(self) -> Iterator[Callable[[], int]]:
        return steps_that_trim(self._graph, self._generations.current, self.window)

    def begin_writing(self) -> None:
        """Prepare for ``write``, after everything was projected anew without runs."""
        self._writing = Steps(self._steps_that_write)

    def _steps_that_write(self) -> Iterator[Callable[[], Facts]]:
        return steps_that_write(self._graph, self._generations.current, self.window)

    def write(self) -> Facts | None:
        """Write and return a page of the window's elements; None when all is written. Raises
        Unavailable.
        """
        facts = self._writing.take()
        if facts is not None:
            self.wrote(facts.size)
        return facts

    def wrote(self, elements: int) -> None:
        """Note the number of elements that are about to be written, or were removed."""
        self._fullness.wrote(elements)


_Done = TypeVar("_Done")


class Steps(Generic[_Done]):
    """``begin`` gives all steps from the first one on. It is called again when its iterator
    fails.
    """

    def __init__(self, begin: Callable[[], Iterator[Callable[[], _Done]]]) -> None:
        self._begin = begin
        self._steps = begin()
        self._due: Callable[[], _Done] | None = None

    def take(self) -> _Done | None:
        """The result of the next step; None after the last one. Raises the step's errors."""
        if self._due is None:
            self._due = self._next()
        if self._due is None:
            return None
        done = self._due()
        self._due = None
        return done

    def _next(self) -> Callable[[], _Done] | None:
        try:
            return next(self._steps, None)
        except BaseException:
            self._steps = self._begin()
            raise
