"""The calls of Spline's UI, replayed on a small Headwater in memory."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask.testing import FlaskClient
from marshmallow import Schema

from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.catalogue_values import SortField
from graph_model.stores.database import open_database
from graph_model.stores.documents import Receipt, Submission
from graph_model.stores.keys import ID_BYTES, SECRET_BYTES, KeyRequest, SqlKeys, make_key
from graph_model.values import Role
from spark_agent_config.capture.plan_document import execution_plan
from tests import captures
from tests.builders import PlanBuilder
from tests.captured_queries import APPLICATION, load_query, recorded_queries
from tests.e2e.answers import consumer_shapes as shapes
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, lineage_event, small_headwater, submission
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan
from tests.unit.graph_model.projection.test_rebuilding import rebuild

START = 1_700_000_000_000
INSERT = "InsertIntoHadoopFsRelationCommand"
CTAS = "CreateDataSourceTableAsSelectCommand"
LISTENER = {"name": "headwater-listener", "version": "0.2.0"}
NOW = START + 1_000_000_000
_VERSIONS = {
    "application/json": "1",
    "application/vnd.absa.spline.producer.v1.1+json": "1.1",
    "application/vnd.absa.spline.producer.v1.2+json": "1.2",
}


@dataclass
class Viewer:
    """A Headwater and a client that asks as the UI does."""

    headwater: SmallHeadwater
    client: FlaskClient
    received_at: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def take(self, *submissions: Submission) -> None:
        self.headwater.journal.accept(submissions, Receipt(self.received_at, "", "test", "raw"))
        self.headwater.project()

    def capture(self, name: str) -> None:
        for exchange in captures.load(name):
            if exchange.kind != "status":
                version = _VERSIONS[exchange.content_type.partition(";")[0]]
                kind = PLAN_KIND if exchange.kind == "plan" else EVENT_KIND
                listed = [exchange.document] if exchange.kind == "plan" else exchange.document
                self.take(*(submission(kind, one, api_version=version) for one in listed))

    def job(
        self,
        name: str,
        target: str,
        *sources: str,
        append: bool = False,
        command: str = INSERT,
        **more: Any,
    ) -> str:
        """A plan; its id."""
        plan_id = f"{next(self.numbers):08d}-2222-5333-8444-555555555555"
        body = copy.deepcopy(a_plan(id=plan_id, name=name, **more))
        body["operations"]["write"] |= {
            "outputSource": target, "append": append, "name": command,
        }  # fmt: skip
        body["operations"]["reads"][0]["inputSources"] = list(sources)
        self.take(plan(body))
        return plan_id

    def ran(self, plan_id: str, at: int, **changes: Any) -> str:
        """A run; the event's id."""
        self.take(event(an_event(START + at, planId=plan_id, **changes)))
        reply = self.events(timestampStart=START + at, timestampEnd=START + at)
        return str(reply["items"][0]["executionEventId"])

    def run(self, name: str, at: int, target: str, *sources: str, **more: Any) -> str:
        """A plan and a run of it; the event's id."""
        return self.ran(self.job(name, target, *sources, **more), at)

    def get(self, path: str, **query: Any) -> Any:
        reply = self.client.get(f"/consumer/{path}", query_string=query)
        assert reply.status_code == 200, reply.get_data(as_text=True)
        return reply.get_json()

    def events(self, **query: Any) -> Any:
        return self.get("execution-events", **query)

    def names(self, **query: Any) -> list[str]:
        return [item["applicationName"] for item in self.events(**query)["items"]]

    def sources(self, **query: Any) -> list[str]:
        return [item["dataSourceUri"] for item in self.get("data-sources", **query)["items"]]

    def overview(self, kind: str, event_id: str, depth: int) -> tuple[set[str], int]:
        """Names of the jobs drawn, and the depth that was reached."""
        graph = self.get(f"{kind}-overview", eventId=event_id, maxDepth=depth)["graph"]
        jobs = {node["name"] for node in graph["nodes"] if node["_type"] == "ExecutionNode"}
        return jobs, graph["depthComputed"]

    def refused(self, status: int, path: str, **query: Any) -> Mapping[str, Any]:
        reply = self.client.get(f"/consumer/{path}", query_string=query)
        assert reply.status_code == status, reply.get_data(as_text=True)
        body: Mapping[str, Any] = reply.get_json()
        assert set(body) == {"errorId", "timestamp", "message"}
        assert body["errorId"] == reply.headers["X-Request-Id"]
        return body


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    made = small_headwater()
    yield Viewer(made, client_of(made, NOW))
    made.close()


# --- shapes, on documents of real agents ---------------------------------------------------------

SHOWN = ("a1_curate", "a2_managers", "a3_agg", "c_fail_udf", "c_window", "f_api1", "f_labels_file")


@pytest.fixture(scope="module")
def captured() -> Iterator[Viewer]:
    made = small_headwater()
    viewer = Viewer(made, client_of(made, NOW))
    for name in SHOWN:
        viewer.capture(name)
    yield viewer
    made.close()


def load(shape: type[Schema], reply: Any) -> None:
    """Every promised field is there, of its type, and nothing else is."""
    assert shape().validate(reply) == {}


@pytest.mark.parametrize("path", ["execution-events", "data-sources"])
def test_lists_have_splines_shape(captured: Viewer, path: str) -> None:
    reply = captured.get(path, pageSize=1000, **{"facet.timestamp": "true"})
    load(shapes.EventsShape, reply)
    assert reply["totalCount"] == len(reply["items"]) > 0
    assert len(reply["totalDateRange"]) == 2


