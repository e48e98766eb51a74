"""Streaming queries: one logical plan a query, one execution a batch that processed rows.

Spark calls no query listener for a streaming write, so this module takes the progress from the
events of streams and the plan from the running query. They are on the bus of the application, for
the streams of all its sessions: :class:`StreamEvents` hears them. A session's own listener is
called while a stream starts, so that even one of some milliseconds is found; the bus comes later.
Writes of a batch function (``foreachBatch``) reach the query listener like any other write.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery
from spark_agent_config.capture.questions import class_name, first_line

_LOG: Final = logging.getLogger(__name__)


class Streams:
    """Follows streaming queries for one observation.

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
        if not self.knows(run):
            self._quietly(lambda: self._keep(run, self._find(query)))

    def knows(self, run: str) -> bool:
        with self._lock:
            return self._running.get(run) is not None

    def running(self) -> list[Any]:
        """The JVM's queries that have started, until their end is reported."""
        with self._lock:
            return [query for query in self._running.values() if query is not None]

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


class StreamEvents:
    """``java.util.function.Consumer`` of the events of an application's streams.

    ``of_run`` returns who follows a stream: by the ids of the query and of its run. ``now`` gives
    epoch ms.
    """

    def __init__(
        self, of_run: Callable[[str, str], Streams | None], now: Callable[[], int]
    ) -> None:
        self._of_run = of_run
        self._now = now
        self._followers: dict[str, Streams] = {}
        self._has_failed = False

    def accept(self, event: Any) -> None:
        """Never raises: Spark's bus would log it."""
        try:
            self._pass_on(event)
        except Exception as error:  # the law of the listener: a job never fails because of us
            if not self._has_failed:
                self._has_failed = True
                _LOG.warning("Lineage of a stream is lost: %s", first_line(error))

    def _pass_on(self, event: Any) -> None:
        kind = class_name(event)
        if kind == "QueryProgressEvent":
            progress = json.loads(str(event.progress().json()))
            if streams := self._follower(progress["id"], progress["runId"]):
                streams.progressed(progress["runId"], progress)
            return
        query, run = str(event.id()), str(event.runId())
        streams = self._follower(query, run)
        if kind == "QueryTerminatedEvent":
            self._followers.pop(run, None)
            if streams is not None:
                failure = event.exception()
                error = str(failure.get()) if failure.isDefined() else None
                streams.ended(run, error, self._now())

    def _follower(self, query: str, run: str) -> Streams | None:
        """Also of a stream that was running before anybody listened."""
        if run not in self._followers:
            streams = self._of_run(query, run)
            if streams is None:
                return None
            streams.started(query, run)
            self._followers[run] = streams
        return self._followers[run]

    def hashCode(self) -> int:
        return id(self) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self

    def toString(self) -> str:
        return "HeadwaterStreams"

    #: How py4j learns which interface this is.
    Java: Final = SimpleNamespace(implements=["java.util.function.Consumer"])


def streaming_listener(streams: Streams, now: Callable[[], int], *, starts_only: bool) -> Any:
    """A listener for ``spark.streams.addListener``; ``now`` gives epoch ms. Needs PySpark.

    With ``starts_only`` the rest comes from the application's bus.
    """
    from pyspark.sql.streaming import StreamingQueryListener

    class Listener(StreamingQueryListener):  # type: ignore[misc]
        def onQueryStarted(self, event: Any) -> None:
            streams.started(str(event.id), str(event.runId))

        def onQueryProgress(self, event: Any) -> None:
            if starts_only:
                return
            streams.progressed(str(event.progress.runId), json.loads(event.progress.json))

        def onQueryIdle(self, event: Any) -> None:
            """Nothing happened."""

        def onQueryTerminated(self, event: Any) -> None:
            if starts_only:
                return
            error = None if event.exception is None else str(event.exception)
            streams.ended(str(event.runId), error, now())

    return Listener()
