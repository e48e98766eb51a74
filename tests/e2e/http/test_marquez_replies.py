"""Replies of Marquez 0.51.1 to questions about 21 events, beside ours (docs/marquez.md).

``tests/fixtures/marquez`` has the events (runs with columns, a failed, an aborted and a running
one, a parent, a JobEvent, a DatasetEvent) and a reply a line, recorded from Marquez on PostgreSQL
15. Compared are statuses, fields, types, values, orders and totals; of ids of versions, which each
server makes, whether there is one. What is different is written down below, with the reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from flask.testing import FlaskClient

from graph_model.values import parse_instant
from tests.e2e.small_client import client_of
from tests.projections import lineage_event, small_headwater

_RECORDED: Final = Path(__file__).parents[2] / "fixtures" / "marquez"
_NOW: Final = parse_instant("2026-03-04T12:00:00Z")
_VERSIONS: Final = frozenset(
    {"version", "currentVersion", "currentSchemaVersion", "datasetVersion", "parentJobUuid"}
)
_IN_ORDER: Final = ("jobs", "datasets", "versions", "runs", "events", "results", "namespaces")
"""Lists that a client shows as they come."""
Json = Any


def _lines(name: str) -> list[Json]:
    return [json.loads(line) for line in (_RECORDED / name).read_text().splitlines()]


REPLIES: Final = _lines("replies.jsonl")


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    made = small_headwater()
    made.accept(*map(lineage_event, _lines("events.jsonl")))
    made.project()
    yield client_of(made, _NOW)
    made.close()


#: What is asked, what is different (both as patterns of the whole text), and why it stays so.
KNOWN: Final[tuple[tuple[str, str, str], ...]] = (
    (".*", r".*\.sourceName: .*", "a source is a namespace of datasets here"),
    ("/sources/warehouse", "status 200 here 404", "so nobody has the name of a dataSource facet"),
    ("/namespaces.*", r".*\.(createdAt|updatedAt): .* here '1970.*", "nobody says when one began"),
    ("/namespaces.*", r".*\[default\]\.description: .*", "our words"),
    ("/tags.*", r"\.tags\[PII\]: missing", "a tag is there once something carries it"),
    (
        ".*",
        r".*\.createdAt: '2026-03-0\d.* here '2026-03-0\d.*",
        "a node exists from its first report that dates it: the end of a run, not its START",
    ),
    (
        ".*",
        r".*\.lastModifiedAt: None here '.*",
        "the last write; Marquez sets it from runs that its deprecated API made",
    ),
    (
        ".*",
        r".*bronze/stream\].*\.updatedAt: '2026-11-29.*",
        "the event's time, not the clock of the server that took it",
    ),
    (
        ".*",
        r".*\.transformationType: (None here 'IDENTITY'|'AGGREGATION' here 'TRANSFORM.*)",
        "transformations of the columnLineage facet, which Marquez drops; of a deprecated field"
        " only the values of the specification are read",
    ),
    (".*column-lineage.*", r".*\.fieldType: '' here '.*", "a source column has a type, too"),
    (
        ".*",
        r".*ref/(out|countries).*\.?(currentVersion|description|facets.schema|fields\[code\]|"
        "lastLifecycleState): .*",
        "a declaration is a statement as good as a run's",
    ),
    (".*ref%2Fcountries", r"\.description: None here 'countries'", "likewise"),
    (".*", r".*\.(in|out)puts\[s3://lake ref/.*\]: extra", "likewise"),
    ("/jobs.*FAILED", r"\.jobs\[etl declared\]: missing|\.totalCount: 7 here 0", "without a run"),
    (
        ".*",
        r"(.*000015\](\.createdByRun)?)?\.outputDatasetVersions\[s3://lake gold/totals\]: missing",
        "a failed run wrote no version",
    ),
    (
        ".*/versions.*",
        r".*\.latestRun\.(facets|inputDatasetVersions).*: (missing|extra)",
        "the facets of the run, where Marquez has those of its job",
    ),
    ("/lineage.*", r".*job:etl:report\]: missing", "a job that shares an input is no neighbour"),
    (
        "/lineage.*",
        r".*\[job:airflow:daily\.load\]\.data\.(latestRun\..*|currentRunUuid: .*)",
        "the job's own run, where Marquez has its parent's",
    ),
    ("/search.*", r"\.results.*\.updatedAt: .*", "a dataset's last write, not its last read"),
    ("/search.*", r"\.results: order", "sorted by what is asked for, which Marquez does not"),
    (
        "/search.*after.*",
        r"\.results\[(etl totals\]: missing|.*stream\]: extra)|.*Count: 10.*11",
        "by event time: a failed run is none that changed something, a running one is",
    ),
    (
        "/events/lineage.*",
        r"\.events.*: missing",
        "the event as it was posted; Marquez adds a null for each facet that it knows",
    ),
    ("/events/lineage.*", r"\.totalCount: 21 here 19", "it counts what it lists: events of runs"),
    (".*", r"\.(message: .*|errors\[.*\]: (missing|extra))", "other words"),
    ("/nope", r"\.(errors|status): extra", "no route of Marquez's: our own body for errors"),
)


def differences(theirs: Json, ours: Json, place: str = "") -> Iterator[str]:
    """Each difference as a text: its place and both values, as short as they tell something."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        yield from (f"{place}.{key}: missing" for key in sorted(theirs.keys() - ours.keys()))
        extra = ours.keys() - theirs.keys() - {"partial"}
        yield from (f"{place}.{key}: extra" for key in sorted(extra))
        for key in sorted(theirs.keys() & ours.keys()):
            if key not in _VERSIONS or (theirs[key] is None) != (ours[key] is None):
                yield from differences(theirs[key], ours[key], f"{place}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list):
        yield from _of_lists(theirs, ours, place)
    elif type(theirs) is not type(ours) or _plain(theirs) != _plain(ours):
        yield f"{place}: {_plain(theirs)!r} here {_plain(ours)!r}"


def _of_lists(theirs: list[Json], ours: list[Json], place: str) -> Iterator[str]:
    named, own = ({_name(item): item for item in items} for items in (theirs, ours))
    yield from (f"{place}[{name}]: missing" for name in named if name not in own)
    yield from (f"{place}[{name}]: extra" for name in own if name not in named)
    for name in named:
        if name in own:
            yield from differences(named[name], own[name], f"{place}[{name}]")
    both = [name for name in named if name in own]
    if both != [name for name in own if name in named] and place.endswith(_IN_ORDER):
        yield f"{place}: order"


def _name(item: Json) -> str:
    """What tells an item of a list from the others: an id, or the names that it has."""
    if not isinstance(item, dict):
        return str(item)
    if "startedAt" in item:
        return str(item["id"])
    if isinstance(key := item.get("id") or item.get("datasetVersionId"), str):
        return key
    if "run" in item:
        return f"{item['eventType']} {item['run']['runId']}"
    if "createdByRun" in item:
        return str((item["createdByRun"] or {}).get("id"))
    named = {**item, **(key or {})}
    kept = ("namespace", "dataset", "name", "field", "origin", "destination")
    return " ".join(str(named[word]) for word in kept if word in named)


def _plain(value: Json) -> Json:
    """08:00:00.000Z => 08:00:00Z."""
    return re.sub(r"\.0+Z$", "Z", value) if isinstance(value, str) else value


def known(path: str, difference: str) -> int | None:
    """The place of the line in the table that says so."""
    for place, (asked, text, _) in enumerate(KNOWN):
        if re.fullmatch(asked, path) and re.fullmatch(text, difference, re.DOTALL):
            return place
    return None


def answered(client: FlaskClient, recorded: Json) -> list[str]:
    """The differences of one reply."""
    reply = client.get(f"/api/v1{recorded['path']}")
    if reply.status_code != recorded["status"]:
        return [f"status {recorded['status']} here {reply.status_code}"]
    return [*differences(recorded["reply"], reply.get_json())]


@pytest.mark.parametrize("recorded", REPLIES, ids=[reply["path"] for reply in REPLIES])
def test_a_reply_is_that_of_marquez_but_for_what_is_known(
    client: FlaskClient, recorded: Json
) -> None:
    unknown = [text for text in answered(client, recorded) if known(recorded["path"], text) is None]
    assert unknown == []


def test_each_known_difference_is_still_there(client: FlaskClient) -> None:
    used = Counter(
        known(recorded["path"], text) for recorded in REPLIES for text in answered(client, recorded)
    )
    assert [line for place, line in enumerate(KNOWN) if not used[place]] == []
