"""A Spark application that the Spline agent and OpenLineage's client report, parts of it lost.

The client may lose the START of a query: the other events name the application's run as the client
calls it, and not the application. Whatever order documents come in, it is one picture.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from graph_model.facts import ApplicationRow, ExecutionRow
from graph_model.producers.commands import Command, Forget, submit
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import Submission
from tests.builders import PLAN_ID, PlanBuilder, a_document
from tests.e2e.small_client import client_of, running
from tests.projections import SmallHeadwater, elements_of, lineage_event, project, submission

NOW: Final = 1_772_400_000_000  # 2026-03-01T21:20:00Z
TEN: Final = 1_772_359_200_000  # 2026-03-01T10:00:00Z
PRODUCER: Final = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
APPLICATION_RUN: Final = "0195cf5b-7c01-7e51-a42d-4b0b0b1a1f00"
APP: Final = "local-1"
Json = dict[str, Any]


# --- the events of the two -----------------------------------------------------------------------


def plan(**overrides: Any) -> Submission:
    """Of the Spline agent: file:/lake/employees => file:/lake/out."""
    return submission(PLAN_KIND, a_document(**overrides))


def ran(seconds: float = 0, *, app: str = APP, plan_id: str = PLAN_ID, **more: Any) -> Submission:
    at = TEN + int(seconds * 1000)
    body = {"planId": plan_id, "timestamp": at, "durationNs": 5, "extra": {"appId": app}}
    return submission(EVENT_KIND, {**body, **more})


def table(name: str, *columns: str) -> Json:
    fields = [{"name": one, "type": "integer"} for one in columns]
    return {"namespace": "file", "name": name, "facets": {"schema": {"fields": fields}}}


def event(kind: str, seconds: float, run: str, job: str, **facets: Any) -> Json:
    """As openlineage-spark 1.53.0 sends it with default settings."""
    named = {"spark.master": "local[1]", "spark.app.name": "demo"}
    return {
        "eventType": kind,
        "eventTime": f"2026-03-01T10:00:{seconds:06.3f}Z",
        "producer": PRODUCER,
        "run": {
            "runId": run,
            "facets": {"spark_properties": {"properties": named}, **facets},
        },
        "job": {"namespace": "default", "name": job},
        "inputs": [],
        "outputs": [],
    }


def details(app: str = APP) -> Json:
    return {"spark_applicationDetails": {"applicationId": app, "appName": "demo"}}


def application(kind: str, seconds: float = 0, run: str = APPLICATION_RUN, **facets: Any) -> Json:
    told = event(kind, seconds, run, "demo", **facets)
    told["job"]["facets"] = {"jobType": {"integration": "SPARK", "jobType": "APPLICATION"}}
    return told


def command(
    kind: str, seconds: float, run: str = "q1", of: str = APPLICATION_RUN, **facets: Any
) -> Json:
    above = {"runId": of}
    name = {"namespace": "default", "name": "demo"}
    parent = {"run": above, "job": name, "root": {"run": above, "job": name}}
    job = "demo.execute_insert_into_hadoop_fs_relation_command.lake_out"
    told = event(kind, seconds, run, job, parent=parent, **facets)
    told["job"]["facets"] = {"jobType": {"integration": "SPARK", "jobType": "SQL_JOB"}}
    told["inputs"] = [table("/lake/employees", "id", "salary", "bonus")]
    told["outputs"] = [table("/lake/out", "id", "total")]
    return told


def both_agents() -> list[Submission]:
    """The command lost its START; the application's START alone tells the application's id."""
    events = [
        application("START", 0, **details()),
        command("COMPLETE", 1),
        application("COMPLETE", 3),
    ]
    return [plan(), ran(1.2), *map(lineage_event, events)]


# --- answers about it ----------------------------------------------------------------------------


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, (path, reply.get_data(as_text=True))
    return reply.get_json()


def dataset_id(client: FlaskClient, name: str = "out") -> str:
    (found,) = get(client, "/graph/datasets", q=f"lake/{name}")["items"]
    return str(found["id"])


def history(client: FlaskClient, **query: Any) -> list[Any]:
    page = get(client, f"/graph/datasets/{dataset_id(client)}/history", **query)
    found: list[Any] = page["items"]
    return found


def runs_of(client: FlaskClient) -> dict[str, list[Any]]:
    """Per job its runs."""
    return {
        job["name"]: get(client, f"/graph/jobs/{job['id']}/runs")["items"]
        for job in get(client, "/graph/jobs")["items"]
    }


def asked_of(documents: Iterable[Submission], *, stepwise: bool = False) -> SmallHeadwater:
    made = project(documents, stepwise=stepwise)
    assert made.journal.summary().failed == 0
    return made


def forget(headwater: SmallHeadwater, document: Submission) -> None:
    work = Forget((document.subject_key,), (document.content_hash,))
    headwater.accept(submit(Command("someone", NOW, "", "", work)))
    headwater.project()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("stepwise", [False, True])
def test_a_query_that_lost_its_start_is_one_write_of_one_run_in_any_order(
    seed: int, stepwise: bool
) -> None:
    documents = both_agents()
    random.Random(seed).shuffle(documents)
    made = asked_of(documents, stepwise=stepwise)
    client = client_of(made, NOW)
    (write,) = history(client)
    assert (write["applicationId"], write["producer"]) == (APP, "openlineage-spark 1.53.0")
    (run,) = runs_of(client)["demo"]
    assert (run["applicationId"], run["executions"]) == (APP, 1)
    assert get(client, "/graph/jobs")["items"][0]["runs"] == 1
    made.close()


def test_any_order_of_the_documents_gives_the_same_graph_and_rows() -> None:
    documents = both_agents()
    expected = elements_of(documents, stepwise=False)
    for seed in range(6):
        random.Random(seed).shuffle(documents)
        assert elements_of(documents, stepwise=bool(seed % 2)) == expected


def test_another_query_of_the_application_tells_it_as_well() -> None:
    """The server was not there yet when the application began."""
    other = command("START", 5, "q2", **details())
    made = asked_of([plan(), ran(1.2), *map(lineage_event, [command("COMPLETE", 1), other])])
    assert len(history(client_of(made, NOW))) == 1
    made.close()


def test_until_something_tells_the_application_it_stands_alone(headwater: SmallHeadwater) -> None:
    headwater.accept(plan(), ran(1.2), lineage_event(command("COMPLETE", 1)))
    headwater.project()
    client = client_of(headwater, NOW)
    assert [len(history(client)), len(runs_of(client)["demo"])] == [2, 2]
    headwater.accept(lineage_event(application("START", 0, **details())))
    headwater.project()
    assert [len(history(client)), len(runs_of(client)["demo"])] == [1, 1]


def test_it_goes_with_the_document_that_said_it(headwater: SmallHeadwater) -> None:
    """Forgotten, and then as if it had never come."""
    kept = [plan(), ran(1.2), lineage_event(command("COMPLETE", 1))]
    told = lineage_event(application("START", 0, **details()))
    headwater.accept(*kept, told)
    headwater.project()
    client = client_of(headwater, NOW)
    assert len(history(client)) == 1
    forget(headwater, told)
    assert len(history(client)) == 2
    assert not [row for row in headwater.catalogue.scan() if isinstance(row, ApplicationRow)]


def test_two_queries_that_tell_it_support_it_both(headwater: SmallHeadwater) -> None:
    kept = [lineage_event(command("START", 2, "q2", **details())), *both_agents()[:2]]
    told = lineage_event(application("START", 0, **details()))
    headwater.accept(*kept, lineage_event(command("COMPLETE", 1)), told)
    headwater.project()
    forget(headwater, told)
    assert len(history(client_of(headwater, NOW))) == 1


@pytest.mark.parametrize("facet", ["gcp_dataproc_spark", "gcp_dataproc"])
def test_on_dataproc_every_event_tells_the_application(facet: str) -> None:
    """The compatibility suite's events have the application id nowhere else."""
    told: Json = {facet: {"appId": APP, "appName": "demo", "projectId": "p"}}
    end = command("COMPLETE", 1, **told)
    del end["run"]["facets"]["spark_properties"]
    made = asked_of([plan(), ran(1.2), lineage_event(end)])
    assert len(history(client_of(made, NOW))) == 1
    made.close()


