"""Walks against brute force: every small world, both directions, every depth and time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.catalogue import SqlCatalogue
from graph_model.database import open_database
from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    ExecutionRow,
    FactCollector,
    JobRow,
    LogicalPlanRow,
    SchemaRow,
    SchemaUseRow,
    Vertex,
    edge,
    properties,
)
from graph_model.lineage import Lineage, Question
from graph_model.memory import MemoryGraph
from graph_model.store import Direction

COLUMNS = ("a", "b")
FAR = 60


@dataclass(frozen=True)
class Step:
    """A plan of a job: reads ``sources``, writes ``target``, ran at ``times`` (state by sign)."""

    job: int
    sources: tuple[int, ...]
    target: int
    mode: str
    times: tuple[int, ...]  # negative: a failed run at that time
    flows: tuple[tuple[int, str, str], ...]  # (source dataset, its column, target column)


def dataset(index: int) -> str:
    return identity.dataset_id("", f"file:/d{index}")


def column(index: int, name: str) -> str:
    return identity.column_id(dataset(index), name)


def job(index: int) -> str:
    return identity.job_id("default", f"j{index}")


def plan(position: int, step: Step) -> str:
    return identity.vertex_id(labels.LOGICAL_PLAN, job(step.job), position)


@dataclass(frozen=True)
class World:
    steps: tuple[Step, ...]

    def fill(self, graph: MemoryGraph, catalogue: SqlCatalogue) -> None:
        collector = FactCollector()
        touched = {d for step in self.steps for d in (*step.sources, step.target)}
        for index in touched:
            self._add_dataset(collector, index)
        for position, step in enumerate(self.steps):
            self._add_plan(collector, position, step)
        facts = collector.facts()
        graph.write(facts)
        catalogue.record(facts.rows)

    def _add_dataset(self, collector: FactCollector, index: int) -> None:
        uri = f"file:/d{index}"
        content = json.dumps([{"name": c, "type": None, "path": c} for c in COLUMNS])
        schema = identity.vertex_id(labels.SCHEMA, dataset(index), content)
        collector.add(
            Vertex(dataset(index), labels.DATASET, properties({"uri": uri})),
            DatasetRow(dataset(index), uri, "", f"d{index}", "file"),
            Vertex(schema, labels.SCHEMA, properties({"columns": content})),
            SchemaRow(schema, dataset(index), content),
        )
        for name in COLUMNS:
            values = {"path": name, "dataset": uri, "dataset_id": dataset(index)}
            collector.add(
                Vertex(column(index, name), labels.COLUMN, properties(values)),
                ColumnRow(column(index, name), dataset(index), name),
                edge(labels.HAS, schema, column(index, name)),
                edge(labels.HAS, dataset(index), column(index, name)),
            )

    def _add_plan(self, collector: FactCollector, position: int, step: Step) -> None:
        key = plan(position, step)
        collector.add(
            Vertex(job(step.job), labels.JOB),
            JobRow(job(step.job), "default", f"j{step.job}", False),
            Vertex(key, labels.LOGICAL_PLAN),
            edge(labels.HAS, job(step.job), key),
            edge(labels.FEEDS, key, dataset(step.target), {"mode": step.mode}),
            LogicalPlanRow(key, job(step.job), "", dataset(step.target), step.mode, "[]", "[]"),
            SchemaUseRow(key, dataset(step.target), self._schema(step.target), "write"),
        )
        for source in step.sources:
            collector.add(edge(labels.FEEDS, dataset(source), key))
        for source, name, target in step.flows:
            values = {
                "kind": labels.DIRECT, "how": labels.IDENTITY, "expression": name,
                "logical_plan": key,
            }  # fmt: skip
            collector.add(
                edge(
                    labels.DERIVES, column(source, name), column(step.target, target), values,
                    discriminator=(key,),
                )
            )  # fmt: skip
        for time in step.times:
            collector.add(self._execution(key, position, step, time))

    @staticmethod
    def _schema(index: int) -> str:
        content = json.dumps([{"name": c, "type": None, "path": c} for c in COLUMNS])
        return identity.vertex_id(labels.SCHEMA, dataset(index), content)

    @staticmethod
    def _execution(key: str, position: int, step: Step, time: int) -> ExecutionRow:
        return ExecutionRow(
            id=identity.vertex_id(labels.EXECUTION, key, time), subject=f"s{position}",
            plan_id=f"p{position}", execution_plan=f"x{position}", logical_plan=key,
            job=job(step.job), run=f"run{position}-{time}", target=dataset(step.target),
            at=abs(time), state=labels.COMPLETED if time > 0 else labels.FAILED,
            duration_ns=None, error=None, metrics="{}", mode=step.mode, dynamic=False,
            kind="write", command="Insert", producer="t", application_id="app", scope="",
            reads="",
        )  # fmt: skip

    # brute force

    def live(self, at: int) -> set[int]:
        """Positions of plans whose newest write is at or after the latest overwrite."""
        last = {
            i: max((t for t in step.times if 0 < t <= at), default=None)
            for i, step in enumerate(self.steps)
        }
        cut: dict[int, int] = {}
        for i, step in enumerate(self.steps):
            newest = last[i]
            if newest is not None and step.mode == labels.OVERWRITE:
                cut[step.target] = max(cut.get(step.target, 0), newest)
        return {
            i
            for i, step in enumerate(self.steps)
            if (newest := last[i]) is not None and newest >= cut.get(step.target, 0)
        }

    def table_pairs(self, at: int) -> set[tuple[str, str]]:
        return {
            (dataset(source), dataset(self.steps[i].target))
            for i in self.live(at)
            for source in self.steps[i].sources
        }

    def column_pairs(self, at: int) -> set[tuple[str, str]]:
        return {
            (column(source, name), column(self.steps[i].target, target))
            for i in self.live(at)
            for source, name, target in self.steps[i].flows
        }


def reach(pairs: set[tuple[str, str]], start: str, direction: Direction, depth: int) -> set[str]:
    """Everything at most ``depth`` steps away, the start included."""
    found = {start}
    for _ in range(depth):
        if direction == Direction.UPSTREAM:
            found |= {a for a, b in pairs if b in found}
        else:
            found |= {b for a, b in pairs if a in found}
    return found


datasets = st.integers(0, 5)
times = st.lists(st.integers(-20, 20).filter(bool), max_size=3)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    steps = []
    for position in range(draw(st.integers(1, 7))):
        sources = tuple(sorted(draw(st.sets(datasets, max_size=3))))
        flows = draw(
            st.lists(
                st.tuples(st.sampled_from(sources), *[st.sampled_from(COLUMNS)] * 2), max_size=3
            )
            if sources
            else st.just([])
        )
        steps.append(
            Step(
                draw(st.integers(0, position)),
                sources,
                draw(datasets),
                draw(st.sampled_from((labels.OVERWRITE, labels.APPEND))),
                tuple(sorted(set(draw(times)))),
                tuple(dict.fromkeys(flows)),
            )
        )
    return World(tuple(steps))


Stores = tuple[MemoryGraph, SqlCatalogue]


@pytest.fixture
def stores() -> Iterator[Stores]:
    catalogue = SqlCatalogue(open_database("sqlite://"))
    yield MemoryGraph(), catalogue
    catalogue.close()


def lineage_of(world: World, stores: Stores) -> Lineage:
    graph, catalogue = stores
    graph.clear()
    catalogue.clear()
    world.fill(graph, catalogue)
    return Lineage(graph, catalogue)


both = st.sampled_from((Direction.UPSTREAM, Direction.DOWNSTREAM))
#: Each example clears the stores that it gets, so sharing them between examples is right.
shared = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@shared
@given(worlds(), both, st.integers(0, 4), st.integers(1, 21))
def test_tables_found_are_those_of_brute_force(
    stores: Stores, world: World, direction: Direction, depth: int, at: int
) -> None:
    lineage = lineage_of(world, stores)
    for step in world.steps:
        for index in (*step.sources, step.target):
            answer = lineage.ask(Question(dataset(index), direction, depth, at))
            expected = reach(world.table_pairs(at), dataset(index), direction, depth)
            assert set(answer.datasets) == expected
            assert answer.partial is None


@shared
@given(worlds(), st.integers(1, 21))
def test_downstream_is_the_mirror_of_upstream(stores: Stores, world: World, at: int) -> None:
    lineage = lineage_of(world, stores)
    nodes = {dataset(d) for step in world.steps for d in (*step.sources, step.target)}
    up = {n: set(lineage.ask(Question(n, Direction.UPSTREAM, FAR, at)).datasets) for n in nodes}
    down = {n: set(lineage.ask(Question(n, Direction.DOWNSTREAM, FAR, at)).datasets) for n in nodes}
    assert {(x, y) for x in nodes for y in up[x]} == {(x, y) for y in nodes for x in down[y]}


@shared
@given(worlds(), both, st.integers(0, 4))
def test_columns_found_are_those_of_brute_force(
    stores: Stores, world: World, direction: Direction, depth: int
) -> None:
    lineage = lineage_of(world, stores)
    for step in world.steps:
        for name in COLUMNS:
            start = column(step.target, name)
            answer = lineage.ask_columns((start,), Question(start, direction, depth, 30))
            expected = reach(world.column_pairs(30), start, direction, depth)
            assert {node.id for node in answer.columns} == expected
            pairs = {(edge.source, edge.target) for edge in answer.column_edges}
            assert pairs <= world.column_pairs(30)


@shared
@given(worlds(), st.sampled_from(list(Direction)), st.integers(0, 4))
def test_a_deeper_answer_contains_the_shallower(
    stores: Stores, world: World, direction: Direction, depth: int
) -> None:
    lineage = lineage_of(world, stores)
    start = dataset(world.steps[0].target)
    shallow = lineage.ask(Question(start, direction, depth, columns=True))
    deep = lineage.ask(Question(start, direction, depth + 1, columns=True))
    assert set(shallow.datasets) <= set(deep.datasets)
    assert set(shallow.jobs) <= set(deep.jobs)
    assert {e.source + e.target for e in shallow.column_edges} <= {
        e.source + e.target for e in deep.column_edges
    }


def chain(length: int) -> World:
    return World(
        tuple(
            Step(i, (i,), i + 1, labels.OVERWRITE, (i + 1,), ((i, "a", "a"),))
            for i in range(length)
        )
    )


def test_depth_one_from_a_job_is_its_own_tables(stores: Stores) -> None:
    answer = lineage_of(chain(4), stores).ask(Question(job(1)))
    assert set(answer.datasets) == {dataset(1), dataset(2)}
    assert answer.jobs == (job(1),)


def test_depth_two_from_a_job_reaches_the_next_jobs(stores: Stores) -> None:
    answer = lineage_of(chain(4), stores).ask(Question(job(1), depth=2))
    assert set(answer.jobs) == {job(0), job(1), job(2)}
    assert set(answer.datasets) == {dataset(i) for i in range(4)}


def test_depth_zero_is_the_node_alone(stores: Stores) -> None:
    lineage = lineage_of(chain(3), stores)
    assert lineage.ask(Question(dataset(1), depth=0)).datasets == (dataset(1),)
    assert lineage.ask(Question(job(1), depth=0)).jobs == (job(1),)
    assert lineage.ask(Question(job(1), depth=0)).datasets == ()


def test_a_chain_that_fits_the_depth_exactly_says_what_it_reached(stores: Stores) -> None:
    lineage = lineage_of(chain(3), stores)
    answer = lineage.ask(Question(dataset(3), Direction.UPSTREAM, 10))
    assert (answer.depth_asked, answer.depth_reached) == (10, 3)


def test_a_job_whose_table_another_job_has_overwritten_is_no_lineage_now(stores: Stores) -> None:
    """It was, at the time: the mirror law leaves no room for "its own" tables."""
    world = World(
        (
            Step(0, (0,), 1, labels.OVERWRITE, (1,), ()),
            Step(1, (2,), 1, labels.OVERWRITE, (2,), ()),
        )
    )
    lineage = lineage_of(world, stores)
    assert lineage.ask(Question(job(0))).datasets == ()
    assert set(lineage.ask(Question(job(0), at=1)).datasets) == {dataset(0), dataset(1)}
    upstream = lineage.ask(Question(dataset(1), Direction.UPSTREAM))
    assert set(upstream.datasets) == {dataset(1), dataset(2)}
    before = lineage.ask(Question(dataset(1), Direction.UPSTREAM, at=1))
    assert set(before.datasets) == {dataset(0), dataset(1)}


@shared
@given(worlds(), st.integers(0, 3), st.integers(1, 21))
def test_jobs_and_tables_mirror_each_other(
    stores: Stores, world: World, depth: int, at: int
) -> None:
    """A job is one step from its tables: job to table at depth d, table to job at depth d."""
    lineage = lineage_of(world, stores)
    tables = {dataset(d) for step in world.steps for d in (*step.sources, step.target)}
    jobs = {job(step.job) for step in world.steps}
    forward = {
        (j, t)
        for j in jobs
        for t in lineage.ask(Question(j, Direction.DOWNSTREAM, depth, at)).datasets
    }
    backward = {
        (j, t) for t in tables for j in lineage.ask(Question(t, Direction.UPSTREAM, depth, at)).jobs
    }
    assert forward == backward


def test_failed_runs_alone_make_no_lineage(stores: Stores) -> None:
    world = World((Step(0, (0,), 1, labels.OVERWRITE, (-5,), ()),))
    answer = lineage_of(world, stores).ask(Question(dataset(1)))
    assert answer.datasets == (dataset(1),)
    assert answer.jobs == ()


def test_the_node_limit_cuts_and_says_so(stores: Stores) -> None:
    world = World((Step(0, (0, 1, 2, 3), 4, labels.OVERWRITE, (1,), ()),))
    answer = lineage_of(world, stores).ask(Question(dataset(4), limit=3))
    assert len(answer.datasets) + len(answer.jobs) == 3
    assert answer.partial is not None
    assert (answer.partial.reason, answer.partial.limit) == ("nodes", 3)


def test_a_walk_out_of_time_returns_what_it_has(stores: Stores) -> None:
    graph, catalogue = stores
    chain(4).fill(graph, catalogue)
    lineage = Lineage(graph, catalogue, expired=lambda: True, time_limit_ms=7)
    answer = lineage.ask(Question(dataset(4), Direction.UPSTREAM, 9))
    assert answer.partial is not None
    assert (answer.partial.reason, answer.partial.limit) == ("time", 7)


def test_an_unmarked_plan_is_never_shown(stores: Stores) -> None:
    graph, catalogue = stores
    world = chain(1)
    world.fill(graph, catalogue)
    graph.remove((), [edge(labels.HAS, job(0), plan(0, world.steps[0])).id])
    answer = Lineage(graph, catalogue).ask(Question(dataset(1), Direction.UPSTREAM, 3))
    assert answer.datasets == (dataset(1),)
