"""One hash over all elements of a graph, in any order: equal content, equal hash.

Elements come from a scan in any order, so each is hashed alone and the hashes are added up
(modulo 2^256). Adding takes constant memory, and an element that comes twice shows.
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
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


class ElementSum:
    """The sum of the hashes of elements, added one by one."""

    def __init__(self) -> None:
        self._total = 0

    def add(self, element: Vertex | Edge) -> None:
        """Add one element."""
        self._total = (self._total + element_hash(element)) % _MODULUS

    def digest(self) -> str:
        """64 hex digits over all elements added so far."""
        return f"{self._total:064x}"


def elements_digest(elements: Iterable[Vertex | Edge]) -> str:
    """64 hex digits over all elements, in any order."""
    total = ElementSum()
    for element in elements:
        total.add(element)
    return total.digest()
