"""Start of all parts, serving, stop of all parts.

    ports free? -> data folder ours -> journal and catalogue -> Gremlin -> projector -> listen

Ports are checked before any part is started, so a port in use is reported at once. The graph may
still be rebuilding at the first request: the journal takes documents, and answers are marked as
partial. Ctrl-C or SIGTERM stop in the opposite order; a second one ends the process at once (the
engine's JVM always ends with it).
"""

from __future__ import annotations

import errno
import gc
import ipaddress
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import Final
from urllib.parse import urlsplit

from api.application import create_app, version
from api.http.access import Keys
from api.http.metrics import Metrics
from api.logs import set_up_logging, tells_every_request
from api.routes.pages import missing_parts
from api.service import Service
from api.service.parts import NewestAnswer
from api.service.storage import StorageUse
from api.serving.storage import claim, hold_for_service, open_storage
from api.serving.upkeep import Summary, Upkeep
from api.settings import Settings
from graph_model.errors import ConfigurationError, JournalUnavailable
from graph_model.producers.registry import PRODUCERS
from graph_model.projection.projector import LARGE_SUBJECT_THREAD, Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import Claim, Database, reserve_of, shown
from graph_model.stores.forwarding import ForwardStates
from graph_model.stores.graph import Graph
from graph_model.stores.gremlin.engine.forgetful import ForgetfulGraph
from graph_model.stores.gremlin.engine.server import READ_PORT_SETTING, EmbeddedServer
from graph_model.stores.gremlin.engine.supervisor import Memory, Supervisor
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from graph_model.stores.journal import NEW_KEY, Journal
from graph_model.stores.keys import SqlKeys
from graph_model.values import now

Say = Callable[[str], None]

ENGINE_FOLDER: Final = "engine"
_DIALECTS: Final = {"tinkerpop": "embedded", "neptune": "neptune"}
_NEPTUNE: Final = (".neptune.amazonaws.com", ".neptune.amazonaws.com.cn")
_LOOPBACK: Final = "127.0.0.1"
_STOP_SECONDS: Final = 10.0
_PROGRESS_SECONDS: Final = 2.0
_NEW_JOURNAL_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.02
_SAME_WISH_SECONDS: Final = 3.0
_GARBAGE_THRESHOLDS: Final = (50_000, 50, 50)
_TURN_SECONDS: Final = 0.001
"""How long a thread computes while others wait for their turn (decision 54). A request waits
for several turns, each of Python's own 5 ms beside a projector that is at work."""
_KEYLESS_SECONDS: Final = 1.0
"""How long a service goes on without keys after another process has made the first one."""


def serve(
    settings: Settings, environment: Mapping[str, str], say: Say, *, new_journal: bool = False
) -> int:
    """Run until interrupted; 0. Raises HeadwaterError when something cannot be started.

    ``new_journal``: see ``accepts_new_journal`` of ``Projector``.
    """
    set_up_logging(settings.log_level, settings.log_format, settings.access_log)
    with interruptible(), ExitStack() as stack:
        with suppress(KeyboardInterrupt):
            _serve(stack, settings, environment, say, new_journal=new_journal)
        say("Stopping …")
    say("Stopped.")
    gc.freeze()  # else the interpreter's last collection walks all that the service has remembered
    end_beside_translation()
    return 0


