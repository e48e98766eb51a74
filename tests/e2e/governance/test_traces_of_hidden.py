"""Jobs and tables at the ends of chains leave no trace once they are hidden: no name, no count, no
bound that they met.

Of two small Headwaters one received further documents, of jobs that only read what the other has.
These jobs and the tables that they write are hidden; then both answer every question alike.

Of two others one received documents of jobs that describe, check and write the tables of the other.
These jobs are hidden: what they say of a table is nowhere, and that they wrote it is in our own
histories and pictures alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.governance.test_hiding import (
    ASKED,
    DOMAIN,
    LAKE,
    LAKE_TABLES,
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


# --- hidden jobs that describe and write visible tables ------------------------------------------

#: A write by a hidden job is one of its table there (docs/http.md, "Hidden").
OF_WRITES: Final = {
    "consumer.data_sources", "difference.dataset_changes", "difference.dataset_versions",
    "difference.diff", "difference.job_changes", "graph.column_lineage", "graph.dataset",
    "graph.datasets", "graph.history", "graph.last_writer", "graph.lineage", "graph.overview",
    "impact.impact",
}  # fmt: skip
DESCRIBERS: Final = ("job:ops/ghost", "job:ops/watch")
RULE: Final = {"facet": "mood", "path": "is", "passes": ["bright"]}
PATTERNS: Final = [*(f"{LAKE}/{name}" for name in LAKE_TABLES), "bi.speak", "default.load"]


def _described(name: str, word: str, **usage: Any) -> Json:
    """A table with facets that hold the word, but for its version, which is one of the write."""
    facets = {
        "documentation": {"description": word},
        "ownership": {"owners": [{"name": f"team:{word}"}]},
        "tags": {"tags": [{"key": word, "value": "x", "source": "any"}]},
        "version": {"datasetVersion": str(len(word))},
        "storage": {"storageLayer": word},
    }
    return {**_read(name), "facets": facets, **usage}


def _spoken(job: str, minute: int, word: str, inputs: list[Json], outputs: list[Json]) -> Json:
    run = a_run(job, minute, inputs, outputs, "bi" if word == "bright" else "ops")
    run["run"]["facets"] = {"mood": {"is": word}}
    return run


def _visible_words() -> Iterator[Json]:
    """Of a visible job, before and after the hidden ones; the newest event is one of these."""
    for minute in (30, 59):
        read = [_described("end", "bright"), _read("landing")]
        yield _spoken("speak", minute, "bright", read, [_described("loudly", "bright")])


def _hidden_words() -> Iterator[Json]:
    """Facets of tables that a hidden job writes, reads, fails to write and only checks, and of the
    job above a hidden run.
    """
    metrics = {"dataQualityMetrics": {"rowCount": 5, "columnMetrics": {}}}
    checks = {"assertions": [{"assertion": "unique", "success": False, "column": "loud"}]}
    read = _described("end", "gloom", inputFacets={"dataQualityAssertions": checks, **metrics})
    statistics = {"outputStatistics": {"rowCount": 77}, **metrics}
    written = _described("loudly", "gloom", outputFacets=statistics)
    yield _spoken("ghost", 31, "gloom", [read], [written])
    # It reads nothing: a chain through a hidden job would go on behind it.
    yield _spoken("ghost", 32, "gloom", [], [_described("landing", "gloom")])
    yield _spoken("watch", 33, "gloom", [read], [])
    yield _spoken("ghost", 34, "gloom", [], [written]) | {"eventType": "FAIL"}
    above = {"namespace": "bi", "name": "speak", "facets": {"documentation": {"description": "?"}}}
    below = _spoken("ghost", 35, "gloom", [], [])
    below["run"]["facets"]["parent"] = {"run": {"runId": "run-3"}, "job": above}
    yield below


@pytest.fixture(scope="module")
def described() -> Iterator[tuple[Asked, Asked]]:
    """The one without the hidden jobs, and the one with them."""
    plain, more = small_headwater(), small_headwater()
    for made in (plain, more):
        accept(made, plans(), [*events(), *_visible_words()])
    accept(more, (), _hidden_words())
    with running(plain), running(more):
        yield _governed(plain, plain), _governed(more, plain)


def _governed(made: SmallHeadwater, plain: SmallHeadwater) -> Asked:
    made.project()
    assert made.journal.summary().failed == 0
    client = client_of(made, NOW, TwoKeys())
    state(client, tagged=["report#branch"], hidden=() if made is plain else DESCRIBERS)
    rule = client.put("/quality-rules/mood", json=RULE, headers={"X-API-Key": "hw_admin"})
    assert rule.status_code == 200, rule.text
    everything = known(plain, lambda _: True)
    return Asked(client, everything, everything)


@pytest.mark.parametrize("endpoint", sorted(ASKED.keys() - OF_DOCUMENTS - OF_WRITES))
def test_what_a_hidden_job_says_of_visible_tables_is_nowhere(
    described: tuple[Asked, Asked], endpoint: str
) -> None:
    for path in dict.fromkeys(ASKED[endpoint](described[0].everything)):
        (status, expected), (found_status, found) = (one.ask(path, "reader") for one in described)
        assert found_status == status, path
        if status == 200:
            assert _comparable(found) == _comparable(expected), path


@pytest.mark.parametrize("endpoint", sorted(OF_WRITES))
def test_a_picture_shows_the_write_of_a_hidden_job_without_its_words(
    described: tuple[Asked, Asked], endpoint: str
) -> None:
    _, more = described
    for path in dict.fromkeys(ASKED[endpoint](more.everything)):
        _, text = more.ask(path, "reader")
        assert not [word for word in ("gloom", "ghost") if word in text], path


@pytest.mark.parametrize("direction", ["IN", "OUT"])
def test_a_graph_query_of_datazone_has_no_trace_of_a_hidden_job(
    described: tuple[Asked, Asked], direction: str
) -> None:
    names = ["HeadwaterFacets", "HeadwaterJobFacets", "HeadwaterRunFacets"]
    for identifier in PATTERNS:
        start = {"entityType": "LINEAGE_NODE", "identifier": identifier}
        relation = {
            "relationType": "LINEAGE", "relationDirection": direction, "maxPathLength": 5,
        }  # fmt: skip
        body = {
            "match": [{"entityPattern": start}, {"relationPattern": relation}],
            "additionalAttributes": {"formNames": names},
        }
        replies = [
            one.client.post(
                f"{DOMAIN.removesuffix('/lineage')}/graph/query",
                json=body,
                headers={"X-API-Key": "hw_reader"},
            )
            for one in described
        ]
        assert replies[0].status_code == 200, replies[0].text
        assert replies[1].get_json() == replies[0].get_json(), identifier