def test_two_applications_of_one_name_stay_two() -> None:
    """The second wrote within the same seconds, and lost its START as well."""
    other = "0195cf5b-7c01-7e51-a42d-4b0b0b1a1f01"
    events = [
        application("START", 0, **details()),
        command("COMPLETE", 1),
        application("START", 0, other, **details("local-2")),
        command("COMPLETE", 2, "q9", other),
    ]
    made = asked_of([plan(), ran(1.2), ran(2.2, app="local-2"), *map(lineage_event, events)])
    client = client_of(made, NOW)
    assert sorted(write["applicationId"] for write in history(client)) == ["local-1", "local-2"]
    runs = runs_of(client)["demo"]
    assert [(run["applicationId"], run["executions"]) for run in runs] == [
        ("local-2", 1),
        ("local-1", 1),
    ]
    made.close()


def test_a_run_id_that_two_applications_were_given_tells_nothing() -> None:
    events = [
        application("START", 0, **details()),
        command("START", 0, "q5", **details("local-2")),
        command("COMPLETE", 1),
    ]
    made = asked_of([plan(), ran(1.2), *map(lineage_event, events)])
    assert len(history(client_of(made, NOW))) == 2
    made.close()


# --- questions -----------------------------------------------------------------------------------


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    """With a second application, an hour later, that only the agent reports."""
    headwater.accept(*both_agents(), ran(3600, app="local-2"))
    headwater.project()
    return client_of(headwater, NOW)


