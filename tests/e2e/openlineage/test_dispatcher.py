"""A Spark application that Spline's agent reports by both of its dispatchers (``composite``).

Its plans and events go to Spline's API, and its OpenLineage dispatcher sends a START and an end for
each write. Up to version 2.2 the end has the agent's event as a facet; later ones name neither the
application nor the plan.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from graph_model.facts import ApplicationRow
from graph_model.producers.commands import Command, Forget, submit
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import Submission
from tests import projections
from tests.builders import PLAN_ID, a_document
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, elements_of, lineage_event, submission

NOW: Final = 1_772_400_000_000  # 2026-03-01T21:20:00Z
TEN: Final = 1_772_359_200_000  # 2026-03-01T10:00:00Z
TOOK: Final = 1_234_567_891  # nanoseconds
APP: Final = "local-1"
EMPLOYEES: Final = {"namespace": "file", "name": "/lake/employees"}
TOPIC: Final = {"namespace": "kafka", "name": ""}  # so it calls each
Json = dict[str, Any]


# --- the documents of the agent ------------------------------------------------------------------


def plan(version: str = "2.4.0", **overrides: Any) -> Submission:
    """file:/lake/employees => file:/lake/out, of the application ``demo``."""
    agent = {"name": "spline", "version": version}
    return submission(PLAN_KIND, a_document(agentInfo=agent, **overrides))


def spoken(after: int = 0, app: str = APP, **fields: Any) -> Json:
    """The agent's event of a write that ended ``after`` milliseconds after ten o'clock."""
    body = {
        "planId": PLAN_ID,
        "timestamp": TEN + after,
        "durationNs": TOOK,
        "extra": {"appId": app},
    }
    return {**body, **fields}


def ran(after: int = 0, app: str = APP, **fields: Any) -> Submission:
    return submission(EVENT_KIND, spoken(after, app, **fields))


def spelled(nanoseconds: int) -> str:
    """Java's ISO_INSTANT: with as many of 3, 6 and 9 digits as there are."""
    at = datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{at}.{nanoseconds % 10**9:09d}Z"


def spelled_without_zeros(nanoseconds: int) -> str:
    """Java's OffsetDateTime, as versions on the way to 2.4 have it: 10:00 is ``T10:00Z``."""
    return spelled(nanoseconds).replace(".000000000Z", "Z").replace(":00Z", "Z")


def dispatched(
    after: int = 0,
    run: str = "r1",
    *,
    version: str = "2.4.0",
    end: str = "COMPLETE",
    took: int = TOOK,
    namespace: str = "default",
    inputs: tuple[Json, ...] = (EMPLOYEES,),
    facets: Json | None = None,
    spell: Callable[[int], str] = spelled,
) -> list[Submission]:
    """As the dispatcher reports the same write: its start is the end without the duration."""
    ended = (TEN + after) * 1_000_000

    def event(kind: str, at: int, more: Json) -> Submission:
        return lineage_event(
            {
                "eventType": kind,
                "eventTime": spell(at),
                "producer": f"https://github.com/AbsaOSS/spline-spark-agent/tree/release/{version}",
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "run": {"runId": run, **({"facets": facets} if facets and more else {})},
                "job": {"namespace": namespace, "name": "demo"},
                **more,
            }
        )

    output = {"namespace": "file", "name": "/lake/out"}
    return [
        event("START", ended - took, {}),
        event(end, ended, {"inputs": list(inputs), "outputs": [output]}),
    ]


def in_facet(event: Json) -> Json:
    return {"splineEvent": {"payloadSchemaURL": "x", "payload": event}}


def both(**options: Any) -> list[Submission]:
    return [plan(), ran(), *dispatched(**options)]


def project(documents: Iterable[Submission], *, stepwise: bool = False) -> SmallHeadwater:
    made = projections.project(documents, stepwise=stepwise)
    assert made.journal.summary().failed == 0
    return made


# --- answers about it ----------------------------------------------------------------------------


def get(client: FlaskClient, path: str, **query: Any) -> Any:
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, (path, reply.get_data(as_text=True))
    return reply.get_json()


def dataset_id(client: FlaskClient, name: str = "out") -> str:
    (listed,) = get(client, "/graph/datasets", q=f"lake/{name}")["items"]
    return str(listed["id"])


def history(client: FlaskClient) -> list[Json]:
    items: list[Json] = get(client, f"/graph/datasets/{dataset_id(client)}/history")["items"]
    return items


def jobs(client: FlaskClient) -> dict[str, int]:
    """Per job the number of its runs, which its own list has, too."""
    counts = {}
    for job in get(client, "/graph/jobs")["items"]:
        page = get(client, f"/graph/jobs/{job['id']}/runs")
        assert page["total"] == len(page["items"]) == job["runs"]
        counts[f"{job['namespace']}/{job['name']}"] = job["runs"]
    return counts


def counted(*documents: Submission) -> tuple[dict[str, int], list[str]]:
    """The jobs with their numbers of runs, and the applications of the writes, newest first."""
    made = project(documents)
    client = client_of(made, NOW)
    answer = jobs(client), [write["applicationId"] for write in history(client)]
    made.close()
    return answer


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("stepwise", [False, True])
def test_a_write_that_both_dispatchers_report_is_one_in_any_order(
    seed: int, stepwise: bool
) -> None:
    documents = both()
    random.Random(seed).shuffle(documents)
    made = project(documents, stepwise=stepwise)
    client = client_of(made, NOW)
    assert jobs(client) == {"default/demo": 1}
    (write,) = history(client)
    assert (write["applicationId"], write["mode"]) == (APP, "overwrite")
    (run,) = get(client, f"/graph/jobs/{write['job']['id']}/runs")["items"]
    assert (run["applicationId"], run["executions"]) == (APP, 1)
    table = get(client, "/graph/impact", node=dataset_id(client, "employees"))["items"]
    assert [(row["kind"], row["label"]) for row in table] == [("dataset", "out"), ("job", "demo")]
    made.close()