def test_overviews_have_splines_shape(captured: Viewer) -> None:
    for item in captured.events(pageSize=1000)["items"]:
        for kind in ("lineage", "impact"):
            reply = captured.get(f"{kind}-overview", eventId=item["executionEventId"])
            load(shapes.OverviewShape, reply)
            ids = [node["_id"] for node in reply["graph"]["nodes"]]
            assert len(ids) == len(set(ids))
            assert reply["info"]["targetDataSourceId"] in ids
            assert item["executionPlanId"] in ids
            ends = {edge[end] for edge in reply["graph"]["edges"] for end in ("source", "target")}
            assert ends <= set(ids)


def test_plans_and_their_parts_have_splines_shape(captured: Viewer) -> None:
    for item in captured.events(pageSize=1000)["items"]:
        plan_id = item["executionPlanId"]
        detailed = captured.get("lineage-detailed", execId=plan_id)
        load(shapes.DetailedShape, detailed)
        assert captured.get(f"execution-plans/{plan_id}") == detailed
        declared = {item["id"] for item in detailed["executionPlan"]["extra"]["dataTypes"]}
        for node in detailed["graph"]["nodes"]:
            reply = captured.get(f"operations/{node['_id']}")
            load(shapes.OperationShape, reply)
            assert reply["operation"]["_type"] == node["_type"]
            assert {item["id"] for item in reply["dataTypes"]} <= declared
        for attribute in detailed["executionPlan"]["extra"]["attributes"]:
            reply = captured.get(
                "attribute-lineage-and-impact", execId=plan_id, attributeId=attribute["id"]
            )
            load(shapes.AttributeGraphs, reply)
            assert reply["lineage"]["nodes"][-1]["_id"] == attribute["id"]
            assert reply["impact"]["nodes"][0]["_id"] == attribute["id"]


def test_lists_of_plans_have_splines_shape(captured: Viewer) -> None:
    reply = captured.get("execution-plans", pageSize=3)
    load(shapes.PlansShape, reply)
    assert len(reply["items"]) == 3 < reply["totalCount"]
    second = captured.get("execution-plans", pageSize=3, pageNum=2)
    assert not {p["_id"] for p in reply["items"]} & {p["_id"] for p in second["items"]}


def test_a_plans_data_sources_and_its_write(captured: Viewer) -> None:
    (plan_id,) = (document["id"] for document in captures.plans("a3_agg"))
    read = captured.get(f"execution-plans/{plan_id}/data-sources", access="read")
    written = captured.get(f"execution-plans/{plan_id}/data-sources", access="write")
    assert captured.get(f"execution-plans/{plan_id}/data-sources") == [*written, *read]
    reply = captured.client.get(f"/consumer/execution-plans/{plan_id}/write-op")
    assert (reply.status_code, reply.headers["Location"]) == (
        302,
        f"/consumer/operations/{plan_id}:op-0",
    )
    followed = captured.client.get(
        f"/consumer/execution-plans/{plan_id}/write-op", follow_redirects=True
    )
    assert followed.get_json()["operation"]["_type"] == "Write"


@pytest.mark.parametrize("name", recorded_queries())
def test_plans_of_our_listener_open_as_those_of_any_agent(viewer: Viewer, name: str) -> None:
    """Its ids are its own; the viewer makes that of the write up, by the agent's version."""
    body = execution_plan(load_query(name), APPLICATION)
    viewer.take(plan(body), event(an_event(planId=body["id"])))
    (item,) = viewer.events()["items"]
    for spelling in ("0", "op-0"):
        found = viewer.get(f"operations/{item['executionPlanId']}:{spelling}")
        load(shapes.OperationShape, found)
        assert found["operation"]["_type"] == "Write"
        assert found["operation"]["_id"].rpartition(":")[0] == item["executionPlanId"]


def test_labels_are_listed_and_filter(captured: Viewer) -> None:
    names = captured.get("labels/names", length=-1, offset=0)
    assert names == ["job", "runTag", "team"]
    assert captured.get("labels/names", offset=1, length=1) == ["runTag"]
    assert captured.get("labels/names", search="TEA") == ["team"]
    assert captured.get("labels/names", search="none such") == []
    assert captured.get("labels/names/team/values") == ["hr"]
    assert captured.get("labels/names/runTag/values", search="B") == ["b"]
    asked = captured.events(label="team:hr,none", pageSize=100)
    assert 0 < asked["totalCount"] < captured.events()["totalCount"]


def test_a_run_as_its_agent_told_it(captured: Viewer) -> None:
    (said,) = captures.events("a3_agg")
    (document,) = captures.plans("a3_agg")
    item = next(
        item
        for item in captured.events(pageSize=100)["items"]
        if item["executionPlanId"] == document["id"]
    )
    assert item["timestamp"] == said["timestamp"]
    assert item["durationNs"] == said["durationNs"]
    assert item["extra"] == said["extra"]
    assert item["applicationId"] == said["extra"]["appId"]
    assert item["applicationName"] == document["name"]
    system = document["systemInfo"]
    assert item["frameworkName"] == f"{system['name']} {system['version']}"
    assert item["dataSourceUri"] == document["operations"]["write"]["outputSource"]
    assert item["dataSourceType"] == document["operations"]["write"]["extra"]["destinationType"]
    assert item["append"] is document["operations"]["write"]["append"]
    assert item["error"] is None


