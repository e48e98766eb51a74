"""The embedded engine: one Gremlin Server in its own JVM, which this process starts and stops.

It holds its graph in memory (graph.groovy), listens on the loopback interface, and ends with this
process, however that ends. ``forgetful`` fills it again.

    with EmbeddedServer(folder, environment=os.environ) as server:
        graph = open_graph(server.url)

Its folder holds ``engine.yaml``, ``engine.log`` and ``engine.ready``. With ``read_port`` a second
port serves the same graph and allows only reads (``read.yaml``).
"""

from __future__ import annotations

import errno
import json
import logging
import os
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from graph_model.errors import ConfigurationError, EngineError, GraphUnavailable
from graph_model.stores.gremlin.connection import Limits
from graph_model.stores.gremlin.dialect import EMBEDDED
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.graph import open_graph

DEFAULT_PORT: Final = 8182
PORT_SETTING: Final = "GREMLIN_PORT"
READ_PORT_SETTING: Final = "HEADWATER_GREMLIN_READ_PORT"

_HOST: Final = "127.0.0.1"  # the graph has no authentication: only this machine reaches it
_PORT_TAKEN: Final = 98  # engine.groovy ends with it
_PORTS_TRIED: Final = 3
_CHANNELIZER: Final = "org.apache.tinkerpop.gremlin.server.channel.WebSocketChannelizer"
_GUARDED: Final = "GuardedChannelizer"  # of engine.groovy
_POLL_SECONDS: Final = 0.02
_STOP_SECONDS: Final = 5.0
_LOG_LINES: Final = 20
_FORMER_FILES: Final = "checkpoint-*"  # of an older Headwater, as large as its graph
_EVALUATION_MS: Final = 30_000  # for requests without a limit of their own: people send these

_log: Final = logging.getLogger(__name__)


