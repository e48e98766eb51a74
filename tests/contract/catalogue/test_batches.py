"""What a question answers about one subject does not depend on the others that it asks about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import product
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.facts import (
    ApplicationRow,
    ExecutionRow,
    NameRow,
    PartitionRow,
    ReadVersionRow,
    RenameRow,
    Row,
    row_key,
)
from graph_model.labels import COMPLETED, CTAS_COMMANDS, EXECUTION_MODES
from graph_model.stores.catalogue import SqlCatalogue
from graph_model.stores.protocols import Span, VersionId, VersionSpan
from tests.contract.rows import an_execution, property_test

_TARGETS: Final = ("ds-0", "ds-1", "ds-2")
_PLANS: Final = ("lp-0", "lp-1", "lp-2")
_JOBS: Final = ("job-0", "job-1")
_RUNS: Final = ("run-0", "run-1", "run-2")
_APPLICATIONS: Final = ("", "app-0", "app-1", "app-2")
_BRANCHES: Final = ("", "audit")
_IDS: Final = tuple(f"ex-{number:02}" for number in range(16))
_TIMES: Final = st.integers(0, 12)
_Answer = Callable[[SqlCatalogue, Collection[Any]], Any]


@st.composite
def _an_execution(draw: st.DrawFn) -> ExecutionRow:
    number = draw(st.none() | st.integers(0, 6))
    plan = draw(st.sampled_from(_PLANS))
    return an_execution(
        "",
        target=draw(st.sampled_from(_TARGETS)),
        logical_plan=plan,
        job=_JOBS[_PLANS.index(plan) % 2],
        run=draw(st.sampled_from(_RUNS)),
        at=draw(_TIMES),
        state=draw(st.sampled_from(("completed", "completed", "completed", "failed"))),
        mode=draw(st.sampled_from(EXECUTION_MODES)),
        kind=draw(st.sampled_from(("write", "write", "write", "read"))),
        command=draw(st.sampled_from(("Save", CTAS_COMMANDS[0]))),
        producer=draw(st.sampled_from(("spline 2.0", "spline 2.1", "spline 2.2"))),
        application_id=draw(st.sampled_from(_APPLICATIONS)),
        dynamic=draw(st.booleans()),
        version="" if number is None else str(number),
        version_number=number,
        branch=draw(st.sampled_from(_BRANCHES)),
    )


HISTORIES: Final = st.lists(_an_execution(), min_size=1, max_size=len(_IDS)).map(
    lambda found: [row._replace(id=key) for key, row in zip(_IDS, found, strict=False)]
)
BESIDE: Final = st.lists(
    st.one_of(
        st.builds(
            PartitionRow, st.sampled_from(_IDS), st.sampled_from(_TARGETS),
            st.sampled_from(("read", "write")), st.sampled_from(("dt=1", "dt=2", "dt=1/h=2")),
        ),
        st.builds(
            ReadVersionRow, st.sampled_from(_IDS), st.sampled_from(_TARGETS),
            st.just("lp-0"), st.just("3"), st.just(3), st.just(""), st.just(-1),
        ),
        st.builds(
            NameRow, st.sampled_from(_TARGETS[:2]), st.just(_TARGETS[2]), st.sampled_from(_IDS),
            _TIMES,
        ),
        st.builds(
            RenameRow, st.just("ds-8"), st.sampled_from(_TARGETS), st.sampled_from(_IDS), _TIMES
        ),
        st.builds(
            lambda run, app: ApplicationRow(f"ola-{run}-{app}", run, app, "run-9"),
            st.sampled_from(_RUNS), st.sampled_from(_APPLICATIONS[1:]),
        ),
    ),
    max_size=12,
)  # fmt: skip

_SPANS: Final = tuple(
    Span(target, since, before, place, partition, branch)
    for target, since, before, place, partition, branch in product(
        _TARGETS, (0,), (6, 20), ("", "ds-2"), ("", "dt=1"), ("",)
    )
)
_READS: Final = (
    *((span._replace(since=span.before),) for span in _SPANS),
    (Span("ds-0", 9, 9, "ds-2"), Span("ds-1", 9, 9, "ds-2"), Span("ds-2", 9, 9)),
)
_VERSIONS: Final = tuple(
    VersionSpan(target, branch, number, since)
    for target, branch, number, since in product(_TARGETS, _BRANCHES, (2, 5), (-1, 3))
)
_MOMENTS: Final = tuple(product(_TARGETS, (3, 9)))
_ASKED: Final[Mapping[str, tuple[Collection[Any], _Answer]]] = {
    "writes": (_SPANS, lambda c, some: c.writes(some, most=2, per_plan=1)),
    "readable writes": (
        _READS, lambda c, some: c.readable_writes(some, reach=2, most=2, per_plan=1)
    ),
    "writes of versions": (_VERSIONS, lambda c, some: c.version_writes(some, most=3)),
    "writes by version": (
        tuple(VersionId(*key) for key in product(_TARGETS, ("1", "4"), _BRANCHES)),
        lambda c, some: c.writes_by_version(some),
    ),
    "companions": (
        tuple(product(_TARGETS, _APPLICATIONS[1:])), lambda c, some: c.companions(some, COMPLETED)
    ),
    "readings": (tuple(product(_PLANS, (4, 20))), lambda c, some: c.readings(some, per_plan=1)),
    "bound reads": (_PLANS, lambda c, some: c.bound_reads(some)),
    "partitions": (_IDS, lambda c, some: c.partitions(some)),
    "executions": (_IDS, lambda c, some: c.executions_of(some)),
    "last executions": (_JOBS, lambda c, some: c.last_executions(some, 9)),
    "last states": (_JOBS, lambda c, some: c.last_states(some, 9)),
    "last writers": (_TARGETS, lambda c, some: c.last_writers(some, 9)),
    "last writes": (_TARGETS, lambda c, some: c.last_writes(some, 9)),
    "lone last writes": (_TARGETS, lambda c, some: c.lone_last_writes(some, 9, apart=2)),
    "writers": (_TARGETS, lambda c, some: c.writers(some, 9, main=True)),
    "spans of plans": (_PLANS, lambda c, some: c.plan_spans(some, 9)),
    "names": (_TARGETS, lambda c, some: c.names_of(some, 9)),
    "locations": (_MOMENTS, lambda c, some: c.locations_of(some)),
    "renames": (_TARGETS, lambda c, some: c.renames_of(some, 9)),
    "attempts": (_JOBS, lambda c, some: c.attempts(some, 9)),
    "newest of plans": (_PLANS, lambda c, some: c.events.newest_of_plans(some, 9)),
    "first of plans": (_PLANS, lambda c, some: c.events.first_of_plans(some, 4)),
}  # fmt: skip


@settings(property_test, max_examples=10)
@given(rows=HISTORIES, beside=BESIDE)
def test_subjects_that_are_asked_about_together_get_the_answers_that_each_gets_alone(
    catalogue: SqlCatalogue, rows: list[Row], beside: list[Row]
) -> None:
    catalogue.clear()
    catalogue.record([*rows, *{row_key(row): row for row in beside}.values()])
    for question, (asked, answer) in _ASKED.items():
        together = _parts(answer(catalogue, asked))
        alone = (_parts(answer(catalogue, [one])) for one in asked)
        assert (question, together) == (question, set().union(*alone))


def _parts(answer: Mapping[Any, Any] | Iterable[Any]) -> set[str]:
    """The parts of an answer that belong to one subject; lists of rows are in any order."""
    if isinstance(answer, Mapping):
        return {f"{key}: {_spelled(value)}" for key, value in answer.items()}
    return {repr(one) for one in answer}


def _spelled(value: Any) -> str:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return str({name: _spelled(one) for name, one in value._asdict().items()})
    if isinstance(value, Mapping):
        return str(sorted((str(key), _spelled(one)) for key, one in value.items()))
    if isinstance(value, tuple):
        return str(sorted(map(_spelled, value)))
    return repr(value)
