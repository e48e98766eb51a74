"""Texts without their secrets. Linear in the text; masking a masked text changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from spark_agent_config.masking.commands import commands
from spark_agent_config.masking.jdbc_text import split_table
from spark_agent_config.masking.logins import logins
from spark_agent_config.masking.names import MASK, may_name_secret
from spark_agent_config.masking.settings import settings
from spark_agent_config.masking.statements import statements
from spark_agent_config.masking.tokens import may_hold_token, tokens

# The signs beside every named secret: nearly every text of a plan has none, and is done with.
# Every choice begins with a letter of its own: the engine skips all other letters.
_SIGNS: Final = re.compile(
    r"=|:|@|'|\"|<(?=[/\-])|-(?:[->]|(?<=\s-)[A-Za-z])|\((?:spark|fs|hadoop)\.|D(?<=FIED)\s|d(?<=fied)\s"
)
# Words before a value that nothing but a blank divides from them.
_NAMES: Final = re.compile(
    r"(?i)(?:pass|passw\w{0,8}|token|secret|auth|key|pwd|cred\w{0,10}|logon|login|using|connect|obscure"
    r"|htpasswd)[ \t]{1,32}\S|\b(?:spark|fs|hadoop)\.[\w.\-]{1,256}[ \t]"
)
_MOST_PASSES: Final = 4
_SHORTEST_TOKEN: Final = 16
_MOST_SECRETS: Final = 1_000
"""Of one text: more are an attack on the time that hiding takes."""


def is_plain(text: str) -> bool:
    """True: the text is done with at a glance, no rule can find a secret in it."""
    return not (
        _SIGNS.search(text)
        or (" " in text and _NAMES.search(text))
        or (len(text) >= _SHORTEST_TOKEN and may_hold_token(text))
    )


def mask_text(text: str) -> str:
    """A text with its secrets as ``*****``: logins, values of secret settings, known tokens."""
    return text if is_plain(text) else _settled(text, _masked_once)


def _settled(text: str, mask: Callable[[str], str]) -> str:
    """The text after masking it until nothing changes.

    To hide a value may show another name to be one: ``password=a'b token=c'``. Once is enough for
    texts of people and programs; one that still changes is made to deceive.
    """
    for _ in range(_MOST_PASSES):
        masked = mask(text)
        if masked == text:
            return text
        text = masked
    return MASK


def _masked_once(text: str) -> str:
    secrets = sorted(islice(_secrets(text), _MOST_SECRETS + 1))
    if len(secrets) > _MOST_SECRETS:
        return MASK
    parts: list[str] = []
    done = 0
    for start, end in secrets:
        if end <= done or is_masked(text[start:end]):
            continue
        if start >= done:
            parts += (text[done:start], MASK)
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    yield from logins(text)
    yield from tokens(text)
    yield from commands(text)
    if may_name_secret(text):
        yield from settings(text)
    yield from statements(text)


def is_masked(value: str) -> bool:
    """``*****``, Spark's ``*********(redacted)`` and the like: nothing is left to hide."""
    shown = value.strip()
    return not shown or (shown.startswith("***") and shown.lstrip("*") in ("", "(redacted)"))


def mask_uri(uri: str) -> str:
    """The same for a dataset's URI: the table or query behind a JDBC URL stays as it is."""
    return uri if is_plain(uri) else _settled(uri, _uri_masked_once)


def _uri_masked_once(uri: str) -> str:
    if uri[:7].lower() == "mongodb":
        url, slash, name = uri.rpartition("/")
        if "?" in url and _COLLECTION.fullmatch(name):
            return _masked_once(url) + slash + name
    if uri[:4].lower() != "jdbc":
        return _masked_once(uri)
    url, _ = split_table(uri)
    return _masked_once(url) + uri[len(url) :]


# mongodb://h/?password=x/db.collection
_COLLECTION: Final = re.compile(r"[^/=&?@#.]+\.[^/=&?@#]+")