def test_the_last_writer_at_a_time_is_the_one_write(client: FlaskClient) -> None:
    key = dataset_id(client)
    early = get(client, f"/graph/datasets/{key}/last-writer", at=TEN + 60_000)
    assert early["execution"]["applicationId"] == APP
    assert get(client, f"/graph/datasets/{key}/history", at=TEN + 60_000)["total"] == 1
    late = get(client, f"/graph/datasets/{key}/last-writer")
    assert late["execution"]["applicationId"] == "local-2"


def test_a_list_says_the_same_last_write_with_a_layer_and_a_tag_and_without() -> None:
    made = asked_of(both_agents())
    with running(made):
        client = client_of(made, NOW)
        key = dataset_id(client)
        layer = {"match": "prefix", "pattern": "file:/lake/", "order": 1, "colour": "#127d6f"}
        tag = {"node": key, "owner": "privacy"}
        assert client.put("/layers/lake", json=layer).status_code == 200
        assert client.put("/classifications/PII", json=tag).status_code == 200
        said = {
            wish.get("layer") or wish.get("classification"): one["lastWrite"]
            for wish in ({}, {"layer": "lake"}, {"classification": "PII"})
            for one in get(client, "/graph/datasets", **wish)["items"]
            if one["id"] == key
        }
        alone = get(client, f"/graph/datasets/{key}")["lastWrite"]
    assert said == dict.fromkeys((None, "lake", "PII"), alone)


def test_lineage_at_a_time_has_the_columns_of_the_agent_that_knows_expressions(
    client: FlaskClient,
) -> None:
    answer = get(
        client, "/graph/column-lineage", dataset=dataset_id(client), column="total",
        direction="upstream", at=TEN + 60_000,
    )  # fmt: skip
    assert {edge["expression"] for edge in answer["edges"] if edge["kind"] == "DIRECT"} == {
        "salary + bonus"
    }


