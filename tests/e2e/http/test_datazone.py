"""DataZone's lineage API, as boto3 calls it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.config import Config

from api.datazone import routes
from api.http.access import NoKeys
from api.intake.documents import take
from graph_model import identity
from graph_model.stores.keys import Key, signing_secret
from graph_model.values import Role
from tests.e2e.small_client import client_of, running, serving_client
from tests.projections import SmallHeadwater, small_headwater
from tests.waiting import eventually

NOW = 1_772_400_000_000
DOMAIN = "dzd_a1b2c3"
ARN = f"arn:aws:datazone:eu-west-1:123456789012:domain/{DOMAIN}"
TRANSPORT = Path(__file__).parents[2] / "fixtures" / "openlineage" / "datazone_requests.json"
Json = dict[str, Any]


class OneKey(NoKeys):
    """Of a producer."""

    text = "hw_jobs"
    key = Key("a1b2", "jobs", frozenset({Role.PRODUCER}), "", 0, "", "jobs", 0, signs=True)

    def exist(self) -> bool:
        return True

    def find(self, text: str) -> Key | None:
        return self.key if text == self.text else None

    def signer(self, identifier: str) -> Key | None:
        return self.key if identifier == self.key.id else None


def client_at(address: str, key: str = "any", secret: str = "any") -> Any:
    return boto3.client(
        "datazone",
        endpoint_url=address,
        region_name="eu-west-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(retries={"max_attempts": 1}),
    )


def event(**changes: Any) -> Json:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T10:00:00Z",
        "producer": "https://example.org/tool",
        "run": {"runId": "11111111-2222-7333-8444-000000000001"},
        "job": {"namespace": "etl", "name": "copy"},
        "inputs": [{"namespace": "s3://lake", "name": "a"}],
        "outputs": [{"namespace": "s3://lake", "name": "b"}],
        **changes,
    }


@dataclass
class DataZone:
    made: SmallHeadwater
    client: Any

    def post(self, body: Any, domain: str = DOMAIN, **more: Any) -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post_lineage_event(domainIdentifier=domain, event=content, **more)


@pytest.fixture(scope="module")
def datazone() -> Iterator[DataZone]:
    made = small_headwater()
    with serving_client(client_of(made, NOW)) as address:
        yield DataZone(made, client_at(address))
    made.close()


def test_an_event_is_in_the_journal_under_the_id_of_its_answer(datazone: DataZone) -> None:
    reply = datazone.post(event())
    assert reply["domainId"] == DOMAIN
    document = datazone.made.journal.document(int(reply["id"], 16))
    assert document is not None
    assert json.loads(document.body)["job"] == {"namespace": "etl", "name": "copy"}


def test_an_event_that_comes_again_has_its_id_and_another_has_another(datazone: DataZone) -> None:
    first = datazone.post(event(), clientToken="a")["id"]
    received = datazone.made.journal.summary().received
    assert datazone.post(event(), clientToken="a")["id"] == first
    assert datazone.post(event(), clientToken="b")["id"] == first
    with pytest.raises(datazone.client.exceptions.ConflictException, match="clientToken"):
        datazone.post(event(eventType="FAIL"), clientToken="a")
    assert datazone.made.journal.summary().received == received
    assert datazone.post(event(eventType="START"))["id"] != first


def test_of_two_events_that_come_at_once_under_one_token_one_is_taken(
    datazone: DataZone, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def take_after_another(*given: Any) -> Any:
        monkeypatch.setattr(routes, "take", take)
        try:
            datazone.post(event(eventType="FAIL"), clientToken="c")
        except datazone.client.exceptions.ConflictException as conflict:
            refused.append(str(conflict))
        return take(*given)

    monkeypatch.setattr(routes, "take", take_after_another)
    taken = datazone.post(event(), clientToken="c")["id"]
    assert ["clientToken" in words for words in refused] == [True]
    assert datazone.post(event(), clientToken="c")["id"] == taken


def test_a_refused_event_leaves_its_token_free(datazone: DataZone) -> None:
    with pytest.raises(datazone.client.exceptions.ValidationException):
        datazone.post(b"[]", clientToken="d")
    assert datazone.post(event(), clientToken="d")["id"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", {"eventTime": "2026-03-01T10:00:00Z"}])
def test_no_event_is_a_validation_exception(datazone: DataZone, body: Any) -> None:
    with pytest.raises(datazone.client.exceptions.ValidationException):
        datazone.post(body)


def test_an_event_above_the_services_limit_is_refused(datazone: DataZone) -> None:
    job = {"namespace": "etl", "name": "large", "facets": {"own": {"text": "x " * 150_000}}}
    with pytest.raises(datazone.client.exceptions.ValidationException, match="300,000"):
        datazone.post(event(job=job))


@pytest.mark.parametrize("domain", ["other", "dzd_", f"dzd-{'x' * 37}", "dzd_a/b"])
def test_a_domain_that_the_service_cannot_have_is_refused(datazone: DataZone, domain: str) -> None:
    with pytest.raises(datazone.client.exceptions.ValidationException, match="domainIdentifier"):
        datazone.post(event(), domain)


def test_a_token_that_the_service_cannot_have_is_refused(datazone: DataZone) -> None:
    with pytest.raises(datazone.client.exceptions.ValidationException, match="clientToken"):
        datazone.post(event(), clientToken="x" * 129)


def test_where_keys_are_needed_a_request_is_signed_with_the_secret_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installation = bytes(range(32))
    monkeypatch.setattr("api.application.read_installation", lambda _: installation)
    secret = signing_secret(installation, OneKey.key.id)
    made = small_headwater()
    with serving_client(client_of(made, None, OneKey())) as address:
        own = DataZone(made, client_at(address, OneKey.key.id, secret))
        document = made.journal.document(int(own.post(event(), clientToken="t")["id"], 16))
        assert document is not None
        assert json.loads(document.body)["job"]["name"] == "copy"
        assert [one.principal for one in made.journal.receipts(document.position)] == ["jobs"]
        for key, other in ((OneKey.key.id, "other"), ("c3d4", secret)):
            with pytest.raises(own.client.exceptions.AccessDeniedException, match="signature"):
                DataZone(made, client_at(address, key, other)).post(event())
        with pytest.raises(own.client.exceptions.AccessDeniedException, match="role reader"):
            own.client.get_lineage_node(domainIdentifier=DOMAIN, identifier="s3://lake/a b")
        with pytest.raises(own.client.exceptions.ValidationException, match="300,000"):
            own.post(b"x" * 300_001)

        def with_key(request: Any, **_: Any) -> None:
            request.headers["X-API-Key"] = OneKey.text

        unknown = client_at(address)
        unknown.meta.events.register("before-sign.datazone", with_key)
        assert DataZone(made, unknown).post(event())["domainId"] == DOMAIN
    made.close()


def test_a_key_above_its_rate_is_throttled_and_a_body_that_is_not_signed_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.application.read_installation", lambda _: bytes(range(32)))
    secret = signing_secret(bytes(range(32)), OneKey.key.id)
    keys = OneKey()
    keys.key = replace(OneKey.key, rate_per_minute=1)
    made = small_headwater()
    with serving_client(client_of(made, None, keys)) as address:
        own = DataZone(made, client_at(address, keys.key.id, secret))
        with monkeypatch.context() as unsigned:
            unsigned.setattr(SigV4Auth, "payload", lambda *_: "UNSIGNED-PAYLOAD")
            with pytest.raises(own.client.exceptions.AccessDeniedException, match="signature"):
                own.post(event())
        assert own.post(event())["domainId"] == DOMAIN
        with pytest.raises(own.client.exceptions.ThrottlingException, match="1 requests"):
            own.post(event())
    made.close()


def test_requests_of_openlineages_java_transport_hold_with_their_own_signatures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.application.read_installation", lambda _: bytes(range(32)))
    requests = json.loads(TRANSPORT.read_text("utf-8"))["requests"]
    sent = [datetime.strptime(one["headers"]["X-Amz-Date"], "%Y%m%dT%H%M%S%z") for one in requests]
    made = small_headwater()
    client = client_of(made, round(sent[-1].timestamp() * 1000), OneKey())

    def post(recorded: Json, **changes: Any) -> Any:
        whole = recorded | changes
        return client.open(
            whole["path"], method=whole["method"], headers=whole["headers"], data=whole["body"]
        )

    replies = [post(one) for one in requests]
    assert [(reply.status_code, reply.get_json()["domainId"]) for reply in replies] == (
        [(200, DOMAIN)] * len(requests)
    )
    for recorded, reply in zip(requests, replies, strict=True):
        position = int(reply.get_json()["id"], 16)
        document = made.journal.document(position)
        assert document is not None
        assert json.loads(document.body) == json.loads(recorded["body"])
        assert [one.principal for one in made.journal.receipts(position)] == ["jobs"]
        assert post(recorded).get_json() == reply.get_json()
        by_key = {"X-API-Key": OneKey.text, "Content-Type": "application/json"}
        plain = client.post("/api/v1/lineage", data=recorded["body"], headers=by_key)
        assert plain.status_code == 201
        refused = post(recorded, body=recorded["body"].replace("SPARK", "Spark"))
        assert refused.status_code == 403
        assert refused.headers["x-amzn-ErrorType"] == "AccessDeniedException"
    made.project()
    counts = made.journal.summary()
    assert (counts.received, counts.projected) == (len(requests), len(requests))
    made.close()


# --- reads ---------------------------------------------------------------------------------------


def run(number: int, job: str, source: str, target: str) -> Json:
    return event(
        eventTime=f"2026-03-01T10:0{number}:00Z",
        run={"runId": f"11111111-2222-7333-8444-00000000000{number}"},
        job={"namespace": "etl", "name": job},
        inputs=[{"namespace": "s3://lake", "name": source}],
        outputs=[{"namespace": "s3://lake", "name": target}],
    )


GLUE = {"namespace": "arn:aws:glue:eu-west-1:123", "name": "table/db/t"}
RUNS = (run(1, "one", "a", "b/history"), run(2, "two", "b/history", "c"), run(3, "three", "c", "d"))


@pytest.fixture(scope="module")
def lake() -> Iterator[DataZone]:
    """Three runs in a row, and a table of Glue made of the last one's."""
    made = small_headwater()
    with serving_client(client_of(made, NOW)) as address:
        datazone = DataZone(made, client_at(address))
        for one in RUNS:
            datazone.post(one)
        datazone.post(run(4, "glue", "d", "-") | {"outputs": [GLUE]})
        made.project()
        yield datazone
    made.close()


