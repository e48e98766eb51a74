"""Records queries that the listener takes out of real Spark, as fixtures for the converter's tests.

    python -m tests.e2e.spark.record_listener

writes ``tests/fixtures/listener/*.json``: the analyzed plan's JSON and the answers of the JVM for
a few jobs of ``listener_jobs``, with the lake at ``/lake``. Run it after a change of its questions.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from pathlib import Path
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery
from spark_agent_config.capture.inspection import Inspector
from spark_agent_config.executions import QueryListener
from tests.e2e.spark.listener_jobs import JOBS, SparkLake
from tests.e2e.spark.listener_worker import open_session

FOLDER: Final = Path(__file__).parents[2] / "fixtures" / "listener"
RECORDED: Final = (
    "a2_managers", "b_attendance_table", "c_union", "c_window", "c_cte_twice", "c_rollup",
    "c_explode", "subqueries",
)  # fmt: skip


class Keeper:
    """Stands in for the outbox."""

    def __init__(self) -> None:
        self.kept: list[CapturedQuery] = []

    def offer(self, query: CapturedQuery) -> bool:
        self.kept.append(query)
        return True


def main() -> None:
    from pyspark.java_gateway import ensure_callback_server_started

    with tempfile.TemporaryDirectory() as folder:
        spark = open_session(Path(folder))
        lake = SparkLake(spark, Path(folder))
        lake.fill()
        context = spark.sparkContext
        inspector = Inspector(context._jvm, context._jsc.hadoopConfiguration())
        keeper: Any = Keeper()
        ensure_callback_server_started(context._gateway)
        listener = QueryListener(inspector.capture, keeper)
        spark._jsparkSession.listenerManager().register(listener)
        bus = context._jsc.sc().listenerBus()
        for name in RECORDED:
            keeper.kept.clear()
            JOBS[name](lake)
            bus.waitUntilEmpty()
            for number, query in enumerate(keeper.kept[:2]):
                suffix = f"-{number}" if number else ""
                (FOLDER / f"{name}{suffix}.json").write_text(_as_json(query, folder), "utf-8")
        spark.stop()


def _as_json(query: CapturedQuery, root: str) -> str:
    fields = dataclasses.asdict(query)
    fields["plan"] = json.loads(query.plan)
    fields["timestamp"], fields["duration_ns"] = 1_700_000_000_000, 1_500_000_000
    text = json.dumps(fields, indent=None, separators=(",", ":")).replace(root, "/lake")
    text = re.sub(r'"jvmId":"[0-9a-f-]+"', '"jvmId":"jvm"', text)
    return re.sub(r'"createTime":\d+', '"createTime":0', text) + "\n"


if __name__ == "__main__":
    main()
