r"""The naming rules as JSON, for a platform team to read, change, preview and apply.

    {"schemeAliases": [["s3a", "s3"], …], "jobPatterns": [{"pattern": "etl-(?P<job>.+)-[0-9]+",
     "name": "\\g<job>", "shared": false}], …}

A document is a whole set: a missing table is the default one. The masking of secrets and texts is
no part of it: documents are masked before they are kept, with the rules of the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from typing import Any, Final, get_args, get_type_hints

from graph_model.errors import InvalidDocument
from graph_model.naming.catalogs import CASES
from graph_model.naming.rules import (
    DEFAULT_RULES,
    JdbcDriver,
    JobPattern,
    PartFile,
    Rules,
    job_name,
)
from graph_model.naming.uris import normalise
from graph_model.regular_expressions import check_expression, check_template

MOST_ENTRIES: Final = 500
MOST_TEXT: Final = 500
MOST_NUMBER: Final = 1_000_000
_OWN: Final = frozenset(
    {
        "version",
        "literal_patterns",
        "temporal_types",
        "volatile_texts",
    }
)
_TYPES: Final = get_type_hints(Rules)
_ENTRIES: Final = (JdbcDriver, PartFile, JobPattern)
_DATE: Final = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|[T_/:-])+")
_SAMPLES: Final = (
    "s3a://lake/raw/dt=2026-01-01/part-00000.parquet", "file:/data/2026/01/31", "hdfs:///x/y",
    "jdbc:postgresql://h:5432/db:public.t", "jdbc:snowflake://a-b_c/?db=D:S.T",
    "jdbc:sqlserver://h;database=d:t",
    "jdbc:redshift://c.x1.eu-west-1.redshift.amazonaws.com/d:s.t", "jdbc:sqlite:/x.db:t",
    "hive://h/db.t", "kafka:topic", "kafka://b2,b1:9093/t", "bigquery://p:d.t$20260131", "https://h/api/db.t",
    "abfss://c@a.dfs.core.windows.net/x", "spark_catalog/db.t", "", ":", "x:y", "delta.`/a/b`",
)  # fmt: skip


def write_rules(rules: Rules) -> dict[str, Any]:
    """Every settable table; ``read_rules`` reads it back."""
    return {_camel(name): _write(getattr(rules, name)) for name in _names()}


def read_rules(document: Any) -> Rules:
    """A set of rules from its JSON form; raises InvalidDocument naming the table and the entry."""
    if not isinstance(document, Mapping):
        raise InvalidDocument("", "a JSON object of tables")
    known = {_camel(name): name for name in _names()}
    for table in document:
        if table not in known:
            raise InvalidDocument(str(table)[:100], f"one of the tables {', '.join(known)}")
    values = {
        known[table]: _read_table(value, _TYPES[known[table]], table)
        for table, value in document.items()
    }
    rules = replace(DEFAULT_RULES, **values)
    _check(rules)
    return rules


def changed_tables(rules: Rules) -> tuple[str, ...]:
    """The tables that differ from the defaults."""
    return tuple(
        _camel(name) for name in _names() if getattr(rules, name) != getattr(DEFAULT_RULES, name)
    )


def _names() -> Iterator[str]:
    return (f.name for f in fields(Rules) if f.compare and f.name not in _OWN)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# --- writing -------------------------------------------------------------------------------------


def _write(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {_camel(name): _write(member) for name, member in asdict(value).items()}
    if isinstance(value, tuple):
        return [_write(member) for member in value]
    return value


# --- reading -------------------------------------------------------------------------------------


def _read_table(value: Any, kind: Any, path: str) -> Any:
    if kind is str:
        return _read_text(value, path)
    if kind is int:
        return _read_number(value, path)
    return _read_list(value, _reader(get_args(kind)[0]), path)


def _reader(kind: Any) -> Callable[[Any, str], Any]:
    if kind is str:
        return _read_text
    if kind in _ENTRIES:
        return lambda value, path: _read_entry(value, kind, path)
    size = len(get_args(kind))
    return lambda value, path: _read_row(value, size, path)


def _read_list(value: Any, read: Callable[[Any, str], Any], path: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) > MOST_ENTRIES:
        raise InvalidDocument(path, f"a list of up to {MOST_ENTRIES} entries")
    return tuple(read(entry, f"{path}[{number}]") for number, entry in enumerate(value))


def _read_row(value: Any, size: int, path: str) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) != size:
        raise InvalidDocument(path, f"a list of {size} texts")
    return tuple(_read_text(text, f"{path}[{number}]") for number, text in enumerate(value))


def _read_entry(value: Any, kind: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise InvalidDocument(path, "a JSON object")
    types = get_type_hints(kind)
    known = {_camel(f.name): f for f in fields(kind)}
    for name in value:
        if name not in known:
            raise InvalidDocument(f"{path}.{name!s:.100}", f"one of {', '.join(known)}")
    for name, field in known.items():
        if field.default is MISSING and name not in value:
            raise InvalidDocument(f"{path}.{name}", "a text")
    return kind(**{
        known[name].name: _read_value(given, types[known[name].name], f"{path}.{name}")
        for name, given in value.items()
    })  # fmt: skip


def _read_value(value: Any, kind: Any, path: str) -> Any:
    if kind is bool or kind is int:
        if type(value) is not kind or (kind is int and not 0 <= value <= 3):
            raise InvalidDocument(path, "true or false" if kind is bool else "0, 2 or 3")
        return value
    return _read_table(value, kind, path)


def _read_number(value: Any, path: str) -> int:
    if type(value) is not int or not 0 <= value <= MOST_NUMBER:
        raise InvalidDocument(path, f"a whole number from 0 to {MOST_NUMBER:,}")
    return value


def _read_text(value: Any, path: str) -> str:
    if not isinstance(value, str) or len(value) > MOST_TEXT or not value.isprintable():
        raise InvalidDocument(path, f"a printable text of up to {MOST_TEXT} characters")
    return value


# --- conditions on a whole set of rules ----------------------------------------------------------


def _check(rules: Rules) -> None:
    _check_aliases(rules)
    _check_cases(rules)
    _check_dates(rules)
    _check_patterns(rules)
    _check_samples(rules)


def _check_aliases(rules: Rules) -> None:
    """The target of an alias must be no alias itself: otherwise one URI would have two canonical
    forms.
    """
    sources = {source for source, _ in rules.scheme_aliases}
    for number, (source, target) in enumerate(rules.scheme_aliases):
        if not source or not target or target in sources:
            raise InvalidDocument(
                f"schemeAliases[{number}]", "a scheme and another that is no alias itself"
            )


def _check_cases(rules: Rules) -> None:
    for number, (_, case) in enumerate(rules.identifier_cases):
        if case not in CASES:
            raise InvalidDocument(f"identifierCases[{number}][1]", " or ".join(CASES))


def _check_dates(rules: Rules) -> None:
    for number, text in enumerate(rules.date_formats):
        if not _DATE.fullmatch(text) or "yyyy" not in text:
            raise InvalidDocument(f"dateFormats[{number}]", "yyyy MM dd HH mm ss and - _ / : T")


def _check_patterns(rules: Rules) -> None:
    for number, part in enumerate(rules.part_files):
        check_expression(part.pattern, f"partFiles[{number}].pattern")
    for number, job in enumerate(rules.job_patterns):
        path = f"jobPatterns[{number}]"
        check_expression(job.pattern, f"{path}.pattern")
        check_template(job.name, job.pattern, f"{path}.name")
    for number, (pattern, written) in enumerate(rules.cluster_patterns):
        check_expression(pattern, f"clusterPatterns[{number}][0]")
        check_template(written, pattern, f"clusterPatterns[{number}][1]")
    for number, (_, pattern, written) in enumerate(rules.jdbc_host_patterns):
        path = f"jdbcHostPatterns[{number}]"
        check_expression(pattern, f"{path}[1]")
        check_template(written, pattern, f"{path}[2]")


def _check_samples(rules: Rules) -> None:
    """Naming must accept every text and be idempotent under any tables."""
    for sample in _SAMPLES:
        try:
            names = normalise(sample, "", rules)
            job_name({}, sample, "", rules)
            again = {
                named.uri for name in names for named in normalise(name.uri, name.scope, rules)
            }
        except Exception as error:
            raise InvalidDocument("", f"rules that can name {sample!r} ({error})") from error
        if again != {name.uri for name in names}:
            raise InvalidDocument("", f"rules that name {sample!r} the same when asked twice")
