"""OpenLineage's events in normal form: accepted ones, refused ones, and names in a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import InvalidDocument
from graph_model.producers.openlineage.events.documents import (
    DatasetEvent,
    JobEvent,
    RunEvent,
    read_event,
    subject_key,
)
from graph_model.producers.openlineage.events.facets import Parent, read_nanoseconds, value_of
from tests.openlineage_facts import facts_of_declaration, facts_of_run
from tests.places import places

JOB = {"namespace": "etl", "name": "load"}
RUN = {"eventTime": "2026-03-01T10:00:00Z", "run": {"runId": "r1"}, "job": JOB}
SOURCE = {
    "namespace": "s3://lake",
    "name": "a",
    "field": "x",
    "transformations": [{"type": "DIRECT"}],
}
FULL: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-03-01T10:00:00Z",
    "producer": "https://example.com",
    "run": {
        "runId": "r1",
        "facets": {
            "parent": {
                "run": {"runId": "p"},
                "job": {"namespace": "etl", "name": "dag"},
                "root": {"run": {"runId": "p"}, "job": {"namespace": "etl", "name": "dag"}},
            },
            "errorMessage": {"message": "x"},
            "tags": {"tags": [{"key": "k", "value": "v"}]},
        },
    },
    "job": {
        "namespace": "etl",
        "name": "load",
        "facets": {
            "jobType": {
                "processingType": "BATCH",
                "integration": "SPARK",
                "jobType": "SQL_JOB",
                "emissionPattern": {"eventContentMode": "ACCUMULATIVE"},
            },
            "lineage": {
                "entries": [
                    {
                        "type": "DATASET",
                        "namespace": "s3://lake",
                        "name": "b",
                        "inputs": [{"type": "DATASET", **SOURCE}],
                        "fields": {"x": {"inputs": [{"type": "JOB"}]}},
                    }
                ]
            },
        },
    },
    "inputs": [
        {
            "namespace": "s3://lake",
            "name": "a",
            "facets": {
                "schema": {"fields": [{"name": "x", "type": "struct", "fields": [{"name": "y"}]}]},
                "symlinks": {"identifiers": [{"namespace": "", "name": "hr.a", "type": "TABLE"}]},
            },
            "inputFacets": {
                "inputStatistics": {"rowCount": 1, "size": 2},
                "subset": {
                    "inputCondition": {
                        "type": "partition",
                        "partitions": [{"dimensions": {"d": 1}}],
                    }
                },
            },
        }
    ],
    "outputs": [
        {
            "namespace": "s3://lake",
            "name": "b",
            "facets": {
                "columnLineage": {"fields": {"x": {"inputFields": [SOURCE]}}, "dataset": [SOURCE]},
                "lifecycleStateChange": {
                    "lifecycleStateChange": "RENAME",
                    "previousIdentifier": {"namespace": "s3://lake", "name": "c"},
                },
                "lineage": {"inputs": [{"type": "DATASET", **SOURCE}], "fields": {}},
            },
            "outputFacets": {"outputStatistics": {"rowCount": 1}},
        }
    ],
}


def refusal(document: Any) -> InvalidDocument | None:
    """Why a document is refused; None when it is taken, and then it can be translated."""
    try:
        event = read_event(document)
    except InvalidDocument as error:
        return error
    if isinstance(event, RunEvent):
        facts_of_run([event])
    else:
        facts_of_declaration(event)
    return None


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(FULL))  # nothing shared inside
    inner: Any = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("document", "kind", "key"),
    [
        (RUN, RunEvent, "run:r1"),
        ({**RUN, "dataset": {"namespace": "n", "name": "d"}}, RunEvent, "run:r1"),
        ({"eventTime": "2026-03-01T10:00:00Z", "job": JOB}, JobEvent, "job:"),
        ({"eventTime": "2026-03-01T10:00:00Z", "job": JOB, "run": None}, JobEvent, "job:"),
        (
            {"eventTime": "2026-03-01T10:00:00Z", "dataset": {"namespace": "n", "name": "d"}},
            DatasetEvent,
            "dataset:",
        ),
        (
            {
                "eventTime": "2026-03-01T10:00:00Z",
                "dataset": {"namespace": "n", "name": "d"},
                "job": JOB,
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
            },
            DatasetEvent,
            "dataset:",
        ),
    ],
)
def test_an_event_is_told_by_its_shape(document, kind, key):
    for body in (document, json.dumps(document), json.dumps(document).encode()):
        event = read_event(body)
        assert isinstance(event, kind)
        assert subject_key(event).startswith(key)


def test_two_jobs_whose_joined_names_are_equal_are_two_subjects():
    keys = {
        subject_key(read_event({"eventTime": "2026-03-01T10:00:00Z", "job": job}))
        for job in ({"namespace": "a/b", "name": "c"}, {"namespace": "a", "name": "b/c"})
    }
    assert len(keys) == 2


def test_a_subject_key_is_short_whatever_the_run_id():
    event = read_event({**RUN, "run": {"runId": "x" * 500}})
    assert len(subject_key(event)) <= 200


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("7F2F3C52-5A0F-5C0E-9F0E-1C2B3A4D5E6F", "7f2f3c52-5a0f-5c0e-9f0e-1c2b3a4d5e6f"),
        ("7F2F3C525A0F5C0E9F0E1C2B3A4D5E6F", "7f2f3c525a0f5c0e9f0e1c2b3a4d5e6f"),
        ("Run-7", "Run-7"),
    ],
)
def test_the_case_of_a_uuid_makes_no_second_run(sent, read):
    parent = {"run": {"runId": sent}, "job": JOB}
    event = read_event({**RUN, "run": {"runId": sent, "facets": {"parent": parent}}})
    assert isinstance(event, RunEvent)
    assert subject_key(event) == f"run:{read}"
    parsed = value_of(event.run_facets, "parent", Parent)
    assert parsed is not None
    assert (event.run_id, parsed.parent.run_id) == (read, read)


@pytest.mark.parametrize("kind", [None, "", "start", "HEARTBEAT"])
def test_unknown_and_missing_event_types_are_taken(kind):
    event = read_event({**RUN, "eventType": kind})
    assert isinstance(event, RunEvent)
    assert event.type == (kind or "").upper()


def test_every_facet_is_kept_unknown_ones_too():
    own = {"_producer": "p", "_schemaURL": "s", "any": [1, {"thing": None}]}
    event = read_event({**RUN, "run": {"runId": "r1", "facets": {"x_y": own, "none": None}}})
    assert isinstance(event, RunEvent)
    assert {name: dict(facet.body) for name, facet in event.run_facets.items()} == {
        "x_y": {"any": [1, {"thing": None}]}
    }


def test_a_deleted_facet_says_so_and_holds_nothing():
    document = {**RUN, "job": {**JOB, "facets": {"sql": {"_deleted": True, "query": "x"}}}}
    facet = read_event(document).job.facets["sql"]
    assert (facet.deleted, facet.body, facet.digest) == (True, {}, "")


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2026-03-01T10:00:00Z", 1772359200000),
        ("2026-03-01T10:00:00.98Z", 1772359200980),
        ("2026-03-01T10:00:00.123456789+00:00", 1772359200123),
        ("2026-03-01T20:00:00+10:00", 1772359200000),
        ("2026-03-01T05:30:00-0430", 1772359200000),
        ("2026-03-01 10:00", 1772359200000),
        ("2026-03-01T10:00:00", 1772359200000),
        ("2026-03-01T10:00:00Z[UTC]", 1772359200000),
        ("9999-12-31T23:59:59.999Z", 253402300799999),
        ("9999-12-31T23:59:59.999-12:00", None),
        ("1960-01-01T00:00:00Z", None),
        ("2026-02-30T00:00:00Z", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_are_read_as_clients_write_them(text, milliseconds):
    found = read_nanoseconds(text)
    assert (None if found is None else found // 1_000_000) == milliseconds


def test_nanoseconds_keep_the_order_of_events():
    one, other = (
        read_nanoseconds(f"2026-03-01T10:00:00.{digits}Z") for digits in ("000000001", "000000002")
    )
    assert other == one + 1


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([], ""),
        (b"{", ""),
        (b"\xff", ""),
        ("[" * 100_000, ""),
        ({}, ""),
        ({"run": {"runId": "r"}}, "eventTime"),
        ({**RUN, "eventTime": "now"}, "eventTime"),
        ({**RUN, "eventTime": 5}, "eventTime"),
        ({**RUN, "run": "r"}, "run"),
        ({**RUN, "run": {}}, "run.runId"),
        ({**RUN, "run": {"runId": " "}}, "run.runId"),
        ({**RUN, "run": {"runId": "x" * 501}}, "run.runId"),
        ({**RUN, "job": None}, "job"),
        ({**RUN, "job": {"namespace": "n"}}, "job.name"),
        ({**RUN, "inputs": {}}, "inputs"),
        ({**RUN, "outputs": [{"namespace": "n", "name": "t"}, 7]}, "outputs[1]"),
        ({**RUN, "inputs": [{"name": "t"}]}, "inputs[0].namespace"),
    ],
)  # fmt: skip
def test_a_refused_document_names_the_place(document, path):
    with pytest.raises(InvalidDocument) as caught:
        read_event(document)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({**RUN, "run": {"runId": "r", "facets": {"x" * 201: {}}}}, f"run.facets.{'x' * 100}"),
        ({**RUN, "run": {"runId": "r", "facets": []}}, "run.facets"),
        (changed(("job", "facets", "lineage", "entries", 0, "type"), "TABLE"),
         "job.facets.lineage.entries[0].type"),
        (changed(("job", "facets", "lineage", "entries"), None), "job.facets.lineage.entries"),
        (changed(("job", "facets", "lineage"), {}), "job.facets.lineage.entries"),
        (changed(("job", "facets", "ownership"), [{"name": "me"}]), "job.facets.ownership"),
        (changed(("run", "facets", "parent"), {"run": {"runId": "r1"}}), "run.facets.parent.job"),
        (changed(("outputs", 0, "facets", "columnLineage", "dataset", 0, "field"), None),
         "outputs[0].facets.columnLineage.dataset[0].field"),
        (changed(("inputs", 0, "inputFacets", "inputStatistics", "size"), "big"),
         "inputs[0].inputFacets.inputStatistics.size"),
    ],
)  # fmt: skip
def test_a_damaged_facet_is_set_aside_alone_and_named(document, path):
    event = read_event(document)
    (problem,) = event.set_aside
    assert problem.startswith(f"{path}: expected ")
    whole = read_event(FULL if "inputs" in document else RUN)
    assert [d.key for d in event.inputs] == [d.key for d in whole.inputs]


def test_the_reasons_of_many_damaged_facets_are_bounded():
    event = read_event(
        {**RUN, "run": {"runId": "r", "facets": dict.fromkeys(map(str, range(99)), 1)}}
    )
    assert len(event.set_aside) == 21
    assert event.set_aside[-1] == "and more of them"


FACETS = {"facets", "inputFacets", "outputFacets"}
HOSTILE = [None, True, 7, -1.5, "", "x", [], {}, [[]], [None], {"": {}}, "\x00\ud800", 10**400]


@pytest.mark.parametrize("path", places(FULL), ids=str)
def test_a_wrong_type_anywhere_names_the_field_or_is_taken(path):
    steps = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)[1:]
    for value in HOSTILE:
        refused = refusal(changed(path, value))
        if refused is not None:
            assert not FACETS & set(path)  # a damaged facet refuses no event
            assert refused.path.startswith(steps) or steps.startswith(refused.path)
            assert refused.expected


def test_nesting_is_bounded_and_named():
    inner: Any = {}
    for _ in range(300):
        inner = {"a": inner}
    with pytest.raises(InvalidDocument) as caught:
        read_event({**RUN, "run": {"runId": "r", "facets": {"x": inner}}})
    assert caught.value.path == "run"
    assert "levels" in caught.value.expected


def test_a_schema_as_deep_as_a_document_may_be_is_read():
    fields: list[Any] = []
    for _ in range(80):
        fields = [{"name": "a", "type": "struct", "fields": fields}]
    output = {"namespace": "s3://lake", "name": "b", "facets": {"schema": {"fields": fields}}}
    document = {**RUN, "eventType": "COMPLETE", "outputs": [output]}
    facts = facts_of_run([read_event(document)])
    assert len([v for v in facts.vertices if v.label == "column"]) == 80


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(places(FULL)), JSON)
def test_any_json_anywhere_is_taken_or_refused_but_never_crashes(path, value):
    refused = refusal(changed(path, value))
    assert refused is None or refused.expected
