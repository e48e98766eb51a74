"""Streaming queries: one logical plan a query, one execution a batch that processed rows.

Spark calls no query listener for a streaming write, so this module takes the progress from the
streaming listener and the plan from the running query. Writes of a batch function
(``foreachBatch``) reach the query listener like any other write.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery
from spark_agent_config.capture.questions import first_line

_LOG: Final = logging.getLogger(__name__)


class Streams:
    """Follows the streaming queries of a session.

    ``find`` returns the JVM's running query of an id; ``capture`` turns it into a captured write,
    None for a sink that keeps nothing (console, memory) or is reported otherwise (foreachBatch).
    ``complete`` adds the fields of one batch alone: the versions that it read and made.
    """

    def __init__(
        self,
        find: Callable[[str], Any],
        capture: Callable[[Any], CapturedQuery | None],
        tell: Callable[[CapturedQuery], object],
        complete: Callable[[CapturedQuery, Any, Mapping[str, Any]], CapturedQuery],
    ) -> None:
        self._find = find
        self._capture = capture
        self._tell = tell
        self._complete = complete
        self._running: dict[str, Any] = {}
        self._captured: dict[str, CapturedQuery | None] = {}
        self._warned = False
        self._lock = threading.Lock()

    def started(self, query: str, run: str) -> None:
        """Keep hold of the query: once it has ended Spark does not find it any more."""
        self._quietly(lambda: self._keep(run, self._find(query)))

    def progressed(self, run: str, progress: Mapping[str, Any]) -> None:
        """``progress`` is the JSON that Spark gives of a trigger; an idle one is no execution."""
        if "addBatch" in (progress.get("durationMs") or {}):
            self._quietly(lambda: self._report_batch(run, progress))

    def ended(self, run: str, error: str | None, timestamp: int) -> None:
        """``timestamp`` is epoch ms; ``error`` is None when the query was stopped."""
        self._quietly(lambda: self._report_failure(run, error, timestamp))
        with self._lock:
            self._running.pop(run, None)
            self._captured.pop(run, None)

    def _keep(self, run: str, query: Any) -> None:
        with self._lock:
            self._running[run] = query

    def _report_batch(self, run: str, progress: Mapping[str, Any]) -> None:
        captured = self._write_of(run)
        if captured is not None:
            batch = with_progress(captured, progress)
            self._tell(self._complete(batch, self._running.get(run), progress))

    def _report_failure(self, run: str, error: str | None, timestamp: int) -> None:
        captured = None if error is None else self._write_of(run)
        if captured is not None:
            self._tell(replace(captured, error=error, timestamp=timestamp))

    def _write_of(self, run: str) -> CapturedQuery | None:
        with self._lock:
            if run in self._captured or self._running.get(run) is None:
                return self._captured.get(run)
            query = self._running[run]
        captured = self._capture(query)
        with self._lock:
            self._captured[run] = captured
        return captured

    def _quietly(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:  # the law of the listener: a job never fails because of us
            if not self._warned:
                self._warned = True
                _LOG.warning("Lineage of a stream is lost: %s", first_line(error))


def with_progress(captured: CapturedQuery, progress: Mapping[str, Any]) -> CapturedQuery:
    """The write as one batch did it: its end, its duration, its rows."""
    milliseconds = int((progress.get("durationMs") or {}).get("triggerExecution", 0))
    start = datetime.fromisoformat(str(progress["timestamp"]).replace("Z", "+00:00"))
    rows = int(progress.get("numInputRows") or 0)
    written = (progress.get("sink") or {}).get("numOutputRows")
    known = isinstance(written, int) and written >= 0  # -1: the sink does not count
    return replace(
        captured,
        timestamp=int(start.timestamp() * 1000) + milliseconds,
        duration_ns=milliseconds * 1_000_000,
        read_metrics={"numOutputRows": rows},
        write_metrics={"numOutputRows": int(str(written))} if known else {},
    )


def streaming_listener(streams: Streams, now: Callable[[], int]) -> Any:
    """A listener for ``spark.streams.addListener``; ``now`` gives epoch ms. Needs PySpark."""
    import json

    from pyspark.sql.streaming import StreamingQueryListener

    class Listener(StreamingQueryListener):  # type: ignore[misc]
        def onQueryStarted(self, event: Any) -> None:
            streams.started(str(event.id), str(event.runId))

        def onQueryProgress(self, event: Any) -> None:
            streams.progressed(str(event.progress.runId), json.loads(event.progress.json))

        def onQueryIdle(self, event: Any) -> None:
            """Nothing happened."""

        def onQueryTerminated(self, event: Any) -> None:
            error = None if event.exception is None else str(event.exception)
            streams.ended(str(event.runId), error, now())

    return Listener()
