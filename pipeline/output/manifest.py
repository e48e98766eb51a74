"""``manifest.json``: the contents of a rebuild's result, in one file beside it.

It is written last: a destination without one is not complete. ``elements_digest`` is the service's
hash over its graph (``graph_model.stores.digests``), so the two compare without loading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from graph_model.errors import InvalidInput

FILE: Final = "manifest.json"
FORMAT: Final = 1
_SAYS: Final = "pipeline"


@dataclass(frozen=True, slots=True)
class JournalCounts:
    """The documents read. ``last_position`` is the greatest; ``states`` counts them by state;
    ``refused_lines`` were unreadable.
    """

    documents: int
    plan_ids: int
    commands: int
    last_position: int
    states: Mapping[str, int]
    refused_lines: int


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of one label, or of one kind of row. ``columns``: property -> type."""

    count: int
    files: int
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """``epoch`` is that of a service that would have projected the same. ``conflicts`` are ids
    that came with different content, the first ones of ``conflict_count``. ``graph_runs``: which
    runs are among vertices and edges, as the journal notes it.
    """

    created_at: int
    epoch: str
    translator: str  # the versions of all formats
    catalogue_version: int
    journal: JournalCounts
    vertices: Mapping[str, FileGroup]
    edges: Mapping[str, FileGroup]
    rows: Mapping[str, FileGroup]
    elements_digest: str
    conflict_count: int
    conflicts: tuple[str, ...]
    problems: tuple[str, ...]
    graph_runs: str = "all"  # of an older version

    @property
    def complete(self) -> bool:
        """Whether everything that was read is in it, once."""
        return not (self.problems or self.conflict_count or self.journal.refused_lines)

    @property
    def elements(self) -> tuple[int, int]:
        """The number of vertices and of edges."""
        return _total(self.vertices), _total(self.edges)

    @property
    def row_count(self) -> int:
        return _total(self.rows)


def _total(groups: Mapping[str, FileGroup]) -> int:
    return sum(group.count for group in groups.values())


def write_manifest(manifest: Manifest) -> str:
    """The text of the file."""
    body = {"headwater": _SAYS, "format": FORMAT, "complete": manifest.complete, **asdict(manifest)}
    return json.dumps(body, indent=2, sort_keys=True) + "\n"


def read_manifest(text: str) -> Manifest:
    """The manifest of this text. Raises InvalidInput for anything else."""
    try:
        return _read(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{FILE} cannot be read: {error!r}") from error


def _read(body: Any) -> Manifest:
    if body.pop("headwater") != _SAYS or body.pop("format") != FORMAT:
        raise ValueError(f"expected format {FORMAT} of a rebuild")
    body.pop("complete")
    for part in ("vertices", "edges", "rows"):
        body[part] = {name: FileGroup(**group) for name, group in body[part].items()}
    for listed in ("conflicts", "problems"):
        body[listed] = tuple(body[listed])
    body["journal"] = JournalCounts(**body["journal"])
    return Manifest(**body)
