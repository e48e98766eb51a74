"""OpenLineage's events on pages: plans, runs as trees, facets, quality."""

from __future__ import annotations

from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from api.schemas.graph import FacetsReply, PlanReply, RunTreeReply
from graph_model import identity
from graph_model.labels import SHOWN_STATES
from graph_model.values import parse_instant
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, lineage_event

NOW = 1_772_400_000_000  # 2026-03-01T21:20:00Z
LAKE = "s3://lake"
PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/client/python"
Json = dict[str, Any]


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, NOW)


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, (path, reply.get_data(as_text=True))
    return reply.get_json()


def take(headwater: SmallHeadwater, *events: Json) -> None:
    headwater.accept(*map(lineage_event, events))
    headwater.project()
    assert headwater.journal.summary().failed == 0


def table(name: str, *columns: str, usage: Json | None = None, **facets: Any) -> Json:
    if columns:
        facets["schema"] = {"fields": [{"name": one, "type": "string"} for one in columns]}
    return {"namespace": LAKE, "name": name, "facets": facets, **(usage or {})}


def event(run: str, kind: str, clock: str, job: str = "load", **more: Any) -> Json:
    return {
        "eventType": kind,
        "eventTime": f"2026-03-01T{clock}Z",
        "producer": PRODUCER,
        "run": {"runId": run, "facets": more.pop("run_facets", {})},
        "job": {"namespace": "etl", "name": job, "facets": more.pop("job_facets", {})},
        **more,
    }


def below(run: str, job: str) -> Json:
    return {"parent": {"run": {"runId": run}, "job": {"namespace": "etl", "name": job}}}


def field(name: str, column: str, kind: str, subtype: str, description: str = "") -> Json:
    how = {"type": kind, "subtype": subtype, "description": description, "masking": False}
    return {"namespace": LAKE, "name": name, "field": column, "transformations": [how]}


def job_page(client: FlaskClient, name: str = "load", **query: Any) -> Any:
    return get(client, f"/graph/jobs/{identity.job_id('etl', name)}", **query)


def dataset_page(client: FlaskClient, name: str, **query: Any) -> Any:
    return get(client, f"/graph/datasets/{identity.dataset_id('', f'{LAKE}/{name}')}", **query)


# --- plans ---------------------------------------------------------------------------------------

REVENUE = [
    event("r-1", "START", "10:00:00", inputs=[table("orders", "day", "amount")],
          run_facets={"processing_engine": {"name": "Spark", "version": "3.5.1"}}),
    event(
        "r-1", "COMPLETE", "10:05:00",
        job_facets={"sql": {"query": "select 1", "dialect": "spark"}, "ourOwn": {"x": [1, None]}},
        inputs=[table("rates", "rate")],
        outputs=[
            table(
                "revenue", "day", "total",
                columnLineage={
                    "fields": {
                        "day": {"inputFields": [field("orders", "day", "DIRECT", "IDENTITY")]},
                        "total": {
                            "inputFields": [
                                field("orders", "amount", "DIRECT", "AGGREGATION", "sum(amount)")
                            ]
                        },
                    },
                    "dataset": [field("orders", "day", "INDIRECT", "GROUP_BY")],
                },
                usage={"outputFacets": {"outputStatistics": {"rowCount": 7, "size": 70}}},
            )
        ],
    ),
]  # fmt: skip


def test_the_plan_of_a_run_shows_datasets_schemas_columns_and_facets(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, *REVENUE)
    (listed,) = job_page(client)["plans"]
    page = get(client, f"/graph/plans/{listed['id']}", layout="true")
    assert (page["name"], page["system"], page["agent"]) == (
        "load", "spark 3.5.1", "openlineage-python 1.54.0",
    )  # fmt: skip
    assert page["target"]["label"] == "revenue"
    assert {s["label"]: s["origin"] for s in page["sources"]} == {
        "orders": "column", "rates": "implied",
    }  # fmt: skip
    assert page["origin"] == "column"
    steps = [(c["from"]["name"], c["to"]["name"], c["how"], c["origin"]) for c in page["columns"]]
    assert steps == [
        ("day", "*", "GROUP_BY", "column"),
        ("day", "day", "IDENTITY", "column"),
        ("amount", "total", "AGGREGATION", "column"),
    ]
    told = page["openlineage"]
    assert told["jobFacets"]["ourOwn"] == {"x": [1, None]}
    assert told["jobFacets"]["sql"] == {"query": "select 1", "dialect": "spark"}
    assert told["runFacets"]["processing_engine"]["version"] == "3.5.1"
    output = told["datasets"][-1]
    assert (output["role"], output["usage"]["outputStatistics"]["rowCount"]) == ("output", 7)
    assert [column["name"] for column in output["columns"]] == ["day", "total"]
    assert page["executions"][0]["metrics"]["write"]["numOutputRows"] == 7


def test_such_a_plan_is_drawn_as_any_other(headwater: SmallHeadwater, client: FlaskClient) -> None:
    take(headwater, *REVENUE)
    page = get(client, "/graph/plans/r-1", layout="true")
    kinds = [one["kind"] for one in page["operations"]]
    assert kinds == ["read", "read", "transform", "write"]
    assert all({"x", "y", "width", "height"} <= one.keys() for one in page["operations"])
    ids = [one["id"] for one in page["operations"]]
    assert page["edges"] == [
        {"from": ids[0], "to": ids[2]}, {"from": ids[1], "to": ids[2]},
        {"from": ids[2], "to": ids[3]},
    ]  # fmt: skip
    written = {c["name"]: c["expression"] for c in page["operations"][-1]["schema"]}
    assert written == {"day": None, "total": "sum(amount)"}


def test_the_raw_events_come_with_the_document_by_event_time(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, REVENUE[1], REVENUE[0])
    for asked in ("r-1", "run:r-1"):
        page = get(client, f"/graph/plans/{asked}", document="true")
        assert page["document"] == REVENUE
    assert "document" not in get(client, "/graph/plans/r-1")


