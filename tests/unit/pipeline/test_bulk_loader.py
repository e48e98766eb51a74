"""The bulk loader's calls, against a stub that checks every parameter and answer of boto3."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError
from botocore.stub import Stubber

from graph_model.errors import ConfigurationError, HeadwaterError, Unavailable
from pipeline.command_line import _two_loads
from pipeline.loading import BulkLoad, LoadRequest, open_client

ROLE = "arn:aws:iam::123456789012:role/load"
REQUEST = LoadRequest("s3://bucket/lineage/today/", "eu-west-1", ROLE)
VERTICES, EDGES = "11111111-load", "22222222-load"


@pytest.fixture
def client() -> Any:
    return boto3.client(
        "neptunedata",
        endpoint_url="https://cluster.example.org:8182",
        region_name="eu-west-1",
        aws_access_key_id="nobody",
        aws_secret_access_key="nothing",
    )


@pytest.fixture
def stub(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


class Recorder:
    """The messages, and the pauses."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.pauses: list[float] = []

    def load(self, client: Any) -> BulkLoad:
        return BulkLoad(client, self.lines.append, self.pauses.append, every_seconds=7)


def start(part: str, **more: Any) -> dict[str, Any]:
    return {
        "source": f"s3://bucket/lineage/today/{part}/",
        "format": "csv",
        "s3BucketRegion": "eu-west-1",
        "iamRoleArn": ROLE,
        "mode": "NEW",
        "failOnError": True,
        "parallelism": "HIGH",
        "parserConfiguration": {"allowEmptyStrings": "true"},
        "updateSingleCardinalityProperties": False,
        "queueRequest": True,
        **more,
    }


def expect_starts(stub: Stubber) -> None:
    for identifier, asked in (
        (VERTICES, start("vertices")),
        (EDGES, start("edges", dependencies=[VERTICES])),
    ):
        answer = {"status": "200 OK", "payload": {"loadId": identifier}}
        stub.add_response("start_loader_job", answer, asked)


def expect_status(stub: Stubber, identifier: str, status: str, **counts: int) -> None:
    overall = {
        "status": status, "totalRecords": 0, "totalDuplicates": 0, "totalTimeSpent": 3,
        "parsingErrors": 0, "datatypeMismatchErrors": 0, "insertErrors": 0, **counts,
    }  # fmt: skip
    payload = {"feedCount": [{status: 1}], "overallStatus": overall}
    stub.add_response(
        "get_loader_job_status", {"status": "200 OK", "payload": payload}, {"loadId": identifier}
    )


def test_vertices_are_loaded_before_edges_and_both_are_watched(client: Any, stub: Stubber) -> None:
    expect_starts(stub)
    expect_status(stub, VERTICES, "LOAD_IN_QUEUE")
    expect_status(stub, VERTICES, "LOAD_IN_PROGRESS", totalRecords=5)
    expect_status(stub, VERTICES, "LOAD_COMPLETED", totalRecords=9)
    expect_status(stub, EDGES, "LOAD_COMPLETED", totalRecords=20)
    recorder = Recorder()
    recorder.load(client).run(REQUEST)
    assert recorder.pauses == [7, 7]
    assert f"--resume {VERTICES},{EDGES}" in recorder.lines[2]
    assert recorder.lines[0] == f"vertices: load {VERTICES} of s3://bucket/lineage/today/vertices/"
    assert "vertices: LOAD_IN_PROGRESS: 5 records" in recorder.lines[4]
    assert "edges: LOAD_COMPLETED: 20 records" in recorder.lines[-1]


def test_an_interrupted_watch_goes_on_and_starts_nothing(client: Any, stub: Stubber) -> None:
    expect_status(stub, VERTICES, "LOAD_IN_PROGRESS")
    stub.add_client_error("get_loader_job_status", "ServerShutdownException")
    expect_status(stub, VERTICES, "LOAD_COMPLETED")
    expect_status(stub, EDGES, "LOAD_COMPLETED")
    recorder = Recorder()
    recorder.load(client).watch(VERTICES, EDGES)
    assert recorder.pauses == [7, 1]


@pytest.mark.parametrize("text", ["", "one", "one,", ",two", "one,two,three"])
def test_resume_takes_the_ids_of_two_loads(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="two loads"):
        _two_loads(text)
    assert _two_loads("one, two") == ("one", "two")


