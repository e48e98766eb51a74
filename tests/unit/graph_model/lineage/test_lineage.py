"""Walks against brute force: every small world, both directions, every depth and time."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    ExecutionRow,
    FactCollector,
    Facts,
    JobRow,
    LogicalPlanRow,
    SchemaRow,
    SchemaUseRow,
    Vertex,
    edge,
    properties,
)
from graph_model.lineage import HUB_LIMIT, Lineage, Partial, Question, Structure
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import History, moment_of
from graph_model.lineage.questions import Bounds, WalkEvidence
from graph_model.lineage.walk import Walk
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import OlderWrites
from graph_model.stores.database import open_database
from graph_model.stores.graph import Direction
from tests.memory_graph import MemoryGraph

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

    def fill(self, graph: MemoryGraph, catalogue: Catalogue) -> None:
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

    def seen(self, index: int, before: int) -> list[tuple[Step, int]]:
        """The last overwrite before a time and the appends since, as (step, time)."""
        writes = sorted(
            (time, identity.vertex_id(labels.EXECUTION, plan(position, step), time), position)
            for position, step in enumerate(self.steps)
            for time in step.times
            if step.target == index and 0 < time < before
        )
        cut = max(
            (n for n, w in enumerate(writes) if self.steps[w[2]].mode == labels.OVERWRITE),
            default=0,
        )
        return [(self.steps[position], time) for time, _, position in writes[cut:]]

    def above(self, index: int, before: int, depth: int) -> set[str]:
        """The sources of a table's content before a time, in this many steps."""
        if depth == 0:
            return set()
        result = set()
        for step, time in self.seen(index, before):
            for source in step.sources:
                result |= {dataset(source)} | self.above(source, time, depth - 1)
        return result

    def columns_above(self, index: int, name: str, before: int, depth: int) -> set[str]:
        if depth == 0:
            return set()
        result = set()
        for step, time in self.seen(index, before):
            for source, origin, target in step.flows:
                if target == name:
                    result.add(column(source, origin))
                    result |= self.columns_above(source, origin, time, depth - 1)
        return result

    @property
    def tables(self) -> list[int]:
        return sorted({d for step in self.steps for d in (*step.sources, step.target)})


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


Stores = tuple[MemoryGraph, Catalogue]


@pytest.fixture
def stores() -> Iterator[Stores]:
    catalogue = Catalogue(open_database("sqlite://"))
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
    above = {dataset(x): world.above(x, at + 1, depth) for x in world.tables}
    for index in world.tables:
        answer = lineage.ask(Question(dataset(index), direction, depth, at))
        if direction == Direction.UPSTREAM:
            expected = above[dataset(index)]
            assert answer.via == ()
        else:
            expected = {x for x, item in above.items() if dataset(index) in item}
        assert set(answer.datasets) - set(answer.via) == {dataset(index)} | expected
        assert (answer.partial, answer.folded) == (None, False)


def answers_below(lineage: Lineage, node: str, at: int | None, depth: int = FAR) -> set[str]:
    answer = lineage.ask(Question(node, Direction.DOWNSTREAM, depth, at))
    return set(answer.datasets) - set(answer.via)


@shared
@given(worlds(), st.integers(1, 21))
def test_downstream_is_the_mirror_of_upstream(stores: Stores, world: World, at: int) -> None:
    lineage = lineage_of(world, stores)
    nodes = {dataset(d) for step in world.steps for d in (*step.sources, step.target)}
    up = {n: set(lineage.ask(Question(n, Direction.UPSTREAM, FAR, at)).datasets) for n in nodes}
    down = {n: answers_below(lineage, n, at) for n in nodes}
    assert {(x, y) for x in nodes for y in up[x]} == {(x, y) for y in nodes for x in down[y]}


@shared
@given(worlds(), both, st.integers(0, 4), st.integers(1, 21))
def test_columns_found_are_those_of_brute_force(
    stores: Stores, world: World, direction: Direction, depth: int, at: int
) -> None:
    lineage = lineage_of(world, stores)
    cells = [(index, name) for index in world.tables for name in COLUMNS]
    above = {column(*cell): world.columns_above(*cell, at + 1, depth) for cell in cells}
    for cell in cells:
        start = column(*cell)
        answer = lineage.ask_columns((start,), Question(start, direction, depth, at))
        if direction == Direction.UPSTREAM:
            expected = above[start]
        else:
            expected = {x for x, item in above.items() if start in item}
        result = {node.id for node in answer.columns} - set(answer.via)
        assert result == {start} | expected


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