class EmbeddedServer:
    """Starts, watches and stops the JVM. ``port`` 0 takes a free port; see ``url`` after start.
    ``read_port`` likewise; None: there is no such port.

    ``folder`` is created if need be and belongs to the engine alone. ``supervisor.capacity`` says
    how many elements fit into ``heap_mb``. ``environment`` supplies JAVA_HOME, PATH, the variables
    of ``jars.fetch`` and, to the JVM itself, JDK_JAVA_OPTIONS.
    """

    def __init__(
        self,
        folder: Path,
        *,
        environment: Mapping[str, str],
        port: int = DEFAULT_PORT,
        read_port: int | None = None,
        heap_mb: int = 1024,
        start_seconds: float = 60.0,
        progress: jars.Progress | None = None,
    ) -> None:
        self.folder = folder.resolve()
        self.port = port
        self.read_port = read_port
        self.heap_mb = heap_mb
        self._environment = environment
        self._start_seconds = start_seconds
        self._progress = progress
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """``ws://127.0.0.1:8182/gremlin``; with port 0 it has the real port after start."""
        return _url(self.port)

    @property
    def read_url(self) -> str | None:
        """The address that allows only reads; None without a ``read_port``."""
        return None if self.read_port is None else _url(self.read_port)

    @property
    def pid(self) -> int | None:
        """The process id of the JVM; None when it was never started or has been stopped."""
        return self._process.pid if self._process else None

    @property
    def log_file(self) -> Path:
        return self.folder / "engine.log"

    def start(self) -> None:
        """Start the JVM and return once it answers a query.

        Raises ConfigurationError for faults that the user can correct (Java, port, downloads,
        folder) and EngineError when the engine does not come up.
        """
        with self._lock:
            if self.alive():
                return
            runtime = jars.find_java(self._environment).program
            archives = jars.fetch(self._environment, progress=self._progress)
            check_port(self.port)
            if self.read_port is not None:
                check_port(self.read_port, READ_PORT_SETTING)
            self._clean_up()
            self._make_folder()
            places = (jars.classes_folder(self._environment), self.folder / "classes")
            classes = jars.find_classes(runtime, archives, places)
            self._start_with(runtime, (classes, *archives))

    def alive(self) -> bool:
        """Whether the JVM runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """How the JVM ended (negative: the signal); None while it runs, and after ``stop``."""
        return self._process.poll() if self._process else None

    def stop(self) -> None:
        """End the JVM and its graph. Safe to call twice, and when it has died."""
        with self._lock:
            self._clean_up()

    def log_end(self, lines: int = _LOG_LINES) -> str:
        """The end of the engine's log, for an error message; without the frames of its traces."""
        try:
            text = self.log_file.read_text("utf-8", "replace")
        except OSError:
            return ""
        written = [line for line in text.splitlines() if not line.startswith(("\tat ", "\t..."))]
        return "\n".join(written[-lines:])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # --- starting ---------------------------------------------------------------------------

    def _start_with(self, runtime: str, classpath: Sequence[Path]) -> None:
        """Start on the configured ports. For port 0 a free one is used, and another one if a
        program takes it meanwhile.
        """
        configured = self.port, self.read_port
        for left in reversed(range(_PORTS_TRIED if 0 in configured else 1)):
            self.port, self.read_port = _real_ports(*configured)
            self._prepare()
            self._process = self._launch(runtime, classpath)
            try:
                self._await_ready(self._process)
                return
            except _PortTaken:
                self._clean_up()
                if not left:
                    raise self._port_taken() from None
            except BaseException:
                self._clean_up()
                raise

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            former = list(self.folder.glob(_FORMER_FILES))
            for file in former:
                file.unlink(missing_ok=True)
        except OSError as failure:
            raise self._not_writable(failure) from failure
        if former:
            _log.info("the checkpoints of an older Headwater are removed: %d files", len(former))

    def _prepare(self) -> None:
        try:
            self._ready_file.unlink(missing_ok=True)
            settings = server_settings(_HOST, self.port, None, _GUARDED)
            self._settings_file.write_text(settings, "utf-8")
            if self.read_port is not None:
                settings = server_settings(_HOST, self.read_port, None, _GUARDED)
                self._read_settings_file.write_text(settings, "utf-8")
        except OSError as failure:
            raise self._not_writable(failure) from failure

    def _not_writable(self, failure: OSError) -> ConfigurationError:
        return ConfigurationError(f"the engine cannot write to {self.folder}: {failure.strerror}")

    @property
    def _ready_file(self) -> Path:
        return self.folder / "engine.ready"

    @property
    def _settings_file(self) -> Path:
        return self.folder / "engine.yaml"

    @property
    def _read_settings_file(self) -> Path:
        return self.folder / "read.yaml"

    def _launch(self, runtime: str, classpath: Sequence[Path]) -> subprocess.Popen[bytes]:
        files = (self._settings_file, self._ready_file)
        read_settings = () if self.read_port is None else (str(self._read_settings_file),)
        command = java_command(
            runtime,
            classpath,
            heap_mb=self.heap_mb,
            arguments=(*map(str, files), str(os.getpid()), *read_settings),
        )
        with self.log_file.open("wb") as log:
            return subprocess.Popen(  # noqa: S603 (java as this machine names it)
                command,
                cwd=self.folder,
                stdin=subprocess.PIPE,  # never written to: its end tells the JVM that we ended
                stdout=log,
                stderr=log,
                # Ctrl-C in a terminal must reach this process alone: it ends the engine after the
                # last write.
                start_new_session=True,
            )

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._start_seconds
        while not self._ready_file.exists():
            code = process.poll()
            if code == _PORT_TAKEN:
                raise _PortTaken
            if code is not None:
                raise EngineError(
                    f"the embedded engine ended at start (code {code}):\n{self.log_end()}"
                )
            if time.monotonic() > deadline:
                raise EngineError(
                    f"the embedded engine was not ready after {self._start_seconds:g} s:\n"
                    f"{self.log_end()}"
                )
            time.sleep(_POLL_SECONDS)
        self._await_answer(deadline)

    def _port_taken(self) -> ConfigurationError:
        """The error that names which of the two ports another program has taken meanwhile."""
        if self.read_port is not None:
            try:
                check_port(self.read_port, READ_PORT_SETTING)
            except ConfigurationError as taken:
                return taken
        return port_taken(self.port)

    def _await_answer(self, deadline: float) -> None:
        graph = open_graph(self.url, limits=Limits(connections=1))
        try:
            while True:
                try:
                    graph.ping()
                except GraphUnavailable as failure:
                    if not self.alive() or time.monotonic() > deadline:
                        raise EngineError(
                            f"the embedded engine does not answer: {failure}\n{self.log_end()}"
                        ) from failure
                    time.sleep(_POLL_SECONDS)
                else:
                    return
        finally:
            graph.close()

    # --- stopping ---------------------------------------------------------------------------

    def _clean_up(self) -> None:
        """Close the pipe of the JVM, which ends it at once; else terminate; else kill."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            if process.stdin:
                process.stdin.close()
        for stronger in (process.terminate, process.kill):
            try:
                process.wait(_STOP_SECONDS)
                return
            except subprocess.TimeoutExpired:
                stronger()
        process.wait()


# --- arguments of the JVM -----------------------------------------------------------------------


def java_command(
    runtime: str, classpath: Sequence[Path], *, heap_mb: int, arguments: Sequence[str]
) -> list[str]:
    """The command line of the engine; ``arguments`` go to the script.

    ``classpath``: the folder of the script's classes, and the archives.
    """
    return [
        runtime,
        # The heap has its full size from the start (only the used part takes memory), and a fifth
        # of it is for new objects. A growing heap would be collected as a whole before each step,
        # and nearly all of it stays.
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        f"-Xmn{heap_mb // 5}m",
        "-XX:MetaspaceSize=192m",  # the size of the classes: growing to it collects the whole heap
        "-Xss2m",  # a chain of 1,600 merge steps is a deep recursion
        # Most of a first load's time was the work of the second compiler. With these two options it
        # compiles a method only after more calls, and inlines fewer large methods.
        "-XX:CompileThresholdScaling=3",
        "-XX:FreqInlineSize=150",
        "-XX:InlineSmallCode=1500",
        # A full heap must end the engine, not leave a half-dead server. With this collector
        # FullHeapGuard in the script notices it, mostly before the collector's own limit does.
        "-XX:+UseParallelGC",
        "-XX:GCTimeLimit=90",
        "-XX:GCHeapFreeLimit=5",
        "-XX:+ExitOnOutOfMemoryError",
        # The JVM looks up a cast in the script anew until it was made this often (default 10,000).
        "-Dgroovy.indy.optimize.threshold=100",
        "-XX:MaxTenuringThreshold=1",  # the graph stays: do not copy it among the new objects again
        "-Dfile.encoding=UTF-8",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
        # This logger says why a graph cannot be opened.
        "-Dorg.slf4j.simpleLogger.log.org.apache.tinkerpop.gremlin.server.util=warn",
        "-Dorg.slf4j.simpleLogger.showDateTime=true",
        "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss",
        "-cp",
        os.pathsep.join(map(str, classpath)),
        jars.SCRIPT.stem,
        *arguments,
    ]


def server_settings(
    host: str, port: int, properties: Path | None, channelizer: str = _CHANNELIZER
) -> str:
    """The server's YAML, written as JSON (a subset of YAML), so that nothing is quoted by hand.

    ``properties`` is None for a server that opens no graph: the script gives it one.
    """
    serializers = "org.apache.tinkerpop.gremlin.util.ser."
    registry = "org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerIoRegistryV3"
    return json.dumps(
        {
            "host": host,
            "port": port,
            "channelizer": channelizer,
            "evaluationTimeout": _EVALUATION_MS,
            "maxContentLength": EMBEDDED.request_bytes,
            "graphs": {} if properties is None else {"graph": str(properties)},
            "scriptEngines": {"gremlin-lang": {}},
            "serializers": [
                {"className": f"{serializers}GraphBinaryMessageSerializerV1"},
                {
                    "className": f"{serializers}GraphSONMessageSerializerV3",
                    "config": {"ioRegistries": [registry]},
                },
            ],
        },
        indent=2,
    )


# --- requirements of this machine ---------------------------------------------------------------


def check_port(port: int, setting: str = PORT_SETTING) -> None:
    """Raises ConfigurationError, naming the port and its setting, when the engine could not listen
    on it.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
            probe.listen(1)
        except OSError as failure:
            if failure.errno == errno.EADDRINUSE:
                raise port_taken(port, setting) from failure
            raise ConfigurationError(
                f"the embedded engine cannot listen on {_HOST}:{port}: {failure.strerror}"
            ) from failure
        except OverflowError as failure:
            raise ConfigurationError(f"{setting}={port} is no port (0 to 65535)") from failure


class _PortTaken(Exception):
    """Another program has taken a port since it was checked."""


def _real_ports(port: int, read_port: int | None) -> tuple[int, int | None]:
    """The same ports, with a different free one in place of each 0."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(2)]
        for probe in probes:
            probe.bind((_HOST, 0))
        free = [int(probe.getsockname()[1]) for probe in probes]
    return port or free[0], free[1] if read_port == 0 else read_port


def port_taken(port: int, setting: str = PORT_SETTING) -> ConfigurationError:
    return ConfigurationError(
        f"port {port} on {_HOST} is taken by another program: end it, or choose another port with "
        f"{setting}"
    )


def _url(port: int) -> str:
    return f"ws://{_HOST}:{port}/gremlin"
