"""Reports the reads and writes of a PySpark session: one import, one line, no jar.

    from spark_agent_config.listener import observe

    observe(spark)

All sessions of the application are reported, also those of a Connect server in this process.
Spark calls a listener after each query, on a thread of its own. The callback copies the plan out
of the JVM (some milliseconds), and everything else happens in another thread. Nothing here raises
into the job, delays it, or fails it: without a server the job runs as it would without us.

Sources of settings; the first that is given counts:

| argument | Spark configuration | environment | meaning |
|---|---|---|---|
| url | spark.headwater.url | HEADWATER_URL | the server; default http://127.0.0.1:8080 |
| job | spark.headwater.job | HEADWATER_JOB | name of the job; default: the application's |
| namespace | spark.headwater.namespace | HEADWATER_NAMESPACE | namespace of the job |
| scope | spark.headwater.scope | HEADWATER_SCOPE | capture scope: the place that file: means |
| labels | spark.headwater.label.NAME | | other labels |
| api_key | spark.headwater.apiKey | HEADWATER_API_KEY | the server's key for this job |
| spill | spark.headwater.spill | HEADWATER_SPILL | folder for undelivered documents; empty: none |

With ``url`` file:/path nothing is posted: documents are appended to that file (.ndjson, .jsonl), or
to a file of this process in that folder, in the lines that ``document_files`` describes.

They are read once, when ``observe`` is called: callbacks come later than the query, and would see
the next job's settings.

Reported are commands that write, and CREATE, DROP and TRUNCATE of tables. Queries without a
write (show, count, collect) are not. A CREATE TABLE AS SELECT arrives from Spark twice, as the
command and as the insert that it runs; both are reported, as the stock agent does: one carries
the table's name, the other its partition columns, and the server shows them as one write.
"""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Final

from spark_agent_config.capture.captured import (
    Application,
    CapturedQuery,
    of_flow,
    pipeline_of,
    with_view,
)
from spark_agent_config.capture.inspection import Inspector
from spark_agent_config.capture.plan_document import execution_event, execution_plan
from spark_agent_config.capture.questions import first_line
from spark_agent_config.capture.streams import StreamEvents, Streams, streaming_listener
from spark_agent_config.configuration import API_KEY_HEADER
from spark_agent_config.delivery.document_files import (
    FileSender,
    Spill,
    default_folder,
    file_of,
    now_in_milliseconds,
    server_digest,
)
from spark_agent_config.delivery.outbox import Counts, Ending, Outbox
from spark_agent_config.delivery.post import HttpSender, Post
from spark_agent_config.executions import (
    Executions,
    QueryListener,
    listen,
    plan_gauge,
    session_key,
)

DEFAULT_URL: Final = "http://127.0.0.1:8080"
_PREFIX: Final = "spark.headwater."
_LABEL_PREFIX: Final = "spark.headwater.label."
#: Settings that are labels of the plan, and what those are called.
_LABELS: Final = {"job": "job", "namespace": "namespace", "scope": "captureScope"}
_LOG: Final = logging.getLogger(__name__)
_EXIT_SECONDS: Final = 5.0
#: For the delivery at the end, also where Spark took all the time to report its last queries.
_LEAST_DELIVERY_SECONDS: Final = 1.0
_CONNECT: Final = "pyspark.sql.connect"
_NO_PLANS_HERE: Final = (
    "Lineage is not reported, the job goes on: a Spark Connect client cannot see the plans of its "
    "queries. Call observe() in the Python driver that hosts the Connect server, or set "
    "OpenLineage's client or the stock agent there (`headwater config openlineage-spark` and "
    "`headwater config spark` print their settings)"
)
#: In the marks of sessions. It stays the same for the life of the process: sessions of clients that
#: an earlier observation has reported belong to the next one.
_PROCESS: Final = secrets.token_hex(4)
_observed: dict[str, Observation] = {}
#: By application, each with a function that takes it out of Spark.
_executions: dict[str, tuple[Executions, Callable[[], object]]] = {}
_observing = threading.Lock()