def node(lake: DataZone, identifier: str, **more: Any) -> Any:
    return lake.client.get_lineage_node(domainIdentifier=DOMAIN, identifier=identifier, **more)


def minutes(times: Any) -> list[int]:
    return [one["eventTimestamp"].minute for one in times]


def test_events_are_listed_in_pages_with_their_summary(lake: DataZone) -> None:
    pages = lake.client.get_paginator("list_lineage_events").paginate(
        domainIdentifier=DOMAIN, PaginationConfig={"PageSize": 3}
    )
    listed = [
        [one["eventSummary"]["openLineageRunEventSummary"] for one in p["items"]] for p in pages
    ]
    assert [[one["job"]["name"] for one in page] for page in listed] == [
        ["glue", "three", "two"], ["one"],
    ]  # fmt: skip
    assert listed[1][0]["runId"] == "11111111-2222-7333-8444-000000000001"
    assert listed[1][0]["inputs"] == [{"namespace": "s3://lake", "name": "a"}]


def test_listed_events_are_bounded_by_their_times_and_states(lake: DataZone) -> None:
    def jobs(**asked: Any) -> list[str]:
        reply = lake.client.list_lineage_events(
            domainIdentifier=DOMAIN, sortOrder="ASCENDING", **asked
        )
        runs = (one["eventSummary"]["openLineageRunEventSummary"] for one in reply["items"])
        return [one["job"]["name"] for one in runs]

    between = {
        "timestampAfter": datetime(2026, 3, 1, 10, 1, tzinfo=UTC),
        "timestampBefore": datetime(2026, 3, 1, 10, 4, tzinfo=UTC),
    }
    assert jobs(**between) == ["two", "three"]
    assert jobs(processingStatus="SUCCESS") == ["one", "two", "three", "glue"]
    assert jobs(processingStatus="FAILED") == jobs(processingStatus="PROCESSING") == []


