"""dbt's artefacts of a small shop: what ran, what is declared, who uses it."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from collectors.harvesting.dbt import DbtArtifacts
from collectors.harvesting.fusion import results_of_telemetry
from graph_model import labels
from graph_model.documents.files import Piece, classify, prepare
from graph_model.errors import HeadwaterError, Unavailable
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from tests.openlineage_facts import facts_of_run

CLUSTER: Final = "postgres://db:5432"
FIXTURES: Final = Path(__file__).parents[3] / "fixtures" / "dbt"
AT: Final = "2026-03-01T12:00:00.000000Z"


def node(kind: str, name: str, **more: Any) -> dict[str, Any]:
    place = {"database": "dev", "schema": "shop", "alias": name, "name": name}
    return {"resource_type": kind, **place, "columns": {}, "config": {}, **more}


def reading(*parents: str) -> dict[str, Any]:
    return {"depends_on": {"nodes": list(parents)}}


def a_manifest() -> dict[str, Any]:
    amount = {"name": "amount", "description": "in euro"}
    return {
        "metadata": {"adapter_type": "postgres", "generated_at": AT, "invocation_id": "m"},
        "nodes": {
            "seed.shop.raw": node("seed", "raw"),
            "model.shop.kept": node(
                "model", "kept", config={"materialized": "ephemeral"}, **reading("seed.shop.raw")
            ),
            "model.shop.orders": node(
                "model",
                "orders",
                compiled_code='with kept as (select * from "dev"."shop"."raw")\n'
                "select id, amount * 2 as amount from kept",
                config={"materialized": "table", "meta": {"owner": "sales"}},
                tags=["daily"],
                description="One row an order.",
                columns={"amount": amount},
                **reading("model.shop.kept", "source.shop.web.visits"),
            ),
            "test.shop.unique_orders_id": node(
                "test",
                "unique_orders_id",
                attached_node="model.shop.orders",
                column_name="id",
                test_metadata={"name": "unique"},
                **reading("model.shop.orders"),
            ),
        },
        "sources": {
            "source.shop.web.visits": node("source", "visits", schema="web", identifier="visits")
            | {"alias": None}
        },
        "exposures": {
            "exposure.shop.board": {
                "resource_type": "exposure",
                "name": "board",
                "type": "dashboard",
                "url": "https://bi.example/board",
                "owner": {"name": "Sales", "email": "sales@example.org"},
                **reading("model.shop.orders"),
            }
        },
    }


def ran(key: str, status: str, **more: Any) -> dict[str, Any]:
    timing = {"name": "execute", "started_at": AT, "completed_at": AT.replace("12:00", "12:01")}
    return {"unique_id": key, "status": status, "timing": [timing], **more}


RESULTS: Final = {
    "metadata": {"invocation_id": "r1"},
    "results": [
        ran("seed.shop.raw", "success"),
        ran("model.shop.orders", "success"),
        ran("test.shop.unique_orders_id", "fail"),
    ],
}
COLUMNS: Final = {"AMOUNT": {"index": 2, "name": "amount", "type": "numeric"}}
CATALOG: Final = {
    "nodes": {
        "seed.shop.raw": {
            "columns": {
                **COLUMNS, "ID": {"index": 1, "name": "id", "type": "int"},
            }
        }
    }
}  # fmt: skip


def artefacts(folder: Path, **files: Any) -> DbtArtifacts:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return DbtArtifacts(str(folder), CLUSTER)


def events_of(source: DbtArtifacts) -> dict[str, list[Mapping[str, Any]]]:
    """The events of each job."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in source.findings(0, ()):
        for event in one.events():
            found.setdefault(event["job"]["name"], []).append(event)
    return found


