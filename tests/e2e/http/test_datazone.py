"""DataZone's PostLineageEvent, as boto3 calls it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.config import Config

from graph_model.stores.keys import Key
from graph_model.stores.roles import Role
from tests.e2e.small_client import client_of, serving_client
from tests.projections import SmallHeadwater, small_headwater

NOW = 1_772_400_000_000
DOMAIN = "dzd_a1b2c3"
Json = dict[str, Any]


class OneKey:
    """Of a producer."""

    text = "hw_jobs"

    def exist(self) -> bool:
        return True

    def find(self, text: str) -> Key | None:
        roles = frozenset({Role.PRODUCER})
        return Key("1", "jobs", roles, "", 0, "", "jobs", 0) if text == self.text else None


def client_at(address: str) -> Any:
    return boto3.client(
        "datazone",
        endpoint_url=address,
        region_name="eu-west-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
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
    assert datazone.made.journal.summary().received == received
    assert datazone.post(event(eventType="START"))["id"] != first


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
    with pytest.raises(datazone.client.exceptions.ClientError):
        datazone.post(event(), domain)


def test_a_token_that_the_service_cannot_have_is_refused(datazone: DataZone) -> None:
    with pytest.raises(datazone.client.exceptions.ValidationException, match="clientToken"):
        datazone.post(event(), clientToken="x" * 129)


def test_where_keys_are_needed_a_signature_alone_is_refused() -> None:
    made = small_headwater()
    with serving_client(client_of(made, NOW, OneKey())) as address:
        client = client_at(address)
        with pytest.raises(client.exceptions.UnauthorizedException, match="not checked here"):
            DataZone(made, client).post(event())

        def with_key(request: Any, **_: Any) -> None:
            request.headers["X-API-Key"] = OneKey.text

        client.meta.events.register("before-sign.datazone", with_key)
        assert DataZone(made, client).post(event())["domainId"] == DOMAIN
    made.close()
