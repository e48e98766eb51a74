"""The parts around the job: orders, the manifest, results read again, the command line."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from graph_model import naming
from graph_model.errors import ConfigurationError, InvalidInput, NotFound
from graph_model.facts import DatasetRow, Edge, Facts, Vertex, properties
from graph_model.producers.commands import (
    Command,
    CommandKind,
    Forget,
    Statement,
    write_command,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from graph_model.stores.documents import content_hash
from graph_model.stores.graph import elements_digest
from pipeline.command_line import run
from pipeline.journal import read_commands_in_force
from pipeline.loading import load
from pipeline.records import header, record, row_record, type_of
from pipeline.result import (
    FileGroup,
    JournalCounts,
    LocalFiles,
    Manifest,
    Result,
    S3Files,
    read_manifest,
    write_manifest,
)
from tests.memory_graph import MemoryGraph

JOB = Vertex("job_1", "job", properties({"name": "a, b", "namespace": ""}))
PLAN = Vertex("lp_1", "logical_plan", properties({"mode": "append"}))
HAS = Edge("e_1", "has", "job_1", "lp_1")
ROW = DatasetRow("ds_1", "s3://lake/a", "", "a", "file")
MANIFEST = Manifest(
    created_at=1,
    epoch="epoch",
    translator="3",
    catalogue_version=1,
    journal=JournalCounts(2, 1, 0, 7, {"projected": 2}, 0),
    vertices={
        "job": FileGroup(1, 1, {"name": "String", "namespace": "String"}),
        "logical_plan": FileGroup(1, 1, {"mode": "String"}),
    },
    edges={"has": FileGroup(1, 1, {})},
    rows={"DatasetRow": FileGroup(1, 1, {})},
    elements_digest=elements_digest([JOB, PLAN, HAS]),
    conflict_count=0,
    conflicts=(),
    problems=(),
)


def write_result(folder: Path, manifest: Manifest = MANIFEST) -> Result:
    """Files as the job writes them."""
    for element in (JOB, PLAN, HAS):
        columns = {key: type_of(value) for key, value in element.properties}
        part = "edges" if isinstance(element, Edge) else "vertices"
        lines = (header(type(element), columns), record(element, columns))
        _write(folder / part / element.label, *lines)
    _write(folder / "rows" / "DatasetRow", row_record(ROW).content)
    _write(folder / "set_aside", '{"planId":"p","state":"failed","positions":[3],"reason":"why"}')
    (folder / "manifest.json").write_text(write_manifest(manifest), "utf-8")
    return Result(LocalFiles(folder))


def _write(folder: Path, *lines: str) -> None:
    folder.mkdir(parents=True)
    (folder / "part-00000.gz").write_bytes(gzip.compress("".join(f"{x}\n" for x in lines).encode()))
    (folder / ".part-00000.gz.crc").write_bytes(b"crc")
    (folder / "_SUCCESS").write_bytes(b"")


# --- orders --------------------------------------------------------------------------------------


def body(at: int, order: Any) -> tuple[str, bytes]:
    text = json.dumps(write_command(Command("ann", at, "", "", order))).encode()
    return content_hash("command", "1", text), text


def test_the_newest_rules_hold_and_null_takes_them_back() -> None:
    from graph_model.naming.rules_json import write_rules

    changed = replace(naming.DEFAULT_RULES, **_other_rules())
    said = body(5, Statement(CommandKind.RULES, "", json.dumps(write_rules(changed))))
    back = body(6, Statement(CommandKind.RULES, "", None))
    assert read_commands_in_force([]).rules == naming.DEFAULT_RULES
    assert read_commands_in_force([said]).rules == changed
    assert read_commands_in_force([back, said]).rules == naming.DEFAULT_RULES


def _other_rules() -> dict[str, Any]:
    return {"scheme_aliases": (*naming.DEFAULT_RULES.scheme_aliases, ("s3x", "s3"))}


def test_every_forgotten_body_is_known_and_an_unreadable_command_says_nothing() -> None:
    in_force = read_commands_in_force(
        [body(1, Forget((), ("a",))), ("x", b"{"), body(2, Forget((), ("b",)))]
    )
    assert in_force.effects.forgotten == {"a", "b"}
    assert in_force.count == 2


# --- results -------------------------------------------------------------------------------------


def test_a_manifest_comes_back_as_it_was() -> None:
    assert read_manifest(write_manifest(MANIFEST)) == MANIFEST
    assert MANIFEST.complete
    assert MANIFEST.elements == (2, 1)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"headwater":"pipeline","format":2}'])
def test_another_file_is_no_manifest(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_manifest(text)


def test_a_result_is_loaded_and_held_against_its_manifest(tmp_path: Path) -> None:
    graph, said = MemoryGraph(), list[str]()
    catalogue = Catalogue(open_database("sqlite://"))
    loaded = load(write_result(tmp_path), graph, catalogue, said.append)
    assert list(graph.scan()) == [JOB, PLAN, HAS]
    assert list(catalogue.scan()) == [ROW]
    assert loaded.elements_digest == MANIFEST.elements_digest
    assert said == ["2 vertices loaded", "1 edges loaded", "1 rows loaded"]
    catalogue.close()


def test_a_result_that_differs_from_its_manifest_is_refused(tmp_path: Path) -> None:
    result = write_result(tmp_path, replace(MANIFEST, elements_digest="0" * 64))
    catalogue = Catalogue(open_database("sqlite://"))
    with pytest.raises(InvalidInput, match="manifest"):
        load(result, MemoryGraph(), catalogue, list[str]().append)
    catalogue.close()


def test_nothing_is_loaded_into_a_graph_that_holds_something(tmp_path: Path) -> None:
    graph = MemoryGraph()
    graph.write(Facts(vertices=(JOB,)))
    catalogue = Catalogue(open_database("sqlite://"))
    with pytest.raises(ConfigurationError, match="empty"):
        load(write_result(tmp_path), graph, catalogue, list[str]().append)
    catalogue.close()


def test_a_rebuild_without_a_manifest_has_not_come_to_its_end(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"manifest\.json"):
        Result(LocalFiles(tmp_path)).manifest()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    result = write_result(tmp_path)
    file = tmp_path / "rows" / "DatasetRow" / "part-00000.gz"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(InvalidInput, match="part-00000"):
        list(result.rows())


def test_a_row_of_another_shape_is_named_with_its_line(tmp_path: Path) -> None:
    result = write_result(tmp_path)
    file = tmp_path / "rows" / "DatasetRow" / "part-00000.gz"
    file.write_bytes(gzip.compress(b'["one"]\n'))
    with pytest.raises(InvalidInput, match="line 1"):
        list(result.rows())


def test_a_result_on_s3_is_read_page_by_page() -> None:
    client = boto3.client(
        "s3", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    keys = ("lineage/rows/DatasetRow/part-00000.gz", "lineage/rows/DatasetRow/_SUCCESS")
    packed = gzip.compress((row_record(ROW).content + "\n").encode())
    with Stubber(client) as stub:
        asked = {"Bucket": "bucket", "Prefix": "lineage/rows/"}
        first = {"Contents": [{"Key": keys[0]}], "IsTruncated": True, "NextContinuationToken": "t"}
        stub.add_response("list_objects_v2", first, asked)
        stub.add_response(
            "list_objects_v2", {"Contents": [{"Key": keys[1]}]}, asked | {"ContinuationToken": "t"}
        )
        stub.add_response(
            "get_object",
            {"Body": StreamingBody(io.BytesIO(packed), len(packed))},
            {"Bucket": "bucket", "Key": keys[0]},
        )
        stub.add_client_error("get_object", "NoSuchKey")
        result = Result(S3Files(client, "bucket", "/lineage/"))
        assert list(result.rows()) == [ROW]
        with pytest.raises(NotFound, match="s3://bucket/lineage/manifest"):
            result.manifest()


# --- the command ---------------------------------------------------------------------------------


def called(*arguments: str, **environment: str) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    code = run(arguments, environment, out, errors)
    return code, out.getvalue(), errors.getvalue()


@pytest.mark.parametrize(
    "name", ["rebuild", "show", "verify", "load-neptune", "load-catalogue", None]
)
def test_help_teaches_with_an_example(name: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        called(*([name] if name else []), "--help")
    assert ended.value.code == 0
    assert f"headwater-pipeline {name or 'rebuild'} --from" in capsys.readouterr().out


def test_show_lists_documents_that_were_set_aside(tmp_path: Path) -> None:
    write_result(tmp_path)
    code, out, _ = called("show", "--from", str(tmp_path))
    assert code == 0
    assert "2 vertices, 1 edges, 1 catalogue rows" in out
    assert "failed p [3]: why" in out


def test_an_incomplete_result_is_shown_so_and_not_loaded(tmp_path: Path) -> None:
    write_result(tmp_path, replace(MANIFEST, conflict_count=1, conflicts=("vertices job job_1",)))
    code, out, _ = called("show", "--from", str(tmp_path))
    assert code == 1
    assert "vertices job job_1" in out
    code, _, errors = called("load-catalogue", "--from", str(tmp_path), "--database", "sqlite://")
    assert code == 1
    assert "--incomplete" in errors


def test_a_catalogue_needs_its_database_named(tmp_path: Path) -> None:
    code, _, errors = called("load-catalogue", "--from", str(tmp_path))
    assert code == 2
    assert "HEADWATER_DATABASE" in errors


def test_rows_of_other_tables_are_not_loaded(tmp_path: Path) -> None:
    write_result(tmp_path)
    target = str(tmp_path / "target.db")
    code, _, errors = called("load-catalogue", "--from", str(tmp_path), "--database", target)
    assert code == 1
    assert "rebuild with this one" in errors