def end_beside_translation() -> None:
    """End the process, with 0, if a large document is still being translated.

    The interpreter would end that thread wherever it is, and inside C++ (RE2) that is an abort.
    """
    if any(thread.name == LARGE_SUBJECT_THREAD for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _serve(
    stack: ExitStack,
    settings: Settings,
    environment: Mapping[str, str],
    say: Say,
    *,
    new_journal: bool,
) -> None:
    listener = _reserve_ports(stack, settings)
    settings = replace(settings, port=listener.getsockname()[1])  # PORT=0 => the system's choice
    stack.enter_context(claim(settings.data))
    say(f"Headwater {version()}")
    say(f"  data       {settings.data.resolve()}")
    _say_missing_page(settings, say)
    database, claimed = _hold_database(stack, settings, say)
    keys = SqlKeys(database, believed_seconds=_KEYLESS_SECONDS)
    check_keys(settings, listener.getsockname()[0], keys)
    service = _start_service(
        stack, settings, environment, database, claimed, keys, say, new_journal=new_journal
    )
    upkeep = Upkeep(service, settings.keep)
    stack.callback(upkeep.stop)
    from api.serving.connections import listening  # commands that serve nothing need no server

    http = stack.enter_context(listening(create_app(settings, service), settings, listener))
    if not tells_every_request(settings.access_log, settings.log_format):
        summary = Summary(service.metrics.arrivals)
        summary.start()
        stack.callback(summary.stop)
    said = (service, settings, say)
    threading.Thread(target=_say_state, args=said, name="ready", daemon=True).start()
    upkeep.start()
    collect_rarely()
    sys.setswitchinterval(_TURN_SECONDS)
    http.run()


def _reserve_ports(stack: ExitStack, settings: Settings) -> socket.socket:
    """The socket to listen on; the engine's ports are free."""
    listener = stack.enter_context(reserve(settings.host, settings.port))
    if not settings.gremlin_url:
        check_free(_LOOPBACK, settings.gremlin_port, "GREMLIN_PORT", "--gremlin-port")
    check_read_port(settings)
    return listener


def _hold_database(stack: ExitStack, settings: Settings, say: Say) -> tuple[Database, Claim]:
    """The database of journal and catalogue, and what holds it for this service."""
    database = open_storage(settings, make=True)
    stack.callback(database.dispose)
    if settings.database:
        say(f"  database   {shown(database.url)}")
    held = hold_for_service(database, own_graph=not settings.gremlin_url)
    return database, stack.enter_context(held)


def _start_service(
    stack: ExitStack,
    settings: Settings,
    environment: Mapping[str, str],
    database: Database,
    claimed: Claim,
    keys: Keys,
    say: Say,
    *,
    new_journal: bool,
) -> Service:
    """Journal, catalogue and graph, and the projector at work on them."""
    metrics = Metrics()
    journal = Journal(database)
    generations = Generations(database, journal)
    stack.callback(generations.close)
    graph, engine = _open_graph(stack, settings, environment, generations, say)
    producers = PRODUCERS.tolerating(settings.clock_tolerance)
    projector = Projector(
        journal,
        graph,
        generations,
        producers=producers,
        restart_engine=engine.restart if engine else lambda: False,
        observe=metrics.projected,
        runs=settings.graph_runs,
        capacity=lambda: engine.capacity if engine else None,
        accepts_new_journal=new_journal,
        keeps_database=claimed.keep,
    )
    if engine:
        engine.watch(graph.count, lambda: projector.state == "ready")
        stack.callback(engine.stop)
    projector.start()
    stack.callback(projector.stop, _STOP_SECONDS)

    def engine_memory() -> Memory | None:
        return engine.memory if engine else None

    storage = StorageUse(
        journal,
        generations,
        now,
        folder=None if settings.database else settings.data,
        memory=engine_memory,
        holds=lambda: projector.full is not None,
        runs=settings.graph_runs,
        keep=settings.keep,
        reserve=reserve_of(database),
    )
    return Service(
        journal,
        projector,
        graph,
        generations,
        now,
        keys,
        metrics,
        engine_memory,
        storage=storage,
        forwarding=ForwardStates(database).list,
        producers=producers,
        check_graph=NewestAnswer(graph.ping).check,
    )


def collect_rarely() -> None:
    """Look for garbage in cycles less often, and never among objects that stay until the end.

    A large answer, like a parsed document, is hundreds of thousands of objects without a cycle;
    with Python's own thresholds the collector looks at them again and again (decision 54).
    """
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)


# --- parts ---------------------------------------------------------------------------------------


