r"""The partitions that a plan's write replaces.

An overwrite of a partitioned table may leave the partitions alone that it does not write: Spark
decides by its configuration, which the stock agent does not send. It sends signs:

    params {"__partition_columns": "[\"dt\"]"}      partitionBy("dt"): it may be partial
    params {"partitionOverwriteMode": "dynamic"}    an option of the write: it is
    event  {"writeMetrics": {"numParts": 2}}        two partitions were written: it may be
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from graph_model import labels, naming
from graph_model.producers.spline.documents import ExecutionEvent, ExecutionPlan, Operation

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
