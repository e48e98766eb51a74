"""The history of Athena, answered by a client with botocore's own models of AWS."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import Stubber

from collectors.harvesting.athena import AthenaHistory
from collectors.harvesting.rounds import PositionFile, harvest, preview
from collectors.intake import DirectIntake
from graph_model import labels
from graph_model.documents.files import Piece, classify, prepare
from graph_model.errors import HeadwaterError, Unavailable
from graph_model.facts import Facts
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal
from tests.openlineage_facts import facts_of_run

NOON = 1_772_366_400_000  # 2026-03-01T12:00:00Z
MINUTE = 60_000
CTAS = (
    "CREATE TABLE totals WITH (external_location = 's3://lake/totals/') AS "
    "SELECT day, sum(amount) AS total FROM orders WHERE day > '2026-01-01' GROUP BY day"
)


def moment(minutes: float) -> datetime:
    return datetime.fromtimestamp((NOON + minutes * MINUTE) / 1000, UTC)


def execution(
    key: str, text: str, minutes: float, state: str = "SUCCEEDED", **status: Any
) -> dict[str, Any]:
    ended = {} if state == "RUNNING" else {"CompletionDateTime": moment(minutes + 1)}
    return {
        "QueryExecution": {
            "QueryExecutionId": key,
            "Query": text,
            "QueryExecutionContext": {"Catalog": "AwsDataCatalog", "Database": "sales"},
            "WorkGroup": "etl",
            "Status": {"State": state, "SubmissionDateTime": moment(minutes), **ended, **status},
        }
    }


def table(name: str, *columns: str, **more: Any) -> dict[str, Any]:
    return {
        "Table": {
            "Name": name,
            "DatabaseName": "sales",
            "CatalogId": "123456789012",
            "UpdateTime": moment(-9_000),
            "StorageDescriptor": {
                "Location": f"s3://lake/{name}/",
                "Columns": [{"Name": one, "Type": "string"} for one in columns],
            },
            **more,
        }
    }


class Aws:
    """Athena and Glue of a history; each answer is checked against botocore's model."""

    def __init__(self, source: AthenaHistory) -> None:
        self.source = source
        self._athena = Stubber(source._athena)
        self._glue = Stubber(source._tables._client)

    def lists(self, *ids: str, after: str = "", following: str = "") -> None:
        asked = {"WorkGroup": "etl", "MaxResults": 50, **({"NextToken": after} if after else {})}
        answer = {"QueryExecutionIds": ids, **({"NextToken": following} if following else {})}
        self._athena.add_response("list_query_executions", answer, asked)

    def has(self, *executions: dict[str, Any]) -> None:
        for one in executions:
            key = one["QueryExecution"]["QueryExecutionId"]
            self._athena.add_response("get_query_execution", one, {"QueryExecutionId": key})

    def knows(self, *tables: dict[str, Any] | str) -> None:
        for one in tables:
            if isinstance(one, str):
                self._glue.add_client_error("get_table", "EntityNotFoundException")
            else:
                name = one["Table"]["Name"]
                asked = {"DatabaseName": "sales", "Name": name}
                self._glue.add_response("get_table", one, asked)

    def fails(self, code: str) -> None:
        self._athena.add_client_error("list_query_executions", code)

    def is_gone(self) -> None:
        self._athena.add_client_error("get_query_execution", "InvalidRequestException")

    def all_was_asked(self) -> None:
        self._athena.assert_no_pending_responses()
        self._glue.assert_no_pending_responses()

    def __enter__(self) -> Aws:
        self._athena.activate()
        self._glue.activate()
        return self

    def __exit__(self, *_: object) -> None:
        self._athena.deactivate()
        self._glue.deactivate()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with Aws(AthenaHistory("eu-west-1", ["etl"], readers=True)) as stubbed:
        yield stubbed


def events_of(source: AthenaHistory, since: int = NOON - 60 * MINUTE) -> list[Mapping[str, Any]]:
    return [event for one in source.findings(since, ()) for event in one.events()]


