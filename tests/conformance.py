"""docs/openlineage-conformance.md, made of the scenarios and of the code's treatment of facets.

    python -m tests.conformance        writes it anew

The scenarios are those of OpenLineage's compatibility suite for consumers, told again with data of
our own (``tests/fixtures/openlineage/scenarios/conformance_*.json``); the result that each must
give stands beside its events and is held by ``test_openlineage_scenarios``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from graph_model.naming import DEFAULT_RULES
from graph_model.producers.openlineage.events.facets import READERS

PAGE: Final = Path(__file__).parents[1] / "docs" / "openlineage-conformance.md"
SCENARIOS: Final = Path(__file__).parent / "fixtures" / "openlineage" / "scenarios"
_PREFIX: Final = "conformance_"
READ: Final = "read"
KEPT: Final = "kept"
DOCUMENT: Final = "document"

#: Facets of the specification (2-0-2), and those of clients that are seen often: by the entity that
#: carries them, their content and, where one is read, its use.
FACETS: Final[dict[str, dict[str, str]]] = {
    "run": {
        "parent": "the run and the job above, and at the root: the tree of runs and of jobs",
        "parentRun": "the same, as clients of 2021 spell it",
        "nominalTime": "the time that the run is for",
        "errorMessage": "the error of a failed run, also the run's own text",
        "spark.exception": "the same, of Spark's client; a COMPLETE after it ends nothing",
        "extractionError": "the client's extraction failures; the error if no other is reported",
        "externalQuery": "the query's id in its warehouse",
        "processing_engine": "name and version of the engine",
        "environmentVariables": "variables that the client is configured to send",
        "executionParameters": "parameters of the run",
        "jobDependencies": "control flow: shown with the job, no lineage is made of it",
        "tags": "of a Spark application they are labels: namespace and job name it",
        "test": "outcomes of tests",
        "spark_properties": "the application's name and id",
        "spark_applicationDetails": "the application's name and id",
        "spark_jobDetails": "Spark's number of the job",
        "spark.logicalPlan": "Spark's plan as text",
        "spark_unknown": "parts of Spark's plan that the client does not know",
        "environment-properties": "variables of Databricks and the like",
        "gcp_dataproc": "the application's name and id, the cluster, the job",
        "gcp_dataproc_spark": "the same, as clients of 2024 spell it",
        "airflow": "the task, its DAG and its settings",
        "airflowDagRun": "the run of the DAG and its settings",
        "airflowState": "how the DAG's run and its tasks ended",
        "dbt_run": "the invocation of dbt",
        "unknownSourceAttribute": "an operator that Airflow has no extractor for",
    },
    "job": {
        "jobType": "the integration, batch or stream; repeated with every event",
        "lineage": "explicit lineage: nothing is inferred beside it",
        "sql": "the text of a query",
        "gcp_lineage": "where Google's own lineage has it",
        "sourceCode": "the text of a task",
        "sourceCodeLocation": "where it is kept",
        "documentation": "people's statements about it",
        "ownership": "the responsible person or team",
        "tags": "words that it was given",
    },
    "dataset": {
        "schema": "columns, nested fields, types: a schema with its columns",
        "columnLineage": "column edges, and influences on all columns",
        "lineage": "explicit lineage of one dataset, without a job",
        "symlinks": "other names: an edge from the name to the location, over time",
        "lifecycleStateChange": "overwrite, rename, or an end of data; DROP is no write",
        "dbt_exposures": "the exposures of dbt that read it: each is a job by declaration",
        "dbt_model": "how dbt builds it, which is the mode of a model's write",
        "version": "the version that a table format counts",
        "dataSource": "name and address of the store",
        "documentation": "people's statements about it and its columns",
        "ownership": "the responsible person or team",
        "tags": "words that it or a column was given",
        "storage": "layer and file format",
        "catalog": "the catalog that it stands in",
        "hierarchy": "the levels above it",
        "datasetType": "table, view, file, topic, model",
        "dataQualityMetrics": "counts over rows and columns",
        "dataQualityAssertions": "tests and their outcomes; dbt sends them in two places",
        "ourOwn": "a facet that nobody knows stands for all others",
    },
    "input": {
        "inputStatistics": "rows, bytes and files read: metrics of the execution",
        "subset": "partitions that were read; other conditions choose rows and are kept",
        "dataQualityAssertions": "the tests and their results",
        "dataQualityMetrics": "counts over rows and columns",
    },
    "output": {
        "outputStatistics": "rows, bytes and files written: metrics of the execution",
        "subset": "partitions that were written",
    },
}


def treatment(entity: str, name: str) -> str:
    """``read`` into the graph, ``kept`` over time, or left in its ``document``."""
    if name in READERS[entity]:
        return READ
    return DOCUMENT if name in DEFAULT_RULES.facets_without_rows else KEPT


def scenarios() -> dict[str, Any]:
    """Those of the suite, by name."""
    return {
        path.stem.removeprefix(_PREFIX): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(SCENARIOS.glob(f"{_PREFIX}*.json"))
    }


def render() -> str:
    return "\n".join([_INTRODUCTION, *_scenario_lines(), _FACETS_TITLE, *_facet_lines()]) + "\n"


_INTRODUCTION: Final = """\
# Supported parts of OpenLineage

Made by `python -m tests.conformance`; a test fails where it is out of date.

Every event that has the shape of a RunEvent, a JobEvent or a DatasetEvent is taken and stored as
it came, with secrets masked. Formats are not checked: older clients send run ids that are no UUIDs,
and no `producer` and `schemaURL`. Any other event is refused with 400 and the field's name.

## Scenarios of the compatibility suite for consumers

The events are ours, their shapes those of the suite. Each gives the same graph in any order and
with repeats, and can be asked for over HTTP. The suite's own 74 events (its six scenarios as of
August 2026) were tried: none is refused, and their order makes no difference."""
_FACETS_TITLE: Final = """
## Facets

*read*: lineage, names, schemas, runs or metrics are made of it. *kept*: a row over time, verbatim,
on the pages and in `/graph/datasets/{id}/facets` and `/graph/jobs/{id}/facets`; the newest stands,
`_deleted` takes it away. *document*: it repeats the content of the graph or details of the
application, and stays in the stored event alone."""


def _scenario_lines() -> Iterator[str]:
    for name, scenario in scenarios().items():
        events = scenario["events"]
        yield ""
        yield f"### {name.replace('_', ' ').capitalize()}"
        yield ""
        yield f"{scenario['title'][:1].upper()}{scenario['title'][1:]} ({len(events)} events)."
        yield ""
        for key in ("plans", "columns", "influences", "names", "gaps"):
            yield from (f"- {key}: `{line}`" for line in scenario["expected"].get(key, ()))


def _facet_lines() -> Iterator[str]:
    for entity, listed in FACETS.items():
        yield ""
        yield f"| {entity} | | |"
        yield "|---|---|---|"
        for name, text in listed.items():
            yield f"| `{name}` | {treatment(entity, name)} | {text} |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
