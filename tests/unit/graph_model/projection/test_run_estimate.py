"""The elements that runs take in the graph: estimated from rows, against the graph itself."""

from __future__ import annotations

import pytest

from graph_model.facts import is_of_run
from graph_model.projection.kept_runs import EXECUTIONS_LOOKED_AT, estimate_elements
from graph_model.projection.run_window import DEFAULT, RunWindow, read_run_window
from tests.projections import SmallHeadwater, small_headwater
from tests.unit.graph_model.projection.test_graph_runs import WINDOWS, plans, run, take_steps


def lived(window: RunWindow, executions: int) -> SmallHeadwater:
    """The first job has a run every eight hours, the second one two."""
    headwater = small_headwater(window)
    headwater.accept(*plans(), *(run(0, number, number) for number in range(executions)))
    headwater.accept(run(1, -1, 1), run(1, -2, 6))
    take_steps(headwater)
    return headwater


def elements_of_runs(headwater: SmallHeadwater) -> int:
    return sum(map(is_of_run, headwater.graph.scan()))


@pytest.mark.parametrize("setting", WINDOWS)
def test_the_estimate_of_a_small_estate_is_exact(setting: str) -> None:
    window = read_run_window(setting)
    headwater = lived(window, 9)
    assert estimate_elements(headwater.catalogue, [window]) == {window: elements_of_runs(headwater)}
    headwater.close()


def test_executions_beyond_those_looked_at_are_like_them() -> None:
    window = RunWindow(1_000)
    headwater = lived(window, 2 * EXECUTIONS_LOOKED_AT)
    (result,) = estimate_elements(headwater.catalogue, [window]).values()
    assert result == pytest.approx(elements_of_runs(headwater), rel=0.02)
    headwater.close()


def test_nothing_takes_nothing() -> None:
    headwater = small_headwater()
    assert estimate_elements(headwater.catalogue, [DEFAULT]) == {DEFAULT: 0}
    headwater.close()
