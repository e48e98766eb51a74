"""``headwater harvest athena`` from a server of AWS's API into the journal of a data folder."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.command_line import run
from tests.aws import Aws, environment_of, moto_server

TEXT = "CREATE TABLE totals AS SELECT day, sum(amount) AS total FROM orders GROUP BY day"


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with moto_server() as server, environment_of(server):
        yield server


def called(*arguments: str) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    code = run(arguments, {}, out, errors)
    return code, out.getvalue(), errors.getvalue()


def a_table(glue: Any, name: str, *columns: str) -> None:
    described = {
        "Columns": [{"Name": one, "Type": "string"} for one in columns],
        "Location": f"s3://lake/{name}/",
    }
    table = {"Name": name, "StorageDescriptor": described, "TableType": "EXTERNAL_TABLE"}
    glue.create_table(DatabaseName="sales", TableInput=table)


def test_the_history_is_journalled_once_and_asks_first(aws: Aws, tmp_path: Path) -> None:
    athena, glue = aws.client("athena"), aws.client("glue")
    glue.create_database(DatabaseInput={"Name": "sales"})
    a_table(glue, "orders", "day", "amount")
    key = athena.start_query_execution(
        QueryString=TEXT, QueryExecutionContext={"Database": "sales"}, WorkGroup="primary"
    )["QueryExecutionId"]
    for _ in range(2):  # queued, running, succeeded
        athena.get_query_execution(QueryExecutionId=key)
    call = ("harvest", "athena", "--direct", "--data", str(tmp_path))
    code, out, errors = called(*call)
    assert code == 2
    assert "workgroups: all" in out
    assert "--yes" in errors
    code, out, _ = called(*call, "--dry-run")
    assert code == 0
    assert "awsdatacatalog.sales.orders -> awsdatacatalog.sales.totals" in out
    code, out, _ = called(*call, "--yes")
    assert (code, out.splitlines()[-1]) == (0, "athena: 1 found, 2 documents taken, 0 refused")
    assert called(*call)[1].splitlines()[-1] == "athena: 0 found, 0 documents taken, 0 refused"
    _, exported, _ = called("journal", "export", "-", "--data", str(tmp_path))
    events = [json.loads(line)["body"] for line in exported.splitlines()]
    assert [one["eventType"] for one in events] == ["START", "COMPLETE"]
    (orders,) = events[1]["inputs"]
    assert [one["name"] for one in orders["facets"]["schema"]["fields"]] == ["day", "amount"]
    assert orders["facets"]["symlinks"]["identifiers"][0]["namespace"] == "s3://lake"


@pytest.mark.parametrize(
    ("option", "value"), [("--since", "yesterday"), ("--every", "5"), ("--every", "x m")]
)
def test_a_wrong_time_ends_with_2(option: str, value: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["harvest", "athena", option, value], {}, io.StringIO(), io.StringIO())
    assert ended.value.code == 2
