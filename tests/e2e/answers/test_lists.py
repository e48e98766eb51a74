"""Lists over HTTP: their orders, their refusals, and their pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from tests.e2e.answers.test_answers import START, job, ran
from tests.e2e.answers.test_reading_jobs import get, run
from tests.e2e.small_client import client_of, command, running
from tests.projections import SmallHeadwater, lineage_event, small_headwater

SORTED = {
    "/graph/datasets": ["name", "uri", "type", "lastWrite"],
    "/graph/jobs": ["namespace", "name", "lastRun", "state", "runs"],
    "/graph/runs": ["at", "durationMs"],
    "/graph/columns": ["name", "table"],
}


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    """Three jobs that each write one table, the last of them first by name."""
    headwater = small_headwater()
    for number, name in enumerate(("cherry", "banana", "apple")):
        body = job(name, f"s3://lake/{name}", number, source="s3://raw/in")
        ran(headwater, body, START + number)
    with running(headwater):
        made = client_of(headwater, START)
        layer = {"match": "glob", "pattern": "s3://lake/**", "order": 1, "colour": "#112233"}
        assert made.put("/layers/lake", json=layer).status_code == 200
        yield made


@pytest.mark.parametrize("path", SORTED)
def test_another_order_is_refused_with_those_that_exist(client: FlaskClient, path: str) -> None:
    reply = client.get(path, query_string={"sort": "size"})
    assert reply.status_code == 400
    [message] = reply.get_json()["errors"]["sort"]
    orders = [way + field for field in SORTED[path] for way in ("", "-")]
    assert message == f"{', '.join(orders[:-1])} or {orders[-1]}"


@pytest.mark.parametrize("path", SORTED)
def test_every_order_is_documented_and_its_pages_are_the_whole_list(
    client: FlaskClient, path: str
) -> None:
    described = client.get("/openapi.json").get_json()["paths"][path]["get"]["parameters"]
    [sort] = [one for one in described if one["name"] == "sort"]
    orders = [way + field for field in SORTED[path] for way in ("", "-")]
    assert sort["schema"]["enum"] == orders
    whole = client.get(path).get_json()
    for order in orders:
        ids: list[str] = []
        cursor = None
        while True:
            asked = {"sort": order, "limit": 2} | ({"cursor": cursor} if cursor else {})
            page = client.get(path, query_string=asked).get_json()
            assert page["total"] == whole["total"]
            ids += [item["id"] for item in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
        assert sorted(ids) == sorted(item["id"] for item in whole["items"])


@pytest.mark.parametrize("layer", [{}, {"layer": "lake"}])
@pytest.mark.parametrize(
    ("order", "labels"),
    [
        ("name", ["apple", "banana", "cherry"]),
        ("-name", ["cherry", "banana", "apple"]),
        ("lastWrite", ["cherry", "banana", "apple"]),
        ("-lastWrite", ["apple", "banana", "cherry"]),
    ],
)
def test_a_filter_by_layer_keeps_the_order(
    client: FlaskClient, layer: dict[str, str], order: str, labels: list[str]
) -> None:
    found: list[str] = []
    cursor = None
    while True:
        asked = {"q": "lake", "sort": order, "limit": 2, **layer}
        reply = client.get(
            "/graph/datasets", query_string=asked | ({"cursor": cursor} if cursor else {})
        )
        page = reply.get_json()
        found += [item["label"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == labels


def test_a_cursor_goes_on_in_its_own_order_alone(client: FlaskClient) -> None:
    page = client.get("/graph/jobs", query_string={"sort": "-runs", "limit": 1}).get_json()
    asked = {"sort": "runs", "limit": 1, "cursor": page["next"]}
    assert client.get("/graph/jobs", query_string=asked).status_code == 400


def test_jobs_are_filtered_by_how_their_last_run_ended(client: FlaskClient) -> None:
    def found(state: str) -> int:
        return int(client.get("/graph/jobs", query_string={"state": state}).get_json()["total"])

    assert (found("completed"), found("failed")) == (3, 0)
    assert client.get("/graph/jobs", query_string={"state": "late"}).status_code == 400


def test_jobs_are_filtered_by_owner_and_by_being_late(headwater: SmallHeadwater) -> None:
    """Both ran hourly; ``load`` of the web team last did, two hours ago ``stale`` did."""
    owned = {"ownership": {"owners": [{"name": "Web"}]}}
    for name, hours, facets in (("load", range(6), owned), ("stale", range(4), {})):
        for hour in hours:
            headwater.accept(
                lineage_event(
                    {
                        "eventType": "COMPLETE",
                        "eventTime": f"2023-11-14T1{hour}:00:00.000Z",
                        "producer": "https://example.org/etl",
                        "run": {"runId": f"{name}-{hour}"},
                        "job": {"namespace": "etl", "name": name, "facets": facets},
                        "outputs": [
                            {"namespace": "s3://lake", "name": name, "facets": {}, "outputFacets": {
                                "outputStatistics": {"rowCount": 10 * hour}}}
                        ],
                    }
                )
            )  # fmt: skip
    headwater.project()
    client = client_of(headwater, 1_699_977_600_000)  # 2023-11-14T16:00:00Z

    def listed(**asked: str) -> list[tuple[str, list[str], int | None]]:
        page = client.get("/graph/jobs", query_string=asked).get_json()
        assert page["total"] == len(page["items"])
        return [(job["name"], job["owners"], job["lateRhythmMs"]) for job in page["items"]]

    assert listed(late="true") == [("stale", [], 3_600_000)]
    assert listed(owner="WEB") == [("load", ["Web"], None)]
    assert listed(owner="web", late="true") == []
    refused = client.get("/graph/jobs", query_string={"late": "true", "at": "2023-11-14"})
    assert refused.status_code == 400
    tables = client.get("/graph/datasets").get_json()["items"]
    assert [(table["label"], table["rows"]) for table in tables] == [("load", 50), ("stale", 30)]
    large = get(client, "/graph/datasets", minRows="31", maxRows="50")
    assert ([table["label"] for table in large["items"]], large["partial"]) == (["load"], None)
    hidden = {"command": "hide", "node": "job:etl/stale"}
    assert client.post("/commands", json=hidden).status_code == 202
    headwater.project()
    assert listed(late="true") == []


@pytest.mark.parametrize(
    ("asked", "field", "expected"),
    [
        ({"minRows": "-1"}, "minRows", "an integer from 0 to 999999999999999"),
        ({"maxRows": "many"}, "maxRows", "an integer from 0 to 999999999999999"),
        ({"minRows": "5", "maxRows": "4"}, "maxRows", "an integer from minRows (5) on"),
    ],
)
def test_bounds_of_rows_that_mean_nothing_are_refused(
    client: FlaskClient, asked: dict[str, str], field: str, expected: str
) -> None:
    reply = client.get("/graph/datasets", query_string=asked)
    assert (reply.status_code, reply.get_json()["errors"]) == (400, {field: [expected]})


def test_a_column_is_listed_with_its_table_and_classes(client: FlaskClient) -> None:
    [first, *_] = client.get("/graph/columns", query_string={"sort": "table"}).get_json()["items"]
    assert first["dataset"]["label"] == "apple"
    assert client.put("/classifications/PII", json={"node": first["id"]}).status_code == 200
    listed = client.get("/graph/columns", query_string={"q": first["name"].upper()}).get_json()
    [marked] = [item for item in listed["items"] if item["id"] == first["id"]]
    assert marked["classifications"] == ["PII"]


def test_tables_are_filtered_by_owner_and_by_what_no_visible_job_reads(
    headwater: SmallHeadwater,
) -> None:
    """``load`` writes a, ``sum`` reads it and writes b, ``mend`` reads and writes b."""
    finance = {"ownership": {"owners": [{"name": "Finance"}]}}
    nobody: dict[str, dict[str, list[dict[str, str]]]] = {}
    flows = (("load", "raw", "a", finance), ("sum", "a", "b", nobody), ("mend", "b", "b", nobody))
    for number, (name, source, target, facets) in enumerate(flows):
        output = {"namespace": "s3://lake", "name": target, "facets": facets}
        event = {
            "eventType": "COMPLETE",
            "eventTime": f"2023-11-14T23:00:0{number}.000Z",
            "producer": "https://example.org/etl",
            "run": {"runId": f"0190d1a0-0000-7000-8000-00000000000{number}"},
            "job": {"namespace": "etl", "name": name},
            "inputs": [{"namespace": "s3://lake", "name": source}],
            "outputs": [output],
        }
        headwater.accept(lineage_event(event))
    headwater.project()
    client = client_of(headwater, START)

    def listed(**asked: str) -> list[str]:
        page = client.get("/graph/datasets", query_string=asked).get_json()
        assert page["total"] == len(page["items"])
        return [item["label"] for item in page["items"]]

    assert (listed(owner="finance"), listed(owner="fin")) == (["a"], [])
    told = {"node": "dataset:s3://lake/b", "owner": "web"}
    assert client.put("/classifications/PII", json=told).status_code == 200
    headwater.project()
    assert (listed(owner="WEB"), listed(unread="true")) == (["b"], ["b"])
    assert listed(unread="true", owner="finance") == []
    hidden = {"command": "hide", "node": "job:etl/sum"}
    assert client.post("/commands", json=hidden).status_code == 202
    headwater.project()
    assert listed(unread="true") == ["a", "b"]
    assert client.post("/commands", json={**hidden, "node": told["node"]}).status_code == 202
    headwater.project()
    assert (listed(owner="web"), listed(unread="true")) == ([], ["a"])


TABLE = {
    "namespace": "s3://lake",
    "name": "staff",
    "facets": {
        "symlinks": {
            "identifiers": [{"namespace": "hive://meta", "name": "hr.staff", "type": "TABLE"}]
        }
    },
}
UNPLACED = {"namespace": "hive://meta", "name": "hr.pay"}


def test_totals_are_the_lengths_of_the_lists_also_of_names_hidden_tables_and_layers(
    headwater: SmallHeadwater,
) -> None:
    """``hr.staff`` has a known location and ``hr.pay`` has none."""
    told = [run("load", "10:00:00", UNPLACED, outputs=[TABLE]), run("read", "11:00:00", TABLE)]
    headwater.accept(*map(lineage_event, told))
    headwater.project()
    client = client_of(headwater, START)
    layer = {"match": "glob", "pattern": "hive://**", "order": 1, "colour": "#112233"}
    assert client.put("/layers/named", json=layer).status_code == 200
    headwater.project()

    def lengths() -> tuple[int, int]:
        listed = [len(get(client, f"/graph/{kind}")["items"]) for kind in ("jobs", "datasets")]
        for path in ("/graph/home", "/graph/overview"):
            totals = get(client, path)["totals"]
            assert [totals["jobs"], totals["datasets"]] == listed, path
        layers = get(client, "/layers", counts="true")
        named = get(client, "/graph/datasets", layer="named")["items"]
        assert layers["items"][0]["datasets"] == len(named)
        assert layers["items"][0]["datasets"] + layers["without"] == listed[1]
        return listed[0], listed[1]

    assert lengths() == (2, 3)
    assert command(client, "hide dataset:hive://meta/hr.pay")[0] == 0
    assert command(client, "hide job:bi/read")[0] == 0
    headwater.project()
    assert lengths() == (1, 2)