def test_an_event_is_read_with_its_metadata(lake: DataZone) -> None:
    (*_, first) = lake.client.list_lineage_events(domainIdentifier=DOMAIN)["items"]
    reply = lake.client.get_lineage_event(domainIdentifier=DOMAIN, identifier=first["id"])
    assert json.loads(reply["event"].read())["job"] == {"namespace": "etl", "name": "one"}
    assert (reply["id"], reply["domainId"], reply["processingStatus"]) == (
        first["id"], DOMAIN, "SUCCESS",
    )  # fmt: skip
    assert reply["eventTime"] == datetime(2026, 3, 1, 10, 1, tzinfo=UTC)


def test_a_dataset_is_found_by_both_identifiers_and_its_neighbours_are_runs(lake: DataZone) -> None:
    reply = node(lake, "s3://lake/b/history")
    assert reply["typeName"] == "amazon.datazone.DatasetLineageNodeType"
    assert node(lake, reply["id"])["sourceIdentifier"] == "s3://lake/b/history"
    (above,), (below,) = reply["upstreamNodes"], reply["downstreamNodes"]
    assert (minutes([above]), minutes([below])) == ([1], [2])
    wrote = node(lake, above["id"])
    assert wrote["sourceIdentifier"] == "etl.one/11111111-2222-7333-8444-000000000001"
    assert node(lake, wrote["sourceIdentifier"])["id"] == above["id"]
    assert [one["id"] for one in wrote["downstreamNodes"]] == [reply["id"]]
    assert node(lake, "etl.one")["typeName"] == "amazon.datazone.JobLineageNodeType"