def test_a_model_that_ran_is_a_run_with_the_columns_of_its_text(tmp_path: Path) -> None:
    source = artefacts(tmp_path, manifest=a_manifest(), run_results=RESULTS, catalog=CATALOG)
    events = events_of(source)["model.shop.orders"]
    assert [(one["eventType"], one["eventTime"][11:16]) for one in events] == [
        ("START", "12:00"),
        ("COMPLETE", "12:01"),
    ]
    assert {one["name"] for one in events[1]["inputs"]} == {"dev.shop.raw", "dev.web.visits"}
    (output,) = events[1]["outputs"]
    assert (output["namespace"], output["name"]) == (CLUSTER, "dev.shop.orders")
    assert output["facets"]["schema"]["fields"] == [{"name": "amount", "description": "in euro"}]
    assert output["facets"]["documentation"]["description"] == "One row an order."
    assert output["facets"]["tags"]["tags"][0]["key"] == "daily"
    assert output["facets"]["ownership"]["owners"][0]["name"] == "sales"
    read = [one for one in map(read_event, events) if isinstance(one, RunEvent)]
    derived = {
        dict(edge.properties)["how"]
        for edge in facts_of_run(read).edges
        if edge.label == labels.DERIVES
    }
    assert derived == {"IDENTITY", "TRANSFORMATION"}


def test_a_seed_writes_and_an_ephemeral_model_is_no_table(tmp_path: Path) -> None:
    events = events_of(artefacts(tmp_path, manifest=a_manifest(), run_results=RESULTS))
    assert events["seed.shop.raw"][1]["inputs"] == []
    assert events["seed.shop.raw"][1]["outputs"][0]["name"] == "dev.shop.raw"
    assert "model.shop.kept" not in events


def test_an_exposure_is_a_job_that_reads_with_its_owner_and_address(tmp_path: Path) -> None:
    (board,) = events_of(artefacts(tmp_path, manifest=a_manifest()))["exposure.shop.board"]
    assert [one["name"] for one in board["inputs"]] == ["dev.shop.orders"]
    assert board["outputs"] == []
    facets = board["job"]["facets"]
    assert facets["jobType"]["jobType"] == "DASHBOARD"
    assert facets["sourceCodeLocation"]["url"] == "https://bi.example/board"
    assert facets["ownership"]["owners"] == [{"name": "sales@example.org", "type": "OWNER"}]


def test_the_outcome_of_a_test_belongs_to_its_table(tmp_path: Path) -> None:
    events = events_of(artefacts(tmp_path, manifest=a_manifest(), run_results=RESULTS))
    (tested,) = events["model.shop.orders.test"][1]["inputs"]
    assert tested["name"] == "dev.shop.orders"
    assert tested["inputFacets"]["dataQualityAssertions"]["assertions"] == [
        {"assertion": "unique", "success": False, "column": "id"}
    ]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("error", "FAIL"),
        ("skipped", None),
        ("success", "COMPLETE"),
        ("partial success", "COMPLETE"),  # some batches of a microbatch model
    ],
)
def test_a_run_ends_as_dbt_says(status: str, state: str | None, tmp_path: Path) -> None:
    results = {**RESULTS, "results": [ran("model.shop.orders", status, message="no table")]}
    events = events_of(artefacts(tmp_path, manifest=a_manifest(), run_results=results))
    made = events.get("model.shop.orders", [])
    assert [one["eventType"] for one in made] == (["START", state] if state else [])
    messages = [one["run"]["facets"]["errorMessage"]["message"] for one in made[1:]
                if "facets" in one["run"]]  # fmt: skip
    assert messages == (["no table"] if state == "FAIL" else [])


@pytest.mark.parametrize(
    ("args", "own", "replaced"),
    [
        ({}, {}, False),
        ({"full_refresh": True}, {}, True),
        ({"full_refresh": True}, {"full_refresh": False}, False),
        ({"full_refresh": False}, {"full_refresh": True}, True),
        ([], {"full_refresh": "yes"}, False),
    ],
)
def test_an_incremental_model_is_replaced_by_a_full_refresh(
    args: Any, own: Mapping[str, Any], replaced: bool, tmp_path: Path
) -> None:
    manifest = a_manifest()
    config = {"materialized": "incremental", **own}
    manifest["nodes"]["model.shop.orders"]["config"] = config
    source = artefacts(tmp_path, manifest=manifest, run_results={**RESULTS, "args": args})
    _, ended = events_of(source)["model.shop.orders"]
    assert ("lifecycleStateChange" in ended["outputs"][0]["facets"]) is replaced


