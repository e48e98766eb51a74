"""A check of each requirement of a start; each finding has its remedy."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from api.http.client import send
from api.routes.pages import missing_parts
from api.service.storage import MEASURES_KEY
from api.serving.machine import Finding, check_java, check_python
from api.serving.server import ENGINE_FOLDER, check_free, check_read_port
from api.serving.storage import DATABASE_FILE, claim, is_held, opened_storage
from api.settings import Settings
from graph_model.errors import ConfigurationError, HeadwaterError
from graph_model.projection.fullness import HELD_KEY
from graph_model.projection.run_window import RUNS_KEY, read_carried
from graph_model.retention.forecast import (
    Forecast,
    Measure,
    describe_full,
    growth,
    measured_since,
    read_measures,
)
from graph_model.stores.catalogue.catalogue import GENERATION_KEY, count_doubtful, examine_file
from graph_model.stores.database import DiskReserve, claim_database, shown
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.engine.memory import (
    HEAP_SETTING,
    MEBIBYTE,
    Overflows,
    memory_limit,
    read_kill,
)
from graph_model.stores.gremlin.engine.supervisor import Memory
from graph_model.stores.journal import Journal, read_meta
from graph_model.values import iso

_LEAST_FREE: Final = 1_000_000_000
_CLOCKS_SECONDS: Final = 7 * 86_400
_ANSWER_SECONDS: Final = 5


def examine(settings: Settings, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    """The findings, in the order in which a start would meet them. The ports and locks of a
    running service with these settings are no fault.
    """
    version = (sys.version_info.major, sys.version_info.minor)
    own = find_service(settings)
    now = time.time()
    return (
        *_service(own),
        check_python(version, spark=False),
        check_java(environment, spark=False),
        _port("port", settings.host, settings.port, "PORT", "--port", own=own),
        _port(
            "Gremlin port",
            "127.0.0.1",
            settings.gremlin_port,
            "GREMLIN_PORT",
            "--gremlin-port",
            own=None if settings.gremlin_url else own,
        ),
        *_read_port(settings, own),
        _data(settings.data, own),
        *_database(settings),
        *_stores(settings),
        *_clocks(settings, now),
        *_storage(settings),
        _disk(settings),
        *_memory(settings, own),
        *_killed(settings, now),
        _jars(environment),
        _page(settings.frontend),
        _pyspark(),
    )


def _service(own: OwnService | None) -> tuple[Finding, ...]:
    """A finding about this data folder's service; none where no service runs."""
    if own is None:
        return ()
    text = f"this Headwater runs at {own.address} and is {own.state}"
    return (Finding("service", own.state != "unavailable", text),)


def _port(
    name: str, host: str, port: int, setting: str, option: str, *, own: OwnService | None
) -> Finding:
    try:
        check_free(host, port, setting, option)
    except ConfigurationError as error:
        if own is not None:
            return Finding(name, True, f"{port} on {host} is held by this Headwater")
        return Finding(name, False, f"{error} (a running Headwater holds it, too)")
    return Finding(name, True, f"{port} on {host} is free")


def _read_port(settings: Settings, own: OwnService | None) -> tuple[Finding, ...]:
    """A finding about the port for reads; none where the settings have no such port."""
    port = settings.gremlin_read_port
    if port is None:
        return ()
    try:
        check_read_port(settings)
    except ConfigurationError as error:
        if own is not None:
            text = f"{port} on 127.0.0.1 is held by this Headwater"
            return (Finding("read port", True, text),)
        return (Finding("read port", False, str(error)),)
    return (Finding("read port", True, f"{port} on 127.0.0.1 is free"),)


def _data(folder: Path, own: OwnService | None) -> Finding:
    """Holding the folder for a moment shows that it is writable, and not in use."""
    if own is not None:
        return Finding("data folder", True, f"{folder.resolve()} is held by this Headwater")
    there = folder.is_dir()
    if not there:
        parent = _nearest(folder)
        writable = os.access(parent, os.W_OK | os.X_OK)
        text = f"{folder} will be created" if writable else f"{parent} cannot be written: set DATA="
        return Finding("data folder", writable, text)
    try:
        with claim(folder):
            return Finding("data folder", True, f"{folder.resolve()} can be written")
    except ConfigurationError as error:
        return Finding("data folder", False, str(error))


def _database(settings: Settings) -> tuple[Finding, ...]:
    """A finding about the configured database; none for SQLite, which needs no server."""
    if not settings.database:
        return ()
    try:
        with opened_storage(settings) as database, claim_database(database, shared=True):
            return (Finding("database", True, f"{shown(database.url)} answers"),)
    except HeadwaterError as error:
        return (Finding("database", False, str(error)),)


