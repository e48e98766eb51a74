"""The parts of URLs that matter to a secret: logins, and the end of a JDBC URL.

Logins are ``//user:password@host`` and the drivers' own forms; each function passes over the text
once, and continues behind each match.

The agent joins a JDBC URL and its table or query with a colon, which both contain as well. A query
is recognised by its first word; a quoted name by its quotes; else the last colon divides, unless
the rest can only be a part of the URL (a port, a path, parameters).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from spark_agent_config.masking.names import CONTAINER_SCHEMES, LOGIN_SCHEMES

_AUTHORITY_END: Final = re.compile(r"[/?#;\s\"'<>]")
_SCHEME_LENGTH: Final = 64  # no scheme is longer; bounds the look backwards
_LOST_PASSWORD: Final = 256  # how far an unescaped slash in a password is followed
_OF_A_PASSWORD: Final = ("/", "?", "#", ";")
_BLANK: Final = re.compile(r"\s")


def user_info_end(text: str, start: int) -> int:
    """Where the host begins in an authority that begins at ``start``: after the last ``@``.

    ``user:p/ss@host``: a slash (or ? # ;) that should have been escaped is recognised by an
    invalid port.
    """
    host = _after_login(text, start)
    while host > start:  # u:p@v:q@host, a login twice
        start, host = host, _after_login(text, host)
    return start


def _after_login(text: str, start: int) -> int:
    match = _AUTHORITY_END.search(text, start)
    end = match.start() if match else len(text)
    at = text.rfind("@", start, end)
    if at >= 0:
        return at + 1
    authority = text[start:end]
    lost = text[end : end + 1] in _OF_A_PASSWORD
    if not lost or ":" not in authority or authority.startswith("arn:"):
        return start
    port = authority.rpartition(":")[2]
    if port.isdigit() or port.endswith("]"):
        return start
    at = text.find("@", end, end + _LOST_PASSWORD)
    return at + 1 if at >= 0 and not _BLANK.search(text, end, at) else start


def logins(text: str) -> Iterator[tuple[int, int]]:
    """Where logins stand in a text, without the ``@`` behind them."""
    if "@" not in text:
        return
    if "//" in text:
        yield from _behind_slashes(text)
    if ":" in text:
        yield from (match.span(1) for match in _BARE_LOGIN.finditer(text))
        yield from _of_oracle(text)
        yield from _behind_schemes(text)


def _behind_slashes(text: str) -> Iterator[tuple[int, int]]:
    """``scheme://user@host``, and ``//user:password@host`` as drivers print it."""
    slashes = text.find("//")
    while slashes >= 0:
        start = slashes + 2
        host = user_info_end(text, start)
        if host > start and _is_login(text, slashes, host):
            yield start, host - 1
        slashes = text.find("//", max(start, host))


def _is_login(text: str, slashes: int, host: int) -> bool:
    before = text[slashes - 1 : slashes]
    if text[slashes + 2 : host - 1].lower() in _NO_LOGINS:
        return False
    if before == ":":
        return not _scheme_before(text, slashes - 1).endswith(CONTAINER_SCHEMES)
    return not before.isalnum() and before != "_" and ":" in text[slashes:host]


# ssh://git@h, and how Hadoop's key providers reach theirs: kms://https@h, jceks://hdfs@h
_NO_LOGINS: Final = frozenset({"git", "user", "username", "http", "https", "hdfs", "file", "s3a"})


def _scheme_before(text: str, marker: int) -> str:
    before = text[max(0, marker - _SCHEME_LENGTH) : marker].lower()
    return _NOT_OF_A_SCHEME.split(before)[-1]


_NOT_OF_A_SCHEME: Final = re.compile(r"[^a-z0-9+.\-]")


def _of_oracle(text: str) -> Iterator[tuple[int, int]]:
    """``jdbc:oracle:thin:scott/tiger@…``, the password in quotes or up to the word's last ``@``."""
    match = _ORACLE.search(text)
    while match:
        start = match.end()
        user = _USER_END.search(text, start)
        end = user.start() if user else len(text)
        if user and user.group() == "/" and end > start:
            at = _last_at(text, user.end())
            end = max(_end_of_word(text, user.end()), at)
            if at >= 0:
                yield start, at
        match = _ORACLE.search(text, end)


def _last_at(text: str, start: int) -> int:
    """The ``@`` behind a password that begins at ``start``, or -1."""
    if text.startswith('"', start):
        quote = text.find('"@', start + 1, start + _LONGEST_QUOTED)
        if quote >= 0 and "\n" not in text[start:quote]:
            return quote + 1
    return text.rfind("@", start, _end_of_word(text, start))


# user:password@tcp(host:3306)/db, user:password@host:5432/db
_BARE_LOGIN: Final = re.compile(
    r"(?<![\w/:.\-])([\w.\-]{1,64}:[^\s:@/\"']{1,128})@(?:(?:tcp|unix)\(|[\w.\-]{1,128}:[0-9]{2,5}/)"
)
_LONGEST_QUOTED: Final = 130
_ORACLE: Final = re.compile(r"(?i):(?:thin|oci8?):")
_USER_END: Final = re.compile(r"[@/\s]")


def _end_of_word(text: str, start: int) -> int:
    match = _BLANK.search(text, start)
    return match.start() if match else len(text)


def _behind_schemes(text: str) -> Iterator[tuple[int, int]]:
    """``kafka:h1:9092,u:p@h2:9092``: a login without ``//``, up to the last ``@`` of the word."""
    match = _LOGIN_SCHEME.search(text)
    while match:
        start = match.end()
        stop = _OPAQUE_END.search(text, start)
        end = stop.start() if stop else len(text)
        at = text.rfind("@", start, end)
        if at > start:
            yield start, at
        match = _LOGIN_SCHEME.search(text, end)


_LOGIN_SCHEME: Final = re.compile(rf"(?i)(?<![\w+.\-])(?:{'|'.join(LOGIN_SCHEMES)}):(?!//)")
_OPAQUE_END: Final = re.compile(r"[\s\"'<>]|//")

# --- the end of a JDBC URL -----------------------------------------------------------------------

_QUERY: Final = re.compile(
    r":\s*\([\s(]*(?:(?:select|with|values|table)\b|--|/\*)|:\s*(?:select|with)\s",
    re.IGNORECASE,
)
_QUOTES: Final = {'"': '"', "`": "`", "]": "["}
# A path, an instance, parameters; `emp e join dept d on e.d = d.id` is a table expression.
_NOT_IN_A_TABLE: Final = re.compile(r"[/\\;?&]|(?<=:)[\w.\-]+=")
_ORACLE_SID: Final = re.compile(r"@[^/:@]+:[0-9]+", re.IGNORECASE)
_PREFIX: Final = "jdbc:"
# jdbc:h2:mem:test: the word between two colons is no database.
STORAGE_WORDS: Final = (
    "mem", "memory", "file", "res", "zip", "jar", "classpath", "directory",
)  # fmt: skip
# Wrappers around another driver: jdbc:aws-wrapper:postgresql://…
WRAPPERS: Final = (
    "aws-wrapper", "p6spy", "log4jdbc", "otel", "datadog", "loadbalance", "replication",
    "sequential", "failover", "load-balance", "aurora", "aws", "iam",
)  # fmt: skip
NO_DATABASES: Final = frozenset((*STORAGE_WORDS, *WRAPPERS))


def split_table(uri: str, no_databases: Collection[str] = NO_DATABASES) -> tuple[str, str | None]:
    """(URL, table or query); None where the text names no table.

    ``no_databases``: words in a database's place that are none.
    """
    query = _QUERY.search(uri, len(_PREFIX))
    if query is not None and _is_url(uri[: query.start()], no_databases):
        return uri[: query.start()], uri[query.start() + 1 :].strip()
    colon = _colon_before_quotes(uri)
    if colon < 0:
        colon = uri.rfind(":")
        if _NOT_IN_A_TABLE.search(uri, colon) or not uri[colon + 1 :].strip():
            return uri, None
        if uri[colon + 1 :].isdigit() and "/" not in uri[:colon].partition("//")[2]:
            return uri, None
    if not _is_url(uri[:colon], no_databases):
        return uri, None
    return uri[:colon], uri[colon + 1 :].strip()


def _is_url(head: str, no_databases: Collection[str]) -> bool:
    """Whether the text before a colon can be a whole URL: ``jdbc:h2:mem`` cannot."""
    words = head.lower().split(":", 3)
    if len(words) < 3 or not words[2].strip():
        return len(words) == 4
    if len(words) == 3 and (words[2] == "thin" or words[2] in no_databases):
        return False
    return not (words[1] == "oracle" and _ORACLE_SID.search(head) and _ends_in_port(head))


def _ends_in_port(head: str) -> bool:
    """``jdbc:oracle:thin:@host:1521``: a SID is still to come, a service would have a slash."""
    return "/" not in head.rpartition("@")[2] and head.rpartition(":")[2].isdigit()


def _colon_before_quotes(uri: str) -> int:
    """The colon before a name whose last part is quoted (``"a:b"``), or -1."""
    end = len(uri)
    if not any(quote in uri for quote in _QUOTES):
        return -1
    while end > 0:
        start = _start_of_part(uri, end)
        if start <= 0 or uri[start - 1] not in ".:":
            return -1
        if uri[start - 1] == ":":
            return start - 1
        end = start - 1
    return -1


def _start_of_part(uri: str, end: int) -> int:
    last = uri[end - 1]
    if last in _QUOTES:
        opening = _QUOTES[last]
        start = uri.rfind(opening, 0, end - 1)
        while start > 0 and opening == last and uri[start - 1] == opening:
            start = uri.rfind(opening, 0, start - 1)  # "" stands for " inside quotes
        return start
    start = end
    while start > 0 and uri[start - 1] not in '.:"`[]':
        start -= 1
    return start
