"""Checkpoints of the embedded engine: its in-memory graph, saved to a file and loaded at a start.

A checkpoint is a file that the engine writes itself (``io().write()``), together with a mark in the
journal's database: the name of the file, the counts of its elements, and the position of the first
document that is not in it. The mark is one durable row and is written last:

    engine writes checkpoint-x.new.kryo -> fsync -> rename to checkpoint-x.kryo -> fsync of the
    folder -> mark in the journal -> older files are removed

So a crash at any point leaves the former checkpoint in force, and a database restored from a backup
never meets a file of another history. Elements that leave the graph afterwards are noted beside the
file (``removals``). A change in the meaning of earlier documents sets the mark aside first
(``voided``). A file that is missing, cut short, changed or different from the mark's counts is
refused with its reason; the caller then rebuilds everything.

The caller must keep writers away while a checkpoint is taken or restored. The projector, which is
the only writer, calls both on its own thread.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from graph_model import identity
from graph_model.errors import GraphRejected, GraphTimeout, HeadwaterError
from graph_model.stores.durability import make_durable
from graph_model.stores.gremlin.engine.removals import (
    REMOVALS_KEY,
    append_removals,
    read_note,
    read_removals,
    removals_of,
)
from graph_model.stores.journal import Journal

MARK_KEY: Final = "engine_checkpoint"
_PREFIX: Final = "checkpoint-"
_SUFFIX: Final = ".kryo"
_DRAFT: Final = ".new"
_FORMAT: Final = 2
"""1: without removals, which an older Headwater would not see: it refuses a mark of this format."""
_FORMATS_READ: Final = (1, 2)
_BYTES_AN_ELEMENT: Final = 300
"""More than an element takes in a file: 220 bytes were measured."""
_OVERFULL: Final = 1.1
"""A graph of up to this multiple of the capacity is loaded: it may have been saved above it."""

LONGEST_WITHOUT_SECONDS: Final = 900.0
"""The longest time that the engine is without a checkpoint after one was set aside and no calm
moment came. A save pauses the projector for up to a minute, so at most a fifteenth of its time goes
into saves."""

_log = logging.getLogger(__name__)


class SavedGraph(Protocol):
    """The parts of a graph that a checkpoint uses (``gremlin.graph.GremlinGraph``)."""

    def count(self) -> tuple[int, int]: ...

    def clear(self) -> None: ...

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None: ...

    def save(self, path: Path) -> None: ...

    def load(self, path: Path) -> None: ...


@dataclass(frozen=True, slots=True)
class Mark:
    """The content of a checkpoint: every document before ``position``, projected under ``epoch``,
    and some of the later ones, which were projected while an older one waited.

    ``file`` is its name in the engine's folder, ``size`` in bytes, ``digest`` SHA-256 in hex.
    """

    file: str
    epoch: str
    position: int
    vertices: int
    edges: int
    size: int
    digest: str


def read_mark(text: str | None) -> Mark | None:
    """The mark in this text; None without a text, and for a mark of another version of this
    module.
    """
    try:
        values = json.loads(text or "null")
        if not isinstance(values, dict) or values.pop("format", None) not in _FORMATS_READ:
            return None
        values.pop("last", None)  # of format 1: the newest document in the file
        mark = Mark(**values)
    except (ValueError, TypeError):
        return None
    return mark if _is_ours(mark.file) else None


def write_mark(mark: Mark) -> str:
    return json.dumps({"format": _FORMAT, **asdict(mark)}, sort_keys=True)


def saved_bytes(folder: Path) -> int:
    """The size of the largest finished checkpoint in the engine's folder, counting also one that a
    command has set aside; 0 where there is none.
    """
    files = folder.glob(f"{_PREFIX}*{_SUFFIX}")
    return max((_size(file) for file in files if not file.stem.endswith(_DRAFT)), default=0)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0  # a newer one has replaced it


class BadCheckpoint(Exception):
    """The reason why a checkpoint cannot be used. Never leaves this module."""


class EngineCheckpoints:
    """Takes and restores checkpoints of one embedded engine; see the module.

    A checkpoint is due when the number of elements written or removed since the last save is half
    the size that the graph had then, and at least ``every`` (0: never, not even at the end). So,
    whatever the size of the graph, at most two elements are saved for each that changed, three
    while it grows. A checkpoint is overdue after twice as many elements. After one was set aside,
    the next is due but not overdue, because more changes follow: it is saved in a calm moment after
    the last of them, or after LONGEST_WITHOUT_SECONDS. A document
    counts as one element beside those that it wrote, because a start without a newer checkpoint
    projects it again; where documents have come and nothing was written, the file stays and only
    its position moves. ``folder`` is the engine's own. ``capacity`` is the number of elements that
    the engine holds, ``free`` measures the free bytes of its disk (None: not measured); each call
    of ``token`` gives another name for a file. ``clock`` gives seconds.
    """

    def __init__(
        self,
        folder: Path,
        graph: SavedGraph,
        marks: Journal,
        *,
        every: int = 100_000,
        capacity: Callable[[], int | None] = lambda: None,
        free: Callable[[], int] | None = None,
        token: Callable[[], str] = lambda: uuid.uuid4().hex[:12],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder.resolve()
        self._graph = graph
        self._marks = marks
        self._every = every
        self._capacity = capacity
        self._free = free
        self._token = token
        self._clock = clock
        self._lock = threading.RLock()  # over the mark and its generation
        self._generation = 0
        self._written = 0
        self._saved: Mark | None = None  # the graph's mark, as long as nothing is written
        self._size = 0
        self._without_since: float | None = None  # when one was set aside, or a save failed
        self._unfinished: str | None = None  # the mark whose file the engine failed to load

    # --- when -------------------------------------------------------------------------------

    def wrote(self, elements: int) -> None:
        """Note this number of elements that will be written, or were removed."""
        self._written += elements
        if elements:
            self._saved = None

    def projected(self, documents: int) -> None:
        self._written += documents

    def note_removals(self, ids: Collection[str]) -> Mapping[str, str]:
        """Note, beside the checkpoint, elements that left the graph. Returns the setting that the
        journal must keep in the transaction that ends the round.
        """
        mark = read_mark(self._marks.get_meta(MARK_KEY)) if ids else None
        if mark is None:
            return {}
        self._saved = None
        file = removals_of(self._folder / mark.file)
        try:
            counted = read_note(self._marks.get_meta(REMOVALS_KEY), file)
            return {REMOVALS_KEY: append_removals(file, counted, ids)}
        except (OSError, ValueError) as failure:
            _log.warning("the checkpoint is set aside: %s cannot be written: %s", file, failure)
            with self.voided():
                return {}

    @property
    def due(self) -> bool:
        """Whether enough has changed since the last checkpoint."""
        return self._every > 0 and self._written >= self._enough

    @property
    def overdue(self) -> bool:
        """Whether twice as much has changed, or there has been none for too long."""
        if self._every == 0:
            return False
        since = self._without_since
        is_late = since is not None and self._clock() - since >= LONGEST_WITHOUT_SECONDS
        return is_late or self._written >= 2 * self._enough

    @property
    def _enough(self) -> int:
        return max(self._every, self._size // 2)

    @property
    def worth_taking(self) -> bool:
        """Whether anything has changed since the last checkpoint; the ending service asks."""
        return self._every > 0 and self._written > 0

    # --- taking -----------------------------------------------------------------------------

    def take(self, epoch: str, position: Callable[[], int]) -> bool:
        """Save the graph as it is now; True when the new checkpoint is in force.

        ``position`` returns the journal position of the first document that may be missing in the
        graph; it is called before anything is saved.

        A failure is logged and leaves the former checkpoint in force. The next attempt comes after
        the same number of further changes, or the same time.
        """
        written, self._written = self._written, 0
        begun = time.monotonic()
        if self._without_since is not None:
            self._without_since = self._clock()
        try:
            with self._lock:
                generation, first = self._generation, position()
            mark = self._move_on(epoch, first) or self._save(epoch, first)
            if not self._publish(mark, generation):
                _log.info("a checkpoint is dropped: the journal was reopened meanwhile")
                self._written = written
                return False
        except (HeadwaterError, OSError) as failure:
            _log.warning("no checkpoint could be taken, the former one stays: %s", failure)
            return False
        finally:
            self._sweep()
        self._saved, self._size = mark, mark.vertices + mark.edges
        _log.info(
            "checkpoint: %d vertices, %d edges, %.1f MB in %.1f s; documents from %d on follow it",
            *(mark.vertices, mark.edges, mark.size / 1e6, time.monotonic() - begun, mark.position),
        )
        return True

    def _move_on(self, epoch: str, position: int) -> Mark | None:
        """The mark of the same file at another position; None where the graph is another one."""
        saved = self._saved
        if saved is None or saved.epoch != epoch:
            return None
        if self._graph.count() != (saved.vertices, saved.edges):
            return None
        return replace(saved, position=position)

    def _save(self, epoch: str, position: int) -> Mark:
        name = f"{_PREFIX}{self._token()}{_SUFFIX}"
        draft = self._folder / name.replace(_SUFFIX, f"{_DRAFT}{_SUFFIX}")
        vertices, edges = self._graph.count()
        self._sweep()  # a file that was set aside takes room, and nothing can use it
        self._ensure_room(vertices + edges)
        self._graph.save(draft)
        size, digest = _examine(draft)
        make_durable(draft)
        draft.rename(self._folder / name)
        make_durable(self._folder)
        return Mark(name, epoch, position, vertices, edges, size, digest)

    def _ensure_room(self, elements: int) -> None:
        """Raises OSError where the file may not fit. The engine would fill the disk before it
        notices, and until its file is removed nobody else could write.
        """
        needed = _BYTES_AN_ELEMENT * elements
        if self._free is not None and (free := self._free()) < needed:
            raise OSError(
                f"it may take {needed / 1e6:,.1f} MB, and the disk has {free / 1e6:,.1f} MB free"
            )

    def _publish(self, mark: Mark, generation: int) -> bool:
        with self._lock:
            if generation != self._generation:
                return False
            self._marks.set_meta(MARK_KEY, write_mark(mark))
            self._without_since = None
            return True

    def _sweep(self) -> None:
        """Remove files that no mark names; a file that stays costs room on the disk, no more."""
        with suppress(HeadwaterError, OSError):
            mark = read_mark(self._marks.get_meta(MARK_KEY))
            kept = {mark.file, removals_of(Path(mark.file)).name} if mark else set[str]()
            for file in self._folder.glob(f"{_PREFIX}*"):
                if file.name not in kept:
                    file.unlink(missing_ok=True)

    def find_foreign(self) -> str | None:
        mark = read_mark(self._marks.get_meta(MARK_KEY))
        files = (file.name for file in self._folder.glob(f"{_PREFIX}*{_SUFFIX}"))
        found = sorted(name for name in files if mark is None or name != mark.file)
        return f"the engine's checkpoint {found[0]}" if found else None

    def remove_foreign(self) -> None:
        self._sweep()

    # --- taking back ------------------------------------------------------------------------

    @contextmanager
    def voided(self) -> Iterator[None]:
        """Set the checkpoint aside, and drop any checkpoint that is begun before this block ends.

            with checkpoints.voided():
                journal.reopen(states=[FAILED])

        For changes in the meaning of documents before the mark: replay, rebuild, other runs.
        Raises JournalUnavailable when the mark cannot be removed: the command must then change
        nothing.
        """
        with self._lock:
            self._generation += 1
            self._saved = None
            if self._marks.get_meta(MARK_KEY):
                self._marks.set_meta(MARK_KEY, "")
                self._written = max(self._written, self._enough)  # the next is due
                self._without_since = self._clock()
            yield

    # --- restoring --------------------------------------------------------------------------

    def restore(self, epoch: str) -> int | None:
        """Fill the graph from the checkpoint. Returns the position of the first document that is
        not in it.

        Returns None, with an empty graph, when there is no checkpoint that can be used; the log has
        the reason. Raises GraphUnavailable when the engine dies meanwhile; the next attempt then
        does not use the checkpoint.
        """
        mark = self._marks.get_meta(MARK_KEY)
        self._saved = None
        if not mark or self._every == 0:
            return None
        begun = time.monotonic()
        try:
            found = self._load(mark, epoch)
        except BadCheckpoint as failure:
            _log.warning("the checkpoint cannot be used, everything is rebuilt: %s", failure)
            with self.voided():
                self._graph.clear()
            self._sweep()
            return None
        self._saved, self._size, self._written = found, found.vertices + found.edges, 0
        _log.info(
            "the graph is back from its checkpoint: %d vertices, %d edges in %.1f s",
            *(found.vertices, found.edges, time.monotonic() - begun),
        )
        return found.position

    def _load(self, text: str, epoch: str) -> Mark:
        mark = read_mark(text)
        if mark is None:
            raise BadCheckpoint("its mark in the journal cannot be read")
        if mark.epoch != epoch:
            raise BadCheckpoint("it was taken with another translator or other rules")
        held = self._capacity()
        if held is not None and mark.vertices + mark.edges > _OVERFULL * held:
            raise BadCheckpoint(
                f"it has {mark.vertices + mark.edges:,} vertices and edges, and the engine holds"
                f" about {held:,}"
            )
        file = self._folder / mark.file
        try:
            size, digest = _examine(file)
        except OSError as failure:
            raise BadCheckpoint(f"{file}: {failure.strerror}") from failure
        if self._unfinished == text:
            raise BadCheckpoint(f"the engine did not get through {file} the last time")
        if size != mark.size:
            raise BadCheckpoint(f"{file} has {size:,} bytes instead of {mark.size:,}")
        if digest != mark.digest:
            raise BadCheckpoint(f"{file} has changed since it was written")
        removed = self._read_removals(file)
        self._unfinished = text
        self._fill(file, mark)
        self._unfinished = None
        self._remove(removed)
        return mark

    def _remove(self, ids: Collection[str]) -> None:
        if ids:
            edges = {one for one in ids if identity.kind_of(one) == identity.EDGE}
            self._graph.remove(set(ids) - edges, edges)

    def _read_removals(self, file: Path) -> list[str]:
        removals = removals_of(file)
        try:
            counted = read_note(self._marks.get_meta(REMOVALS_KEY), removals)
            return read_removals(removals, counted)
        except (OSError, ValueError) as failure:
            raise BadCheckpoint(f"{removals}: {failure}") from failure

    def _fill(self, file: Path, mark: Mark) -> None:
        if self._graph.count() != (0, 0):
            self._graph.clear()
        try:
            self._graph.load(file)
        except (GraphRejected, GraphTimeout) as failure:
            raise BadCheckpoint(f"the engine cannot read {file}: {failure}") from failure
        counted = self._graph.count()
        if counted != (mark.vertices, mark.edges):
            raise BadCheckpoint(
                f"{file} gave {counted[0]:,} vertices and {counted[1]:,} edges instead of "
                f"{mark.vertices:,} and {mark.edges:,}"
            )


def _is_ours(name: object) -> bool:
    """Whether ``take`` gives such a name, so that a mark never leads out of the folder."""
    return (
        isinstance(name, str)
        and name.startswith(_PREFIX)
        and name.endswith(_SUFFIX)
        and Path(name).name == name
    )


def _examine(file: Path) -> tuple[int, str]:
    """The size and SHA-256 of a file, read in pieces."""
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
        return stream.tell(), digest.hexdigest()
