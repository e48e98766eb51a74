"""Names in SQL: folded as a dialect folds them, qualified, and the columns that schemas declare.

SELECT "Id", Name FROM Orders          postgres, database dev, schema sales
table   dev.sales.orders
columns dev.sales.orders#Id, dev.sales.orders#name
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, Dialects, NormalizationStrategy

Leaf = tuple[str, str]  # a table's text and the path of one of its columns
Parts = tuple[str, ...]

ANY_COLUMN: Final = "*"
"""The name of all columns of a table whose columns are not known."""

_OTHER_NAMES: Final = {
    "postgresql": "postgres", "sqlserver": "tsql", "mssql": "tsql", "mariadb": "mysql",
    "sparksql": "spark", "spark-sql": "spark",
}  # fmt: skip
DIALECTS: Final[Mapping[str, str]] = {
    **{dialect.value: dialect.value for dialect in Dialects if dialect.value},
    **_OTHER_NAMES,
}
"""What a caller may say => sqlglot's name."""
OF_TSQL: Final = frozenset({"tsql", "fabric"})
OF_MYSQL: Final = frozenset({"mysql", "doris", "starrocks", "singlestore"})
OF_POSTGRES: Final = frozenset({"postgres", "redshift", "materialize", "risingwave"})

_KEEP: Final = str
_FOLDING: Final[Mapping[NormalizationStrategy, tuple[Callable[[str], str], bool]]] = {
    NormalizationStrategy.LOWERCASE: (str.lower, False),
    NormalizationStrategy.UPPERCASE: (str.upper, False),
    NormalizationStrategy.CASE_INSENSITIVE: (str.lower, True),
    NormalizationStrategy.CASE_INSENSITIVE_UPPERCASE: (str.upper, True),
    NormalizationStrategy.CASE_SENSITIVE: (_KEEP, True),
}
"""How a name without quotes is folded, and whether one in quotes is, too."""

#: A database is a schema there: a name has two parts at most.
_TWO_LEVELS: Final = frozenset({"mysql", "hive", "clickhouse", "doris", "starrocks", "teradata"})
#: USE names a schema there, even where a catalog may stand before it.
_SCHEMAS_USED: Final = _TWO_LEVELS | {"spark", "databricks", "trino", "presto", "athena", "duckdb"}
_DEFAULT_SCHEMAS: Final = {"tsql": "dbo", "fabric": "dbo", "snowflake": "PUBLIC"}
_IN_QUOTES: Final = re.compile(r'[."`]')
_FILE_FORMATS: Final = frozenset({"parquet", "csv", "json", "orc", "avro", "text", "delta"})
_FILE: Final = re.compile(r"(?i)/|\.(?:csv|tsv|parquet|json|jsonl|ndjson)(?:\.\w+)?\Z")


