"""Impact over HTTP and on the command line, on a small Headwater in memory."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from api import command_line
from api.console.call import Answered
from api.http.access import Keys, NoKeys
from api.routes.impact import MOST_DOCUMENTS, ImpactReply, PlanCheckReply
from graph_model.answers.impact.changes import relocate
from graph_model.errors import ConfigurationError, HeadwaterError
from graph_model.stores.keys import Key
from graph_model.values import Role
from tests import impact_lake as lake
from tests.builders import PlanBuilder
from tests.e2e.small_client import CallOn, client_of, command, running
from tests.projections import SmallHeadwater, lineage_event
from tests.waiting import eventually

WITHOUT_AMOUNT = tuple(text for text in lake.ORDER_COLUMNS if not text.startswith("amount"))
NOW = lake.START + 10**9


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    """A lake of the test's own, which it may change."""
    with running(lake.lake()) as made:
        yield made


@pytest.fixture
def changing(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, NOW)


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    """A client of one lake, for tests that ask only."""
    with running(lake.lake()) as made:
        yield client_of(made, NOW)


def ask(client: FlaskClient, node: str, accept: str = "", **query: str) -> Any:
    headers = {"Accept": accept} if accept else {}
    return client.get("/graph/impact", query_string={"node": node, **query}, headers=headers)


def labels_of(reply: Any) -> list[str]:
    return [f"{item['kind']} {item['label']} {item['depth']}" for item in reply.get_json()["items"]]


# --- everything downstream -----------------------------------------------------------------------


def test_everything_downstream_of_a_dataset_is_a_table(client: FlaskClient) -> None:
    answer = ask(client, f"dataset:{lake.ORDERS}")
    assert ImpactReply().load(answer.get_json())
    assert labels_of(answer) == [
        "dataset audit 1", "dataset daily 1", "job audit 1", "job daily 1",
        "dataset report 2", "job report 2",
    ]  # fmt: skip
    report = answer.get_json()["items"][4]
    assert [node["label"] for node in report["path"]] == [
        "orders", "daily", "daily", "report", "report",
    ]  # fmt: skip
    assert [job["name"] for job in report["jobs"]] == ["daily", "report"]
    assert report["lastRun"]["state"] == "completed"
    assert answer.get_json()["depth"] == {"asked": 50, "reached": 2}
    assert answer.get_json()["verdict"] is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"jobs": "false"}, ["dataset audit 1", "dataset daily 1", "dataset report 2"]),
        ({"depth": "1", "jobs": "false"}, ["dataset audit 1", "dataset daily 1"]),
        ({"depth": "0"}, []),
        ({"at": "1000"}, []),
        ({"at": str(lake.START + lake.MINUTE), "jobs": "0"}, ["dataset daily 1"]),
        (
            {"columns": "true", "jobs": "false", "depth": "1"},
            [
                "dataset audit 1", "dataset daily 1", "column id 1", "column status 1",
                "column customer 1", "column total 1",
            ],
        ),
    ],
)  # fmt: skip
def test_every_parameter_is_honoured(
    client: FlaskClient, query: dict[str, str], expected: list[str]
) -> None:
    assert labels_of(ask(client, f"dataset:{lake.ORDERS}", **query)) == expected


@pytest.mark.parametrize(
    ("job", "query", "expected"),
    [
        ("daily", {}, ["customer 1", "total 1", "customer 2", "rounded 2"]),
        ("daily", {"depth": "1"}, ["customer 1", "total 1"]),
        ("daily", {"depth": "0"}, []),
        ("report", {}, ["customer 1", "rounded 1"]),
        ("load", {"at": "1000"}, []),
    ],
)
def test_the_columns_that_a_job_writes_are_told_with_the_columns_derived_from_them(
    client: FlaskClient, job: str, query: dict[str, str], expected: list[str]
) -> None:
    answer = ask(client, f"job:default/{job}", columns="true", jobs="false", **query).get_json()
    columns = [item for item in answer["items"] if item["kind"] == "column"]
    assert [f"{item['label']} {item['depth']}" for item in columns] == expected
    for item in columns:
        assert item["path"][0]["label"] == job
        assert item["path"][-1]["id"] == item["id"]


