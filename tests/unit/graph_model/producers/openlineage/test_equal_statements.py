"""A statement that was translated before costs its digest alone, which covers all that its plans
depend on: a plan that an execution names is always among the facts of its run.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model import labels
from graph_model.facts import ExecutionRow
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from graph_model.producers.openlineage.plans import heads_of
from tests.openlineage_facts import facts_of_run

_FIXTURES: Final = Path(__file__).parents[4] / "fixtures"
_LAKE: Final = "redshift://c.example:5439"
_TEXTS: Final = ("INSERT INTO t SELECT a AS x FROM s", "INSERT INTO t SELECT b AS x FROM s")
_OF_A_TABLE: Final = [{"namespace": "s3://wh", "name": "db.s.snapshots", "type": "TABLE"}]


def an_event(text: str, symlinks: Any = None) -> dict[str, Any]:
    read = {"schema": {"fields": [{"name": "a"}, {"name": "b"}]}}
    named = {"symlinks": {"identifiers": symlinks}} if symlinks else {}
    return {
        "eventType": "COMPLETE", "eventTime": "2026-01-01T08:00:00Z", "run": {"runId": "r"},
        "job": {"namespace": "etl", "name": "load", "facets": {"sql": {"query": text}}},
        "inputs": [
            {"namespace": _LAKE, "name": "dev.public.s", "facets": read},
            {"namespace": "s3://wh", "name": "db/s", "facets": named},
        ],
        "outputs": [{"namespace": _LAKE, "name": "dev.public.t"}],
    }  # fmt: skip


def without_a_facet(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The event once for each facet of its job and its datasets, without it."""
    holders = [
        ("job",),
        *(
            (side, at)
            for side in ("inputs", "outputs")
            for at, _ in enumerate(event.get(side) or ())
        ),
    ]
    for path in holders:
        for group in ("facets", "inputFacets", "outputFacets"):
            holder = event
            for key in path:
                holder = holder[key]
            for name in holder.get(group) or ():
                changed = holder = copy.deepcopy(event)
                for key in (*path, group):
                    holder = holder[key]
                del holder[name]
                yield name, changed


def plans(event: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The plans that the executions of a run name, and those among its facts."""
    run = read_event(event)
    assert isinstance(run, RunEvent)
    facts = facts_of_run([run])
    named = {row.logical_plan for row in facts.rows if isinstance(row, ExecutionRow)}
    return named, {one.id for one in facts.vertices if one.label == labels.LOGICAL_PLAN}


@pytest.mark.parametrize(
    ("before", "after"),
    [(an_event(_TEXTS[0]), an_event(_TEXTS[1])), (an_event(""), an_event("", _OF_A_TABLE))],
    ids=["text", "symlinks"],
)
def test_what_a_plan_depends_on_makes_another_plan(before: Any, after: Any) -> None:
    heads_of.cache_clear()
    assert plans(before)[0].isdisjoint(plans(after)[0])


def test_an_event_without_one_of_its_facets_has_the_plan_of_its_own_facts() -> None:
    heads_of.cache_clear()
    files = sorted((_FIXTURES / "openlineage" / "scenarios").glob("*.json"))
    events = [one for file in files for one in json.loads(file.read_text())["events"]]
    missing = set()
    for event in (one for one in events if "run" in one):
        plans(event)
        for name, changed in without_a_facet(event):
            named, held = plans(changed)
            if not named <= held:
                missing.add(name)
    assert missing == set()
