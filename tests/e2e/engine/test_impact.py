"""Impact on the real engine: a Gremlin Server gives the answers of the memory graph."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from api import command_line
from graph_model import identity, naming
from graph_model.answers.impact.check import ImpactCheck
from graph_model.answers.impact.outlines import captured_outlines, known_outlines
from graph_model.answers.impact.report import Impact, Scope
from graph_model.facts import Edge, Facts, Vertex
from graph_model.producers.spline.documents import PLAN_KIND
from graph_model.stores.gremlin.graph import GremlinGraph
from tests import impact_lake as lake
from tests.e2e.service import RunningHeadwater
from tests.projections import SmallHeadwater, submission

pytestmark = pytest.mark.engine
EVERYTHING = Scope(depth=50, indirect=True, limit=1_000)


@pytest.fixture
def headwater(gremlin_graph: GremlinGraph) -> Iterator[SmallHeadwater]:
    """The lake in memory, and the same elements in the engine."""
    made = lake.lake()
    elements = list(made.graph.scan())
    vertices = tuple(one for one in elements if isinstance(one, Vertex))
    gremlin_graph.write(Facts(vertices, tuple(one for one in elements if isinstance(one, Edge))))
    try:
        yield made
    finally:
        made.close()


def test_tables_columns_and_outlines_are_the_same(
    headwater: SmallHeadwater, gremlin_graph: GremlinGraph
) -> None:
    catalogue = headwater.catalogue
    away = replace(headwater.sources, graph=gremlin_graph)
    here, there = Impact(headwater.sources), Impact(away)
    node = identity.dataset_id("", lake.ORDERS)
    for scope in (EVERYTHING, Scope(depth=1, columns=True, indirect=True)):
        assert there.of_node(node, scope) == here.of_node(node, scope)
    assert there.of_prefix("s3://landing/", EVERYTHING) == here.of_prefix(
        "s3://landing/", EVERYTHING
    )
    (captured,) = captured_outlines([submission(PLAN_KIND, lake.daily())], naming.DEFAULT_RULES)
    plans = (captured.logical_plan,)
    assert known_outlines(plans, gremlin_graph, catalogue) == (captured,)


def test_a_changed_plan_breaks_the_same(
    headwater: SmallHeadwater, gremlin_graph: GremlinGraph
) -> None:
    captured = captured_outlines(
        [submission(PLAN_KIND, lake.load(renamed={"status": "state"}))],
        naming.DEFAULT_RULES,
    )
    reports = [
        ImpactCheck(replace(headwater.sources, graph=graph)).of_plans(captured, EVERYTHING)
        for graph in (headwater.graph, gremlin_graph)
    ]
    assert reports[0] == reports[1]
    assert reports[0].impact.verdict == "breaks"


@pytest.mark.timeout(300)
def test_a_running_headwater_is_asked_by_the_command(tmp_path: Path) -> None:
    headwater = RunningHeadwater(tmp_path / "data")
    headwater.start()
    try:
        for minute, body in enumerate([lake.load(), lake.daily(), lake.report(), lake.audit()]):
            headwater.post_plan(body)
            headwater.post_events([lake.run_of(body, minute)])
        headwater.await_projected()
        file = tmp_path / "captured.json"
        file.write_text(json.dumps(lake.load(renamed={"status": "state"})), encoding="utf-8")
        out, errors = StringIO(), StringIO()
        asked = ["impact", "--plan", str(file), "--url", headwater.url, "--format", "csv"]
        code = command_line.run(asked, {}, out, errors)
        assert (code, errors.getvalue()) == (3, "")
        rows = list(csv.DictReader(StringIO(out.getvalue(), newline="")))
        assert {row["verdict"] for row in rows} == {"breaks"}
        assert {row["label"] for row in rows if row["kind"] == "job"} == {
            "audit", "daily", "report",
        }  # fmt: skip
    finally:
        headwater.stop()
