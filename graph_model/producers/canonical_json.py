"""One spelling of JSON inside facts: equal content, equal text."""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from graph_model import identity


def spell_text(text: str | None) -> str:
    """A text, or None, in the form of :func:`spell`; thousands of columns need it."""
    return "null" if text is None else encode_basestring(text)


def spell_texts(texts: Mapping[str, str]) -> str:
    """An object of texts in the form of :func:`spell`."""
    spelled = encode_basestring
    pairs = (f"{spelled(name)}:{spelled(text)}" for name, text in sorted(texts.items()))
    return f"{{{','.join(pairs)}}}"


def spell(value: Any) -> str:
    """Compact JSON with sorted keys."""
    return identity.spelled(value)