def test_the_captured_chain_of_three_jobs(captured: Viewer) -> None:
    (document,) = captures.plans("a3_agg")
    item = next(
        item
        for item in captured.events(pageSize=100)["items"]
        if item["executionPlanId"] == document["id"]
    )
    graph = captured.get("lineage-overview", eventId=item["executionEventId"], maxDepth=5)["graph"]
    plans = {node["_id"] for node in graph["nodes"] if node["_type"] == "ExecutionNode"}
    chain = ("a1_curate", "a2_managers", "a3_agg")
    assert plans == {p["id"] for name in chain for p in captures.plans(name)}
    assert graph["depthComputed"] == 3


def test_probes_answer_as_splines(captured: Viewer) -> None:
    for probe in ("liveness", "readiness"):
        reply = captured.client.get(f"/about/{probe}")
        assert (reply.status_code, reply.data) == (200, b"")
    assert captured.client.get("/about/version?_=1").get_json()["build"]["version"]


# --- lists ---------------------------------------------------------------------------------------


def test_the_newest_event_is_first_and_pages_follow_each_other(viewer: Viewer) -> None:
    job = viewer.job("daily", "file:/out", "file:/in")
    for at in range(25):
        viewer.ran(job, at)
    pages = [viewer.events(pageNum=number) for number in (1, 2, 3, 4)]
    assert [page["totalCount"] for page in pages] == [25] * 4
    assert [page["pageNum"] for page in pages] == [1, 2, 3, 4]
    times = [item["timestamp"] - START for page in pages for item in page["items"]]
    assert times == list(range(24, -1, -1))
    assert pages[0]["totalDateRange"] == []


def test_a_window_is_inclusive_and_each_end_works_alone(viewer: Viewer) -> None:
    for at, name in enumerate(("first", "second", "third")):
        viewer.run(name, at, "file:/out", "file:/in")
    assert viewer.names(timestampStart=START + 1) == ["third", "second"]
    assert viewer.names(timestampEnd=START + 1) == ["second", "first"]
    query = {"timestampStart": START + 1, "timestampEnd": START + 1, "facet.timestamp": "true"}
    reply = viewer.events(**query)
    assert [item["applicationName"] for item in reply["items"]] == ["second"]
    assert reply["totalDateRange"] == [START, START + 2]


@pytest.mark.parametrize(
    ("field", "ascending"),
    [
        ("timestamp", ["b", "a", "c"]),
        ("applicationName", ["a", "b", "c"]),
        ("dataSourceUri", ["c", "b", "a"]),
        ("dataSourceName", ["c", "b", "a"]),
        ("durationNs", ["a", "c", "b"]),
        ("append", ["a", "c", "b"]),
        ("executionPlanId", ["a", "b", "c"]),
        ("executionEventId", ["a", "b", "c"]),
        ("applicationId", ["a", "c", "b"]),
    ],
)
def test_every_field_sorts_both_ways(viewer: Viewer, field: str, ascending: list[str]) -> None:
    """An unknown value counts as least; equal values come newest first."""
    told = {"a": (5, "file:/z", None), "b": (1, "file:/y", 9), "c": (3 + 4, "file:/x", 7)}
    for name, (at, target, duration) in told.items():
        job = viewer.job(name, target, "file:/in", append=name == "b")
        viewer.ran(job, at, durationNs=duration, extra={"appId": "z" if name == "b" else "y"})
    if field in {"append", "applicationId"}:
        ascending = ["c", "a", "b"]  # a and c are equal there
    assert viewer.names(sortField=field, sortOrder="asc") == ascending
    if field not in {"append", "applicationId"}:
        assert viewer.names(sortField=field, sortOrder="desc") == ascending[::-1]


@pytest.mark.parametrize(
    "words", ["SPARK 3.5", "umsätze", "UMSATZE", "file:/lake/ziel", "app-1", "100%_x"]
)
def test_a_search_looks_through_all_that_a_row_shows(viewer: Viewer, words: str) -> None:
    viewer.run("Umsätze 100%_x", 1, "file:/lake/Ziel", "file:/in")
    assert viewer.events(searchTerm=words)["totalCount"] == 1
    assert viewer.events(searchTerm=f"{words}?")["totalCount"] == 0


def test_filters_are_combined(viewer: Viewer) -> None:
    viewer.run("one", 1, "file:/a", "file:/in")
    viewer.run("two", 2, "file:/a", "file:/in", append=True)
    viewer.run("three", 3, "file:/b", "file:/in")
    assert viewer.names(dataSourceUri="file:/a") == ["two", "one"]
    assert viewer.names(dataSourceUri="file:///a/") == ["two", "one"], "as ingestion spells it"
    assert viewer.names(dataSourceUri="file:/none") == []
    assert viewer.names(append="true") == ["two"]
    assert viewer.names(append="false", dataSourceUri="file:/a") == ["one"]
    assert viewer.names(append="true,false") == ["three", "two", "one"]
    assert viewer.names(applicationId="app-1") == ["three", "two", "one"]
    assert viewer.names(applicationId="app") == []


def test_labels_are_or_within_a_name_and_and_across_names(viewer: Viewer) -> None:
    job = viewer.job("one", "file:/a", "file:/in", labels={"team": ["red", "blue"]})
    viewer.ran(job, 1, labels={"run": ["nightly"]})
    viewer.ran(viewer.job("two", "file:/b", "file:/in", labels={"team": ["green"]}), 2)
    assert viewer.names(label="team:red,green") == ["two", "one"]
    assert viewer.names(label=["team:red,green", "run:nightly"]) == ["one"]
    assert viewer.names(label="team:nightly") == []
    (item,) = viewer.events(label="run:nightly")["items"]
    assert item["labels"] == {"run": ["nightly"]}
    assert viewer.get("labels/names/team/values") == ["blue", "green", "red"]


