"""Dataset identity: one canonical URI for everything that means one dataset.

:func:`normalise` is total (any text has a name), idempotent, linear in the text, and a function
of the URI, the capture scope and the rules alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from graph_model.naming import catalogs, jdbc, partitions
from graph_model.naming.catalogs import (
    catalog_table,
    identifier_parts,
    identifier_text,
    in_case,
    unquoted_text,
)
from graph_model.naming.columns import fold
from graph_model.naming.partitions import (
    percent,
    printable,
    without_needless,
    without_secret_parameters,
    without_secrets,
)
from graph_model.naming.rules import DEFAULT_RULES, WEB_SCHEMES, Rules
from graph_model.regular_expressions import expand_groups, match_whole
from spark_agent_config import masking
from spark_agent_config.masking.names import LOGIN_SCHEMES
from spark_agent_config.masking.urls import user_info_end

Kind = Literal["file", "table", "jdbc", "topic", "name", "pattern", "memory", "other"]

_CACHED_LENGTH: Final = 2048  # characters: longer URIs are rare and would fill memory
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]{0,63}):")
_ROUNDS: Final = 8
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_AUTHORITY_END: Final = re.compile("/")
_WEB_AUTHORITY_END: Final = re.compile("[/?#]")
PROGRAM_MEMORY: Final = "memory:jvm"
"""Where a collect() or toPandas() puts its rows: gone with the program, so no dataset."""


@dataclass(frozen=True, slots=True)
class DatasetName:
    """``uri``, ``name`` and ``kind`` are a function of the canonical URI alone.

    ``scope`` is the capture scope where the URI has no authority of its own, otherwise empty.
    ``partition_keys`` are the keys stripped from the path, in path order; ``partition`` the
    canonical ``key=value/key=value`` when all of them have a value, otherwise None. ``unresolved``:
    a JDBC query whose tables are unknown; the URI contains its text.
    """

    uri: str
    scope: str
    name: str
    kind: Kind
    partition_keys: tuple[str, ...] = ()
    partition: str | None = None
    unresolved: bool = False


@dataclass(frozen=True, slots=True)
class _Description:
    """The properties that follow from a canonical URI."""

    kind: Kind
    name: str
    shared: bool  # it has an authority: one dataset in every scope


@dataclass(frozen=True, slots=True)
class _Located:
    """A file's canonical URI in parts, before it is assembled."""

    uri: str
    stripped: partitions.Stripped


def normalise(uri: str, scope: str, rules: Rules = DEFAULT_RULES) -> tuple[DatasetName, ...]:
    """The datasets that a URI names: one, or several for a JDBC query over several tables.

    ``scope`` is the capture scope of the document. Never raises. An unknown scheme is kept, without
    secrets; control characters and lone surrogates are percent-encoded in every URI, so that any
    store accepts it.
    """
    if len(uri) <= _CACHED_LENGTH:
        return _normalise_cached(uri, scope, rules)
    return _normalise(uri, scope, rules)


@lru_cache(maxsize=16_384)
def _normalise_cached(uri: str, scope: str, rules: Rules) -> tuple[DatasetName, ...]:
    return _normalise(uri, scope, rules)


def _normalise(uri: str, scope: str, rules: Rules) -> tuple[DatasetName, ...]:
    """Normalise repeatedly until the result is stable: a broken URL may need a second pass."""
    settled: dict[str, DatasetName] = {}
    first = _read(uri, scope, rules)
    if len(first) == 1 and first[0].uri == uri:
        return first  # the next pass would read the same text
    waiting = [(name, _ROUNDS) for name in first]
    while waiting:
        name, rounds = waiting.pop()
        again = _read(name.uri, scope, rules)
        if not rounds or (len(again) == 1 and again[0].uri == name.uri):
            settled[name.uri] = name
        else:
            waiting.extend((_joined(inner, name), rounds - 1) for inner in again)
    return tuple(settled[key] for key in sorted(settled))


def _joined(inner: DatasetName, outer: DatasetName) -> DatasetName:
    """The segments stripped by the second pass precede those of the first."""
    known = [part for part in (inner.partition, outer.partition) if part]
    whole = len(known) == bool(inner.partition_keys) + bool(outer.partition_keys)
    return replace(
        inner,
        partition_keys=inner.partition_keys + outer.partition_keys,
        partition="/".join(known) if known and whole else None,
    )


