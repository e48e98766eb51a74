"""One hash over all elements of a graph or all rows of a catalogue, in any order: equal content,
equal hash.

A store reads them in its own order, so each is hashed alone and the hashes are added up
(modulo 2^256). Adding takes constant memory, and one that comes twice shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Final

from graph_model.facts import Edge, Vertex

_MODULUS: Final = 1 << 256


def element_hash(element: Vertex | Edge) -> int:
    """SHA-256 over kind, id, label, ends and all properties of one element."""
    ends = (element.out_id, element.in_id) if isinstance(element, Edge) else ()
    text = json.dumps(
        [element.id, element.label, *ends, element.properties],
        ensure_ascii=True,
        separators=(",", ":"),
    )
    return _hash_of(text.encode())


def _hash_of(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest(), "big")


class HashSum:
    """The sum of the hashes of contents, added one by one."""

    def __init__(self) -> None:
        self._total = 0

    def add_content(self, content: bytes) -> None:
        """Add the hash of one content."""
        self._add(_hash_of(content))

    def _add(self, digest: int) -> None:
        self._total = (self._total + digest) % _MODULUS

    def digest(self) -> str:
        """64 hex digits over all that was added so far."""
        return f"{self._total:064x}"


class ElementSum(HashSum):
    """The sum of the hashes of elements."""

    def add(self, element: Vertex | Edge) -> None:
        """Add one element."""
        self._add(element_hash(element))


def elements_digest(elements: Iterable[Vertex | Edge]) -> str:
    """64 hex digits over all elements, in any order."""
    total = ElementSum()
    for element in elements:
        total.add(element)
    return total.digest()
