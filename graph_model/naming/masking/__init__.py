"""Secrets: how they are recognised and masked, in names, texts and whole documents.

Pure, linear in the text, and of the standard library alone. ``spark_agent_config.redaction`` is a
copy of this folder, since that one travels to clusters alone: ``python -m
graph_model.naming.masking.copying`` writes it, and a test holds the two equal.

Reading order: ``names`` (every table), ``logins``, ``settings``, ``commands`` and ``tokens`` (where
secrets stand in a text), ``texts``, ``documents``; ``jdbc_text`` tells a URL from its table.

Identity drops what masking hides, so a document names the same datasets before and after.
"""

from __future__ import annotations

from graph_model.naming.masking.documents import JsonValue, are_harmless, mask_secrets
from graph_model.naming.masking.names import MASK, is_secret_key, is_secret_parameter
from graph_model.naming.masking.texts import mask_text, mask_uri

__all__ = [
    "MASK",
    "JsonValue",
    "are_harmless",
    "is_secret_key",
    "is_secret_parameter",
    "mask_secrets",
    "mask_text",
    "mask_uri",
]
