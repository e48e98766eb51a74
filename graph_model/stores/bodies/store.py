"""The promises of a store of large bodies.

A body is named by the content hash of its document, and two bodies of one name are the same: so a
body is written once, by any number of writers, and never changed. The journal alone decides when
one is removed (``stores.journal.large_bodies``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol


class BodyStore(Protocol):
    """Every method is safe from several threads, and raises JournalUnavailable."""

    @property
    def place(self) -> str:
        """Where the bodies lie, as the setting names it: ``s3://bucket/prefix``."""

    def put(self, name: str, packed: bytes) -> None:
        """Durable on return. A body that is there already stays as it is."""

    def get(self, name: str) -> bytes | None:
        """The body as it was put; None if there is none."""

    def remove(self, names: Collection[str]) -> None:
        """Remove these; one that is not there is none to remove."""

    def names(self, least_age_seconds: float) -> Iterator[str]:
        """The names of all bodies that were put before so many seconds, in order."""


@dataclass(frozen=True, slots=True)
class LargeBodies:
    """Bodies of more than ``above`` bytes, as the journal packs them, lie in ``store``.

    ``removing`` is held by the thread that removes some.
    """

    store: BodyStore
    above: int
    removing: Lock = field(default_factory=Lock, compare=False, repr=False)