@shared
@given(worlds())
def test_the_flows_of_a_map_are_the_writes_that_nothing_has_replaced(
    stores: Stores, world: World
) -> None:
    uses, partial = lineage_of(world, stores).flows_into([*map(dataset, world.tables)])
    result = {(use.job, use.sources, use.targets) for use in uses}
    unreplaced = {
        (job(step.job), tuple(sorted(map(dataset, step.sources))), (dataset(index),))
        for index in world.tables
        for step, _ in world.seen(index, FAR)
    }
    written = [(step.target, time) for step in world.steps for time in step.times if time > 0]
    assert partial is None
    assert result >= unreplaced
    if len(set(written)) == len(written):  # the map does not order writes of one millisecond
        assert result == unreplaced


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


def test_a_chain_that_fits_the_depth_exactly_reports_the_depth_that_it_reached(
    stores: Stores,
) -> None:
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
    forward = {(j, t) for j in jobs for t in answers_below(lineage, j, at, depth)}
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


def test_a_walk_out_of_time_returns_the_part_found(stores: Stores) -> None:
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


# --- answers at a time ----------------------------------------------------------------------------


def test_a_table_overwritten_after_it_was_read_is_not_the_table_that_the_reader_saw(
    stores: Stores,
) -> None:
    world = World(
        (
            Step(0, (0,), 2, labels.OVERWRITE, (1,), ((0, "a", "a"),)),
            Step(1, (2,), 3, labels.OVERWRITE, (2,), ((2, "a", "a"),)),
            Step(2, (1,), 2, labels.OVERWRITE, (3,), ((1, "a", "a"),)),
        )
    )
    lineage = lineage_of(world, stores)
    answer = lineage.ask(Question(dataset(3), Direction.UPSTREAM, FAR))
    assert set(answer.datasets) == {dataset(0), dataset(2), dataset(3)}
    down = lineage.ask(Question(dataset(0), Direction.DOWNSTREAM, FAR))
    assert set(down.datasets) == {dataset(0), dataset(2), dataset(3)}
    assert down.via == (dataset(2),)
    assert set(down.jobs) == {job(0), job(1)}
    assert set(lineage.ask(Question(dataset(1), depth=FAR)).datasets) == {dataset(1), dataset(2)}
    start = column(0, "a")
    columns = lineage.ask_columns((start,), Question(start, Direction.DOWNSTREAM, FAR))
    assert columns.via == (column(2, "a"),)


def test_a_table_that_overwrites_itself_keeps_its_first_content(stores: Stores) -> None:
    world = World(
        (
            Step(0, (0,), 1, labels.OVERWRITE, (1,), ()),
            Step(1, (1,), 1, labels.OVERWRITE, tuple(range(2, 6)), ()),
        )
    )
    lineage = lineage_of(world, stores)
    near = lineage.ask(Question(dataset(1), Direction.UPSTREAM, 4))
    assert set(near.datasets) == {dataset(1)}
    far = lineage.ask(Question(dataset(1), Direction.UPSTREAM, 5))
    assert set(far.datasets) == {dataset(0), dataset(1)}
    assert (far.folded, far.depth_reached) == (False, 5)


@pytest.mark.parametrize("runs", [12, 300])
def test_many_runs_are_folded_and_lose_nothing(stores: Stores, runs: int) -> None:
    world = World(
        (
            Step(0, (0,), 1, labels.OVERWRITE, (1,), ()),
            Step(1, (1,), 1, labels.OVERWRITE, tuple(range(2, runs + 2)), ()),
        )
    )
    lineage = lineage_of(world, stores)
    for question in (
        Question(dataset(1), Direction.UPSTREAM, 100),
        Question(dataset(0), Direction.DOWNSTREAM, 100),
    ):
        answer = lineage.ask(question)
        assert set(answer.datasets) == {dataset(0), dataset(1)}
        assert (answer.folded, answer.partial) == (True, None)


def test_a_long_list_of_appends_is_exact_one_step_up(stores: Stores) -> None:
    world = World((Step(0, (0,), 1, labels.APPEND, tuple(range(1, 400)), ()),))
    answer = lineage_of(world, stores).ask(Question(dataset(1), Direction.UPSTREAM, 5))
    assert set(answer.datasets) == {dataset(0), dataset(1)}
    assert not answer.folded  # nothing was written before the appends


@pytest.mark.parametrize(("limit", "partial"), [(2, None), (1, Partial("hub", HUB_LIMIT))])
def test_operations_of_a_plan_do_not_count_as_readers(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, limit: int, partial: Partial | None
) -> None:
    world = World(tuple(Step(n, (0,), n, labels.OVERWRITE, (1,), ()) for n in (1, 2)))
    lineage = lineage_of(world, stores)
    operations = [identity.vertex_id(labels.OPERATION, "read", n) for n in range(3)]
    stores[0].write(
        Facts(
            tuple(Vertex(operation, labels.OPERATION) for operation in operations),
            tuple(edge(labels.FEEDS, dataset(0), item) for item in operations),
        )
    )
    monkeypatch.setattr("graph_model.lineage.walk.HUB_LIMIT", limit)
    assert lineage.ask(Question(dataset(0), Direction.DOWNSTREAM, 1)).partial == partial


