"""Hand-written events and their expected graph, scenario by scenario."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graph_model import labels
from graph_model.facts import (
    CHECK,
    DESCRIBED,
    READER,
    ColumnRow,
    DatasetRow,
    ExecutionRow,
    FacetRow,
    Facts,
    JobRow,
    NameRow,
    PartitionRow,
    RunRow,
    SchemaRow,
    is_marker,
    merge,
)
from graph_model.producers.openlineage.events.documents import RunEvent, read_event, subject_key
from tests.openlineage_facts import facts_of_declaration, facts_of_run

_FOLDER = Path(__file__).parents[4] / "fixtures" / "openlineage" / "scenarios"
SCENARIOS = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*"))
}


def translated(documents: Iterable[Any]) -> Facts:
    """All facts of these events, each subject by itself."""
    runs: dict[str, list[RunEvent]] = {}
    parts = []
    for event in map(read_event, documents):
        if isinstance(event, RunEvent):
            runs.setdefault(subject_key(event), []).append(event)
        else:
            parts.append(facts_of_declaration(event))
    return merge([*parts, *(facts_of_run(events) for events in runs.values())])


class Summary:
    """Facts in words, as the fixtures spell them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.names: dict[str, str] = {}
        for row in facts.rows:
            if isinstance(row, DatasetRow):
                self.names[row.id] = row.uri
            if isinstance(row, JobRow):
                self.names[row.id] = f"{row.namespace}/{row.name}"
            if isinstance(row, RunRow):
                self.names[row.subject] = row.run_id
        for row in facts.rows:
            if isinstance(row, ColumnRow):
                self.names[row.id] = f"{self.names[row.dataset]}#{row.path}"

    def rows(self, kind: type) -> list[Any]:
        return [row for row in self.facts.rows if isinstance(row, kind)]

    def edges(self, label: str) -> list[Any]:
        return [edge for edge in self.facts.edges if edge.label == label]

    def plans(self) -> list[str]:
        return [self.plan(edge.out_id, edge.in_id) for edge in self.facts.edges if is_marker(edge)]

    def plan(self, job: str, plan: str) -> str:
        feeds = self.edges(labels.FEEDS)
        reads = sorted(
            f"{self.names[e.out_id]} [{e.value('origin')}]" for e in feeds if e.in_id == plan
        )
        writes = [
            f"{self.names[e.in_id]} {e.value('mode')} [{e.value('origin')}]"
            for e in feeds
            if e.out_id == plan
        ]
        sources, target = ", ".join(reads) or "(nothing)", ", ".join(writes) or "(nothing)"
        return f"{self.names[job]}: {sources} => {target}"

    def columns(self) -> list[str]:
        return [
            f"{self.names[e.out_id]} -> {self.names[e.in_id]} {e.value('kind')} {e.value('how')}"
            f"{' masked' if e.value('masking') else ''}{self.text(e)} [{e.value('origin')}]"
            for e in self.edges(labels.DERIVES)
        ]

    def text(self, edge: Any) -> str:
        return f" `{edge.value('expression')}`" if edge.value("expression") else ""

    def influences(self) -> list[str]:
        return [
            f"{self.names[e.out_id]} decides {e.value('how')}{self.text(e)} [{e.value('origin')}]"
            for e in self.edges(labels.INFLUENCES)
        ]

    def executions(self) -> list[str]:
        found = []
        for row in self.rows(ExecutionRow):
            at = datetime.fromtimestamp(row.at / 1000, UTC).isoformat(timespec="milliseconds")
            took = "" if row.duration_ns is None else f" {row.duration_ns // 1_000_000} ms"
            target = self.names.get(row.target, "-")
            error = f": {row.error}" if row.error else ""
            time = at.replace("+00:00", "Z")
            found.append(f"{row.state} {row.kind} {row.mode} {target} {time}{took}{error}")
        return found

    def runs(self) -> list[str]:
        found = []
        for row in self.rows(RunRow):
            text = f"{row.run_id} {row.state} {self.names[row.job]}{' folded' * row.folded}"
            if row.parent_run:
                text += f" under {row.parent_run} of {self.names[row.parent_job]}"
            if row.root_run:
                text += f" root {row.root_run} of {self.names[row.root_job]}"
            found.append(text + (f": {row.error}" if row.error else ""))
        return found

    def tree(self) -> list[str]:
        return [
            f"{self.names[e.out_id]} has {self.names[e.in_id]}"
            for e in self.edges(labels.HAS)
            if e.out_id.startswith("job_") and e.in_id.startswith("job_")
        ]

    def links(self) -> list[str]:
        return [
            f"{self.names[e.out_id]} feeds {self.names[e.in_id]}"
            for e in self.edges(labels.FEEDS)
            if e.out_id.startswith("job_")
        ]

    def gaps(self) -> list[str]:
        found = [json.loads(str(v.value("gaps"))) for v in self.facts.vertices if v.value("gaps")]
        return [f"{gap['code']}: {gap['detail']}" for gaps in found for gap in gaps]

    def facets(self) -> list[str]:
        return [
            f"{row.kind} {self.names[row.entity]} {row.name}{' deleted' * row.deleted}"
            for row in self.rows(FacetRow)
            if row.kind not in (CHECK, DESCRIBED, READER)  # results of facets, not facets
        ]

    def metrics(self) -> list[str]:
        return [row.metrics for row in self.rows(ExecutionRow)]

    def partitions(self) -> list[str]:
        return [
            f"{row.role} {self.names[row.dataset]} {row.partition}"
            for row in self.rows(PartitionRow)
        ]

    def schemas(self) -> list[str]:
        return [
            f"{self.names[row.dataset]}: "
            + ", ".join(f"{c['name']} {c['type']}" for c in json.loads(row.columns))
            for row in self.rows(SchemaRow)
        ]

    def of(self, key: str) -> list[str]:
        if key == "all columns":
            return sorted(self.names[row.id] for row in self.rows(ColumnRow))
        if key == "names":
            seen = {(row.name, row.location) for row in self.rows(NameRow)}
            return sorted(f"{self.names[one]} names {self.names[other]}" for one, other in seen)
        return sorted(getattr(self, key)())


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_says_which_answer_is_expected(name: str) -> None:
    scenario = SCENARIOS[name]
    summary = Summary(translated(scenario["events"]))
    found = {key: summary.of(key) for key in scenario["expected"]}
    assert found == scenario["expected"], scenario["title"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_events_in_any_order_and_repeated_give_equal_facts(name: str) -> None:
    events = SCENARIOS[name]["events"]
    once = translated(events)
    for seed in range(5):
        shuffled = [*events, *events]
        random.Random(seed).shuffle(shuffled)
        assert translated(shuffled) == once


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_end_of_an_edge_is_a_vertex(name: str) -> None:
    facts = translated(SCENARIOS[name]["events"])
    ids = {vertex.id for vertex in facts.vertices}
    assert {end for edge in facts.edges for end in (edge.out_id, edge.in_id)} <= ids
