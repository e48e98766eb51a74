"""The finished queries of all sessions of a Spark application, each for the session's listener.

Spark keeps its query listeners by session: they hear nothing of ``newSession()``, of the sessions
that a Thrift or a Connect server makes for its clients, or of a pipeline. The bus of the
application has the end of every query with its plan, among thousands of events about tasks. Those
must not reach Python, at some tenths of a millisecond each: a class of a few lines lets the ends of
queries through. It is made in the JVM, by the compiler of Spark's own generated code (Janino).

    SparkListenerSQLExecutionEnd -> the filter -> Executions.accept -> the session's listener
    StreamingQueryListener.Event -> the filter -> StreamEvents.accept -> the session's streams

A session without a listener of its own is reported by the oldest one, and one whose listener has
left by none. A setting in the session says whose it is: copies of a session (Spark makes one for
``foreachBatch``) have it too, and where several Python processes share an application, each
session is reported by one of them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, NestedWrites
from spark_agent_config.capture.questions import first_line
from spark_agent_config.capture.streams import StreamEvents, Streams
from spark_agent_config.delivery.document_files import now_in_milliseconds
from spark_agent_config.delivery.outbox import Outbox

_LOG: Final = logging.getLogger(__name__)
_END: Final = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd"
_CLASS: Final = "HeadwaterExecutions"
_OF_STREAMS: Final = "org.apache.spark.sql.streaming.StreamingQueryListener$Query"
_LOOK_SECONDS: Final = 5.0
#: In a session's settings: whose it is.
MARK: Final = "spark.headwater.observation"
#: Without a name it is a batch of a stream, or a part of another query: Spark's own query listeners
#: do not hear of these either. An Error that a listener lets through stops Spark's application, and
#: without Python every query would leave a stack trace in the log: nothing gets out.
_FILTER: Final = f"""
private final java.util.function.Consumer queries;
private final java.util.function.Consumer streams;

public {_CLASS}(java.util.function.Consumer queries, java.util.function.Consumer streams) {{
    this.queries = queries;
    this.streams = streams;
}}