def _stores(settings: Settings) -> tuple[Finding, ...]:
    """Whether journal and catalogue can be read and belong together: of SQLite's files, while no
    service holds them.
    """
    if settings.database or not (settings.data / DATABASE_FILE).is_file():
        return ()
    try:
        with claim(settings.data):
            return tuple(_look_at_files(settings))
    except HeadwaterError:
        return ()  # the data folder reports it


def _look_at_files(settings: Settings) -> Iterator[Finding]:
    try:
        with opened_storage(settings) as database:
            journal = Journal(database)
            yield Finding("journal", True, f"{journal.summary().received:,} documents")
            yield _runs_in_graph(settings, journal.get_meta(RUNS_KEY))
            mismatch = examine_file(database, journal)
    except HeadwaterError as error:
        yield Finding("journal", False, str(error))
        return
    anew = (
        "the next start rebuilds it from the journal (another journal's: headwater serve"
        " --new-journal)"
    )
    text = "belongs to the journal" if mismatch is None else f"{mismatch}: {anew}"
    yield Finding("catalogue", mismatch is None, text)


def _runs_in_graph(settings: Settings, noted: str | None) -> Finding:
    """The setting, and the graph's own where that is still another one."""
    wanted, carried = settings.graph_runs, read_carried(noted)
    text = str(wanted)
    if carried.asked != wanted:
        text = f"{carried.asked}; the next start makes it {wanted}"
    elif carried.left:
        text = f"none: the graph is nearly full; with more room they are {wanted}"
    return Finding("runs in the graph", True, text)


def _clocks(settings: Settings, now: float) -> tuple[Finding, ...]:
    """Whether runs of the last week claim times to come, also while a service runs; none where
    journal or catalogue cannot be read, which another finding reports.
    """
    since = int((now - _CLOCKS_SECONDS) * 1000)
    try:
        with opened_storage(settings) as database:
            number = int(read_meta(database, GENERATION_KEY) or 0)
            doubtful = count_doubtful(database, number, since)
    except HeadwaterError:
        return ()
    hours = settings.clock_tolerance // 3_600_000
    if not doubtful:
        text = f"no run of the last 7 days claims a time more than {hours} h after its receipt"
        return (Finding("clocks", True, text),)
    text = (
        f"of the runs of the last 7 days {doubtful:,} claim a time more than {hours} h after their "
        "receipt, from which they count: correct the clocks of their clients (docs/operate.md, "
        '"Wrong clocks"; GET /graph/runs?doubtful=true lists them)'
    )
    return (Finding("clocks", False, text),)


def _storage(settings: Settings) -> tuple[Finding, ...]:
    """The service's last measurement, also while one runs; none where the journal cannot be read,
    which another finding reports.
    """
    try:
        with opened_storage(settings) as database:
            kept = read_measures(read_meta(database, MEASURES_KEY))
            holds = bool(read_meta(database, HELD_KEY))
    except HeadwaterError:
        return ()
    return (_forecast(settings, kept, holds=holds),)


def _forecast(settings: Settings, kept: Sequence[Measure], *, holds: bool) -> Finding:
    """The date when disk and heap are full at the measured rate; the disk only of a data folder."""
    if not kept:
        return Finding("storage", True, "not measured yet: a service does it once an hour")
    free = None if settings.database else _free_bytes(settings)
    own_graph = not settings.gremlin_url
    capacity = _engine(settings, 0).capacity if own_graph else None
    since = measured_since(kept, kept[-1])
    reserved = 0 if settings.database else settings.disk_reserve_bytes
    rates = growth(kept, kept[-1])
    refusal = None if free is None else _refusal(settings, free)
    forecast = Forecast(
        kept[-1], rates, free, capacity, since, holds and own_graph, reserved, refusal
    )
    text = f"{forecast.measured.disk_bytes / 1e6:,.1f} MB in use"
    for name, days in (("disk", forecast.disk_days), ("engine's heap", forecast.heap_days)):
        text += "" if days is None else f", {describe_full(name, days)}"
    if forecast.too_early:
        text += f"; {forecast.too_early}"
    return Finding("storage", forecast.warning is None, forecast.warning or text)


def _disk(settings: Settings) -> Finding:
    free = _free_bytes(settings)
    text = f"{free / 1e9:.1f} GB free"
    if not settings.database and (refusal := _refusal(settings, free)):
        return Finding("disk", False, refusal)
    if free < _LEAST_FREE:
        return Finding("disk", False, f"{text}, less than 1 GB: make room, or set DATA= elsewhere")
    return Finding("disk", True, text)


