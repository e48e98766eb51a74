"""Text as lists of events search it: neither case nor accents count."""

from __future__ import annotations

import unicodedata


def plain(text: str) -> str:
    """``Ünïcode ÉTÉ => unicode ete``."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))
