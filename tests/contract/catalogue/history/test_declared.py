"""Declarations and runs' own facets in the catalogue, on every database."""

from __future__ import annotations

from graph_model.facts import DeclarationRow, ExecutionRow, FacetBodyRow, FacetRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import NEVER, DeclaredFlow, RunFacet
from graph_model.stores.database import open_database
from tests.contract.databases import full_scans, recorded_plans
from tests.contract.rows import an_execution


def declared(id: str, subject: str, at: int, **values: object) -> ExecutionRow:
    return an_execution(
        id, subject=subject, plan_id=subject, kind="declaration", mode="append", at=at,
        execution_plan="", application_id="", **values,
    )  # fmt: skip


def a_declaration(id: str, event: str, at: int, nodes: str) -> DeclarationRow:
    target, *_ = nodes.split()
    return DeclarationRow(id, event, "p", "", "ann", at, at, "", "job-1", target, nodes, "{}")


def test_a_flow_holds_until_its_subject_declares_something_else(catalogue: Catalogue) -> None:
    catalogue.record(
        [
            declared("e1", "s1", 100, target="t", logical_plan="lp-1", job="j"),
            declared("e2", "s1", 200, target="u", logical_plan="lp-2", job="j"),
            declared("e3", "s1", 300, target="", logical_plan="lp-3", job="j"),
            declared("e4", "s2", 150, target="t", logical_plan="lp-4", job="j"),
            an_execution("w", target="t", at=400, logical_plan="lp-5"),
        ]
    )
    assert catalogue.declared_flows(["t", "u", "nothing"]) == (
        DeclaredFlow("t", "lp-1", "j", 100, 200),
        DeclaredFlow("t", "lp-4", "j", 150, NEVER),
        DeclaredFlow("u", "lp-2", "j", 200, NEVER),
    )
    assert catalogue.declared_flows([]) == ()


def test_one_scope_does_not_end_the_declarations_of_another(catalogue: Catalogue) -> None:
    more = {"target": "t", "logical_plan": "lp-1", "job": "j"}
    other = an_execution("e2", subject="s2", plan_id="s1", kind="declaration", at=200, **more)
    catalogue.record([declared("e1", "s1", 100, **more), other])
    assert {flow.ends for flow in catalogue.declared_flows(["t"])} == {NEVER}


def test_a_plan_is_declared_as_long_as_no_run_follows_it(catalogue: Catalogue) -> None:
    catalogue.record(
        [
            declared("e1", "s1", 100, logical_plan="lp-1"),
            declared("e2", "s2", 100, logical_plan="lp-2"),
            an_execution("e3", logical_plan="lp-2", at=50, state="failed"),
            an_execution("e4", logical_plan="lp-3"),
        ]
    )
    asked = ["lp-1", "lp-2", "lp-3", "lp-4", *(f"more-{n}" for n in range(250))]
    assert catalogue.declared_plans(asked) == {"lp-1"}
    assert catalogue.declared_plans([]) == frozenset()


def test_declarations_are_listed_by_time_and_found_by_node(catalogue: Catalogue) -> None:
    rows = [
        a_declaration("d2", "x", 100, "ds_1 job_1"),
        a_declaration("d1", "y", 200, "ds_2 job_1"),
        a_declaration("d1", "z", 200, "ds_2 job_1"),
    ]
    catalogue.record(rows)
    assert catalogue.declarations() == (rows[0], rows[1], rows[2])
    assert catalogue.declarations("job_1") == catalogue.declarations()
    assert catalogue.declarations("ds_1") == (rows[0],)
    assert catalogue.declarations("%") == ()


def test_the_newest_run_of_each_plan_speaks_for_a_dataset(catalogue: Catalogue) -> None:
    def told(subject: str, digest: str, at: int, name: str = "mine") -> FacetRow:
        return FacetRow(subject, "run", name, at, subject, digest, False, "j")

    def wrote(id: str, subject: str, at: int, plan: str, state: str = "completed") -> ExecutionRow:
        return an_execution(
            id, subject=subject, target="t", at=at, logical_plan=plan, job="j", state=state
        )

    catalogue.record(
        [
            wrote("e1", "s1", 100, "lp-1"), wrote("e2", "s2", 200, "lp-1", "failed"),
            wrote("e3", "s3", 50, "lp-2"), wrote("e4", "s4", 60, "lp-3"),
            told("s1", "good", 100), told("s2", "bad", 200), told("s3", "other", 50, "yours"),
            FacetRow("s4", "run", "mine", 60, "s4", "", True, "j"),
            *(FacetBodyRow(digest, "{}") for digest in ("good", "bad", "other")),
        ]
    )  # fmt: skip
    assert catalogue.run_facets(["t", "u"], ["mine"], None) == (
        RunFacet("t", "j", 200, "mine", "bad"),
    )
    assert catalogue.run_facets(["t"], ["mine"], 150) == (RunFacet("t", "j", 100, "mine", "good"),)
    assert catalogue.run_facets(["t"], ["mine"], 10) == ()
    assert catalogue.run_facets([], ["mine"], None) == ()


def test_nothing_of_it_walks_a_whole_table() -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    catalogue.record([an_execution(f"e{n}", at=n, target=f"t{n % 7}") for n in range(300)])
    catalogue.declared_flows(["t1"])
    with recorded_plans(engine) as lines:
        catalogue.declared_flows(["t1", "t2"])
        catalogue.declared_flows([f"t{n}" for n in range(400)])
        catalogue.declared_plans(["lp-1", "lp-2"])
        catalogue.run_facets(["t1", "t2"], ["mine"], 200)
    assert lines
    assert full_scans(lines, ("catalogue_", "listed", "seen")) == []
    assert not any("AUTOMATIC" in line for line in lines)
    engine.dispose()