def test_upstream_and_downstream_are_mirrors(client: FlaskClient) -> None:
    for at in (TEN + 60_000, None):
        time = {} if at is None else {"at": at}
        target, source = dataset_id(client), dataset_id(client, "employees")
        up = get(client, "/graph/lineage", node=target, direction="upstream", depth=3, **time)
        down = get(client, "/graph/lineage", node=source, direction="downstream", depth=3, **time)
        assert source in {node["id"] for node in up["nodes"]}
        assert {node["id"] for node in up["nodes"]} == {node["id"] for node in down["nodes"]}
        assert sum(node["kind"] == "job" for node in up["nodes"]) == 1


def test_between_the_two_runs_nothing_changed(client: FlaskClient) -> None:
    answer = get(
        client, "/graph/diff", node=dataset_id(client),
        **{"from": TEN + 60_000, "to": TEN + 7_200_000},
    )  # fmt: skip
    changed = [node for node in answer["nodes"] if node.get("change") not in (None, "same")]
    assert [node["change"] for node in changed if node["change"] in ("added", "removed")] == []


def test_the_run_has_one_page_whichever_of_its_ids_is_asked_for(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    (run,) = [run for run in runs_of(client)["demo"] if run["applicationId"] == APP]
    rows = [row for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow)]
    (lost,) = [row.run for row in rows if row.producer.startswith("openlineage")]
    assert lost != run["id"]
    by_vertex = get(client, f"/graph/runs/{run['id']}")
    assert len(by_vertex["items"]) == 1
    assert by_vertex["runId"] == APPLICATION_RUN
    assert get(client, f"/graph/runs/{lost}") == by_vertex
    assert get(client, f"/graph/runs/{APPLICATION_RUN}")["items"] == by_vertex["items"]
    page = get(client, f"/graph/jobs/{by_vertex['job']['id']}/runs/{lost}")
    assert (page["id"], page["applicationId"]) == (run["id"], APP)


def test_the_consumers_list_finds_it_by_its_application(client: FlaskClient) -> None:
    found = get(client, "/consumer/execution-events", applicationId=APP)
    assert found["totalCount"] == 1
    assert {item["applicationId"] for item in found["items"]} == {APP}


# --- attempts ------------------------------------------------------------------------------------


def test_a_failed_attempt_that_both_report_is_listed_once() -> None:
    events = [
        application("START", 0, **details()),
        command("FAIL", 1, errorMessage={"message": "no space", "programmingLanguage": "JAVA"}),
        command("COMPLETE", 20, "q2"),
        command("FAIL", 40, "q3", errorMessage={"message": "again"}),
    ]
    agent = [ran(1.2, error="no space left"), ran(20.2), ran(40.1, error="again")]
    made = asked_of([plan(), *agent, *map(lineage_event, events)])
    client = client_of(made, NOW)
    assert [write["state"] for write in history(client)] == ["failed", "completed", "failed"]
    answer = get(client, f"/graph/datasets/{dataset_id(client)}/last-writer")
    assert len(answer["failedSince"]) == 1
    made.close()


def test_a_failed_attempt_and_a_write_are_two() -> None:
    events = [application("START", 0, **details()), command("FAIL", 1)]
    made = asked_of([plan(), ran(1.2), *map(lineage_event, events)])
    assert len(history(client_of(made, NOW))) == 2
    made.close()


# --- reads that one of them does not know --------------------------------------------------------


def with_subquery(whole: bool) -> Submission:
    """Employees above the least salary of a table that the stock agent does not name."""
    made = PlanBuilder()
    employees = made.read("file:/lake/employees", "id: int", "salary: int")
    text = {"plan": "Aggregate [min(least) AS min(least)]"}
    limits = (made.read("file:/lake/limits", "least: int"),) if whole else ()
    least = made.call(
        "scalarsubquery",
        *(one["least"] for one in limits),
        of="ScalarSubquery",
        params={} if whole else text,
    )
    condition = made.call(">", employees["salary"], least, symbol=">")
    columns = [employees["id"], employees["salary"]]
    kept = made.operation(
        "Filter", employees, *limits, output=columns, params={"condition": condition}
    )
    made.write(made.project(kept, "id"))
    agent = {"name": "headwater-listener" if whole else "spline", "version": "2.2.0"}
    plan_id = PLAN_ID[:-1] + ("1" if whole else "2")
    return submission(PLAN_KIND, made.document(id=plan_id, agentInfo=agent))