def test_what_was_only_compiled_is_declared(tmp_path: Path) -> None:
    (declared,) = events_of(artefacts(tmp_path, manifest=a_manifest()))["model.shop.orders"]
    assert "run" not in declared
    assert declared["eventTime"] == "2026-03-01T12:00:00.000Z"


def test_another_invocation_is_taken_again_and_the_same_is_not(tmp_path: Path) -> None:
    source = artefacts(tmp_path, manifest=a_manifest(), run_results=RESULTS)
    first = {one.key: one.mark for one in source.findings(0, ())}
    assert first == {one.key: one.mark for one in source.findings(0, ())}
    again = {**RESULTS, "metadata": {"invocation_id": "r2"}}
    artefacts(tmp_path, run_results=again)
    second = {one.key: one.mark for one in source.findings(0, ())}
    assert (first.keys(), set(second.values())) == (second.keys(), {"r2"})


def test_the_producer_accepts_every_event(tmp_path: Path) -> None:
    source = artefacts(tmp_path, manifest=a_manifest(), run_results=RESULTS, catalog=CATALOG)
    for events in events_of(source).values():
        for event in events:
            (piece,) = classify(event, "dbt")
            assert isinstance(piece, Piece)
            prepare(piece)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "expected JSON"),  # half written
        ("[1]", "expected a JSON object"),
        ("{}", "no metadata.generated_at"),
        ('{"metadata": {"generated_at": null}}', "no metadata.generated_at"),
    ],
)
def test_a_damaged_artefact_is_named(content: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(HeadwaterError, match=rf"manifest\.json: {reason}") as raised:
        events_of(DbtArtifacts(str(tmp_path), CLUSTER))
    assert isinstance(raised.value, Unavailable) == (content == "{")


@pytest.mark.parametrize(
    "nodes",
    [
        {"model.a.b": 7, "model.a.c": {"resource_type": 1}},
        {"m": {"resource_type": "model", "depends_on": {"nodes": [1]}, "tags": 3}},
    ],
)
def test_a_damaged_node_is_left_out(nodes: dict[str, Any], tmp_path: Path) -> None:
    manifest = {"metadata": {"generated_at": "2026-03-01T12:00:00Z"}, "nodes": nodes}
    events_of(artefacts(tmp_path, manifest=manifest))


def test_a_folder_without_a_manifest_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeadwaterError, match=r"no manifest\.json"):
        events_of(DbtArtifacts(str(tmp_path), CLUSTER))


def test_a_folder_that_does_not_exist_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"target: no such folder"):
        events_of(DbtArtifacts(str(tmp_path / "target"), CLUSTER))


def test_every_folder_below_an_s3_prefix_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    source = DbtArtifacts("s3://lake/dbt/", CLUSTER, "eu-west-1")
    manifest = json.dumps(a_manifest()).encode()
    with Stubber(source._s3) as s3:
        keys = ("dbt/a/manifest.json", "dbt/a/other.json", "dbt/b/manifest.json")
        listed = {"Contents": [{"Key": key} for key in keys]}
        s3.add_response("list_objects_v2", listed, {"Bucket": "lake", "Prefix": "dbt/"})
        for folder in ("a", "b"):
            body = StreamingBody(io.BytesIO(manifest), len(manifest))
            asked = {"Bucket": "lake", "Key": f"dbt/{folder}/manifest.json"}
            s3.add_response("get_object", {"Body": body}, asked)
            for _ in ("catalog.json", "run_results.json", "node_columns", "column_lineage"):
                s3.add_client_error("get_object", "NoSuchKey")
        found = [one.key for one in source.findings(0, ())]
    exposures = [key for key in found if key.endswith("exposure.shop.board")]
    assert exposures == [f"s3://lake/dbt/{one} exposure.shop.board" for one in ("a", "b")]


# --- what dbt 2's static analysis found -----------------------------------------------------------


def analysed(folder: Path, manifest: Any, **tables: list[dict[str, Any]]) -> DbtArtifacts:
    """Artefacts with an information schema, whose tables are JSON here in place of Parquet."""
    artefacts(folder, manifest=manifest)
    (folder / "info_schema" / "v1").mkdir(parents=True)
    for name, rows in tables.items():
        file = folder / "info_schema" / "v1" / f"dbt.{name}.parquet"
        file.write_text(json.dumps(rows), encoding="utf-8")
    return DbtArtifacts(str(folder), CLUSTER, read_rows=json.loads)


