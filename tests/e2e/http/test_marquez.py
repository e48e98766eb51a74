"""Marquez's reads: names in paths, graphs in its shape, what is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from flask.testing import FlaskClient

from api.marquez import routes
from graph_model import identity
from graph_model.answers.openlineage import sent_facets
from graph_model.stores.journal import Journal
from tests.e2e.small_client import client_of, running
from tests.projections import SmallHeadwater, lineage_event, small_headwater

LAKE = "s3://lake"
ENCODED = "s3%3A%2F%2Flake"
Json = dict[str, Any]


def copied(source: str, target: str, number: int) -> Json:
    """A run that copies the column ``x`` of a table to another."""
    field = {"namespace": LAKE, "name": source, "field": "x"}
    schema = {"fields": [{"name": "x", "type": "string"}]}
    columns = {"fields": {"x": {"inputFields": [field]}}}
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-03-01T10:0{number}:00Z",
        "producer": "https://example.org/tool",
        "run": {
            "runId": f"11111111-2222-7333-8444-00000000000{number}",
            "facets": {"own": {"k": 1}},
        },
        "job": {"namespace": "etl", "name": f"to {target}"},
        "inputs": [{"namespace": LAKE, "name": source, "facets": {"schema": schema}}],
        "outputs": [
            {
                "namespace": LAKE,
                "name": target,
                "facets": {"schema": schema, "columnLineage": columns},
            }
        ],
    }


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    made: SmallHeadwater = small_headwater()
    events = [copied("a/raw", "b", 1), copied("b", "c", 2), copied("c", "d:1", 3)]
    made.accept(*map(lineage_event, events))
    made.project()
    yield client_of(made, 1_772_400_000_000)
    made.close()


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(f"/api/v1{path}", query_string=query)
    assert reply.status_code == 200, (path, reply.text)
    return reply.get_json()


def ids(reply: Json) -> list[str]:
    return [node["id"] for node in reply["graph"]]


def test_depth_counts_jobs_and_ends_are_those_of_the_graph(client: FlaskClient) -> None:
    near = get(client, "/lineage", nodeId="job:etl:to b", depth=0)
    assert ids(near) == [f"dataset:{LAKE}:a/raw", f"dataset:{LAKE}:b", "job:etl:to b"]
    job = near["graph"][2]
    assert job["inEdges"] == [{"origin": f"dataset:{LAKE}:a/raw", "destination": "job:etl:to b"}]
    assert job["outEdges"] == [{"origin": "job:etl:to b", "destination": f"dataset:{LAKE}:b"}]
    assert job["data"]["inputs"] == [{"namespace": LAKE, "name": "a/raw"}]
    assert job["data"]["latestRun"]["id"] == "11111111-2222-7333-8444-000000000001"
    assert job["data"]["latestRun"]["state"] == "COMPLETED"
    further = get(client, "/lineage", nodeId="job:etl:to b", depth=1)
    assert set(ids(further)) - set(ids(near)) == {"job:etl:to c", f"dataset:{LAKE}:c"}


def test_a_direction_is_honoured(client: FlaskClient) -> None:
    up = get(client, "/lineage", nodeId=f"dataset:{LAKE}:b", direction="upstream")
    assert ids(up) == [f"dataset:{LAKE}:a/raw", f"dataset:{LAKE}:b", "job:etl:to b"]


def test_a_name_with_a_colon_is_found_whole(client: FlaskClient) -> None:
    reply = get(client, "/lineage", nodeId=f"dataset:{LAKE}:d:1", depth=0)
    assert f"dataset:{LAKE}:d:1" in ids(reply)


def test_edges_into_a_column_run_backwards_as_the_page_expects(client: FlaskClient) -> None:
    node = f"datasetField:{LAKE}:b:x"
    reply = get(client, "/column-lineage", nodeId=node, depth=1)
    assert ids(reply) == [f"datasetField:{LAKE}:a/raw:x", node]
    source, column = reply["graph"]
    assert column["inEdges"] == [{"origin": node, "destination": source["id"]}]
    assert source["outEdges"] == [{"origin": source["id"], "destination": node}]
    assert [one["dataset"] for one in column["data"]["inputFields"]] == ["a/raw"]


@pytest.mark.parametrize("node", [f"datasetField:{LAKE}:a/raw:x", f"dataset:{LAKE}:a/raw"])
def test_a_source_column_has_its_uses(client: FlaskClient, node: str) -> None:
    reply = get(client, "/column-lineage", nodeId=node, depth=1, withDownstream="True")
    assert ids(reply) == [f"datasetField:{LAKE}:a/raw:x", f"datasetField:{LAKE}:b:x"]


def test_a_job_has_the_columns_that_it_writes(client: FlaskClient) -> None:
    reply = get(client, "/column-lineage", nodeId="job:etl:to b", depth=1)
    assert ids(reply) == [f"datasetField:{LAKE}:a/raw:x", f"datasetField:{LAKE}:b:x"]


def test_names_in_paths_keep_their_slashes(client: FlaskClient) -> None:
    reply = get(client, f"/namespaces/{ENCODED}/datasets/a%2Fraw")
    assert reply["id"] == {"namespace": LAKE, "name": "a/raw"}
    assert reply["deleted"] is False
    assert reply["columnLineage"] is None
    assert reply["fields"] == [{"name": "x", "type": "string", "tags": [], "description": None}]
    computed = get(client, f"/namespaces/{ENCODED}/datasets/b")["columnLineage"]
    assert [(one["name"], one["inputFields"][0]["dataset"]) for one in computed] == [("x", "a/raw")]


def test_a_page_of_a_list_has_the_total_of_all(client: FlaskClient) -> None:
    listed = get(client, f"/namespaces/{ENCODED}/datasets", limit=2, offset=1)
    assert [one["name"] for one in listed["datasets"]] == ["b", "c"]
    assert listed["totalCount"] == 4
    jobs = get(client, "/jobs", limit=1, offset=1)
    assert [one["name"] for one in jobs["jobs"]] == ["to c"]
    assert jobs["totalCount"] == 3
    assert get(client, "/namespaces/etl/jobs", lastRunStates="FAILED")["totalCount"] == 0
    names = [one["name"] for one in get(client, "/namespaces")["namespaces"]]
    assert names == ["default", "etl", LAKE]
    assert get(client, "/namespaces/default/datasets")["totalCount"] == 0
    assert [one["name"] for one in get(client, "/sources")["sources"]] == [LAKE]
    assert get(client, "/tags") == {"tags": []}


def test_one_version_id_stands_everywhere(client: FlaskClient) -> None:
    versions = get(client, f"/namespaces/{ENCODED}/datasets/b/versions")
    assert versions["totalCount"] == 1
    (version,) = versions["versions"]
    current = get(client, f"/namespaces/{ENCODED}/datasets/b")["currentVersion"]
    assert version["version"] == current
    past = get(client, "/lineage", nodeId=f"dataset:{LAKE}:b#{current}")
    assert "job:etl:to c" not in ids(past)
    columns = get(client, "/column-lineage", nodeId=f"dataset:{LAKE}:b#{current}", depth=1)
    of_source, of_version = ids(columns)
    assert of_version == f"datasetField:{LAKE}:b:x#{current}"
    again = get(client, "/column-lineage", nodeId=of_source, depth=1, withDownstream=True)
    assert {node.partition("#")[0] for node in ids(again)} == {
        f"datasetField:{LAKE}:a/raw:x", f"datasetField:{LAKE}:b:x",
    }  # fmt: skip


def test_a_run_has_the_clients_id_and_its_facets(client: FlaskClient) -> None:
    (run,) = get(client, "/namespaces/etl/jobs/to%20b/runs")["runs"]
    assert run["id"] == "11111111-2222-7333-8444-000000000001"
    assert get(client, f"/jobs/runs/{run['id']}")["state"] == "COMPLETED"
    facets = get(client, f"/jobs/runs/{run['id']}/facets", type="run")
    assert facets["runId"] == run["id"]
    assert facets["facets"]["own"] == {"k": 1}
    assert get(client, "/namespaces/etl/jobs/to%20b")["latestRuns"] == [run]


def test_one_version_is_read_by_its_id(client: FlaskClient) -> None:
    path = f"/namespaces/{ENCODED}/datasets/b/versions"
    (listed,) = get(client, path)["versions"]
    version = get(client, f"{path}/{listed['version']}")
    assert set(version["facets"]) == {"columnLineage", "schema"}
    assert version == listed


@pytest.fixture
def empty() -> Iterator[SmallHeadwater]:
    with closing(small_headwater()) as made:
        yield made


def test_facets_of_runs_jobs_and_datasets_are_as_they_were_sent(empty: SmallHeadwater) -> None:
    def facet(**fields: Any) -> Json:
        return {
            "_producer": "https://example.org/tool",
            "_schemaURL": "https://example.org/f",
            **fields,
        }

    times = {"nominalStartTime": "2026-03-01T10:00:00Z", "nominalEndTime": "2026-03-01T11:00:30Z"}
    parent = {"run": {"runId": "r"}, "job": {"namespace": "dag", "name": "daily"}}
    event = copied("a", "b", 1)
    event["run"]["facets"] = {"nominalTime": facet(**times), "parent": facet(**parent)}
    event["job"]["facets"] = {"documentation": facet(description="copies")}
    (read,), (written,) = event["inputs"], event["outputs"]
    read["inputFacets"] = {"dataQualityMetrics": facet(rowCount=3)}
    written["outputFacets"] = {"outputStatistics": facet(rowCount=3)}
    written["facets"]["version"] = facet(datasetVersion="7")
    written["facets"]["schema"] = facet(**written["facets"]["schema"])
    told(empty, event)
    client = client_of(empty, 1_772_400_000_000)
    run = get(client, "/jobs/runs/11111111-2222-7333-8444-000000000001")
    job, *_ = (j for j in get(client, "/jobs")["jobs"] if j["name"] == "to b")
    assert run["facets"] == event["run"]["facets"]
    assert run["args"] == {
        "nominal_start_time": "2026-03-01T10:00Z[UTC]",
        "nominal_end_time": "2026-03-01T11:00:30Z[UTC]",
        "run_id": "r", "name": "daily", "namespace": "dag",
    }  # fmt: skip
    assert {run[key] for key in times} == {None}
    assert (job["latestRun"], job["latestRuns"]) == (run, [run])
    assert get(client, "/namespaces/etl/jobs/to%20b/runs")["runs"] == [run]
    assert job["facets"] == event["job"]["facets"]
    (of_read,), (of_write,) = run["inputDatasetVersions"], run["outputDatasetVersions"]
    assert of_read["facets"] == read["inputFacets"]
    assert of_write["facets"] == written["outputFacets"]
    path = f"/namespaces/{ENCODED}/datasets/b"
    (version,) = get(client, f"{path}/versions")["versions"]
    assert version["facets"] == written["facets"]
    facets = get(client, path)["facets"]
    assert facets == written["facets"] | written["outputFacets"]
    assert get(client, f"/namespaces/{ENCODED}/datasets")["datasets"][-1]["facets"] == facets


def test_a_version_of_a_job_is_a_plan(client: FlaskClient) -> None:
    path = "/namespaces/etl/jobs/to%20b/versions"
    (version,) = get(client, path)["versions"]
    assert version["inputs"] == [{"namespace": LAKE, "name": "a/raw"}]
    assert version["outputs"] == [{"namespace": LAKE, "name": "b"}]
    assert version["latestRun"]["id"] == "11111111-2222-7333-8444-000000000001"
    assert get(client, f"{path}/{version['version']}") == version


def test_events_are_listed_by_their_time(client: FlaskClient) -> None:
    def jobs(path: str = "/events/lineage", **query: Any) -> list[str]:
        return [one["job"]["name"] for one in get(client, path, **query)["events"]]

    assert jobs() == ["to d:1", "to c", "to b"]
    assert jobs(sortDirection="asc", limit=2, offset=1) == ["to c", "to d:1"]
    window = {"after": "2026-03-01T10:02:00.000Z", "before": "2026-03-01T10:03:00.000Z"}
    assert jobs(**window) == ["to c"]
    assert get(client, "/events/lineage", limit=0)["totalCount"] == 3
    assert jobs("/events/etl") == jobs("/events") == jobs()
    assert jobs("/events/other") == []


@pytest.mark.parametrize("namespace", ["s3://bucket", "postgres://host:5432", "a/b"])
def test_a_namespace_of_events_may_come_with_its_slashes(namespace: str) -> None:
    made = small_headwater()
    event = copied("a", "b", 1)
    event["job"]["namespace"] = namespace
    made.accept(*map(lineage_event, [event, copied("b", "c", 2)]))
    client = client_of(made, 1_772_400_000_000)
    for path in (namespace, quote(namespace, safe="")):
        (listed,) = get(client, f"/events/{path}")["events"]
        assert listed["job"] == {"namespace": namespace, "name": "to b"}
    made.close()


def test_a_node_was_created_when_a_run_named_it_first(client: FlaskClient) -> None:
    path = f"/namespaces/{ENCODED}/datasets"
    times = {
        one["name"]: (one["createdAt"][11:16], one["updatedAt"][11:16], one["lastModifiedAt"])
        for one in get(client, path)["datasets"]
    }
    assert times["b"] == ("10:01", "10:02", "2026-03-01T10:01:00Z")
    assert times["a/raw"] == ("10:01", "10:01", None)
    (job, *_) = get(client, "/jobs")["jobs"]
    assert (job["createdAt"], len(job["latestRuns"])) == ("2026-03-01T10:03:00Z", 1)
    (version,) = get(client, "/namespaces/etl/jobs/to%20b/versions")["versions"]
    assert version["createdAt"] == "2026-03-01T10:01:00Z"


class CountedGraph:
    """Notes what is asked of a graph."""

    def __init__(self, graph: Any) -> None:
        self._graph, self.asked = graph, list[str]()

    def __getattr__(self, name: str) -> Any:
        if name in ("edges", "neighbours"):
            self.asked.append(name)
        return getattr(self._graph, name)


def test_a_graph_reads_the_events_of_a_run_once(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    really = Journal.newest_of_subjects

    def noting(journal: Journal, subjects: Collection[str], *more: Any) -> Any:
        read.extend(subjects)
        return really(journal, subjects, *more)

    monkeypatch.setattr(Journal, "newest_of_subjects", noting)
    graph = get(client, "/lineage", nodeId="job:etl:to b")["graph"]
    assert graph[-1]["data"]["latestRun"]["facets"] != {}
    assert len(read) == len(set(read)) == 3


def test_a_list_of_jobs_asks_the_graph_for_their_plans_once() -> None:
    with closing(small_headwater()) as made:
        made.accept(*map(lineage_event, [copied("a", f"t{n}", n) for n in range(6)]))
        made.project()
        counted = CountedGraph(made.graph)
        made.graph = counted  # type: ignore[assignment]
        listed = get(client_of(made, 1_772_400_000_000), "/jobs")["jobs"]
        assert [job["createdAt"][14:16] for job in listed] == ["05", "04", "03", "02", "01", "00"]
        # job -has-> plan, dataset -feeds-> plan; what the plans of its runs read
        assert counted.asked == ["edges", "edges", "edges"]


def test_a_list_of_datasets_asks_the_graph_for_their_columns_in_one_walk() -> None:
    asked = []
    for number in (2, 6):
        with closing(small_headwater()) as made:
            told(made, *(copied("a", f"t{n}", n) for n in range(number)))
            counted = CountedGraph(made.graph)
            made.graph = counted  # type: ignore[assignment]
            path = f"/namespaces/{ENCODED}/datasets"
            listed = get(client_of(made, 1_772_400_000_000), path)["datasets"]
            origins = [one["columnLineage"] for one in listed]
            assert origins[0] is None
            assert [len(columns) for columns in origins[1:]] == [1] * number
            asked.append(len(counted.asked))
    assert asked[0] == asked[1]


def test_events_are_read_until_the_page_is_full(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.answers.openlineage.EVENTS_BEHIND", 1)
    page = get(client, "/events/lineage", limit=1)
    assert [event["job"]["name"] for event in page["events"]] == ["to d:1"]
    assert (page["totalCount"], page["partial"]) == (2, {"reason": "events", "limit": 2})
    page = get(client, "/events/lineage", limit=1, sortDirection="asc")
    assert [event["job"]["name"] for event in page["events"]] == ["to b"]
    assert get(client, "/events/lineage", limit=2)["partial"] is None


def test_a_run_names_the_versions_that_it_read_and_wrote(client: FlaskClient) -> None:
    def version(dataset: str) -> Json:
        current = get(client, f"/namespaces/{ENCODED}/datasets/{dataset}")["currentVersion"]
        name = {"namespace": LAKE, "name": dataset, "version": current}
        return {"datasetVersionId": name, "facets": {}}

    job = get(client, "/namespaces/etl/jobs/to%20c")
    run = get(client, "/jobs/runs/11111111-2222-7333-8444-000000000002")
    assert run["inputDatasetVersions"] == [version("b")]
    assert run["outputDatasetVersions"] == [version("c")]
    assert run["jobVersion"]["version"] == job["currentVersion"]
    of_job = get(client, "/column-lineage", nodeId=f"job:etl:to c#{job['currentVersion']}", depth=1)
    assert [node.partition("#")[0] for node in ids(of_job)] == [
        f"datasetField:{LAKE}:b:x",
        f"datasetField:{LAKE}:c:x",
    ]


def test_counts_over_time_have_an_interval_each_hour_or_day(client: FlaskClient) -> None:
    def ends(path: str, **query: Any) -> tuple[int, list[tuple[str, int]]]:
        listed = get(client, f"/stats/{path}", **query)
        field = "complete" if path == "lineage-events" else "count"
        return len(listed), [(one["endInterval"], one[field]) for one in listed if one[field]]

    # 1 March, 21:20 UTC: the runs ended after 10:00
    assert ends("lineage-events", period="DAY") == (24, [("2026-03-01T11:00:00Z", 3)])
    week = ends("lineage-events", period="week", timezone="America/New_York")
    assert week == (7, [("2026-03-02T05:00:00Z", 3)])
    assert ends("jobs", period="WEEK") == (7, [("2026-03-02T00:00:00Z", 3)])
    hours, known = ends("datasets", period="DAY")
    assert (hours, [count for _, count in known]) == (24, [4] * 12)
    assert [count for _, count in ends("sources", period="DAY")[1]] == [1] * 12


def test_runs_before_the_newest_executions_are_not_counted_as_none(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.answers.counts._PAGE", 1)
    monkeypatch.setattr("graph_model.answers.counts.MOST_EXECUTIONS", 1)
    listed = get(client, "/stats/lineage-events", period="DAY")
    assert listed[0]["startInterval"] == "2026-03-01T11:00:00Z"


def test_a_search_gives_node_ids(client: FlaskClient) -> None:
    found = get(client, "/search", q="raw")
    assert [one["nodeId"] for one in found["results"]] == [f"dataset:{LAKE}:a/raw"]
    assert found["results"][0]["updatedAt"] == "2026-03-01T10:01:00Z"  # it was only read
    assert get(client, "/search", q="raw", filter="job")["results"] == []


def test_a_version_has_the_fields_and_the_run_of_its_write(client: FlaskClient) -> None:
    (version,) = get(client, f"/namespaces/{ENCODED}/datasets/b/versions")["versions"]
    assert [one["name"] for one in version["fields"]] == ["x"]
    assert version["createdByRun"]["id"] == "11111111-2222-7333-8444-000000000001"


def test_a_dataset_that_nobody_wrote_has_one_version_with_its_own_id(client: FlaskClient) -> None:
    path = f"/namespaces/{ENCODED}/datasets/a%2Fraw"
    current = get(client, path)["currentVersion"]
    listed = get(client, f"{path}/versions")
    assert [(one["version"], one["createdByRun"]) for one in listed["versions"]] == [
        (current, None)
    ]
    assert listed["totalCount"] == 1
    assert get(client, f"{path}/versions", offset=1)["versions"] == []
    version = get(client, f"{path}/versions/{current}")
    assert (version["createdAt"], len(version["fields"])) == ("2026-03-01T10:01:00Z", 1)
    graph = get(client, "/column-lineage", nodeId=f"dataset:{LAKE}:b", depth=1)["graph"]
    assert next(node["data"]["datasetVersion"] for node in graph) == current
    assert get(client, "/lineage", nodeId=f"dataset:{LAKE}:a/raw#{current}", depth=0)["graph"]


def test_a_node_of_a_graph_has_the_fields_that_marquez_gives(client: FlaskClient) -> None:
    graph = get(client, "/lineage", nodeId="job:etl:to b", depth=0)["graph"]
    dataset, job = (
        next(n["data"] for n in graph if n["type"] == kind) for kind in ("DATASET", "JOB")
    )
    assert sorted(dataset.keys() - {"partial"}) == [
        "createdAt", "description", "fields", "id", "lastLifecycleState", "lastModifiedAt", "name",
        "namespace", "physicalName", "sourceName", "tags", "type", "updatedAt",
    ]  # fmt: skip
    assert sorted(job.keys() - {"partial"}) == [
        "createdAt", "currentRunUuid", "description", "id", "inputs", "latestRun", "location",
        "name", "namespace", "outputs", "parentJobName", "parentJobUuid", "simpleName", "type",
        "updatedAt",
    ]  # fmt: skip


def test_a_search_is_sorted_and_bounded_by_days(client: FlaskClient) -> None:
    def names(**query: Any) -> list[str]:
        return [one["name"] for one in get(client, "/search", q="to", **query)["results"]]

    assert names(sort="update_at") == ["to d:1", "to c", "to b"]
    assert names(sort="NAME") == names() == ["to b", "to c", "to d:1"]
    assert names(after="2026-03-01", before="2026-03-02", sort="NAME") == names(sort="NAME")
    assert names(after="2026-03-02") == names(before="2026-03-01") == []


@pytest.mark.parametrize(
    ("path", "field"),
    [("/search?q=a&filter=column", "filter"), ("/search?q=a&sort=size", "sort"),
     ("/search?q=a&after=yesterday", "after"), ("/jobs?lastRunStates=LATE", "lastRunStates"),
     ("/jobs/runs/1/facets?type=task", "type"), ("/jobs?limit=-1", "limit"),
     ("/stats/jobs?period=WEEK&timezone=Mars/Base", "timezone")],
)  # fmt: skip
def test_a_word_that_is_unknown_is_refused_by_its_name(
    client: FlaskClient, path: str, field: str
) -> None:
    reply = client.get(f"/api/v1{path}")
    assert reply.status_code == 400
    body = reply.get_json()
    refused = body["message"] if "message" in body else body["errors"][0]
    assert refused.startswith(f"query param {field} must be ")


@pytest.mark.parametrize(
    "path",
    ["/lineage?nodeId=dataset:x:y", "/lineage?nodeId=run:1", "/namespaces/none",
     f"/lineage?nodeId=datasetField:{LAKE}:b:x", f"/namespaces/{ENCODED}/datasets/none",
     "/namespaces/etl/jobs/none", "/jobs/runs/none", "/namespaces/etl/jobs/to%20b/versions/1",
     f"/namespaces/{ENCODED}/datasets/b/versions/1", f"/lineage?nodeId=dataset:{LAKE}:b%23none"],
)  # fmt: skip
def test_what_is_unknown_is_a_404_in_its_words(client: FlaskClient, path: str) -> None:
    reply = client.get(f"/api/v1{path}")
    assert reply.status_code == 404
    assert set(reply.get_json()) == {"code", "message"}
    assert reply.get_json()["message"].endswith(" not found.")


@pytest.mark.parametrize(
    ("node", "said"),
    [("job:etl:nope", "Job 'nope' not found."), (f"dataset:{LAKE}:x/y", "Dataset 'x/y' not found."),
     ("datasetField:a:b:c", "Node 'datasetField:a:b:c' not found.")],
)  # fmt: skip
def test_an_unknown_node_is_named_as_marquez_names_it(
    client: FlaskClient, node: str, said: str
) -> None:
    reply = client.get("/api/v1/column-lineage", query_string={"nodeId": node})
    assert (reply.status_code, reply.get_json()["message"]) == (404, said)


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/namespaces/x"), ("DELETE", "/namespaces/etl"), ("POST", "/jobs/runs/1/start"),
     ("POST", "/namespaces/etl/jobs/y/tags/PII"), ("PUT", "/namespaces/x/jobs/y")],
)  # fmt: skip
def test_a_write_of_another_road_is_a_405_with_the_reason(
    client: FlaskClient, method: str, path: str
) -> None:
    reply = client.open(f"/api/v1{path}", method=method)
    assert reply.status_code == 405
    assert "/api/v1/lineage" in reply.get_json()["message"]


@pytest.fixture
def small() -> Iterator[tuple[SmallHeadwater, FlaskClient]]:
    made = small_headwater()
    yield made, client_of(made, 1_772_400_000_000)
    made.close()


def told(made: SmallHeadwater, *events: Json) -> None:
    made.accept(*map(lineage_event, events))
    made.project()


@pytest.fixture
def live() -> Iterator[FlaskClient]:
    made = small_headwater()
    told(made, copied("a/raw", "b", 1), copied("b", "c", 2))
    with running(made):
        yield client_of(made, None)


def test_a_tag_is_a_classification(live: FlaskClient) -> None:
    client = live
    path = f"/api/v1/namespaces/{ENCODED}/datasets/b"
    assert client.put("/api/v1/tags/PII", json={"description": None}).status_code == 200
    for body in ({"name": "PII"}, {"description": None, "createdAt": "x"}):
        assert client.put("/api/v1/tags/PII", json=body).status_code == 200
    described = client.put("/api/v1/tags/PII", json={"description": "a person"})
    assert described.status_code == 400
    assert "description: expected nothing" in described.get_json()["message"]
    deep = "[" * 100_000
    reply = client.put("/api/v1/tags/PII", data=deep, content_type="application/json")
    assert (reply.status_code, "nested less deeply" in reply.text) == (400, True)
    assert client.post(f"{path}/tags/PII").get_json()["tags"] == ["PII"]
    (field,) = client.post(f"{path}/fields/x/tags/SECRET").get_json()["fields"]
    assert field["tags"] == ["SECRET"]
    listed = [use["tag"] for use in client.get("/classifications").get_json()["items"]]
    assert listed == ["PII", "SECRET"] == [one["name"] for one in get(client, "/tags")["tags"]]
    assert client.delete(f"{path}/tags/PII").get_json()["tags"] == []
    assert client.delete(f"{path}/tags/PII").get_json()["tags"] == []
    assert client.post(f"{path}/fields/none/tags/PII").status_code == 404
    assert client.delete(f"{path}/fields/x/tags/SECRET").status_code == 200
    assert get(client, "/tags")["tags"] == []


def test_a_deleted_dataset_or_job_is_hidden(live: FlaskClient) -> None:
    client = live
    path = f"/api/v1/namespaces/{ENCODED}/datasets/a%2Fraw"
    assert client.delete(path).get_json()["deleted"] is True
    assert client.get(path).status_code == client.delete(path).status_code == 404
    assert client.delete("/api/v1/namespaces/etl/jobs/to%20c").get_json()["name"] == "to c"
    assert [one["name"] for one in get(client, "/jobs")["jobs"]] == ["to b"]
    assert client.post("/api/v1/lineage", json=copied("b", "c", 3)).status_code == 201
    assert [one["name"] for one in get(client, "/jobs")["jobs"]] == ["to b"]
    commands = client.get("/commands?kind=hide").get_json()["items"]
    assert len(commands) == 2


def test_an_aborted_and_an_open_run_are_listed_once_in_their_state(
    small: tuple[SmallHeadwater, FlaskClient],
) -> None:
    made, client = small
    aborted = {**copied("a/raw", "b", 1), "eventType": "ABORT"}
    running = {**copied("b", "c", 2), "eventType": "RUNNING"}
    told(made, aborted, running, copied("c", "d", 3))

    def states(path: str) -> list[str]:
        return [one["state"] for one in get(client, path)["runs"]]

    assert states("/namespaces/etl/jobs/to%20b/runs") == ["ABORTED"]
    assert states("/namespaces/etl/jobs/to%20c/runs") == ["RUNNING"]

    def names(*asked: str) -> list[str]:
        return [one["name"] for one in get(client, "/jobs", lastRunStates=list(asked))["jobs"]]

    assert names("ABORTED") == names("aborted", "NEW") == ["to b"]
    assert names("FAILED") == names("NEW") == []
    assert names("COMPLETED", "ABORTED") == ["to d", "to b"]
    assert names("RUNNING") == ["to c"]


def test_facets_that_were_read_are_not_those_of_a_question_that_hides_more(
    small: tuple[SmallHeadwater, FlaskClient],
) -> None:
    made, _ = small
    told(made, copied("a/raw", "b", 1))
    sources = made.sources
    job = identity.job_id("etl", "to b")
    subject = sources.catalogue.last_executions((job,), None)[job].subject
    assert sent_facets(sources, (subject,))[subject].run == {"own": {"k": 1}}
    governance = replace(sources.governance, hidden=frozenset((job,)))
    assert sent_facets(replace(sources, governance=governance), (subject,)) == {}
    assert sent_facets(replace(sources, hidden=frozenset((job,))), (subject,)) == {}


def test_a_silent_run_is_listed_as_aborted(small: tuple[SmallHeadwater, FlaskClient]) -> None:
    made, _ = small
    told(made, {**copied("b", "c", 2), "eventType": "RUNNING"})
    client = client_of(made, 1_773_264_000_000)  # ten days later
    (job,) = get(client, "/jobs")["jobs"]
    assert job["latestRun"]["state"] == "ABORTED"
    for state, number in (("RUNNING", 0), ("FAILED", 0), ("ABORTED", 1)):
        assert get(client, "/jobs", lastRunStates=state)["totalCount"] == number


@pytest.mark.parametrize(
    ("name", "text", "marked"),
    [("straße_orders", "ORDERS", "straße_<em>orders</em>"),
     ("a<b>&c", "B", "a&lt;<em>b</em>&gt;&amp;c"), ("a<b", "<", "a<em>&lt;</em>b"),
     ("a.c<", "abc", "a.c&lt;"), ("abc", "a.c", "abc")],
)  # fmt: skip
def test_what_matches_in_a_name_is_marked_in_html(name: str, text: str, marked: str) -> None:
    assert routes._marked(name, text) == marked


def test_a_job_has_the_kind_and_the_parent_that_its_events_tell(
    small: tuple[SmallHeadwater, FlaskClient],
) -> None:
    made, client = small
    event = copied("a/raw", "b", 1)
    kind = {"processingType": "STREAMING", "integration": "FLINK", "jobType": "JOB"}
    parent = {"run": {"runId": "up"}, "job": {"namespace": "etl", "name": "daily"}}
    event["job"] = {"namespace": "etl", "name": "daily.load", "facets": {"jobType": kind}}
    event["run"]["facets"] = {"parent": parent}
    told(made, event)
    job = get(client, "/namespaces/etl/jobs/daily.load")
    assert (job["type"], job["labels"]) == ("STREAM", ["JOB", "FLINK"])
    assert (job["parentJobName"], job["simpleName"]) == ("daily", "load")
    assert job["latestRun"]["jobVersion"]["version"] == job["currentVersion"]
    assert str(UUID(job["currentVersion"])) == job["currentVersion"]


@pytest.mark.parametrize("ended", ["FAIL", "ABORT", "RUNNING"])
def test_the_version_of_a_job_that_never_completed_is_a_node(
    small: tuple[SmallHeadwater, FlaskClient], ended: str
) -> None:
    made, client = small
    told(made, copied("a/raw", "b", 1), {**copied("b", "c", 2), "eventType": ended})
    current = get(client, "/namespaces/etl/jobs/to%20c")["currentVersion"]
    reply = get(client, "/column-lineage", nodeId=f"job:etl:to c#{current}")
    assert reply["partial"] is None


def test_a_job_that_was_only_declared_has_no_run(
    small: tuple[SmallHeadwater, FlaskClient],
) -> None:
    made, client = small
    event = copied("a/raw", "b", 1)
    del event["run"], event["eventType"]
    told(made, event)
    job, *_ = (j for j in get(client, "/jobs")["jobs"] if j["name"] == "to b")
    assert (job["latestRun"], job["latestRuns"]) == (None, None)
    assert [one["name"] for one in job["outputs"]] == ["b"]


@pytest.mark.parametrize("server", ["db.example.org", "db.example.org:5432"])
def test_a_namespace_with_the_usual_port_is_found_with_and_without_it(
    small: tuple[SmallHeadwater, FlaskClient], server: str
) -> None:
    made, client = small
    event = copied("a/raw", "b", 1)
    event["inputs"][0] |= {"namespace": f"postgres://{server}", "name": "shop.public.orders"}
    told(made, event)
    shown = "postgres://db.example.org:5432"
    assert shown in [one["name"] for one in get(client, "/namespaces")["namespaces"]]
    for asked in (shown, "postgres://db.example.org"):
        listed = get(client, f"/namespaces/{quote(asked, safe='')}/datasets")["datasets"]
        assert [one["id"] for one in listed] == [{"namespace": shown, "name": "shop.public.orders"}]


def test_a_list_of_datasets_has_their_facets_and_the_origins_of_their_columns(
    client: FlaskClient,
) -> None:
    listed = {
        one["name"]: one for one in get(client, f"/namespaces/{ENCODED}/datasets")["datasets"]
    }
    assert listed["a/raw"]["columnLineage"] is None
    (column,) = listed["b"]["columnLineage"]
    assert (column["name"], column["inputFields"][0]["dataset"]) == ("x", "a/raw")
    told = listed["b"]["facets"]["schema"]["fields"]
    assert [(one["name"], one["type"]) for one in told] == [("x", "string")]


def test_events_are_taken_where_lineage_is_read(client: FlaskClient) -> None:
    assert client.post("/api/v1/lineage", json=copied("a/raw", "b", 1)).status_code == 201
    assert client.post("/api/v1/lineage/batch", json=[]).status_code == 200


@pytest.mark.parametrize("path", ["/namespaces", "/sources", f"/namespaces/{ENCODED}/datasets"])
def test_a_list_says_that_it_read_no_more_datasets(
    client: FlaskClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get(client, path)["partial"] is None
    monkeypatch.setattr("graph_model.answers.sources.MOST_READ", 2)
    assert get(client, path)["partial"] == {"reason": "nodes", "limit": 2}


def test_lists_within_nodes_say_that_they_are_cut(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_model.answers.openlineage_nodes.MOST_FIELDS", 1)
    monkeypatch.setattr("graph_model.answers.openlineage_nodes.MOST_ENDS", 0)
    graph = get(client, "/lineage", nodeId="job:etl:to b", depth=0)["graph"]
    *tables, job = (node["data"] for node in graph)
    shown = {len(table["fields"]): table["partial"] for table in tables}
    assert shown == {1: None, 0: {"reason": "columns", "limit": 1}}
    assert (job["inputs"], job["partial"]) == ([], {"reason": "nodes", "limit": 0})


def test_of_a_job_with_many_tables_the_columns_of_some_are_drawn(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.marquez.graphs.MOST_OUTPUTS", 0)
    reply = get(client, "/column-lineage", nodeId="job:etl:to b", depth=1)
    assert reply == {"graph": [], "partial": {"reason": "nodes", "limit": 0}}


def test_a_search_in_a_namespace_looks_behind_the_first_results(client: FlaskClient) -> None:
    found = get(client, "/search", q="b", namespace=LAKE, limit=1)
    assert [one["nodeId"] for one in found["results"]] == [f"dataset:{LAKE}:b"]


def test_the_advanced_search_of_its_page_has_whole_documents(client: FlaskClient) -> None:
    jobs = client.get("/api/v2beta/search/jobs?q=TO").get_json()
    assert [hit["name"] for hit in jobs["hits"]] == ["to b", "to c", "to d:1"]
    assert jobs["highlights"][0] == {"name": ["<em>to</em> b"]}
    first = jobs["hits"][0]
    assert (first["namespace"], first["eventType"], first["type"]) == ("etl", "COMPLETE", "BATCH")
    assert first["runFacets"] == {"own": {"k": 1}}
    tables = client.get("/api/v2beta/search/datasets?q=raw").get_json()
    assert tables["highlights"] == [{"name": ["a/<em>raw</em>"]}]
    (hit,) = tables["hits"]
    assert [field["name"] for field in hit["facets"]["schema"]["fields"]] == ["x"]
    assert client.get("/api/v2beta/search/datasets").get_json()["errors"] == [
        "query param q must not be null"
    ]


_DATASET = f"/namespaces/{ENCODED}/datasets/b"
_TO_B = "/namespaces/etl/jobs/to%20b"
_RUN = "/jobs/runs/11111111-2222-7333-8444-000000000001"
_SHOWN = "limit=100&offset=0"
#: What each method of Marquez's Python client (0.50) sends, and fields of the reply.
_SENT = [
    ("create_namespace", "PUT", "/namespaces/n", "code message"),
    ("get_namespace", "GET", "/namespaces/etl", "name createdAt updatedAt ownerName isHidden"),
    ("list_namespaces", "GET", f"/namespaces?{_SHOWN}", "namespaces"),
    ("list_events", "GET", f"/events?{_SHOWN}", "events totalCount"),
    ("list_events", "GET", f"/events/etl?{_SHOWN}", "events totalCount"),
    ("create_source", "PUT", "/sources/s", "code message"),
    ("get_source", "GET", f"/sources/{ENCODED}", "type name connectionUrl description"),
    ("list_sources", "GET", f"/sources?{_SHOWN}", "sources"),
    ("create_dataset", "PUT", _DATASET, "code message"),
    ("get_dataset", "GET", _DATASET, "id type fields tags currentVersion columnLineage deleted"),
    ("list_dataset_versions", "GET", f"{_DATASET}/versions?{_SHOWN}", "versions totalCount"),
    ("list_datasets", "GET", f"/namespaces/{ENCODED}/datasets?{_SHOWN}", "datasets totalCount"),
    ("tag_dataset", "POST", f"{_DATASET}/tags/PII", "id type fields tags"),
    ("tag_dataset_field", "POST", f"{_DATASET}/fields/x/tags/PII", "id type fields tags"),
    ("create_job", "PUT", _TO_B, "code message"),
    ("get_job", "GET", _TO_B, "id type inputs outputs latestRun latestRuns currentVersion labels"),
    ("list_jobs", "GET", f"/namespaces/etl/jobs?{_SHOWN}", "jobs totalCount"),
    ("create_job_run", "POST", f"{_TO_B}/runs", "code message"),
    ("list_job_runs", "GET", f"{_TO_B}/runs?{_SHOWN}", "runs totalCount"),
    ("get_job_run", "GET", _RUN, "id state args jobVersion durationMs outputDatasetVersions"),
    ("mark_job_run_as_started", "POST", f"{_RUN}/start?at=2026-03-01", "code message"),
    ("mark_job_run_as_completed", "POST", f"{_RUN}/complete?at=2026-03-01", "code message"),
    ("mark_job_run_as_failed", "POST", f"{_RUN}/fail?at=2026-03-01", "code message"),
    ("mark_job_run_as_aborted", "POST", f"{_RUN}/abort?at=2026-03-01", "code message"),
    ("list_tags", "GET", "/tags", "tags"),
    ("create_tag", "PUT", "/tags/PII", "name description"),
]


@pytest.mark.parametrize(("called", "method", "path", "fields"), _SENT)
def test_each_method_of_the_python_client_has_a_reply_that_it_can_read(
    client: FlaskClient, called: str, method: str, path: str, fields: str
) -> None:
    reply = client.open(f"/api/v1{path}", method=method)
    taken = method == "GET" or "tag" in called
    assert reply.status_code == (200 if taken else 405), called
    assert set(fields.split()) <= set(reply.get_json()), called
