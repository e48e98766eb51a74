"""The text of a job's query gives the columns that its client does not report."""

from __future__ import annotations

import json
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.facts import Facts
from graph_model.producers.openlineage.events.documents import JobEvent, RunEvent, read_event
from tests.openlineage_facts import facts_of_declaration, facts_of_run

CLUSTER: Final = "redshift://cluster.example:5439"
TEXT: Final = (
    "INSERT INTO totals SELECT day, sum(amount) FROM sales.orders o JOIN rates USING (day) "
    "WHERE o.day > '2024-01-01' GROUP BY day"
)


def dataset(name: str, *columns: str, **facets: Any) -> dict[str, Any]:
    schema = {"schema": {"fields": [{"name": column} for column in columns]}} if columns else {}
    return {"namespace": CLUSTER, "name": name, "facets": {**schema, **facets}}


def event(text: object = TEXT, kind: str = "COMPLETE", **changes: Any) -> RunEvent:
    sql = {"query": text, "dialect": "redshift"} | changes.pop("sql", {})
    body = {
        "eventTime": "2026-01-01T08:00:00Z",
        "eventType": kind,
        "run": {"runId": "r"},
        "job": {"namespace": "etl", "name": "load", "facets": {"sql": sql}},
        "inputs": [dataset("dev.sales.orders", "day", "amount"), dataset("dev.public.rates")],
        "outputs": [dataset("dev.public.totals", "day", "total")],
    }
    read = read_event(body | changes)
    assert isinstance(read, RunEvent)
    return read


def columns(*events: RunEvent) -> set[tuple[str, ...]]:
    """(from, to, how, origin, expression) of each column edge; no "to" of an influence."""
    return edges_of(facts_of_run(events))


def edges_of(facts: Facts) -> set[tuple[str, ...]]:
    names = {
        one.id: dict(one.properties)["path"] for one in facts.vertices if one.label == labels.COLUMN
    }
    found = set()
    for edge in facts.edges:
        if edge.label in {labels.DERIVES, labels.INFLUENCES}:
            said = dict(edge.properties)
            ends = (names[edge.out_id], names.get(edge.in_id, ""))
            found.add((*ends, said["how"], said["origin"], said["expression"]))
    return found


def test_an_output_without_column_lineage_has_the_columns_of_the_text() -> None:
    assert columns(event()) == {
        ("day", "day", "IDENTITY", "sql", "day"),
        ("amount", "total", "AGGREGATION", "sql", "SUM(amount)"),
        ("day", "", "FILTER", "sql", "o.day > '<date>'"),
        ("day", "", "JOIN", "sql", "USING (day)"),
        ("day", "", "GROUP_BY", "sql", "day"),
    }


def test_the_clients_own_column_lineage_wins() -> None:
    field = {"inputFields": [{"namespace": CLUSTER, "name": "dev.sales.orders", "field": "day"}]}
    own = dataset("dev.public.totals", "day", columnLineage={"fields": {"day": field}})
    assert {one[3] for one in columns(event(outputs=[own]))} == {"column"}


def test_a_job_that_only_reads_has_the_columns_that_its_text_uses() -> None:
    text = TEXT.removeprefix("INSERT INTO totals ")
    assert columns(event(text, outputs=[])) == {
        ("day", "", "IDENTITY", "sql", "day"),
        ("amount", "", "AGGREGATION", "sql", "SUM(amount)"),
        ("day", "", "FILTER", "sql", "o.day > '<date>'"),
        ("day", "", "JOIN", "sql", "USING (day)"),
        ("day", "", "GROUP_BY", "sql", "day"),
    }


def test_a_described_view_has_the_columns_of_its_text() -> None:
    body = {
        "eventTime": "2026-01-01T08:00:00Z",
        "job": {
            "namespace": "etl",
            "name": "view.totals",
            "facets": {
                "sql": {
                    "query": "CREATE VIEW totals AS SELECT day FROM rates",
                    "dialect": "redshift",
                }
            },
        },
        "inputs": [dataset("dev.public.rates", "day")],
        "outputs": [dataset("dev.public.totals")],
    }
    read = read_event(body)
    assert isinstance(read, JobEvent)
    assert edges_of(facts_of_declaration(read)) == {("day", "day", "IDENTITY", "sql", "day")}


def test_a_name_that_several_datasets_have_is_left_out() -> None:
    two = [dataset("a.sales.orders", "day"), dataset("b.sales.orders", "day", "amount")]
    assert columns(event("INSERT INTO totals SELECT day FROM sales.orders", inputs=two)) == set()


def test_two_spellings_of_one_dataset_are_one_name() -> None:
    """Airflow names the tables of a text beside those that its caller gave."""
    orders, totals = (
        ("dev.sales.orders", "DEV.sales.orders"),
        ("DEV.public.totals", "dev.public.totals"),
    )

    found = columns(event(inputs=list(map(dataset, orders)), outputs=list(map(dataset, totals))))
    assert ("day", "day", "IDENTITY", "sql", "day") in found


