"""OpenLineage's compatibility suite for consumers, of a checkout that a variable names.

    git clone https://github.com/OpenLineage/compatibility-tests /tmp/suite
    HEADWATER_TEST_COMPATIBILITY=/tmp/suite make test-parts PARTS=openlineage

Nothing of it is here. Its outcomes are the links that its Dataplex consumer must have.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from graph_model.naming import normalise, openlineage_uri
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, small_headwater

pytestmark = [pytest.mark.part("openlineage"), pytest.mark.timeout(300)]
VARIABLE: Final = "HEADWATER_TEST_COMPATIBILITY"
CHECKOUT: Final = os.environ.get(VARIABLE, "")
_NOW: Final = 1_900_000_000_000
Json = dict[str, Any]


def scenarios() -> list[str]:
    folder = Path(CHECKOUT, "consumer", "scenarios")
    return sorted(path.name for path in folder.iterdir() if (path / "events").is_dir())


def events_of(scenario: str) -> list[Json]:
    files = sorted(Path(CHECKOUT, "consumer", "scenarios", scenario, "events").glob("*.json"))
    return [json.loads(path.read_text("utf-8")) for path in files]


def links_of(scenario: str) -> Iterator[tuple[str, str]]:
    for path in Path(CHECKOUT, "consumer", "consumers").glob(
        f"*/scenarios/{scenario}/**/links.json"
    ):
        for link in json.loads(path.read_text("utf-8")):
            yield link["source"]["fully_qualified_name"], link["target"]["fully_qualified_name"]


def datasets_of(events: list[Json]) -> set[tuple[str, str]]:
    return {
        (dataset["namespace"], dataset["name"])
        for event in events
        for side in ("inputs", "outputs")
        for dataset in event.get(side) or ()
    }


def qualified(namespace: str, name: str) -> str:
    """As Dataplex calls a dataset: gs://bucket a/b => gcs:bucket.`a/b`."""
    scheme, _, authority = namespace.partition("://")
    if scheme == "gs":
        return f"gcs:{authority}.`{name}`"
    if scheme == "file":
        return f"filesystem:localhost.`{name.strip('/')}`"
    if scheme == "hdfs":
        return f"dbfs:{authority}.{name.strip('/')}"
    return f"{scheme}:{name}"


@pytest.fixture
def made() -> Iterator[SmallHeadwater]:
    made = small_headwater()
    yield made
    made.close()


def below(client: FlaskClient, uri: str) -> set[str]:
    query = {"node": f"dataset:{uri}", "depth": 1, "direction": "downstream"}
    reply = client.get("/graph/lineage", query_string=query)
    assert reply.status_code == 200, (uri, reply.text)
    return {node["uri"] for node in reply.get_json()["nodes"] if node["kind"] == "dataset"} - {uri}


@pytest.mark.skipif(not CHECKOUT, reason=f"{VARIABLE} names no checkout of its repository")
def test_every_event_is_taken_and_every_expected_link_is_drawn(made: SmallHeadwater) -> None:
    client = client_of(made, _NOW)
    posted = links = 0
    for scenario in scenarios():
        events = events_of(scenario)
        for event in events:
            reply = client.post("/api/v1/lineage", json=event)
            assert reply.status_code == 201, (scenario, reply.text)
        made.project()
        posted += len(events)
        names = {
            qualified(*pair): normalise(openlineage_uri(*pair), "") for pair in datasets_of(events)
        }
        for source, target in links_of(scenario):
            if source in names and target in names:
                ((place,), (other,)) = names[source], names[target]
                assert other.uri in below(client, place.uri), (scenario, source, target)
                links += 1
    assert client.get("/journal?state=failed").get_json()["items"] == []
    assert posted >= 74
    assert links >= 10
