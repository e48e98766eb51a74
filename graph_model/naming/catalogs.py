"""Catalog names: ``<authority>/<database>.<table>``, one spelling for those of all engines.

    spark_catalog.hr.t, `hr`.`t`, HR.T        =>  spark_catalog/hr.t
    arn:aws:glue:eu-west-1:12:table/hr/t      =>  arn:aws:glue:eu-west-1:12/hr.t
    hive://meta:9083/hr.t                     =>  hive://meta/hr.t

A session's own catalogs (``spark_catalog``, ``my_iceberg``) mean something within a capture
scope only; an account's Glue catalog and a metastore's host mean the same to everybody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from graph_model.naming.columns import column_path, fold, has_open_quote, split_path
from graph_model.naming.rules import DEFAULT_RULES, Rules


@dataclass(frozen=True, slots=True)
class CatalogName:
    """``parts`` are case-folded: databases, then the table."""

    authority: str
    parts: tuple[str, ...]
    shared: bool

    @property
    def uri(self) -> str:
        return f"{self.authority}/{column_path(self.parts)}"


def catalog_table(database: str | None, table: str, rules: Rules = DEFAULT_RULES) -> str:
    """The URI of a table in a catalog, folded as Spark folds names; in ``spark_catalog``, unless
    the table's name has another one.

    With a database the table is one name, dots included; without one the table may be qualified
    (``spark_catalog.hr.t``), and an unqualified one is in ``default``; ``hr.t.snapshots`` is about
    a table of the session's own catalog. A path as the table name
    (delta.`/lake/t`) gives that path. Both may be back-quoted.
    """
    authority = "spark_catalog"
    if database:
        parts = (*split_path(database), _unquoted(table))
    else:
        parts = split_path(table) or ("",)
        about_a_table = len(parts) == 3 and fold(parts[2]) in rules.metadata_tables
        if len(parts) > 2 and not about_a_table:
            authority, parts = parts[0], parts[1:]
        if len(parts) == 1:
            parts = (rules.default_database, *parts)
    if (path := _path_table(parts, rules)) is not None:
        return path
    return CatalogName(fold(authority), tuple(map(fold, parts)), shared=False).uri


def _unquoted(table: str) -> str:
    parts = split_path(table)
    return parts[0] if len(parts) == 1 else table


def _path_table(parts: tuple[str, ...], rules: Rules) -> str | None:
    """``("delta", "/lake/t")`` => ``/lake/t``: the format in the database's place, then a path."""
    is_path = len(parts) == 2 and ("/" in parts[1]) and fold(parts[0]) in rules.path_table_formats
    return parts[1] if is_path else None


def path_of(text: str, rules: Rules) -> str | None:
    """The path that a dotted name stands for: spark_catalog.delta.`/lake/t`; None for others."""
    if "`" not in text or text[:1] in "/`" or "/" not in text:
        return None
    parts = split_path(text)
    if len(parts) == 3 and fold(parts[0]) in rules.catalog_authorities:
        parts = parts[1:]
    return _path_table(parts, rules)


# --- reading a URI -------------------------------------------------------------------------------

_GLUE: Final = re.compile(r"(?P<authority>arn:aws[a-z-]{0,16}:glue:[^/:]*:[^/:]*)[:/](?P<name>.+)")
_LOCAL: Final = re.compile(r"(?P<authority>[A-Za-z_][\w-]{0,254})/(?P<name>[^/].*)", re.DOTALL)


def parse(text: str, rules: Rules) -> CatalogName | None:
    """The catalog name in a URI, in any accepted spelling; None for other URIs."""
    if text[:4].lower() == "arn:":
        return _glue(text)
    scheme, marker, rest = text.partition("://")
    if marker and scheme.lower() in rules.catalog_schemes:
        return _served(scheme.lower(), rest, rules)
    if marker:
        return None
    head, dot, name = text.partition(".")
    if dot and fold(head) in rules.catalog_authorities:
        return _named(fold(head), _segments(name), shared=False)
    match = _LOCAL.fullmatch(text)
    if match is None or not _is_table_name(match["name"], rules):
        return None
    return _named(fold(match["authority"]), _segments(match["name"]), shared=False)


def _is_table_name(name: str, rules: Rules) -> bool:
    """``hr.t``, not ``sub/dir/t`` or ``file.csv``: a relative path is no table."""
    bare = re.sub(r"`(?:[^`]|``)*`", "", name)
    return "/" not in bare and not name.lower().endswith(rules.data_file_suffixes)


