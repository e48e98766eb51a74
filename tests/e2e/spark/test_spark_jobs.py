"""Jobs, frames, functions and streams of many kinds, the same on each Spark: where the values of
each written column come from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet

from graph_model import labels
from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.documents import read_plan
from tests.e2e.spark.spark_jars import avro_jars, paths_for
from tests.e2e.spark.table_format_worker import EVERY, PLAIN, jobs_on, topics
from tests.e2e.spark.test_listener import logic_of, python_of, run_worker
from tests.e2e.spark.test_table_formats import Reports

SPARKS: Final = ("3.5", "4.0", "4.1", "4.2", "4.3")


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    spark = request.param
    root = tmp_path_factory.mktemp("jobs")
    jars = (*paths_for(spark, os.environ), *avro_jars(spark, os.environ))
    arguments = (PLAIN, spark, EVERY, *jars)
    run_worker(
        python_of(spark), "tests.e2e.spark.table_format_worker", root, *arguments, seconds=1_500
    )
    return Reports(root, spark)


def cases() -> list[ParameterSet]:
    return [
        pytest.param(
            spark,
            (topic, job),
            id=f"{spark}-{job['name']}",
            marks=pytest.mark.part(f"spark-{spark}"),
        )
        for spark in SPARKS
        for topic, listed in topics(PLAIN).items()
        for job in jobs_on(listed["jobs"], spark, EVERY)
    ]


@pytest.mark.spark
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("reports", "case"), cases(), indirect=["reports"], scope="module")
def test_each_written_column_has_the_sources_that_were_written_down(
    reports: Reports, case: tuple[str, Mapping[str, Any]]
) -> None:
    topic, job = case
    documents = reports.of(topic, job["name"], failed=False)
    plan = next(
        plan
        for plan, _ in reversed(documents)
        if plan["operations"]["write"]["outputSource"] == job["writes"]
    )

    gaps = sorted({code for code, _ in logic_of(plan).gaps})
    assert gaps == job.get("gaps", [])
    if "rows" in job:
        assert flows_of(plan) == {key: job[key] for key in ("direct", "indirect", "rows")}
    elif job["sources"] is not None:
        assert sources_of(plan) == {name: sorted(all_) for name, all_ in job["sources"].items()}


def flows_of(document: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """``direct``: written column => ``how table#column.field`` of its values, ``indirect``: of what
    decides about them, ``rows``: FILTER, JOIN, GROUP_BY or SORT => ``table#column.field``.
    """
    plan = read_plan(document)
    places = {
        column: read.sources[0].rpartition("/")[2]
        for read in plan.reads
        for column in read.output or ()
    }
    columns = derive(plan)
    written = [plan.attributes[output].name for output in columns.outputs]
    flows: dict[str, dict[str, set[str]]] = {
        "direct": {name: set() for name in written},
        "indirect": {},
        "rows": {},
    }

    def named(source: str, path: tuple[str, ...]) -> str:
        return f"{places[source]}#{'.'.join((plan.attributes[source].name, *path))}"

    for each in columns.derivations:
        kind = "direct" if each.kind == labels.DIRECT else "indirect"
        text = f"{each.how} {named(each.source, each.source_path)}"
        flows[kind].setdefault(written[each.output], set()).add(text)
    for influence in columns.influences:
        name = named(influence.source, influence.source_path)
        flows["rows"].setdefault(influence.how, set()).add(name)
    return {kind: {key: sorted(all_) for key, all_ in by.items()} for kind, by in flows.items()}


def sources_of(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Written column => ``table#column`` of its values; a field of a struct counts as the whole."""
    plan = read_plan(document)
    places = {
        column: read.sources[0]
        for read in plan.reads
        if read.sources  # a stream of numbers has none
        for column in read.output or ()
    }
    columns = derive(plan)
    found: dict[str, set[str]] = {plan.attributes[out].name: set() for out in columns.outputs}
    for each in columns.derivations:
        if each.kind == labels.DIRECT and each.source in places:
            written = plan.attributes[columns.outputs[each.output]].name
            place = places[each.source].rpartition("/")[2]
            found[written].add(f"{place}#{plan.attributes[each.source].name}")
    return {name: sorted(all_) for name, all_ in found.items()}
