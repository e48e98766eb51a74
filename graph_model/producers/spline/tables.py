r"""What a plan's write and an execution's event say of tables: partitions, names and versions.

An overwrite of a partitioned table may leave the partitions alone that it does not write: Spark
decides by its configuration, which the stock agent does not send. It sends signs:

    params {"__partition_columns": "[\"dt\"]"}      partitionBy("dt"): it may be partial
    params {"partitionOverwriteMode": "dynamic"}    an option of the write: it is
    event  {"writeMetrics": {"numParts": 2}}        two partitions were written: it may be

``ALTER TABLE ... RENAME TO`` gives earlier writes another name:

    "renamed": {"from": {"source": "file:/lake/a", "table": "a", "database": "db"},
                "to": {"source": "file:/lake/b", "table": "b", "database": "db"}}

The write of a plan says so in its ``extra``. Where the data moved with the name, two places are
named: the plan reads the former and overwrites the current one, and a second plan empties the
former. Where it stayed, two catalog names are, and the former stands for nothing from then on.

The versions of tables that an execution wrote and read are in its event:

    "writtenVersion": {"id": "5441396548426740115", "number": 2, "branch": "audit"}
    "readVersions": [{"source": "s3://lake/t", "id": "0", "number": 0, "since": 0}]

A read that is not listed is an ordinary one: the main branch as it was at its time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from graph_model import identity, labels, naming
from graph_model.facts import EVERY_BRANCH, MAIN_BRANCH, NO_NUMBER, Version
from graph_model.naming import DatasetName, Rules
from graph_model.producers.elements.datasets import Rename, is_version_text, version_of_text
from graph_model.producers.spline.documents import ExecutionEvent, ExecutionPlan, Operation

# --- the partitions that a write replaces ---------------------------------------------------------


_DYNAMIC_COMMAND: Final = "OverwritePartitionsDynamic"
_TABLE_MAKERS: Final = ("TableAsSelect", "TableAsSelectCommand")
_COLUMNS_OPTION: Final = "__partition_columns"
_MODE_OPTION: Final = "partitionoverwritemode"
_CONDITION_OPTION: Final = "replacewhere"


def partition_columns(write: Operation) -> tuple[str, ...]:
    """Folded names of the partition columns from the listener or from ``partitionBy``."""
    listed = write.extra["partitionColumns"] if _is_listed(write) else _columns_of_option(write)
    return tuple(naming.fold(key) for key in listed if isinstance(key, str))


def _is_listed(write: Operation) -> bool:
    """The listener lists the columns, and reads from Spark whether the write
    keeps some partitions.
    """
    return isinstance(write.extra.get("partitionColumns"), list)


def _columns_of_option(write: Operation) -> list[Any]:
    listed = write.params.get(_COLUMNS_OPTION)
    if isinstance(listed, str):
        try:
            listed = json.loads(listed)
        except (ValueError, RecursionError):
            listed = [listed]  # an unknown name, but a partition
    return listed if isinstance(listed, list) else []


def leaves_some(plan: ExecutionPlan) -> bool | None:
    """Whether an overwrite keeps some partitions or rows; None where not reported."""
    write = plan.write
    reported = write.extra.get("dynamicPartitionOverwrite")
    if isinstance(reported, bool):
        return reported or write.name == _DYNAMIC_COMMAND
    if write.name == _DYNAMIC_COMMAND:
        return True
    if _is_listed(write) or write.name.endswith(_TABLE_MAKERS):
        return False  # a table just created holds nothing else
    options = {name.lower(): value for name, value in write.params.items()}
    if _CONDITION_OPTION in options or not _takes_all(plan, options.get("deleteexpr", True)):
        return True
    mode = options.get(_MODE_OPTION)
    return mode.lower() == "dynamic" if isinstance(mode, str) else None


def _takes_all(plan: ExecutionPlan, condition: Any) -> bool:
    """Whether the condition by which rows are replaced is the literal ``true``."""
    if isinstance(condition, Mapping):
        constant = plan.constants.get(str(condition.get("__exprId")))
        condition = None if constant is None else constant.value
    return condition is True or condition == "true"


def may_leave_some(plan: ExecutionPlan, mode: str) -> bool:
    """Whether the document shows an overwrite, but not whether it keeps some partitions."""
    return (
        mode == labels.OVERWRITE
        and bool(partition_columns(plan.write))
        and leaves_some(plan) is None
    )


def wrote_partitions(event: ExecutionEvent) -> bool:
    """Whether the write counted partitions; a table without any has none."""
    metrics = event.extra.get("writeMetrics")
    count = metrics.get("numParts") if isinstance(metrics, Mapping) else None
    return isinstance(count, int | float) and count > 0


# --- names ----------------------------------------------------------------------------------------


_RENAMED: Final = "renamed"


def is_in_place(write: Operation) -> bool:
    """Whether a write only renames its data."""
    ends = _ends(write)
    return ends is not None and ends[0]["source"] == ends[1]["source"]


def read_rename(write: Operation, scope: str, rules: Rules) -> Rename | None:
    """None for a write that renames nothing, or whose rename is malformed and so ignored."""
    ends = _ends(write)
    if ends is None:
        return None
    in_place = is_in_place(write)
    former, current = (_named(end, scope, rules, by_name=in_place) for end in ends)
    if former is None or current is None or _place(former) == _place(current):
        return None
    return Rename(former, current, in_place)


def _ends(write: Operation) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    reported = write.extra.get(_RENAMED)
    ends = reported if isinstance(reported, Mapping) else {}
    former, current = ends.get("from"), ends.get("to")
    if not isinstance(former, Mapping) or not isinstance(current, Mapping):
        return None
    texts = (end.get("source") for end in (former, current))
    return (former, current) if all(isinstance(text, str) and text for text in texts) else None


def _named(
    end: Mapping[str, Any], scope: str, rules: Rules, *, by_name: bool
) -> DatasetName | None:
    if not by_name:
        return naming.normalise(end["source"], scope, rules)[0]
    table, database = end.get("table"), end.get("database")
    if not isinstance(table, str) or not table:
        return None
    uri = naming.catalog_table(database if isinstance(database, str) else None, table)
    return naming.normalise(uri, scope, rules)[0]


def _place(name: DatasetName) -> str:
    return identity.dataset_id(name.scope, name.uri)


# --- versions -------------------------------------------------------------------------------------


MAX_READS: Final = 200
_MAX_NUMBER: Final = 2**63 - 1
_MAIN: Final = "main"
_DELTA_OPTION: Final = "versionasof"
_ICEBERG_OPTION: Final = "snapshot-id"


def read_version(reported: Any) -> Version | None:
    """None for a malformed version, which is ignored."""
    if not isinstance(reported, Mapping):
        return None
    key, branch = reported.get("id"), reported.get("branch", _MAIN)
    number, since = reported.get("number"), reported.get("since", NO_NUMBER)
    if not is_version_text(key) or not is_version_text(branch) or branch == EVERY_BRANCH:
        return None
    if not _is_number(number) or ("since" in reported and not _is_number(since)):
        return None
    return Version(key, number, MAIN_BRANCH if branch == _MAIN else branch, since)


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_NUMBER


def version_of_options(options: Mapping[str, Any]) -> Version | None:
    """The version in the options of a read, as the stock agent sends them: ``versionAsOf`` of Delta
    (of Iceberg a snapshot's id), ``snapshot-id`` of Iceberg.
    """
    named = {name.lower(): value for name, value in options.items()}
    version = version_of_text(_spelled(named.get(_DELTA_OPTION)))
    if version is not None:
        return version
    snapshot = version_of_text(_spelled(named.get(_ICEBERG_OPTION)))
    return None if snapshot is None else Version(snapshot.id, NO_NUMBER)


def _spelled(value: Any) -> Any:
    return str(value) if _is_number(value) else value
