"""When plans that write nothing have read, on every database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graph_model.facts import ExecutionRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import NEVER, DeclaredFlow
from graph_model.stores.database import open_database
from tests.contract.catalogue.history.test_declared import declared
from tests.contract.databases import full_scans, instructions, recorded_plans
from tests.contract.rows import EXECUTIONS, PLANS, TIMES, an_execution, property_test

READS = EXECUTIONS.map(
    lambda rows: [row._replace(kind="read", target="") if row.at % 2 else row for row in rows]
)


@property_test
@given(
    rows=READS,
    asked=st.sets(st.tuples(PLANS, TIMES), max_size=5),
    per_plan=st.integers(1, 3),
)
def test_the_reads_of_a_plan_are_all_of_them_or_its_newest(
    catalogue: Catalogue,
    rows: list[ExecutionRow],
    asked: set[tuple[str, int]],
    per_plan: int,
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    found = catalogue.readings(asked, per_plan=per_plan)
    assert found.keys() == asked
    for (plan, before), answer in found.items():
        own = [r for r in rows if (r.kind, r.state, r.logical_plan) == ("read", "completed", plan)]
        own = sorted((r for r in own if r.at < before), key=lambda r: -r.at)
        cut = own[per_plan].at if len(own) > per_plan else None
        kept = {row.id for row in own if cut is None or row.at > cut}
        assert {read.id for read in answer.writes} == kept
        told = [(one.logical_plan, one.first, one.last) for one in answer.older]
        assert told == ([] if cut is None else [(plan, own[-1].at, cut)])


def test_a_declared_read_holds_until_its_subject_declares_something_else(
    catalogue: Catalogue,
) -> None:
    reads = {"target": "", "job": "j", "reads": "a"}
    catalogue.record(
        [
            declared("e1", "s1", 100, logical_plan="lp-1", **reads),
            declared("e2", "s1", 200, logical_plan="lp-2", **reads),
            declared("e3", "s1", 300, logical_plan="lp-3", target="t", job="j"),
            declared("e4", "s2", 100, logical_plan="lp-4", **reads),
            declared("e5", "s2", 200, logical_plan="lp-5", target="", job="j", reads=""),
        ]
    )
    assert catalogue.declared_reads(["lp-1", "lp-2", "lp-3", "lp-4"]) == (
        DeclaredFlow("", "lp-1", "j", 100, 200),
        DeclaredFlow("", "lp-2", "j", 200, 300),
        DeclaredFlow("", "lp-4", "j", 100, NEVER),
    )
    assert catalogue.declared_reads([]) == ()


def test_a_plan_that_read_a_thousand_times_costs_as_much_as_one_that_read_a_hundred_times() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    steps = []
    for many in (100, 1_000):
        catalogue.clear()
        catalogue.record([an_execution(f"e{n}", at=n, kind="read", target="") for n in range(many)])
        asked = [("lp-1", many)]
        catalogue.readings(asked, per_plan=9)
        steps.append(instructions(engine, lambda a=asked: catalogue.readings(a, per_plan=9)))
    assert steps[1] < 2 * steps[0], steps
    with recorded_plans(engine) as lines:
        catalogue.readings([("lp-1", 5), ("lp-2", 9)], per_plan=9)
        catalogue.declared_reads(["lp-1", "lp-2"])
    assert lines
    assert full_scans(lines, ("catalogue_", "listed", "seen")) == []
    assert not any("AUTOMATIC" in line for line in lines)
    engine.dispose()