def test_a_data_source_carries_its_last_write_or_nothing(viewer: Viewer) -> None:
    job = viewer.job("one", "file:/out", "file:/in")
    viewer.ran(job, 1)
    viewer.ran(job, 2, error="boom")
    items = {i["dataSourceUri"]: i for i in viewer.get("data-sources")["items"]}
    assert list(items) == ["file:/in", "file:/out"]
    assert items["file:/out"]["timestamp"] == START + 2
    assert items["file:/out"]["error"] == "boom"
    assert {k for k, v in items["file:/in"].items() if v is not None} == {
        "dataSourceName", "dataSourceUri",
    }  # fmt: skip
    assert viewer.sources(append="false") == ["file:/out"]
    assert viewer.sources(append="null") == ["file:/in"]
    assert viewer.sources(append="") == ["file:/in", "file:/out"], "as a server of 0.7 reads it"
    assert viewer.sources(append="true,") == ["file:/in"], "a list ends in the choice of no write"
    assert viewer.sources(append="true,false") == ["file:/out"]
    assert viewer.sources(timestampStart=START + 2) == ["file:/out"]
    assert viewer.sources(timestampEnd=START + 1) == [], "the window is that of the last write"
    assert viewer.sources(searchTerm="IN") == ["file:/in"]
    assert viewer.sources(sortField="timestamp", sortOrder="desc") == ["file:/out", "file:/in"]
    assert viewer.sources(dataSourceUri="file:/out") == ["file:/out"]


def test_the_last_write_of_a_hidden_job_tells_nothing_of_the_job(viewer: Viewer) -> None:
    job = viewer.job("quiet", "s3://lake/t", "s3://lake/s")
    viewer.ran(job, 1, error="quiet failed", labels={"team": ["quiet"]}, extra={"appId": "quiet-1"})
    (shown,) = viewer.get("data-sources", dataSourceUri="s3://lake/t")["items"]
    assert str(shown).count("quiet") == 5
    hidden = {"command": "hide", "node": "job:default/quiet"}
    assert viewer.client.post("/commands", json=hidden).status_code == 202
    viewer.headwater.project()
    (shown,) = viewer.get("data-sources", dataSourceUri="s3://lake/t")["items"]
    assert (shown["dataSourceUri"], shown["timestamp"]) == ("s3://lake/t", START + 1)
    assert "quiet" not in str(shown)


@pytest.mark.parametrize("field", SortField)
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_data_sources_are_sorted_by_what_a_row_shows(
    some_hidden: Viewer, field: SortField, order: str
) -> None:
    """So the order tells nothing of the hidden jobs that wrote some of them last."""
    asked = {"sortField": field, "sortOrder": order, "pageSize": 100}
    rows = some_hidden.get("data-sources", **asked)["items"]
    assert len(rows) == 12

    def shown(row: Mapping[str, Any]) -> tuple[bool, Any]:
        value = row[field]
        if field == SortField.APPLICATION_NAME and value == row["executionPlanId"]:
            value = None  # stands in for a name
        known = row["executionEventId"] if field == SortField.DATA_SOURCE_TYPE else value
        return known is not None, value or 0

    by_uri = sorted(rows, key=lambda row: str(row["dataSourceUri"]))
    assert rows == sorted(by_uri, key=shown, reverse=order == "desc")


@pytest.fixture(scope="module")
def some_hidden() -> Iterator[Viewer]:
    """Tables that jobs wrote last, every other one hidden, whose names and errors have no order."""
    made = small_headwater()
    viewer = Viewer(made, client_of(made, NOW))
    for place in range(8):
        name = f"j{place * 5 % 8}"
        job = viewer.job(name, f"s3://lake/t{place}", f"s3://lake/s{place // 2}")
        extra = {"appId": f"app-{place * 3 % 8}"}
        viewer.ran(job, place, error=f"e{place * 7 % 8}", durationNs=place * 5 % 8, extra=extra)
        if place % 2:
            hidden = {"command": "hide", "node": f"job:default/{name}"}
            assert viewer.client.post("/commands", json=hidden).status_code == 202
    made.project()
    yield viewer
    made.close()