def test_a_load_that_fails_tells_its_errors_and_its_files(client: Any, stub: Stubber) -> None:
    expect_starts(stub)
    expect_status(stub, VERTICES, "LOAD_FAILED", parsingErrors=1)
    failed = {
        "overallStatus": {"status": "LOAD_FAILED"},
        "failedFeeds": [{"fullUri": "s3://bucket/part-00000.gz", "status": "LOAD_FAILED"}],
        "errors": {
            "errorLogs": [
                {"errorCode": "PARSING_ERROR", "errorMessage": "bad quote", "recordNum": 7,
                 "fileName": "s3://bucket/part-00000.gz"}
            ]
        },
    }  # fmt: skip
    asked = {"loadId": VERTICES, "details": True, "errors": True, "page": 1, "errorsPerPage": 100}
    stub.add_response("get_loader_job_status", {"status": "200", "payload": failed}, asked)
    expect_status(stub, EDGES, "LOAD_FAILED_BECAUSE_DEPENDENCY_NOT_SATISFIED")
    nothing = {"overallStatus": {"status": "LOAD_FAILED_BECAUSE_DEPENDENCY_NOT_SATISFIED"}}
    stub.add_response(
        "get_loader_job_status", {"status": "200", "payload": nothing}, asked | {"loadId": EDGES}
    )
    recorder = Recorder()
    with pytest.raises(HeadwaterError, match="DEPENDENCY_NOT_SATISFIED"):
        recorder.load(client).run(REQUEST)
    assert "vertices: s3://bucket/part-00000.gz: LOAD_FAILED" in recorder.lines
    assert any("PARSING_ERROR: bad quote" in line and "record 7" in line for line in recorder.lines)


def test_a_load_that_completed_with_errors_is_not_well(client: Any, stub: Stubber) -> None:
    request = LoadRequest(
        "s3a://bucket/lineage/today", "eu-west-1", ROLE, "OVERSUBSCRIBE", fail_on_error=False
    )
    for identifier, asked in ((VERTICES, {}), (EDGES, {"dependencies": [VERTICES]})):
        part = "edges" if asked else "vertices"
        stub.add_response(
            "start_loader_job",
            {"status": "200 OK", "payload": {"loadId": identifier}},
            start(part, failOnError=False, parallelism="OVERSUBSCRIBE", **asked),
        )
    expect_status(stub, VERTICES, "LOAD_COMPLETED")
    expect_status(stub, EDGES, "LOAD_COMPLETED", insertErrors=2)
    stub.add_response(
        "get_loader_job_status", {"status": "200", "payload": {"overallStatus": {}}}, None
    )
    with pytest.raises(HeadwaterError, match=r"edges: LOAD_COMPLETED.* 2 errors"):
        Recorder().load(client).run(request)


def test_a_full_queue_is_asked_again_with_longer_pauses(client: Any, stub: Stubber) -> None:
    for _ in range(3):
        stub.add_client_error("start_loader_job", "TooManyRequestsException")
    expect_starts(stub)
    stub.add_client_error("get_loader_job_status", "ThrottlingException")
    expect_status(stub, VERTICES, "LOAD_COMPLETED")
    expect_status(stub, EDGES, "LOAD_COMPLETED")
    recorder = Recorder()
    recorder.load(client).run(REQUEST)
    assert recorder.pauses == [1, 2, 4, 1]


def test_a_queue_that_stays_full_ends_the_wait(client: Any, stub: Stubber) -> None:
    for _ in range(6):
        stub.add_client_error("start_loader_job", "TooManyRequestsException")
    with pytest.raises(Unavailable, match="TooManyRequests"):
        Recorder().load(client).run(REQUEST)


@pytest.mark.parametrize("code", ["LoadUrlAccessDeniedException", "InvalidParameterException"])
def test_a_request_that_neptune_refuses_is_not_sent_again(
    client: Any, stub: Stubber, code: str
) -> None:
    stub.add_client_error("start_loader_job", code, "no role")
    with pytest.raises(HeadwaterError, match="no role"):
        Recorder().load(client).run(REQUEST)


class Silent:
    """Times out; counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def start_loader_job(self, **_: Any) -> None:
        self.asked += 1
        raise ConnectTimeoutError(endpoint_url="https://x:8182")


def test_a_start_that_may_have_happened_is_not_repeated() -> None:
    client = Silent()
    with pytest.raises(Unavailable, match="does not answer"):
        Recorder().load(client).run(REQUEST)
    assert client.asked == 1


def test_only_s3_and_known_parallelism_are_taken() -> None:
    with pytest.raises(ConfigurationError, match="s3"):
        LoadRequest("/tmp/out", "eu-west-1", ROLE)
    with pytest.raises(ConfigurationError, match="OVERSUBSCRIBE"):
        LoadRequest("s3://b/p", "eu-west-1", ROLE, "MAXIMUM")


def test_the_prefix_may_be_the_bucket_itself() -> None:
    request = LoadRequest("s3://bucket", "eu-west-1", ROLE)
    assert request.parameters("edges", ())["source"] == "s3://bucket/edges/"


def test_the_client_speaks_to_the_endpoint_named() -> None:
    client = open_client("cluster.example.org:8182", "eu-west-1")
    assert client.meta.endpoint_url == "https://cluster.example.org:8182"