def test_a_limit_cuts_the_columns_of_a_job_and_says_so(client: FlaskClient) -> None:
    answer = ask(client, "job:default/load", columns="true", jobs="false", limit="3").get_json()
    assert answer["partial"] == {"reason": "nodes", "limit": 3}
    assert len(answer["items"]) <= 6


def rests_on_declarations(client: FlaskClient) -> dict[tuple[str, str], bool]:
    items = ask(client, f"dataset:{lake.ORDERS}", columns="true").get_json()["items"]
    return {(item["kind"], item["label"]): item["declared"] for item in items}


def test_a_row_that_rests_on_a_declaration_says_so_in_every_format(changing: FlaskClient) -> None:
    declared = {
        "target": "s3://sheets/totals",
        "sources": [lake.DAILY],
        "columns": [{"source": lake.DAILY, "from": "total", "to": "sum"}],
        "job": "finance/upload",
    }
    answer = changing.post("/declarations", json={"declarations": [declared]})
    assert answer.status_code == 201, answer.get_json()
    eventually(lambda: ("dataset", "totals") in rests_on_declarations(changing))
    found = rests_on_declarations(changing)
    assert {key for key, rests in found.items() if rests} == {
        ("dataset", "totals"), ("job", "upload"), ("column", "sum"),
    }  # fmt: skip
    text = ask(changing, f"dataset:{lake.ORDERS}", format="markdown").text
    told = [line for line in text.splitlines() if line.endswith("|") and "(declared)" in line]
    assert len(told) == 2
    table = csv.DictReader(
        io.StringIO(ask(changing, f"dataset:{lake.ORDERS}", format="csv").text, newline="")
    )
    assert {row["label"] for row in table if row["declared"] == "true"} == {"totals", "upload"}
    lines = run(changing, f"--dataset {lake.ORDERS}")[1].splitlines()
    assert sum("declared, no run does it" in line for line in lines) == 2
    judged = ask(changing, f"column:{lake.ORDERS}#amount", change="dropped", format="markdown").text
    assert "which breaks (declared)" in judged


def test_a_column_a_job_and_a_prefix_can_be_asked_about(client: FlaskClient) -> None:
    assert labels_of(ask(client, f"column:{lake.ORDERS}#AMOUNT", jobs="false")) == [
        "column total 1", "column rounded 2",
    ]  # fmt: skip
    by_filter = ask(client, f"column:{lake.ORDERS}#status", jobs="false", indirect="true")
    assert labels_of(by_filter)[:3] == ["column status 1", "column customer 1", "column total 1"]
    assert labels_of(ask(client, "job:default/daily", jobs="false")) == [
        "dataset daily 1", "dataset report 2",
    ]  # fmt: skip
    below = ask(client, "prefix:s3a://landing/", jobs="false")
    assert labels_of(below) == [
        "dataset orders 1", "dataset audit 2", "dataset daily 2", "dataset report 3",
    ]  # fmt: skip
    assert [start["label"] for start in below.get_json()["starts"]] == ["orders"]