def test_a_node_is_as_it_was_at_a_time(lake: DataZone) -> None:
    at = datetime(2026, 3, 1, 10, 1, 30, tzinfo=UTC)
    reply = node(lake, "s3://lake/b/history", eventTimestamp=at)
    assert (len(reply["upstreamNodes"]), reply["downstreamNodes"]) == (1, [])


def test_a_table_of_glue_has_its_arn(lake: DataZone) -> None:
    arn = "arn:aws:glue:eu-west-1:123:table/db/t"
    assert node(lake, arn)["sourceIdentifier"] == arn
    assert node(lake, "arn:aws:glue:eu-west-1:123/table/db/t")["sourceIdentifier"] == arn


def test_forms_hold_facets_and_states_as_json(lake: DataZone) -> None:
    forms = {
        form["formName"]: json.loads(form["content"])
        for form in node(lake, "etl.one/11111111-2222-7333-8444-000000000001")["formsOutput"]
    }
    assert forms["HeadwaterRun"]["state"] == "completed"


def test_versions_of_a_node_by_direction_and_order(lake: DataZone) -> None:
    def versions(**asked: Any) -> list[int]:
        pages = lake.client.get_paginator("list_lineage_node_history").paginate(
            domainIdentifier=DOMAIN, identifier="s3://lake/c",
            PaginationConfig={"PageSize": 1}, **asked,
        )  # fmt: skip
        return minutes(one for page in pages for one in page["nodes"])

    assert versions() == [3, 2]
    assert versions(sortOrder="ASCENDING") == [2, 3]
    assert (versions(direction="UPSTREAM"), versions(direction="DOWNSTREAM")) == ([2], [3])
    since = datetime(2026, 3, 1, 10, 3, tzinfo=UTC)
    assert versions(eventTimestampGTE=since) == [3]


def clauses(identifier: str, way: str, steps: int, **filters: Any) -> list[Json]:
    relation = {"relationType": "LINEAGE", "relationDirection": way, "maxPathLength": steps}
    entity = {"entityType": "LINEAGE_NODE", "identifier": identifier, **filters}
    return [{"entityPattern": entity}, {"relationPattern": relation}]


def walked(lake: DataZone, *asked: Any, **filters: Any) -> list[str]:
    pages = lake.client.get_paginator("query_graph").paginate(
        domainIdentifier=DOMAIN, match=clauses(*asked, **filters), PaginationConfig={"PageSize": 2}
    )
    return [one["lineageNode"]["name"] for page in pages for one in page["items"]]