def _open_graph(
    stack: ExitStack,
    settings: Settings,
    environment: Mapping[str, str],
    generations: Generations,
    say: Say,
) -> tuple[Graph, Supervisor | None]:
    """The graph, and the supervisor of the embedded engine; None for a server of one's own, which
    keeps its elements itself.
    """
    if settings.gremlin_url:
        say(f"  graph      {settings.gremlin_url} ({dialect_of(settings)})")
        graph = open_remote_graph(settings)
        stack.callback(graph.close)
        return graph, None
    say("  graph      starting the embedded Gremlin Server …")
    engine = EmbeddedServer(
        settings.data / ENGINE_FOLDER,
        environment=environment,
        port=settings.gremlin_port,
        read_port=settings.gremlin_read_port,
        heap_mb=settings.gremlin_heap_mb,
        progress=_download_progress(say),
    )
    stack.callback(engine.stop)
    engine.start()
    say(f"  graph      {engine.url}")
    if engine.read_url:
        say(f"  graph      {engine.read_url} (reads only)")
    supervisor = Supervisor(engine, folder=settings.data / ENGINE_FOLDER)
    kept = ForgetfulGraph(
        open_graph(engine.url, explain=lambda: supervisor.failure),
        lambda: [catalogue.elements for catalogue in generations.written],
        lambda: supervisor.capacity,
    )
    stack.callback(kept.close)
    return kept, supervisor


def open_remote_graph(settings: Settings) -> GremlinGraph:
    """The graph of a server of one's own; connects at the first question. Raises
    ConfigurationError where none is set.
    """
    if not settings.gremlin_url:
        raise ConfigurationError("HEADWATER_GREMLIN_URL is empty: there is no engine to start here")
    headers: Callable[[], Mapping[str, str]] = dict
    if settings.gremlin_signed:
        from graph_model.stores.aws import signed_headers  # boto3: 0.1 s and 9 MB

        headers = signed_headers(settings.gremlin_url)
    dialect = _DIALECTS[dialect_of(settings)]
    return open_graph(settings.gremlin_url, dialect=dialect, headers=headers)


def check_read_port(settings: Settings) -> None:
    """Raises ConfigurationError when the engine cannot serve readers at this port."""
    port = settings.gremlin_read_port
    if port is None:
        return
    if settings.gremlin_url:
        raise ConfigurationError(
            f"{READ_PORT_SETTING}={port} is a port of the embedded engine, which "
            "HEADWATER_GREMLIN_URL replaces"
        )
    if port == settings.gremlin_port != 0:
        raise ConfigurationError(
            f"{READ_PORT_SETTING}={port} is the port of writers, too: choose another one"
        )
    check_free(_LOOPBACK, port, READ_PORT_SETTING, "--gremlin-read-port")


def dialect_of(settings: Settings) -> str:
    """``tinkerpop`` or ``neptune``: as set, else by the address."""
    host = urlsplit(settings.gremlin_url).hostname or ""
    return settings.gremlin_dialect or ("neptune" if host.endswith(_NEPTUNE) else "tinkerpop")


def _say_state(service: Service, settings: Settings, say: Say) -> None:
    """Say whether documents are taken, and that the service is ready once they are and its graph is
    complete; until then how much of it is missing.
    """
    url, projector = settings.address, service.projector
    end = time.monotonic() + _PROGRESS_SECONDS
    held = _why_held(service)
    while not held and projector.state == "rebuilding" and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)
    ready = not held and projector.state == "ready"
    if held:
        say(f"Headwater takes no document, at {url}: {held}")
    elif ready:
        say(f"Headwater is ready: {url}")
    else:
        say(f"Headwater takes documents, at {url}; {_why_incomplete(service)}")
    say(f"  Spark jobs report to {url}/producer; the HTTP API is described at {url}/docs")
    say("  Ctrl-C stops it.")
    while not ready:
        time.sleep(_PROGRESS_SECONDS)
        ready = projector.state == "ready" and not _why_held(service)
        if ready:
            say(f"Headwater is ready: {url}")
        elif projector.state == "rebuilding" and (left := service.journal.backlog().documents):
            say(f"  graph      rebuilding from the journal: {left:,} documents to go")


def _why_incomplete(service: Service) -> str:
    if (failure := service.projector.failure) is not None:
        return f"the graph does not answer: {failure}"
    return "the graph is not complete yet, and answers say so"