def test_a_list_can_be_frozen_whatever_time_later_events_tell(viewer: Viewer) -> None:
    viewer.received_at = NOW
    viewer.run("before", 100, "file:/out", "file:/in")
    viewer.received_at = NOW + 10
    viewer.run("later, but old", 1, "file:/other", "file:/in")
    viewer.run("later and new", 200, "file:/out", "file:/in")
    assert viewer.events()["totalCount"] == 3
    frozen = viewer.events(asAtTime=NOW + 5)
    assert frozen["totalCount"] == 1
    assert [item["applicationName"] for item in frozen["items"]] == ["before"]
    assert viewer.events(asAtTime=0)["totalCount"] == 3
    assert viewer.events(asAtTime=NOW + 10)["totalCount"] == 3
    sources = viewer.get("data-sources", asAtTime=NOW + 5)["items"]
    assert {i["dataSourceUri"]: i["applicationName"] for i in sources} == {
        "file:/in": None, "file:/out": "before",
    }  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A run of a job, and when its documents came."""

    name: str
    plan_at: int
    event_at: int


@pytest.mark.parametrize("seed", range(2))
def test_a_list_of_any_time_holds_the_items_that_had_come_by_then(
    viewer: Viewer, seed: int
) -> None:
    """However much has come since, in whatever order, also where all is projected anew."""
    chance = random.Random(seed)
    told = []
    for number in range(12):
        plan_at = NOW + chance.randrange(100)
        told.append(Told(f"job-{number}", plan_at, plan_at + chance.randrange(20)))
    for one in sorted(told, key=lambda one: one.plan_at):
        viewer.received_at = one.plan_at
        job = viewer.job(one.name, f"file:/{one.name}", "file:/in")
        viewer.received_at = one.event_at
        viewer.take(event(an_event(START + chance.randrange(1_000), planId=job)))
    for rebuilt in (False, True):
        if rebuilt:
            rebuild(viewer.headwater)
        for at in (NOW - 1, *(NOW + step for step in range(0, 130, 7)), 0):
            asked = {"asAtTime": at, "pageSize": 100}
            runs = {one.name for one in told if at == 0 or one.event_at <= at}
            plans = {one.name for one in told if at == 0 or one.plan_at <= at}
            assert set(viewer.names(**asked)) == runs
            assert viewer.events(**asked)["totalCount"] == len(runs)
            read = {"file:/in"} if plans else set()
            assert set(viewer.sources(**asked)) == {f"file:/{name}" for name in plans} | read


def test_runs_that_openlineage_told_are_frozen_as_well(viewer: Viewer) -> None:
    def told(run: str, kind: str, clock: str, at: int) -> None:
        viewer.received_at = at
        place = {"namespace": "s3://lake", "name": run}
        viewer.take(
            lineage_event({
                "eventType": kind, "eventTime": f"2023-11-20T{clock}Z", "producer": "https://x",
                "run": {"runId": run}, "job": {"namespace": "etl", "name": run},
                "inputs": [], "outputs": [place],
            })
        )  # fmt: skip

    told("early", "START", "10:00:00", NOW)
    told("late", "START", "09:00:00", NOW + 1)
    told("early", "COMPLETE", "10:05:00", NOW + 2)
    told("late", "COMPLETE", "09:05:00", NOW + 3)
    told("early", "OTHER", "10:06:00", NOW + 4)
    assert viewer.names(asAtTime=NOW + 1) == []
    assert viewer.names(asAtTime=NOW + 2) == ["early"]
    assert viewer.names(asAtTime=NOW + 3) == ["early", "late"]
    assert viewer.sources(asAtTime=NOW + 2) == ["s3://lake/early"]


def test_an_event_that_breaks_the_protocol_is_in_no_list(viewer: Viewer) -> None:
    job = viewer.job("job", "file:/out", "file:/in", discriminator="a")
    viewer.ran(job, 1, discriminator="a")
    viewer.received_at = NOW
    viewer.take(event(an_event(START + 2, planId=job, discriminator="b")))
    assert viewer.events(asAtTime=NOW - 1)["totalCount"] == viewer.events()["totalCount"] == 1


def test_two_events_of_one_plan_in_one_millisecond_have_two_ids(viewer: Viewer) -> None:
    job = viewer.job("twice", "file:/out", "file:/in")
    for duration in (1, 2):
        viewer.take(event(an_event(START, planId=job, durationNs=duration)))
    ids = [item["executionEventId"] for item in viewer.events()["items"]]
    assert len(set(ids)) == 2
    for identifier in ids:
        assert viewer.overview("lineage", identifier, 1) == ({"twice"}, 1)


# --- overviews -----------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["file:/c", "file:/b"])
def test_a_job_that_two_paths_reach_is_expanded_by_the_shorter(viewer: Viewer, first: str) -> None:
    """S reads C and B, C reads B, B reads D: D is two steps from S, in whichever order it reads."""
    viewer.run("E", 1, "file:/e", "file:/raw")
    viewer.run("D", 2, "file:/d", "file:/e")
    viewer.run("B", 3, "file:/b", "file:/d")
    viewer.run("C", 4, "file:/c", "file:/b")
    sources = [first, *({"file:/c", "file:/b"} - {first})]
    start = viewer.run("S", 5, "file:/s", *sources)
    assert viewer.overview("lineage", start, 0) == (set(), -1)
    assert viewer.overview("lineage", start, 1) == ({"S"}, 1)
    assert viewer.overview("lineage", start, 2) == ({"S", "C", "B"}, 2)
    assert viewer.overview("lineage", start, 3) == ({"S", "C", "B", "D"}, 3)
    assert viewer.overview("lineage", start, 9) == ({"S", "C", "B", "D", "E"}, 4)


def test_the_overview_of_nothing_but_the_target(viewer: Viewer) -> None:
    start = viewer.run("job", 1, "file:/out", "file:/in")
    reply = viewer.get("lineage-overview", eventId=start, maxDepth=0)
    (node,) = reply["graph"]["nodes"]
    assert node == {
        "_id": reply["info"]["targetDataSourceId"], "_type": "DataSourceNode", "name": "file:/out",
    }  # fmt: skip
    assert reply["info"] | {"targetDataSourceId": ""} == {
        "timestamp": START + 1, "applicationId": "app-1", "targetDataSourceId": "",
    }  # fmt: skip


def test_lineage_is_that_of_the_execution_asked_for(viewer: Viewer) -> None:
    """The content read then, not the present one; failed writes never were content."""
    viewer.run("old source", 1, "file:/in", "file:/raw")
    job = viewer.job("job", "file:/out", "file:/in")
    earlier = viewer.ran(job, 2)
    viewer.run("new source", 3, "file:/in", "file:/raw")
    viewer.ran(viewer.job("failed source", "file:/in", "file:/raw"), 4, error="boom")
    later = viewer.ran(job, 5)
    assert viewer.overview("lineage", earlier, 2) == ({"job", "old source"}, 2)
    assert viewer.overview("lineage", later, 2) == ({"job", "new source"}, 2)


def test_impact_ends_at_the_next_overwrite(viewer: Viewer) -> None:
    """Not at the last one: readers in between read content that had been replaced already."""
    first = viewer.run("write 1", 1, "file:/t", "file:/raw")
    viewer.run("early reader", 2, "file:/x", "file:/t")
    viewer.run("append", 3, "file:/t", "file:/raw", append=True)
    viewer.run("reader after append", 4, "file:/y", "file:/t")
    viewer.run("write 2", 5, "file:/t", "file:/raw")
    viewer.run("late reader", 6, "file:/z", "file:/t")
    last = viewer.run("write 3", 7, "file:/t", "file:/raw")
    read = {"early reader", "reader after append"}
    assert viewer.overview("impact", first, 5) == ({"write 1", *read}, 2)
    assert viewer.overview("impact", last, 5) == ({"write 3"}, 1)


def test_failed_runs_are_no_impact_and_replace_nothing(viewer: Viewer) -> None:
    first = viewer.run("write", 1, "file:/t", "file:/raw")
    failed = viewer.ran(viewer.job("failed write", "file:/t", "file:/raw"), 2, error="boom")
    viewer.ran(viewer.job("failed reader", "file:/x", "file:/t"), 3, error="boom")
    viewer.run("reader", 4, "file:/y", "file:/t")
    assert viewer.overview("impact", first, 5)[0] == {"write", "reader"}
    assert viewer.overview("impact", failed, 5)[0] == {"failed write"}


def test_impact_goes_on_through_the_readers(viewer: Viewer) -> None:
    first = viewer.run("a", 1, "file:/a", "file:/raw")
    viewer.run("b", 2, "file:/b", "file:/a")
    viewer.run("c", 3, "file:/c", "file:/b")
    assert viewer.overview("impact", first, 2) == ({"a", "b"}, 2)
    assert viewer.overview("impact", first, 3) == ({"a", "b", "c"}, 3)


def test_a_ctas_that_is_told_twice_does_not_end_its_own_impact(viewer: Viewer) -> None:
    insert = viewer.job("ctas", "file:/t", "file:/raw")
    create = viewer.job("ctas", "file:/t", "file:/raw", command=CTAS)
    first, second = viewer.ran(insert, 1), viewer.ran(create, 9)
    viewer.run("reader", 20, "file:/x", "file:/t")
    for told in (first, second):
        assert viewer.overview("impact", told, 5)[0] == {"ctas", "reader"}


def test_a_write_that_two_agents_report_does_not_end_its_own_impact(viewer: Viewer) -> None:
    agent = viewer.job("load", "file:/t", "file:/raw")
    listener = viewer.job("load", "file:/t", "file:/raw", agentInfo=LISTENER)
    first, second = viewer.ran(agent, 1), viewer.ran(listener, 2)
    viewer.run("reader", 20, "file:/x", "file:/t")
    for told in (first, second):
        assert viewer.overview("impact", told, 5)[0] == {"load", "reader"}


def test_an_overwrite_just_after_a_ctas_ends_its_impact(viewer: Viewer) -> None:
    create = viewer.job("ctas", "file:/t", "file:/raw", command=CTAS)
    told = viewer.ran(create, 1)
    viewer.ran(viewer.job("ctas", "file:/t", "file:/raw"), 5)
    viewer.run("reader", 20, "file:/x", "file:/t")
    assert viewer.overview("impact", told, 5)[0] == {"ctas"}


def test_writes_of_readers_count_even_when_they_have_been_overwritten(viewer: Viewer) -> None:
    first = viewer.run("write", 1, "file:/t", "file:/raw")
    viewer.run("reader", 2, "file:/x", "file:/t")
    viewer.run("next", 3, "file:/y", "file:/x")
    for at, target in enumerate(("file:/t", "file:/x", "file:/y"), 4):
        viewer.run("other", at, target, "file:/raw")
    assert viewer.overview("impact", first, 9) == ({"write", "reader", "next"}, 3)


@dataclass(frozen=True)
class Run:
    """A run of a job of its own, as a history of the oracle has it."""

    at: int
    sources: tuple[str, ...]
    target: str
    append: bool
    failed: bool


def a_history(seed: int) -> list[Run]:
    chance = random.Random(seed)
    tables = [f"file:/t{number}" for number in range(4)]
    return [
        Run(
            at,
            tuple(chance.sample(tables, chance.randint(1, 2))),
            chance.choice(tables),
            chance.random() < 0.3,
            chance.random() < 0.15,
        )
        for at in range(1, chance.randint(5, 9))
    ]


def saw(history: list[Run], reader: Run) -> set[int]:
    """Spline's rule: the last good overwrite before, and the good appends since."""
    seen: set[int] = set()
    for table in reader.sources:
        writes = [w for w in history if w.target == table and not w.failed and w.at < reader.at]
        overwritten = max((w.at for w in writes if not w.append), default=0)
        seen |= {w.at for w in writes if w.at >= overwritten}
    return seen