@pytest.mark.parametrize(
    ("query", "status", "named"),
    [
        ({}, 400, "node"),
        ({"node": "dataset:s3://nowhere/x"}, 404, ""),
        ({"node": "prefix:s3://nowhere/"}, 404, ""),
        ({"node": "nonsense"}, 400, "node"),
        ({"node": f"dataset:{lake.ORDERS}", "format": "xml"}, 400, "format"),
        ({"node": f"dataset:{lake.ORDERS}", "direction": "upstream"}, 400, "direction"),
        ({"node": f"dataset:{lake.ORDERS}", "depth": "51"}, 400, "depth"),
        ({"node": f"dataset:{lake.ORDERS}", "limit": "0"}, 400, "limit"),
        ({"node": f"column:{lake.ORDERS}#id", "change": "moved"}, 400, "change"),
        ({"node": f"dataset:{lake.ORDERS}", "change": "dropped"}, 400, ""),
        ({"node": "prefix:s3://lake/", "change": "dropped"}, 400, "node"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_by_name(
    client: FlaskClient, query: dict[str, str], status: int, named: str
) -> None:
    answer = client.get("/graph/impact", query_string=query)
    assert answer.status_code == status
    if named:
        assert named in answer.get_json()["errors"]


# --- formats -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "query", "media_type"),
    [
        ("", {}, "application/json"),
        ("*/*", {}, "application/json"),
        ("text/csv", {}, "text/csv"),
        ("text/markdown, application/json;q=0.5", {}, "text/markdown"),
        ("image/png", {"format": "csv"}, "text/csv"),
        ("text/csv", {"format": "json"}, "application/json"),
    ],
)
def test_the_format_is_chosen_by_name_or_by_the_accept_header(
    client: FlaskClient, accept: str, query: dict[str, str], media_type: str
) -> None:
    answer = ask(client, f"dataset:{lake.ORDERS}", accept, **query)
    assert (answer.status_code, answer.mimetype) == (200, media_type)
    assert "Accept" in answer.headers["Vary"]


def test_a_format_that_is_not_spoken_is_a_406(client: FlaskClient) -> None:
    answer = ask(client, f"dataset:{lake.ORDERS}", "image/png")
    assert answer.status_code == 406
    assert "text/csv" in answer.get_json()["message"]


def test_csv_has_the_rows_and_headers_have_the_state_of_the_answer(client: FlaskClient) -> None:
    answer = ask(client, f"dataset:{lake.ORDERS}", format="csv", limit="3")
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [row["depth"] for row in rows] == ["1"] * len(rows)
    assert rows[0]["path"].startswith("orders -> (")
    said = {name: answer.headers[f"Headwater-{name}"] for name in ("As-Of", "Folded", "Partial")}
    assert said == {
        "As-Of": "2023-11-14T22:16:20.000Z", "Folded": "false", "Partial": "nodes (limit 3)",
    }  # fmt: skip
    assert answer.headers["Headwater-Depth"].endswith(" of 50")
    assert ask(client, f"dataset:{lake.ORDERS}").headers["Headwater-Partial"] == "none"


def test_markdown_is_a_table_for_a_pull_request(client: FlaskClient) -> None:
    text = ask(client, f"dataset:{lake.ORDERS}", format="markdown").text
    assert text.startswith("### Downstream of orders\n\n6 things, as of ")
    assert "| dataset | s3://lake/report | 2 |" in text


# --- statements of people ------------------------------------------------------------------------


def test_owners_layers_and_classifications_stand_in_the_rows(changing: FlaskClient) -> None:
    changing.put(
        "/layers/lake",
        json={"match": "prefix", "pattern": "s3://lake/", "order": 1, "colour": "#0b6a84"},
    )
    body = {"node": f"dataset:{lake.DAILY}", "owner": "sales", "note": ""}
    assert changing.put("/classifications/finance", json=body).status_code == 200
    rows = {
        (item["kind"], item["label"]): item
        for item in ask(changing, f"dataset:{lake.ORDERS}", columns="true").get_json()["items"]
    }
    daily = rows["dataset", "daily"]
    assert (daily["layer"], daily["classifications"], daily["owners"]) == (
        "lake", ["finance"], ["sales"],
    )  # fmt: skip
    assert rows["column", "total"]["owners"] == ["sales"]
    assert rows["job", "daily"]["layer"] is None


def test_hidden_nodes_are_counted_and_not_named(changing: FlaskClient) -> None:
    hidden = {"command": "hide", "node": f"dataset:{lake.DAILY}"}
    assert changing.post("/commands", json=hidden).status_code < 300
    answer = ask(changing, f"dataset:{lake.ORDERS}", columns="true")
    assert answer.get_json()["hidden"] == 1
    assert "lake/daily" not in answer.text
    assert "dataset report 2" in labels_of(answer)
    report = next(i for i in answer.get_json()["items"] if i["label"] == "report")
    assert {"kind": "dataset", "id": "", "label": "hidden"} in report["path"]
    assert ask(changing, f"dataset:{lake.DAILY}").status_code == 404
    assert ask(changing, f"column:{lake.DAILY}#total").status_code == 404
    assert "daily" not in [
        start["label"] for start in ask(changing, "prefix:s3://lake/").get_json()["starts"]
    ]
    checked = check(changing, lake.daily())
    assert checked.get_json()["plans"][0]["plan"] is None


# --- a change ------------------------------------------------------------------------------------


def check(
    client: FlaskClient, *bodies: Any, kind: str = "application/x-ndjson", **query: str
) -> Any:
    data = "\n".join(json.dumps(body) for body in bodies)
    return client.post("/graph/impact/plan", query_string=query, data=data, content_type=kind)


def test_dropping_a_column_breaks_its_users_even_those_that_filter_by_it(
    client: FlaskClient,
) -> None:
    answer = ask(client, f"column:{lake.ORDERS}#status", change="dropped")
    assert answer.get_json()["verdict"] == "breaks"
    assert answer.headers["Headwater-Verdict"] == "breaks"
    reasons = {item["label"]: item["reason"] for item in answer.get_json()["items"]}
    assert reasons["total"] == "daily filters by orders.status, which is dropped"
    direct = ask(client, f"column:{lake.ORDERS}#status", change="dropped", indirect="false")
    assert labels_of(direct) == ["column status 1", "job audit 1"]
    unused = ask(client, f"column:{lake.AUDIT}#id", change="dropped")
    assert (unused.get_json()["verdict"], unused.get_json()["items"]) == ("none", [])


def test_a_captured_plan_is_compared_and_not_kept(
    changing: FlaskClient, headwater: SmallHeadwater
) -> None:
    before = headwater.journal.summary()
    elements = headwater.elements()
    answer = check(changing, lake.load(WITHOUT_AMOUNT), kind="application/json")
    assert PlanCheckReply().load(answer.get_json())
    assert answer.get_json()["verdict"] == "breaks"
    assert answer.get_json()["plans"][0]["changes"] == [
        {"kind": "column-dropped", "subject": "amount", "before": "int", "after": None,
         "effect": "breaks"}
    ]  # fmt: skip
    assert headwater.journal.summary() == before
    assert headwater.elements() == elements


def test_lines_of_a_capture_are_read_as_an_import_reads_them(client: FlaskClient) -> None:
    line = {"kind": "plan", "apiVersion": "1.2", "body": lake.load(WITHOUT_AMOUNT)}
    event = {"kind": "event", "apiVersion": "1.2", "body": lake.run_of(lake.load(), 1)}
    assert check(client, line, event, lake.audit()).get_json()["verdict"] == "breaks"
    packed = client.post(
        "/graph/impact/plan",
        data=gzip.compress(json.dumps([line["body"]]).encode()),
        headers={"Content-Encoding": "gzip", "Content-Type": "application/json"},
    )
    assert packed.get_json()["verdict"] == "breaks"


def test_openlineage_events_are_compared_too(client: FlaskClient) -> None:
    folder = Path(__file__).parents[2] / "fixtures" / "openlineage" / "captured"
    capture = json.loads((folder / "c_union.json").read_text(encoding="utf-8"))
    events = capture if isinstance(capture, list) else capture["events"]
    answer = check(client, *events)
    assert answer.status_code == 200, answer.get_json()
    assert {plan["plan"] for plan in answer.get_json()["plans"]} == {None}


def test_a_check_takes_as_many_documents_as_a_job_may_have(client: FlaskClient) -> None:
    event = lake.run_of(lake.load(), 1)
    assert check(client, lake.load(), *[event] * (MOST_DOCUMENTS - 1)).status_code == 200
    refused = check(client, lake.load(), *[event] * MOST_DOCUMENTS)
    assert (refused.status_code, "1,000" in refused.text) == (400, True)


def test_a_plan_may_take_the_place_of_another_job_s(client: FlaskClient) -> None:
    body = {**lake.load(WITHOUT_AMOUNT), "name": "load_on_a_branch"}
    assert check(client, body).get_json()["plans"][0]["plan"] is None
    assert check(client, body, job="default/load").get_json()["verdict"] == "breaks"
    assert check(client, body, job="default/nobody").status_code == 404


def test_a_check_speaks_markdown_and_csv(client: FlaskClient) -> None:
    text = check(client, lake.load(WITHOUT_AMOUNT), format="markdown").text
    assert text.startswith("### Something breaks")
    rows = list(csv.DictReader(io.StringIO(
        check(client, lake.load(WITHOUT_AMOUNT), format="csv").text, newline=""
    )))  # fmt: skip
    assert {row["verdict"] for row in rows} == {"breaks"}


@pytest.mark.parametrize(
    ("data", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b'{"a": 1}', "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"operations": {}}', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
    ],
)
def test_a_body_that_is_no_plan_is_refused(
    client: FlaskClient, data: bytes, kind: str, status: int
) -> None:
    answer = client.post("/graph/impact/plan", data=data, content_type=kind)
    assert answer.status_code == status, answer.get_json()


class OneKey(NoKeys):
    """A reader's key, and only that one."""

    def exist(self) -> bool:
        return True

    def find(self, text: str) -> Key | None:
        if text != "hw_reader":
            return None
        return Key("key_1", "ann", frozenset({Role.READER}), "", 0, "", "ader", 0)


def test_a_reader_may_check_a_plan_and_nobody_may_without_a_key(headwater: SmallHeadwater) -> None:
    keys: Keys = OneKey()
    client = client_of(headwater, NOW, keys)
    assert check(client, lake.load()).status_code == 401
    answer = client.post("/graph/impact/plan", json=lake.load(), headers={"X-API-Key": "hw_reader"})
    assert answer.status_code == 200


# --- on the command line -------------------------------------------------------------------------


def run(client: FlaskClient, line: str) -> tuple[int, str]:
    """The exit code of ``headwater impact <line>`` and its output."""
    return command(client, f"impact {line}")


@pytest.fixture
def captured(tmp_path: Path) -> Path:
    file = tmp_path / "captured.ndjson"
    line = {"kind": "plan", "apiVersion": "1.2", "body": lake.load(WITHOUT_AMOUNT)}
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return file


def test_the_table_for_people(client: FlaskClient) -> None:
    code, said = run(client, f"--dataset {lake.ORDERS}")
    lines = said.splitlines()
    assert code == 0
    assert lines[0].split()[:3] == ["1", "dataset", "s3://lake/audit"]
    assert "orders -> (daily) -> daily -> (report) -> report" in lines[4]
    assert lines[-1] == "6 downstream, as of 2023-11-14T22:16:20.000Z"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"--column '{lake.ORDERS}#amount'", 0),
        (f"--column '{lake.ORDERS}#amount' --change dropped", 3),
        (f"--column '{lake.ORDERS}#amount' --change renamed --fail-on any", 3),
        (f"--column '{lake.ORDERS}#amount' --change retyped", 0),
        (f"--column '{lake.ORDERS}#amount' --change retyped --fail-on any", 3),
        (f"--column '{lake.ORDERS}#amount' --change dropped --fail-on never", 0),
        (f"--column '{lake.AUDIT}#id' --change dropped --fail-on any", 0),
        (f"column:{lake.ORDERS}#status --change dropped --direct-only", 3),
        ("--job default/load", 0),
        ("--prefix s3://landing/", 0),
    ],
)
def test_the_exit_code_says_whether_something_breaks(
    client: FlaskClient, line: str, code: int
) -> None:
    for form in ("table", "json", "csv", "markdown"):
        assert run(client, f"{line} --format {form}")[0] == code