def column(node_id: str, place: int, name: str, **types: str) -> dict[str, Any]:
    return {
        "node_unique_id": node_id,
        "column_index": place,
        "column_name": name,
        **types,
        "ingested_at": AT,
    }


def edge(parent: str, child: str, evolution: str) -> dict[str, Any]:
    """``node#column`` to ``node#column``; a condition has no column."""
    source, target = parent.partition("#"), child.partition("#")
    return {
        "parent_node_unique_id": source[0],
        "parent_column_name": source[2],
        "child_node_unique_id": target[0],
        "child_column_name": target[2] or None,
        "evolution": evolution,
    }


COLUMNS_OF_NODES: Final = [
    column("seed.shop.raw", 2, "amount", data_type_inferred="numeric", data_type=""),
    column("seed.shop.raw", 1, "id", data_type_actual="int4", data_type_inferred="bigint"),
]
LINEAGE: Final = [
    edge("model.shop.kept#amount", "model.shop.orders#amount", "mod"),
    edge("model.shop.kept#id", "model.shop.orders#id", "copy"),
    edge("source.shop.web.visits#id", "model.shop.orders", "scan"),
    edge("seed.shop.raw#amount", "model.shop.kept#amount", "copy"),
    edge("seed.shop.raw#id", "model.shop.kept#id", "copy"),
    edge("seed.shop.raw#id", "model.shop.kept", "scan"),
    edge("seed.shop.raw#id", "model.shop.orders#id", "a later kind"),
    edge("model.other.gone#x", "model.shop.orders#x", "copy"),
]


def test_columns_come_from_dbts_analysis_where_the_text_does_not_tell_them(
    tmp_path: Path,
) -> None:
    manifest = a_manifest()
    manifest["nodes"]["model.shop.orders"]["compiled_code"] = 'select * from "dev"."web"."visits"'
    source = analysed(tmp_path, manifest, node_columns=COLUMNS_OF_NODES, column_lineage=LINEAGE)
    (declared,) = events_of(source)["model.shop.orders"]
    (raw,) = (one for one in declared["inputs"] if one["name"] == "dev.shop.raw")
    fields = raw["facets"]["schema"]["fields"]
    assert [(one["name"], one["type"]) for one in fields] == [("id", "int4"), ("amount", "numeric")]
    lineage = declared["outputs"][0]["facets"]["columnLineage"]
    found = {
        (name, one["name"], one["field"], *one["transformations"][0].values())
        for name, column in lineage["fields"].items()
        for one in column["inputFields"]
    }
    assert found == {
        ("amount", "dev.shop.raw", "amount", "DIRECT", "TRANSFORMATION"),
        ("id", "dev.shop.raw", "id", "DIRECT", "IDENTITY"),
    }
    whole = {(one["name"], one["field"]) for one in lineage["dataset"]}
    assert whole == {("dev.shop.raw", "id"), ("dev.web.visits", "id")}


def test_a_text_that_is_read_whole_is_better_than_dbts_analysis(tmp_path: Path) -> None:
    source = analysed(tmp_path, a_manifest(), node_columns=COLUMNS_OF_NODES, column_lineage=LINEAGE)
    (declared,) = events_of(source)["model.shop.orders"]
    assert "columnLineage" not in declared["outputs"][0]["facets"]


def test_an_information_schema_that_nothing_can_read_is_told(tmp_path: Path) -> None:
    def not_installed(content: bytes) -> list[dict[str, Any]]:
        raise ImportError("pyarrow")

    analysed(tmp_path, a_manifest(), column_lineage=LINEAGE)
    source = DbtArtifacts(str(tmp_path), CLUSTER, read_rows=not_installed)
    assert "model.shop.orders" in events_of(source)
    told = DbtArtifacts(str(tmp_path), CLUSTER).settings()["info_schema"]
    assert told == "read" or "pyarrow" in told


