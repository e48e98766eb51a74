"""Jobs and tables at the ends of chains leave no trace once they are hidden: no name, no count, no
bound that they met.

Of two small Headwaters one received further documents, of jobs that only read what the other has.
These jobs and the tables that they write are hidden; then both answer every question alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.governance.test_hiding import (
    ASKED,
    LAKE,
    NOW,
    START,
    Asked,
    Json,
    TwoKeys,
    a_flow,
    a_run,
    accept,
    events,
    known,
    plans,
    state,
    table,
)
from tests.e2e.small_client import client_of, running
from tests.projections import SmallHeadwater, small_headwater

#: Questions about documents, and those that people govern hidden nodes with.
OF_DOCUMENTS: Final = {
    "journal.journal", "datazone.list_events", "datazone.get_event",
    "marquez.events", "marquez.events_of", "marquez.every_event",
}  # fmt: skip
DECLARED: Final = {"target": f"{LAKE}/sheet", "sources": [f"{LAKE}/quietly"], "job": "ops/typing"}
CATALOG: Final = "unitycatalog://other.example.org"
HIDDEN: Final = (
    "job:default/murk",
    "job:ops/ghost",
    "job:ops/watch",
    f"dataset:{LAKE}/shadow",
    f"dataset:{LAKE}/shade",
    "dataset:s3://vault/deep/shell",
    f"dataset:{CATALOG}/main.hr.t",
)


def _further_plans() -> Iterator[Json]:
    for number, source in enumerate(("report", "out"), 10):
        yield a_flow(number, "murk", source, "shadow") | {"labels": {"mood": ["low"]}}


def _further_events() -> Iterator[Json]:
    """Reads, lineage of columns, a failure, and a run below a run; none is the newest event."""
    derived = {
        "fields": {"gloom": {"inputFields": [_loud("DIRECT", "IDENTITY")]}},
        "dataset": [_loud("INDIRECT", "FILTER")],
    }
    shell = {**table("deep/shell", "gloom"), "namespace": "s3://vault"}
    same = {**table("main.hr.t", "gloom"), "namespace": CATALOG}
    shade = table("shade", "gloom", columnLineage=derived)
    below = a_run("ghost", 6, [_read("loudly")], [shell], "ops")
    parent = {"run": {"runId": "run-3"}, "job": {"namespace": "bi", "name": "speak"}}
    below["run"]["facets"] = {"parent": parent}
    failed = a_run("ghost", 7, [_read("end")], [table("shadow", "gloom")], "ops")
    found = [
        a_run("ghost", 8, [_read("loudly"), _read("end")], [shade], "ops"),
        a_run("watch", 9, [_read("landing"), _read("end")], [], "ops"),
        below,
        failed | {"eventType": "FAIL"},
        a_run("ghost", 11, [_read("loudly")], [same], "ops"),
    ]
    for second, one in enumerate(found):
        yield one | {"eventTime": f"2026-03-01T12:04:0{second}Z"}


def _read(name: str) -> Json:
    """A table without a schema: a report of that would be one about a visible table."""
    return {"namespace": LAKE, "name": name}


def _loud(kind: str, how: str) -> dict[str, Any]:
    return {**_read("loudly"), "field": "loud", "transformations": [{"type": kind, "subtype": how}]}


@pytest.fixture(scope="module")
def twins() -> Iterator[tuple[Asked, Asked]]:
    """The one without the further documents, and the one with them."""
    plain, more = small_headwater(), small_headwater()
    for made in (plain, more):
        accept(made, plans(), events())
    accept(more, _further_plans(), _further_events(), START + 500)
    for made in (plain, more):
        made.project()
        assert made.journal.summary().failed == 0
    with running(plain), running(more):
        yield _asked(plain, plain), _asked(more, plain)


def _asked(made: SmallHeadwater, plain: SmallHeadwater) -> Asked:
    client = client_of(made, NOW, TwoKeys())
    state(client, [DECLARED], ["quietly#murmur", "report#branch"])
    everything = known(plain, lambda _: True)
    if made is not plain:
        further = {"target": f"{LAKE}/shade", "sources": [f"{LAKE}/loudly"], "job": "ops/ghost"}
        state(client, [further], ["shade#gloom", "shadow#branch"], HIDDEN)
    return Asked(client, everything, everything)


@pytest.mark.parametrize("endpoint", sorted(ASKED.keys() - OF_DOCUMENTS))
def test_hidden_ends_of_chains_leave_no_trace(twins: tuple[Asked, Asked], endpoint: str) -> None:
    for path in dict.fromkeys(ASKED[endpoint](twins[0].everything)):
        (status, expected), (found_status, found) = (one.ask(path, "reader") for one in twins)
        assert found_status == status, path
        if status == 200:
            assert _comparable(found) == _comparable(expected), path


def _comparable(reply: str) -> str:
    """A reply without the number of the hidden nodes, which it tells, and without its length."""
    told = r"\"hidden\": ?\d+|Headwater-Hidden.: .\d+| \d+ hidden\."
    return re.sub(rf"{told}|Content-Length.: .\d+|X-(?:Amzn-)?Request-?Id.: .\w+", "", reply)
