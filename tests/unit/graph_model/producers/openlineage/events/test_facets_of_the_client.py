"""Facets as the Python client's own classes spell them, and their result in the graph."""

from __future__ import annotations

from typing import Any

from openlineage.client.event_v2 import (
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
    StaticDataset,
)
from openlineage.client.generated import (
    base_subset_dataset,
    column_lineage_dataset,
    job_type_job,
    lifecycle_state_change_dataset,
    lineage,
    output_statistics_output_dataset,
    parent_run,
    schema_dataset,
    symlinks_dataset,
)
from openlineage.client.serde import Serde

from tests.unit.graph_model.producers.openlineage.test_scenarios import Summary, translated

TIME = "2026-03-01T10:00:00Z"


def told(*events: Any) -> Summary:
    return Summary(translated([Serde.to_dict(event) for event in events]))


def run(inputs: list[InputDataset], outputs: list[OutputDataset], **more: Any) -> RunEvent:
    return RunEvent(
        eventType=RunState.COMPLETE,
        eventTime=TIME,
        run=Run("0195cf5b-7c01-7e51-a42d-4b0b0b1a1f00", more.get("run_facets", {})),
        job=Job("etl", "load", more.get("job_facets", {})),
        inputs=inputs,
        outputs=outputs,
    )


def test_columns_with_their_transformations() -> None:
    transformation = column_lineage_dataset.Transformation("DIRECT", "AGGREGATION", "sum(a)", True)
    deciding = column_lineage_dataset.Transformation("INDIRECT", "FILTER")
    facet = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            "total": column_lineage_dataset.Fields(
                [column_lineage_dataset.InputField("s3://lake", "in", "a", [transformation])]
            )
        },
        dataset=[column_lineage_dataset.InputField("s3://lake", "in", "b", [deciding])],
    )
    output = OutputDataset("s3://lake", "out", facets={"columnLineage": facet})
    found = told(run([InputDataset("s3://lake", "in")], [output]))
    assert found.columns() == [
        "s3://lake/in#a -> s3://lake/out#total DIRECT AGGREGATION masked `sum(a)` [column]"
    ]
    assert found.influences() == ["s3://lake/in#b decides FILTER [column]"]


def test_explicit_lineage_of_a_run() -> None:
    source = lineage.LineageDatasetInput("s3://lake", "in", "DATASET", field="a")
    facet = lineage.LineageJobFacet(
        [
            lineage.LineageDatasetEntry(
                "s3://lake", "out", "DATASET", fields={"total": lineage.LineageFieldEntry([source])}
            )
        ]
    )
    beside = InputDataset("s3://lake", "beside")
    found = told(run([beside], [OutputDataset("s3://lake", "out")], job_facets={"lineage": facet}))
    assert sorted(found.plans()) == [
        "etl/load: s3://lake/beside [implied] => (nothing)",
        "etl/load: s3://lake/in [explicit] => s3://lake/out unknown [explicit]",
    ]


def test_partitions_modes_and_statistics() -> None:
    partition = base_subset_dataset.Partition({"dt": "2026-03-01"})
    subset = base_subset_dataset.OutputSubsetOutputDatasetFacet(
        base_subset_dataset.PartitionSubsetCondition([partition])
    )
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=4)
    change = lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet(
        lifecycle_state_change_dataset.LifecycleStateChange.OVERWRITE
    )
    output = OutputDataset(
        "s3://lake",
        "out",
        facets={"lifecycleStateChange": change},
        outputFacets={"subset": subset, "outputStatistics": statistics},
    )
    found = told(run([], [output]))
    assert found.partitions() == ["write s3://lake/out dt=2026-03-01"]
    assert found.metrics() == ['{"read":{},"write":{"numOutputRows":4}}']
    assert "overwrite" in found.executions()[0]


def test_the_run_above_and_the_parts_that_repeat_with_every_event() -> None:
    parent = parent_run.ParentRunFacet(
        parent_run.Run("0195cf5b-7c01-7e51-a42d-4b0b0b1a1f01"),
        parent_run.Job("etl", "dag"),
        parent_run.Root(
            parent_run.RootRun("0195cf5b-7c01-7e51-a42d-4b0b0b1a1f02"),
            parent_run.RootJob("etl", "top"),
        ),
    )
    pattern = job_type_job.EmissionPattern("PERIODIC", "COMPLETE_SNAPSHOT")
    kind = job_type_job.JobTypeJobFacet("STREAMING", "FLINK", emissionPattern=pattern)
    found = told(run([], [], run_facets={"parent": parent}, job_facets={"jobType": kind}))
    assert found.tree() == ["etl/dag has etl/load"]


def test_declarations_of_a_job_and_of_a_dataset() -> None:
    job = JobEvent(
        eventTime=TIME,
        job=Job("etl", "declared"),
        inputs=[InputDataset("s3://lake", "in")],
        outputs=[OutputDataset("s3://lake", "out")],
    )
    links = symlinks_dataset.SymlinksDatasetFacet(
        [symlinks_dataset.Identifier("arn:aws:glue:eu-west-1:12", "table/hr/staff", "TABLE")]
    )
    columns = schema_dataset.SchemaDatasetFacet(
        [schema_dataset.SchemaDatasetFacetFields("id", "int", ordinal_position=1)]
    )
    described = StaticDataset("s3://lake", "staff", facets={"symlinks": links, "schema": columns})
    found = told(job, DatasetEvent(eventTime=TIME, dataset=described))
    assert found.plans() == [
        "etl/declared: s3://lake/in [declared] => s3://lake/out append [declared]"
    ]
    assert found.of("names") == ["arn:aws:glue:eu-west-1:12/hr.staff names s3://lake/staff"]
    assert found.schemas() == ["s3://lake/staff: id int"]
