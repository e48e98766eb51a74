"""One plan as Spline's consumer API asks about it: the origins and uses of a column inside it."""

from __future__ import annotations

from graph_model.answers.consumer.plan_documents import AttributeGraph, PlanAttributes
from graph_model.producers.spline.documents import ExecutionPlan, read_plan
from tests.builders import PlanBuilder
from tests.captures import plans


def sum_plan() -> ExecutionPlan:
    """SELECT id, salary + bonus AS total FROM employees WHERE salary > 10."""
    plan = PlanBuilder()
    employees = plan.read("file:/lake/employees", "id: int", "salary: int", "bonus: int")
    wanted = plan.call(
        "greaterthan", employees["salary"], plan.literal(10), symbol=">", type="boolean"
    )
    kept = plan.filter(employees, wanted)
    total = plan.call("add", kept["salary"], kept["bonus"], symbol="+", type="int")
    plan.write(plan.project(kept, "id", total=total))
    return plan.build()


def named(graph: AttributeGraph) -> tuple[list[str], set[tuple[str, str]]]:
    names = {node.attribute: node.name for node in graph.nodes}
    return [node.name for node in graph.nodes], {(names[a], names[b]) for a, b in graph.edges}


def operation_called(plan: ExecutionPlan, name: str) -> str:
    return next(operation.id for operation in plan.operations if operation.name == name)


def test_a_column_comes_from_the_columns_that_its_expression_takes() -> None:
    plan = sum_plan()
    attributes = PlanAttributes(plan)
    total = plan.operations[-2].output
    assert total is not None
    names, edges = named(attributes.lineage(total[1]))
    assert names == ["salary", "bonus", "total"], "the column asked for is last"
    assert edges == {("total", "salary"), ("total", "bonus")}
    assert named(attributes.impact(total[1])) == (["total"], set())


def test_impact_begins_with_the_column_and_ends_edges_at_it() -> None:
    attributes = PlanAttributes(sum_plan())
    names, edges = named(attributes.impact("attr-1"))
    assert names == ["salary", "total"]
    assert edges == {("total", "salary")}


def test_a_column_knows_where_it_appears_and_which_operations_it_passes_through() -> None:
    plan = sum_plan()
    attributes = PlanAttributes(plan)
    read, kept = (operation_called(plan, name) for name in ("LogicalRelation", "Filter"))
    (salary, _, total) = attributes.lineage(plan.operations[-2].output[1]).nodes  # type: ignore[index]
    assert (salary.origin, salary.passed) == (read, (kept,))
    assert (total.origin, total.passed) == (operation_called(plan, "Project"), ())
    (identifier,) = attributes.impact("attr-0").nodes
    assert identifier.origin == read
    assert set(identifier.passed) == {o.id for o in plan.operations} - {read}


def test_the_captured_aggregate_as_its_query_says() -> None:
    """avg(total_comp) AS avg_comp … GROUP BY dept, manager: worked out by hand."""
    (document,) = plans("a3_agg")
    plan = read_plan(document)
    attributes = PlanAttributes(plan)
    key = {plan.attributes[key].name: key for key in attributes.emitted}
    assert named(attributes.lineage(key["avg_comp"]))[1] == {("avg_comp", "total_comp")}
    assert named(attributes.impact(key["total_comp"]))[1] == {("avg_comp", "total_comp")}
    assert named(attributes.lineage(key["n"]))[1] == set(), "count(*) comes from no column"


def test_a_chain_of_thousands_of_operations_is_walked() -> None:
    plan = PlanBuilder()
    step = plan.read("file:/in", "a: int")
    for number in range(2_000):
        step = plan.project(step, a=plan.call("negative", step["a"], type=f"int{number % 2}"))
    plan.write(step)
    built = plan.build()
    attributes = PlanAttributes(built)
    last = built.operations[-2].output
    assert last is not None
    lineage, impact = attributes.lineage(last[0]), attributes.impact("attr-0")
    assert len(lineage.nodes) == len(impact.nodes) == 2_001
    assert len(lineage.edges) == len(impact.edges) == 2_000


def test_a_column_of_a_wide_plan_has_its_uses() -> None:
    plan = PlanBuilder()
    wide = plan.read("file:/in", *(f"c{number}: int" for number in range(2_000)))
    step = plan.project(
        wide, **{f"d{n}": plan.call("negative", wide[f"c{n}"], type="int") for n in range(2_000)}
    )
    plan.write(step)
    names, edges = named(PlanAttributes(plan.build()).impact(wide["c7"].id))
    assert (names, edges) == (["c7", "d7"], {("d7", "c7")})