def test_the_schema_of_the_facet_tells_two_datasets_of_one_name_apart() -> None:
    both = [dataset("dev.a.rates", "day"), dataset("dev.b.rates", "day")]
    text = "INSERT INTO totals SELECT day FROM rates"
    outputs = [dataset("dev.b.totals", "day")]
    said = {"database": "dev", "schema": "b"}
    assert columns(event(text, inputs=both, outputs=outputs)) == set()
    assert columns(event(text, sql=said, inputs=both, outputs=outputs)) == {
        ("day", "day", "IDENTITY", "sql", "day")
    }


def test_the_dialect_follows_from_the_datasets_where_the_facet_has_none() -> None:
    assert columns(event(sql={"dialect": None})) == columns(event())
    assert columns(event(sql={"dialect": "klingon"})) == set()


def test_a_text_that_is_read_in_part_is_a_gap_of_the_plan() -> None:
    text = "INSERT INTO totals (day, total) SELECT x.day, nobody.z FROM sales.orders x"
    facts = facts_of_run([event(text)])
    gaps = [gap for row in facts.rows for gap in json.loads(getattr(row, "gaps", "[]"))]
    assert {"code": "sql-gaps", "detail": "unresolved-column"} in gaps


def test_any_order_of_events_gives_the_same_facts() -> None:
    start, end = event(kind="START"), event()
    assert facts_of_run([start, end]) == facts_of_run([end, start])


@given(st.one_of(st.none(), st.integers(), st.text(max_size=40), st.lists(st.text(max_size=3))))
def test_no_text_refuses_an_event(text: object) -> None:
    facts_of_run([event(text)])


def opens_of(facts: Facts) -> set[tuple[object, ...]]:
    """(from, column, target, how, the tables among) of each column that a text leaves open."""
    names = {v.id: dict(v.properties)["uri"] for v in facts.vertices if v.label == labels.DATASET}
    return {
        (
            str(names[edge.out_id]).rpartition(".")[2],
            edge.value("column"),
            edge.value("target"),
            edge.value("how"),
            len(json.loads(str(edge.value("among")))),
        )
        for edge in facts.edges
        if edge.label == labels.SUPPLIES
    }


OPEN_INPUTS: Final = [dataset("dev.sales.orders"), dataset("dev.public.rates")]


def test_a_star_of_a_table_without_a_schema_is_an_open_fact() -> None:
    text = "CREATE TABLE totals AS SELECT * FROM sales.orders"
    facts = facts_of_run([event(text, inputs=OPEN_INPUTS, outputs=[dataset("dev.public.totals")])])
    assert opens_of(facts) == {("orders", "*", "*", "IDENTITY", 1)}
    assert edges_of(facts) == set()


def test_a_name_of_several_tables_without_schemas_is_an_open_fact_of_each() -> None:
    text = (
        "CREATE TABLE totals AS SELECT sum(amount) AS total FROM sales.orders, rates WHERE day > 1"
    )
    facts = facts_of_run([event(text, inputs=OPEN_INPUTS, outputs=[dataset("dev.public.totals")])])
    assert opens_of(facts) == {
        (table, *rest, 2)
        for table in ("orders", "rates")
        for rest in (("amount", "total", "AGGREGATION"), ("day", "", "FILTER"))
    }


def test_a_table_that_the_event_does_not_name_leaves_nothing_open() -> None:
    text = "CREATE TABLE totals AS SELECT amount FROM sales.orders, elsewhere"
    facts = facts_of_run([event(text, inputs=OPEN_INPUTS, outputs=[dataset("dev.public.totals")])])
    assert opens_of(facts) == set()


def test_two_texts_that_leave_different_columns_open_are_two_plans() -> None:
    texts = ("SELECT * FROM sales.orders", "SELECT * EXCLUDE (day) FROM sales.orders")
    plans = {
        edge.in_id
        for text in texts
        for edge in facts_of_run(
            [
                event(
                    f"CREATE TABLE totals AS {text}",
                    sql={"dialect": "duckdb"},
                    inputs=OPEN_INPUTS,
                    outputs=[dataset("dev.public.totals")],
                )
            ]
        ).edges
        if edge.label == labels.SUPPLIES
    }
    assert len(plans) == 2


def test_the_text_of_a_job_with_very_many_datasets_still_gives_columns() -> None:
    text = "INSERT INTO t0 (b) SELECT a FROM s0; CREATE TABLE t1 AS SELECT * FROM s1"
    many = [dataset(f"dev.public.s{number}") for number in range(300)]
    outputs = [dataset(f"dev.public.t{number}") for number in range(300)]
    facts = facts_of_run([event(text, inputs=many, outputs=outputs)])
    assert edges_of(facts) == {("a", "b", "IDENTITY", "sql", "a")}
    assert opens_of(facts) == {("s1", "*", "*", "IDENTITY", 1)}
