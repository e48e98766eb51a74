"""Column lineage of documents that real agents sent, against expectations that people have read.

``fixtures/column_lineage.json``: per capture its plans in order of arrival, each with its columns
as ``[text, sources…]``, its influences, and its gaps. To add a capture, write down the lineage
that the job means, then compare.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.documents import ExecutionPlan, Reference, read_plan
from graph_model.producers.spline.expressions.text import Renderer
from graph_model.producers.spline.lifting import lift
from tests import captures

EXPECTED: Final[dict[str, list[dict[str, Any]]]] = json.loads(
    (Path(__file__).parents[4] / "fixtures" / "column_lineage.json").read_text("utf-8")
)


def plans(name: str) -> list[ExecutionPlan]:
    result = []
    for exchange in captures.load(name):
        if exchange.kind == "plan":
            document = exchange.document
            result.append(read_plan(document if "attributes" in document else lift(document)))
    return result


def found_in(plan: ExecutionPlan) -> dict[str, Any]:
    renderer = Renderer(plan)
    columns = derive(plan, renderer)

    def named(attribute: str, path: tuple[str, ...]) -> str:
        return ".".join((plan.attributes[attribute].name, *path))

    outputs = []
    for place, output in enumerate(columns.outputs):
        text = renderer.text(Reference("attribute", output), inline=True)
        sources = sorted(
            f"{named(d.source, d.source_path)} {d.how}"
            for d in columns.derivations
            if d.output == place
        )
        outputs.append([plan.attributes[output].name, text, *sources])
    influences = sorted({f"{named(i.source, i.source_path)} {i.how}" for i in columns.influences})
    return {
        "target": plan.write.target,
        "columns": outputs,
        "influences": influences,
        "gaps": [f"{gap.code}: {gap.detail}" for gap in columns.gaps],
    }


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_captured_job_has_the_lineage_that_people_read_in_it(name: str) -> None:
    assert [found_in(plan) for plan in plans(name)] == EXPECTED[name]


@pytest.mark.parametrize("name", captures.names())
def test_every_source_of_a_captured_job_is_a_column_that_it_reads(name: str) -> None:
    for plan in plans(name):
        read = {attribute for operation in plan.reads for attribute in operation.output or ()}
        columns = derive(plan)
        assert {derivation.source for derivation in columns.derivations} <= read
        assert {influence.source for influence in columns.influences} <= read
