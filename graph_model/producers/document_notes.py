"""The journal's notes beside a projected document.

Keys that its text gave twice with different values, which are a field of the document:

    {"a": 1, "a": 2}  =>  {"a": 2, "_repeatedKeys": ["a"]}

The field is part of the document, so that a backup, an export and a rebuild keep the note. Other
notes name the parts that are too large for the graph (``producers.size_bounds``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from graph_model.stores.documents import DocumentState, StoredDocument

REPEATED_KEYS: Final = "_repeatedKeys"
"""The field of a document that lists the paths of such keys."""
REPEATED_KEY: Final = "repeated-key"
"""The code of the gap that a plan's page shows for each of them."""
_REPEATED_KEYS: Final = "keys given twice with different values, of which the last counts: "
_NOT_ALL: Final = "not all of it: "
_MARK: Final = f'"{REPEATED_KEYS}"'.encode()
_MOST_REASON: Final = 500
_MOST: Final = 50
_LONGEST: Final = 200


def repeated_keys(document: Any) -> tuple[str, ...]:
    """The paths that the field lists; () without it. A client may send it, too: it is bounded."""
    listed = document.get(REPEATED_KEYS) if isinstance(document, Mapping) else None
    texts = listed[:_MOST] if isinstance(listed, list) else []
    return tuple(text[:_LONGEST] for text in texts if isinstance(text, str))


def gaps_of(document: StoredDocument) -> list[dict[str, str]]:
    """A gap for each path, as the gaps of a plan are listed."""
    return [{"code": REPEATED_KEY, "detail": path} for path in _paths(document)]


def projected(
    document: StoredDocument, left_out: Iterable[tuple[str, str]] = ()
) -> tuple[DocumentState, str | None]:
    """The state of a document that is in the graph, and the notes as its reason.

    ``left_out`` are gaps (code, detail) of parts that are not in the graph. A known plan comes
    without its body and keeps its notes.
    """
    if not document.body:
        kept = (document.reason or "").startswith((_REPEATED_KEYS, _NOT_ALL))
        return DocumentState.PROJECTED, document.reason if kept else None
    gaps = ", ".join(f"{code} ({detail})" for code, detail in left_out)
    paths = ", ".join(_paths(document))
    notes = [
        f"{note}{details}"
        for note, details in ((_NOT_ALL, gaps), (_REPEATED_KEYS, paths))
        if details
    ]
    return DocumentState.PROJECTED, "; ".join(notes)[:_MOST_REASON] or None


def _paths(document: StoredDocument) -> tuple[str, ...]:
    """Nearly every document is answered without parsing it."""
    return repeated_keys(json.loads(document.body)) if _MARK in document.body else ()
