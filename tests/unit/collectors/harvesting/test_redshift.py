"""The history of Redshift; botocore's models check each request and answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import boto3
import pytest
from botocore.stub import ANY, Stubber

from collectors.harvesting.redshift import DataApi, RedshiftHistory
from graph_model import labels
from graph_model.errors import HeadwaterError, Unavailable
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from tests.openlineage_facts import facts_of_run

PLACE: Final = "redshift://etl.eu-west-1:5439"
DAY: Final = "2026-03-01"
NOON: Final = 1_772_366_400_000
COLUMNS: Final = [
    ("dev", "public", "orders", "id", "integer"),
    ("dev", "public", "orders", "amount", "numeric"),
    ("dev", "public", "totals", "total", "numeric"),
]


class DataServer:
    """Answers the statements of a harvest in the order in which it makes them."""

    def __init__(self) -> None:
        self.client = boto3.client(
            "redshift-data", region_name="eu-west-1",
            aws_access_key_id="testing", aws_secret_access_key="testing",
        )  # fmt: skip
        self.stub = Stubber(self.client)
        self.stub.activate()
        self.slept: list[float] = []
        self.said: list[str] = []
        self._number = 0

    def answers(self, *pages: Sequence[Sequence[Any]], waits: int = 0) -> None:
        key = self._begins()
        for _ in range(waits):
            self._describes(key, "STARTED")
        self._describes(key, "FINISHED")
        token: dict[str, str] = {}
        for number, page in enumerate(pages):
            records = [[cell(value) for value in row] for row in page]
            last = number == len(pages) - 1
            answer = {"Records": records, **({} if last else {"NextToken": f"t{number}"})}
            self.stub.add_response("get_statement_result", answer, {"Id": key, **token})
            token = {"NextToken": f"t{number}"}

    def fails(self, reason: str) -> None:
        self._describes(self._begins(), "FAILED", Error=reason)

    def has(self, *statements: tuple[Any, ...], columns: Sequence[Sequence[Any]] = COLUMNS) -> None:
        """A history within one hour."""
        self.answers([(f"{DAY} 12:00:00.000000", f"{DAY} 12:30:00.000000", "harvest")])
        self.answers(columns)
        self.answers([chunk for one in statements for chunk in one[1]])
        self.answers([one[0] for one in statements])

    def source(self, **options: Any) -> RedshiftHistory:
        target = {"WorkgroupName": "etl", "Database": "dev"}
        api = DataApi(self.client, target, self.slept.append)
        return RedshiftHistory(api.rows, PLACE, self.said.append, **options)

    def _begins(self) -> str:
        self._number += 1
        key = f"s{self._number}"
        asked = {"Sql": ANY, "WorkgroupName": "etl", "Database": "dev"}
        self.stub.add_response("execute_statement", {"Id": key}, asked)
        return key

    def _describes(self, key: str, status: str, **more: Any) -> None:
        answer = {"Id": key, "Status": status, **more}
        self.stub.add_response("describe_statement", answer, {"Id": key})


def cell(value: object) -> dict[str, Any]:
    if value is None:
        return {"isNull": True}
    return {"longValue": value} if isinstance(value, int) else {"stringValue": value}


def ran(
    key: int, text: str, *, status: str = "success", session: int = 7, transaction: int = 0,
    user: str = "etl", error: str | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """(its row, the rows of its text), as long as Redshift cuts them, without blanks at the end."""
    moments = (f"{DAY} 12:00:{key:02}.000000", f"{DAY} 12:00:{key:02}.500000")
    row = (key, session, transaction or key, "dev", user, status, *moments, error, 3)
    cuts = range(0, len(text), 200)
    chunks = [(key, n, text[at : at + 200].rstrip()) for n, at in enumerate(cuts)]
    return row, chunks


def events_of(source: RedshiftHistory) -> list[Mapping[str, Any]]:
    """The ends of the runs."""
    found = [event for one in source.findings(NOON, ()) for event in one.events()]
    return [one for one in found if one["eventType"] != "START"]


def hows(event: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    read = read_event(event)
    assert isinstance(read, RunEvent)
    facts = facts_of_run([read])
    names = {
        one.id: str(dict(one.properties)["path"])
        for one in facts.vertices
        if one.label == labels.COLUMN
    }
    return {
        (names[one.out_id], names[one.in_id], str(dict(one.properties)["how"]))
        for one in facts.edges
        if one.label == labels.DERIVES
    }


def names_of(event: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    return ([one["name"] for one in event["inputs"]], [one["name"] for one in event["outputs"]])


def test_temporary_tables_of_a_session_are_folded() -> None:
    server = DataServer()
    server.has(
        ran(1, "CREATE TEMP TABLE a AS SELECT id, amount FROM orders"),
        ran(2, "CREATE TABLE #b (total numeric)"),
        ran(3, "INSERT INTO #b SELECT sum(amount) FROM a"),
        ran(4, "INSERT INTO a SELECT 1, 2", session=8),  # a stored table of another session
        ran(5, "INSERT INTO totals SELECT total FROM #b"),
    )
    totals, stored = events_of(server.source())
    assert names_of(stored) == ([], ["dev.public.a"])
    assert names_of(totals) == (["dev.public.orders"], ["dev.public.totals"])
    assert hows(totals) == {("amount", "total", "AGGREGATION")}
    assert totals["job"]["name"].startswith("etl.public.totals.")
    assert totals["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert totals["run"]["facets"]["tags"]["tags"][0]["value"] == "etl"


def test_what_was_rolled_back_is_aborted_and_a_failed_statement_has_its_reason() -> None:
    server = DataServer()
    text = "INSERT INTO totals SELECT amount FROM orders"
    server.has(
        ran(1, "BEGIN", transaction=50),
        ran(2, text, transaction=50),
        ran(3, "ROLLBACK", transaction=50),
        ran(4, text, status="failed", error="disk full"),
        ran(5, text),
        ran(6, text, status="running"),
    )
    ended = events_of(server.source())
    assert [one["eventType"] for one in ended] == ["ABORT", "FAIL", "COMPLETE"]
    assert ended[1]["run"]["facets"]["errorMessage"]["message"] == "disk full"


def test_a_long_text_is_joined_by_its_sequence() -> None:
    server = DataServer()
    text = "INSERT INTO totals SELECT" + " " * 180 + "amount" + " " * 200 + "FROM orders"
    server.has(ran(1, text))
    (event,) = events_of(server.source())
    assert event["job"]["facets"]["sql"]["query"] == text
    assert hows(event) == {("amount", "total", "IDENTITY")}


def test_a_renamed_table_takes_its_data_along() -> None:
    server = DataServer()
    server.has(ran(1, "ALTER TABLE public.totals_new RENAME TO totals"))
    (event,) = events_of(server.source())
    (output,) = event["outputs"]
    change = output["facets"]["lifecycleStateChange"]
    assert (output["name"], change["lifecycleStateChange"]) == ("dev.public.totals", "RENAME")
    assert change["previousIdentifier"]["name"] == "dev.public.totals_new"


def test_copy_reads_files_and_the_catalogue_is_no_table() -> None:
    server = DataServer()
    server.has(
        ran(1, "COPY orders FROM 's3://lake/in/' IAM_ROLE default CSV"),
        ran(2, "SELECT * FROM svv_columns", user="ann"),
        ran(3, "SELECT id FROM orders", user="ann"),
    )
    copied, read = events_of(server.source())
    assert copied["inputs"][0]["namespace"] == "s3://lake"
    assert read["job"]["name"].startswith("ann.query.")


def test_users_and_readers_are_chosen() -> None:
    server = DataServer()
    statements = (ran(1, "SELECT id FROM orders", user="ann"), ran(2, "SELECT id FROM orders"))
    server.has(*statements)
    server.has(*statements)
    (event,) = events_of(server.source(users=["ann"]))
    assert event["run"]["facets"]["tags"]["tags"][0]["value"] == "ann"
    assert events_of(server.source(readers=False)) == []


def test_who_sees_only_own_queries_is_told_so() -> None:
    server = DataServer()
    server.has(ran(1, "SELECT id FROM orders", user="harvest"))
    events_of(server.source())
    assert server.said == [
        "  only queries of harvest are visible to it: "
        "GRANT ROLE sys:monitor TO harvest shows those of others"
    ]


def test_a_rollback_that_comes_after_a_round_is_another_mark_at_its_time() -> None:
    server = DataServer()
    begun = ran(1, "INSERT INTO totals SELECT amount FROM orders", transaction=50)
    server.has(begun)
    server.has(begun, ran(3, "ROLLBACK", transaction=50))
    (first,) = server.source().findings(NOON, ())
    second, _ = server.source().findings(NOON, ())
    assert (first.key, first.mark, second.key, second.mark) == ("1", "COMPLETE", "1", "ABORT")
    assert second.events()[1]["eventTime"] == "2026-03-01T12:00:03.500Z"


def test_a_statement_on_a_temporary_table_stays_one_when_its_beginning_is_no_longer_met() -> None:
    server = DataServer()
    made = ran(1, "CREATE TEMP TABLE a AS SELECT 1")
    filled = ran(2, "INSERT INTO a SELECT amount FROM orders")
    server.has(made, filled)
    server.has(filled)  # the next round begins between the two
    first, again = (
        {one.key: one.mark for one in server.source().findings(NOON, ())} for _ in range(2)
    )
    assert again.items() <= first.items()


@pytest.mark.parametrize("moments", [(None, f"{DAY} 12:00:01.500000"), (f"{DAY} 12:00:01", None)])
def test_a_statement_without_a_time_ends_nothing(moments: tuple[str | None, str | None]) -> None:
    server = DataServer()
    row, chunks = ran(1, "INSERT INTO totals SELECT amount FROM orders")
    server.has(((*row[:6], *moments, *row[8:]), chunks))
    assert len(events_of(server.source())) == (moments[1] is not None)


def test_a_history_of_a_hundred_years_is_refused() -> None:
    server = DataServer()
    server.answers([("1970-01-01 00:00:00.000000", f"{DAY} 12:00:00.000000", "harvest")])
    server.answers(COLUMNS)
    with pytest.raises(HeadwaterError, match="begin with --since"):
        events_of(server.source())


def test_pages_are_followed_and_a_statement_is_waited_for() -> None:
    server = DataServer()
    server.answers([(1,)], [(2,)], waits=2)
    api = DataApi(server.client, {"WorkgroupName": "etl", "Database": "dev"}, server.slept.append)
    assert list(api.rows("SELECT 1")) == [[1], [2]]
    assert len(server.slept) == 2


def test_a_failed_statement_ends_and_a_throttled_one_can_be_repeated() -> None:
    server = DataServer()
    server.fails("permission denied for sys_query_history")
    with pytest.raises(HeadwaterError, match="permission denied") as raised:
        events_of(server.source())
    assert not isinstance(raised.value, Unavailable)
    server.stub.add_client_error("execute_statement", "ActiveStatementsExceededException")
    with pytest.raises(Unavailable):
        events_of(server.source())


def test_an_empty_history_asks_no_more() -> None:
    server = DataServer()
    server.answers([(None, None, "harvest")])
    server.answers([])
    assert events_of(server.source()) == events_of(server.source()) == []


def test_names_with_dots_and_blanks_are_written_so_that_they_can_be_read_again() -> None:
    server = DataServer()
    columns = [("dev", "eu.west", "orders", "id", "integer"), ("dev", "eu.west", "t", "id", "int")]
    server.has(
        ran(1, 'INSERT INTO "eu.west".t SELECT id FROM "eu.west".orders'),
        ran(2, 'ALTER TABLE "eu.west"."my t" RENAME TO "your t"'),
        columns=columns,
    )
    filled, renamed = events_of(server.source())
    assert names_of(filled) == (['dev."eu.west".orders'], ['dev."eu.west".t'])
    assert hows(filled) == {("id", "id", "IDENTITY")}
    (output,) = renamed["outputs"]
    former = output["facets"]["lifecycleStateChange"]["previousIdentifier"]["name"]
    assert (output["name"], former) == ('dev."eu.west".your t', 'dev."eu.west".my t')


def test_a_temporary_table_keeps_its_rows_under_another_name() -> None:
    server = DataServer()
    server.has(
        ran(1, "CREATE TEMP TABLE a AS SELECT amount AS total FROM orders"),
        ran(2, "ALTER TABLE a RENAME TO b"),
        ran(3, "INSERT INTO totals SELECT total FROM b"),
    )
    (totals,) = events_of(server.source())
    assert names_of(totals) == (["dev.public.orders"], ["dev.public.totals"])
    assert hows(totals) == {("amount", "total", "IDENTITY")}


def test_a_temporary_table_that_is_filled_again_and_again_is_told_once() -> None:
    server = DataServer()
    server.has(
        ran(1, "CREATE TEMP TABLE a (n int)"),
        *(ran(n, f"INSERT INTO a VALUES ({n})") for n in range(2, 40)),
        ran(40, "INSERT INTO totals SELECT n FROM a"),
    )
    (totals,) = events_of(server.source())
    assert totals["job"]["facets"]["sql"]["query"].count("INSERT INTO a") == 1


def test_temporary_tables_that_are_too_long_to_be_told_are_no_stored_ones() -> None:
    server = DataServer()
    server.has(
        ran(1, f"CREATE TEMP TABLE a AS SELECT amount AS {'x' * 85_000} FROM orders"),
        ran(2, "INSERT INTO totals SELECT 1 FROM a, orders"),
    )
    (totals,) = events_of(server.source())
    assert names_of(totals) == (["dev.public.orders"], ["dev.public.totals"])


def test_what_is_no_time_is_refused_and_what_is_no_count_is_left_out() -> None:
    server = DataServer()
    row, chunks = ran(1, "INSERT INTO totals SELECT amount FROM orders")
    server.has(((*row[:-1], "many"), chunks))
    server.has(((*row[:6], "noon", "noon", None, 3), chunks))
    (event,) = events_of(server.source())
    assert "outputFacets" not in event["outputs"][0]
    with pytest.raises(HeadwaterError, match="'noon' is no time"):
        events_of(server.source())
