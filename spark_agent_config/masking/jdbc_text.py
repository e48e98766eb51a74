"""The end of a JDBC URL and the start of its table or query: ``<jdbc url>:<table or query>``.

The agent joins both with a colon, which URLs and queries contain as well. A query is recognised
by its first word; a quoted name by its quotes; else the last colon divides, unless the rest
can only be a part of the URL (a port, a path, parameters).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

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