def _read(uri: str, scope: str, rules: Rules) -> tuple[DatasetName, ...]:
    # Documents are masked before they are stored, so a reference typed by hand is masked as well.
    masked = masking.mask_uri(uri)
    scheme, rest = _split_scheme(masked, rules)
    if scheme == "jdbc":
        uris, unresolved = jdbc.canonical(f"jdbc:{rest}", rules)
        return tuple(_named(canonical, scope, rules, unresolved=unresolved) for canonical in uris)
    text = printable(masked)
    if text != uri:  # the same text has no other mask
        text = masking.mask_uri(text)
        scheme, rest = _split_scheme(text, rules)
    if (catalog := catalogs.parse(text, rules)) is not None:
        return (_named(catalog.uri, scope, rules),)
    if (path := catalogs.path_of(text, rules)) is not None:
        return _read(path, scope, rules)
    if scheme in rules.file_schemes:
        located = _file(scheme, rest, rules)
        stripped = located.stripped
        return (_named(located.uri, scope, rules, stripped.keys, stripped.partition),)
    if scheme == "bigquery":
        table, stripped = _decorated(rest, rules)
        return (_named(f"{scheme}:{table}", scope, rules, stripped.keys, stripped.partition),)
    return (_named(_other(scheme, rest, text, rules), scope, rules),)


def _named(
    uri: str,
    scope: str,
    rules: Rules,
    keys: tuple[str, ...] = (),
    partition: str | None = None,
    *,
    unresolved: bool = False,
) -> DatasetName:
    about = _describe(uri, rules)
    held = "" if about.shared else scope
    return DatasetName(uri, held, about.name, about.kind, keys, partition, unresolved)


def _split_scheme(uri: str, rules: Rules) -> tuple[str, str]:
    """(canonical scheme, the text after its colon); a bare path is a file, "" means none."""
    if _DRIVE.match(uri):  # C:\data
        return "file", "/" + uri.replace("\\", "/")
    match = _SCHEME.match(uri)
    if match is None:
        return ("file", "/" + uri.lstrip("/")) if uri.startswith("/") else ("", uri)
    scheme = match[1].lower()
    return dict(rules.scheme_aliases).get(scheme, scheme), uri[match.end() :]


# --- files ---------------------------------------------------------------------------------------


def _file(scheme: str, rest: str, rules: Rules) -> _Located:
    """Canonical URI of a path in a file system, partitions stripped."""
    authority, path = _authority_and_path(scheme, rest, rules)
    path, query = _path_and_query(scheme, path)
    absolute = bool(authority) or path.startswith("/") or bool(_DRIVE.match(path))
    segments = _segments(path)
    for mounted, directory, actual in rules.mounts:
        if scheme == mounted and not authority and absolute and segments[:1] == [directory]:
            scheme, segments = actual, segments[1:]
    stripped = partitions.strip(segments, rules)
    tail = "/".join(stripped.segments)
    if authority:
        uri = f"{scheme}://{authority}" + (f"/{tail}" if tail else "")
    else:
        uri = f"{scheme}:/{tail}" if absolute or not tail else f"{scheme}:{tail}"
    return _Located(uri + query, stripped)


def _authority_and_path(scheme: str, rest: str, rules: Rules) -> tuple[str, str]:
    if not rest.startswith("//"):
        return "", rest
    start = 2 if scheme in rules.container_schemes else user_info_end(rest, 2)
    match = (_WEB_AUTHORITY_END if scheme in WEB_SCHEMES else _AUTHORITY_END).search(rest, start)
    end = match.start() if match else len(rest)
    authority, path = rest[start:end], rest[end:] or "/"
    if scheme == "file" and _DRIVE.match(f"{authority}/"):  # file://C:/data
        return "", f"/{authority}{path}"
    return _authority(scheme, authority, rules), path


def _authority(scheme: str, text: str, rules: Rules) -> str:
    """In lower case, with one spelling of default port and end point; a local file has none."""
    host = text.lower()
    if port := dict(rules.default_ports).get(scheme):
        host = host.removesuffix(f":{port}")
    for aliased, suffix, canonical in rules.host_suffix_aliases:
        if scheme == aliased and host.endswith(suffix):
            host = host.removesuffix(suffix) + canonical
    return "" if scheme == "file" and host in rules.loopback_hosts else host


def _path_and_query(scheme: str, path: str) -> tuple[str, str]:
    """Only web schemes have queries; elsewhere ``?`` is a glob, unless it carries secrets."""
    path = without_secret_parameters(path)
    if scheme not in WEB_SCHEMES:
        return path, ""
    path, mark, query = path.partition("?")
    return path, mark + query if query else ""