class SqlNames:
    """The names of one text. USE, SET search_path and the tables that the text makes change it."""

    def __init__(
        self,
        dialect: str,
        database: str,
        schema: str,
        schemas: Mapping[str, Sequence[str]],
        *,
        folded: bool = True,
    ) -> None:
        """``dialect`` is sqlglot's name; ``schemas`` the columns of ``schema.table``, in order;
        ``schema`` a default schema, or several with commas between (a search path). Names that are
        not ``folded`` stay as they are written.
        """
        self.dialect = dialect
        self._fold, self._fold_quoted = _FOLDING[
            Dialect.get_or_raise(dialect or None).NORMALIZATION_STRATEGY
            if folded
            else NormalizationStrategy.CASE_SENSITIVE
        ]
        self.database = self._folded(database.strip())
        self.search_path(schema)
        self._declared: dict[Parts, tuple[str, ...]] = {}
        self._ends: dict[Parts, tuple[str, ...] | None] = {}  # of the names of declared tables
        for name, columns in schemas.items():
            self.declare(name, tuple(map(self._stored, columns)))

    def search_path(self, text: str) -> None:
        named = (part.strip().strip("\"'`") for part in text.split(","))
        self.path = tuple(self._folded(part) for part in named if part and part != "$user")

    def use(self, name: str, kind: str) -> None:
        """USE names a database; where a database is a schema, that one, if not ``kind`` CATALOG."""
        if kind == "SCHEMA" or (kind != "CATALOG" and self.dialect in _SCHEMAS_USED):
            self.path = (name,)
        else:
            self.database = name

    def _folded(self, name: str) -> str:
        return self._fold(name)

    def _stored(self, name: str) -> str:
        """The name as a database stores it: lists of columns are spelled either way."""
        return self._fold(name) if name.islower() or self._fold_quoted else name

    # --- identifiers -----------------------------------------------------------------------------

    def identifier(self, node: exp.Expr | str) -> str:
        """A name of a column or of an alias."""
        if not isinstance(node, exp.Identifier):
            return self._fold(node if isinstance(node, str) else node.name)
        of_session = "##" if node.args.get("global_") else "#" if node.args.get("temporary") else ""
        name = f"{of_session}{node.this}"  # #orders of T-SQL is another table than orders
        return name if node.quoted and not self._fold_quoted else self._fold(name)

    def _of_table(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Parameter):  # @t, a table variable
            return f"@{node.name.lower()}"
        if isinstance(node, exp.Var):  # @stage/path
            return str(node.name)
        if self.dialect == "bigquery":  # tables have a case there, columns have none
            return str(node.name)
        return self.identifier(node)

    def parts(self, table: exp.Table) -> Parts:
        """The name of a table as written: (database, schema, table), the last ones at least.

        ``db..t`` has the default schema.
        """
        if isinstance(table.this, exp.DynamicIdentifier) and table.this.this.is_string:
            table = exp.to_table(table.this.this.name, dialect=self.dialect or None)
        parts = tuple(self._of_table(part) for part in table.parts if part.name)
        if table.args.get("catalog") is not None and not table.db and len(parts) == 2:
            default = _DEFAULT_SCHEMAS.get(self.dialect, "public")
            return (parts[0], self.path[0] if self.path else default, parts[1])
        return parts

    def table(self, table: exp.Table) -> str:
        """The qualified name of a table; a path or URI stands as it is."""
        parts = self.parts(table)
        if self._is_path(table, parts):
            return table.name
        if isinstance(table.this, exp.Var | exp.Parameter):  # a stage, a table variable
            return qualified_name(parts)
        return qualified_name(self.qualified(parts))

    def is_file(self, table: exp.Table) -> bool:
        """A URI, ``parquet.`/x```, ``@stage/x.csv`` of Snowflake, ``'x.csv'`` of DuckDB."""
        parts = self.parts(table)
        named = self.dialect == "duckdb" and len(parts) == 1 and _FILE.search(parts[0])
        return self._is_path(table, parts) or qualified_name(parts)[:1] == "@" or bool(named)

    @staticmethod
    def _is_path(table: exp.Table, parts: Parts) -> bool:
        place = table.name
        return "://" in place or (len(parts) == 2 and parts[0] in _FILE_FORMATS and "/" in place)

    def qualified(self, parts: Parts) -> Parts:
        """``orders`` => (dev, sales, orders), as far as there are defaults."""
        if self.dialect in _TWO_LEVELS:
            default = self.path[0] if self.path else self.database
            return (default, *parts) if default and len(parts) == 1 else parts
        if len(parts) == 1 and self.path:
            known = (s for s in self.path if self.columns(qualified_name((s, *parts))) is not None)
            parts = (next(known, self.path[0]), *parts)
        return (self.database, *parts) if self.database and len(parts) < 3 else parts

    # --- columns ---------------------------------------------------------------------------------

    def columns(self, table: str) -> tuple[str, ...] | None:
        """The columns of a qualified table, in order; None where no schema tells them."""
        parts = tuple(map(str.lower, split_name(table)))
        columns = self._declared.get(parts)
        if columns is None and len(parts) > 2:  # a schema that does not say its database
            columns = self._declared.get(parts[1:])
        return self._ends.get(parts) if columns is None else columns

    def declare(self, table: str, columns: tuple[str, ...]) -> None:
        """The columns of a table. An end of its name that two tables share names neither."""
        parts = tuple(map(str.lower, self.qualified(split_name(table))))
        self._declared[parts] = columns
        for start in range(1, len(parts)):
            known = self._ends.setdefault(parts[start:], columns)
            if known != columns:
                self._ends[parts[start:]] = None


def qualified_name(parts: Sequence[str]) -> str:
    """(dev, a.b, t) => ``dev."a.b".t``: the name of a table wherever it is written down.

    A part with a dot or a quote is in quotes, unless it is a place (a URI, a stage).
    """
    return ".".join(
        '"' + part.replace('"', '""') + '"'
        if _IN_QUOTES.search(part) and "://" not in part and part[0] != "@"
        else part
        for part in parts
    )


def split_name(text: str) -> Parts:
    """``dev."a.b".t`` => (dev, a.b, t), as ``qualified_name`` wrote it; a URI is one part."""
    if "://" in text:
        return (text,)
    parts: list[str] = []
    part: list[str] = []
    quote = ""
    for character, following in zip(text, (*text[1:], ""), strict=True):
        if quote == "twice":
            part.append(character)
            quote = '"'
        elif character == quote == following == '"':
            quote = "twice"
        elif character == quote:
            quote = ""
        elif character in '"`' and not quote:
            quote = character
        elif character == "." and not quote:
            parts.append("".join(part))
            part.clear()
        else:
            part.append(character)
    return (*parts, "".join(part))


def quoted_name(parts: Sequence[str], dialect: str) -> str:
    """(dev, a.b, t) => ``"dev"."a.b"."t"``, as one of ``DIALECTS`` quotes."""
    known = DIALECTS[dialect]
    return ".".join(exp.to_identifier(part, quoted=True).sql(dialect=known) for part in parts)


def column_text(leaf: Leaf) -> str:
    """``schema.table#column``."""
    return f"{leaf[0]}#{leaf[1]}"
