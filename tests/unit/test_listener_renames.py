"""ALTER TABLE ... RENAME TO, as the listener reads it from the session's catalog."""

from __future__ import annotations

import pytest

from spark_agent_config.captured import CapturedQuery
from spark_agent_config.inspection import Inspector
from tests.unit.fake_jvm import Fuse, Node, identifier, option, sequence, text

SCHEMA = '{"type": "struct", "fields": [{"name": "k", "type": "integer", "nullable": true}]}'


def renamed(
    fuse: Fuse, place: str, *, kind: str = "MANAGED", keys: tuple[str, ...] = (), failure: str = ""
) -> list[CapturedQuery]:
    """What is told of ``a`` that became ``b``, which lies in ``place`` then."""
    described = Node(
        fuse,
        identifier=identifier(fuse, "b", "db"),
        location=text(fuse, place),
        partitionColumnNames=sequence(fuse, *keys),
        provider=option(fuse, "PARQUET"),
        tableType=Node(fuse, name=kind),
    )
    catalog = Node(
        fuse,
        getTableMetadata=described,
        getCurrentDatabase="db",
        defaultTablePath=lambda named: text(fuse, f"file:/warehouse/{named.table()}"),
    )
    table = Node(fuse, schema=Node(fuse, json=SCHEMA))
    session = Node(fuse, sessionState=Node(fuse, catalog=catalog), table=table)
    former, current = (identifier(fuse, name, "db") for name in ("a", "b"))
    current._answers["quotedString"] = "`db`.`b`"
    command = Node(
        fuse,
        nodeName="AlterTableRenameCommand",
        isView=False,
        oldName=former,
        newName=current,
    )
    running = Node(fuse, analyzed=command, sparkSession=session)
    error = text(fuse, failure) if failure else None
    return Inspector(Node(fuse), None).capture(running, timestamp=1, duration_ns=1, failure=error)


def test_a_table_in_its_default_place_is_copied_and_emptied() -> None:
    moved, emptied = renamed(Fuse(), "file:/warehouse/b", keys=("dt",))
    assert (moved.target.uri, emptied.target.uri) == ("file:/warehouse/b", "file:/warehouse/a")
    assert {moved.target.mode, emptied.target.mode} == {"Overwrite"}
    assert [relation.sources for relation in moved.relations.values()] == [("file:/warehouse/a",)]
    assert emptied.relations == {}
    assert moved.target.renamed == emptied.target.renamed
    assert moved.target.partition_columns == ("dt",)
    assert moved.target.dynamic_partition_overwrite is False


def test_a_table_with_a_location_only_gets_another_name() -> None:
    (told,) = renamed(Fuse(), "s3://lake/t", kind="EXTERNAL")
    assert (told.target.uri, told.target.mode) == ("s3://lake/t", "")
    assert told.target.renamed is not None
    assert [(end.name, end.location) for end in told.target.renamed] == [
        ("a", "s3://lake/t"),
        ("b", "s3://lake/t"),
    ]


def test_a_view_is_not_told() -> None:
    assert renamed(Fuse(), "file:/warehouse/b", kind="VIEW") == []


def test_a_rename_that_failed_is_a_failed_run_of_the_table() -> None:
    (told,) = renamed(Fuse(), "file:/warehouse/a", failure="there is a b")
    assert (told.target.mode, told.error) == ("", "there is a b")


@pytest.mark.parametrize("at", range(3, 60))
def test_an_answer_that_does_not_come_fails_nothing(at: int) -> None:
    assert len(renamed(Fuse(at), "file:/warehouse/b")) <= 2
