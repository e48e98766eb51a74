"""Restarts a dead engine with growing pauses, and reports how full it is.

The first restart comes at once. An engine that dies again soon after that most likely dies for the
same reason (a graph larger than its heap), so each further restart waits longer. Meanwhile the
journal takes documents as usual, and ``failure`` tells the operator the remedy.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from graph_model.errors import EngineError, GraphUnavailable
from graph_model.stores.gremlin.engine.memory import (
    EXIT_CODES,
    HEAP_SETTING,
    MEBIBYTE,
    Kill,
    Overflows,
    memory_limit,
    note_kill,
)

URL_SETTING: Final = "HEADWATER_GREMLIN_URL"

BYTES_PER_ELEMENT: Final = 400
"""More heap than a vertex or an edge takes: bench/engine_memory.py measures 240 to 295, and texts
may be longer (docs/graph.md)."""
USABLE_HEAP: Final = 0.6
"""The share of the heap that the graph may fill: the JVM keeps a fifth for new objects, and large
answers need room too."""
NEARLY_FULL: Final = 0.8

OUT_OF_MEMORY: Final = 3
"""The exit code of a JVM with -XX:+ExitOnOutOfMemoryError."""
_LEARNED: Final = 0.8
"""The factor on the capacity after an overflow: elements may take more heap than the measured ones,
so a number that did not fit is not tried again."""
_HALF: Final = 0.5
"""A graph that filled less of the capacity at the last count did not outgrow the heap since: a
question filled it. While the graph is loaded, nothing is counted."""
_CALM_SECONDS: Final = 900.0  # after a longer life the next end counts as a first one
_FIRST_PAUSE_SECONDS: Final = 30.0
_LONGEST_PAUSE_SECONDS: Final = 1800.0
_WATCH_SECONDS: Final = 60.0
_TICK_SECONDS: Final = 1.0

Count = Callable[[], tuple[int, int]]

_log = logging.getLogger(__name__)


class Engine(Protocol):
    """The supervised engine (``server.EmbeddedServer``)."""

    @property
    def heap_mb(self) -> int: ...

    @property
    def exit_code(self) -> int | None: ...

    def start(self) -> None: ...

    def alive(self) -> bool: ...

    def log_end(self, lines: int = ...) -> str: ...


@dataclass(frozen=True, slots=True)
class Memory:
    """How full an engine is: it has ``elements``, and its heap holds about ``capacity``, which is a
    fifth less for each of the ``overflows`` that count.
    """

    elements: int
    heap_mb: int
    overflows: int = 0

    @property
    def capacity(self) -> int:
        return capacity(self.heap_mb, self.overflows)

    @property
    def element_bytes(self) -> int:
        """The approximate bytes of heap that a vertex or an edge takes."""
        return BYTES_PER_ELEMENT

    @property
    def share(self) -> float:
        return self.elements / self.capacity

    @property
    def is_nearly_full(self) -> bool:
        return self.share >= NEARLY_FULL

    def __str__(self) -> str:
        whole = f", {capacity(self.heap_mb):,} before it overflowed" if self.overflows else ""
        reason = (
            f"{self.elements:,} elements fill {self.share:.0%} of the engine's memory "
            f"({self.heap_mb:,} MB hold about {self.capacity:,}{whole})"
        )
        return f"{reason}: {remedy(self.heap_mb)}" if self.is_nearly_full else reason


def capacity(heap_mb: int, overflows: int = 0) -> int:
    """About how many vertices and edges together an engine with this heap holds; a fifth less for
    each overflow.
    """
    return int(heap_mb * MEBIBYTE * USABLE_HEAP / BYTES_PER_ELEMENT * _LEARNED**overflows)


def remedy(heap_mb: int) -> str:
    """The remedy for an engine that is too small."""
    return (
        f"give it more with {HEAP_SETTING} (now {heap_mb}), or move the graph to Amazon Neptune "
        f"with {URL_SETTING}"
    )


class Supervisor:
    """Watches one engine; safe to use from several threads. ``clock`` gives seconds, ``now`` epoch
    seconds, ``limit`` the bytes of memory that this process and the engine may use.

    ``folder`` keeps the notes about overflows and kills, over restarts and for the doctor.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        folder: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        limit: Callable[[], int] = memory_limit,
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._clock = clock
        self._now = now
        self._limit = limit
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._ends = 0
        self._overflows = Overflows(engine.heap_mb, folder, now)
        self._started_at = clock()
        self._next_start = 0.0
        self._cause: str | None = None
        self._memory: Memory | None = None
        self._whole: Callable[[], bool] = lambda: True
        self._counted_whole = False

    @property
    def capacity(self) -> int:
        """About how many elements the engine holds; a fifth less for each overflow that counts."""
        return capacity(self._engine.heap_mb, self._overflows.number)

    # --- ends and starts ----------------------------------------------------------------------

    def restart(self) -> bool:
        """Start an engine that ended, once its pause is over. True when it was started, empty.
        After ``stop`` none is started.
        """
        with self._lock:
            if self._stopping.is_set() or self._engine.alive():
                return False
            if self._cause is None:
                self._plan_next_start()
            if self._clock() < self._next_start:
                return False
            self._start()
            return True

    def _start(self) -> None:
        _log.warning("the embedded engine is started again: %s", self._cause)
        try:
            self._engine.start()
        except EngineError as failure:
            _log.error("the embedded engine does not start: %s", failure)
            self._plan_next_start("the engine does not start: see engine.log")
            raise
        self._started_at = self._clock()
        self._cause = None
        self._counted_whole = False

    def _plan_next_start(self, cause: str | None = None) -> None:
        """Note the reason of an end of the engine, and the pause before the next start."""
        now = self._clock()
        if now - self._started_at > _CALM_SECONDS:
            self._ends = 0
        self._ends += 1
        noted = self._note_end()
        self._cause = cause or noted
        pause = 0.0
        if self._ends > 1:
            doubled = _FIRST_PAUSE_SECONDS * 2.0 ** min(self._ends - 2, 16)
            pause = min(_LONGEST_PAUSE_SECONDS, doubled)
        self._started_at = now
        self._next_start = now + pause
        _log.error("the embedded engine ended: %s", self._cause)
        if lines := self._engine.log_end(3):
            _log.error("the end of the engine's log: %s", lines)
        if pause:
            _log.error(
                "the engine ended %d times in a row; it is started again in %d s",
                self._ends,
                pause,
            )

    def _note_end(self) -> str:
        """Note an overflow or a kill for later. Returns the reason of the engine's end.

        Headwater itself ends the engine only after ``stop``, which leaves no exit code.
        """
        code, heap = self._engine.exit_code, self._engine.heap_mb
        if code == OUT_OF_MEMORY and self._was_half_empty:
            return f"a question filled its {heap:,} MB, not the graph: ask for less at a time"
        if code == OUT_OF_MEMORY:
            self._overflows.add()
            return f"the graph no longer fits the engine's {heap:,} MB: {remedy(heap)}"
        if code in EXIT_CODES:
            kill = Kill(int(self._now()), heap, self._limit() // MEBIBYTE)
            note_kill(kill, self._folder)
            return str(kill)
        return f"the engine ended with code {code}: see engine.log"

    @property
    def _was_half_empty(self) -> bool:
        """Whether less than half of the capacity was used at the last count of a complete graph."""
        counted = self._memory
        if counted is None or not self._counted_whole:
            return False
        return self._filled_with(counted.elements).share < _HALF

    @property
    def failure(self) -> str | None:
        """Why there is no engine, and the remedy; None while it runs, and after ``stop``."""
        if self._stopping.is_set() or self._engine.alive():
            return None
        with self._lock:
            if self._cause is None and not self._engine.alive():
                self._plan_next_start()
            return self._cause

    # --- how full ---------------------------------------------------------------------------

    @property
    def memory(self) -> Memory | None:
        """How full the engine was at the last count. None where that is not the present graph:
        before the first count, without an engine, and while the engine is being filled.
        """
        stands = self._counted_whole and self._whole() and self._engine.alive()
        counted = self._memory
        return self._filled_with(counted.elements) if counted is not None and stands else None

    def observe(self, elements: int, *, whole: bool = True) -> None:
        """Note the number of elements in the graph; log it the first time that the engine is nearly
        full.
        """
        before, self._memory = self._memory, self._filled_with(elements)
        self._counted_whole = whole
        if self._memory.is_nearly_full and not (before and before.is_nearly_full):
            _log.warning("%s", self._memory)

    def _filled_with(self, elements: int) -> Memory:
        return Memory(elements, self._engine.heap_mb, self._overflows.number)

    def watch(self, count: Count, whole: Callable[[], bool] = lambda: True) -> None:
        """Count the graph's elements at intervals, on a thread of its own, until ``stop``.

        ``count`` returns the numbers of vertices and of edges, ``whole`` whether the graph is
        complete; it is counted again as soon as it is.
        """
        self._whole = whole

        def look() -> None:
            counted_at = self._count(count)
            while not self._stopping.wait(_TICK_SECONDS):
                filled = not self._counted_whole and whole()
                if filled or self._clock() - counted_at >= _WATCH_SECONDS:
                    counted_at = self._count(count)

        self._thread = threading.Thread(target=look, name="engine-watch", daemon=True)
        self._thread.start()

    def _count(self, count: Count) -> float:
        """Count once. Returns the time when the count ended."""
        whole = self._whole()
        try:
            self.observe(sum(count()), whole=whole)
        except GraphUnavailable as failure:
            _log.debug("the elements cannot be counted now: %s", failure)
        return self._clock()

    def stop(self) -> None:
        """End the thread that counts, and leave the engine as it is; safe to call twice."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(5.0)