def _segments(path: str) -> list[str]:
    """Path segments: empty ones and ``.`` dropped, ``..`` resolved, unreserved escapes decoded.

    Hadoop also resolves dots in the text alone. A ``..`` above the root is kept.
    """
    segments: list[str] = []
    for raw in path.split("/"):
        segment = without_needless(raw)
        if segment in ("", "."):
            continue
        if segment == ".." and segments and segments[-1] != "..":
            segments.pop()
        else:
            segments.append(segment)
    return segments


# --- other stores --------------------------------------------------------------------------------


def _other(scheme: str, rest: str, text: str, rules: Rules) -> str:
    """Canonical URI of a text that is no file, no JDBC table and no catalog name."""
    if scheme in rules.memory_schemes and "/jvm_" in rest:
        return PROGRAM_MEMORY  # memory://<mac>/jvm_<uuid> is another one in every run
    if scheme in LOGIN_SCHEMES and not rest.startswith("//"):
        rest = rest.rpartition("@")[2]
        text = f"{scheme}:{rest}"
    if scheme in rules.hosts_left_out:
        return _without_other_servers(scheme, rest, rules)
    stores = (*rules.table_schemes, *rules.topic_schemes)
    if scheme in stores and rest.startswith("//"):
        return _store(scheme, rest, rules)
    if scheme in (*stores, *rules.opaque_table_schemes, *rules.memory_schemes):
        return f"{scheme}:{rest}"
    return without_secrets(text, rules)


def _decorated(rest: str, rules: Rules) -> tuple[str, partitions.Stripped]:
    """``//p:d.t$20260105`` => ``//p:d.t``, date=2026-01-05.

    https://cloud.google.com/bigquery/docs/managing-partitioned-table-data
    """
    table, mark, decorator = rest.partition("$")
    stripped = partitions.strip((table, decorator), rules)
    if not mark or not table or stripped.segments != (table,):
        pairs = (("partition", decorator),) if mark and table and decorator else ()
        stripped = partitions.Stripped((table,), pairs)
    return table, stripped


def _without_other_servers(scheme: str, rest: str, rules: Rules) -> str:
    """``kafka://B2:9092,b1/t`` => ``kafka://b1/t``, ``cassandra://h/k.t`` => ``cassandra://h/k:t``.

    Clients list the servers of a cluster in any order and number. No two clusters share one, so the
    first by name stands for the cluster: lists that have it are one.
    """
    if not rest.startswith("//"):
        return f"{scheme}:{rest}"
    start = user_info_end(rest, 2)
    hosts, slash, name = rest[start:].partition("/")
    name = name.strip("/")
    if scheme == "cassandra":
        name = name.replace(".", ":", 1) if ":" not in name else name
    elif not slash and ":" not in hosts:  # kafka://topic
        return f"{scheme}:{hosts}"
    cluster = min(_cluster(scheme, host, rules) for host in hosts.split(","))
    return f"{scheme}://{cluster}" + (f"/{name}" if name else "")


def _cluster(scheme: str, host: str, rules: Rules) -> str:
    """The cluster of a server by the rules, else the server."""
    host = host.strip().lower().removesuffix(f":{dict(rules.default_ports).get(scheme, '')}")
    for pattern, written in rules.cluster_patterns:
        if groups := match_whole(pattern, host):
            return expand_groups(written, groups)
    return host


def without_hosts(
    name: DatasetName, scope: str, rules: Rules = DEFAULT_RULES
) -> DatasetName | None:
    """The dataset as a client of this scope names it that leaves out the servers; None where no
    client does.

    ``kafka://b1/t`` => ``kafka:t``
    """
    scheme, rest = _split_scheme(name.uri, rules)
    path = rest[2:].partition("/")[2] if rest.startswith("//") else ""
    if scheme not in rules.hosts_left_out or not path:
        return None
    return _named(f"{scheme}:{path}", scope, rules)


def _store(scheme: str, rest: str, rules: Rules) -> str:
    """``mongodb://u:p@B,A:27017/?w=1/hr.staff`` => ``mongodb://a,b/hr.staff``."""
    start = user_info_end(rest, 2)
    slash = rest.find("/", start)
    hosts, path = (rest[start:], "") if slash < 0 else (rest[start:slash], rest[slash:])
    port = dict(rules.default_ports).get(scheme)
    listed = {host.lower().removesuffix(f":{port}") for host in hosts.split(",")}
    parts = [part.partition("?")[0] for part in path.split("/")]
    parts = [part for part in parts if part]
    if scheme.startswith("mongodb"):
        parts = parts[-1:]
    if scheme == "elasticsearch" and parts[1:] == ["_doc"]:
        parts = parts[:1]
    case = dict(rules.identifier_cases).get(scheme, "")
    path = "".join(f"/{in_case(part, case)}" for part in parts)
    return f"{scheme}://{','.join(sorted(listed))}{path}"


