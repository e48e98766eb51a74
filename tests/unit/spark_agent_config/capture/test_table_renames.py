"""ALTER TABLE ... RENAME TO, as the listener reads it from the session's catalog."""

from __future__ import annotations

import pytest

from spark_agent_config.capture.captured import CapturedQuery
from spark_agent_config.capture.inspection import Inspector
from spark_agent_config.capture.plan_document import execution_plan
from spark_agent_config.capture.table_moves import with_name
from tests.captured_queries import APPLICATION
from tests.unit.spark_agent_config.fake_jvm import Fuse, Node, identifier, option, sequence, text

SCHEMA = '{"type": "struct", "fields": [{"name": "k", "type": "integer", "nullable": true}]}'


def renamed(
    fuse: Fuse,
    place: str,
    *,
    kind: str = "MANAGED",
    keys: tuple[str, ...] = (),
    failure: str = "",
    found: bool = True,
    warehouse: str = "file:/warehouse",
    inspector: Inspector | None = None,
) -> list[CapturedQuery]:
    """The report of ``a`` that became ``b``, which lies in ``place`` then, if it is ``found``."""
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
        **({"getTableMetadata": described} if found else {}),
        getCurrentDatabase="db",
        defaultTablePath=lambda named: text(fuse, f"{warehouse}/{named.table()}"),
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
    inspector = inspector or Inspector(Node(fuse), None)
    return inspector.capture(running, timestamp=1, duration_ns=1, failure=error)


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
    (answer,) = renamed(Fuse(), "s3://lake/t", kind="EXTERNAL")
    assert (answer.target.uri, answer.target.mode) == ("s3://lake/t", "")
    assert answer.target.renamed is not None
    assert [(end.name, end.location) for end in answer.target.renamed] == [
        ("a", "s3://lake/t"),
        ("b", "s3://lake/t"),
    ]


def test_a_table_that_has_its_new_name_no_more_is_told_with_a_gap() -> None:
    moved, emptied = renamed(Fuse(), "", found=False)
    assert (moved.target.uri, emptied.target.uri) == ("file:/warehouse/b", "file:/warehouse/a")
    for query in (moved, emptied):
        write = execution_plan(query, APPLICATION)["operations"]["write"]
        assert [gap["code"] for gap in write["extra"]["gaps"]] == ["unread-plan"]
        assert {end["table"] for end in write["extra"]["renamed"].values()} == {"a", "b"}


def test_a_default_place_without_a_scheme_is_the_one_with_it() -> None:
    inspector = Inspector(Node(Fuse()), None)
    renamed(Fuse(), "file:/warehouse/a", failure="there is a b", inspector=inspector)

    answer = renamed(Fuse(), "", found=False, warehouse="/warehouse", inspector=inspector)

    places = [(query.target.uri, query.target.mode) for query in answer]
    assert places == [("file:/warehouse/b", "Overwrite"), ("file:/warehouse/a", "Overwrite")]


@pytest.mark.parametrize(
    ("place", "name", "renamed"),
    [
        ('jdbc:db:"hr"."emp"', "emp", 'jdbc:db:"hr"."staff"'),
        ("jdbc:emp:emp", "emp", "jdbc:emp:staff"),
        ("jdbc:db:other", "emp", "jdbc:db:other"),
    ],
)
def test_a_table_of_a_database_is_called_by_its_new_name(
    place: str, name: str, renamed: str
) -> None:
    assert with_name(place, name, "staff") == renamed


def test_a_view_is_not_told() -> None:
    assert renamed(Fuse(), "file:/warehouse/b", kind="VIEW") == []


def test_a_rename_that_failed_is_a_failed_run_of_the_table() -> None:
    (answer,) = renamed(Fuse(), "file:/warehouse/a", failure="there is a b")
    assert (answer.target.mode, answer.error) == ("", "there is a b")


@pytest.mark.parametrize("at", range(3, 60))
def test_an_answer_that_does_not_come_fails_nothing(at: int) -> None:
    assert len(renamed(Fuse(at), "file:/warehouse/b")) <= 2
