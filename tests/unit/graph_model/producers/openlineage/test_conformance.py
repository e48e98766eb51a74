"""The page about conformance agrees with the code."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graph_model import naming
from graph_model.facts import FacetRow
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from graph_model.producers.openlineage.events.facets import READERS
from tests import conformance
from tests.openlineage_facts import facts_of_run

ENTITIES = [
    (entity, name)
    for entity, listed in conformance.FACETS.items()
    for name in listed
    if conformance.treatment(entity, name) != conformance.READ
]


def test_the_page_follows_from_the_scenarios_and_the_code() -> None:
    written = conformance.PAGE.read_text(encoding="utf-8")
    assert written == conformance.render(), "python -m tests.conformance writes it anew"


def test_there_is_a_scenario_for_each_of_the_suite_s() -> None:
    assert len(conformance.scenarios()) == 6


def test_every_facet_of_the_specification_that_is_read_is_listed() -> None:
    listed = {entity: set(names) for entity, names in conformance.FACETS.items()}
    ours = {"headwater"}
    for entity, names in READERS.items():
        missing = {name for name in names if not name.startswith(tuple(ours))} - listed[entity]
        assert missing == set(), entity


@pytest.mark.parametrize(("entity", "name"), ENTITIES)
def test_a_facet_that_is_kept_has_a_row_and_one_of_the_document_has_none(
    entity: str, name: str
) -> None:
    rows = {row.name for row in facts_of_run([carrying(entity, name)]).rows if is_facet(row)}
    kept = conformance.treatment(entity, name) == conformance.KEPT
    assert (name in rows) is kept


def is_facet(row: object) -> bool:
    return isinstance(row, FacetRow)


def carrying(entity: str, name: str) -> RunEvent:
    """An event in which one entity has this facet."""
    facet = {name: {"any": 1}}
    table: dict[str, Any] = {"namespace": "s3://lake", "name": "in"}
    if entity in ("dataset", "input"):
        table["facets" if entity == "dataset" else "inputFacets"] = facet
    event = read_event(
        {
            "eventTime": "2026-03-01T10:00:00Z",
            "eventType": "COMPLETE",
            "run": {"runId": "r1", "facets": facet if entity == "run" else {}},
            "job": {"namespace": "etl", "name": "j", "facets": facet if entity == "job" else {}},
            "inputs": [table],
        }
    )
    assert isinstance(event, RunEvent)
    return event


# --- the page about identity ---------------------------------------------------------------------

_PAIR = re.compile(r"`([^`]+)` \+ `([^`]+)`")
_ROWS = [
    (found[1], found[2], line.split("|")[2].split("`")[1])
    for line in (conformance.PAGE.parent / "openlineage.md").read_text("utf-8").splitlines()
    if line.startswith("| `") and line.count("|") == 3 and (found := _PAIR.search(line))
]


@pytest.mark.parametrize(("namespace", "name", "uri"), _ROWS)
def test_a_name_in_the_docs_is_the_dataset_that_they_say(
    namespace: str, name: str, uri: str
) -> None:
    (dataset, *_) = naming.normalise(naming.openlineage_uri(namespace, name), "")
    assert dataset.uri == uri


def test_the_docs_have_rows_to_hold() -> None:
    assert len(_ROWS) >= 8