def test_a_walk_takes_datasets_and_runs_in_turn(lake: DataZone) -> None:
    assert walked(lake, "s3://lake/a", "OUT", 1) == ["one"]
    assert walked(lake, "s3://lake/a", "OUT", 4) == ["one", "b/history", "two", "c"]
    assert walked(lake, "s3://lake/c", "IN", 5) == ["two", "b/history", "one", "a"]
    run_of_two = "etl.two/11111111-2222-7333-8444-000000000002"
    assert walked(lake, run_of_two, "OUT", 2) == ["c", "three"]
    of_datasets = {
        "filter": {"attribute": "sourceIdentifier", "value": "LAKE", "operator": "TEXT_SEARCH"}
    }
    assert walked(lake, "s3://lake/a", "OUT", 4, filters=of_datasets) == ["b/history", "c"]
    early = {"attribute": "eventTimestamp", "intValue": 1_772_359_260, "operator": "LE"}
    either = {"or": [{"filter": early}, {"filter": {"attribute": "name", "value": "c"}}]}
    assert walked(lake, "s3://lake/a", "OUT", 4, filters=either) == ["one", "b/history", "c"]
    runs = {"attribute": "typeName", "value": "amazon.datazone.JobRunLineageNodeType"}
    late = {"attribute": "eventTimestamp", "intValue": 1_772_359_260, "operator": "GT"}
    both = {"and": [{"filter": runs}, {"filter": late}]}
    assert walked(lake, "s3://lake/d", "IN", 5, filters=both) == ["three", "two"]


def test_a_walk_shows_the_forms_that_it_is_asked_for_and_the_ids_beside(lake: DataZone) -> None:
    match = clauses("etl.two", "IN", 1)
    del match[1]["relationPattern"]["maxPathLength"]  # a step
    names = ["HeadwaterSchema", "HeadwaterRun"]
    (item,) = lake.client.query_graph(
        domainIdentifier=DOMAIN, match=match[::-1], additionalAttributes={"formNames": names}
    )["items"]
    found, alone = item["lineageNode"], node(lake, "s3://lake/b/history")
    assert (found["id"], found["domainId"]) == (alone["id"], DOMAIN)
    schema, *_ = alone["formsOutput"]
    assert found["formsOutput"] == [schema]
    (two,) = alone["downstreamNodes"]
    assert (found["upstreamLineageNodeIds"], found["downstreamLineageNodeIds"]) == ([], [two["id"]])


def test_a_walked_dataset_has_the_time_of_its_last_write_or_of_its_reading(lake: DataZone) -> None:
    match = clauses("s3://lake/c", "IN", 4)
    items = lake.client.query_graph(domainIdentifier=DOMAIN, match=match)["items"]
    found = [item["lineageNode"] for item in items]
    assert [(node["name"], node["eventTimestamp"].minute) for node in found] == [
        ("two", 2), ("b/history", 1), ("one", 1), ("a", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "asked", "name"),
    [
        ("get_lineage_event", {"identifier": "z" * 14}, "ResourceNotFoundException"),
        ("get_lineage_event", {"identifier": "0" * 12 + "ff"}, "ResourceNotFoundException"),
        ("get_lineage_event", {"identifier": "A"}, "ValidationException"),
        ("delete_lineage_event", {"identifier": "0" * 12 + "ff"}, "ResourceNotFoundException"),
        ("get_lineage_node", {"identifier": "s3://lake/none"}, "ResourceNotFoundException"),
        ("get_lineage_node", {"identifier": "x" * 2087}, "ValidationException"),
        ("list_lineage_events", {"maxResults": 51}, "ValidationException"),
        ("list_lineage_events", {"nextToken": "x"}, "ValidationException"),
        ("list_lineage_events", {"processingStatus": "LOST"}, "ValidationException"),
        ("list_lineage_node_history", {"identifier": "s3://lake/a", "direction": "UP"},
         "ValidationException"),
        ("query_graph", {"match": clauses("s3://lake/a", "OUT", 5)[:1] * 2}, "ValidationException"),
        ("query_graph", {"match": clauses("s3://lake/a", "BACK", 5)}, "ValidationException"),
        ("query_graph", {"match": clauses("s3://lake/a", "OUT", 1, filters={"filter": {
            "attribute": "size", "value": "1"}})}, "ValidationException"),
    ],
)  # fmt: skip
def test_errors_have_the_names_of_the_service(
    lake: DataZone, call: str, asked: Json, name: str
) -> None:
    with pytest.raises(lake.client.exceptions.ClientError) as raised:
        getattr(lake.client, call)(domainIdentifier=DOMAIN, **asked)
    assert raised.value.response["Error"]["Code"] == name


