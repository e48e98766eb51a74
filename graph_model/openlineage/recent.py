"""The events that came last, as they were read: what takes them and what projects them read once.

Equal bodies have equal content hashes, and an event is a function of its body alone, so nothing
depends on what is remembered here. What was read again goes first, and of more than there is room
for those that came first stay: they are projected first.
"""

from __future__ import annotations

from typing import Final

from graph_model.openlineage.documents import Event, read_event
from graph_model.shelf import WaitingShelf

_MOST_BYTES: Final = 4 << 20
"""Of bodies; an event that was read takes about ten times its body."""
_LARGE: Final = 256 << 10


class RecentEvents:
    """By content hash, for any thread; bounded by the bytes of their bodies."""

    def __init__(self, most_bytes: int = _MOST_BYTES, large: int = _LARGE) -> None:
        self._large = large
        self._kept = WaitingShelf[str, tuple[Event, int]](most_bytes, lambda kept: kept[1])

    def keep(self, content_hash: str, event: Event, size: int) -> None:
        """Remember an event whose body has so many bytes, unless it is large."""
        if size <= self._large:
            self._kept.keep({content_hash: (event, size)})

    def read(self, content_hash: str, body: bytes) -> Event:
        """The event of a body with this content hash; raises InvalidDocument."""
        kept = self._kept.spend(content_hash)
        return read_event(body) if kept is None else kept[0]


RECENT: Final = RecentEvents()
"""One for the process: what takes events and what projects them are different threads of it."""
