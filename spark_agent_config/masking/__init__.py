"""Secrets: recognised and masked, in names, texts and whole documents.

Pure, linear in the text, standard library only. The listener and the server mask with it. It is
part of ``spark_agent_config`` because that folder is copied to clusters alone.

Identity drops masked parts, so a document names the same datasets before and after.

In reading order:

``names``      names whose values are secret: every table of words
``free_text``  texts without their secrets: all recognisers in one scan
``values``     what a value looks like: a password, a type, the name of a place
``settings``   named values inside a text: ``password=x``, ``"token": "x"``
``expressions`` behind a secret's name: literals of code and lists, and the first password reached
``columns``    the values in a column of a secret's name: inserted rows, printed tables
``logins``     logins in URLs: ``//user:password@host`` and the drivers' own forms
``tokens``     secrets recognised by their look alone: random words, prefixes, private keys
``statements`` secrets that their place alone shows: in statements, calls and blocks
``commands``   passwords on command lines whose options do not name them: ``mysql -px``
``jdbc_text``  the end of a JDBC URL and the start of its table or query
``documents``  JSON documents without their secrets
"""

from __future__ import annotations

from spark_agent_config.masking.documents import JsonValue, mask_secrets
from spark_agent_config.masking.free_text import mask_text, mask_uri
from spark_agent_config.masking.names import is_secret_key

__all__ = [
    "JsonValue",
    "is_secret_key",
    "mask_secrets",
    "mask_text",
    "mask_uri",
]