# --- the properties of a canonical URI -----------------------------------------------------------


def _describe(uri: str, rules: Rules) -> _Description:
    scheme, rest = _split_scheme(uri, rules)
    if scheme == "jdbc":
        return _Description("jdbc", jdbc.short_name(uri, rules), jdbc.has_authority(uri, rules))
    if (catalog := catalogs.parse(uri, rules)) is not None:
        return _Description("name", ".".join(catalog.parts), catalog.shared)
    authority = _authority_of(rest)
    shared = bool(authority) and not _is_loopback(authority, rules)
    if scheme in rules.file_schemes:
        return _describe_file(scheme, rest, rules, shared=shared)
    name = rest.rstrip("/").rpartition("/")[2]
    if scheme in rules.topic_schemes:
        kind: Kind = "pattern" if partitions.is_glob(name) else "topic"
        return _Description(kind, name or rest, shared)
    if scheme in rules.memory_schemes:
        return _Description(
            "memory", "memory" if uri == PROGRAM_MEMORY else name or uri, shared=False
        )
    if scheme in (*rules.table_schemes, *rules.opaque_table_schemes):
        held = shared or scheme in rules.global_opaque_schemes
        return _Description("table", name.rpartition(":")[2] or name, held)
    return _Description("other", name or uri, shared)


def _describe_file(scheme: str, rest: str, rules: Rules, *, shared: bool) -> _Description:
    path = rest.partition("?")[0] if scheme in WEB_SCHEMES else rest
    segments = [part for part in path.split("/") if part]
    globs = [index for index, part in enumerate(segments) if partitions.is_glob(part)]
    plain = scheme in WEB_SCHEMES and "?" not in rest and len(segments) > 1
    if plain and _is_catalog_name(segments[-1], rules):
        return _Description("name", segments[-1], shared)
    if not globs:
        return _Description("file", segments[-1] if segments else f"{scheme}:/", shared)
    named = segments[max(0, globs[0] - 1) :]
    return _Description("pattern", "/".join(named), shared)


def _is_catalog_name(segment: str, rules: Rules) -> bool:
    """``db.t`` at the end of a web address: a table of a REST catalog (Polaris, Nessie, Unity)."""
    suffixes = (*rules.data_file_suffixes, *rules.web_file_suffixes)
    return _DOTTED.fullmatch(segment) is not None and not segment.lower().endswith(suffixes)


_DOTTED: Final = re.compile(r"[^\W\d][\w$-]{0,254}(?:\.[^\W\d][\w$-]{0,254}){1,8}")


def _authority_of(rest: str) -> str:
    return rest[2:].partition("/")[0] if rest.startswith("//") else ""


def _is_loopback(authority: str, rules: Rules) -> bool:
    hosts = (host.rpartition("@")[2] for host in authority.lower().split(","))
    return all(_without_port(host) in rules.loopback_hosts for host in hosts)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


# Tables about a table: ``db.t.snapshots`` of Iceberg holds facts about ``db.t``, not its rows.
#
#     s3://wh/db/t, read under the name db.t.snapshots  =>  s3://wh/db/t.snapshots
#     s3://wh/db/t.snapshots                            =>  is about s3://wh/db/t
#     spark_catalog/db.t.snapshots                      =>  is about spark_catalog/db.t
#     jdbc:trino://h/ice:db.t$snapshots (Athena, Paimon)  =>  is about jdbc:trino://h/ice:db.t
#     s3://wh/db/t, read under the name db.t$options    =>  s3://wh/db/t$options, about s3://wh/db/t
#     s3://wh/db/t#snapshots (a path that Spark loads)  =>  is about s3://wh/db/t
#
# Engines give such a table the place of its table, so that ``SELECT operation FROM db.t.snapshots``
# would read a column of the data. It is a dataset of its own. Which table it is about follows from
# its URI alone.

_PARTS: Final = 3
"""Of the name of such a table at least: a database, its table, the word."""


def metadata_table(
    place: DatasetName, name: DatasetName, rules: Rules = DEFAULT_RULES
) -> DatasetName:
    """The dataset that is read at a place under a catalog name: the place, or the table about it.

    A table that is called ``files`` itself lies in a place of that name.
    """
    word = _word(name, rules) or fold(_behind_a_sign(name, rules)[1:])
    if not word or place.kind != "file" or fold(place.name) == word or table_of(place, rules):
        return place
    sign = "." if word in rules.metadata_tables else "$"
    return normalise(f"{place.uri}{sign}{word}", place.scope, rules)[0]


