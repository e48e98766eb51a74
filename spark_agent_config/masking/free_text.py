"""Texts without their secrets. Linear in the text; masking a masked text changes nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from spark_agent_config.masking.expressions import columns
from spark_agent_config.masking.names import MASK, is_reference, may_name_secret
from spark_agent_config.masking.settings import settings
from spark_agent_config.masking.statements import commands, may_run, may_state, statements
from spark_agent_config.masking.tokens import may_be_issued, may_hold_token, tokens
from spark_agent_config.masking.urls import logins, split_table

# The signs beside a secret: a text without any, and without a blank, is done with.
_SIGNS: Final = re.compile(
    r"[=:@'\"% \t\n|~]|&(?=quot|lt|apos|#)|\\(?=u00)|<(?=[/\-])|-(?=[->])|\((?=spark|fs|hadoop"
    r"|[\w.\-]{0,32}(?i:passw|pwd|secret|token)\w{0,8},)"
)
_MOST_PASSES: Final = 4
_SHORTEST_TOKEN: Final = 16
_SHORTEST_WORD: Final = 10
_MOST_SECRETS: Final = 1_000
"""Of one text: more are an attack on the time that hiding takes."""


def is_plain(text: str, *, is_name: bool = False) -> bool:
    """True: the text is done with at a glance, no rule can find a secret in it."""
    if _SIGNS.search(text) is not None and (
        "@" in text or may_name_secret(text) or may_state(text) or may_run(text)
    ):
        return False
    if len(text) < _SHORTEST_TOKEN:
        return len(text) < _SHORTEST_WORD or is_name or not may_be_issued(text)
    return not may_hold_token(text, is_name=is_name)


def mask_text(text: str) -> str:
    """A text with its secrets as ``*****``: logins, values of secret settings, known tokens."""
    return text if is_plain(text) else masked_text(text)


def mask_name(text: str) -> str:
    """The same for what names something: it may be random, as names that machines make are."""
    return text if is_plain(text, is_name=True) else _settled(text, _name_masked_once)


def masked_text(text: str) -> str:
    """The same for a text that is not plain."""
    return _settled(text, _masked_once)


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


def _name_masked_once(text: str) -> str:
    return _masked_once(text, is_name=True)


def _masked_once(text: str, *, is_name: bool = False) -> str:
    secrets = sorted(islice(_all_secrets(text, is_name=is_name), _MOST_SECRETS + 1))
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


def _all_secrets(text: str, *, is_name: bool) -> Iterator[tuple[int, int]]:
    """The secrets of a text, and those of the text that it stands for: ``password%3Dx``."""
    yield from _secrets(text, is_name=is_name)
    if _ENCODED_SIGN.search(text):
        shown, place_of = _decoded(text)
        for start, end in _secrets(shown, is_name=is_name):
            yield place_of(start), place_of(end)


# Signs as URLs, JSON and XML write them; a URL within a URL is encoded twice: %253D.
_ENCODED_SIGN: Final = re.compile(
    r"%(?:25){0,3}(?:3[ADad]|40|22|27)|\\u00(?:3[adAD]|40|22|27)|&(?:quot|apos|lt|#0{0,4}(?:39|34|61|58|64)"
    r"|#[xX]0{0,4}(?:27|22|3[adAD]|40));"
)
_ENCODED: Final = re.compile(
    r"%(?:25){0,3}([2-7][0-9A-Fa-f])|\\{1,4}u00([2-7][0-9A-Fa-f])|&#[xX]0{0,4}([2-7][0-9A-Fa-f]);"
    r"|&(?:#0{0,4}([0-9]{2,3})|(quot|apos|amp|lt|gt));"
)
_ENTITIES: Final = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}


def _decoded(text: str) -> tuple[str, Callable[[int], int]]:
    """A text with its encoded signs as themselves, and where a place of it stands in the given."""
    parts: list[str] = []
    places, given = [0], [0]  # where each part begins, shown and given
    size = done = 0
    for match in _ENCODED.finditer(text):
        code = match[1] or match[2] or match[3]
        if code:
            sign = chr(int(code, 16))
        else:
            sign = chr(int(match[4])) if match[4] else _ENTITIES[match[5]]
        parts += (text[done : match.start()], sign)
        size += match.start() - done + 1
        done = match.end()
        places.append(size)
        given.append(done)
    parts.append(text[done:])

    def place_of(shown: int) -> int:
        part = bisect_right(places, shown) - 1
        return given[part] + shown - places[part]

    return "".join(parts), place_of


def _secrets(text: str, *, is_name: bool) -> Iterator[tuple[int, int]]:
    yield from logins(text)
    yield from tokens(text, is_name=is_name)
    if may_run(text):
        yield from _no_references(text, commands(text))
    if may_name_secret(text):
        yield from settings(text)
        yield from columns(text)
    yield from _no_references(text, statements(text))


def _no_references(text: str, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """``mysql -p"$DB_PASSWORD"`` says where the password is."""
    return (span for span in spans if not is_reference(text[slice(*span)]))


def is_masked(value: str) -> bool:
    """``*****``, Spark's ``*********(redacted)`` and the like: nothing is left to hide."""
    shown = value.strip()
    return not shown or (shown.startswith("***") and shown.lstrip("*") in ("", "(redacted)"))


def mask_uri(uri: str) -> str:
    """The same for a dataset's URI: the table or query behind a JDBC URL stays as it is."""
    return uri if is_plain(uri, is_name=True) else _settled(uri, _uri_masked_once)


def _uri_masked_once(uri: str) -> str:
    if uri[:7].lower() == "mongodb":
        url, slash, name = uri.rpartition("/")
        if "?" in url and _COLLECTION.fullmatch(name):
            return _name_masked_once(url) + slash + name
    if uri[:4].lower() != "jdbc":
        return _name_masked_once(uri)
    url, _ = split_table(uri)
    return _name_masked_once(url) + uri[len(url) :]


# mongodb://h/?password=x/db.collection
_COLLECTION: Final = re.compile(r"[^/=&?@#.]+\.[^/=&?@#]+")
