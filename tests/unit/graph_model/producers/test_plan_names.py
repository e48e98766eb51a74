"""A logical plan has a name for people, which its id covers."""

from __future__ import annotations

from graph_model import identity, labels
from tests import estates, impact_lake


def test_the_name_is_that_of_the_job_with_the_beginning_of_the_fingerprint() -> None:
    headwater = impact_lake.lake()
    plans = [item for item in headwater.graph.scan() if item.label == labels.LOGICAL_PLAN]
    assert sorted(dict(plan.properties)["name"].split()[0] for plan in plans) == [
        "audit", "daily", "load", "report",
    ]  # fmt: skip
    for entry in plans:
        values = dict(entry.properties)
        job, begins = values["name"].split()
        assert values["fingerprint"].startswith(begins)
        assert entry.id == identity.logical_plan_id(
            identity.job_id("default", job), job, values["fingerprint"]
        )
    headwater.close()


def test_plans_of_openlineage_have_one_too() -> None:
    run = estates.Run(1, 7, {"s3 a": None}, "s3 b", None, {})
    plans = [
        vertex
        for vertex in estates.translated([run]).vertices
        if vertex.label == labels.LOGICAL_PLAN
    ]
    assert [dict(plan.properties)["name"].split()[0] for plan in plans] == ["job7"]


def test_the_id_is_another_one_than_without_a_name() -> None:
    """So a graph that an older translator wrote never keeps a plan without a name."""
    job = identity.job_id("default", "daily")
    assert identity.logical_plan_id(job, "daily", "f" * 32) != identity.vertex_id(
        labels.LOGICAL_PLAN, job, "f" * 32
    )
