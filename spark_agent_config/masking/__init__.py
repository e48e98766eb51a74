"""Secrets: recognised and masked, in names, texts and whole documents.

Pure, linear in the text, standard library only. The listener and the server mask with it. It is
part of ``spark_agent_config`` because that folder is copied to clusters alone.

Identity drops masked parts, so a document names the same datasets before and after.

In reading order:

``names``       names whose values are secret, and what a value looks like: every table of words
``settings``    named values inside a text: ``password=x``, ``"token": "x"``
``expressions`` values of code, lists, calls and rows: ``password = os.environ.get("X") or "x"``
``urls``        logins in URLs: ``//user:password@host``; the end of a JDBC URL
``tokens``      secrets recognised by their look alone: random words, prefixes, private keys
``statements``  secrets that their place alone shows: in statements, blocks and on command lines
``documents``   texts without their secrets (all recognisers in one scan), and JSON documents
"""

from __future__ import annotations

from spark_agent_config.masking.documents import JsonValue, mask_secrets, mask_text, mask_uri
from spark_agent_config.masking.names import is_secret_key

__all__ = [
    "JsonValue",
    "is_secret_key",
    "mask_secrets",
    "mask_text",
    "mask_uri",
]