public void onOtherEvent(org.apache.spark.scheduler.SparkListenerEvent event) {{
    java.util.function.Consumer hearer = null;
    if (event instanceof {_END}) {{
        hearer = (({_END}) event).executionName().isDefined() ? queries : null;
    }} else {{
        String name = event.getClass().getName();
        hearer = name.startsWith("{_OF_STREAMS}") && !name.endsWith("IdleEvent") ? streams : null;
    }}
    if (hearer != null) {{
        try {{
            hearer.accept(event);
        }} catch (Throwable gone) {{
        }}
    }}
}}
"""
#: The JSON of a plan has some 400 characters a part, and takes ten times as much while Spark
#: makes it: a loop of a thousand ``withColumn`` fills a driver's heap, and would end the job.
MOST_PARTS: Final = 100_000
#: Each element of a node is looked at, as by Spark's ``toJSON``: its children are among them.
_GAUGE: Final = f"""
public static boolean isLarge(Object plan) {{
    java.util.ArrayDeque pending = new java.util.ArrayDeque();
    pending.add(plan);
    for (int parts = 0; !pending.isEmpty();) {{
        Object part = pending.removeLast();
        boolean isNode = part instanceof org.apache.spark.sql.catalyst.trees.TreeNode;
        if (isNode && ++parts > {MOST_PARTS}) {{
            return true;
        }}
        scala.collection.Iterator elements = null;
        if (isNode || part instanceof scala.Tuple2 || part instanceof scala.Some) {{
            elements = ((scala.Product) part).productIterator();
        }} else if (part instanceof scala.collection.Seq) {{
            elements = ((scala.collection.Seq) part).iterator();
        }}
        while (elements != null && elements.hasNext()) {{
            Object element = elements.next();
            if (element instanceof org.apache.spark.sql.catalyst.InternalRow) {{
                break;
            }}
            if (element != null) {{
                pending.add(element);
            }}
        }}
    }}
    return false;
}}
"""


class QueryListener:
    """Queues the writes of finished queries: ``executions`` calls it, or Spark, through py4j."""

    def __init__(self, capture: Callable[..., list[CapturedQuery]], outbox: Outbox[CapturedQuery]):
        self._capture = capture
        self._outbox = outbox
        self._failed: set[str] = set()
        self._nested = NestedWrites()
        self._waiting = self._ended = False
        self._lock = threading.Lock()

    def onSuccess(self, function: str, execution: Any, duration_ns: int) -> None:
        self._report(execution, duration_ns=duration_ns, function=function)

    def onFailure(self, _function: str, execution: Any, exception: Any) -> None:
        self._report(execution, duration_ns=None, failure=exception)

    def hashCode(self) -> int:
        return id(self) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self

    def toString(self) -> str:
        return "HeadwaterListener"

    def release(self, *, staged: bool = False) -> None:
        """Queue the writes that are held because they might be part of another one.

        With ``staged`` also certain parts: the other write will not be reported any more.
        """
        with self._lock:
            self._offer(self._nested.release(staged=staged))

    def end(self) -> None:
        """Queue the held writes. One that Spark reports later is queued too, and held no more."""
        self._ended = True
        self.release(staged=True)

    def _report(self, execution: Any, **how: Any) -> None:
        """Copy the query out of the JVM and queue it; a failure is logged once per kind."""
        try:
            captured = self._capture(execution, timestamp=now_in_milliseconds(), **how)
            with self._lock:
                self._offer(self._nested.admit(captured, time.monotonic()))
            self._wait()
        except Exception as error:  # whatever a JVM may raise: the job must not notice
            kind = type(error).__name__
            if kind not in self._failed:
                self._failed.add(kind)
                _LOG.warning("Lineage of a query is lost: %s", first_line(error))

    def _offer(self, queries: list[CapturedQuery]) -> None:
        for query in queries:
            self._outbox.offer(query)

    def _wait(self) -> None:
        """Make sure that held writes are reported in time: one timer for any number of them."""
        if self._ended:
            self.release(staged=True)
            return
        with self._lock:
            due = self._nested.next_due
            if due is None or self._waiting:
                return
            self._waiting = True
        pause = min(max(0.0, due - time.monotonic()), _LOOK_SECONDS)
        timer = threading.Timer(pause, self._report_due)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # the interpreter shuts down
            self.release(staged=True)

    def _report_due(self) -> None:
        with self._lock:
            self._waiting = False
            self._offer(self._nested.due(time.monotonic()))
        self._wait()

    class Java:
        """How py4j learns which interface this is."""

        implements: Final = ["org.apache.spark.sql.util.QueryExecutionListener"]


class Executions:
    """``java.util.function.Consumer`` of the ends of an application's queries."""

    def __init__(self, name: str) -> None:
        """The name tells it from those of other Python processes in the same application."""
        self._name = name
        self._listeners: dict[str, QueryListener | None] = {}  # by mark; None: it has left
        self._streams: dict[str, Streams] = {}
        self._lock = threading.Lock()
        self._has_failed = False

    def join(self, session: Any, listener: QueryListener, streams: Streams) -> str:
        """Report the queries of a session of the JVM to the listener, and its streaming queries.
        Returns its mark.
        """
        mark = f"{self._name} {session_key(session)}"
        with self._lock:
            self._listeners.pop(mark, None)
            self._listeners[mark] = listener
            self._streams[mark] = streams
        session.conf().set(MARK, mark)
        return mark

    def leave(self, mark: str) -> bool:
        """Whether no listener is left."""
        with self._lock:
            self._listeners[mark] = None
            self._streams.pop(mark, None)
            return not any(self._listeners.values())

    def streams_of(self, find: Callable[[str], Any], query: str, run: str) -> Streams | None:
        """Who follows a streaming query: the one that saw it start, else that of its session.

        ``find`` returns the running query of an id, None where there is none any more.
        """
        with self._lock:
            every = list(self._streams.values())
        known = next((streams for streams in every if streams.knows(run)), None)
        running = None if known is not None else find(query)
        if running is None:
            return known
        listener = self._listener_of(running.sparkSession())
        with self._lock:
            marks = [mark for mark, each in self._listeners.items() if each is listener]
            return next((self._streams[mark] for mark in marks if mark in self._streams), None)

    def _listener_of(self, session: Any) -> QueryListener | None:
        """The one that the session's mark names. A session without a mark becomes one of the
        oldest listener, whichever this is at the time.
        """
        settings = session.conf()
        mark = settings.get(MARK, "")
        if not mark:
            settings.set(MARK, mark := self._name)
        with self._lock:
            if mark == self._name:
                return next(filter(None, self._listeners.values()), None)
            return self._listeners.get(mark)

    def accept(self, event: Any) -> None:
        """Never raises: Spark's bus would log it."""
        try:
            self._report(event)
        except Exception as error:  # whatever a JVM may raise: the job must not notice
            if not self._has_failed:
                self._has_failed = True
                _LOG.warning("Lineage of a query is lost: %s", first_line(error))

    def _report(self, event: Any) -> None:
        execution = event.qe()
        if execution is None:  # of a statement that Spark gave up before it had a plan
            return
        listener = self._listener_of(execution.sparkSession())
        if listener is None:
            return
        function, failure = event.executionName().get(), event.executionFailure()
        if failure.isDefined():
            listener.onFailure(function, execution, failure.get())
        else:
            listener.onSuccess(function, execution, event.duration())

    def hashCode(self) -> int:
        return id(self) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self

    def toString(self) -> str:
        return _CLASS

    #: How py4j learns which interface this is.
    Java: Final = SimpleNamespace(implements=["java.util.function.Consumer"])