def test_a_write_of_which_one_agent_does_not_know_all_tables_is_one() -> None:
    plans = {one.subject_key: one for one in map(with_subquery, (True, False))}
    told = [ran(number, plan_id=key) for number, key in enumerate(plans)]
    made = asked_of([*plans.values(), *told])
    client = client_of(made, NOW)
    assert len(history(client)) == 1
    answer = get(client, "/graph/lineage", node=dataset_id(client), direction="upstream")
    assert {node["label"] for node in answer["nodes"]} == {"demo", "employees", "limits", "out"}
    made.close()


# --- settings of the client ----------------------------------------------------------------------


def under(namespace: str, above: str, told: Json) -> Json:
    """With ``spark.openlineage.namespace`` and ``parentJobNamespace``."""
    said: Json = {**told, "job": {**told["job"], "namespace": namespace}}
    parent = said["run"]["facets"].get("parent")
    if parent is not None:
        name = {**parent["job"], "namespace": namespace}
        facets = {**said["run"]["facets"], "parent": {**parent, "job": name}}
        return {**said, "run": {**said["run"], "facets": facets}}
    root = {"run": {"runId": "task"}, "job": {"namespace": above, "name": "dag.task"}}
    facets = {**said["run"]["facets"], "parent": root}
    return {**said, "run": {**said["run"], "facets": facets}}


@pytest.mark.parametrize("above", ["composer", "first"])
def test_clients_with_other_job_namespaces_report_one_job(above: str) -> None:
    """The application is the job, as the agent names it, wherever a client files it."""
    events = [
        under("first", above, application("START", 0, **details())),
        under("second", above, command("COMPLETE", 1)),
        under("first", above, application("COMPLETE", 3)),
    ]
    made = asked_of([plan(), ran(1.2), *map(lineage_event, events)])
    client = client_of(made, NOW)
    jobs = {(job["namespace"], job["name"]) for job in get(client, "/graph/jobs")["items"]}
    assert jobs == {("default", "demo"), (above, "dag.task")}
    assert len(history(client)) == 1
    (run,) = runs_of(client)["demo"]
    tree = get(client, f"/graph/runs/{run['id']}")
    assert [tree["parent"]["job"]["namespace"], tree["parent"]["known"]] == [above, False]
    made.close()


def test_the_run_tag_names_the_namespace_of_both() -> None:
    tags: Json = {"tags": {"tags": [{"key": "namespace", "value": "hr", "source": "CONFIG"}]}}
    events = [
        application("START", 0, **details(), **tags),
        command("COMPLETE", 1, **tags),
    ]
    labelled = plan(labels={"namespace": ["hr"]})
    made = asked_of([labelled, ran(1.2), *map(lineage_event, events)])
    client = client_of(made, NOW)
    assert [(job["namespace"], job["runs"]) for job in get(client, "/graph/jobs")["items"]] == [
        ("hr", 1)
    ]
    assert len(history(client)) == 1
    made.close()


def test_a_rebuild_gives_the_same(headwater: SmallHeadwater) -> None:
    headwater.accept(*both_agents())
    headwater.project()
    before = headwater.elements()
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass
    assert headwater.elements() == before
    assert [row for row in before[1] if isinstance(row, ApplicationRow)]


DAY: Final = 86_400_000
BEGUN: Final = application("START", 0, **details())
LATER: Final = {**command("COMPLETE", 1, **details()), "eventTime": "2026-03-03T10:00:00Z"}


