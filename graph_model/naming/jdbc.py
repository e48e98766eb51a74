"""JDBC URLs: ``jdbc:<driver>://<hosts>/<database>:<schema>.<table>``, whatever a driver writes.

Only the parts that identify the table stay; logins, time-outs and driver options are removed. A
query is resolved to the tables that it reads; an unparsable one stays a dataset of its text.

``graph_model.sql`` reads tables and columns of a query, without a schema to ask. Names and texts
are those of the query, with literals of dates masked like those of plans.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final
from urllib.parse import unquote

from graph_model.naming.catalogs import identifier_parts, identifier_text, in_case
from graph_model.naming.partitions import (
    mask_literal,
    percent,
    printable,
    without_secret_parameters,
)
from graph_model.naming.rules import JdbcDriver, Rules
from graph_model.regular_expressions import expand_groups, match_whole
from graph_model.sql import QueryLineage, read_query, unreadable
from spark_agent_config import masking
from spark_agent_config.masking.urls import split_table, user_info_end

_MAX_QUERY: Final = 20_000  # characters; longer queries stay unresolved, as parsing is not linear
_MAX_TABLES: Final = 256


@dataclass(frozen=True, slots=True)
class Database:
    """A database: ``url`` up to the path, then the name. ``schema`` is the session's; ``case`` is
    that in which the names of the engine meet ("lower", "upper", "": as they are spelled).
    """

    url: str
    name: str
    schema: str
    driver: JdbcDriver
    shared: bool  # has an authority of its own, so it is one database in every scope
    case: str = ""

    def spelled(self, name: str) -> str:
        """The URL with a database name as its path, separators in the name escaped."""
        divides = r"[:?;&=/\s]" if self.driver.levels == 3 else r"[:?;&=\s]"
        return self.url + in_case(re.sub(divides, percent, name.strip("/")), self.case)


def canonical(uri: str, rules: Rules) -> tuple[tuple[str, ...], bool]:
    """(the URIs of the tables named or read, sorted; whether a query is unresolved)."""
    url, table = _split_table(uri, rules)
    database = locate(printable(url), rules)
    if table is None:
        return (printable(database.spelled(database.name)),), False
    parts = identifier_parts(table)
    if parts is not None and any(parts):
        return (_table_uri(database, parts),), False
    tables = tables_read(table, database.driver.dialect, rules)
    if not tables:
        return (printable(f"{database.spelled(database.name)}:{_query_text(table)}"),), True
    return tuple(sorted({_table_uri(database, parts) for parts in tables})), False


def _table_uri(database: Database, parts: tuple[str, ...]) -> str:
    """A database named before the table overrides the URL's; a table without
    one gets the schema.
    """
    name = database.name
    if len(parts) == database.driver.levels:
        name, parts = parts[0], parts[1:]
    while len(parts) > 1 and not parts[0]:  # db..table: the default schema
        parts = parts[1:]
    if len(parts) == 1 and database.schema:
        parts = (database.schema, *parts)
    parts = tuple(in_case(part, database.case) for part in parts)
    return printable(f"{database.spelled(name)}:{identifier_text(parts)}")


def has_authority(uri: str, rules: Rules) -> bool:
    """Whether the URI names its server, not only a file or this machine."""
    return locate(_split_table(uri, rules)[0], rules).shared


def short_name(uri: str, rules: Rules) -> str:
    """The table's name, ``query`` with its beginning, or the database."""
    url, table = _split_table(uri, rules)
    if table is None:
        tail = url.rstrip("/").rpartition("/")[2]
        return printable(unquote(tail.rstrip(":").rpartition(":")[2])) or url
    return table if len(table) <= _NAME_LENGTH else table[: _NAME_LENGTH - 1] + "…"


_NAME_LENGTH: Final = 80


# --- URLs ----------------------------------------------------------------------------------------


def _split_table(uri: str, rules: Rules) -> tuple[str, str | None]:
    return split_table(uri, (*rules.jdbc_storage_words, *rules.jdbc_wrappers))


def locate(url: str, rules: Rules) -> Database:
    """The database of a JDBC URL without its table."""
    name, rest = _driver_name(url[len("jdbc:") :], rules)
    driver = next((known for known in rules.jdbc_drivers if known.name == name), None)
    if driver is None:
        return _unknown(name, rest)
    if name == "oracle":
        return _oracle(driver, rest, rules)
    prefix, server, tail = rest.partition("//")
    if driver.embedded and (not server or not driver.port or not _is_prefix(prefix)):
        return _embedded(driver, rest)
    if not server or not _is_prefix(prefix):
        return _server(driver, "", f"/{rest}", rules)
    return _server(driver, prefix.lower() if driver.embedded else "", tail, rules)


