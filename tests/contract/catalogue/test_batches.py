"""What a question answers about one subject does not depend on the others that it asks about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import product
from typing import Any, Final

from hypothesis import given, settings

from graph_model.facts import Row, row_key
from graph_model.labels import COMPLETED
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import Span, VersionId, VersionSpan
from tests.contract.histories import (
    APPLICATIONS,
    BRANCHES,
    HISTORIES,
    IDS,
    JOBS,
    PLANS,
    ROWS_BESIDE,
    TARGETS,
)
from tests.contract.rows import property_test

_Answer = Callable[[Catalogue, Collection[Any]], Any]


_SPANS: Final = tuple(
    Span(target, since, before, place, partition, branch)
    for target, since, before, place, partition, branch in product(
        TARGETS, (0,), (6, 20), ("", "ds-2"), ("", "dt=1"), ("",)
    )
)
_READS: Final = (
    *((span._replace(since=span.before),) for span in _SPANS),
    (Span("ds-0", 9, 9, "ds-2"), Span("ds-1", 9, 9, "ds-2"), Span("ds-2", 9, 9)),
)
_VERSIONS: Final = tuple(
    VersionSpan(target, branch, number, since)
    for target, branch, number, since in product(TARGETS, BRANCHES, (2, 5), (-1, 3))
)
_MOMENTS: Final = tuple(product(TARGETS, (3, 9)))
_ASKED: Final[Mapping[str, tuple[Collection[Any], _Answer]]] = {
    "writes": (_SPANS, lambda c, some: c.writes(some, most=2, per_plan=1)),
    "readable writes": (
        _READS, lambda c, some: c.readable_writes(some, reach=2, most=2, per_plan=1)
    ),
    "writes of versions": (_VERSIONS, lambda c, some: c.version_writes(some, most=3)),
    "writes by version": (
        tuple(VersionId(*key) for key in product(TARGETS, ("1", "4"), BRANCHES)),
        lambda c, some: c.writes_by_version(some),
    ),
    "companions": (
        tuple(product(TARGETS, APPLICATIONS[1:])), lambda c, some: c.companions(some, COMPLETED)
    ),
    "readings": (tuple(product(PLANS, (4, 20))), lambda c, some: c.readings(some, per_plan=1)),
    "bound reads": (PLANS, lambda c, some: c.bound_reads(some)),
    "partitions": (IDS, lambda c, some: c.partitions(some)),
    "executions": (IDS, lambda c, some: c.executions_of(some)),
    "last executions": (JOBS, lambda c, some: c.last_executions(some, 9)),
    "last states": (JOBS, lambda c, some: c.last_states(some, 9, 0)),
    "last writers": (TARGETS, lambda c, some: c.last_writers(some, 9)),
    "last writes": (TARGETS, lambda c, some: c.last_writes(some, 9)),
    "lone last writes": (TARGETS, lambda c, some: c.lone_last_writes(some, 9, apart=2)),
    "writers": (TARGETS, lambda c, some: c.writers(some, 9, main=True)),
    "spans of plans": (PLANS, lambda c, some: c.plan_spans(some, 9)),
    "names": (TARGETS, lambda c, some: c.names_of(some, 9)),
    "locations": (_MOMENTS, lambda c, some: c.locations_of(some)),
    "renames": (TARGETS, lambda c, some: c.renames_of(some, 9)),
    "attempts": (JOBS, lambda c, some: c.attempts(some, 9)),
    "newest of plans": (PLANS, lambda c, some: c.events.newest_of_plans(some, 9)),
    "first of plans": (PLANS, lambda c, some: c.events.first_of_plans(some, 4)),
}  # fmt: skip


@settings(property_test, max_examples=10)
@given(rows=HISTORIES, beside=ROWS_BESIDE)
def test_subjects_that_are_asked_about_together_get_the_answers_that_each_gets_alone(
    catalogue: Catalogue, rows: list[Row], beside: list[Row]
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
