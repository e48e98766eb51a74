"""OpenLineage's (namespace, name) pairs, in the spelling that :func:`normalise` reads.

One location is one vertex for every client: ``("file", "/lake/t")`` and Spline's ``file:/lake/t``,
``("postgres://h:5432", "db.hr.t")`` and ``jdbc:postgresql://h:5432/db:hr.t``.
"""

from __future__ import annotations

import re
from typing import Final

from graph_model.naming.catalogs import catalog_table
from graph_model.naming.identifiers import identifier_text
from graph_model.naming.rules import DEFAULT_RULES, Rules


def openlineage_uri(namespace: str, name: str, rules: Rules = DEFAULT_RULES) -> str:
    """The URI of an OpenLineage dataset, to be normalised. Never raises."""
    scheme = namespace.partition(":")[0].lower()
    if scheme == "jdbc":
        return f"{namespace}:{name}"
    if ":" in namespace and scheme in dict(rules.openlineage_jdbc):
        return _jdbc(dict(rules.openlineage_jdbc)[scheme], namespace, name, rules)
    if scheme == "kafka":
        return f"kafka:{name}"
    if scheme == "cassandra":
        return "cassandra:" + name.replace(".", ":", 1)
    if scheme == "bigquery":
        place = namespace.partition("://")[2].strip("/")  # ("bigquery://project", "dataset.table")
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


def openlineage_symlink(namespace: str, name: str, kind: str, rules: Rules = DEFAULT_RULES) -> str:
    """The URI behind a symlink identifier; ``kind`` is TABLE, LOCATION or DB_TABLE.

    A TABLE in the namespace of a warehouse directory (``file:/warehouse``, ``hr.t``), or in none,
    is a name in the session's own catalog.
    """
    scheme = namespace.partition(":")[0].lower()
    scheme = dict(rules.scheme_aliases).get(scheme, scheme)
    if kind.upper() == "TABLE" and (not namespace or scheme in rules.file_schemes):
        return catalog_table(None, name, rules=rules)
    return openlineage_uri(namespace, name, rules)


def _jdbc(driver: str, namespace: str, name: str, rules: Rules) -> str:
    name = _delimited(name)
    known = next((d for d in rules.jdbc_drivers if d.name == driver), None)
    levels = known.levels if known else 0
    rest = namespace.partition(":")[2]
    if known and known.embedded and not known.port:  # duckdb:///lake/hr.duckdb: a file, no host
        rest = rest.removeprefix("//")
    if not rest.startswith("//"):  # sqlite:/lake/hr.db
        return f"jdbc:{driver}:{rest}:{name}"
    if driver == "oracle":
        service, _, table = name.partition(".")
        return f"jdbc:oracle:thin:@{rest.rstrip('/')}/{service}:{table}"
    if levels and len(re.findall(r"\.", name)) == levels - 1:
        database, _, table = name.partition(".")
        return f"jdbc:{driver}:{rest.rstrip('/')}/{database}:{table}"
    return f"jdbc:{driver}:{rest.rstrip('/')}/:{name}"


#: A name that is quoted already, and a query.
_SPELLED: Final = re.compile(r"[\"`\[\]()]|\b(?:select|with|from|join|values)\b", re.IGNORECASE)


def _delimited(name: str) -> str:
    """``hr.raw/staff`` => ``hr."raw/staff"``: in quotes blanks and a URL's characters belong to the
    table.
    """
    parts = tuple(name.split("."))
    return name if _SPELLED.search(name) or not all(parts) else identifier_text(parts)
