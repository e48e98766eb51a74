"""Columns that the text of a query leaves open are joined with the catalogue's schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity
from graph_model.answers.columns import describe_column
from graph_model.answers.impact.report import Impact, Scope
from graph_model.answers.lineage import column_lineage, lineage
from graph_model.errors import NotFound
from graph_model.lineage import Question, Structure
from graph_model.picture.json_form import graph_reply
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import Submission
from graph_model.stores.graph import Direction
from tests.projections import (
    SmallHeadwater,
    budget,
    lineage_event,
    small_headwater,
    submission,
)

NAMESPACE: Final = "postgres://db:5432"
SHAPES: Final = Path(__file__).parents[3] / "fixtures" / "shapes"
_DAY: Final = "2026-01-0{}T00:00:00Z"


def dataset(name: str, columns: Sequence[str] = ()) -> dict[str, Any]:
    schema = {"schema": {"fields": [{"name": column} for column in columns]}} if columns else {}
    return {"namespace": NAMESPACE, "name": f"shop.public.{name}", "facets": schema}


def run(
    text: str,
    inputs: Iterable[str],
    output: str,
    *,
    day: int = 1,
    job: str = "",
    dialect: str = "postgres",
) -> dict[str, Any]:
    """A run of a query, of tables without schemas."""
    name = job or f"load {output}"
    return {
        "eventTime": _DAY.format(day),
        "eventType": "COMPLETE",
        "run": {"runId": f"{name} {day}"},
        "job": {
            "namespace": "etl",
            "name": name,
            "facets": {"sql": {"query": text, "dialect": dialect}},
        },
        "inputs": [dataset(each) for each in inputs],
        "outputs": [dataset(output)],
    }


def described(name: str, *columns: str, day: int = 1) -> dict[str, Any]:
    """An event about a table alone, which has its schema."""
    return {"eventTime": _DAY.format(day), "dataset": dataset(name, columns)}


def loaded(name: str, *columns: str, day: int = 1) -> dict[str, Any]:
    """Another job writes the table, and reports its schema."""
    event = run("", ["raw"], name, day=day, job=f"fill {name}")
    return event | {"outputs": [dataset(name, columns)]}


def world(*events: dict[str, Any]) -> SmallHeadwater:
    headwater = small_headwater()
    headwater.accept(*(lineage_event(event) for event in events))
    headwater.project()
    return headwater


def uri(name: str) -> str:
    return f"{NAMESPACE}/shop.public.{name}"


def edges(reply: dict[str, Any]) -> set[tuple[Any, ...]]:
    """(from, to, how) of each column edge, with "joined" where it is marked."""
    names = {
        node["id"]: f"{node['dataset'].rpartition('.')[2]}.{node['name']}"
        for node in reply["nodes"]
        if node["kind"] == "column"
    }
    return {
        (names[e["from"]], names[e["to"]], e["how"], *(["joined"] if e.get("joined") else []))
        for e in reply["edges"]
        if e["from"] in names
    }


def asked(
    headwater: SmallHeadwater,
    table: str,
    column: str | None = None,
    *,
    up: bool = True,
    **question: Any,
) -> dict[str, Any]:
    direction = Direction.UPSTREAM if up else Direction.DOWNSTREAM
    wanted: dict[str, Any] = {"depth": 20, "direction": direction, **question}
    view = column_lineage(headwater.sources, uri(table), column, Question("", **wanted))
    return graph_reply(view, None)


STAR: Final = run("CREATE TABLE t AS SELECT * FROM s", ["s"], "t", day=3)
BETWEEN: Final = run(
    "CREATE TABLE t AS SELECT upper(name) AS n FROM s JOIN r ON true WHERE day > 1",
    ["s", "r"],
    "t",
    day=3,
)


@pytest.mark.parametrize("schema", [described("s", "id", "name"), loaded("s", "id", "name")])
def test_a_star_passes_on_the_columns_that_another_document_reports(schema: dict[str, Any]) -> None:
    headwater = world(STAR, schema)
    expected = {("s.id", "t.id", "IDENTITY", "joined"), ("s.name", "t.name", "IDENTITY", "joined")}
    assert expected <= edges(asked(headwater, "t"))
    assert edges(asked(headwater, "s", up=False)) == expected
    assert edges(asked(headwater, "s", "id", up=False)) == {("s.id", "t.id", "IDENTITY", "joined")}
    assert ("s.id", "t.id", "IDENTITY", "joined") in edges(asked(headwater, "t", "id"))


def test_a_name_is_a_column_of_the_only_table_that_has_it() -> None:
    headwater = world(BETWEEN, described("s", "id", "name"), described("r", "id", "day"))
    value, rows = (
        ("s.name", "t.n", "TRANSFORMATION", "joined"),
        ("r.day", "t.n", "FILTER", "joined"),
    )
    assert edges(asked(headwater, "t")) == {value}
    assert edges(asked(headwater, "t", indirect=True)) == {value, rows}
    assert edges(asked(headwater, "s", "name", up=False)) == {value}
    assert edges(asked(headwater, "r", "day", up=False, indirect=True)) == {rows}
    assert edges(asked(headwater, "r", "day", up=False)) == set()


@pytest.mark.parametrize(
    "schemas",
    [(), (described("s", "name"), described("r", "name")), (described("s", "x"),)],
    ids=["no schema", "both have it", "none has it"],
)
def test_a_name_that_no_table_or_several_have_stays_a_gap(
    schemas: Sequence[dict[str, Any]],
) -> None:
    headwater = world(BETWEEN, *schemas)
    for table in ("t", "s", "r"):
        assert edges(asked(headwater, table)) == edges(asked(headwater, table, up=False)) == set()


def test_a_chain_of_stars_needs_only_the_first_schema() -> None:
    texts = [("t", "s"), ("u", "t"), ("v", "u")]
    chain = [
        run(f"CREATE TABLE {to} AS SELECT * FROM {of}", [of], to, day=day)
        for day, (to, of) in enumerate(texts, 2)
    ]
    headwater = world(*chain, described("s", "id"))
    expected = {(f"{of}.id", f"{to}.id", "IDENTITY", "joined") for to, of in texts}
    for table, up in (("v", True), ("s", False)):
        assert edges(asked(headwater, table, up=up)) == expected
        assert edges(asked(headwater, table, "id", up=up)) == expected
        assert edges(asked(headwater, table, up=up, depth=1)) < expected


def test_an_execution_reads_the_schema_of_its_time() -> None:
    later = described("s", "id", "later", day=5)
    headwater = world(STAR, described("s", "id", day=1), later)
    assert {to for _, to, *_ in edges(asked(headwater, "s", up=False))} == {"t.id"}
    again = run("CREATE TABLE t AS SELECT * FROM s", ["s"], "t", day=7)
    headwater = world(STAR, described("s", "id", day=1), later, again)
    assert {to for _, to, *_ in edges(asked(headwater, "s", up=False))} == {"t.id", "t.later"}


def test_a_schema_that_came_after_the_run_counts_from_then_on() -> None:
    headwater = world(STAR, described("s", "id", day=5))
    at = 1_767_484_800_000  # 2026-01-04
    assert edges(asked(headwater, "t", at=at)) == set()
    assert edges(asked(headwater, "t")) == {("s.id", "t.id", "IDENTITY", "joined")}


def test_an_insert_is_by_position_where_both_tables_are_known() -> None:
    insert = run("INSERT INTO t SELECT * FROM s", ["s"], "t", day=3)
    tables = (described("s", "a", "b"), described("t", "x", "y"))
    assert edges(asked(world(insert, *tables), "t")) == {
        ("s.a", "t.x", "IDENTITY", "joined"),
        ("s.b", "t.y", "IDENTITY", "joined"),
    }
    listed = run("INSERT INTO t (y, x) SELECT * FROM s", ["s"], "t", day=3)
    assert edges(asked(world(listed, tables[0]), "t")) == {
        ("s.a", "t.y", "IDENTITY", "joined"),
        ("s.b", "t.x", "IDENTITY", "joined"),
    }
    other = run("INSERT INTO t (y) SELECT * FROM s", ["s"], "t", day=3)
    assert edges(asked(world(other, tables[0]), "t")) == set()


@pytest.mark.parametrize(
    ("query", "schema", "expected"),
    [
        ("SELECT * FROM s", ("x", "y"), {("s.a", "x"), ("s.b", "y")}),
        ("SELECT * FROM s", ("x", "y", "z"), set()),
        ("SELECT * FROM s", (), {("s.a", "a"), ("s.b", "b")}),
        ("SELECT 1 AS k, *, 2 AS l FROM s", ("w", "x", "y", "z"), {("s.a", "x"), ("s.b", "y")}),
        ("SELECT 1 AS k, * FROM s", ("a", "b"), set()),
        ("SELECT 1 AS k, * FROM s", (), {("s.a", "a"), ("s.b", "b")}),
        ("SELECT * FROM s JOIN r ON true", ("x", "y", "z"), {
            ("s.a", "x"), ("s.b", "y"), ("r.c", "z"),
        }),
        ("SELECT r.*, 1 AS k, s.*, r.* FROM s JOIN r ON true", ("u", "v", "w", "x", "y"), {
            ("r.c", "u"), ("s.a", "w"), ("s.b", "x"), ("r.c", "y"),
        }),
        ("SELECT * FROM s JOIN r ON true", ("x", "y"), set()),
        ("SELECT b, none.*, c AS x FROM s JOIN r ON true JOIN none ON true", ("x", "y", "z"), {
            ("s.b", "x"), ("r.c", "z"),
        }),
        ("SELECT none.*, s.*, none.* FROM s JOIN none ON true", ("x", "y", "z", "w"), set()),
        ("SELECT * FROM s UNION ALL SELECT * FROM r2", ("x", "y"), {
            ("s.a", "x"), ("s.b", "y"), ("r2.c", "x"), ("r2.d", "y"),
        }),
        ("SELECT a, c AS b FROM s JOIN r ON true", ("b", "a"), {("s.a", "b"), ("r.c", "a")}),
        ("SELECT a, c FROM s JOIN r ON true", ("a",), set()),
        ("SELECT a, c FROM s JOIN r ON true", (), {("s.a", "a"), ("r.c", "c")}),
    ],
)  # fmt: skip
def test_an_insert_without_a_list_has_the_places_of_the_table_or_the_names_of_the_query(
    query: str, schema: Sequence[str], expected: set[tuple[str, str]]
) -> None:
    tables = [described("s", "a", "b"), described("r", "c"), described("r2", "c", "d")]
    tables += [described("t", *schema)] if schema else []
    read = ["s", "r", "r2", "none"]
    headwater = world(run(f"INSERT INTO t {query}", read, "t", day=3), *tables)
    joined = {(source, f"t.{column}", "IDENTITY", "joined") for source, column in expected}
    assert edges(asked(headwater, "t")) == joined
    for source in ("s", "r", "r2"):
        mine = {edge for edge in joined if edge[0].startswith(f"{source}.")}
        assert edges(asked(headwater, source, up=False)) == mine


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM s", {("s.a", "x"), ("s.b", "y")}),
        ("SELECT s.*, 1 AS z FROM s", set()),
    ],
)
def test_a_partition_with_a_value_has_no_place_in_the_rows(
    query: str, expected: set[tuple[str, str]]
) -> None:
    text = f"INSERT OVERWRITE TABLE shop.public.t PARTITION (d = 1) {query}"
    insert = run(text, ["s"], "t", day=3, dialect="spark")
    headwater = world(insert, described("s", "a", "b"), described("t", "x", "d", "y"))
    joined = {(source, f"t.{column}", "IDENTITY", "joined") for source, column in expected}
    assert edges(asked(headwater, "t")) == joined


def test_stars_into_columns_that_the_event_names_have_places_once_their_widths_are_known() -> None:
    text = "INSERT INTO t SELECT s.*, max(r.c) AS k, r.*, 1 FROM s JOIN r ON true GROUP BY ALL"
    insert = run(text, ["s", "r"], "t", day=3, dialect="duckdb")
    insert |= {"outputs": [dataset("t", ("v", "w", "x", "y", "z"))]}
    assert edges(asked(world(insert), "t")) == set()
    values = {
        ("s.a", "t.v", "IDENTITY", "joined"),
        ("s.b", "t.w", "IDENTITY", "joined"),
        ("r.c", "t.x", "AGGREGATION", "joined"),
        ("r.c", "t.y", "IDENTITY", "joined"),
    }
    headwater = world(insert, described("s", "a", "b"), described("r", "c"))
    assert edges(asked(headwater, "t")) == values
    assert edges(asked(headwater, "r", "c", up=False)) == {e for e in values if e[0] == "r.c"}
    half = world(insert, described("s", "a", "b"))
    assert edges(asked(half, "t")) == {edge for edge in values if edge[0] != "r.c"}


def test_a_table_made_of_a_query_has_its_names_whatever_another_schema_says() -> None:
    headwater = world(STAR, described("s", "a", "b"), described("t", "x", "y"))
    below = edges(asked(headwater, "s", up=False))
    assert {to for _, to, *_ in below} == {"t.a", "t.b"}


def test_columns_inside_tables_have_the_same_joined_edges() -> None:
    headwater = world(STAR, described("s", "id", "name"))
    question = Question(f"dataset:{uri('t')}", columns=True, direction=Direction.UPSTREAM)
    reply = graph_reply(lineage(headwater.sources, question), None)
    assert edges(reply) == edges(asked(headwater, "t"))


def test_a_view_of_another_statement_is_a_table_of_its_own() -> None:
    view = run("CREATE VIEW v AS SELECT id, upper(name) AS name FROM s", ["s"], "v", day=2)
    star = run("CREATE TABLE t AS SELECT * FROM v", ["v"], "t", day=3)
    headwater = world(view, star, described("s", "id", "name"))
    assert edges(asked(headwater, "t", "name")) == {
        ("v.name", "t.name", "IDENTITY", "joined"),
        ("s.name", "v.name", "TRANSFORMATION"),
    }


def test_the_impact_of_a_column_goes_through_a_star() -> None:
    chain = run("CREATE TABLE u AS SELECT id FROM t", ["t"], "u", day=4)
    headwater = world(STAR, chain, described("s", "id", "name"))
    start = headwater.sources.references.resolve(f"column:{uri('s')}#id")
    report = Impact(headwater.sources).of_node(start, Scope(depth=9))
    columns = [(item.uri, item.label) for item in report.items if item.kind == "column"]
    assert columns == [(f"jdbc:postgresql://db/shop:public.{t}", "id") for t in ("t", "u")]


def test_a_joined_column_has_a_page_and_its_id_leads_on() -> None:
    headwater = world(STAR, described("s", "id", "name"))
    sources = headwater.sources
    view = column_lineage(sources, uri("s"), "id", Question("", depth=1))
    nodes = graph_reply(view, None)["nodes"]
    (joined,) = (n["id"] for n in nodes if n["kind"] == "column" and n["dataset"].endswith(".t"))
    page = describe_column(sources, joined, None)
    assert (page.name, page.known, page.sentence is not None) == ("id", "lineage", True)
    assert edges(graph_reply(lineage(sources, Question(joined, depth=1)), None)) == {
        ("s.id", "t.id", "IDENTITY", "joined")
    }


def test_another_process_finds_a_joined_column_by_its_id() -> None:
    chain = run("CREATE TABLE u AS SELECT * FROM t", ["t"], "u", day=4)
    headwater = world(STAR, chain, described("s", "id", "name"))
    nodes = graph_reply(
        column_lineage(headwater.sources, uri("s"), "id", Question("", depth=5)), None
    )
    joined = {n["id"]: n["dataset"].rpartition(".")[2] for n in nodes["nodes"] if "dataset" in n}
    for column, table in joined.items():
        elsewhere = replace(headwater.sources, structure=Structure())
        assert describe_column(elsewhere, column, None).name == "id"
        elsewhere = replace(headwater.sources, structure=Structure())
        above = edges(graph_reply(lineage(elsewhere, Question(column, depth=1)), None))
        assert any(to == f"{table}.id" for _, to, *_ in above) == (table != "s")
        assert Impact(elsewhere).of_node(column, Scope(depth=9)) is not None
    assert sorted(joined.values()) == ["s", "t", "u"]
    with pytest.raises(NotFound):
        describe_column(headwater.sources, identity.column_id("dataset:0", "id"), None)


def test_a_joined_column_of_a_hidden_table_is_not_found() -> None:
    headwater = world(STAR, described("s", "id"))
    nodes = graph_reply(column_lineage(headwater.sources, uri("s"), "id", Question("")), None)
    (joined,) = (n for n in nodes["nodes"] if n.get("dataset", "").endswith(".t"))
    table = headwater.sources.references.resolve(f"dataset:{uri('t')}")
    for structure in (Structure(), headwater.sources.structure):
        hiding = replace(headwater.sources, hidden=frozenset({table}), structure=structure)
        with pytest.raises(NotFound):
            describe_column(hiding, joined["id"], None)
        for asked_as in (joined["id"], f"column:{uri('t')}#id"):
            with pytest.raises(NotFound):
                lineage(hiding, Question(asked_as))
        opened = replace(hiding, opens_hidden=True)
        assert describe_column(opened, joined["id"], None).name == "id"


# --- against brute force -------------------------------------------------------------------------

PATHS: Final = ("a", "b", "c")
ASKED: Final = 20  # a day after everything


@dataclass(frozen=True)
class Statement:
    """Table ``target`` is made once, on ``day``, from one or two others."""

    target: int
    day: int
    sources: tuple[int, ...]
    kind: str  # star, except, names

    def text(self) -> str:
        tables = " JOIN ".join(f"t{source}" for source in self.sources)
        joined = f"{tables} ON true" if len(self.sources) > 1 else tables
        wanted = {"star": "*", "except": "* EXCLUDE (a)", "names": "a, max(b) AS x"}[self.kind]
        return f"CREATE TABLE t{self.target} AS SELECT {wanted} FROM {joined}"


@dataclass(frozen=True)
class Estate:
    statements: tuple[Statement, ...]
    schemas: tuple[tuple[int, int, tuple[str, ...]], ...]  # (table, day, columns)

    def events(self) -> list[dict[str, Any]]:
        runs = [
            run(
                each.text(),
                [f"t{source}" for source in each.sources],
                f"t{each.target}",
                day=each.day,
                dialect="duckdb",
            )
            for each in self.statements
        ]
        return [*runs, *(described(f"t{t}", *paths, day=day) for t, day, paths in self.schemas)]

    def columns(self, table: int, day: int, seen: frozenset[int] = frozenset()) -> frozenset[str]:
        """The columns of a table that an execution of this day reads."""
        schemas = sorted((at, paths) for t, at, paths in self.schemas if t == table)
        if schemas:
            before = [paths for at, paths in schemas if at < day]
            return frozenset(before[-1] if before else schemas[-1][1])
        return frozenset(
            target
            for each in self.statements
            if each.target == table and each.day < day and table not in seen
            for target in self.written(each, seen | {table})
        )

    def written(self, each: Statement, seen: frozenset[int]) -> set[str]:
        if each.kind == "names":
            return {"a", "x"}
        return {target for _, _, target, _ in self.flows(each, seen)}

    def flows(
        self, each: Statement, seen: frozenset[int] = frozenset()
    ) -> set[tuple[int, str, str, str]]:
        """(source, its column, column of the target, how)."""
        having = {t: self.columns(t, each.day, seen) for t in each.sources}
        wanted = {
            "star": [(path, path, "IDENTITY") for path in (*PATHS, "x")],
            "except": [(path, path, "IDENTITY") for path in ("b", "c", "x")],
            "names": [("a", "a", "IDENTITY"), ("b", "x", "AGGREGATION")],
        }[each.kind]
        alone = len(having) == 1
        return {
            (table, path, target, how)
            for path, target, how in wanted
            for table, paths in having.items()
            if (path in paths or (alone and each.kind == "names"))
            and sum(path in other for other in having.values()) <= 1
        }

    def above(self, table: int, path: str, day: int = ASKED) -> set[tuple[str, str, str]]:
        """The edges upstream of a column as an execution of this day reads it."""
        edges: set[tuple[str, str, str]] = set()
        for each in self.statements:
            if each.target == table and each.day < day:
                for source, read, target, how in self.flows(each):
                    if target == path:
                        edges.add((f"t{source}.{read}", f"t{table}.{path}", how))
                        edges |= self.above(source, read, each.day)
        return edges


@st.composite
def estates(draw: st.DrawFn) -> Estate:
    days = draw(st.permutations(range(1, 10)))
    statements = tuple(
        Statement(
            target,
            days[target],
            tuple(
                sorted(
                    draw(
                        st.sets(
                            st.sampled_from([t for t in range(4) if t != target]),
                            min_size=1,
                            max_size=2,
                        )
                    )
                )
            ),
            draw(st.sampled_from(["star", "star", "except", "names"])),
        )
        for target in (1, 2, 3)
    )
    schemas = tuple(
        (table, days[4 + place], tuple(sorted(draw(st.sets(st.sampled_from(PATHS), min_size=1)))))
        for place, table in enumerate([0, *draw(st.lists(st.sampled_from([0, 1, 2]), max_size=2))])
    )
    return Estate(statements, schemas)


@budget(30, shrinks=False)
@given(estates(), st.randoms(use_true_random=False))
def test_walks_join_as_brute_force_does_in_either_direction(estate: Estate, order: Any) -> None:
    events = estate.events()
    order.shuffle(events)
    headwater = world(*events)
    up = {
        f"t{table}.{path}": estate.above(table, path)
        for table in range(4)
        for path in (*PATHS, "x")
    }
    expected = {edge for some in up.values() for edge in some}
    for table in range(4):
        answer = {e[:3] for e in edges(asked(headwater, f"t{table}"))}
        ever = {path for t, _, paths in estate.schemas if t == table for path in paths}
        listed = [f"t{table}.{path}" for path in estate.columns(table, ASKED) | ever]
        assert answer == {edge for name in listed for edge in up[name]}
        below = edges(asked(headwater, f"t{table}", up=False))
        assert {e[:3] for e in below} <= expected
        for path in PATHS:
            try:
                answer = {e[:3] for e in edges(asked(headwater, f"t{table}", path, up=False))}
            except NotFound:
                continue
            start = f"t{table}.{path}"
            reached = {to for _, to, _ in answer}
            assert reached == {
                name for name, some in up.items() if any(source == start for source, _, _ in some)
            }


@budget(30, shrinks=False)
@given(estates(), st.randoms(use_true_random=False))
def test_any_order_of_arrival_has_equal_hashes_and_equal_answers(
    estate: Estate, order: Any
) -> None:
    first, second = estate.events(), estate.events()
    order.shuffle(second)
    headwaters = [world(*events) for events in (first, second)]
    elements = [headwater.elements() for headwater in headwaters]
    assert elements[0] == elements[1]
    assert headwaters[0].catalogue.digest() == headwaters[1].catalogue.digest()
    for table in range(4):
        replies = [edges(asked(h, f"t{table}")) for h in headwaters]
        assert replies[0] == replies[1]


# --- JDBC queries of Spark's plans ---------------------------------------------------------------


def spark_read(query: str, *names: str) -> list[Submission]:
    """A plan of Spark that writes the result of a query of the database, and its execution."""
    document = json.loads((SHAPES / "jdbc_query" / "plan.json").read_text(encoding="utf-8"))
    (read,) = document["operations"]["reads"]
    read["inputSources"] = [f"jdbc:postgresql://db:5432/shop:({query}) q"]
    read["output"] = [f"attr-{place}" for place in range(len(names))]
    kind = document["attributes"][0]["dataType"]
    document["attributes"] = [
        {"id": f"attr-{place}", "dataType": kind, "name": name} for place, name in enumerate(names)
    ]
    event = {"planId": document["id"], "timestamp": 1767400000000, "durationNs": 1}
    return [
        submission(PLAN_KIND, document),
        submission(EVENT_KIND, event),
    ]


def written_by_spark(headwater: SmallHeadwater, **question: Any) -> set[tuple[Any, ...]]:
    wanted = Question("", depth=1, direction=Direction.UPSTREAM, **question)
    place = "file:/lake/data/out/jdbc_sqlite_q"
    view = column_lineage(headwater.sources, place, None, wanted)
    return {(of, to.rpartition("/")[2], *rest) for of, to, *rest in edges(graph_reply(view, None))}


QUERY: Final = "select *, upper(name) as n from public.s join public.r on s.id = r.s where day > 1"


def test_a_star_and_names_of_a_query_that_spark_reads_are_joined() -> None:
    headwater = small_headwater()
    headwater.accept(*spark_read(QUERY, "amount", "missing", "n"))
    headwater.accept(
        lineage_event(described("s", "id", "name")),
        lineage_event(described("r", "s", "day", "amount")),
    )
    headwater.project()
    values = {
        ("r.amount", "jdbc_sqlite_q.amount", "IDENTITY", "joined"),
        ("s.name", "jdbc_sqlite_q.n", "TRANSFORMATION", "joined"),
    }
    assert written_by_spark(headwater) == values
    conditions = {line for line in written_by_spark(headwater, indirect=True) if "FILTER" in line}
    assert {(of, *rest) for of, _, *rest in conditions} == {("r.day", "FILTER", "joined")}
    assert ("r.amount", "file:/lake/data/out/jdbc_sqlite_q.amount", "IDENTITY", "joined") in edges(
        asked(headwater, "r", "amount", up=False)
    )


def test_a_query_that_spark_reads_of_unknown_tables_stays_a_gap() -> None:
    headwater = small_headwater()
    headwater.accept(*spark_read(QUERY, "amount", "n"))
    headwater.project()
    assert written_by_spark(headwater) == set()