@pytest.mark.parametrize(
    ("events", "days", "state"),
    [
        ([BEGUN, command("COMPLETE", 1, **details())], 0, "running"),
        ([BEGUN, command("COMPLETE", 1, **details())], 2, "aborted"),  # silent
        ([BEGUN, LATER], 2, "running"),
        ([BEGUN, command("COMPLETE", 1, **details()), application("COMPLETE", 3)], 0, "completed"),
        ([BEGUN, command("COMPLETE", 1, **details()), application("FAIL", 3)], 0, "failed"),
        ([BEGUN, command("COMPLETE", 1, **details()), application("ABORT", 3)], 0, "aborted"),
        ([BEGUN, command("COMPLETE", 4, **details()), application("ABORT", 3)], 0, "aborted"),
        ([BEGUN, application("FAIL", 3)], 0, "failed"),
        ([BEGUN, application("ABORT", 3)], 0, "aborted"),
    ],
)
def test_every_page_says_how_the_application_behind_the_last_command_went(
    events: list[Json], days: int, state: str
) -> None:
    client = client_of(asked_of(map(lineage_event, events)), NOW + days * DAY)
    (item,) = get(client, "/graph/jobs", state=state)["items"]
    page = get(client, f"/graph/jobs/{item['id']}")
    (listed,) = get(client, f"/graph/jobs/{item['id']}/runs")["items"]
    node = get(client, "/graph/lineage", node=item["id"])["nodes"]
    (drawn,) = (one for one in node if one["kind"] == "job")
    marquez = get(client, "/api/v1/namespaces/default/jobs/demo")["latestRun"]
    run = get(client, f"/graph/runs/{APPLICATION_RUN}")
    states = [one["lastRun"]["state"] for one in (item, page, drawn)]
    states += [listed["state"], run["state"], marquez["state"].lower()]
    assert set(states) == {state}
    assert get(client, "/graph/home")["failed"] == (state == "failed")


@pytest.mark.parametrize("begun", [[BEGUN], []], ids=["all events", "its START was lost"])
def test_the_error_of_a_failed_application_is_that_of_its_command(begun: list[Json]) -> None:
    """The application's own event names none, or a shorter one."""
    error: Json = {"errorMessage": {"message": "Path does not exist: file:/lake/employees"}}
    named = {} if begun else details()
    events = [*begun, command("FAIL", 1, **error, **named), application("FAIL", 3)]
    client = client_of(asked_of(map(lineage_event, events)), NOW)
    (run,) = runs_of(client)["demo"]
    (incident,) = get(client, "/graph/incidents")["incidents"]
    (card,) = get(client, "/graph/home")["failures"]
    assert run["error"] == incident["error"] == card["error"] == error["errorMessage"]["message"]
    assert incident["tables"] == 1
    assert (run["executions"], run["endedAt"]) == (2, "2026-03-01T10:00:03.000Z")


@pytest.mark.parametrize(("days", "state"), [(0, "running"), (2, "aborted")])
def test_an_application_whose_commands_do_not_name_it_goes_on_behind_them(
    days: int, state: str
) -> None:
    beside = event("COMPLETE", 9, "other", "other")
    told = map(lineage_event, [BEGUN, command("COMPLETE", 1), beside])
    client = client_of(asked_of(told), NOW + days * DAY)
    (item,) = get(client, "/graph/jobs", state=state)["items"]
    assert item["lastRun"]["state"] == state
    page = get(client, f"/graph/jobs/{item['id']}")
    assert page["lastRun"] == item["lastRun"]


