"""OpenLineage's (namespace, name) pairs, in the spelling that :func:`normalise` reads; and back.

One location is one vertex for every client: ``("file", "/lake/t")`` and Spline's ``file:/lake/t``,
``("postgres://h:5432", "db.hr.t")`` and ``jdbc:postgresql://h:5432/db:hr.t``.
"""

from __future__ import annotations

import re
from typing import Final

from graph_model.naming.catalogs import (
    catalog_table,
    identifier_parts,
    identifier_text,
    unquoted_text,
)
from graph_model.naming.partitions import percent
from graph_model.naming.rules import DEFAULT_RULES, WEB_SCHEMES, Rules


def openlineage_uri(namespace: str, name: str, rules: Rules = DEFAULT_RULES) -> str:
    """The URI of an OpenLineage dataset, to be normalised. Never raises."""
    scheme = namespace.partition(":")[0].lower()
    if scheme == "jdbc":
        return f"{namespace}:{name}"
    if ":" in namespace and scheme in dict(rules.openlineage_jdbc):
        return _jdbc(dict(rules.openlineage_jdbc)[scheme], namespace, name, rules)
    if not _has_paths(scheme, rules):
        name = "/".join(map(unquoted_text, name.split("/")))
    if scheme in rules.hosts_left_out:
        servers = namespace.partition("://")[2].strip("/")
        name = name.replace(".", ":", 1) if scheme == "cassandra" else name
        return f"{scheme}://{servers}/{name}" if servers else f"{scheme}:{name}"
    if scheme == "bigquery":
        place = namespace.partition("://")[2].strip("/")  # ("bigquery://project", "dataset.table")
        name = _TABLE_AT.sub("", name.replace("`", ""))
        whole = f"{place}.{name}" if place and name.count(".") == 1 else name
        project, _, table = whole.partition(".")
        return f"bigquery://{project}:{table}"
    if scheme == "pubsub":
        return f"pubsub:{name}"
    if ":" not in namespace and scheme in rules.file_schemes:  # ("file", "/lake/t")
        return f"{scheme}:{name}"
    if ":" not in namespace:
        # The client's own name: ("a/b", "c") and ("a", "b/c") are two datasets.
        namespace = namespace.replace("%", "%25").replace("/", "%2F")
    return f"{namespace.rstrip('/')}/{name.lstrip('/')}" if namespace else name


def openlineage_pair(uri: str, rules: Rules) -> tuple[str, str]:
    """The (namespace, name) of a canonical URI: ``openlineage_uri`` of it, under the same rules, is
    a spelling of the URI.

    jdbc:postgresql://h/db:hr.t  =>  postgres://h:5432  db.hr.t
    kafka://broker/orders        =>  kafka://broker:9092  orders
    s3://lake/orders             =>  s3://lake          orders
    file:/lake/t                 =>  file               /lake/t

    Identity leaves the usual port out; OpenLineage's names of servers have it.
    """
    if uri.startswith("jdbc:"):
        return _jdbc_pair(uri, rules)
    scheme, authority, rest = uri.partition("://")
    if scheme == "bigquery":
        return scheme, rest.replace(":", ".", 1)
    if authority:
        host, _, name = rest.partition("/")
        if scheme == "cassandra":
            name = name.replace(":", ".", 1)
        port = dict(rules.default_ports).get(scheme, "") if scheme in _WITH_PORT else ""
        return f"{scheme}://{_with_port(host, port)}", name
    if _BARE_SCHEME.match(uri) and not uri.startswith("arn:"):
        scheme, _, name = uri.partition(":")
        return scheme, name
    namespace, _, name = uri.partition("/")
    return namespace.replace("%2F", "/").replace("%25", "%"), name


def _jdbc_pair(uri: str, rules: Rules) -> tuple[str, str]:
    driver, _, rest = uri.removeprefix("jdbc:").partition(":")
    schemes = (scheme for scheme, named in rules.openlineage_jdbc if named == driver)
    scheme = next(schemes, driver)
    rest = rest.removeprefix("thin:@")
    if not rest.startswith("//"):  # jdbc:sqlite:/lake/hr.db:t
        place, _, table = rest.rpartition(":")
        return f"{scheme}:{place}", table
    server, _, below = rest[2:].partition("/")
    database, _, table = below.partition(":")
    known = next((d for d in rules.jdbc_drivers if d.name == driver), None)
    server = _with_port(server, known.port if known and known.port != _WEB_PORT else "")
    return f"{scheme}://{server}", ".".join(part for part in (database, table) if part)


