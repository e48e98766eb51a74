"""A DataZone domain, answered by a client with botocore's own models of AWS."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.response import StreamingBody
from botocore.stub import ANY, Stubber

from collectors.harvesting.datazone import DataZoneEvents
from graph_model.errors import HeadwaterError, Unavailable

NOON = 1_772_366_400_000
DOMAIN = "dzd_a1"
Json = dict[str, Any]


def event(name: str) -> Json:
    return {"eventType": "COMPLETE", "job": {"namespace": "etl", "name": name}}


def item(key: str, name: str, output: str = "out") -> Json:
    told = {
        "eventType": "COMPLETE",
        "runId": "r",
        "job": {"namespace": "etl", "name": name},
        "inputs": [],
        "outputs": [{"namespace": "s3://lake", "name": output}],
    }
    return {
        "id": key.rjust(14, "0"),
        "eventTime": datetime.fromtimestamp(NOON / 1000, UTC),
        "eventSummary": {"openLineageRunEventSummary": told},
    }


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> DataZoneEvents:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    return DataZoneEvents("eu-west-1", DOMAIN, "sales*")


@pytest.fixture
def aws(source: DataZoneEvents) -> Iterator[Stubber]:
    with Stubber(source._client) as stubber:
        yield stubber


def listed(aws: Stubber, items: list[Json], token: str = "", **expected: Any) -> None:
    asked = {
        "domainIdentifier": DOMAIN, "maxResults": 50, "sortOrder": "ASCENDING",
        "timestampAfter": ANY, **expected,
    }  # fmt: skip
    reply = {"items": items, **({"nextToken": token} if token else {})}
    aws.add_response("list_lineage_events", reply, asked)


def test_events_of_all_pages_that_fit_are_taken_as_they_were_sent(
    source: DataZoneEvents, aws: Stubber
) -> None:
    listed(aws, [item("1", "sales.load"), item("2", "hr.load")], "next")
    listed(aws, [item("3", "any", "sales_totals"), item("4", "sales.known")], nextToken="next")
    known = {"4".rjust(14, "0")}
    found = list(source.findings(NOON, known))
    assert [(one.key, one.at) for one in found] == [
        ("1".rjust(14, "0"), NOON), ("3".rjust(14, "0"), NOON),
    ]  # fmt: skip
    body = json.dumps(event("sales.load")).encode()
    reply = {"event": StreamingBody(io.BytesIO(body), len(body))}
    asked = {"domainIdentifier": DOMAIN, "identifier": "1".rjust(14, "0")}
    aws.add_response("get_lineage_event", reply, asked)
    assert list(found[0].events()) == [event("sales.load")]


def test_an_event_that_was_deleted_meanwhile_is_none(source: DataZoneEvents, aws: Stubber) -> None:
    listed(aws, [item("1", "sales.load")])
    (found,) = source.findings(0, ())
    aws.add_client_error("get_lineage_event", "ResourceNotFoundException")
    assert list(found.events()) == []


@pytest.mark.parametrize(
    ("code", "error"),
    [("ThrottlingException", Unavailable), ("AccessDeniedException", HeadwaterError)],
)
def test_a_refusal_ends_the_round_and_a_bottleneck_is_met_later(
    source: DataZoneEvents, aws: Stubber, code: str, error: type[HeadwaterError]
) -> None:
    aws.add_client_error("list_lineage_events", code)
    with pytest.raises(error) as raised:
        list(source.findings(0, ()))
    assert isinstance(raised.value, Unavailable) is (error is Unavailable)