def test_the_token_of_a_page_is_of_that_list_alone(lake: DataZone) -> None:
    history = {"identifier": "s3://lake/c", "sortOrder": "DESCENDING"}
    graph = {"match": clauses("s3://lake/a", "OUT", 4)}
    events = {"sortOrder": "DESCENDING"}
    named_c = {"filter": {"attribute": "name", "value": "c"}}
    others: tuple[tuple[str, Json, Json], ...] = (
        ("list_lineage_events", events, {"sortOrder": "ASCENDING"}),
        ("list_lineage_node_history", history, {"identifier": "s3://lake/b/history"}),
        ("list_lineage_node_history", history, {"direction": "UPSTREAM"}),
        ("list_lineage_node_history", history, {"sortOrder": "ASCENDING"}),
        ("query_graph", graph, {"match": clauses("s3://lake/b/history", "OUT", 4)}),
        ("query_graph", graph, {"match": clauses("s3://lake/a", "OUT", 3)}),
        ("query_graph", graph, {"match": clauses("s3://lake/a", "OUT", 4, filters=named_c)}),
    )
    for call, asked, other in others:
        own = {"domainIdentifier": DOMAIN, "maxResults": 1} | asked
        ask = getattr(lake.client, call)
        token = ask(**own)["nextToken"]
        ask(**own, nextToken=token)
        with pytest.raises(lake.client.exceptions.ValidationException, match="nextToken"):
            ask(**own | other, nextToken=token)


def test_an_event_is_deleted_once_and_for_ever() -> None:
    made = small_headwater()
    with serving_client(client_of(made, NOW)) as address:
        datazone = DataZone(made, client_at(address))
        posted = datazone.post(event())["id"]
        made.project()
        for _ in range(2):
            reply = datazone.client.delete_lineage_event(domainIdentifier=DOMAIN, identifier=posted)
            assert reply["id"] == posted
            made.project()
        assert made.journal.document(int(posted, 16)) is None
        with pytest.raises(datazone.client.exceptions.ResourceNotFoundException):
            datazone.client.get_lineage_event(domainIdentifier=DOMAIN, identifier=posted)
        datazone.post(event())  # it is taken, and forgotten again
        made.project()
        assert datazone.client.list_lineage_events(domainIdentifier=DOMAIN)["items"] == []
    made.close()


def test_an_event_that_names_something_hidden_is_not_shown() -> None:
    made = small_headwater()
    with running(made):
        flask = client_of(made, NOW)
        with serving_client(flask) as address:
            datazone = DataZone(made, client_at(address))
            posted = [datazone.post(one)["id"] for one in RUNS]
            eventually(lambda: made.journal.summary().projected == len(RUNS))
            assert (
                flask.post(
                    "/commands", json={"command": "hide", "node": "dataset:s3://lake/a"}
                ).status_code
                == 202
            )
            listed = datazone.client.list_lineage_events(domainIdentifier=DOMAIN)["items"]
            assert [one["id"] for one in listed] == [posted[2], posted[1]]
            with pytest.raises(datazone.client.exceptions.ResourceNotFoundException):
                datazone.client.get_lineage_event(domainIdentifier=DOMAIN, identifier=posted[0])


# --- assets and domains --------------------------------------------------------------------------