@pytest.mark.parametrize("seed", range(6))
def test_overviews_follow_the_rule_event_by_event(viewer: Viewer, seed: int) -> None:
    history = a_history(seed)
    ids = {}
    for run in history:
        job = viewer.job(str(run.at), run.target, *run.sources, append=run.append)
        ids[run.at] = viewer.ran(job, run.at, **({"error": "boom"} if run.failed else {}))
    before = {run.at: saw(history, run) for run in history}
    good = {run.at for run in history if not run.failed}
    after = {at: {r for r in good if at in before[r]} for at in before}
    for start, (kind, steps) in itertools.product(before, (("lineage", before), ("impact", after))):
        for depth in (1, 2, 4):
            expected = frontier = {start}
            for _ in range(depth - 1):
                frontier = {other for at in frontier for other in steps[at]} - expected
                expected = expected | frontier
            drawn, _ = viewer.overview(kind, ids[start], depth)
            assert drawn == {str(at) for at in expected}, (kind, start, depth, history)


# --- refusals, and hostile names -----------------------------------------------------------------

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("lineage-overview", {"eventId": f"{UNKNOWN}:kf12oi"}),
        ("impact-overview", {"eventId": "no event"}),
        ("lineage-detailed", {"execId": UNKNOWN}),
        ("lineage-detailed", {"execId": "no plan"}),
        (f"execution-plans/{UNKNOWN}", {}),
        (f"execution-plans/{UNKNOWN}/write-op", {}),
        (f"execution-plans/{UNKNOWN}/data-sources", {}),
        (f"operations/{UNKNOWN}:op-0", {}),
        ("operations/op-0", {}),
        ("attribute-lineage-and-impact", {"attributeId": f"{UNKNOWN}:attr-0"}),
    ],
)
def test_an_unknown_id_is_a_404_with_an_error_id(
    viewer: Viewer, path: str, query: dict[str, str]
) -> None:
    viewer.refused(404, path, **query)