def session_key(session: Any) -> str:
    """A session of the JVM among those of its application."""
    return str(session.toString())


def listen(context: Any, executions: Executions, streams: StreamEvents) -> Callable[[], object]:
    """Add the application's listener to a SparkContext; returns a function that takes it out.

    Raises py4j's exceptions where this Spark has no compiler, or another bus.
    """
    made = _compiled(context, _CLASS, _FILTER, extended="org.apache.spark.scheduler.SparkListener")
    # By its constructor: py4j keeps methods by the name of a class, and this one is made anew.
    handles = context._jvm.java.util.ArrayList()  # a Python object gets into an array by a handle
    handles.add(executions)
    handles.add(streams)
    both = _array(context, handles.get(0), handles.get(1))
    listener = made.getDeclaredConstructors()[0].newInstance(both)
    spark_context = context._jsc.sc()
    spark_context.addSparkListener(listener)
    return lambda: spark_context.removeSparkListener(listener)


def plan_gauge(context: Any) -> Callable[[Any], bool]:
    """Whether a plan of the JVM has more than ``MOST_PARTS`` operators and expressions.

    Raises py4j's exceptions where this Spark has no compiler, and the function may.
    """
    made = _compiled(context, f"{_CLASS}Gauge", _GAUGE)
    (measure,) = made.getDeclaredMethods()
    return lambda plan: bool(measure.invoke(None, _array(context, plan)))


def _compiled(context: Any, name: str, body: str, *, extended: str = "java.lang.Object") -> Any:
    """A class of Java, by Spark's own compiler."""
    loader = context._jsc.sc().getClass().getClassLoader()
    compiler = context._jvm.org.codehaus.janino.ClassBodyEvaluator()
    compiler.setParentClassLoader(loader)
    compiler.setClassName(name)
    compiler.setExtendedClass(loader.loadClass(extended))
    compiler.cook(body)
    return compiler.getClazz()


def _array(context: Any, *values: Any) -> Any:
    array = context._gateway.new_array(context._jvm.Object, len(values))
    for position, value in enumerate(values):
        array[position] = value
    return array