@pytest.mark.parametrize("named", [details(), {}], ids=["named by its commands", "unnamed"])
@pytest.mark.parametrize(
    ("ends", "last"),
    [
        (("FAIL", "COMPLETE"), "completed"),
        (("COMPLETE", "FAIL"), "failed"),
        (("START", "COMPLETE"), "completed"),
        (("ABORT", "COMPLETE"), "completed"),
    ],
)
def test_no_command_speaks_for_an_application_without_events_of_its_own(
    ends: tuple[str, str], last: str, named: Json
) -> None:
    told = [command(end, number, f"q{number}", **named) for number, end in enumerate(ends, 1)]
    client = client_of(asked_of(map(lineage_event, told)), NOW)
    (item,) = get(client, "/graph/jobs", state=last)["items"]
    page = get(client, f"/graph/jobs/{item['id']}")
    drawn = get(client, "/graph/lineage", node=item["id"])["nodes"]
    marquez = get(client, "/api/v1/namespaces/default/jobs/demo")["latestRun"]
    states = [one["lastRun"]["state"] for one in (item, page, *drawn) if "lastRun" in one]
    assert {*states, marquez["state"].lower()} == {last}
    assert get(client, "/graph/home")["failed"] == (last == "failed")
    (listed,) = get(client, f"/graph/jobs/{item['id']}/runs")["items"]
    run = get(client, f"/graph/runs/{listed['id']}")
    assert (run["runId"], run["known"]) == (APPLICATION_RUN, False)
    assert len(run["items"]) == listed["executions"] == sum(end != "START" for end in ends)
    worst = "failed" if "FAIL" in ends else "aborted" if "ABORT" in ends else "completed"
    assert listed["state"] == worst
    assert run["state"] == ("running" if "START" in ends else worst)


@pytest.mark.parametrize(("end", "counted"), [("FAIL", "fail"), ("ABORT", "abort")])
@pytest.mark.parametrize("begun", [[BEGUN], []], ids=["all events", "its START was lost"])
def test_a_command_and_its_application_failed_once(
    begun: list[Json], end: str, counted: str
) -> None:
    named = {} if begun else details()
    error: Json = {"errorMessage": {"message": "Path does not exist"}}
    told = [*begun, command(end, 1, **error, **named), application(end, 3)]
    headwater = asked_of(map(lineage_event, told))
    client = client_of(headwater, NOW)
    state = {"FAIL": "failed", "ABORT": "aborted"}[end]
    for wish in ({}, {"state": state}, {"q": "demo"}):
        listed = get(client, "/graph/runs", **wish)
        assert (listed["total"], len(listed["items"])) == (1, 1)
        assert listed["items"][0]["error"] == "Path does not exist"
    (hour,) = get(client, "/api/v1/stats/lineage-events", period="WEEK")[-1:]
    assert hour[counted] == 1
    before = get(client, "/graph/runs", at="2026-03-01T10:00:02Z")
    assert before["total"] == 1


def failing(message: str) -> Json:
    return {"errorMessage": {"message": message}}


@pytest.mark.parametrize("named", [details(), {}], ids=["named by its commands", "unnamed"])
@pytest.mark.parametrize(
    ("between", "error"),
    [([], failing("driver lost")), ([command("COMPLETE", 2, "q2")], {})],
    ids=["another error", "a command completed in between"],
)
def test_an_application_that_failed_after_a_failure_that_it_survived_is_listed(
    between: list[Json], error: Json, named: Json
) -> None:
    caught = command("FAIL", 1, **failing("disk full"), **named)
    told = [BEGUN, caught, *between, application("FAIL", 3, **error)]
    client = client_of(asked_of(map(lineage_event, told)), NOW)
    failed = get(client, "/graph/runs", state="failed")
    assert failed["total"] == 2
    assert [item["at"] for item in failed["items"]] == [
        "2026-03-01T10:00:03.000Z",
        "2026-03-01T10:00:01.000Z",
    ]


def test_an_application_that_names_the_error_of_its_last_command_failed_once() -> None:
    first = command("FAIL", 1, **failing("disk full"))
    last = command("FAIL", 2, "q2", **failing("no space"))
    told = [BEGUN, first, last, application("FAIL", 3, **failing("no space"))]
    client = client_of(asked_of(map(lineage_event, told)), NOW)
    failed = get(client, "/graph/runs", state="failed")
    assert [item["error"] for item in failed["items"]] == ["no space", "disk full"]


