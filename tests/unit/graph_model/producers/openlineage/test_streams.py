"""Streams of events as they may really come: generated, split, repeated, out of order, damaged.

Whatever the order of arrival, and however often a document comes, graph and catalogue are the same.
"""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.projections import budget, elements_of_events, lineage_event, project

Json = dict[str, Any]
slow = budget(25)
SEEDS = st.integers(0, 2**32)

RUNS: Final = ("r1", "r2", "Ünï run")
APPLICATIONS: Final = ("s1", "s2")
TYPES: Final = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER", "", "WHAT")
TABLES: Final = ("a", "b", "c")
FIELDS: Final = ("x", "y")
HOWS: Final = ("IDENTITY", "AGGREGATION", "OUR_OWN", "")
FACETS: Final[tuple[tuple[str, Json], ...]] = (
    ("ownership", {"owners": [{"name": "ana"}]}),
    ("ownership", {"_deleted": True}),
    ("version", {"datasetVersion": "1"}),
    ("dataQualityAssertions", {"assertions": [{"assertion": "not_null", "success": False}]}),
    ("ourOwn", {"odd": [None, {"deep": [1]}]}),
)


class Stream:
    """Events drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def facets(self) -> Json:
        return dict(self.chance.sample(FACETS, self.chance.randint(0, 2)))

    def dataset(self) -> Json:
        fields = self.chance.sample(FIELDS, self.chance.randint(0, 2))
        facets = {"schema": {"fields": [{"name": one, "type": "int"} for one in fields]}}
        if self.chance.random() < 0.4:
            facets["columnLineage"] = self.lineage()
        return {
            "namespace": "s3://lake",
            "name": self.chance.choice(TABLES),
            "facets": {**facets, **self.facets()},
        }

    def lineage(self) -> Json:
        one = {
            "namespace": "s3://lake",
            "name": self.chance.choice(TABLES),
            "field": self.chance.choice(FIELDS),
            "transformations": [{"type": "DIRECT", "subtype": self.chance.choice(HOWS)}],
        }
        return {"fields": {self.chance.choice(FIELDS): {"inputFields": [one]}}}

    def datasets(self) -> list[Json]:
        listed = [self.dataset() for _ in range(self.chance.randint(0, 2))]
        return list({one["name"]: one for one in listed}.values())

    def parents(self) -> Json:
        if self.chance.random() < 0.5:
            return {}
        # Its own id may be among them, and circles.
        run, job = {"runId": self.chance.choice(RUNS)}, {"namespace": "etl", "name": "dag"}
        return {"parent": {"run": run, "job": job}}

    def run_event(self) -> Json:
        return run_event(
            self.chance.choice(RUNS),
            self.chance.choice(TYPES),
            self.chance.randint(0, 9),
            self.chance.choice(("load", "dag")),
            (self.datasets(), self.datasets()),
            (self.parents(), self.facets()),
        )

    def spark_event(self) -> Json:
        """Of an application, or of one of its commands: some of them name the application."""
        run = self.chance.choice((*APPLICATIONS, "q1", "q2", "q3"))
        kind = self.chance.choice(("START", "COMPLETE", "FAIL"))
        facets: Json = {"spark_properties": {"properties": {"spark.app.name": "nightly"}}}
        job = "nightly"
        if run not in APPLICATIONS:
            above = {"runId": self.chance.choice(APPLICATIONS)}
            facets["parent"] = {"run": above, "job": {"namespace": "etl", "name": "nightly"}}
            job = "nightly.execute_insert.out"
        if self.chance.random() < 0.5:
            facets["spark_applicationDetails"] = {
                "applicationId": self.chance.choice(("local-1", "local-2"))
            }
        told = ([], []) if run in APPLICATIONS else (self.datasets(), self.datasets())
        return run_event(run, kind, self.chance.randint(0, 9), job, told, (facets, {}))

    def declaration(self) -> Json:
        at = f"2026-03-01T09:00:{self.chance.randint(0, 9):02d}Z"
        return {"eventTime": at, "dataset": self.dataset()}

    def events(self, most: int) -> list[Json]:
        count = self.chance.randint(1, most)
        return [
            self.chance.choices(
                (self.declaration, self.run_event, self.spark_event), weights=(2, 5, 3)
            )[0]()
            for _ in range(count)
        ]

    def shuffled(self, items: list[Any]) -> list[Any]:
        return self.chance.sample(items, len(items))


def run_event(
    run: str, kind: str, second: int, job: str, datasets: tuple[Any, Any], facets: tuple[Any, Any]
) -> Json:
    event = {
        "eventType": kind,
        "eventTime": f"2026-03-01T10:00:{second:02d}Z",
        "run": {"runId": run, "facets": facets[0]},
        "job": {"namespace": "etl", "name": job, "facets": facets[1]},
    }
    return event | dict(zip(("inputs", "outputs"), datasets, strict=True))


@slow
@given(SEEDS)
def test_any_stream_comes_to_the_same_in_any_order_with_any_repetition(seed: int) -> None:
    stream = Stream(seed)
    events = stream.events(7)
    mixed = stream.shuffled([*events, *stream.chance.choices(events, k=3)])
    assert elements_of_events(mixed, stepwise=True) == elements_of_events(events, stepwise=False)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("late", [False, True])
@budget(8)
@given(SEEDS)
def test_a_run_told_in_parts_equals_the_run_told_at_once(
    late: bool, backwards: bool, seed: int
) -> None:
    """Inputs with START and outputs with COMPLETE, as AWS's scripts send them, or even later."""
    stream = Stream(seed)
    inputs, outputs = stream.datasets(), stream.datasets()
    facets = stream.parents(), stream.facets()
    none: tuple[Json, Json] = {}, {}

    def event(kind: str, second: int, told: tuple[Any, Any], said: tuple[Any, Any]) -> Json:
        return run_event("r1", kind, second, "load", told, said)

    whole = [event("START", 1, ([], []), none), event("COMPLETE", 4, (inputs, outputs), facets)]
    parts = [event("START", 1, (inputs, []), facets)]
    if late:
        whole.append(event("OTHER", 5, ([], []), none))
        parts += [event("COMPLETE", 4, ([], []), none), event("OTHER", 5, ([], outputs), none)]
    else:
        parts.append(event("COMPLETE", 4, ([], outputs), none))
    came = parts[::-1] if backwards else parts
    assert elements_of_events(came, stepwise=True) == elements_of_events(whole, stepwise=False)


DAMAGE: Final[tuple[Json, ...]] = (
    {"eventTime": "yesterday"},
    {"run": {"runId": " "}},
    {"inputs": [{"namespace": "s3://lake"}]},
    {"job": {"namespace": "etl", "name": ""}},
    {"outputs": [{"namespace": "n", "name": "t"}, 7]},
)


@slow
@given(SEEDS)
def test_an_unreadable_statement_changes_nothing_of_the_readable_ones(seed: int) -> None:
    stream = Stream(seed)
    events = [stream.run_event() for _ in range(stream.chance.randint(1, 4))]
    damage = stream.chance.sample(DAMAGE, 2)
    broken = [lineage_event(events[0], **one) for one in damage]
    headwater = project(stream.shuffled([*map(lineage_event, events), *broken]), stepwise=True)
    found, failed = headwater.elements(), headwater.journal.summary().failed
    headwater.close()
    assert found == elements_of_events(events, stepwise=False)
    assert failed == len(broken)