def table_of(dataset: DatasetName, rules: Rules) -> DatasetName | None:
    """The table that a metadata table is about; None for any other dataset."""
    if behind := _behind_a_sign(dataset, rules):
        above = dataset.uri[: -len(behind)]
    elif dataset.kind == "file":
        above = dataset.uri.rpartition(".")[0] if _is_about(dataset, rules) else ""
    elif _word(dataset, rules):
        catalog = dataset.uri.rpartition("/")[0]
        above = f"{catalog}/{dataset.name.rpartition('.')[0]}"
    else:
        return None
    names = normalise(above, dataset.scope, rules) if above else ()
    return replace(names[0], partition_keys=(), partition=None) if len(names) == 1 else None


def tables_of(
    datasets: Iterable[DatasetName], rules: Rules = DEFAULT_RULES
) -> tuple[DatasetName, ...]:
    """The tables that the metadata tables among the datasets are about, each once."""
    tables = (table_of(dataset, rules) for dataset in datasets)
    return tuple(
        {(table.scope, table.uri): table for table in tables if table is not None}.values()
    )


def _behind_a_sign(dataset: DatasetName, rules: Rules) -> str:
    """``$snapshots`` of a table's name, ``#snapshots`` or ``$options`` of its path; else ""."""
    is_path = dataset.kind == "file"
    if not (is_path or dataset.kind == "name" or dataset.uri.startswith(rules.dollar_databases)):
        return ""
    if is_path and (behind := _behind(dataset.uri, "#", rules.metadata_tables)):
        return behind
    dotted = () if is_path else rules.metadata_tables
    return _behind(dataset.uri, "$", (*dotted, *rules.dollar_tables))


def _behind(uri: str, sign: str, words: tuple[str, ...]) -> str:
    table, _, word = uri.rpartition(sign)
    is_word = table and not table.endswith(("/", ".", ":")) and fold(word) in words
    return sign + word if is_word else ""


def _is_about(place: DatasetName, rules: Rules) -> bool:
    """``t.snapshots``: the last segment of a path ends with the word, after a dot."""
    table, dot, word = place.name.rpartition(".")
    return bool(table and dot) and fold(word) in rules.metadata_tables


def _word(name: DatasetName, rules: Rules) -> str:
    """``snapshots`` of ``db.t.snapshots``; "" for a name that is no metadata table's.

    In a catalog of three levels ``main.hr.files`` is a table: there a fourth part is needed.
    """
    if name.kind != "name":
        return ""
    parts = name.name.split(".")
    least = _PARTS + name.uri.startswith(rules.catalogs_of_three_levels)
    word = fold(parts[-1])
    return word if len(parts) >= least and word in rules.metadata_tables else ""


# --- OpenLineage's (namespace, name) pairs, in the spelling that normalise reads; and back --------

# One location is one vertex for every client: ("file", "/lake/t") and Spline's file:/lake/t,
# ("postgres://h:5432", "db.hr.t") and jdbc:postgresql://h:5432/db:hr.t.


def openlineage_uri(namespace: str, name: str, rules: Rules = DEFAULT_RULES) -> str:
    """The URI of an OpenLineage dataset, to be normalised. Never raises."""
    scheme = namespace.partition(":")[0].lower()
    if scheme == "jdbc":
        return f"{namespace}:{name}"
    if name.startswith("/") and ":" in name:
        # Spline's agent: ("mysql://h", "/shop:raw"), ("derby", "/lake/hr:STAFF")
        driver = dict(rules.openlineage_jdbc).get(scheme, scheme)
        known = next((d for d in rules.jdbc_drivers if d.name == driver), None)
        if known and (known.embedded or "://" in namespace):
            return f"jdbc:{driver}:{namespace.partition(':')[2]}{name}"
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


def asset_pair(uri: str, rules: Rules) -> tuple[str, str] | None:
    """The (namespace, name) of an Airflow asset; None where its URI names no place.

    s3://lake/in/a.csv                  =>  s3://lake               in/a.csv
    file:///lake/t                      =>  file                    /lake/t
    postgres://h:5432/shop/public/raw   =>  postgres://h:5432       shop.public.raw
    """
    scheme, separator, rest = uri.partition("://")
    server, _, path = rest.partition("/")
    if not (separator and scheme and path.strip("/")):
        return None
    if not server:
        return scheme, f"/{path}"
    files = _has_paths(scheme.lower(), rules)
    return f"{scheme}://{server}", path if files else path.strip("/").replace("/", ".")


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
