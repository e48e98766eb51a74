"""What dbt 2 (Fusion) writes beside dbt's artefacts: its information schema and its telemetry.

    info_schema/v1/*.parquet   -> the columns of each node, and what they come from
    --otel-file-name (JSONL)   -> what ran, when, how it ended, in the shape of run_results.json

Both are read by key: dbt adds columns and kinds of records between releases. The telemetry's shape
is that of dbt-fusion's protobuf files (``v1.public.events.fusion``), as its JSON lines have it: a
value that is its default, such as the outcome of a test that passed, is left out.
"""

from __future__ import annotations

import importlib
import io
import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from graph_model import labels
from graph_model.json_fields import JsonObject
from graph_model.values import iso

Row = Mapping[str, Any]
ReadRows = Callable[[bytes], Sequence[Row]]

#: How dbt's analysis says that a column comes from another.
EVOLUTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "copy": {"type": labels.DIRECT, "subtype": labels.IDENTITY},
    "mod": {"type": labels.DIRECT, "subtype": labels.TRANSFORMATION},
    "scan": {"type": labels.INDIRECT},
}


# --- the information schema ----------------------------------------------------------------------


class ColumnSource(NamedTuple):
    """A column that another one comes from, of a node; ``column`` "" is a condition of the node."""

    column: str
    node: str
    source: str
    evolution: str


@dataclass(frozen=True, slots=True)
class DbtAnalysis:
    """By node: its columns (name, type) in order, and what they come from."""

    columns: Mapping[str, Sequence[tuple[str, str]]]
    sources: Mapping[str, Sequence[ColumnSource]]


def parquet_rows(content: bytes) -> Sequence[Row]:
    """The rows of a Parquet file. Raises ImportError without pyarrow, ValueError for no Parquet."""
    parquet = importlib.import_module("pyarrow.parquet")
    rows: Sequence[Row] = parquet.read_table(io.BytesIO(content)).to_pylist()
    return rows


def read_analysis(columns: Sequence[Row], lineage: Sequence[Row]) -> DbtAnalysis:
    """The rows of ``dbt.node_columns`` and of ``dbt.column_lineage``."""
    listed: dict[str, list[tuple[int, str, str]]] = {}
    for row in columns:
        place = row.get("column_index")
        kinds = (row.get(f"data_type{of}") for of in ("_actual", "_inferred", "", "_declared"))
        column = (place if isinstance(place, int) else 0, str(row.get("column_name") or ""))
        kind = next((kind for kind in kinds if isinstance(kind, str) and kind), "")
        listed.setdefault(str(row.get("node_unique_id")), []).append((*column, kind))
    sources: dict[str, list[ColumnSource]] = {}
    for row in lineage:
        names = ("child_column_name", "parent_node_unique_id", "parent_column_name", "evolution")
        source = ColumnSource(*(str(row.get(name) or "") for name in names))
        if source.source and source.evolution in EVOLUTIONS:
            sources.setdefault(str(row.get("child_node_unique_id")), []).append(source)
    in_order = {
        node: [(name, kind) for _, name, kind in sorted(fields) if name]
        for node, fields in listed.items()
    }
    return DbtAnalysis(in_order, sources)


# --- the telemetry -------------------------------------------------------------------------------

_RECORDS: Final = frozenset({"SpanStart", "SpanEnd", "LogRecord"})
_EVENTS: Final = "v1.public.events.fusion."
_RUN: Final = "EXECUTION_PHASE_RUN"
_STATUSES: Final[Mapping[str, str]] = {
    "NODE_OUTCOME_SUCCESS": "success",
    "NODE_OUTCOME_ERROR": "error",
    "NODE_OUTCOME_CANCELED": "canceled",
    "NODE_OUTCOME_SKIPPED": "skipped",
}
_VERDICTS: Final[Mapping[str, str]] = {
    "TEST_OUTCOME_PASSED": "pass",
    "TEST_OUTCOME_WARNED": "warn",
    "TEST_OUTCOME_FAILED": "fail",
}
_TESTS: Final = frozenset({"NODE_TYPE_TEST", "NODE_TYPE_UNIT_TEST"})


@dataclass(slots=True)
class _Invocation:
    """What one call of dbt has said so far."""

    ended: bool = False
    #: By node: its span in the phase that runs it; else the one over all its phases.
    ran: dict[str, JsonObject] = field(default_factory=dict)
    processed: dict[str, JsonObject] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def add(self, record: JsonObject) -> None:
        event = str(record.get("event_type") or "").removeprefix(_EVENTS)
        attributes = _object(record.get("attributes"))
        node = attributes.get("unique_id")
        if event == "invocation.Invocation":
            self.ended |= record["record_type"] == "SpanEnd"
        elif not isinstance(node, str):
            return
        elif record["record_type"] == "SpanEnd" and event == "node.NodeEvaluated":
            if attributes.get("phase") == _RUN:
                self.ran[node] = record
        elif record["record_type"] == "SpanEnd" and event == "node.NodeProcessed":
            if attributes.get("in_selection") is True:
                self.processed[node] = record
        elif record["record_type"] == "LogRecord" and record.get("severity_text") == "ERROR":
            self.errors.setdefault(node, str(record.get("body") or ""))

    def results(self) -> Iterator[dict[str, Any]]:
        """A result a node, as run_results.json has it. What was analysed alone has none."""
        for node in sorted({*self.ran, *self.processed}):
            record = self.ran.get(node) or self.processed[node]
            status = _status(_object(record.get("attributes")))
            if node in self.ran or status in {"error", "skipped"}:
                timing = {
                    "name": "execute",
                    "started_at": _instant(record.get("start_time_unix_nano")),
                    "completed_at": _instant(record.get("end_time_unix_nano")),
                }
                message = self.errors.get(node, "")
                yield {"unique_id": node, "status": status, "timing": [timing], "message": message}


def results_of_telemetry(content: bytes) -> tuple[JsonObject, int]:
    """The newest invocation that ended and ran something, in the shape of run_results.json ({}
    where there is none), and how many lines are no records.

    dbt appends: a file may hold many invocations, and the one that is being written.
    """
    invocations: dict[str, _Invocation] = {}
    unread = 0
    for line in content.splitlines():
        record = _record(line)
        if record is None:
            unread += bool(line.strip())
            continue
        invocations.setdefault(str(record.get("trace_id")), _Invocation()).add(record)
    for trace, invocation in reversed(invocations.items()):
        results = list(invocation.results()) if invocation.ended and invocation.ran else ()
        if results:
            return {"metadata": {"invocation_id": _uuid(trace)}, "results": results}, unread
    return {}, unread


def _record(line: bytes) -> JsonObject | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(record, dict) and record.get("record_type") in _RECORDS
    return record if known else None


def _status(attributes: JsonObject) -> str:
    status = _STATUSES.get(str(attributes.get("node_outcome")), "")
    if status == "success" and attributes.get("node_type") in _TESTS:
        detail = _object(attributes.get("node_test_detail"))
        return _VERDICTS.get(str(detail.get("test_outcome", "TEST_OUTCOME_PASSED")), "")
    return status


def _instant(nanoseconds: object) -> str | None:
    """``"1772366400000000000"`` => ``2026-03-01T12:00:00.000Z``."""
    try:
        return iso(int(str(nanoseconds)) // 1_000_000)
    except (ValueError, OverflowError, OSError):
        return None


def _uuid(trace: str) -> str:
    """A trace id is dbt's invocation id without its dashes."""
    try:
        return str(uuid.UUID(hex=trace))
    except ValueError:
        return trace


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