def test_a_plan_that_only_reads_and_one_that_was_declared_open(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    declared = {
        "eventTime": "2026-03-01T08:00:00Z",
        "job": {"namespace": "etl", "name": "by hand", "facets": {"note": {"by": "ana"}}},
        "inputs": [table("orders", "day")],
        "outputs": [table("copy", "day")],
    }
    take(headwater, event("r-2", "COMPLETE", "10:00:00", inputs=[table("orders")]), declared)
    reading = get(client, "/graph/plans/r-2")
    assert reading["target"] is None
    assert [one["kind"] for one in reading["operations"]] == ["read", "transform"]
    (listed,) = job_page(client, "by hand")["plans"]
    page = get(client, f"/graph/plans/{listed['id']}")
    assert (page["origin"], page["sources"][0]["origin"]) == ("declared", "declared")
    assert page["openlineage"]["jobFacets"] == {"note": {"by": "ana"}}
    assert page["openlineage"]["runId"] == ""


def test_explicit_lineage_names_the_jobs_that_a_plan_goes_by(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    source = {"type": "JOB", "namespace": "etl", "name": "feeder"}
    entry = {
        "type": "DATASET", "namespace": LAKE, "name": "v",
        "fields": {"k": {"inputs": [source]}},
    }  # fmt: skip
    facets = {"lineage": {"entries": [entry]}}
    take(headwater, event("r-3", "COMPLETE", "10:00:00", job_facets=facets, outputs=[table("v")]))
    page = get(client, "/graph/plans/r-3")
    assert page["origin"] == "explicit"
    assert [(one["job"]["name"], one["column"]) for one in page["links"]] == [("feeder", "k")]


def test_lineage_that_a_dataset_tells_without_a_job_has_a_plan_too(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    source = {"type": "DATASET", "namespace": LAKE, "name": "orders"}
    told = table("report", "k", lineage={"inputs": [source]})
    take(headwater, {"eventTime": "2026-03-01T08:00:00Z", "dataset": told})
    (job,) = get(client, "/graph/jobs")["items"]
    (plan,) = get(client, f"/graph/jobs/{job['id']}")["plans"]
    page = get(client, f"/graph/plans/{plan['id']}", document="true")
    assert (page["name"], page["origin"]) == (f"{LAKE}/report", "explicit")
    assert [(one["label"], one["origin"]) for one in page["sources"]] == [("orders", "explicit")]
    assert page["document"][0]["dataset"]["name"] == "report"
    assert page["openlineage"]["datasets"][-1]["columns"][0]["name"] == "k"


def test_column_lineage_that_a_dataset_tells_without_a_job_is_declared(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    inputs = [field("orders", "k", "DIRECT", "IDENTITY")]
    told = table("report", "k", columnLineage={"fields": {"k": {"inputFields": inputs}}})
    silent = table("other", "k", columnLineage={"fields": {}})
    sourceless = table("third", "k", columnLineage={"fields": {"k": {"inputFields": []}}})
    for number, dataset in enumerate((told, silent, sourceless)):
        take(headwater, {"eventTime": f"2026-03-01T08:00:0{number}Z", "dataset": dataset})
    (job,) = get(client, "/graph/jobs")["items"]
    assert (job["namespace"], job["name"]) == ("(declared)", f"{LAKE}/report")
    answer = get(
        client, "/graph/column-lineage", dataset=f"{LAKE}/report", column="k", direction="upstream"
    )
    assert {node["dataset"] for node in answer["nodes"] if node["kind"] == "column"} == {
        f"{LAKE}/orders",
        f"{LAKE}/report",
    }


def test_a_run_that_writes_two_tables_has_two_plans_with_their_own_reads(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    outputs = [
        table(name, "k", columnLineage={
            "fields": {"k": {"inputFields": [field(of, "k", "DIRECT", "IDENTITY")]}}
        })
        for name, of in (("one", "a"), ("two", "b"))
    ]  # fmt: skip
    take(headwater, event("r-4", "COMPLETE", "10:00:00", outputs=outputs))
    plans = job_page(client)["plans"]
    found = {}
    for plan in plans:
        page = get(client, f"/graph/plans/{plan['id']}")
        found[page["target"]["label"]] = [one["label"] for one in page["sources"]]
    assert found == {"one": ["a"], "two": ["b"]}
    assert get(client, "/graph/plans/r-4")["otherPlans"] == 1


def test_an_unknown_plan_is_not_found(client: FlaskClient) -> None:
    for plan in ("nobody", "lp_" + "0" * 32, "xp_" + "0" * 32):
        assert client.get(f"/graph/plans/{plan}").status_code == 404


# --- runs ----------------------------------------------------------------------------------------

DAG = [
    event("dag", "START", "09:00:00", "nightly"),
    event("t-1", "START", "09:01:00", "nightly.extract", run_facets=below("dag", "nightly")),
    event("t-1", "FAIL", "09:02:00", "nightly.extract", run_facets={
        **below("dag", "nightly"), "errorMessage": {"message": "no space"},
    }),
    event("t-2", "START", "09:03:00", "nightly.load", run_facets=below("dag", "nightly")),
    event("app", "START", "09:04:00", "spark app", run_facets=below("t-2", "nightly.load")),
    event("app", "RUNNING", "09:05:00", "spark app", run_facets=below("t-2", "nightly.load")),
]  # fmt: skip
DONE = [
    event("app", "COMPLETE", "09:06:00", "spark app", outputs=[table("out")]),
    event("dag", "COMPLETE", "09:10:00", "nightly"),
]


def test_a_dag_its_tasks_and_their_applications_are_one_tree(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, *DAG)
    tree = get(client, "/graph/runs/dag", at="2026-03-01T09:05:30Z")
    assert (tree["state"], tree["rolledUp"]) == ("running", "failed")
    assert tree["below"] == {"failed": 1, "running": 2}
    names = {one["runId"]: one for one in tree["children"]}
    assert list(names) == ["t-1", "t-2"]
    assert names["t-1"]["error"] == "no space"
    assert [one["runId"] for one in names["t-2"]["children"]] == ["app"]
    app = get(client, "/graph/runs/app", at="2026-03-01T09:05:30Z")
    assert [one["runId"] for one in app["ancestors"]] == ["t-2", "dag"]
    assert (app["parent"]["runId"], app["root"]["runId"]) == ("t-2", "dag")


def test_a_job_without_events_is_described_by_the_facets_that_runs_below_it_pass_on(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    def job(name: str, kind: str, owner: str) -> Json:
        facets = {
            "jobType": {"processingType": "BATCH", "integration": "AIRFLOW", "jobType": kind},
            "ownership": {"owners": [{"name": owner}]},
        }
        return {"namespace": "airflow", "name": name, "facets": facets}

    parent = {
        "run": {"runId": "task"},
        "job": job("nightly.build", "TASK", "web"),
        "root": {"run": {"runId": "dag"}, "job": job("nightly", "DAG", "finance")},
    }
    take(headwater, event("m", "COMPLETE", "09:00:00", run_facets={"parent": parent}))
    listed = get(client, "/graph/jobs")["items"]
    owners = {one["name"]: one["owners"] for one in listed}
    assert owners == {"load": [], "nightly": ["finance"], "nightly.build": ["web"]}
    for one in listed:
        described = get(client, f"/graph/jobs/{one['id']}")["about"]["described"]
        kinds = {"load": "", "nightly": "DAG", "nightly.build": "TASK"}
        assert described["jobType"] == kinds[one["name"]]


def test_a_run_that_never_ended_is_closed_by_the_run_above_it(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, *DAG, *DONE)
    tree = get(client, "/graph/runs/dag")
    # The run says itself how it ended: a failed task may have been tried again.
    assert (tree["state"], tree["rolledUp"], tree["closed"]) == ("completed", "completed", "")
    assert tree["below"] == {"aborted": 1, "completed": 1, "failed": 1}
    (task,) = [one for one in tree["children"] if one["runId"] == "t-2"]
    assert (task["state"], task["closed"], task["endedAt"]) == (
        "aborted", "parent", "2026-03-01T09:10:00.000Z",
    )  # fmt: skip


def test_a_run_without_a_word_for_a_day_is_stale_when_it_is_asked_for_later(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, event("r", "START", "09:00:00"))
    assert get(client, "/graph/runs/r")["state"] == "running"
    later = get(client, "/graph/runs/r", at="2026-03-02T09:00:01Z")
    assert (later["state"], later["closed"]) == ("aborted", "stale")


@pytest.mark.parametrize("processing", ["BATCH", "STREAMING", "SERVICE"])
def test_a_run_that_reports_windows_of_time_is_neither_late_nor_failed_and_stale_when_silent(
    headwater: SmallHeadwater, processing: str
) -> None:
    emission = {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "COMPLETE_SNAPSHOT",
        "windowDuration": 3600,
    }
    kind = {"processingType": processing, "integration": "CUSTOM", "emissionPattern": emission}
    for hour in range(10):
        window = event("w", "RUNNING", f"0{hour}:00:00", job_facets={"jobType": kind})
        take(headwater, {**window, "inputs": [table(f"in{hour % 2}")], "outputs": [table("out")]})
    client = client_of(headwater, NOW)  # 12 hours after the last window, a usual time for lateness
    home = get(client, "/graph/home")
    assert (home["late"], home["failed"]) == (0, 0)
    run = get(client, "/graph/runs/w")
    assert (run["state"], run["closed"], len(run["history"])) == ("running", "", 10)
    later = get(client, "/graph/runs/w", at="2026-03-02T09:00:01Z")
    assert (later["state"], later["closed"], later["endedAt"]) == (
        "aborted", "stale", "2026-03-01T09:00:00.000Z",
    )  # fmt: skip
    written = get(client, "/graph/lineage", node="dataset:s3://lake/out", direction="upstream")
    inputs = {one["uri"] for one in written["nodes"] if one["kind"] == "dataset"}
    assert inputs == {"s3://lake/in0", "s3://lake/in1", "s3://lake/out"}


def test_a_run_is_heard_through_all_runs_below_it_on_every_page(
    headwater: SmallHeadwater,
) -> None:
    """A DAG, its task and the application under that: the last one alone goes on."""
    tables: Json = {"inputs": [table("in")], "outputs": [table("out")]}
    told = [
        event("dag", "RUNNING", "09:00:00", "nightly", **tables),
        event("task", "START", "09:01:00", "nightly.load", run_facets=below("dag", "nightly")),
        event("app", "START", "09:02:00", "app", run_facets=below("task", "nightly.load")),
    ]
    goes_on = event("app", "RUNNING", "09:03:00", "app", run_facets=below("task", "nightly.load"))
    take(headwater, *told, {**goes_on, "eventTime": "2026-03-02T20:00:00Z"})
    job = identity.job_id("etl", "nightly")
    for asked, state in (("2026-03-03T10:00:00Z", "running"), ("2026-03-03T20:00:01Z", "aborted")):
        client = client_of(headwater, parse_instant(asked))
        for wish in ({}, {"at": asked}):
            open_runs = get(client, f"/graph/jobs/{job}/runs", **wish)["items"]
            states = [get(client, f"/graph/runs/{run}", **wish)["state"] for run in ("dag", "task")]
            states += [one["told"]["state"] for one in open_runs] + [open_runs[0]["state"]]
            states.append(get(client, f"/graph/jobs/{job}", **wish)["lastRun"]["state"])
            states.append(get(client, "/graph/runs", **wish)["items"][0]["state"])
            assert set(states) == {state}
        task = identity.job_id("etl", "nightly.load")
        (opened,) = get(client, f"/graph/jobs/{task}/runs")["open"]
        assert opened["state"] == state
        assert get(client, "/graph/incidents")["running"] == (state == "running")


def test_every_job_that_tried_to_write_a_table_is_drawn_beside_one_that_fails_all_the_time(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    once = event("b", "FAIL", "08:00:00", "once", outputs=[table("out")])
    often = [
        event(f"a{n}", "FAIL", f"09:{n // 60:02}:{n % 60:02}", "often", outputs=[table("out")])
        for n in range(101)
    ]
    take(headwater, once, *often)
    out = identity.dataset_id("", f"{LAKE}/out")
    answer = get(client, "/graph/lineage", node=out, beyond="true")
    assert {node["label"] for node in answer["nodes"]} == {"out", "once", "often"}
    early = get(client, "/graph/lineage", node=out, beyond="true", at="2026-03-01T08:30:00Z")
    assert {node["label"] for node in early["nodes"]} == {"out", "once"}


STOPPED_AFTER: Final = "2026-03-02T09:00:01Z"  # a day and a second after the last window


@pytest.mark.parametrize("processing", ["BATCH", "STREAMING"])
def test_every_page_says_the_same_of_a_run_that_is_silent(
    headwater: SmallHeadwater, processing: str
) -> None:
    """Its job in lists and pictures, its executions, what filters choose, and what is counted."""
    emission = {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "COMPLETE_SNAPSHOT",
        "windowDuration": 3600,
    }
    kind = {"processingType": processing, "integration": "CUSTOM", "emissionPattern": emission}
    for hour in range(10):
        window = event("w", "RUNNING", f"0{hour}:00:00", job_facets={"jobType": kind})
        take(headwater, {**window, "inputs": [table("in")], "outputs": [table("out")]})
    for now, state, other in (
        (NOW, "running", "aborted"),
        (parse_instant(STOPPED_AFTER), "aborted", "running"),
    ):
        client = client_of(headwater, now)
        (job,) = get(client, "/graph/jobs")["items"]
        key = job["id"]
        assert get(client, "/graph/runs/w")["state"] == state
        assert job["lastRun"]["state"] == state
        assert [item["id"] for item in get(client, "/graph/jobs", state=state)["items"]] == [key]
        assert get(client, "/graph/jobs", state=other)["total"] == 0
        assert get(client, f"/graph/jobs/{key}")["lastRun"]["state"] == state
        newest = get(client, "/graph/runs", limit=1)["items"][0]
        assert newest["state"] == state
        assert get(client, "/graph/runs", state=state)["total"] > 0
        assert get(client, "/graph/runs", state=other)["total"] == 0
        (run,) = get(client, "/graph/search", q="w", kind="run")["items"]
        assert run["detail"].startswith(f"{state}, ")
        assert (get(client, "/graph/incidents")["running"] > 0) == (state == "running")
        picture = get(client, "/graph/lineage", node=key)["nodes"]
        assert [node["lastRun"]["state"] for node in picture if node["kind"] == "job"] == [state]
        table_id = identity.dataset_id("", f"{LAKE}/out")
        written = get(client, f"/graph/datasets/{table_id}/history")["items"]
        assert written[0]["state"] == state
    was = get(client, "/graph/jobs", at="2026-03-01T12:00:00Z")["items"][0]
    assert was["lastRun"]["state"] == "running"


@pytest.mark.parametrize("processing", ["BATCH", "STREAMING"])
@pytest.mark.parametrize(
    ("end", "state"), [("COMPLETE", "completed"), ("FAIL", "failed"), ("ABORT", "aborted")]
)
def test_every_page_says_the_same_of_a_run_that_has_ended(
    headwater: SmallHeadwater, processing: str, end: str, state: str
) -> None:
    """Of a stream, too, whose writes before its end stay, and which runs no more."""
    kind = {"jobType": {"processingType": processing, "integration": "SPARK", "jobType": "JOB"}}
    for hour, told in enumerate(("START", "RUNNING", "RUNNING", end), 16):
        more: Json = {"inputs": [table("in")], "outputs": [table("out")]}
        take(headwater, event("r", told, f"{hour}:00:00", job_facets=kind, **more))
    client = client_of(headwater, NOW)
    job, out = identity.job_id("etl", "load"), identity.dataset_id("", f"{LAKE}/out")
    assert get(client, "/graph/runs/r")["state"] == state
    (listed,) = get(client, f"/graph/jobs/{job}/runs")["items"]
    (item,) = get(client, "/graph/jobs", state=state)["items"]
    newest = get(client, "/graph/runs", limit=1)["items"][0]
    (found,) = get(client, "/graph/search", q="r", kind="run")["items"]
    states = [listed["state"], item["lastRun"]["state"], newest["state"]]
    states += [job_page(client)["lastRun"]["state"], found["detail"].partition(",")[0]]
    drawn = get(client, "/graph/lineage", node=job)["nodes"]
    states += [node["lastRun"]["state"] for node in drawn if node["kind"] == "job"]
    states.append(get(client, f"/graph/datasets/{out}/history")["items"][0]["state"])
    assert set(states) == {state}
    counted = {one: get(client, "/graph/runs", state=one)["total"] for one in SHOWN_STATES}
    # What the stream had written by 16:00, 17:00 and 18:00.
    before = {"completed": 3} if processing == "STREAMING" else {}
    assert counted == dict.fromkeys(SHOWN_STATES, 0) | before | {state: counted[state]}
    others = sum(get(client, "/graph/jobs", state=one)["total"] for one in SHOWN_STATES)
    incidents, home = get(client, "/graph/incidents"), get(client, "/graph/home")
    assert (others, incidents["running"]) == (1, 0)
    assert incidents["failed"] == home["failed"] == (state == "failed")
    stays = processing == "STREAMING" or state == "completed"
    assert len(home["written"]) == stays
    assert len(get(client, "/graph/lineage", node=out, direction="upstream")["edges"]) == 2 * stays
    flows = get(client, "/graph/overview")["edges"]
    assert [one.get("attempted") for one in flows] == [None if stays else True] * 2
    was = get(client, "/graph/jobs", at="2026-03-01T18:30:00Z", state="running")
    assert was["total"] == (processing == "STREAMING")


def test_a_task_whose_dag_has_ended_is_no_more_running_in_lists(headwater: SmallHeadwater) -> None:
    began = event("task", "START", "01:00:00", run_facets=below("dag", "nightly"))
    take(headwater, {**began, "inputs": [table("in")], "outputs": [table("out")]})
    client = client_of(headwater, NOW)
    assert get(client, "/graph/jobs", state="running")["total"] == 1
    take(headwater, event("dag", "COMPLETE", "02:00:00", "nightly"))
    assert get(client, "/graph/jobs", state="running")["total"] == 0
    assert get(client, "/graph/runs", state="aborted")["total"] == 1


def test_a_run_is_over_in_lists_where_a_run_further_above_has_ended(
    headwater: SmallHeadwater,
) -> None:
    """Between it and the one that ended stands a run without an end; no event names the root."""
    began = event("child", "START", "01:00:00", run_facets=below("mid", "middle"))
    take(headwater, {**began, "inputs": [table("in")], "outputs": [table("out")]})
    take(headwater, event("mid", "START", "01:00:00", "middle", run_facets=below("dag", "nightly")))
    client = client_of(headwater, NOW)
    for ended, state in ((False, "running"), (True, "aborted")):
        if ended:
            take(headwater, event("dag", "COMPLETE", "02:00:00", "nightly"))
        assert get(client, "/graph/runs/child")["state"] == state
        (listed,) = get(client, "/graph/jobs", state=state)["items"]
        assert listed["lastRun"]["state"] == state
        (execution,) = get(client, "/graph/runs", state=state)["items"]
        assert execution["state"] == state


def test_a_stream_that_only_reads_is_aborted_with_its_application_on_every_page(
    headwater: SmallHeadwater,
) -> None:
    stream = {
        "jobType": {"processingType": "STREAMING", "integration": "SPARK", "jobType": "SQL_JOB"}
    }
    told = event("q", "START", "01:00:00", "app.show.q", run_facets=below("a", "app"),
                 job_facets=stream, inputs=[table("in")])  # fmt: skip
    application = {"jobType": {"integration": "SPARK", "jobType": "APPLICATION"}}
    take(headwater, told, event("a", "COMPLETE", "02:00:00", "app", job_facets=application))
    client = client_of(headwater, NOW)
    assert get(client, "/graph/runs/q")["state"] == "aborted"
    (execution,) = get(client, "/graph/runs")["items"]
    assert execution["state"] == "aborted"


def test_the_history_of_a_run_has_every_event_by_its_time(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, *reversed([*DAG, *DONE]))
    run = get(client, "/graph/runs/app")
    assert [(one["type"], one["at"][11:16]) for one in run["history"]] == [
        ("START", "09:04"), ("RUNNING", "09:05"), ("COMPLETE", "09:06"),
    ]  # fmt: skip
    assert run["history"][0]["producer"] == PRODUCER
    assert [one["target"]["label"] for one in run["items"]] == ["out"]
    assert "parent" in run["facets"]


def test_a_run_is_found_by_each_of_its_ids(headwater: SmallHeadwater, client: FlaskClient) -> None:
    take(headwater, *DAG, *DONE)
    run = get(client, "/graph/runs/app")
    for key in (run["id"], run["run"]):
        assert get(client, f"/graph/runs/{key}") == run


def test_a_parent_that_never_reported_itself_is_known_by_its_children(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, *DAG[1:])
    tree = get(client, "/graph/runs/dag")
    assert (tree["known"], tree["state"], tree["rolledUp"]) == (False, "failed", "failed")
    assert tree["job"]["name"] == "nightly"
    assert [one["runId"] for one in tree["children"]] == ["t-1", "t-2"]
    assert get(client, "/graph/runs/t-1")["parent"]["known"] is False


def test_a_run_is_nothing_before_it_started(headwater: SmallHeadwater, client: FlaskClient) -> None:
    take(headwater, *DAG)
    early = client.get("/graph/runs/dag", query_string={"at": "2026-03-01T08:59:59Z"})
    assert early.status_code == 404
    assert get(client, "/graph/runs/dag", at="2026-03-01T09:00:00Z")["children"] == []


def test_a_clock_that_is_ahead_hides_no_run(headwater: SmallHeadwater, client: FlaskClient) -> None:
    take(headwater, event("late", "START", "23:59:00"))  # after NOW
    assert get(client, "/graph/runs/late")["state"] == "running"


def test_a_root_that_is_known_by_name_alone_is_told(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    facet = below("t-2", "nightly.load")
    facet["parent"]["root"] = {
        "run": {"runId": "dag"}, "job": {"namespace": "etl", "name": "nightly"}
    }  # fmt: skip
    take(headwater, DAG[0], event("app", "START", "09:04:00", "spark app", run_facets=facet))
    run = get(client, "/graph/runs/app")
    assert (run["parent"]["runId"], run["parent"]["known"]) == ("t-2", False)
    assert (run["root"]["runId"], run["root"]["known"]) == ("dag", True)


def test_parents_in_a_circle_end_the_tree(headwater: SmallHeadwater, client: FlaskClient) -> None:
    take(
        headwater,
        event("a", "START", "09:00:00", run_facets=below("b", "load")),
        event("b", "START", "09:00:00", run_facets=below("a", "load")),
        event("c", "START", "09:00:00", run_facets=below("c", "load")),
    )
    tree = get(client, "/graph/runs/a")
    assert [one["runId"] for one in tree["children"]] == ["b"]
    assert tree["children"][0]["children"] == []
    assert get(client, "/graph/runs/c")["children"] == []


def test_a_tree_of_too_many_runs_says_so(headwater: SmallHeadwater, client: FlaskClient) -> None:
    tasks = [
        event(f"t{n}", "START", "09:01:00", "task", run_facets=below("dag", "nightly"))
        for n in range(501)
    ]
    take(headwater, event("dag", "START", "09:00:00", "nightly"), *tasks)
    tree = get(client, "/graph/runs/dag")
    assert (len(tree["children"]), tree["partial"]) == (500, {"reason": "runs", "limit": 500})


def test_an_unknown_run_is_not_found(headwater: SmallHeadwater, client: FlaskClient) -> None:
    take(headwater, *DAG)
    for run in ("nobody", "run_" + "0" * 32, "sub_" + "0" * 32):
        assert client.get(f"/graph/runs/{run}").status_code == 404


def test_a_job_lists_its_runs_with_their_kinds_and_those_that_go_on(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(
        headwater,
        event("done", "COMPLETE", "08:00:00", outputs=[table("out")]),
        event("gone", "ABORT", "08:30:00", outputs=[table("out")]),
        event("on", "START", "09:00:00"),
    )
    page = get(client, f"/graph/jobs/{identity.job_id('etl', 'load')}/runs")
    assert [(run["told"]["runId"], run["state"]) for run in page["items"]] == [
        ("gone", "aborted"), ("done", "completed"),
    ]  # fmt: skip
    assert [(run["runId"], run["state"]) for run in page["open"]] == [("on", "running")]


# --- facets --------------------------------------------------------------------------------------


def test_a_job_page_tells_producer_type_owners_code_and_every_facet(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    facets = {
        "jobType": {"processingType": "BATCH", "integration": "AIRFLOW", "jobType": "TASK"},
        "ownership": {"owners": [{"name": "finance", "type": "TEAM"}, {"nobody": 1}]},
        "tags": {"tags": [{"key": "pii", "value": "true", "source": "CONFIG"}]},
        "documentation": {"description": "Loads orders."},
        "sql": {"query": "insert into t select 1"},
        "sourceCode": {"language": "python", "sourceCode": "print()"},
        "sourceCodeLocation": {"type": "git", "url": "javascript:alert(1)", "path": "a.py"},
        "acme_cost": {"dollars": 3},
    }
    take(headwater, event("r", "COMPLETE", "10:00:00", job_facets=facets, outputs=[table("t")]))
    page = job_page(client)
    assert page["producer"] == "openlineage-python 1.54.0"
    said = page["about"]["described"]
    assert (said["processingType"], said["integration"], said["jobType"]) == (
        "BATCH", "AIRFLOW", "TASK",
    )  # fmt: skip
    assert said["owners"] == [{"name": "finance", "type": "TEAM"}]
    assert said["tags"][0]["key"] == "pii"
    assert said["documentation"] == "Loads orders."
    assert said["sql"] == {"language": "", "text": "insert into t select 1"}
    assert said["sourceCode"] == {"language": "python", "text": "print()"}
    assert said["sourceCodeLocation"]["link"] == "", "no browser is sent there"
    by_name = {one["name"]: one for one in page["about"]["facets"]}
    assert by_name["acme_cost"]["body"] == {"dollars": 3}
    assert by_name["acme_cost"]["run"]["runId"] == "r"


def test_a_facet_in_force_is_that_of_the_time_asked(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    def owned(run: str, clock: str, facet: Json) -> Json:
        return event(run, "COMPLETE", clock, job_facets={"ownership": facet}, outputs=[table("t")])

    take(
        headwater,
        owned("a", "08:00:00", {"owners": [{"name": "first"}]}),
        owned("b", "09:00:00", {"owners": [{"name": "second"}]}),
        owned("c", "10:00:00", {"_deleted": True}),
    )

    def owners(at: str) -> list[str]:
        described = job_page(client, at=at)["about"]["described"]
        return [owner["name"] for owner in described["owners"]]

    times = ("07:59:59", "08:00:00", "09:30:00", "10:00:00")
    found = [owners(f"2026-03-01T{clock}Z") for clock in times]
    assert found == [[], ["first"], ["second"], []]
    history = get(client, f"/graph/jobs/{identity.job_id('etl', 'load')}/facets", name="ownership")
    assert [(one["run"]["runId"], one["deleted"]) for one in history["items"]] == [
        ("c", True), ("b", False), ("a", False),
    ]  # fmt: skip


def test_a_dataset_page_tells_owners_versions_statistics_and_its_columns_tags(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    told = table(
        "t", "id", "mail",
        ownership={"owners": [{"name": "crm"}]},
        tags={"tags": [
            {"key": "pii", "value": "yes", "source": "USER", "field": "MAIL"},
            {"key": "gold", "value": "1", "source": "USER"},
        ]},
        documentation={"description": "Customers."},
        storage={"storageLayer": "iceberg", "fileFormat": "parquet"},
        version={"datasetVersion": "42"},
        lifecycleStateChange={"lifecycleStateChange": "OVERWRITE"},
        datasetType={"datasetType": "TABLE"},
        usage={"outputFacets": {"outputStatistics": {"rowCount": 9}}},
    )  # fmt: skip
    told["facets"]["schema"]["fields"][0]["description"] = "the key"
    take(headwater, event("r", "COMPLETE", "10:00:00", outputs=[told]))
    page = dataset_page(client, "t")
    said = page["about"]["described"]
    assert [owner["name"] for owner in said["owners"]] == ["crm"]
    assert [tag["key"] for tag in said["tags"]] == ["gold"]
    assert (said["documentation"], said["storage"], said["datasetType"]) == (
        "Customers.", "iceberg parquet", "TABLE",
    )  # fmt: skip
    about = page["about"]
    assert about["versions"][0]["body"] == {"datasetVersion": "42"}
    assert about["lifecycle"][0]["body"]["lifecycleStateChange"] == "OVERWRITE"
    assert about["statistics"][0]["body"] == {"rowCount": 9}
    identifier, mail = page["schema"]["columns"]
    assert (identifier["description"], identifier["tags"]) == ("the key", [])
    assert [tag["key"] for tag in mail["tags"]] == ["pii"]


# --- quality -------------------------------------------------------------------------------------


def checked(run: str, clock: str, job: str, success: bool, column: str = "id") -> Json:
    one = {"assertion": "not_null", "success": success, "column": column, "severity": "error"}
    facet = {"dataQualityAssertions": {"assertions": [one]}}
    return event(run, "COMPLETE", clock, job, inputs=[table("t", usage={"inputFacets": facet})])


def mark(client: FlaskClient, **query: Any) -> Any:
    reply = get(client, "/graph/lineage", node=f"dataset:{LAKE}/t", depth=0, **query)
    return reply["nodes"][0].get("quality")


def test_a_dataset_is_marked_failed_with_the_check_that_failed(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, event("w", "COMPLETE", "08:00:00", outputs=[table("t", "id")]))
    assert mark(client) is None
    take(headwater, checked("a", "09:00:00", "check ids", success=False))
    found = mark(client)
    assert (found["state"], found["checks"], found["failures"]) == ("failed", 1, 1)
    (failed,) = found["failed"]
    assert (failed["assertion"], failed["column"], failed["job"]["name"]) == (
        "not_null", "id", "check ids",
    )  # fmt: skip
    overview = get(client, "/graph/overview")["nodes"]
    assert [one["quality"]["state"] for one in overview if "quality" in one] == ["failed"]


def test_the_mark_is_that_of_the_time_and_no_job_speaks_for_another(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(
        headwater,
        checked("c", "11:00:00", "check ids", success=True),
        checked("a", "09:00:00", "check ids", success=False),
        checked("b", "10:00:00", "check names", success=False, column="name"),
    )
    states = {
        clock: (found := mark(client, at=f"2026-03-01T{clock}:00Z"))
        and (found["state"], [one["column"] for one in found["failed"]])
        for clock in ("08:59", "09:00", "10:00", "11:00")
    }
    assert states == {
        "08:59": None, "09:00": ("failed", ["id"]), "10:00": ("failed", ["id", "name"]),
        "11:00": ("failed", ["name"]),
    }  # fmt: skip
    page = dataset_page(client, "t")["about"]["quality"]
    assert [(one["column"], one["passed"]) for one in page["checks"]] == [
        ("name", False), ("id", True),
    ]  # fmt: skip
    assert page["checks"][1]["results"] == [
        {"at": "2026-03-01T11:00:00.000Z", "passed": True, "fails": False},
        {"at": "2026-03-01T09:00:00.000Z", "passed": False, "fails": True},
    ]
    history = get(
        client, f"/graph/datasets/{identity.dataset_id('', f'{LAKE}/t')}/facets",
        name="dataQualityAssertions", limit=2,
    )  # fmt: skip
    assert [one["run"]["runId"] for one in history["items"]] == ["c", "b"]
    assert (history["total"], history["next"] is None) == (3, False)


DBT = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/dbt"


def dbt_tests(run: str, clock: str, command: str, *assertions: Json) -> Json:
    """As dbt-ol tells of the tests of a model: under one job for each command, in two places."""
    facet = {"dataQualityAssertions": {"assertions": [*assertions]}}
    tested = table("t", usage={"inputFacets": facet}, **facet)
    kind = "COMPLETE" if all(one["success"] for one in assertions) else "FAIL"
    told = event(run, kind, clock, f"shop.public.t.{command}", inputs=[tested])
    return {**told, "producer": DBT}


def exposed(*names: str, address: str = "") -> Json:
    """The facet of openlineage-dbt 1.54 on the datasets of a model that was built."""
    url = {"url": address} if address else {}
    listed = [
        {"unique_id": f"exposure.shop.{name}", "name": name, "type": "dashboard", **url}
        for name in names
    ]
    return {"dbt_exposures": {"exposures": listed}}


def test_an_exposure_on_the_datasets_of_dbt_is_a_job_that_reads_them(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """It meets the one that ``headwater harvest dbt`` declares from the manifest."""
    kind = {"jobType": {"processingType": "BATCH", "integration": "DBT", "jobType": "DASHBOARD"}}
    take(
        headwater,
        event("a", "COMPLETE", "09:00:00", "model.shop.t", inputs=[table("raw")],
              outputs=[table("t", "id", **exposed("board", address="https://bi.example/1"))]),
        event("b", "COMPLETE", "10:00:00", "model.shop.u", inputs=[table("raw")],
              outputs=[table("u", "id", **exposed("board", "study"))]),
        {"eventTime": "2026-03-01T08:00:00Z", "producer": PRODUCER, "outputs": [],
         "job": {"namespace": "etl", "name": "exposure.shop.board", "facets": kind},
         "inputs": [table("t"), table("u")]},
    )  # fmt: skip
    reply = get(client, "/graph/lineage", node=f"dataset:{LAKE}/raw", depth=3)
    jobs = sorted(node["label"] for node in reply["nodes"] if node["kind"] == "job")
    board, study = "exposure.shop.board", "exposure.shop.study"
    assert jobs == [board, study, "model.shop.t", "model.shop.u"]
    named = {node["id"]: node["label"] for node in reply["nodes"]}
    read = {(named[one["from"]], named[one["to"]]) for one in reply["edges"]}
    assert {one for one in read if one[1].startswith("exposure")} == {
        ("t", board), ("u", board), ("u", study),
    }  # fmt: skip
    listed = get(client, "/graph/jobs", q=board)["items"]
    assert [(one["namespace"], one["name"]) for one in listed] == [("etl", board)]


def ran(name: str, failures: int, column: str = "id", severity: str = "error") -> Json:
    return {
        "assertion": name.partition("_t_")[0], "name": name, "success": failures == 0,
        "column": column, "severity": severity, "expected": "0", "actual": str(failures),
    }  # fmt: skip


def skipped(name: str, column: str = "id") -> Json:
    return {
        key: value
        for key, value in (ran(name, 0, column) | {"success": False}).items()
        if key not in {"expected", "actual"}
    }


def in_force(client: FlaskClient, **query: Any) -> tuple[str, list[tuple[str, bool]]] | None:
    """The state of the table, and each of its checks by name with whether it passed."""
    about = dataset_page(client, "t", **query)["about"]["quality"]
    if about is None:
        return None
    listed = sorted((one["name"] or one["assertion"], one["passed"]) for one in about["checks"])
    assert (mark(client, **query) or {}).get("state") == about["state"]
    return about["state"], listed


def test_the_newest_of_a_check_stands_whatever_job_made_it(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(
        headwater,
        dbt_tests("a", "09:00:00", "build.test", ran("not_null_t_id", 3), ran("unique_t_id", 1)),
        dbt_tests("b", "10:00:00", "test", ran("not_null_t_id", 0)),
        dbt_tests("c", "11:00:00", "test", ran("unique_t_id", 0, column="ID")),
    )
    states = [in_force(client, at=f"2026-03-01T{clock}:00Z") for clock in ("09:30", "10:30")]
    assert states == [
        ("failed", [("not_null_t_id", False), ("unique_t_id", False)]),
        ("failed", [("not_null_t_id", True), ("unique_t_id", False)]),
    ]
    assert in_force(client) == ("passed", [("not_null_t_id", True), ("unique_t_id", True)])


def test_documents_in_any_order_give_one_mark(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, dbt_tests("b", "10:00:00", "test", ran("unique_t_id", 0)))
    take(headwater, dbt_tests("a", "09:00:00", "build.test", ran("unique_t_id", 1)))
    assert in_force(client) == ("passed", [("unique_t_id", True)])


def test_one_check_of_several_tools_is_one(headwater: SmallHeadwater, client: FlaskClient) -> None:
    """Great Expectations, Soda and Spark under jobs of their own; the newest word counts."""
    nulls = {"assertion": "not_null", "column": "id", "success": False}
    expected = {"expectationType": "not_null", "column": "id", "success": True}
    take(
        headwater,
        event("s", "COMPLETE", "09:00:00", "soda.scan", inputs=[
            table("t", usage={"inputFacets": {"dataQualityAssertions": {"assertions": [nulls]}}})
        ]),
        event("g", "COMPLETE", "10:00:00", "gx.validate", inputs=[
            table("t", usage={"inputFacets": {
                "greatExpectations_assertions": {"assertions": [expected]}
            }})
        ]),
    )  # fmt: skip
    assert in_force(client, at="2026-03-01T09:30:00Z") == ("failed", [("not_null", False)])
    assert in_force(client) == ("passed", [("not_null", True)])
    again = table("t", dataQualityAssertions={"assertions": [nulls]})
    take(headwater, event("w", "COMPLETE", "11:00:00", "spark", outputs=[again]))
    assert in_force(client) == ("failed", [("not_null", False)])


def test_a_test_that_only_warns_fails_no_table(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, dbt_tests("a", "09:00:00", "test", ran("rows", 5, "", "warn"), ran("id", 0)))
    assert in_force(client) == ("passed", [("id", True), ("rows", False)])
    assert mark(client) | {"at": ""} == {
        "state": "passed", "checks": 2, "failures": 0, "warnings": 1, "failed": [], "at": "",
    }  # fmt: skip


def test_a_test_that_was_skipped_says_nothing(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, dbt_tests("a", "09:00:00", "build.test", skipped("unique_t_id")))
    assert in_force(client) is None
    take(
        headwater,
        dbt_tests("b", "10:00:00", "build.test", ran("unique_t_id", 0), ran("not_null_t_id", 2)),
        dbt_tests("c", "11:00:00", "build.test", skipped("unique_t_id"), skipped("not_null_t_id")),
    )
    assert in_force(client) == ("failed", [("not_null_t_id", False), ("unique_t_id", True)])


def test_a_dataset_whose_assertions_were_deleted_has_no_mark(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, dbt_tests("a", "09:00:00", "test", ran("unique_t_id", 1)))
    gone = {"dataQualityAssertions": {"_deleted": True}}
    told = {"eventTime": "2026-03-01T10:00:00Z", "producer": DBT, "dataset": table("t", **gone)}
    take(headwater, told)
    assert in_force(client) is None
    take(headwater, dbt_tests("b", "11:00:00", "test", ran("not_null_t_id", 0)))
    assert in_force(client) == ("passed", [("not_null_t_id", True)])


def test_a_query_of_spark_that_writes_nothing_marks_its_inputs(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    facets: Json = {
        "dataQualityAssertions": {"assertions": [ran("unique_t_id", 2)]},
        "acme_contract": {"version": "2", "kept": False},
    }
    told = event(
        "q", "COMPLETE", "09:00:00", "validate.collect_limit",
        run_facets=below("app", "validate"),
        job_facets={"jobType": {"integration": "SPARK", "jobType": "SQL_JOB"}},
        inputs=[table("t", "id", ownership={"owners": []}, **facets)],
    )  # fmt: skip
    take(headwater, told)
    assert in_force(client) == ("failed", [("unique_t_id", False)])
    kept = [one["name"] for one in dataset_page(client, "t")["about"]["facets"]]
    assert set(kept) >= {"acme_contract", "dataQualityAssertions"}


def test_the_history_of_facets_lists_facets_alone(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, dbt_tests("a", "09:00:00", "test", ran("unique_t_id", 2)))
    path = f"/graph/datasets/{identity.dataset_id('', f'{LAKE}/t')}/facets"
    items = get(client, path)["items"]
    assert [one["name"] for one in items] == ["dataQualityAssertions"]


def test_a_check_of_a_hidden_job_counts_for_nothing_and_no_tree_names_the_job(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, checked("a", "09:00:00", "check ids", success=False), *DAG)
    assert mark(client)["state"] == "failed"
    for name in ("check ids", "nightly.extract"):
        order = {"command": "hide", "node": f"job:etl/{name}"}
        assert client.post("/commands", json=order).status_code < 300
        headwater.project()
    assert mark(client) is None
    assert "check ids" not in str(dataset_page(client, "t")["about"])
    tree = get(client, "/graph/runs/dag")
    assert [one["runId"] for one in tree["children"]] == ["t-2"]


# --- hostile facets ------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", [None, 1, "x", [], [1], {"a": 1}, [{"success": "yes"}], [[]]])
def test_facets_of_any_shape_open_every_page(
    headwater: SmallHeadwater, client: FlaskClient, odd: Any
) -> None:
    named = (
        ("ownership", "owners"), ("tags", "tags"), ("dataQualityAssertions", "assertions"),
        ("sql", "query"), ("documentation", "description"), ("sourceCodeLocation", "url"),
        ("storage", "fileFormat"), ("hierarchy", "hierarchy"), ("version", "datasetVersion"),
        ("processing_engine", "name"), ("dataQualityMetrics", "rowCount"),
    )  # fmt: skip
    facets = {name: {key: odd} for name, key in named}
    take(
        headwater,
        event("r", "COMPLETE", "10:00:00", job_facets=facets, run_facets=facets,
              inputs=[table("t", **facets, usage={"inputFacets": facets})],
              outputs=[table("u", **facets)]),
    )  # fmt: skip
    job_page(client)
    dataset_page(client, "t")
    get(client, "/graph/plans/r")
    get(client, "/graph/runs/r")
    get(client, "/graph/overview")
    get(client, "/consumer/execution-events")


# --- Spline's viewers ----------------------------------------------------------------------------


def test_spline_s_lists_and_overviews_have_the_runs_too(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    tags = {"tags": {"tags": [{"key": "team", "value": "red", "source": "CONFIG"}]}}
    done = {**REVENUE[1]}
    done["run"] = {"runId": "R-1", "facets": tags}
    take(headwater, done)
    listed = get(client, "/consumer/execution-events", searchTerm="REVENUE")
    (item,) = listed["items"]
    assert listed["totalCount"] == 1
    assert (item["applicationName"], item["dataSourceUri"]) == ("load", f"{LAKE}/revenue")
    assert (item["labels"], item["append"]) == ({"team": ["red"]}, True)
    assert get(client, "/consumer/execution-events", searchTerm="nothing")["items"] == []
    (source,) = [
        one
        for one in get(client, "/consumer/data-sources")["items"]
        if one["dataSourceName"] == "revenue"
    ]
    assert source["executionEventId"] == item["executionEventId"]
    overview = get(client, "/consumer/lineage-overview", eventId=item["executionEventId"])
    names = {node["name"] for node in overview["graph"]["nodes"]}
    assert {f"{LAKE}/revenue", f"{LAKE}/orders", "load"} <= names
    assert overview["graph"]["nodes"][-1]["_id"] == item["executionPlanId"]
    for field_name in ("applicationName", "frameworkName", "dataSourceType"):
        get(client, "/consumer/execution-events", sortField=field_name, sortOrder="asc")


def test_spline_s_viewer_opens_such_a_plan(headwater: SmallHeadwater, client: FlaskClient) -> None:
    take(headwater, *REVENUE)
    (item,) = get(client, "/consumer/execution-events")["items"]
    plan = item["executionPlanId"]
    page = get(client, "/consumer/lineage-detailed", execId=plan)
    assert page == get(client, f"/consumer/execution-plans/{plan}")
    shown = page["executionPlan"]
    assert (shown["name"], shown["systemInfo"]) == ("load", {"name": "spark", "version": "3.5.1"})
    assert shown["output"]["source"] == f"{LAKE}/revenue"
    assert [one["_type"] for one in page["graph"]["nodes"]] == [
        "Read", "Read", "Transformation", "Write",
    ]  # fmt: skip
    for node in page["graph"]["nodes"]:
        get(client, f"/consumer/operations/{node['_id']}")
    (write,) = [node for node in page["graph"]["nodes"] if node["_type"] == "Write"]
    for spelling in ("0", "op-0"):  # the viewer makes the id of the write up
        found = get(client, f"/consumer/operations/{plan}:{spelling}")
        assert found["operation"]["_id"] == write["_id"]
        run = get(client, f"/consumer/operations/run:r-1:{spelling}")
        assert run == found, "a plan goes by the key of its run, too"
    (total,) = [one for one in shown["extra"]["attributes"] if one["name"] == "total"]
    found = get(client, "/consumer/attribute-lineage-and-impact", attributeId=total["id"])
    assert [node["name"] for node in found["lineage"]["nodes"]] == ["amount", "total"]
    sources = get(client, f"/consumer/execution-plans/{plan}/data-sources", access="read")
    assert sorted(sources) == [f"{LAKE}/orders", f"{LAKE}/rates"]


def test_a_plan_that_only_reads_is_none_for_spline(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, event("r-2", "COMPLETE", "10:00:00", inputs=[table("orders")]))
    (plan,) = job_page(client)["plans"]
    assert client.get(f"/consumer/execution-plans/{plan['id']}").status_code == 404


# --- the described shapes ------------------------------------------------------------------------


def test_replies_have_the_shape_that_the_openapi_document_describes(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, *DAG, *DONE, *REVENUE)
    assert RunTreeReply().load(get(client, "/graph/runs/dag"))
    assert PlanReply().load(get(client, "/graph/plans/r-1"))
    dataset = identity.dataset_id("", f"{LAKE}/revenue")
    assert FacetsReply().load(get(client, f"/graph/datasets/{dataset}/facets"))


@pytest.mark.parametrize(
    "path", ["runs/dag?depth=1", "datasets/{ds}/facets?kind=run", "jobs/{job}/facets?limit=0"]
)
def test_a_parameter_that_means_nothing_is_refused(
    headwater: SmallHeadwater, client: FlaskClient, path: str
) -> None:
    take(headwater, *DAG, *REVENUE)
    known = {
        "ds": identity.dataset_id("", f"{LAKE}/revenue"),
        "job": identity.job_id("etl", "load"),
    }
    assert client.get(f"/graph/{path.format(**known)}").status_code == 400


@pytest.mark.parametrize("path", ["datasets/ds_{0}/facets", "jobs/job_{0}/facets", "jobs/x/facets"])
def test_facets_of_unknown_nodes_are_not_found(client: FlaskClient, path: str) -> None:
    assert client.get(f"/graph/{path.format('0' * 32)}").status_code == 404


# --- missing values ------------------------------------------------------------------------------


def replies_about(client: FlaskClient, run: str) -> Json:
    """The run's mode, start and duration on every page."""
    (job,) = get(client, "/graph/jobs")["items"]
    (table,) = get(client, "/graph/datasets", q="out")["items"]
    of_job, of_table = f"/graph/jobs/{job['id']}", f"/graph/datasets/{table['id']}"
    (brief,) = get(client, f"{of_job}/runs")["items"]
    (plan,) = get(client, of_job)["plans"]
    page = get(client, of_table)
    tree = get(client, f"/graph/runs/{run}")
    (execution,) = get(client, f"{of_job}/runs/{brief['id']}")["items"]
    executions = [execution, *tree["items"], *get(client, f"{of_table}/history")["items"]]
    executions.append(get(client, f"{of_table}/last-writer")["execution"])
    modes = {one["mode"] for one in (*executions, *page["writers"], plan)}
    modes.add(get(client, f"/graph/plans/{plan['id']}")["mode"])
    lineage = get(client, "/graph/lineage", node=table["id"])
    (edge,) = (edge for edge in lineage["edges"] if edge["to"] == table["id"])
    return {
        "modes": modes,
        "edge": edge.get("modes"),
        "starts": {brief["startedAt"], brief["told"]["startedAt"], tree["startedAt"]},
        "durations": {one["durationMs"] for one in executions},
    }


def test_a_value_that_a_single_event_does_not_give_is_null(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    run = "01890000-0000-7000-8000-000000000001"
    take(headwater, event(run, "COMPLETE", "10:00:00.000", outputs=[table("out")]))
    assert replies_about(client, run) == {
        "modes": {None}, "edge": None, "starts": {None}, "durations": {None},
    }  # fmt: skip
    (shown,) = client.get("/consumer/execution-events").get_json()["items"]
    assert (shown["append"], shown["durationNs"]) == (True, None), "Spline knows no third mode"


def test_a_duration_from_events_is_told_even_where_it_is_zero(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """A run that began and ended in one millisecond took 0 ms."""
    run = "01890000-0000-7000-8000-000000000002"
    output = table("out", lifecycleStateChange={"lifecycleStateChange": "OVERWRITE"})
    take(
        headwater,
        event(run, "START", "10:00:00.000", outputs=[output]),
        event(run, "COMPLETE", "10:00:00.000", outputs=[output]),
    )
    at = "2026-03-01T10:00:00.000Z"
    assert replies_about(client, run) == {
        "modes": {"overwrite"}, "edge": ["overwrite"], "starts": {at}, "durations": {0},
    }  # fmt: skip


def test_a_run_that_is_first_heard_of_while_it_runs_has_no_known_start(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    run = "01890000-0000-7000-8000-000000000003"
    take(
        headwater,
        event(run, "RUNNING", "10:00:00.000"),
        event(run, "COMPLETE", "10:05:00.000", outputs=[table("out")]),
    )
    assert replies_about(client, run)["starts"] == {None}


def test_a_failed_run_without_a_start_of_its_query_began_with_its_application(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    application = "01890000-0000-7000-8000-00000000000a"
    query = "01890000-0000-7000-8000-00000000000b"
    spark = {
        "spark_applicationDetails": {"applicationId": "local-1", "appName": "nightly"},
        "processing_engine": {"name": "spark", "version": "3.5.1"},
    }
    of_query = {**spark, **below(application, "nightly")}
    take(
        headwater,
        event(application, "START", "10:00:00.000", job="nightly", run_facets=spark),
        event(query, "FAIL", "10:00:04.000", job="nightly.step", run_facets=of_query,
              outputs=[table("out")]),
        event(application, "FAIL", "10:00:05.000", job="nightly", run_facets=spark),
    )  # fmt: skip
    [job] = get(client, "/graph/jobs")["items"]
    [run] = get(client, f"/graph/jobs/{job['id']}/runs")["items"]
    assert (run["state"], run["startedAt"], run["endedAt"]) == (
        "failed", "2026-03-01T10:00:00.000Z", "2026-03-01T10:00:05.000Z",
    )  # fmt: skip