def test_any_order_of_the_documents_gives_the_same_graph_and_rows() -> None:
    documents = both()
    expected = elements_of(documents, stepwise=False)
    for seed in range(6):
        random.Random(seed).shuffle(documents)
        assert elements_of(documents, stepwise=bool(seed % 2)) == expected


def test_its_columns_are_those_of_the_plan_which_has_expressions() -> None:
    made = project(both())
    client = client_of(made, NOW)
    answer = get(
        client, "/graph/column-lineage", dataset=dataset_id(client), column="total",
        direction="upstream",
    )  # fmt: skip
    expressions = {edge["expression"] for edge in answer["edges"] if edge["kind"] == "DIRECT"}
    assert expressions == {"salary + bonus"}
    made.close()


def test_an_agent_up_to_2_2_names_the_application_in_a_facet() -> None:
    events = dispatched(version="2.2.0", facets=in_facet(spoken()))
    assert counted(plan("2.2.0"), ran(), *events) == ({"default/demo": 1}, [APP])


def test_the_next_write_of_the_application_is_another_one() -> None:
    """The dispatcher's report of the first is lost: the second's goes with the second alone."""
    events = [*dispatched(4_000, "r2")]
    assert counted(plan(), ran(), ran(4_000), *events) == ({"default/demo": 1}, [APP, APP])


def test_a_failed_write_is_one() -> None:
    failed = ran(durationNs=None, error="out of memory")
    documents = [plan(), failed, *dispatched(end="FAIL", took=0)]
    made = project(documents)
    assert jobs(client_of(made, NOW)) == {"default/demo": 1}
    made.close()


def test_a_write_of_a_whole_minute_is_one_however_its_times_are_spelled() -> None:
    minute = 60_000_000_000
    events = dispatched(took=minute, spell=spelled_without_zeros)
    assert counted(plan(), ran(durationNs=minute), *events) == ({"default/demo": 1}, [APP])


def test_a_topic_that_the_dispatcher_leaves_out_makes_no_second_write() -> None:
    operations = a_document()["operations"]
    read = {**operations["reads"][0], "inputSources": ["file:/lake/employees", "kafka:orders"]}
    documents = [plan(operations={**operations, "reads": [read]}), ran()]
    assert counted(*documents, *dispatched(inputs=(EMPLOYEES, TOPIC))) == (
        {"default/demo": 1},
        [APP],
    )


@pytest.mark.parametrize("apart", [1, 3_000])
def test_two_applications_of_one_name_stay_two(apart: int) -> None:
    """Both write the table, the second a millisecond later, or some seconds."""
    second = [ran(apart, "local-2"), *dispatched(apart, "r2")]
    assert counted(*both(), *second) == ({"default/demo": 2}, ["local-2", APP])


def test_a_report_that_no_plan_has_is_a_write_of_its_own() -> None:
    """Another application of the name wrote the table seconds later, without the other one."""
    assert counted(*both(), *dispatched(3_000, "r2")) == ({"default/demo": 2}, ["", APP])


def test_what_two_applications_claim_belongs_to_neither() -> None:
    """They began and ended in one millisecond: nothing tells which of them it is."""
    twin = ran(app="local-2")
    runs, writes = counted(*both(), twin)
    assert runs == {"default/demo": 3}
    assert sorted(writes) == ["", APP, "local-2"]


def test_a_namespace_that_is_set_for_the_dispatcher_is_that_of_its_job() -> None:
    """Give the plans the same one, by their label ``namespace``: the write is one nevertheless."""
    assert counted(*both(namespace="shop"))[1] == [APP]
    labelled = plan(labels={"namespace": ["shop"]})
    assert counted(labelled, ran(), *dispatched(namespace="shop"))[0] == {"shop/demo": 1}


def test_it_goes_with_the_event_that_said_it(headwater: SmallHeadwater) -> None:
    event = ran()
    headwater.accept(plan(), event, *dispatched())
    headwater.project()
    client = client_of(headwater, NOW)
    assert len(history(client)) == 1
    work = Forget((event.subject_key,), (event.content_hash,))
    headwater.accept(submit(Command("someone", NOW, "", "", work)))
    headwater.project()
    assert [write["applicationId"] for write in history(client)] == [""]
    assert not [row for row in headwater.catalogue.scan() if isinstance(row, ApplicationRow)]


def test_older_agents_and_the_listener_claim_nothing() -> None:
    """A row for each event would serve nobody there."""
    for agent in (plan("2.2.0"), submission(PLAN_KIND, a_document())):
        made = project([agent, ran()])
        assert not [row for row in made.catalogue.scan() if isinstance(row, ApplicationRow)]
        made.close()


def test_no_write_of_an_application_speaks_for_the_others() -> None:
    """Up to 2.2 its writes have one run, and no event tells how the application went."""
    told = [
        *dispatched(0, "r1", version="2.2.0", end="FAIL", facets=in_facet(spoken(error="full"))),
        *dispatched(9_000, "r2", version="2.2.0", facets=in_facet(spoken(9_000))),
    ]
    client = client_of(project(told), NOW)
    (item,) = get(client, "/graph/jobs")["items"]
    assert (item["runs"], item["lastRun"]["state"]) == (1, "completed")
    assert get(client, "/graph/home")["failed"] == 0
