"""A query whose rows go to the memory of its program: it reads, and makes no table."""

from __future__ import annotations

import pytest

from graph_model import identity, labels
from graph_model.facts import DatasetRow, ExecutionRow, Facts, LogicalPlanRow
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from tests.builders import PlanBuilder
from tests.spline_facts import facts_of_plan

READ = "s3://lake/a"
PROGRAMS = [
    "memory://02-42-ac-11-00-02/jvm_0b9a2f2e-6a5c-4a52-9e1a-0f5c0b1c2d3e",
    "memory://02-42-ac-11-00-02/jvm_5d0c1f7a-1111-4a52-9e1a-0f5c0b1c2d3e",
]


def collected(program: str) -> Facts:
    builder = PlanBuilder()
    builder.write(builder.read([READ], "k: int"), program, name="collect")
    document = builder.document()
    event = {"planId": document["id"], "timestamp": 5, "extra": {}}
    plan = PlanDocument(read_plan(document), "", "hash", "1.2")
    return facts_of_plan(plan, [read_event(event)])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_collect_is_a_reader_of_its_tables_and_writes_none(program: str) -> None:
    facts = collected(program)
    rows = facts.rows
    assert [row.uri for row in rows if isinstance(row, DatasetRow)] == [READ]
    (plan,) = (row for row in rows if isinstance(row, LogicalPlanRow))
    (execution,) = (row for row in rows if isinstance(row, ExecutionRow))
    assert (plan.target, plan.mode) == ("", labels.NO_WRITE)
    assert (execution.kind, execution.target) == (labels.READ_KIND, "")
    assert execution.reads == identity.set_text([identity.dataset_id("", READ)])


def test_the_program_is_no_part_of_what_a_query_does() -> None:
    first, second = (
        {row.id for row in collected(program).rows if isinstance(row, LogicalPlanRow)}
        for program in PROGRAMS
    )
    assert first == second