def _driver_name(text: str, rules: Rules) -> tuple[str, str]:
    """``aws-wrapper:postgresql://h`` => ("postgresql", "//h"); aliases applied."""
    aliases = dict(rules.jdbc_aliases)
    name, rest = _unwrapped(text, rules).partition(":")[::2]
    second, separator, tail = rest.partition(":")
    both = f"{name}:{second}".lower()
    if separator and both in aliases:
        return aliases[both], tail
    name = name.lower()
    return aliases.get(name, name), _unwrapped(rest, rules)


def _unwrapped(text: str, rules: Rules) -> str:
    head, separator, tail = text.partition(":")
    while separator and head.lower() in rules.jdbc_wrappers:
        text = tail
        head, separator, tail = text.partition(":")
    return text


def _is_prefix(text: str) -> bool:
    """Whether the text may be between the driver and ``//``: ``tcp:`` or nothing."""
    return not text or (text.endswith(":") and text[:-1].isalnum())


def _server(driver: JdbcDriver, prefix: str, text: str, rules: Rules) -> Database:
    """``text`` is the part after ``//``: hosts, a path, parameters."""
    text = text[user_info_end(text, 0) :]
    match = re.search(r"[/?;]", text)
    hosts, rest = (text[: match.start()], text[match.start() :]) if match else (text, "")
    path, parameters = _path_and_parameters(rest)
    port = parameters.get(driver.port_parameter) or driver.port
    name, schema = path, _session_schema(parameters, driver)
    if driver.levels == 3 and "/" in path:
        name, _, inner = path.partition("/")
        schema = schema or inner.partition("/")[0]
    name = _first(parameters, driver.database) or name
    schema = schema or dict(rules.jdbc_default_schemas).get(driver.name, "")
    listed = _hosts(hosts or parameters.get("servername", ""), driver, port, rules)
    if instance := parameters.get("instancename"):
        listed += "\\" + instance.lower()
    shared = not set(listed.split(",")) <= set(rules.loopback_hosts)
    case = dict(rules.identifier_cases).get(driver.name, "")
    return Database(f"jdbc:{driver.name}:{prefix}//{listed}/", name, schema, driver, shared, case)


def _path_and_parameters(rest: str) -> tuple[str, dict[str, str]]:
    """``/db?a=b&c=d``, ``;a=b``, DB2's ``/db:a=b;`` and Teradata's ``/A=b,C=d``."""
    match = re.search(r"[?;&]", rest)
    path, tail = (rest[: match.start()], rest[match.start() + 1 :]) if match else (rest, "")
    path, marks = path.strip("/"), r"[?;&]"
    if "=" in path:
        before, colon, options = path.partition(":")
        if colon and "=" not in before:
            path, tail = before, f"{options};{tail}"
        else:
            path, tail, marks = "", f"{path},{tail}", r"[?;&,]"
    pairs = (piece.partition("=") for piece in re.split(marks, tail))
    return path, {key.strip().lower(): value.strip() for key, mark, value in pairs if mark}


def _first(parameters: dict[str, str], names: Iterable[str]) -> str:
    return next((parameters[name].strip("{}") for name in names if parameters.get(name)), "")


def _session_schema(parameters: dict[str, str], driver: JdbcDriver) -> str:
    """The first schema of the session's search path in the URL, "" for none.

    ``currentSchema=hr,public`` and ``options=-c%20search_path=hr`` => ``hr``.

    https://jdbc.postgresql.org/documentation/use/
    """
    schemas = _first(parameters, driver.schema)
    if not schemas and driver.schema:
        match = _SEARCH_PATH.search(unquote(parameters.get("options", ""))[:_LONGEST_OPTIONS])
        schemas = match["path"] if match else ""
    listed = (schema.strip().strip("\"'") for schema in unquote(schemas).split(","))
    return next((schema for schema in listed if schema and schema != "$user"), "")


_SEARCH_PATH: Final = re.compile(r"search_path=(?P<path>\S+)")
_LONGEST_OPTIONS: Final = 2_000