def test_a_captured_plan_on_the_command_line(client: FlaskClient, captured: Path) -> None:
    code, said = run(client, f"--plan {captured}")
    assert code == 3
    assert said.splitlines()[:2] == [
        "default/load writes s3://lake/orders",
        "  column-dropped: amount  int  (breaks its readers)",
    ]
    assert "daily aggregates orders.amount, which is dropped" in said
    assert said.splitlines()[-1].startswith("something breaks, 4 downstream")
    assert run(client, f"--plan {captured} --format markdown")[1].startswith("### Something")


def test_a_plan_captured_elsewhere_is_put_where_the_job_runs(
    client: FlaskClient, tmp_path: Path
) -> None:
    moves = [("s3://lake/", "file:/tmp/check/lake/"), ("s3://landing/", "file:/tmp/check/landing/")]
    body = {**relocate(lake.load(WITHOUT_AMOUNT), moves), "name": "branch"}
    file = tmp_path / "elsewhere.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    mapped = " ".join(f"--map {old}={new}" for new, old in moves)
    code, said = run(client, f"--plan {file} --as-job default/load {mapped}")
    assert (code, "target-moved" in said) == (3, False)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_forgotten_map_is_no_all_clear(client: FlaskClient, tmp_path: Path, form: str) -> None:
    moves = [("s3://", "file:/tmp/check/")]
    bodies = [relocate(body, moves) for body in (lake.load(), {**lake.audit(), "name": "load"})]
    file = tmp_path / "elsewhere.json"
    file.write_text(json.dumps(bodies), encoding="utf-8")
    line = f"--plan {file} --format {form}"
    with pytest.raises(HeadwaterError, match="--map FROM=TO"):
        run(client, line)
    code, said = run(client, f"{line} --fail-on never")
    assert code == 0
    if form == "table":
        assert said.splitlines()[-1].startswith("uncertain, 0 downstream")
    if form == "markdown":
        assert said.startswith("### Uncertain")
        assert "**default/load**" in said
    if form == "json":
        assert json.loads(said)["unmet"] == ["default/load"]


