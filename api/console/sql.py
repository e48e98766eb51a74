"""``headwater sql``: the lineage of a file of SQL, without a server."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from api.console.call import Call, add_command
from graph_model.errors import ConfigurationError, DocumentTooLarge, InvalidFields

_TEXT: Final = """\
Reads a script and prints which tables each statement reads and writes, and the columns behind each
written column. Nothing is stored and no database is asked:

  headwater sql load.sql --dialect redshift
  headwater sql load.sql --dialect redshift --schema s.json --default-schema sales
  psql -qAtc "SELECT pg_get_viewdef('v')" | headwater sql - --dialect postgres --json
  headwater sql history.sql --dialect snowflake --report

s.json has the columns of tables in order, so that * and names without a table can be resolved:

  {"sales.orders": ["id", "amount"], "sales.customers": ["id", "name"]}

What stays open is a gap: it names the tables that may own a column and never guesses. --json prints
the reply of POST /sql (docs/sql.md), --report the share that could be read and the gaps by kind
(with --json: in addition).
Literals are masked. Temporary tables are folded away, and a table that the script renames has what
was written under its former name.

Exit codes: 0 translated (with gaps or without), 1 the file cannot be read or is larger than 1 MB,
2 the call is wrong.
"""


def sql(call: Call) -> int:
    """Print the lineage of a file."""
    from graph_model.sql import MOST_CHARACTERS, translate  # sqlglot: 0.3 s that others save
    from graph_model.sql.reply import lines, report, report_json, statements_json

    options = call.options
    text = _read(options.file)
    if len(text) > MOST_CHARACTERS:
        raise DocumentTooLarge(MOST_CHARACTERS)
    schemas = _schemas(options.schema) if options.schema else None
    try:
        statements = translate(
            text,
            options.dialect,
            schemas=schemas,
            database=options.default_database,
            schema=options.default_schema,
        )
    except InvalidFields as error:
        raise ConfigurationError(f"--{error}") from error
    if options.json:
        reply = statements_json(statements)
        if options.report:
            reply["report"] = report_json(statements)
        call.say(json.dumps(reply, indent=2, ensure_ascii=False))
        return 0
    for line in report(statements) if options.report else lines(statements):
        call.say(line)
    return 0


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    return Path(name).read_text(encoding="utf-8-sig", errors="replace")


def _schemas(name: str) -> Mapping[str, list[str]]:
    """Raises ConfigurationError for a file of another shape."""
    try:
        schemas: Any = json.loads(Path(name).read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ConfigurationError(f"{name}: expected JSON") from error
    if not isinstance(schemas, dict) or not all(
        isinstance(columns, list) and all(isinstance(column, str) for column in columns)
        for columns in schemas.values()
    ):
        raise ConfigurationError(f'{name}: expected {{"schema.table": ["column", ...]}}')
    return schemas


def add_sql(commands: Any) -> None:
    command = add_command(commands, "sql", sql, "the lineage of a file of SQL", _TEXT)
    command.add_argument("file", metavar="FILE", help="a script; - for standard input")
    command.add_argument(
        "--dialect", required=True,
        help="redshift, athena, trino, spark, databricks, postgres, mysql, snowflake, bigquery, "
        "duckdb, tsql, oracle, hive …",
    )  # fmt: skip
    command.add_argument("--schema", metavar="S.JSON", help="the columns of tables")
    command.add_argument(
        "--default-database", metavar="DATABASE", default="", help="of names that have none"
    )
    command.add_argument(
        "--default-schema", metavar="SCHEMA", default="",
        help="of names that have none; several with commas between are a search path",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="the reply of POST /sql")
    command.add_argument(
        "--report", action="store_true", help="the share that is read, and the gaps by kind"
    )