def _hosts(text: str, driver: JdbcDriver, port: str, rules: Rules) -> str:
    """Sorted, in lower case, without logins and default ports."""
    listed = {_host(host, driver, port, rules) for host in _addresses(text)}
    return ",".join(sorted(listed))


def _addresses(text: str) -> list[str]:
    """``address=(host=h)(port=1)(user=u),(host=g,port=2)`` => ["h:1", "g:2"]: Connector/J's forms.

    https://dev.mysql.com/doc/connector-j/en/connector-j-reference-jdbc-url-format.html
    """
    if "(" not in text:
        return text.split(",")
    if text.startswith("["):
        text = text[1:].removesuffix("]")
    return [_address(piece) for piece in _ADDRESS.findall(text)]


def _address(text: str) -> str:
    if "(" not in text:
        return text
    parts = {name.lower(): value.strip() for name, value in _HOST_OR_PORT.findall(text)}
    return f"{parts.get('host', '')}:{parts.get('port', '')}"


_ADDRESS: Final = re.compile(r"(?:\([^()]*\)|[^,()])+")
_HOST_OR_PORT: Final = re.compile(r"(?i)[(,]\s{0,8}(host|port)\s{0,8}=([^(),=]*)")


def _host(text: str, driver: JdbcDriver, port: str, rules: Rules) -> str:
    host = text.rpartition("@")[2].strip().lower()
    name, colon, given = host.rpartition(":")
    if not colon or not given.isdigit():
        name, given = host.rstrip(":"), ""
    if driver.host_suffix:
        name = name.removesuffix(driver.host_suffix)
    name = _place(name, driver, rules)
    if not name or name in rules.loopback_hosts:
        name = "localhost"
    actual = given or port
    return name if actual in ("", driver.port) else f"{name}:{actual}"


def _place(host: str, driver: JdbcDriver, rules: Rules) -> str:
    """A host under the canonical name of its location: ``jdbc_host_patterns``, in order."""
    for name, pattern, written in rules.jdbc_host_patterns:
        if name == driver.name and (groups := match_whole(pattern, host)):
            host = expand_groups(written, groups)
    return host


def _embedded(driver: JdbcDriver, rest: str) -> Database:
    """A file, or memory: ``jdbc:sqlite:/lake/hr.db``; options are dropped."""
    path = re.split(r"[?;]", rest, maxsplit=1)[0]
    while path.lower().startswith("file:"):
        path = path[len("file:") :]
    path = re.sub(r"/{2,}", "/", path.replace("\\", "/"))
    if len(path) > 1:
        path = path.rstrip("/") or "/"
    return Database(f"jdbc:{driver.name}:{path}", "", "", driver, shared=False)


def _unknown(name: str, rest: str) -> Database:
    """A driver without a rule keeps its spelling, without secrets and logins."""
    prefix, server, tail = rest.partition("//")
    if server:
        rest = f"{prefix}//{tail[user_info_end(tail, 0) :]}"
    url = without_secret_parameters(f"jdbc:{name}:{rest}").rstrip(";:?&")
    return Database(url, "", "", JdbcDriver(name, levels=0, embedded=True), shared=bool(server))


# --- Oracle --------------------------------------------------------------------------------------


def _oracle(driver: JdbcDriver, rest: str, rules: Rules) -> Database:
    """``@//host:1521/service``, ``@host:1521:sid``, ``@(DESCRIPTION=…)``, ``@alias``: one form."""
    address = rest[rest.rfind("@") + 1 :] if "@" in rest else rest.partition(":")[2]
    if address.startswith("("):
        hosts, name = _described(address)
    else:
        address = address.partition("?")[0]
        address = address.partition("//")[2] if "//" in address else address
        hosts, slash, name = address.partition("/")
        if not slash:
            hosts, name = _host_and_sid(address)
    case = dict(rules.identifier_cases).get(driver.name, "")
    if not hosts:
        return Database(f"jdbc:oracle:thin:@{name}", "", "", _ALIAS, shared=True, case=case)
    listed = _hosts(hosts, driver, driver.port, rules)
    shared = not set(listed.split(",")) <= set(rules.loopback_hosts)
    service = re.split(r"[/:?;&=\s]", name, maxsplit=1)[0].lower()
    # A service's name has no case: it is part of the URL, for the engine's case is that of tables.
    url = f"jdbc:oracle:thin:@//{listed}/{service}"
    return Database(url, "", "", driver, shared, case)