def _with_port(host: str, port: str) -> str:
    has_port = host.rpartition(":")[2].isdigit()
    return host if not host or not port or has_port or "," in host else f"{host}:{port}"


def openlineage_symlink(namespace: str, name: str, kind: str, rules: Rules = DEFAULT_RULES) -> str:
    """The URI behind a symlink identifier; ``kind`` is TABLE, LOCATION or DB_TABLE.

    A TABLE in the namespace of a warehouse directory (``file:/warehouse``, ``hr.t``), or in none,
    is a name in the session's own catalog. In the namespace of a web address it is one in the REST
    catalog there (Polaris, Nessie, Unity), as a dataset of that namespace is.
    """
    scheme = namespace.partition(":")[0].lower()
    scheme = dict(rules.scheme_aliases).get(scheme, scheme)
    if kind.upper() == "TABLE" and (not namespace or _has_paths(scheme, rules)):
        return catalog_table(None, unquoted_text(name), rules=rules)
    return openlineage_uri(namespace, name, rules)


def _has_paths(scheme: str, rules: Rules) -> bool:
    """Whether names are paths or topics there, in which quotes are characters as any other."""
    paths = (*rules.file_schemes, *rules.topic_schemes, *rules.memory_schemes)
    return dict(rules.scheme_aliases).get(scheme, scheme) in paths and scheme not in WEB_SCHEMES


def _jdbc(driver: str, namespace: str, name: str, rules: Rules) -> str:
    parts = _parts(name)
    table = name if parts is None else identifier_text(parts)
    known = next((d for d in rules.jdbc_drivers if d.name == driver), None)
    levels = known.levels if known else 0
    rest = namespace.partition(":")[2]
    if known and known.embedded and not known.port:  # duckdb:///lake/hr.duckdb: a file, no host
        rest = rest.removeprefix("//")
    if not rest.startswith("//"):  # sqlite:/lake/hr.db
        return f"jdbc:{driver}:{rest}:{table}"
    server = rest.rstrip("/")
    database, _, below = name.partition(".")
    if parts is not None:
        database, below = _DIVIDING.sub(percent, parts[0]), identifier_text(parts[1:])
    if driver == "oracle":
        return f"jdbc:oracle:thin:@{server}/{database}:{below}"
    if levels and (len(parts) if parts is not None else name.count(".") + 1) == levels:
        return f"jdbc:{driver}:{server}/{database}:{below}"
    return f"jdbc:{driver}:{server}/:{table}"


def _parts(name: str) -> tuple[str, ...] | None:
    """``hr.raw/staff`` => ("hr", "raw/staff"), ``"DB"."S"."T"`` => ("DB", "S", "T"); None for a
    query and for a name with an empty part.

    In quotes, blanks and a URL's characters belong to the table.
    """
    parts = identifier_parts(name)
    if parts is None and _SPELLED.search(name) is None:
        parts = tuple(name.split("."))
    return parts if parts and all(parts) else None


#: Servers whose namespace has their port; a warehouse behind a web address has none.
_WITH_PORT: Final = frozenset({"kafka", "mongodb", "elasticsearch", "hive", "cassandra", "milvus"})
_WEB_PORT: Final = "443"
#: A scheme with a name behind it: file:/lake/t, kafka:orders.
_BARE_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:")
#: The time of a table in BigQuery: t@-3600000, t@1700000000000-.
_TABLE_AT: Final = re.compile(r"@-?[0-9]{1,20}(?:-(?:-?[0-9]{1,20})?)?\Z")
#: A name that is quoted already, and a query.
_SPELLED: Final = re.compile(r"[\"`\[\]()]|\b(?:select|with|from|join|values)\b", re.IGNORECASE)
#: What would end the name of a database in a URL.
_DIVIDING: Final = re.compile(r"[:?;&=/\s]")