def evidence_of(graph: MemoryGraph, catalogue: Catalogue) -> WalkEvidence:
    structure, bounds = Structure(), Bounds(lambda: False, 1)
    return WalkEvidence(graph, catalogue, History(catalogue, structure), structure, bounds)


@pytest.mark.parametrize(("runs", "steps"), [(8, 8), (9, 1), (400, 1)])
def test_a_plan_with_more_executions_than_a_walk_follows_is_one_step(
    stores: Stores, runs: int, steps: int
) -> None:
    times = tuple(range(10, 10 + runs))
    lineage_of(World((Step(0, (0,), 1, labels.APPEND, times, ()),)), stores)
    graph, catalogue = stores
    end = moment_of(dataset(1), None)
    walk = Walk(evidence_of(graph, catalogue), end.until)
    result = walk.expand({end})[end]
    assert len(result) == steps
    read = [moment for step in result for _, moment in step.inputs]
    assert (min(m.since for m in read), max(m.until for m in read)) == (times[0], times[-1])


def test_a_level_asks_once_for_the_names_of_the_tables_that_its_plans_read(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tuple(range(10, 19))
    steps = [Step(n, (n,), n + 10, labels.APPEND, runs[: 8 + n % 2], ()) for n in range(6)]
    lineage_of(World(tuple(steps)), stores)
    graph, catalogue = stores
    asked: list[set[str]] = []
    names_around = Catalogue.names_around

    def note(self: Catalogue, datasets: Collection[str]) -> frozenset[tuple[str, str]]:
        asked.append(set(datasets))
        return names_around(self, datasets)

    monkeypatch.setattr(Catalogue, "names_around", note)
    ends = {moment_of(dataset(step.target), None) for step in steps}
    Walk(evidence_of(graph, catalogue), 20).expand(ends)
    written = {dataset(step.target) for step in steps}
    assert asked == [written, {dataset(step.job) for step in steps}]


def test_an_answer_about_a_job_is_folded_where_its_executions_share_an_interval(
    stores: Stores,
) -> None:
    world = World(
        (
            Step(0, (0,), 1, labels.OVERWRITE, (2,), ()),  # replaced before any read
            Step(1, (1,), 1, labels.OVERWRITE, (4,), ()),
            Step(2, (1,), 2, labels.APPEND, (1, *range(7, 15)), ()),
        )
    )
    answer = lineage_of(world, stores).ask(Question(job(2), Direction.UPSTREAM, 2))
    assert (set(answer.datasets), answer.folded) == ({dataset(0), dataset(1)}, True)


@pytest.mark.parametrize(("runs", "one_by_one"), [(8, True), (9, False)])
def test_an_interval_with_many_writes_has_the_period_of_each_plan(
    stores: Stores, runs: int, one_by_one: bool
) -> None:
    step = Step(0, (0,), 1, labels.OVERWRITE, tuple(range(1, runs + 1)), ())
    lineage_of(World((step,)), stores)
    interval = Moment(dataset(1), 1, runs + 1)
    visible = History(stores[1]).visible_writes.of({interval})[interval]
    period = () if one_by_one else (OlderWrites(plan(0, step), job(0), 1, runs),)
    assert (len(visible.writes), visible.older) == (runs if one_by_one else 0, period)


def test_a_job_whose_write_was_replaced_stays_while_something_visible_stands_on_it(
    stores: Stores,
) -> None:
    world = World(
        (
            Step(0, (0,), 1, labels.OVERWRITE, (1,), ()),
            Step(1, (1,), 2, labels.OVERWRITE, (2,), ()),
            Step(2, (), 1, labels.OVERWRITE, (3,), ()),
        )
    )
    answer = lineage_of(world, stores).ask(Question(job(0), Direction.UPSTREAM))
    assert answer.datasets == (dataset(0),)


class _CountingCatalogue:
    """Counts the calls that go through it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        self.calls += 1
        return getattr(self._catalogue, name)


@pytest.mark.parametrize("direction", [Direction.UPSTREAM, Direction.DOWNSTREAM])
def test_the_number_of_queries_does_not_grow_with_history(
    stores: Stores, direction: Direction
) -> None:
    def calls(runs: int) -> int:
        times = [tuple(range(i + 1, i + 1 + 10 * runs, 10)) for i in range(5)]
        steps = (Step(i, (i,), i + 1, labels.OVERWRITE, times[i], ()) for i in range(5))
        lineage_of(World(tuple(steps)), stores)
        counting = _CountingCatalogue(stores[1])
        node = dataset(5 if direction == Direction.UPSTREAM else 0)
        answer = Lineage(stores[0], counting).ask(Question(node, direction, 5))
        assert len(answer.datasets) == 6
        return counting.calls

    assert calls(2) == calls(40) <= 60
