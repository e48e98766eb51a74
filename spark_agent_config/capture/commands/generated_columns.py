"""Columns that Delta fills in: ``twice GENERATED ALWAYS AS (id * 2)``, ``pay BIGINT DEFAULT 7``,
``number GENERATED ALWAYS AS IDENTITY``.

Delta adds them during the write, so the analyzed plan of an insert lacks them. Their expressions
are in the table's schema; Spark resolves them over the written query:

    Project [id, dt]  =>  Project [id, dt, (id * 2) AS twice, 7 AS pay] over Project [id, dt]
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery
from spark_agent_config.capture.questions import Questions

#: A generated column may have no default.
_EXPRESSIONS: Final = ("delta.generationExpression", "CURRENT_DEFAULT")
_IDENTITY: Final = "delta.identity.start"
#: Stands for the numbers that Delta deals out: made of no column.
_NUMBERS: Final = "monotonically_increasing_id()"


class GeneratedColumns:
    """Reads a Delta table's schema. ``jvm`` is a py4j handle."""

    def __init__(self, questions: Questions, jvm: Any) -> None:
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._jvm = jvm

    def complete(self, captured: CapturedQuery, query: Any, session: Any) -> CapturedQuery:
        """The write of ``query`` with the columns that its Delta table adds; else as it is."""
        if captured.target.format != "delta" or captured.schema is None:
            return captured
        return self._ask(
            "generated columns", lambda: self._completed(captured, query, session), captured
        )

    def _completed(self, captured: CapturedQuery, query: Any, session: Any) -> CapturedQuery:
        log = self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, captured.target.uri)
        schema = str(log.unsafeVolatileSnapshot().metadata().schemaString())
        given = [field["name"] for field in json.loads(captured.schema or "{}")["fields"]]
        missing = generated(schema, given)
        if not missing:
            return captured
        sql = self._jvm.org.apache.spark.sql
        frame = self._rows(session, query)
        for name, text in missing.items():
            frame = frame.withColumn(name, sql.functions.expr(text))
        analyzed = frame.queryExecution().analyzed()
        return replace(
            captured,
            plan=with_query(captured.plan, str(analyzed.toJSON())),
            schema=str(analyzed.schema().json()),
        )

    def _rows(self, session: Any, query: Any) -> Any:
        """A plan as a frame; its class moved in Spark 4."""
        sql = self._jvm.org.apache.spark.sql
        return self._ask_quietly(
            lambda: sql.classic.Dataset.ofRows(session, query)
        ) or sql.Dataset.ofRows(session, query)


def generated(schema: str, given: Collection[str]) -> dict[str, str]:
    """The columns of a Delta schema (type JSON) that a write does not give: name => expression."""
    if not any(name in schema for name in (*_EXPRESSIONS, _IDENTITY)):
        return {}
    known = {name.lower() for name in given}
    expressions = {
        field["name"]: _expression(field.get("metadata", {}))
        for field in json.loads(schema)["fields"]
        if field["name"].lower() not in known
    }
    return {name: text for name, text in expressions.items() if text is not None}


def _expression(metadata: Mapping[str, Any]) -> str | None:
    expression = next((metadata[name] for name in _EXPRESSIONS if name in metadata), None)
    return _NUMBERS if expression is None and _IDENTITY in metadata else expression


def with_query(command: str, query: str) -> str:
    """A command's JSON with another query: below it, or in the command's own field."""
    top, *_ = json.loads(command)
    nodes = json.loads(query)
    if isinstance(top.get("query"), int):
        return json.dumps([top, *nodes])
    return json.dumps([{**top, "query": nodes}])