@pytest.mark.parametrize(
    ("path", "query", "named"),
    [
        ("lineage-overview", {}, "eventId"),
        ("lineage-overview", {"eventId": "x", "maxDepth": "-1"}, "maxDepth"),
        ("lineage-detailed", {}, "execId"),
        ("attribute-lineage-and-impact", {}, "attributeId"),
        ("lineage-overview", {"eventId": ""}, "eventId"),
        ("lineage-overview", {"eventId": "x", "maxDepth": "2.5"}, "maxDepth"),
        ("execution-events", {"pageNum": "0"}, "pageNum"),
        ("execution-events", {"pageNum": "-1"}, "pageNum"),
        ("execution-events", {"pageNum": "2147483648"}, "pageNum"),
        ("execution-events", {"pageSize": "1001"}, "pageSize"),
        ("execution-events", {"pageSize": "-1"}, "pageSize"),
        ("execution-events", {"pageSize": "ten"}, "pageSize"),
        ("execution-events", {"sortOrder": "up"}, "sortOrder"),
        ("execution-events", {"append": "maybe"}, "append"),
        ("execution-events", {"facet.timestamp": "maybe"}, "facet.timestamp"),
        ("execution-events", {"asAtTime": "9" * 19}, "asAtTime"),
        ("execution-events", {"asAtTime": "1e5"}, "asAtTime"),
        ("data-sources", {"timestampStart": "yesterday"}, "timestampStart"),
        ("labels/names", {"offset": "-1"}, "offset"),
    ],
)
def test_a_wrong_parameter_is_named(
    viewer: Viewer, path: str, query: dict[str, Any], named: str
) -> None:
    assert named in viewer.refused(400, path, **query)["message"]


@pytest.mark.parametrize(
    "query",
    [
        *({name: ""} for name in (
            "timestampStart", "timestampEnd", "asAtTime", "facet.timestamp", "pageNum", "pageSize",
            "sortField", "sortOrder", "searchTerm", "label", "append", "applicationId",
            "dataSourceUri",
        )),
        {"_": "1700000000"},
        {"searchterm": "nothing has this"},
        {"asAtTime": "-1"},
        {"timestampStart": "-1"},
        {"timestampStart": f" {START} "},
        {"pageNum": ["1", "7"]},
        {"pageNum": ["", "1"]},
        {"append": "FALSE"},
        {"append": "0"},
        {"append": ["true", "false"]},
        {"append": "true, no"},
        {"sortField": "noSuchField"},
        {"sortField": "extra"},
        {"sortField": ["timestamp", "append"]},
        {"sortOrder": "DESC"},
        {"label": "no colon"},
        {"label": ":none"},
        {"searchTerm": "  "},
    ],
    ids=str,
)  # fmt: skip
def test_a_query_is_read_as_spring_reads_it(viewer: Viewer, query: dict[str, Any]) -> None:
    """An empty parameter counts as absent, an unknown one means nothing."""
    viewer.run("one", 1, "file:/out", "file:/in")
    viewer.run("two", 2, "file:/out", "file:/in")
    assert viewer.names(**query) == ["two", "one"]
    assert viewer.events(**query)["totalCount"] == 2
    if query.keys() - {"append", "sortField", "sortOrder", "timestampStart"}:
        assert viewer.sources(**query) == ["file:/in", "file:/out"]


@pytest.mark.parametrize("word", ["true", "TRUE", "on", "Yes", "1"])
def test_switches_are_words_in_any_case(viewer: Viewer, word: str) -> None:
    viewer.run("one", 1, "file:/out", "file:/in", append=True)
    assert viewer.events(**{"facet.timestamp": word})["totalDateRange"] == [START + 1] * 2
    assert viewer.names(append=word) == ["one"]


def test_the_largest_numbers_are_pages_of_nothing(viewer: Viewer) -> None:
    event_id = viewer.run("one", 1, "file:/out", "file:/in")
    for path in ("execution-events", "data-sources", "execution-plans"):
        for query in (
            {"pageSize": 0},
            {"pageNum": 2**31 - 1},
            {"pageNum": 2**31 - 1, "pageSize": 100},
        ):
            reply = viewer.get(path, **query)
            assert reply["items"] == []
            assert reply["totalCount"] == (2 if path == "data-sources" else 1)
            assert query.items() <= reply.items()
    assert viewer.overview("lineage", event_id, 2**31 - 1) == ({"one"}, 1)
    assert viewer.overview("impact", event_id, 2**31 - 1) == ({"one"}, 1)
    assert viewer.get("labels/names", length=2**31 - 1, offset=2**31 - 1) == []
    assert viewer.get("labels/names", length=-5) == []