def observe(
    spark: Any,
    url: str | None = None,
    *,
    job: str | None = None,
    namespace: str | None = None,
    scope: str | None = None,
    labels: Mapping[str, str] | None = None,
    api_key: str | None = None,
    spill: str | os.PathLike[str] | None = None,
) -> Observation:
    """Report the application's writes from now on. Never raises; ``active`` is whether it works.

    A second call for the same session of Spark returns the same observation. A setting that differs
    then is ignored, with one warning; close the observation to change it. A session made by
    ``newSession()`` is reported with the first one's settings, or with its own after a call for it.
    """
    given = {
        "url": url, "job": job, "namespace": namespace, "scope": scope, "apiKey": api_key,
        "spill": None if spill is None else os.fspath(spill),
        **{f"label.{name}": value for name, value in (labels or {}).items()},
    }  # fmt: skip
    if type(spark).__module__.startswith(_CONNECT):
        _LOG.warning(_NO_PLANS_HERE)
        return Observation(None)
    try:
        with _observing:
            return _observe(spark, {n: value for n, value in given.items() if value is not None})
    except Exception as error:  # the law of this module: a job never fails because of us
        _LOG.warning("Lineage is not reported, the job goes on: %s", first_line(error))
        return Observation(None)


class Observation:
    """A running observation. Closed at exit, within a few seconds.

    ``drain`` makes Spark deliver its waiting events and returns whether it had within so many ms;
    ``leave`` takes the listeners out of Spark; ``end`` queues the writes that are held.
    ``settings`` are those that the observation began with.
    """

    def __init__(
        self,
        outbox: Outbox[CapturedQuery] | None,
        drain: Callable[[int], bool] | None = None,
        leave: Callable[[], None] | None = None,
        end: Callable[[], None] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._outbox = outbox
        self._drain = drain
        self._leave = leave
        self._end = end
        self._settings = settings or {}
        self._ignored: set[str] = set()
        self._closed = outbox is None
        self._closing = threading.Lock()

    @property
    def active(self) -> bool:
        return not self._closed

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all that happened so far is reported; False if it took too long."""
        if self._outbox is None:
            return True
        deadline = time.monotonic() + timeout
        is_reported = _within(timeout, lambda: self._wait_for_spark(timeout))
        return self._outbox.flush(_left(deadline)) and is_reported

    def close(self, timeout: float = _EXIT_SECONDS) -> bool:
        """Report the rest within ``timeout`` seconds, leave Spark, and observe nothing more.

        The time goes to Spark first, and the rest, at least one second, to the delivery.
        False, with a warning, if one of them took too long. A second caller waits until the first
        is done. An interrupt cuts the waiting short, not the delivery.
        """
        ending = Ending()
        try:
            return self.close_beside(timeout, ending)
        finally:
            ending.log()

    def close_beside(self, timeout: float, ending: Ending) -> bool:
        """As ``close``, with other observations: the last lines of the log are left to
        ``ending``.
        """
        with self._closing:
            if self._outbox is None or self._closed:
                return True
            began = time.monotonic()
            is_reported = False
            try:
                is_reported = _within(timeout, lambda: self._leave_spark(timeout))
            finally:
                if not is_reported:
                    ending.add_wait(time.monotonic() - began)
                is_delivered = self._deliver_rest(self._outbox, began + timeout, ending)
            return is_reported and is_delivered

    def counts(self) -> Counts:
        return Counts(0, 0, 0) if self._outbox is None else self._outbox.counts()

    def disown(self) -> None:
        """Report nothing more, wait for nothing, and leave Spark as it is: a process that was
        forked shares the connection with Spark, and the queue has no thread there.
        """
        self._closing = threading.Lock()
        self._outbox, self._closed = None, True

    def ignore(self, settings: Mapping[str, str]) -> None:
        """Warn once of each setting that differs from this observation's that it has no effect."""
        differing = {name for name, value in settings.items() if self._settings.get(name) != value}
        if differing - self._ignored:
            names = ", ".join(sorted(differing))
            _LOG.warning("This session is observed already; %s is ignored", names)
            self._ignored |= differing

    def _wait_for_spark(self, timeout: float) -> bool:
        """Whether Spark has delivered its waiting events: its callbacks run behind the job."""
        try:
            return self._drain is None or self._drain(int(timeout * 1000))
        except Exception as error:  # the JVM is gone: it has nothing more to report
            _LOG.debug("Spark did not answer: %s", first_line(error))
            return True

    def _leave_spark(self, timeout: float) -> bool:
        is_reported = self._wait_for_spark(timeout)
        if self._leave is not None:
            leave, self._leave, self._drain = self._leave, None, None
            leave()
        return is_reported

    def _deliver_rest(self, outbox: Outbox[CapturedQuery], deadline: float, ending: Ending) -> bool:
        self._closed = True
        if self._end is not None:
            self._end()
        is_delivered = outbox.close(max(_LEAST_DELIVERY_SECONDS, _left(deadline)), ending)
        _forget(self)
        return is_delivered


def documents(query: CapturedQuery, application: Application) -> tuple[Post, Post]:
    """The two requests of a query: its plan, then one event in an array."""
    query = with_view(application, query)
    application = of_flow(application, query)
    plan = execution_plan(query, application)
    event = execution_event(query, plan["id"], application)
    return Post("execution-plans", plan), Post("execution-events", [event])


def labels_of(settings: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Settings without their prefix => plan labels, as the server reads them.

    ``{"job": "curate", "scope": "lab", "label.team": "hr"}`` =>
    ``{"job": ("curate",), "captureScope": ("lab",), "team": ("hr",)}``
    """
    labels: dict[str, tuple[str, ...]] = {
        name.removeprefix("label."): (value,)
        for name, value in settings.items()
        if name.startswith("label.")
    }
    return labels | {
        _LABELS[n]: (value,) for n, value in settings.items() if n in _LABELS and value
    }


def server_url(settings: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """The producer's base URL. Raises ValueError when it is no http(s) or file: address."""
    url = settings.get("url") or environment.get("HEADWATER_URL") or DEFAULT_URL
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "file":
        is_local = parts.hostname in {None, "localhost"}
        usable = is_local and parts.path.startswith("/") and parts.path != "/"
    else:
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
    if not usable:
        raise ValueError(f"url is {url!r}: expected http://host:port, https://host or file:/path")
    return url


def spill_folder(settings: Mapping[str, str], environment: Mapping[str, str]) -> Path | None:
    """Where undelivered documents are kept. None: nowhere, because the setting is empty.

    Raises RuntimeError where the folder is the default and this user has no home.
    """
    given = settings.get("spill", environment.get("HEADWATER_SPILL"))
    if given is not None:
        return Path(given).expanduser() if given.strip() else None
    return default_folder(environment, sys.platform, Path.home())


def outbox_of(
    settings: Mapping[str, str],
    environment: Mapping[str, str],
    prepare: Callable[[CapturedQuery], tuple[Post, Post]],
) -> Outbox[CapturedQuery]:
    """Delivery as it is set. Raises ValueError for an address that is none; nothing connects."""
    url = server_url(settings, environment)
    process = f"{time.time_ns() // 1_000_000}-{os.getpid()}-{secrets.token_hex(4)}"
    if url.startswith("file:"):
        place = Path(urllib.request.url2pathname(urllib.parse.urlsplit(url).path))
        return Outbox(prepare, FileSender(file_of(place, process)), weigh=_weight)
    api_key = settings.get("apiKey") or environment.get("HEADWATER_API_KEY")
    sender = HttpSender(url, {API_KEY_HEADER: api_key} if api_key else {})
    try:
        folder = spill_folder(settings, environment)
    except (RuntimeError, OSError) as error:
        _LOG.debug("Documents that the server does not accept are not kept: %s", error)
        folder = None
    if folder is None:
        return Outbox(prepare, sender, weigh=_weight)
    spill = Spill(folder, server_digest(url, api_key), process)
    return Outbox(prepare, sender, keeper=spill, weigh=_weight)


def _weight(query: CapturedQuery) -> int:
    """About how many bytes a waiting query holds on to."""
    origins = [relation.origin for relation in query.relations.values()]
    return len(query.plan) + sum(origin.weight for origin in origins if origin is not None)


def _observe(spark: Any, given: Mapping[str, str]) -> Observation:
    context = spark.sparkContext
    key = f"{context.applicationId} {session_key(spark._jsparkSession)}"
    earlier = _observed.get(key)
    if earlier is not None and earlier.active:
        earlier.ignore(given)
        return earlier
    _close_those_of_stopped(context.applicationId)
    settings = {**_named_in(os.environ), **_spark_settings(spark), **given}
    application = Application(
        id=context.applicationId,
        name=context.appName,
        user=context.sparkUser(),
        spark_version=str(spark.version),
        labels=labels_of(settings),
        pipeline=pipeline_of(sys.argv, Path.cwd()),
    )
    outbox = outbox_of(settings, os.environ, lambda query: documents(query, application))
    inspector = Inspector(
        context._jvm,
        context._jsc.hadoopConfiguration(),
        _gauge_of(context),
        lambda: streams.running(),  # beyond its end, until the bus has passed on all its queries
    )
    listener = QueryListener(inspector.capture, outbox)
    streams = Streams(
        find=lambda query: _running_stream(spark, query),
        capture=inspector.capture_stream,
        tell=outbox.offer,
        complete=inspector.complete_batch,
    )
    leave_queries, hears_streams = _follow_queries(spark, listener, streams)
    leave_streams = _follow_streams(spark, streams, starts_only=hears_streams)
    bus = context._jsc.sc().listenerBus()

    def drain(milliseconds: int) -> bool:
        try:
            return _is_emptied(bus, milliseconds)
        finally:
            listener.release()

    def leave() -> None:
        _quietly(leave_queries)
        _quietly(leave_streams)

    observation = Observation(outbox, drain, leave, listener.end, settings)
    _observed[key] = observation
    atexit.unregister(close_all)  # the last one that is registered runs first
    atexit.register(close_all)
    return observation


def _running_stream(spark: Any, query: str) -> Any:
    """The streaming query of any session with that id, or None. Raises py4j's exceptions."""
    key = spark.sparkContext._jvm.java.util.UUID.fromString(query)
    return spark._jsparkSession.sharedState().activeStreamingQueries().get(key)


def _is_emptied(bus: Any, milliseconds: int) -> bool:
    """Whether Spark's listener bus has no event left, or had none within that time."""
    from py4j.protocol import Py4JJavaError

    try:
        bus.waitUntilEmpty(milliseconds)
    except Py4JJavaError as error:  # a TimeoutException; without a JVM it is another error
        _LOG.debug("Spark's listener bus is not empty: %s", first_line(error))
        return False
    return True


def close_all(timeout: float = _EXIT_SECONDS) -> None:
    """Close all observations, also after an interrupt. They share the time and the last lines of
    the log.
    """
    deadline = time.monotonic() + timeout
    ending = Ending()
    with ExitStack() as closing:
        closing.callback(ending.log)  # the first callback is called last
        for observation in list(_observed.values()):
            closing.callback(lambda each: each.close_beside(_left(deadline), ending), observation)


def _disown_all() -> None:
    """In the child of a fork: its end must not close the observations of its parent."""
    global _observing
    _observing = threading.Lock()
    for observation in list(_observed.values()):
        observation.disown()
    _observed.clear()
    _executions.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)


def _close_those_of_stopped(application: str) -> None:
    """A process has one SparkContext at a time: observations of another application have ended.

    In a thread each: closing waits for the server, and the job does not.
    """
    for key, observation in list(_observed.items()):
        if not key.startswith(f"{application} "):
            threading.Thread(target=observation.close, name="headwater-close", daemon=True).start()


def _forget(closed: Observation) -> None:
    for key, observation in list(_observed.items()):
        if observation is closed:
            del _observed[key]


def _follow_queries(
    spark: Any, listener: QueryListener, streams: Streams
) -> tuple[Callable[[], object], bool]:
    """Report the queries of the application, and return a function that ends that, and whether
    the application's streams are heard, too.

    Where this Spark takes no listener of the application, those of the session are reported.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    # py4j logs every call that comes back, at the root logger: noise in a job's log.
    logging.getLogger("py4j.clientserver").addFilter(_is_no_callback)
    context = spark.sparkContext
    ensure_callback_server_started(context._gateway)
    try:
        executions = _executions_of(spark)
    except Exception as error:
        _LOG.debug("Only this session is followed: %s", first_line(error))
        return _follow_session(spark, listener), False
    application = context.applicationId
    mark = executions.join(spark._jsparkSession, listener, streams)

    def leave() -> None:
        with _observing:
            if executions.leave(mark):
                _, leave_spark = _executions.pop(application)
                leave_spark()

    return leave, True


def _executions_of(spark: Any) -> Executions:
    """Those of the session's application, which are listened to from the first call on."""
    application = spark.sparkContext.applicationId
    if application not in _executions:
        executions = Executions(_PROCESS)
        events = StreamEvents(
            lambda query, run: executions.streams_of(
                lambda number: _running_stream(spark, number), query, run
            ),
            now_in_milliseconds,
        )
        leave = listen(spark.sparkContext, executions, events)
        _executions[application] = executions, leave
    return _executions[application][0]


def _gauge_of(context: Any) -> Callable[[Any], bool]:
    """Whether a plan is too large to be copied; without a compiler none is.

    It is made at the first write, off the job's path.
    """

    @cache
    def gauge() -> Callable[[Any], bool]:
        try:
            return plan_gauge(context)
        except Exception as error:
            _LOG.debug("Plans are copied whatever their size: %s", first_line(error))
            return lambda _: False

    return lambda plan: gauge()(plan)


def _follow_session(spark: Any, listener: QueryListener) -> Callable[[], object]:
    """py4j makes another Java object each time that a Python one is handed over, and Spark looks
    for the very object that it was given: so it goes through a Java list, which gives a handle.
    """
    handles = spark.sparkContext._jvm.java.util.ArrayList()
    handles.add(listener)
    handle = handles.get(0)
    manager = spark._jsparkSession.listenerManager()
    manager.register(handle)
    return lambda: manager.unregister(handle)


def _follow_streams(spark: Any, streams: Streams, *, starts_only: bool) -> Callable[[], object]:
    """Report the session's streaming queries, and return a function that ends that.

    If this Spark has no such listener, all else is still reported.
    """
    try:
        listener = streaming_listener(streams, now_in_milliseconds, starts_only=starts_only)
        spark.streams.addListener(listener)
    except Exception as error:
        _LOG.debug("Streaming queries are not followed: %s", first_line(error))
        return lambda: None

    def leave() -> None:
        spark.streams.removeListener(listener)
        vars(listener).clear()  # it holds the Java object that holds it: neither would be freed

    return leave


def _is_no_callback(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Received command c on object id")


def _named_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of the environment that become labels."""
    named = {name: environment.get(f"HEADWATER_{name.upper()}") for name in _LABELS}
    return {name: value for name, value in named.items() if value}


def _spark_settings(spark: Any) -> dict[str, str]:
    """``spark.headwater.*`` of the session, without the prefix."""
    names = ("url", "job", "namespace", "scope", "apiKey", "spill")
    values = {name: spark.conf.get(f"{_PREFIX}{name}", None) for name in names}
    settings = {
        name: str(value)
        for name, value in values.items()
        if value or (name == "spill" and value is not None)  # empty switches it off
    }
    for name, value in spark.sparkContext.getConf().getAll():
        if name.startswith(_LABEL_PREFIX):
            settings[name.removeprefix(_PREFIX)] = value
    return settings


def _within(timeout: float, ask: Callable[[], bool]) -> bool:
    """The answer, which is waited for so many seconds: the JVM may not answer. False without one.

    An interpreter that shuts down may start no thread any more: then only Spark bounds the time.
    """
    answers: list[bool] = []
    thread = threading.Thread(
        target=lambda: answers.append(ask()), name="headwater-spark", daemon=True
    )
    try:
        thread.start()
    except RuntimeError:
        return ask()
    thread.join(timeout)
    return any(answers)


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _quietly(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception as error:  # the JVM is gone
        _LOG.debug("Spark did not answer: %s", first_line(error))