# A net service name takes the place of host and service, as an embedded path does.
_ALIAS: Final = JdbcDriver("oracle", dialect="oracle", levels=0, embedded=True)


def _host_and_sid(address: str) -> tuple[str, str]:
    parts = address.split(":")
    if len(parts) >= 3:
        return ":".join(parts[:2]), parts[2]
    if len(parts) == 2 and parts[1].isdigit():
        return address, ""
    return (parts[0], parts[1]) if len(parts) == 2 else ("", address)


def _described(text: str) -> tuple[str, str]:
    hosts = re.findall(r"(?i)\(\s*HOST\s*=\s*([\w.\-]+)", text)
    ports = re.findall(r"(?i)\(\s*PORT\s*=\s*([0-9]+)", text)
    name = re.search(r"(?i)\(\s*(?:SERVICE_NAME|SID)\s*=\s*([\w.$\-]+)", text)
    ports += ports[-1:] * (len(hosts) - len(ports))
    listed = (
        f"{host}:{port}" for host, port in zip(hosts, ports or [""] * len(hosts), strict=False)
    )
    return ",".join(listed), name[1] if name else ""


# --- queries -------------------------------------------------------------------------------------


def tables_read(text: str, dialect: str, rules: Rules) -> tuple[tuple[str, ...], ...]:
    """The tables that a table expression or query reads, as name parts; () when unresolved.

    ``text`` is the text after FROM (``(select …) t``, ``emp e``) or a whole query.
    """
    if len(text) > _MAX_QUERY:
        return ()
    return _parsed(_as_query(text), dialect, rules.sourceless_tables)


def without_query(uri: str, rules: Rules) -> str:
    """The URI of the database alone, for a query that must not be parsed."""
    return _split_table(masking.mask_uri(uri), rules)[0]


def query_lineage(
    uri: str, names: Sequence[str], rules: Rules
) -> tuple[QueryLineage, Mapping[tuple[str, ...], str]] | None:
    """Column lineage of the query in a URI, and the URIs of the tables that it names.

    ``names`` are the result's columns as the database names them. None where the URI names a table,
    or nothing. Never raises: an unreadable query is a problem in the lineage.
    """
    scheme, _, rest = masking.mask_uri(uri).partition(":")
    if dict(rules.scheme_aliases).get(scheme.lower(), scheme.lower()) != "jdbc":
        return None
    url, text = _split_table(f"jdbc:{rest}", rules)
    if text is None or ((parts := identifier_parts(text)) is not None and any(parts)):
        return None
    database = locate(printable(url), rules)
    if len(text) > _MAX_QUERY:
        return unreadable(names, f"a query of {len(text):,} characters"), {}
    mask = partial(_masked, rules=rules)
    lineage = read_query(_as_query(text), database.driver.dialect, tuple(names), mask)
    if lineage is None:
        return unreadable(names, "the query cannot be read"), {}
    used = {leaf[0] for column in lineage.columns if column for leaf, _ in column.flows}
    used.update(leaf[0] for influence in lineage.influences for leaf in influence.sources)
    used.update(table for opens in lineage.opens for table in opens.among)
    return lineage, {parts: _table_uri(database, parts) for parts in sorted(used)}


def _masked(text: str, rules: Rules) -> str:
    return str(mask_literal(text, None, rules))


def _as_query(text: str) -> str:
    return text if re.match(r"(?i)\s*(?:select|with)\s", text) else _FROM + text


_FROM: Final = "select * from "


@lru_cache(maxsize=256)
def _parsed(query: str, dialect: str, sourceless: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    lineage = read_query(query, dialect)
    reads = lineage.reads if lineage is not None else ()
    kept = tuple(parts for parts in reads if not _is_sourceless(parts, sourceless))
    return kept if len(kept) <= _MAX_TABLES else ()


def _is_sourceless(parts: tuple[str, ...], sourceless: Collection[str]) -> bool:
    """``shop.information_schema.tables``: the last two parts count."""
    near = [part.lower() for part in parts[-2:]]
    return ".".join(near) in sourceless or (len(near) == 2 and f"{near[0]}.*" in sourceless)


def _query_text(text: str) -> str:
    """White space collapsed, Spark's numbered alias dropped."""
    collapsed = " ".join(text.split())
    return re.sub(r" SPARK_GEN_SUBQ_[0-9]+\Z", "", collapsed)