def _free_bytes(settings: Settings) -> int:
    return shutil.disk_usage(_nearest(settings.data)).free


def _refusal(settings: Settings, free: int) -> str | None:
    """Why a service with this much free would refuse documents, those that wait not counted."""
    refusal = DiskReserve(settings.disk_reserve_bytes, lambda: free).refusal
    return None if refusal is None else str(refusal)


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    resolved = folder.resolve()
    return next(place for place in (resolved, *resolved.parents) if place.exists())


def _memory(settings: Settings, own: OwnService | None) -> tuple[Finding, ...]:
    """Whether the graph fits the engine, and the engine this machine: the graph as it was
    measured last, while a service runs that in its engine.
    """
    if settings.gremlin_url:
        return ()
    memory = _engine(settings, _elements_measured(settings))
    machine = memory_limit() // MEBIBYTE
    if machine < settings.gremlin_heap_mb:
        text = (
            f"this machine, or container, has {machine:,} MB: "
            f"{HEAP_SETTING}={settings.gremlin_heap_mb} is more"
        )
        return (Finding("memory", False, text),)
    if own is not None:
        text = own.memory or "the service has not counted its elements yet"
        return (Finding("memory", HEAP_SETTING not in text, text),)  # it names the remedy
    return (Finding("memory", not memory.is_nearly_full, str(memory)),)


def _engine(settings: Settings, elements: int) -> Memory:
    """The engine with so many elements, and with the overflows that its folder notes."""
    overflows = Overflows(settings.gremlin_heap_mb, settings.data / ENGINE_FOLDER)
    return Memory(elements, settings.gremlin_heap_mb, overflows.number)


def _killed(settings: Settings, now: float) -> tuple[Finding, ...]:
    """A finding if the engine was killed in the last week and has the same memory now."""
    kill = None if settings.gremlin_url else read_kill(settings.data / ENGINE_FOLDER)
    if kill is None or kill.is_settled(now, settings.gremlin_heap_mb, memory_limit() // MEBIBYTE):
        return ()
    return (Finding("engine", False, f"{iso(kill.at * 1000)}: {kill}"),)


def _elements_measured(settings: Settings) -> int:
    """Vertices and edges when they were measured last, at most an hour before the service ended; 0
    where they never were, or there is no journal.
    """
    try:
        with opened_storage(settings) as database:
            measures = read_measures(read_meta(database, MEASURES_KEY))
    except HeadwaterError:
        return 0
    return measures[-1].elements or 0 if measures else 0


def _jars(environment: Mapping[str, str]) -> Finding:
    wanted = jars.locked()
    folder = jars.cache_folder(environment) / "jars"
    missing = [jar for jar in wanted if not (folder / jar.sha256 / jar.filename).is_file()]
    if missing:
        size = sum(jar.size for jar in missing) / 1e6
        text = (
            f"{len(missing)} of {len(wanted)} archives ({size:.0f} MB) are not in {folder}: "
            "the first start downloads them (python -m graph_model.stores.gremlin.engine.jars)"
        )
        return Finding("Gremlin", False, text)
    return Finding("Gremlin", True, f"{len(wanted)} archives in {folder}")


def _page(frontend: Path) -> Finding:
    if missing := missing_parts(frontend):
        text = f"{', '.join(missing)} missing in {frontend}: run python -m api.serving.page"
        return Finding("page", False, text)
    return Finding("page", True, str(frontend))


def _pyspark() -> Finding:
    """Only the demo needs it: its absence is no fault."""
    try:
        return Finding("PySpark", True, importlib.metadata.version("pyspark"))
    except importlib.metadata.PackageNotFoundError:
        return Finding("PySpark", True, "not installed; only the demo needs it (make demo)")


@dataclass(frozen=True, slots=True)
class OwnService:
    """``state`` is that of ``/health/ready``; ``memory`` tells how full its engine is, "" where it
    has none of its own or has not counted yet.
    """

    address: str
    state: str
    memory: str


def find_service(settings: Settings) -> OwnService | None:
    """The service that holds the data folder and answers at the address of the settings.

    Another Headwater may answer there, and this folder's may listen elsewhere: only both together
    show that it is this one.
    """
    if not is_held(settings.data):
        return None
    try:
        answer = send(
            "GET", settings.address, "/health/ready", None, "application/json", None,
            seconds=_ANSWER_SECONDS,
        )  # fmt: skip
        body = json.loads(answer.body)
        return OwnService(settings.address, body["status"], body["checks"].get("memory", ""))
    except (HeadwaterError, ValueError, KeyError, TypeError, AttributeError):
        return None