def _segments(name: str) -> tuple[str, ...]:
    """The parts of a dotted name; none where a part begins with a back quote that does not close.

    Quoting such a part doubles its back quotes, and where masking takes the closing one, each
    reading of the result would double them again: hr.`t`--password x => no catalog name
    """
    return () if has_open_quote(name) else split_path(name)


def _named(authority: str, parts: tuple[str, ...], *, shared: bool) -> CatalogName | None:
    if len(parts) < 2:
        return None
    return CatalogName(authority, tuple(map(fold, parts)), shared)


def _glue(text: str) -> CatalogName | None:
    match = _GLUE.fullmatch("arn:" + text[4:])
    if match is None:
        return None
    name = match["name"].lstrip("/")
    tables = name.startswith("table/")
    parts = tuple(map(_unquoted, name.split("/")[1:])) if tables else _segments(name)
    return _named(match["authority"].lower(), parts, shared=True)


def _served(scheme: str, rest: str, rules: Rules) -> CatalogName | None:
    host, slash, name = rest.partition("/")
    host = host.rpartition("@")[2].lower()
    port = dict(rules.default_ports).get(scheme)
    if port:
        host = host.removesuffix(f":{port}")
    if not slash or not host:
        return None
    shared = host.partition(":")[0] not in rules.loopback_hosts
    return _named(f"{scheme}://{host}", _segments(name), shared=shared)


# Names of tables as SQL spells them: parts with dots between, quoted where they need it.


def identifier_parts(text: str) -> tuple[str, ...] | None:
    """``hr."Order Lines"`` => ("hr", "Order Lines"); None for a text that is no plain name."""
    parts: list[str] = []
    position = 0
    while True:
        match = _PART.match(text, position)
        if match is None:
            return None
        parts.append(_without_quotes(match))
        position = match.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            return None
        position += 1


_PART: Final = re.compile(
    r"\"(?P<double>(?:[^\"]|\"\")*)\"|`(?P<back>(?:[^`]|``)*)`|\[(?P<square>[^\]]*)\]"
    r"|(?P<plain>[\w$#@%\-]*)"
)
_PLAIN: Final = re.compile(r"[\w$#@%\-]+")


def _without_quotes(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return match["double"].replace('""', '"')
    if match["back"] is not None:
        return match["back"].replace("``", "`")
    return match["square"] if match["square"] is not None else match["plain"]


def unquoted_text(text: str) -> str:
    """``"DB"."S"."T"`` and `` `db`.`t` `` without the quotes; other texts stay.

    Only a name in quotes throughout, or in part, counts: ``col[0]`` and ``it's`` stay. A part that
    has a dot of its own keeps back quotes.
    """
    if _QUOTE.search(text) is None:
        return text
    parts = identifier_parts(text)
    return column_path(parts) if parts is not None and all(parts) else text


_QUOTE: Final = re.compile(r"[\"`\[]")


def quoted_parts(text: str) -> tuple[str, ...]:
    """``"ID"`` => ("ID",), `` `a`."b" `` => ("a", "b"); none where a part has no quotes."""
    if text[-1:] not in _CLOSING or _ALL_QUOTED.fullmatch(text) is None:
        return ()
    parts = identifier_parts(text)
    return parts if parts is not None and all(parts) else ()


def unquoted_column(name: str) -> str:
    """The name of a column without the quotes around it: ``"ID"`` => ``ID``."""
    parts = quoted_parts(name)
    return parts[0] if len(parts) == 1 else name


_CLOSING: Final = frozenset('"`]')
_ALL_QUOTED: Final = re.compile(
    r"(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\])"
    r"(?:\.(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]))*"
)


def in_case(text: str, case: str) -> str:
    """A part of a name in "lower" or "upper" case; in any other case as it is.

    Percent-encoded characters stay: their digits would be another spelling.
    """
    if case not in CASES:
        return text
    change = fold if case == "lower" else _upper
    pieces = _ESCAPED.split(text)
    return "".join(piece if odd % 2 else change(piece) for odd, piece in enumerate(pieces))


def _upper(text: str) -> str:
    """Character by character, as :func:`fold` does: ``ß`` stays as it is."""
    return "".join(
        upper if len(upper := character.upper()) == 1 else character for character in text
    )


CASES: Final = ("lower", "upper")
_ESCAPED: Final = re.compile("(%[0-9A-Fa-f]{2})")


def identifier_text(parts: tuple[str, ...]) -> str:
    """The canonical spelling: double quotes, only around parts that need them."""
    return ".".join(
        part if _PLAIN.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts
    )
