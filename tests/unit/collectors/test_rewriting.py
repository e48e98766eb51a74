"""Rules that rename the datasets of events: names that they change, and names that they leave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collectors.rewriting import FACET, hold_back, parse_rules, read_rules, rewrite
from graph_model.errors import ConfigurationError, InvalidDocument
from graph_model.producers.openlineage.producer import event_submission

REDSHIFT: dict[str, Any] = {
    "name": "Redshift as Airflow spells it",
    "producer": ".*airflow.*",
    "namespace": r"postgres://(?P<cluster>[a-z0-9-]+)\.internal:5439",
    "dataset": r"dev\.(?P<table>.+)",
    "to": {"namespace": r"redshift://\g<cluster>.eu-west-1:5439", "dataset": r"lake.\g<table>"},
}
SOURCE = {"namespace": "postgres://cluster-1.internal:5439", "name": "dev.public.orders"}
TARGET = {"namespace": "redshift://cluster-1.eu-west-1:5439", "name": "lake.public.orders"}


def an_event(**changes: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://github.com/apache/airflow",
        "run": {"runId": "0190-1"},
        "job": {"namespace": SOURCE["namespace"], "name": SOURCE["name"]},
        "inputs": [dict(SOURCE)],
        "outputs": [],
        **changes,
    }


def applied(event: Any, *rules: dict[str, Any]) -> Any:
    return rewrite(event, read_rules({"rules": list(rules)}))


def test_a_dataset_is_renamed_and_keeps_a_note_of_its_own_name() -> None:
    (renamed,) = applied(an_event(), REDSHIFT)["inputs"]
    assert renamed == {**TARGET, "facets": {FACET: SOURCE}}


def test_the_note_reaches_the_journal() -> None:
    body = json.loads(event_submission(applied(an_event(), REDSHIFT)).body)
    assert body["inputs"][0]["facets"][FACET] == SOURCE


def test_jobs_and_runs_keep_their_names() -> None:
    event = an_event(run={"runId": "r", "facets": {"parent": {"job": dict(SOURCE)}}})
    changed = applied(event, REDSHIFT)
    assert changed["job"] == event["job"]
    assert changed["run"] == event["run"]


def test_facets_name_the_renamed_dataset_too() -> None:
    field = {**SOURCE, "field": "amount"}
    output = {
        "namespace": "s3://lake",
        "name": "orders",
        "facets": {"columnLineage": {"fields": {"amount": {"inputFields": [field]}}}},
    }
    (changed,) = applied(an_event(outputs=[output]), REDSHIFT)["outputs"]
    fields = changed["facets"]["columnLineage"]["fields"]
    assert fields["amount"]["inputFields"] == [{**TARGET, "field": "amount"}]
    assert FACET not in changed["facets"]


def test_equal_names_in_two_namespaces_do_not_collide() -> None:
    other = {"namespace": "postgres://elsewhere:5432", "name": SOURCE["name"]}
    first, second = applied(an_event(inputs=[dict(SOURCE), other]), REDSHIFT)["inputs"]
    assert first["name"] == TARGET["name"]
    assert second == other


def test_the_first_rule_that_fits_is_used_once() -> None:
    back = {
        "namespace": r"redshift://.*",
        "dataset": ".*",
        "to": {"namespace": "postgres://never"},
    }
    (changed,) = applied(an_event(), REDSHIFT, back)["inputs"]
    assert changed["namespace"] == TARGET["namespace"]


def test_a_rule_for_outputs_leaves_inputs_alone() -> None:
    event = an_event(outputs=[dict(SOURCE)])
    changed = applied(event, {**REDSHIFT, "places": ["outputs"]})
    assert changed["inputs"] == event["inputs"]
    assert changed["outputs"][0]["name"] == TARGET["name"]


def test_a_rule_for_another_producer_does_not_apply() -> None:
    event = an_event(producer="https://github.com/dbt-labs")
    assert applied(event, REDSHIFT) is event


def test_a_template_that_is_left_out_leaves_that_part() -> None:
    (changed,) = applied(an_event(), {**REDSHIFT, "to": {"dataset": "x"}})["inputs"]
    assert (changed["namespace"], changed["name"]) == (SOURCE["namespace"], "x")


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        "text",
        {},
        {"inputs": None, "outputs": "x"},
        {"inputs": [None, 1, {"namespace": 1, "name": "x"}], "dataset": {"facets": []}},
    ],
)
def test_a_document_that_is_no_event_is_left_for_the_check_that_follows(event: Any) -> None:
    assert applied(event, REDSHIFT) is event


def test_a_dataset_event_is_renamed_as_well() -> None:
    event = {"eventTime": "2026-01-01T00:00:00Z", "producer": "airflow", "dataset": dict(SOURCE)}
    assert applied(event, REDSHIFT)["dataset"]["name"] == TARGET["name"]


def test_an_event_that_is_nested_without_end_is_left_to_the_check() -> None:
    deep: Any = dict(SOURCE)
    for _ in range(5_000):
        deep = {"x": deep}
    event = an_event(inputs=[{**SOURCE, "facets": {"deep": deep}}])
    assert applied(event, REDSHIFT)["inputs"][0]["name"] == TARGET["name"]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([], "document"),
        ({"rules": {}}, "document"),
        ({"rules": [], "more": 1}, "document"),
        ({"rules": [1]}, r"rules\[0\]"),
        ({"rules": [{**REDSHIFT, "nmae": "x"}]}, r"rules\[0\].nmae"),
        ({"rules": [{**REDSHIFT, "to": {}}]}, r"rules\[0\].to"),
        ({"rules": [{**REDSHIFT, "to": {"name": "x"}}]}, r"rules\[0\].to.name"),
        ({"rules": [{**REDSHIFT, "namespace": "("}]}, r"rules\[0\].namespace"),
        ({"rules": [{**REDSHIFT, "dataset": r"(a)\1"}]}, r"rules\[0\].dataset"),
        ({"rules": [{**REDSHIFT, "to": {"dataset": r"\g<none>"}}]}, r"rules\[0\].to.dataset"),
        ({"rules": [{**REDSHIFT, "places": ["jobs"]}]}, r"rules\[0\].places"),
        ({"rules": [{**REDSHIFT, "producer": 1}]}, r"rules\[0\].producer"),
        (
            {"rules": [{**REDSHIFT, "namespace": "(?P<a>x)", "dataset": "(?P<a>y)"}]},
            r"rules\[0\].dataset",
        ),
    ],
)
def test_a_rule_that_cannot_be_honoured_is_refused_with_its_field(document: Any, path: str) -> None:
    with pytest.raises(InvalidDocument, match=rf"^{path}: "):
        read_rules(document)


def test_a_file_of_rules_that_is_no_json_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"rewrite rules rules\.json"):
        parse_rules("{", "rules.json")


# --- holding back, where documents are sent on ---------------------------------------------------


def kept(event: dict[str, Any], *rules: dict[str, Any]) -> Any:
    return hold_back(event, read_rules({"rules": list(rules)}, holding_back=True))


def test_a_dropped_dataset_is_named_nowhere_in_the_event() -> None:
    hidden, shown = {"namespace": "file", "name": "/tmp/x"}, {"namespace": "s3://lake", "name": "t"}
    field = {"inputFields": [{**hidden, "field": "a"}, {**shown, "field": "b"}]}
    facets = {"columnLineage": {"fields": {"c": field}}}
    output = {"namespace": "s3://lake", "name": "out", "facets": facets}
    event = an_event(inputs=[hidden, shown], outputs=[output])
    sent = kept(event, {"namespace": "file", "drop": "dataset"})
    assert sent["inputs"] == [shown]
    assert "/tmp/x" not in json.dumps(sent)
    assert sent["outputs"][0]["facets"]["columnLineage"]["fields"]["c"]["inputFields"] == [
        {**shown, "field": "b"}
    ]
    assert kept({"dataset": hidden}, {"namespace": "file", "drop": "dataset"}) is None


def test_an_event_is_dropped_by_its_job_or_by_a_dataset() -> None:
    event = an_event(inputs=[SOURCE], job={"namespace": "etl", "name": "test_orders"})
    assert kept(event, {"places": ["job"], "dataset": "test_.*", "drop": "event"}) is None
    assert kept(event, {"places": ["job"], "dataset": "prod_.*", "drop": "event"}) is event
    assert kept(event, {"namespace": SOURCE["namespace"], "drop": "event"}) is None
    assert kept(event, {"producer": "another", "drop": "event"}) is event


def test_the_first_rule_that_fits_decides_alone() -> None:
    event = an_event(inputs=[SOURCE])
    rename = {"namespace": SOURCE["namespace"], "to": {"dataset": "x"}}
    assert kept(event, rename, {"drop": "event"}) is event
    rules = read_rules({"rules": [{"mask": ["none"]}, rename]}, holding_back=True)
    assert rewrite(event, rules) is event


JOB = {"namespace": "etl", "name": "poll"}


def test_a_share_of_runs_is_kept_with_all_of_their_events() -> None:
    rule = {"places": ["job"], "sample": 0.25}
    runs = [
        [an_event(run={"runId": f"run-{run}"}, job=JOB, n=number) for number in range(3)]
        for run in range(400)
    ]
    shares = [[kept(event, rule) is not None for event in events] for events in runs]
    assert all(len(set(events)) == 1 for events in shares)
    assert 60 < sum(events[0] for events in shares) < 140
    assert kept(runs[0][0], {"places": ["job"], "sample": 0}) is None
    assert kept(runs[0][0], {"places": ["job"], "sample": 1}) is not None


def test_masked_facets_are_left_out_where_the_rule_fits_and_nowhere_else() -> None:
    facets = {"schema": {"fields": []}, "columnLineage": {"fields": {}}}
    other = {"namespace": "s3://lake", "name": "t", "facets": dict(facets)}
    event = an_event(
        inputs=[{**SOURCE, "facets": dict(facets), "inputFacets": {"columnLineage": 1}}, other],
        job={**JOB, "facets": {"sql": {"query": "SELECT 1"}}},
        run={"runId": "r", "facets": {"sql": 1, "parent": 2}},
    )
    rule = {"namespace": SOURCE["namespace"], "mask": ["columnLineage"]}
    sent = kept(event, rule, {"places": ["job"], "mask": ["sql"]})
    assert sent["inputs"] == [
        {**SOURCE, "facets": {"schema": {"fields": []}}, "inputFacets": {}},
        other,
    ]
    assert sent["job"] == {**JOB, "facets": {}}
    assert sent["run"] == {"runId": "r", "facets": {"parent": 2}}
    assert event["job"]["facets"] != {}


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ({}, r"rules\[0\]"),
        ({"drop": "event", "sample": 0.5}, r"rules\[0\]"),
        ({"to": {"dataset": "x"}, "drop": "event"}, r"rules\[0\].drop"),
        ({"to": {"dataset": "x"}, "places": ["job"]}, r"rules\[0\].places"),
        ({"places": ["job"], "drop": "dataset"}, r"rules\[0\].drop"),
        ({"sample": 1.5}, r"rules\[0\].sample"),
        ({"sample": True}, r"rules\[0\].sample"),
        ({"mask": []}, r"rules\[0\].mask"),
    ],
)
def test_a_rule_that_holds_back_and_cannot_be_honoured_is_refused(rule: Any, path: str) -> None:
    with pytest.raises(InvalidDocument, match=rf"^{path}: "):
        read_rules({"rules": [rule]}, holding_back=True)


def test_the_road_into_the_journal_holds_nothing_back() -> None:
    with pytest.raises(InvalidDocument, match=r"^rules\[0\].drop: "):
        read_rules({"rules": [{"drop": "event"}]})