def _why_held(service: Service) -> str | None:
    """Why no document is taken. Of a new journal the projector decides first, within moments."""
    journal, end = service.journal, time.monotonic() + _NEW_JOURNAL_SECONDS
    try:
        while journal.get_meta(NEW_KEY) == "true" and time.monotonic() < end:
            if service.projector.failure is not None:
                break
            time.sleep(_LOOK_SECONDS)
        journal.ensure_taking()
    except JournalUnavailable as error:
        return error.reason
    return service.storage.refusal if service.storage else None


def _say_missing_page(settings: Settings, say: Say) -> None:
    if missing := missing_parts(settings.frontend):
        say(
            f"  page       not installed ({', '.join(missing)} missing in {settings.frontend}): "
            "run python -m api.serving.page"
        )


def _download_progress(say: Say) -> Callable[[int, int, str], None]:
    """Log every tenth of a download."""
    reported = -1

    def progress(done: int, total: int, archive: str) -> None:
        nonlocal reported
        tenth = 10 * done // max(total, 1)
        if tenth > reported:
            reported = tenth
            megabytes = f"{done / 1e6:.0f} of {total / 1e6:.0f} MB"
            say(f"  download   {megabytes} of Java archives ({archive})")

    return progress


# --- access ---------------------------------------------------------------------------------------


def check_keys(settings: Settings, bound: str, keys: Keys) -> None:
    """Raises ConfigurationError where other computers could connect and no key was ever made.

    ``bound`` is the address of the listening socket; a proxy on this computer lets others in.
    HEADWATER_INSECURE allows it.
    """
    closed = is_loopback(bound) and not settings.trusted_proxy
    if closed or settings.insecure or keys.exist():
        return
    place = "" if settings.database else f" --data {settings.data}"
    way = f"on {settings.host}" if not settings.trusted_proxy else "through the proxy"
    raise ConfigurationError(
        f"{way} every client on the network could come in, for no API key was made: "
        f"headwater keys create NAME --role admin{place}, or, where that is meant, "
        "HEADWATER_INSECURE=true"
    )


def is_loopback(address: str) -> bool:
    """Whether only this computer reaches an address such as ``127.0.0.1`` or ``::1``."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_loopback


# --- ports and the data folder -------------------------------------------------------------------


@contextmanager
def reserve(host: str, port: int) -> Iterator[socket.socket]:
    """A socket bound to the address, not listening yet: callers are refused until we are ready.

    Raises ConfigurationError in one line when the port is taken or not allowed.
    """
    bound = _bind(host, port, "PORT", "--port")
    try:
        yield bound
    finally:
        bound.close()


def check_free(host: str, port: int, setting: str, option: str) -> None:
    """Raises ConfigurationError in one line when the port cannot be had."""
    _bind(host, port, setting, option).close()


def _bind(host: str, port: int, setting: str, option: str) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ConfigurationError(f"HEADWATER_HOST={host!r}: {error.strerror}") from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(where)
    except OSError as error:
        bound.close()
        other = f"choose another with {setting}= ({option})"
        if error.errno == errno.EADDRINUSE:
            raise ConfigurationError(
                f"port {port} on {host} is taken by another program: end it, or {other}"
            ) from error
        raise ConfigurationError(
            f"cannot listen on {host} port {port} ({error.strerror}): {other}"
        ) from error
    return bound


# --- signals -------------------------------------------------------------------------------------


@contextmanager
def interruptible() -> Iterator[None]:
    """The first SIGINT or SIGTERM raises KeyboardInterrupt, a later one ends the process at once.

    A second signal within three seconds counts as the same one: ``make`` passes on the signal that
    the terminal, or ``timeout``, has already sent to the whole process group, and on busy cores a
    process handles the two more than a second apart.
    """
    asked_at: float | None = None

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal asked_at
        seconds = time.monotonic()
        if asked_at is None:
            asked_at = seconds
            raise KeyboardInterrupt
        if seconds - asked_at > _SAME_WISH_SECONDS:
            os._exit(128 + number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