def test_a_dataset_is_an_asset_whose_revisions_are_its_writes(lake: DataZone) -> None:
    asked = {"domainIdentifier": DOMAIN, "identifier": "s3://lake/b/history"}
    asset = lake.client.get_asset(**asked)
    assert asset["typeIdentifier"] == "amazon.datazone.S3ObjectCollectionAssetType"
    assert (asset["name"], asset["externalIdentifier"]) == ("b/history", "s3://lake/b/history")
    (item,) = lake.client.list_asset_revisions(**asked)["items"]
    assert (item["id"], item["revision"]) == (asset["id"], asset["revision"])
    assert item["createdAt"] == datetime(2026, 3, 1, 10, 1, tzinfo=UTC)
    for identifier in (asset["id"], f"amazon.datazone.asset/{asset['id']}"):
        again = lake.client.get_asset(
            domainIdentifier=DOMAIN, identifier=identifier, revision=item["revision"]
        )
        assert {**again, "ResponseMetadata": {}} == {**asset, "ResponseMetadata": {}}
    glue = "arn:aws:glue:eu-west-1:123:table/db/t"
    kind = lake.client.get_asset(domainIdentifier=DOMAIN, identifier=glue)["typeIdentifier"]
    assert kind == "amazon.datazone.GlueTableAssetType"


@pytest.mark.parametrize(
    "asked",
    [{"identifier": "s3://lake/none"}, {"identifier": "s3://lake/d", "revision": "1"},
     {"identifier": "etl.one"}],
)  # fmt: skip
def test_no_asset_is_a_resource_that_is_not_found(lake: DataZone, asked: Json) -> None:
    with pytest.raises(lake.client.exceptions.ResourceNotFoundException):
        lake.client.get_asset(domainIdentifier=DOMAIN, **asked)


def test_a_domain_is_the_jobs_of_its_namespace() -> None:
    made = small_headwater()
    domains = {"HEADWATER_DATAZONE_DOMAINS": "dzd_sales=sales.,dzd_hr=hr."}
    sales = event(job={"namespace": "sales.eu", "name": "one"})
    staff = event(
        job={"namespace": "hr.all", "name": "two"},
        run={"runId": "11111111-2222-7333-8444-000000000002"},
    )
    with serving_client(client_of(made, NOW), **domains) as address:
        datazone = DataZone(made, client_at(address))
        kept = datazone.post(sales, "dzd_sales")["id"]
        other = datazone.post(staff, "dzd_hr")["id"]
        made.project()
        raised = datazone.client.exceptions
        with pytest.raises(raised.ValidationException, match=r"job\.namespace"):
            datazone.post(sales, "dzd_hr")
        with pytest.raises(raised.ResourceNotFoundException, match="domain"):
            datazone.post(sales)
        listed = datazone.client.list_lineage_events(domainIdentifier="dzd_sales")["items"]
        assert [one["id"] for one in listed] == [kept]
        get = datazone.client.get_lineage_node
        found = get(domainIdentifier="dzd_sales", identifier="s3://lake/a")
        assert len(found["downstreamNodes"]) == 1
        assert get(domainIdentifier="dzd_hr", identifier="hr.all.two")["name"] == "two"
        for asked in ("hr.all.two", identity.job_id("hr.all", "two")):
            with pytest.raises(raised.ResourceNotFoundException):
                get(domainIdentifier="dzd_sales", identifier=asked)
        for ask in (datazone.client.get_lineage_event, datazone.client.delete_lineage_event):
            with pytest.raises(raised.ResourceNotFoundException):
                ask(domainIdentifier="dzd_sales", identifier=other)
    made.close()


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("list_domains", {}),
        ("get_domain", {"identifier": DOMAIN}),
        ("get_project", {"domainIdentifier": DOMAIN, "identifier": "p1"}),
        ("list_projects", {"domainIdentifier": DOMAIN}),
        ("delete_asset", {"domainIdentifier": DOMAIN, "identifier": "a1"}),
        ("search", {"domainIdentifier": DOMAIN, "searchScope": "ASSET"}),
        ("list_tags_for_resource", {"resourceArn": ARN}),
        ("tag_resource", {"resourceArn": ARN, "tags": {"team": "etl"}}),
        ("untag_resource", {"resourceArn": ARN, "tagKeys": ["team"]}),
    ],
)
def test_an_operation_that_is_not_served_has_the_name_of_an_exception(
    datazone: DataZone, operation: str, given: Json
) -> None:
    missing = datazone.client.exceptions.ResourceNotFoundException
    with pytest.raises(missing, match="those of lineage, GetAsset and ListAssetRevisions") as info:
        getattr(datazone.client, operation)(**given)
    assert info.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404
    assert info.value.response["ResponseMetadata"]["RequestId"]