def test_a_dropped_column_without_readers_breaks_nothing_in_every_line(
    client: FlaskClient, tmp_path: Path
) -> None:
    plan = PlanBuilder()
    rows = plan.read(lake.DAILY, "customer: string", "total: bigint")
    plan.write(plan.project(rows, "customer"), lake.REPORT)
    file = tmp_path / "unread.json"
    file.write_text(json.dumps(lake.named(plan, "report")), encoding="utf-8")
    code, said = run(client, f"--plan {file}")
    lines = said.splitlines()
    assert code == 0
    assert lines[1].startswith("  column-dropped: rounded")
    assert lines[1].endswith("(breaks its readers; none are known)")
    assert lines[-1].startswith("nothing breaks, ")


def test_an_answer_that_is_not_whole_is_no_all_clear(client: FlaskClient) -> None:
    line = f"--column '{lake.ORDERS}#amount' --change retyped --limit 2"
    with pytest.raises(HeadwaterError, match=r"incomplete \(.*more may break"):
        run(client, line)
    assert run(client, f"{line} --fail-on never")[0] == 0


@pytest.mark.parametrize(
    "line",
    [
        "--plan {file} --change dropped",
        "--plan {file} --columns",
        f"--dataset {lake.ORDERS} --as-job default/load",
        f"--dataset {lake.ORDERS} --map a=b",
        f"--dataset {lake.ORDERS} --indirect --direct-only",
    ],
)
def test_options_that_do_not_go_together_are_refused(
    client: FlaskClient, captured: Path, line: str
) -> None:
    with pytest.raises(ConfigurationError):
        run(client, line.format(file=captured))