@pytest.mark.parametrize("access", ["READ", "Read", "write", "both", ""])
def test_access_is_a_word_in_any_case_and_any_other_means_both(viewer: Viewer, access: str) -> None:
    job = viewer.job("one", "file:/out", "file:/in")
    found = viewer.get(f"execution-plans/{job}/data-sources", access=access, unknown="x")
    one = {"read": ["file:/in"], "write": ["file:/out"]}
    assert found == one.get(access.lower(), ["file:/out", "file:/in"])


def test_every_route_ignores_unknown_parameters(captured: Viewer) -> None:
    (item, *_) = captured.events()["items"]
    plan_id, event_id = item["executionPlanId"], item["executionEventId"]
    (attribute, *_) = captured.get("lineage-detailed", execId=plan_id)["executionPlan"]["extra"][
        "attributes"
    ]
    for path, query in {
        "lineage-overview": {"eventId": event_id, "maxDepth": ""},
        "impact-overview": {"eventId": event_id},
        "lineage-detailed": {"execId": plan_id},
        "execution-plans": {"asAtTime": ""},
        f"execution-plans/{plan_id}": {},
        f"operations/{plan_id}:op-0": {},
        "attribute-lineage-and-impact": {"attributeId": attribute["id"], "execId": ""},
        "labels/names": {"length": "", "offset": "", "search": ""},
        "labels/names/team/values": {},
    }.items():
        captured.get(path, **query, _="1", timestampStart="x" if "overview" in path else "")


def test_while_rebuilding_a_missing_node_may_still_come(viewer: Viewer) -> None:
    viewer.headwater.projector._readiness.state = "rebuilding"
    viewer.refused(503, "lineage-detailed", execId=UNKNOWN)


def test_hostile_ids_lead_back_to_their_operations(viewer: Viewer) -> None:
    body = copy.deepcopy(a_plan())
    hostile = "a:b/../c?d#e%2F ☃"
    body["operations"]["write"]["childIds"] = [hostile]
    body["operations"]["other"][0]["id"] = hostile
    body["attributes"][2]["id"] = f"t{hostile}"
    body["operations"]["other"][0]["output"] = ["b", f"t{hostile}"]
    viewer.take(plan(body), event(an_event()))
    detailed = viewer.get("lineage-detailed", execId=body["id"])
    for node in detailed["graph"]["nodes"]:
        assert node["_id"].rpartition(":")[0] == body["id"], "how the UI finds the plan again"
        assert viewer.get(f"operations/{node['_id']}")["operation"]["_id"] == node["_id"]
    for attribute in detailed["executionPlan"]["extra"]["attributes"]:
        reply = viewer.get("attribute-lineage-and-impact", attributeId=attribute["id"])
        assert reply["impact"]["nodes"][0]["name"] == attribute["name"]


def test_hostile_labels_and_searches_are_taken_literally(viewer: Viewer) -> None:
    name = "a/b' OR 1=1 --☃"
    viewer.ran(viewer.job("x", "file:/out", "file:/in", labels={name: ["50%"]}), 1)
    assert viewer.get("labels/names") == [name]
    assert viewer.names(label=f"{name}:50%") == ["x"]
    assert viewer.get("labels/names", search="%") == []
    assert viewer.names(searchTerm="%") == []
    assert viewer.names(searchTerm="_") == []


def test_a_wide_plan_is_answered(viewer: Viewer) -> None:
    builder = PlanBuilder()
    wide = builder.read("file:/in", *(f"c{number}: int" for number in range(2_000)))
    doubled = {f"d{n}": builder.call("negative", wide[f"c{n}"], type="int") for n in range(2_000)}
    builder.write(builder.project(wide, **doubled))
    body = builder.document()
    viewer.take(plan(body), event(an_event(planId=body["id"])))
    detailed = viewer.get("lineage-detailed", execId=body["id"])
    assert len(detailed["executionPlan"]["extra"]["attributes"]) == 4_000
    reply = viewer.get("attribute-lineage-and-impact", attributeId=f"{body['id']}:attr-7")
    assert [node["name"] for node in reply["impact"]["nodes"]] == ["c7", "d7"]


def test_a_reader_is_needed_and_nothing_for_the_probes(viewer: Viewer) -> None:
    made = viewer.headwater
    keys = SqlKeys(open_database("sqlite://"))
    client = client_of(made, NOW, keys)

    def key(role: Role) -> dict[str, str]:
        random = role.value.encode().ljust(ID_BYTES + SECRET_BYTES, b".")
        new = make_key(KeyRequest(role.value, frozenset({role}), "", 0), random, NOW)
        keys.add(new.key)
        return {"X-API-Key": new.text}

    reader, producer = key(Role.READER), key(Role.PRODUCER)
    refused = client.get("/consumer/labels/names")
    assert refused.status_code == 401
    assert refused.get_json()["errorId"]
    assert refused.headers["WWW-Authenticate"]
    assert client.get("/consumer/labels/names", headers=reader).get_json() == []
    assert client.get("/consumer/labels/names", headers=producer).status_code == 403
    assert client.get("/about/version").status_code == 401
    assert client.get("/about/liveness").status_code == 200
