"""Start everything in order, serve, stop everything in order.

    ports free? -> data folder ours -> journal and catalogue -> Gremlin -> projector -> listen

Ports are checked before anything is started, so a mistake costs a line and not a minute. The
graph may still be rebuilding when the first request comes: documents are taken, and answers say
that they are not whole. Ctrl-C or SIGTERM stop in the opposite order; a second one ends at once
(the engine's JVM ends with its owner, however the owner ends).
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

from flask import Flask
from waitress import create_server  # type: ignore[import-untyped]

from api.application import create_app, version
from api.channel import Channel
from api.routes.pages import missing_parts
from api.service import Service
from api.settings import Settings
from graph_model.catalogue import SqlCatalogue
from graph_model.database import open_database
from graph_model.errors import ConfigurationError
from graph_model.gremlin.graph import GremlinGraph, open_graph
from graph_model.gremlin.server import EmbeddedServer
from graph_model.journal import SqlJournal
from graph_model.projector import Projector

Say = Callable[[str], None]

DATABASE_FILE: Final = "headwater.db"
LOCK_FILE: Final = "headwater.lock"
ENGINE_FOLDER: Final = "engine"
_LOOPBACK: Final = "127.0.0.1"
_ANY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104 - recognised, not bound
_STOP_SECONDS: Final = 10.0
_PROGRESS_SECONDS: Final = 2.0
_SAME_WISH_SECONDS: Final = 1.0
_UNREADABLE: Final = 4
"""waitress cuts a connection off at this multiple of the largest body; below it the answer is a
readable 413."""


def serve(settings: Settings, environment: Mapping[str, str], say: Say) -> int:
    """Run until interrupted; 0. Raises HeadwaterError when something cannot be started."""
    set_up_logging(settings.log_level)
    with interruptible(), ExitStack() as stack:
        with suppress(KeyboardInterrupt):
            _serve(stack, settings, environment, say)
        say("Stopping …")
    say("Stopped.")
    return 0


def _serve(stack: ExitStack, settings: Settings, environment: Mapping[str, str], say: Say) -> None:
    listener = stack.enter_context(reserve(settings.host, settings.port))
    if not settings.gremlin_url:
        check_free(_LOOPBACK, settings.gremlin_port, "GREMLIN_PORT", "--gremlin-port")
    stack.enter_context(claim(settings.data))
    say(f"Headwater {version()}")
    say(f"  data       {settings.data.resolve()}")
    _say_missing_page(settings, say)
    database = open_database(settings.data / DATABASE_FILE)
    stack.callback(database.dispose)
    journal, catalogue = SqlJournal(database), SqlCatalogue(database)
    graph, revive = _open_graph(stack, settings, environment, say)
    projector = Projector(journal, graph, catalogue, revive=revive)
    projector.start()
    stack.callback(projector.stop, _STOP_SECONDS)
    service = Service(journal, projector, graph, catalogue, lambda: time.time_ns() // 1_000_000)
    web = listen(create_app(settings, service), settings, listener)
    stack.callback(_close, web)
    _say_ready(settings, say)
    _watch_rebuild(projector, say)
    web.run()


# --- parts ---------------------------------------------------------------------------------------


def _open_graph(
    stack: ExitStack, settings: Settings, environment: Mapping[str, str], say: Say
) -> tuple[GremlinGraph, Callable[[], bool]]:
    """The graph, and how to bring it back: True when it is empty now."""
    if settings.gremlin_url:
        say(f"  graph      {settings.gremlin_url}")
        graph = open_graph(settings.gremlin_url)
        stack.callback(graph.close)
        return graph, lambda: False
    say(f"  graph      starting the embedded Gremlin Server on port {settings.gremlin_port} …")
    engine = EmbeddedServer(
        settings.data / ENGINE_FOLDER,
        environment=environment,
        port=settings.gremlin_port,
        heap_mb=settings.gremlin_heap_mb,
        progress=_download_progress(say),
    )
    stack.callback(engine.stop)
    engine.start()
    say(f"  graph      {engine.url}")
    graph = open_graph(engine.url)
    stack.callback(graph.close)
    return graph, lambda: _revived(engine)


def _revived(engine: EmbeddedServer) -> bool:
    """Start the engine again when it has died; True when that was so."""
    if engine.alive():
        return False
    logging.getLogger(__name__).warning("the embedded Gremlin Server has died; starting it again")
    engine.start()
    return True


def listen(app: Flask, settings: Settings, listener: socket.socket) -> Any:
    """A waitress server on a bound socket; ``run()`` serves until interrupted."""
    web = create_server(
        app,
        sockets=[listener],
        threads=settings.threads,
        ident=None,
        max_request_body_size=_UNREADABLE * settings.max_body_bytes,
        clear_untrusted_proxy_headers=True,
        asyncore_use_poll=True,
    )
    web.channel_class = Channel
    return web


def _close(web: Any) -> None:
    web.task_dispatcher.shutdown()
    web.close()


def _say_ready(settings: Settings, say: Say) -> None:
    url = address(settings)
    say(f"Headwater is ready: {url}")
    say(f"  Spark jobs report to {url}/producer; the HTTP API is described at {url}/docs")
    say("  Ctrl-C stops it.")


def address(settings: Settings) -> str:
    """Where a browser on this computer finds the server."""
    host = _LOOPBACK if settings.host in _ANY_ADDRESS else settings.host
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def _say_missing_page(settings: Settings, say: Say) -> None:
    if missing := missing_parts(settings.frontend):
        say(
            f"  page       not installed ({', '.join(missing)} missing in {settings.frontend}): "
            "run npm ci --prefix frontend"
        )


def _download_progress(say: Say) -> Callable[[int, int, str], None]:
    """Says at every tenth of a download how far it is."""
    said = -1

    def progress(done: int, total: int, what: str) -> None:
        nonlocal said
        tenth = 10 * done // max(total, 1)
        if tenth > said:
            said = tenth
            say(f"  download   {done / 1e6:.0f} of {total / 1e6:.0f} MB of Java archives ({what})")

    return progress


def _watch_rebuild(projector: Projector, say: Say) -> None:
    """Says from time to time how much of the graph is missing, until it is whole."""

    def watch() -> None:
        told = False
        while projector.state == "rebuilding":
            time.sleep(_PROGRESS_SECONDS)
            if projector.state == "rebuilding" and (left := projector.lag()):
                say(f"  graph      rebuilding from the journal: {left:,} documents to go")
                told = True
        if told and projector.state == "ready":
            say("  graph      complete")

    threading.Thread(target=watch, name="rebuild-progress", daemon=True).start()


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


@contextmanager
def claim(data: Path) -> Iterator[None]:
    """Create the data folder and hold it: one running Headwater a folder.

    Raises ConfigurationError when it cannot be written or another process holds it.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = (data / LOCK_FILE).open("a+", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"the data folder {data} cannot be written ({error.strerror}): "
            "choose another with DATA= (--data)"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise ConfigurationError(
                f"the data folder {data} is in use by another Headwater (process {holder}): "
                "stop it, or choose another with DATA= (--data)"
            ) from error
        lock.seek(0)
        lock.truncate()
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


# --- signals and the log -------------------------------------------------------------------------


@contextmanager
def interruptible() -> Iterator[None]:
    """The first SIGINT or SIGTERM raises KeyboardInterrupt, a later one ends the process at once.

    One that follows within a second is the same wish: ``make`` passes on what the terminal, or
    ``timeout``, has already sent to the whole process group.
    """
    asked_at: float | None = None

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal asked_at
        now = time.monotonic()
        if asked_at is None:
            asked_at = now
            raise KeyboardInterrupt
        if now - asked_at > _SAME_WISH_SECONDS:
            os._exit(128 + number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def set_up_logging(level: str) -> None:
    """Lines with a time on standard error."""
    logging.basicConfig(
        level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    # "Task queue depth is 3": a busy moment is no warning; "Creating GraphTraversalSource": no news
    for name, least in (("waitress.queue", logging.ERROR), ("gremlinpython", logging.WARNING)):
        logging.getLogger(name).setLevel(least)
