"""Histories of few tables, plans and times, so that executions of several agents, versions, names
and renames meet: hypothesis strategies.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from graph_model.facts import (
    ApplicationRow,
    ExecutionRow,
    NameRow,
    PartitionRow,
    ReadVersionRow,
    RenameRow,
)
from graph_model.labels import CTAS_COMMANDS, EXECUTION_MODES
from tests.contract.rows import an_execution

TARGETS: Final = ("ds-0", "ds-1", "ds-2")
PLANS: Final = ("lp-0", "lp-1", "lp-2")
JOBS: Final = ("job-0", "job-1")
RUNS: Final = ("run-0", "run-1", "run-2")
APPLICATIONS: Final = ("", "app-0", "app-1", "app-2")
BRANCHES: Final = ("", "audit")
IDS: Final = tuple(f"ex-{number:02}" for number in range(16))
_TIMES: Final = st.integers(0, 12)


@st.composite
def _an_execution(draw: st.DrawFn) -> ExecutionRow:
    number = draw(st.none() | st.integers(0, 6))
    plan = draw(st.sampled_from(PLANS))
    return an_execution(
        "",
        target=draw(st.sampled_from(TARGETS)),
        logical_plan=plan,
        job=JOBS[PLANS.index(plan) % 2],
        run=draw(st.sampled_from(RUNS)),
        at=draw(_TIMES),
        state=draw(st.sampled_from(("completed", "completed", "completed", "failed"))),
        mode=draw(st.sampled_from(EXECUTION_MODES)),
        kind=draw(st.sampled_from(("write", "write", "write", "read"))),
        command=draw(st.sampled_from(("Save", CTAS_COMMANDS[0]))),
        producer=draw(st.sampled_from(("spline 2.0", "spline 2.1", "spline 2.2"))),
        application_id=draw(st.sampled_from(APPLICATIONS)),
        dynamic=draw(st.booleans()),
        version="" if number is None else str(number),
        version_number=number,
        branch=draw(st.sampled_from(BRANCHES)),
    )


#: The executions; the id of each is its place.
HISTORIES: Final = st.lists(_an_execution(), min_size=1, max_size=len(IDS)).map(
    lambda found: [row._replace(id=key) for key, row in zip(IDS, found, strict=False)]
)
_AHEAD: Final = st.sampled_from((0, 3))
#: Rows of other kinds about those executions and tables.
ROWS_BESIDE: Final = st.lists(
    st.one_of(
        st.builds(
            PartitionRow, st.sampled_from(IDS), st.sampled_from(TARGETS),
            st.sampled_from(("read", "write")), st.sampled_from(("dt=1", "dt=2", "dt=1/h=2")),
        ),
        st.builds(
            ReadVersionRow, st.sampled_from(IDS), st.sampled_from(TARGETS),
            st.just("lp-0"), st.just("3"), st.just(3), st.just(""), st.just(-1),
        ),
        st.builds(
            NameRow, st.sampled_from(TARGETS[:2]), st.just(TARGETS[2]), st.sampled_from(IDS),
            _TIMES, _AHEAD,
        ),
        st.builds(
            RenameRow, st.just("ds-8"), st.sampled_from(TARGETS), st.sampled_from(IDS), _TIMES,
            ahead=_AHEAD,
        ),
        st.builds(
            lambda run, app: ApplicationRow(f"ola-{run}-{app}", run, app, "run-9"),
            st.sampled_from(RUNS), st.sampled_from(APPLICATIONS[1:]),
        ),
    ),
    max_size=12,
)  # fmt: skip