def test_an_information_schema_that_is_being_written_is_read_later(tmp_path: Path) -> None:
    source = analysed(tmp_path, a_manifest(), column_lineage=LINEAGE)
    (tmp_path / "info_schema" / "v1" / "dbt.column_lineage.parquet").write_text("PAR1")
    with pytest.raises(Unavailable, match="expected Parquet"):
        events_of(source)


# --- what dbt 2's telemetry says ------------------------------------------------------------------

TELEMETRY: Final = (FIXTURES / "telemetry.jsonl").read_bytes()


def test_telemetry_has_the_results_of_the_newest_invocation_that_ended() -> None:
    results, unread = results_of_telemetry(TELEMETRY)
    assert results["metadata"]["invocation_id"] == "0195f000-0000-7000-8000-000000000002"
    assert {
        result["unique_id"]: (result["status"], result["message"]) for result in results["results"]
    } == {
        "seed.shop.raw": ("success", ""),
        "model.shop.orders": ("success", ""),
        "test.shop.unique_orders_id": ("fail", ""),
        "test.shop.not_null_orders_id": ("pass", ""),
        "model.shop.broken": ("error", "relation dev.shop.gone does not exist"),
        "model.shop.behind": ("skipped", ""),
    }
    assert unread == 2  # a line of text, and one that dbt is writing


def test_what_ran_is_known_from_telemetry_without_run_results(tmp_path: Path) -> None:
    target, logs = tmp_path / "target", tmp_path / "logs"
    target.mkdir()
    logs.mkdir()
    (logs / "telemetry.jsonl").write_bytes(TELEMETRY)
    artefacts(target, manifest=a_manifest())
    told: list[str] = []
    source = DbtArtifacts(
        str(target), CLUSTER, telemetry="../logs/telemetry.jsonl", say=told.append
    )
    events = events_of(source)
    assert [(one["eventType"], one["eventTime"][11:19]) for one in events["model.shop.orders"]] == [
        ("START", "12:00:10"),
        ("COMPLETE", "12:01:10"),
    ]
    (tested,) = events["model.shop.orders.test"][1]["inputs"]
    assert tested["inputFacets"]["dataQualityAssertions"]["assertions"] == [
        {"assertion": "unique", "success": False, "column": "id"}
    ]
    assert told == [f"  {target}/../logs/telemetry.jsonl: 2 lines are no records of dbt's"]
    assert source.settings()["telemetry"] == "../logs/telemetry.jsonl"


def test_run_results_are_read_before_telemetry(tmp_path: Path) -> None:
    (tmp_path / "telemetry.jsonl").write_bytes(TELEMETRY)
    artefacts(tmp_path, manifest=a_manifest(), run_results=RESULTS)
    source = DbtArtifacts(str(tmp_path), CLUSTER, telemetry="telemetry.jsonl")
    assert {one.mark for one in source.findings(0, ())} == {"r1"}


def test_telemetry_that_is_not_there_is_told_and_the_models_are_declared(tmp_path: Path) -> None:
    told: list[str] = []
    artefacts(tmp_path, manifest=a_manifest())
    source = DbtArtifacts(str(tmp_path), CLUSTER, telemetry="t.jsonl", say=told.append)
    (declared,) = events_of(source)["model.shop.orders"]
    assert "run" not in declared
    assert told == [f"  {tmp_path}: neither run_results.json nor t.jsonl"]


@pytest.mark.parametrize(
    ("record", "unread"),
    [
        ("[1]", 1),
        ('{"record_type": "Other"}', 1),
        ('{"record_type": "SpanEnd", "attributes": 3}', 0),
        ('{"record_type": "SpanEnd", "attributes": {"unique_id": 7}, "event_type": null}', 0),
        ("[" * 100_000, 1),
        ("", 0),
    ],
)
def test_a_record_of_another_shape_is_passed_over(record: str, unread: int) -> None:
    assert results_of_telemetry(record.encode()) == ({}, unread)


def test_a_cancelled_node_is_aborted(tmp_path: Path) -> None:
    results = {**RESULTS, "results": [ran("model.shop.orders", "canceled")]}
    events = events_of(artefacts(tmp_path, manifest=a_manifest(), run_results=results))
    assert [one["eventType"] for one in events["model.shop.orders"]] == ["START", "ABORT"]