def test_a_file_that_holds_no_plan_is_refused_with_its_line(
    client: FlaskClient, tmp_path: Path
) -> None:
    file = tmp_path / "broken.json"
    file.write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"broken\.json:1"):
        run(client, f"--plan {file}")


def test_the_longest_move_that_fits_counts() -> None:
    moves = [("file:/tmp/", "s3://a/"), ("file:/tmp/raw/", "s3://b/")]
    document: Mapping[str, Any] = {"x": ["file:/tmp/raw/t", "file:/tmp/u", "other", 1, None]}
    assert relocate(document, moves) == {"x": ["s3://b/t", "s3://a/u", "other", 1, None]}


def test_owners_of_an_ownership_facet_stand_in_the_rows(
    changing: FlaskClient, headwater: SmallHeadwater
) -> None:
    owned = {"ownership": {"owners": [{"name": "team:report"}, {"name": "ann", "type": "lead"}]}}
    headwater.accept(
        lineage_event(
            {
                "eventTime": "2023-11-14T23:00:00.000Z",
                "producer": "https://example.org/catalog",
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
                "dataset": {"namespace": "s3://lake", "name": "report", "facets": owned},
            }
        )
    )
    headwater.project()
    tables = ask(changing, f"dataset:{lake.DAILY}", jobs="false").get_json()["items"]
    assert [item["owners"] for item in tables] == [["team:report", "ann"]]


def test_a_check_may_look_at_values_alone(client: FlaskClient, tmp_path: Path) -> None:
    file = tmp_path / "captured.json"
    file.write_text(json.dumps(lake.load(renamed={"status": "state"})), encoding="utf-8")
    assert "default/daily" in run(client, f"--plan {file}")[1]
    assert "default/daily" not in run(client, f"--plan {file} --direct-only")[1]


def test_another_server_is_told_as_no_headwater(client: FlaskClient) -> None:
    class Elsewhere(CallOn):
        def fetch(self, *asked: Any, **more: Any) -> Answered:
            return Answered("<html>", {})

    options = command_line.parser().parse_args(["impact", "--dataset", lake.ORDERS])
    with pytest.raises(HeadwaterError, match="not a Headwater"):
        options.command(Elsewhere(options, {}, io.StringIO()))