def test_a_query_that_writes_is_a_run_with_its_text_schemas_and_places(aws: Aws) -> None:
    aws.lists("q1")
    aws.has(execution("q1", CTAS, 0))
    aws.knows(table("orders", "day", "amount"), table("totals", "day", "total"))
    started, ended = events_of(aws.source)
    assert (started["eventType"], started["eventTime"]) == ("START", "2026-03-01T12:00:00.000Z")
    assert (ended["eventType"], ended["eventTime"]) == ("COMPLETE", "2026-03-01T12:01:00.000Z")
    assert started["run"]["runId"] == ended["run"]["runId"]
    assert ended["job"]["namespace"] == "athena:eu-west-1"
    assert ended["job"]["name"].startswith("etl.sales.totals.")
    sql = ended["job"]["facets"]["sql"]
    assert (sql["query"], sql["dialect"], sql["schema"]) == (CTAS, "athena", "sales")
    (orders,), (totals,) = ended["inputs"], ended["outputs"]
    assert orders["namespace"] == "awsathena://athena.eu-west-1.amazonaws.com"
    assert (orders["name"], totals["name"]) == (
        "awsdatacatalog.sales.orders",
        "awsdatacatalog.sales.totals",
    )
    assert [one["name"] for one in orders["facets"]["schema"]["fields"]] == ["day", "amount"]
    assert [
        (one["namespace"], one["name"], one["type"])
        for one in totals["facets"]["symlinks"]["identifiers"]
    ] == [
        ("s3://lake", "totals", "LOCATION"),
        ("arn:aws:glue:eu-west-1:123456789012", "table/sales/totals", "TABLE"),
    ]
    assert totals["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "CREATE"


def test_runs_that_differ_in_values_are_of_one_job_and_a_reader_is_one_too(aws: Aws) -> None:
    texts = ("SELECT a FROM t WHERE d = 'x'", "select a from t where d in ('y', 'z')", "SELECT 1")
    again = texts[0].replace("x", "other") + " -- by hand"
    aws.lists("q1", "q2", "q3", "q4")
    aws.has(*(execution(f"q{n}", one, -n) for n, one in enumerate((*texts, again), 1)))
    aws.knows(table("t", "a", "d"))
    ended = [one for one in events_of(aws.source) if one["eventType"] == "COMPLETE"]
    names = [one["job"]["name"] for one in ended]
    assert [one["outputs"] for one in ended] == [[], [], []]  # SELECT 1 has no lineage
    assert names[0] == names[2] != names[1]
    assert names[0].startswith("etl.query.")


def test_readers_can_be_left_out(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws.source, "_readers", False)
    aws.lists("q1")
    aws.has(execution("q1", "SELECT a FROM t", 0))
    assert events_of(aws.source) == []


def test_a_failed_query_has_its_reason_and_a_running_one_waits(aws: Aws) -> None:
    aws.lists("q1", "q2", "q3")
    aws.has(
        execution("q1", "INSERT INTO t SELECT 1", 0, "RUNNING"),
        execution("q2", "INSERT INTO t SELECT a FROM u", 0, "FAILED", StateChangeReason="no space"),
        execution("q3", "INSERT INTO t SELECT a FROM u", 0, "CANCELLED"),
    )
    aws.knows("u", "t")
    _, failed, _, cancelled = events_of(aws.source)
    assert (failed["eventType"], cancelled["eventType"]) == ("FAIL", "ABORT")
    assert failed["run"]["facets"]["errorMessage"]["message"] == "no space"
    assert "facets" not in failed["outputs"][0]


def test_pages_are_read_until_one_is_older(aws: Aws) -> None:
    aws.lists("q1", following="2")
    aws.has(execution("q1", "SELECT 1", 0))
    aws.lists("q2", "q3", after="2", following="3")
    aws.has(execution("q2", "SELECT 1", -90), execution("q3", "SELECT 1", -91))
    assert [one.key for one in aws.source.findings(NOON - 60 * MINUTE, ())] == ["q1"]
    aws.all_was_asked()


def test_a_list_of_another_order_is_read_to_its_end(aws: Aws) -> None:
    aws.lists("q1", "q2", following="2")
    aws.has(execution("q1", "SELECT 1", -91), execution("q2", "SELECT 1", -90))
    aws.lists("q3", after="2")
    aws.has(execution("q3", "SELECT 1", 0))
    assert [one.key for one in aws.source.findings(NOON - 60 * MINUTE, ())] == ["q3"]


def test_a_view_is_declared_from_its_definition_and_so_is_the_view_below_it(aws: Aws) -> None:
    aws.lists("q1")
    aws.has(execution("q1", "INSERT INTO t SELECT a FROM v", 0))
    aws.knows(view("v", "SELECT a FROM w"), table("t", "a"), view("w", "SELECT a FROM s"), "s")
    events = events_of(aws.source)
    declared = [
        (one["inputs"][0]["name"], one["outputs"][0]["name"], one["eventTime"])
        for one in events
        if "run" not in one
    ]
    at = "2026-02-23T06:00:00.000Z"
    assert declared == [
        ("awsdatacatalog.sales.w", "awsdatacatalog.sales.v", at),
        ("awsdatacatalog.sales.s", "awsdatacatalog.sales.w", at),
    ]


def view(name: str, text: str) -> dict[str, Any]:
    said = {"originalSql": text, "catalog": "awsdatacatalog", "schema": "sales"}
    encoded = base64.b64encode(json.dumps(said).encode()).decode()
    kind = {"TableType": "VIRTUAL_VIEW", "ViewOriginalText": f"/* Presto View: {encoded} */"}
    return table(name, "a", **kind)


def test_a_round_goes_on_from_its_position_and_takes_nothing_twice(
    aws: Aws, tmp_path: Path
) -> None:
    journal = Journal(open_database(tmp_path / "journal.sqlite"))
    intake = DirectIntake(journal, lambda: NOON, "harvest", "harvest:athena")
    positions = PositionFile(None, tmp_path, aws.source)
    aws.lists("q1", "q2")
    aws.has(
        execution("q1", "INSERT INTO t SELECT a FROM u", -1),
        execution("q2", "INSERT INTO t SELECT a FROM u", -2, "RUNNING"),
    )
    aws.knows("u", "t")
    first = harvest(aws.source, intake, positions, NOON - 60 * MINUTE, NOON, print)
    assert (first.findings, first.documents) == (1, 2)
    aws.lists("q1", "q2")
    aws.has(execution("q2", "INSERT INTO t SELECT a FROM u", -2))  # q1 is not asked for again
    aws.knows("u", "t")
    later = NOON + 5 * MINUTE
    second = harvest(aws.source, intake, positions, None, later, print)
    assert (second.findings, second.documents, intake.received()) == (1, 2, 4)
    position = positions.load()
    assert position is not None
    assert (position.since, position.until) == (NOON - 60 * MINUTE, later)


def test_a_view_is_declared_again_after_a_round_that_was_cut_off(aws: Aws) -> None:
    for _ in range(2):
        aws.lists("q1")
        aws.has(execution("q1", "INSERT INTO t SELECT a FROM v", 0))
        aws.knows(view("v", "SELECT a FROM s"), table("t", "a"), "s")
    first, again = events_of(aws.source), events_of(aws.source)
    assert [one for one in first if "run" not in one] == [one for one in again if "run" not in one]


def test_what_is_not_kept_or_has_no_time_holds_nothing_up(aws: Aws) -> None:
    untimed = execution("q2", CTAS, 0)
    del untimed["QueryExecution"]["Status"]["SubmissionDateTime"]
    aws.lists("gone", "q2", "q3")
    aws.is_gone()
    aws.has(untimed, execution("q3", "INSERT INTO t SELECT a FROM u", 0))
    aws.knows("u", "t")
    assert len(events_of(aws.source)) == 2


def test_a_list_that_does_not_end_is_refused(aws: Aws) -> None:
    aws.lists("gone", following="x")
    aws.is_gone()
    aws.lists("gone", after="x", following="x")
    aws.is_gone()
    with pytest.raises(HeadwaterError, match="without an end"):
        events_of(aws.source)


def test_a_preview_lists_documents(aws: Aws) -> None:
    aws.lists("q1")
    aws.has(execution("q1", CTAS, 0))
    aws.knows("orders", "totals")
    start, end = preview(aws.source, None, NOON - MINUTE, NOON)
    assert start.startswith("START etl.sales.totals.")
    assert end.endswith(": awsdatacatalog.sales.orders -> awsdatacatalog.sales.totals")


@pytest.mark.parametrize(
    ("code", "error"),
    [("ThrottlingException", Unavailable), ("AccessDeniedException", HeadwaterError)],
)
def test_a_refused_request_can_be_repeated_only_where_that_helps(
    code: str, error: type[HeadwaterError], aws: Aws
) -> None:
    aws.fails(code)
    with pytest.raises(HeadwaterError, match=code) as raised:
        events_of(aws.source)
    assert type(raised.value) is error


def test_columns_come_from_the_journalled_text(aws: Aws) -> None:
    unload = "UNLOAD (SELECT * FROM orders) TO 's3://lake/out/' WITH (format = 'PARQUET')"
    aws.lists("q1", "q2")
    aws.has(execution("q1", CTAS, 0), execution("q2", unload, 0))
    aws.knows(table("orders", "day", "amount"), "totals")
    made = [read_event(one) for one in events_of(aws.source)]
    facts = facts_of_run([one for one in made if isinstance(one, RunEvent)][:2])
    assert derived(facts) == {("day", "day", "IDENTITY"), ("amount", "total", "AGGREGATION")}
    facts = facts_of_run([one for one in made if isinstance(one, RunEvent)][2:])
    assert derived(facts) == {("day", "day", "IDENTITY"), ("amount", "amount", "IDENTITY")}


def derived(facts: Facts) -> set[tuple[str, ...]]:
    names = {
        one.id: dict(one.properties)["path"] for one in facts.vertices if one.label == labels.COLUMN
    }
    return {
        (str(names[one.out_id]), str(names[one.in_id]), str(dict(one.properties)["how"]))
        for one in facts.edges
        if one.label == labels.DERIVES
    }


def test_the_producer_accepts_what_is_made(aws: Aws) -> None:
    aws.lists("q1")
    aws.has(execution("q1", CTAS, 0))
    aws.knows(table("orders", "day", "amount"), "totals")
    pieces: Sequence[object] = [p for e in events_of(aws.source) for p in classify(e, "q1")]
    assert [prepare(one).submission.kind for one in pieces if isinstance(one, Piece)]
