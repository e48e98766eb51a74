"""Answers about columns agree, whichever way they are asked: beside the tables that hold
them, or column by column. Held over generated estates, and once on every store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.lineage import Answer, ColumnEdge, Lineage, Question
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from graph_model.stores.graph import Direction, Graph
from tests.estates import Run, estates, milliseconds, table_id, translated
from tests.memory_graph import MemoryGraph

Open = Callable[[], Graph]
UP, DOWN, BOTH = Direction.UPSTREAM, Direction.DOWNSTREAM, Direction.BOTH
LIMIT = 5_000

# The stores are the same for all examples of a test; each example empties them.
shared = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def names() -> Iterator[Catalogue]:
    catalogue = Catalogue(open_database("sqlite://"))
    yield catalogue
    catalogue.close()


class Estate:
    """Runs in a graph and a catalogue, and the questions about them."""

    def __init__(self, runs: Sequence[Run], graph: Graph, catalogue: Catalogue) -> None:
        graph.clear()
        catalogue.clear()
        facts = translated(runs)
        graph.write(facts)
        catalogue.record(facts.rows)
        self.runs, self._graph, self._catalogue = runs, graph, catalogue
        self.tables = sorted({d for run in runs for d in (*run.read, run.write)})

    def tables_around(self, node: str, question: Question) -> Answer:
        asked = Question(
            node, question.direction, question.depth, question.at, columns=True,
            indirect=question.indirect, limit=LIMIT,
        )  # fmt: skip
        return self._lineage.ask(asked)

    def columns_around(self, node: str, question: Question) -> Answer:
        return self._lineage.ask_columns_of((node,), question)

    @property
    def _lineage(self) -> Lineage:
        return Lineage(self._graph, self._catalogue)

    def place(self, table: str, at: int | None) -> str:
        return self._catalogue.location_of(table_id(table), at) or table_id(table)


def ends(answer: Answer) -> set[ColumnEdge]:
    """The edges; several plans may tell one, of which one answer knows more than the other."""
    return {edge._replace(expression="", plans=()) for edge in answer.column_edges}


questions = st.builds(
    Question,
    st.just(""),
    st.sampled_from((UP, DOWN, BOTH)),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(0, 60).map(milliseconds)),
    indirect=st.booleans(),
    limit=st.just(LIMIT),
)


@shared
@given(estates(), questions)
def test_all_that_is_said_column_by_column_stands_beside_the_tables(
    store: Open, names: Catalogue, runs: tuple[Run, ...], question: Question
) -> None:
    estate = Estate(runs, store(), names)
    for table in estate.tables:
        node = table_id(table)
        tables = estate.tables_around(node, question)
        columns = estate.columns_around(node, question)
        note(f"{table}: {question}")
        assert ends(columns) - ends(tables) == set()
        assert set(columns.columns) - set(tables.columns) == set()
        assert set(columns.datasets) - set(tables.datasets) == set()


@shared
@given(estates(), questions, st.sampled_from((UP, DOWN)))
def test_one_step_from_a_table_both_questions_have_the_same_edges(
    names: Catalogue,
    runs: tuple[Run, ...],
    question: Question,
    direction: Direction,
) -> None:
    estate = Estate(runs, MemoryGraph(), names)
    asked = Question("", direction, 1, question.at, indirect=question.indirect, limit=LIMIT)
    for table in estate.tables:
        node, place = table_id(table), estate.place(table, question.at)
        tables, columns = estate.tables_around(node, asked), estate.columns_around(node, asked)
        assert ends(tables) == ends(columns)
        assert {c for c in tables.columns if c.dataset == place} == {
            c for c in columns.columns if c.dataset == place
        }


@shared
@given(estates(3), questions)
def test_the_statements_beside_tables_are_those_of_their_columns_at_some_time(
    names: Catalogue, runs: tuple[Run, ...], question: Question
) -> None:
    estate = Estate(runs, MemoryGraph(), names)
    for table in estate.tables[:2]:
        answer = estate.tables_around(table_id(table), question)
        left = ends(answer)
        for at in (question.at, *(milliseconds(run.at) - 1 for run in runs)):
            asked = Question("", UP, 1, at, indirect=True, limit=LIMIT)
            for dataset in answer.datasets if left else ():
                left -= ends(estate.columns_around(dataset, asked))
        assert left == set()


@shared
@given(estates(), st.one_of(st.none(), st.integers(0, 60).map(milliseconds)), st.booleans())
def test_every_column_says_how_many_columns_decide_over_it(
    names: Catalogue, runs: tuple[Run, ...], at: int | None, indirect: bool
) -> None:
    estate = Estate(runs, MemoryGraph(), names)
    for table in estate.tables:
        node, place = table_id(table), estate.place(table, at)
        drawn = estate.columns_around(node, Question("", UP, 1, at, indirect=True, limit=LIMIT))
        plain = Question("", UP, 0, at, indirect=indirect, limit=LIMIT)
        deciding = Counter(
            (edge.target, edge.how) for edge in drawn.column_edges if edge.kind == labels.INDIRECT
        )
        for answer in (estate.columns_around(node, plain), estate.tables_around(node, plain)):
            counted: Counter[tuple[str, str]] = Counter()
            for column in answer.columns:
                for one in answer.influences[column.id]:
                    counted[column.id, one.how] += one.columns
            assert counted == {
                key: number for key, number in deciding.items() if _is_of(key[0], answer, place)
            }


def _is_of(column: str, answer: Answer, place: str) -> bool:
    return any(one.id == column and one.dataset == place for one in answer.columns)


# --- examples ------------------------------------------------------------------------------------


def told(answer: Answer) -> set[str]:
    """``d0 a > d1 b IDENTITY``."""
    tables = {table_id(f"s3 d{number}"): f"d{number}" for number in range(5)}
    words = {c.id: f"{tables[c.dataset]} {c.path}" for c in answer.columns}
    return {f"{words[e.source]} > {words[e.target]} {e.how}" for e in answer.column_edges}


def test_a_file_read_with_another_schema_later_keeps_the_flows_out_of_it(
    store: Open, names: Catalogue
) -> None:
    files = ("s3 d0", "s3 d1", "s3 d2")
    union = Run(
        0, 0, {file: ["kundennr"] for file in files}, "s3 d3", ["kundennr"],
        {"kundennr": [(file, "kundennr", "") for file in files]},
    )  # fmt: skip
    others = [Run(n, n, {file: ["c", "v"]}, "s3 d4", ["c"], {}) for n, file in enumerate(files, 1)]
    estate = Estate((union, *others), store(), names)
    edges = {f"d{n} kundennr > d3 kundennr IDENTITY" for n in range(3)}
    asked = Question("", UP, 1, limit=LIMIT)
    for answer in (
        estate.tables_around(table_id("s3 d3"), asked),
        estate.columns_around(table_id("s3 d3"), asked),
    ):
        assert told(answer) == edges
    below = Question("", DOWN, 1, limit=LIMIT)
    for answer in (
        estate.tables_around(table_id("s3 d0"), below),
        estate.columns_around(table_id("s3 d0"), below),
    ):
        assert told(answer) == {"d0 kundennr > d3 kundennr IDENTITY"}
        paths = {c.path for c in answer.columns if c.dataset == table_id("s3 d0")}
        assert paths == {"c", "v", "kundennr"}


def test_fields_of_a_struct_are_sources_beside_the_tables(store: Open, names: Catalogue) -> None:
    run = Run(
        0, 0, {"s3 d0": ["items"]}, "s3 d1", ["sku", "line"],
        {"sku": [("s3 d0", "items.sku", "")], "line": [("s3 d0", "items.qty", "")]},
    )  # fmt: skip
    estate = Estate((run,), store(), names)
    answer = estate.tables_around(table_id("s3 d1"), Question("", UP, 1, limit=LIMIT))
    assert told(answer) == {"d0 items.sku > d1 sku IDENTITY", "d0 items.qty > d1 line IDENTITY"}


def test_columns_that_lineage_alone_names_are_columns_on_both_sides(
    store: Open, names: Catalogue
) -> None:
    run = Run(0, 0, {"s3 d0": None}, "s3 d1", None, {"kpi": [("s3 d0", "amount", "")]})
    estate = Estate((run,), store(), names)
    for table, path in (("s3 d0", "amount"), ("s3 d1", "kpi")):
        answer = estate.columns_around(table_id(table), Question("", BOTH, 0, limit=LIMIT))
        assert [column.path for column in answer.columns] == [path]
        answer = estate.tables_around(table_id(table), Question("", BOTH, 1, limit=LIMIT))
        assert told(answer) == {"d0 amount > d1 kpi IDENTITY"}


def test_a_column_that_only_a_filter_reaches_is_no_end_although_no_schema_is_told(
    store: Open, names: Catalogue
) -> None:
    run = Run(
        0, 0, {"s3 d0": None}, "s3 d1", None,
        {"n": [("s3 d0", "day", "WINDOW")]}, [("s3 d0", "country", "FILTER")],
    )  # fmt: skip
    estate = Estate((run,), store(), names)
    answer = estate.columns_around(table_id("s3 d1"), Question("", UP, 1, limit=LIMIT))
    column = identity.column_id(table_id("s3 d1"), "n")
    assert answer.column_edges == ()
    assert [(one.how, one.columns) for one in answer.influences[column]] == [
        ("FILTER", 1),
        ("WINDOW", 1),
    ]


def test_a_column_that_a_later_write_dropped_is_no_column_any_more(
    store: Open, names: Catalogue
) -> None:
    first = Run(0, 0, {"s3 d0": None}, "s3 d1", None, {"old": [("s3 d0", "a", "")]})
    second = Run(10, 0, {"s3 d0": None}, "s3 d1", None, {"new": [("s3 d0", "a", "")]})
    estate = Estate((first, second), store(), names)
    for at, path in ((milliseconds(5), "old"), (None, "new")):
        answer = estate.columns_around(table_id("s3 d1"), Question("", UP, 1, at, limit=LIMIT))
        assert {c.path for c in answer.columns if c.dataset == table_id("s3 d1")} == {path}


class _Counting:
    """A graph that counts its requests."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.requests = 0

    def __getattr__(self, name: str) -> Any:
        self.requests += name in ("edges", "neighbours", "vertices")
        return getattr(self._graph, name)


def test_a_level_costs_two_requests_and_influences_a_fixed_number(names: Catalogue) -> None:
    runs = [
        Run(
            10 * n, n, {f"s3 d{n}": None}, f"s3 d{n + 1}", None,
            {"a": [(f"s3 d{n}", "a", "")]}, [(f"s3 d{n}", "a", "FILTER")],
        )
        for n in range(9)
    ]  # fmt: skip
    graph = MemoryGraph()
    Estate(runs, graph, names)
    start = identity.column_id(table_id("s3 d9"), "a")
    costs = []
    for depth in (2, 8):
        counting: Any = _Counting(graph)
        Lineage(counting, names).ask_columns((start,), Question("", UP, depth, limit=LIMIT))
        costs.append(counting.requests)
    assert costs[1] - costs[0] == 2 * 6
    assert costs[0] <= 2 * 2 + 6