def test_an_application_that_failed_alone_or_behind_a_completed_command_is_listed() -> None:
    for commands in ([], [command("COMPLETE", 1, **details())]):
        told = [BEGUN, *commands, application("FAIL", 3)]
        client = client_of(asked_of(map(lineage_event, told)), NOW)
        failed = get(client, "/graph/runs", state="failed")
        assert [item["at"] for item in failed["items"]] == ["2026-03-01T10:00:03.000Z"]
        assert get(client, "/graph/home")["failed"] == 1


def test_a_search_finds_an_application_by_its_own_error() -> None:
    error: Json = {"errorMessage": {"message": "exit code 7"}}
    told = [BEGUN, command("FAIL", 1, **details()), application("FAIL", 3, **error)]
    client = client_of(asked_of(map(lineage_event, told)), NOW)
    assert get(client, "/graph/runs", q="exit code 7")["total"] == 1


def test_an_application_below_a_task_of_its_own_name_is_listed_while_it_runs() -> None:
    task = {"run": {"runId": "task"}, "job": {"namespace": "default", "name": "demo"}}
    client = client_of(asked_of([lineage_event(application("START", parent=task))]), NOW)
    (job,) = get(client, "/graph/jobs")["items"]
    opened = get(client, f"/graph/jobs/{job['id']}/runs")["open"]
    assert [(one["runId"], one["state"]) for one in opened] == [(APPLICATION_RUN, "running")]


def test_an_application_that_was_heard_later_was_running_in_between() -> None:
    """At a time without an event in the day before: its newest event may be its command's."""
    later = command("COMPLETE", 2, "q2", **details())
    told = [BEGUN, command("COMPLETE", 1, **details())]
    told.append({**later, "eventTime": "2026-03-05T10:00:00Z"})
    client = client_of(asked_of(map(lineage_event, told)), NOW + 30 * DAY)
    for at, state in (("2026-03-03T10:00:00Z", "running"), ("2026-03-07T10:00:00Z", "aborted")):
        (job,) = get(client, "/graph/jobs", at=at)["items"]
        (listed,) = get(client, f"/graph/jobs/{job['id']}/runs", at=at)["items"]
        run = get(client, f"/graph/runs/{APPLICATION_RUN}", at=at)
        assert {job["lastRun"]["state"], listed["state"], run["state"]} == {state}


def test_a_command_that_names_the_vertex_of_its_application_as_its_parent() -> None:
    told = command("COMPLETE", 1, **details())
    first = client_of(asked_of([lineage_event(told)]), NOW)
    ((run,),) = runs_of(first).values()
    again = command("COMPLETE", 2, "q2", run["id"], **details())
    client = client_of(asked_of([lineage_event(again)]), NOW)
    tree = get(client, f"/graph/runs/{run['id']}")
    assert (tree["runId"], tree["known"], tree["state"]) == (run["id"], False, "completed")
    assert [child["runId"] for child in tree["children"]] == ["q2"]


def test_applications_whose_commands_name_one_parent_have_trees_of_their_own() -> None:
    """Its id is no UUID: only the first application sent events of its own."""
    told = [
        application("START", 0, "1", **details("app-A")),
        command("FAIL", 1, "q1", "1", **details("app-A")),
        application("FAIL", 2, "1", **details("app-A")),
        command("COMPLETE", 3, "q2", "1", **details("app-B")),
    ]
    client = client_of(asked_of(map(lineage_event, told)), NOW)
    listed = {run["applicationId"]: run for run in runs_of(client)["demo"]}
    trees = {app: get(client, f"/graph/runs/{run['id']}") for app, run in listed.items()}
    assert {app: run["state"] for app, run in listed.items()} == {
        app: tree["state"] for app, tree in trees.items()
    }
    assert [tree["known"] for tree in (trees["app-A"], trees["app-B"])] == [True, False]
    children = [child["runId"] for child in trees["app-B"]["children"]]
    assert (trees["app-B"]["run"], children) == (listed["app-B"]["id"], ["q2"])
