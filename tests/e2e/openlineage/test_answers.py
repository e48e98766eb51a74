"""Answers of the read routes about jobs that only, or also, OpenLineage's agents reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.intake.documents import prepare_events
from graph_model import identity
from graph_model.answers.facets import LONGEST_BODY
from graph_model.producers.openlineage.producer import event_submission
from graph_model.producers.spline.producer import plan_submission
from tests import captures
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater

_FOLDER = Path(__file__).parents[2] / "fixtures" / "openlineage" / "captured"
NAMES = sorted(path.stem for path in _FOLDER.glob("*.json"))
SCENARIOS = sorted((_FOLDER.parent / "scenarios").glob("*.json"))
NOW = 1_900_000_000_000


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, NOW)


def openlineage(headwater: SmallHeadwater, name: str) -> None:
    take(headwater, json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def take(headwater: SmallHeadwater, events: list[Any]) -> None:
    headwater.accept(*(event_submission(event) for event in events))
    headwater.project()
    assert headwater.journal.summary().failed == 0


def spline(headwater: SmallHeadwater, name: str) -> None:
    for exchange in captures.load(name):
        version = {"v1.1": "1.1", "v1.2": "1.2"}.get(exchange.content_type[-9:-5], "1")
        if exchange.kind == "plan":
            headwater.accept(plan_submission(exchange.document, version))
        elif exchange.kind == "event":
            headwater.accept(*prepare_events(exchange.document, version))
    headwater.project()


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, (path, reply.get_data(as_text=True))
    return reply.get_json()


def everything(client: FlaskClient) -> dict[str, list[Any]]:
    """Asks whatever can be asked of all listed jobs and datasets, and of two columns of each."""
    jobs = get(client, "/graph/jobs")["items"]
    datasets = get(client, "/graph/datasets")["items"]
    get(client, "/graph/overview", layout="true")
    for node in (*jobs, *datasets):
        get(client, "/graph/lineage", node=node["id"], depth=3, columns="true",
            indirect="true", layout="true")  # fmt: skip
    runs = []
    for job in jobs:
        for plan in get(client, f"/graph/jobs/{job['id']}")["plans"]:
            for plan_id in (plan["id"], *plan["planIds"]):
                get(client, f"/graph/plans/{plan_id}", layout="true", document="true")
        get(client, f"/graph/jobs/{job['id']}/facets")
        listed = get(client, f"/graph/jobs/{job['id']}/runs")["items"]
        for run in listed:
            get(client, f"/graph/jobs/{job['id']}/runs/{run['id']}")
            get(client, f"/graph/runs/{run['id']}")
        runs += listed
    for dataset in datasets:
        page = get(client, f"/graph/datasets/{dataset['id']}")
        get(client, f"/graph/datasets/{dataset['id']}/history")
        get(client, f"/graph/datasets/{dataset['id']}/facets")
        client.get(f"/graph/datasets/{dataset['id']}/last-writer")
        for column in (page.get("schema") or {"columns": []})["columns"][:2]:
            get(client, "/graph/column-lineage", dataset=dataset["id"], column=column["name"])
    get(client, "/graph/search", q="e")
    get(client, "/consumer/data-sources")
    for item in get(client, "/consumer/execution-events")["items"]:
        get(client, "/consumer/lineage-overview", eventId=item["executionEventId"])
        get(client, "/consumer/lineage-detailed", execId=item["executionPlanId"])
    return {"jobs": jobs, "datasets": datasets, "runs": runs}


@pytest.mark.parametrize("name", NAMES)
def test_a_job_known_through_openlineage_alone_is_listed_opened_and_followed(
    headwater: SmallHeadwater, client: FlaskClient, name: str
) -> None:
    openlineage(headwater, name)
    found = everything(client)
    assert len(found["jobs"]) == 1
    assert found["runs"]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_whatever_events_tell_can_be_asked_for(
    headwater: SmallHeadwater, client: FlaskClient, path: Path
) -> None:
    take(headwater, json.loads(path.read_text(encoding="utf-8"))["events"])
    assert everything(client)["jobs"]


def test_a_run_that_only_reads_has_no_target(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    take(headwater, events_that_only_read())
    (job,) = get(client, "/graph/jobs")["items"]
    (plan,) = get(client, f"/graph/jobs/{job['id']}")["plans"]
    assert plan["target"] is None
    assert plan["sources"]


def test_a_facet_too_long_for_a_page_is_named_and_cut_for_a_job_and_a_run_alike(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    events = events_that_only_read()
    fits, exceeds = facet_of(LONGEST_BODY - 200), facet_of(LONGEST_BODY + 200)
    for event in events:
        for part in (event["run"], event["job"]):
            part.setdefault("facets", {}).update(acme_fits=fits, acme_exceeds=exceeds)
    take(headwater, events)
    (job,) = get(client, "/graph/jobs")["items"]
    of_job = {
        one["name"]: one for one in get(client, f"/graph/jobs/{job['id']}")["about"]["facets"]
    }
    run = get(client, f"/graph/runs/{events[0]['run']['runId']}")
    assert [of_job[name]["cut"] for name in ("acme_fits", "acme_exceeds")] == [False, True]
    assert run["cut"] == ["acme_exceeds"]
    assert run["facets"]["acme_fits"]["text"] == of_job["acme_fits"]["body"]["text"] == fits["text"]
    assert run["facets"]["acme_exceeds"] is of_job["acme_exceeds"]["body"] is None


def test_the_plan_of_a_run_cuts_the_same_facets_and_its_document_has_them_whole(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    events = events_that_only_read()
    fits, exceeds = facet_of(LONGEST_BODY - 200), facet_of(LONGEST_BODY + 200)
    for event in events:
        [read] = event["inputs"]
        for owner, key in (
            (event["run"], "facets"), (event["job"], "facets"),
            (read, "facets"), (read, "inputFacets"),
        ):  # fmt: skip
            owner.setdefault(key, {}).update({f"acme_{key}": fits, f"acme_long_{key}": exceeds})
    take(headwater, events)
    plan = get(client, f"/graph/plans/{events[0]['run']['runId']}", document="true")
    told = plan["openlineage"]
    assert told["cutJobFacets"] == told["cutRunFacets"] == ["acme_long_facets"]
    [dataset] = told["datasets"]
    assert dataset["cut"] == ["acme_long_facets", "acme_long_inputFacets"]
    for facets, key in (
        (told["jobFacets"], "facets"), (told["runFacets"], "facets"),
        (dataset["facets"], "facets"), (dataset["usage"], "inputFacets"),
    ):  # fmt: skip
        assert facets[f"acme_{key}"]["text"] == fits["text"]
        assert facets[f"acme_long_{key}"] is None
    newest = plan["document"][-1]
    assert newest["job"]["facets"]["acme_long_facets"]["text"] == exceeds["text"]


def events_that_only_read() -> list[dict[str, Any]]:
    """The events of one run, as a client wrote them."""
    path = _FOLDER.parent / "scenarios" / "only_inputs.json"
    events: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["events"]
    return events


def facet_of(characters: int) -> dict[str, str]:
    """A facet of a client's own whose text has that length, with the fields of every facet."""
    facet = {"_producer": "p", "_schemaURL": "s", "text": ""}
    return facet | {"text": "x" * (characters - len(identity.spelled(facet)))}


@pytest.mark.parametrize("name", ["a3_agg", "c_ctas_cte", "c_union"])
def test_a_job_reported_by_both_agents_is_one_job(
    headwater: SmallHeadwater, client: FlaskClient, name: str
) -> None:
    spline(headwater, name)
    alone = everything(client)
    openlineage(headwater, name)
    both = everything(client)
    assert [job["id"] for job in both["jobs"]] == [job["id"] for job in alone["jobs"]]
    assert {one["id"] for one in both["datasets"]} >= {one["id"] for one in alone["datasets"]}
    for job in both["jobs"]:
        nodes = get(client, "/graph/lineage", node=job["id"])["nodes"]
        assert [node["kind"] for node in nodes].count("job") == 1
