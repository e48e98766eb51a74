"""``headwater impact``: everything downstream, the effects of a change; ``sql``: a file of SQL."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from api.console.call import Answered, Call, add_command, add_url, path_of
from graph_model.answers.impact.changes import COLUMN_CHANGES, relocate
from graph_model.answers.impact.tables import FLOW_WORDS, JSON, TEXT_FORMS
from graph_model.errors import ConfigurationError, DocumentTooLarge, HeadwaterError, InvalidFields
from graph_model.labels import MAY_READ

BREAKS: Final = 3
_FAILING: Final = {
    "breaks": frozenset({"breaks"}),
    "any": frozenset({"breaks", "may-break"}),
    "never": frozenset[str](),
}
_VERDICTS: Final = {
    "breaks": "something breaks",
    "may-break": "something may break",
    "none": "nothing breaks",
}
_EFFECTS: Final = {"breaks": "breaks", "may-break": "may break", "none": ""}
_TEXT: Final = """\
Asks a running Headwater. Name one thing:

  headwater impact --dataset s3://lake/orders
  headwater impact --column 's3://lake/orders#amount' --change dropped
  headwater impact --plan captured.ndjson --map file:/tmp/lake/=s3://lake/

A captured plan is a file that the listener wrote with url=file:/path, or any file that headwater
journal import accepts. It is compared with the plan that its job runs now, and is not stored.

Exit codes: 0 nothing breaks, 1 the server gave no or an incomplete answer, or no captured plan
writes an output of its job (--map is missing?), 2 the call is wrong, 3 something breaks (--fail-on
selects which effects count).
"""


def impact(call: Call) -> int:
    """Print everything downstream, or the effects of a change; the exit code is the verdict."""
    options = call.options
    _refuse_contradictions(options)
    answer = _check_plans(call) if options.plan else _ask(call)
    if "Headwater-As-Of" not in answer.headers:
        raise HeadwaterError(
            f"the server at {call.url()} is not a Headwater that can compute an impact"
        )
    if options.format == "table":
        for line in _lines(json.loads(answer.text)):
            call.say(line)
    else:
        call.out.write(answer.text)
    return _exit_code(answer.headers, options.fail_on)


def _refuse_contradictions(options: argparse.Namespace) -> None:
    if options.plan and options.change:
        raise ConfigurationError("--change goes with --column; a plan contains its own changes")
    if options.plan and options.reach:
        raise ConfigurationError("--reach does not go with --plan: a check asks for possible flow")
    if options.plan and options.columns:
        raise ConfigurationError("--columns does not go with --plan, which always lists columns")
    if (options.map or options.as_job) and not options.plan:
        raise ConfigurationError("--map and --as-job go with --plan")
    if options.indirect and options.direct_only:
        raise ConfigurationError("--indirect and --direct-only contradict each other")


def _exit_code(headers: Mapping[str, str], fail_on: str) -> int:
    """Raises HeadwaterError if the result is uncertain."""
    verdict = headers.get("Headwater-Verdict")
    if verdict is None or fail_on == "never":
        return 0
    if verdict in _FAILING[fail_on]:
        return BREAKS
    if headers.get("Headwater-Unmet", "0") != "0":
        raise HeadwaterError(
            "no captured plan writes an output of the job's last run, so the result is uncertain: "
            "map the places of the check to those of production with --map FROM=TO"
        )
    partial = headers.get("Headwater-Partial", "none")
    if partial != "none":
        raise HeadwaterError(f"the answer is incomplete ({partial}): more may break than is listed")
    return 0


# --- questions -----------------------------------------------------------------------------------


def _ask(call: Call) -> Answered:
    options = call.options
    query = {
        **_bounds(options),
        "node": _node(options) or None,
        "change": options.change,
        "columns": options.columns,
        "indirect": "false" if options.direct_only else options.indirect,
        "reach": options.reach,
    }
    return call.fetch("GET", path_of("graph", "impact", **query))


def _node(options: argparse.Namespace) -> str:
    for kind in ("dataset", "column", "job", "prefix"):
        if (name := getattr(options, kind)) is not None:
            return f"{kind}:{name}"
    return str(options.node)


def _check_plans(call: Call) -> Answered:
    lines = list(_documents(call))
    body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    indirect = "false" if call.options.direct_only else None
    query = {**_bounds(call.options), "job": call.options.as_job or None, "indirect": indirect}
    path = path_of("graph", "impact", "plan", **query)
    return call.fetch("POST", path, body, "application/x-ndjson")


def _documents(call: Call) -> Iterator[Any]:
    """The plans of the files, where they are to be; raises ConfigurationError for other things."""
    from graph_model.documents.files import Refusal, recognise  # the translators: 0.3 s

    limit = call.settings().max_body_bytes
    for name in call.options.plan:
        with Path(name).open(encoding="utf-8-sig", errors="surrogateescape") as file:
            for piece in recognise(file, name, limit):
                if isinstance(piece, Refusal):
                    raise ConfigurationError(f"{piece.where}: {piece.reason}")
                body = relocate(piece.document, call.options.map)
                yield {"kind": piece.kind, "apiVersion": piece.api_version, "body": body}


def _bounds(options: argparse.Namespace) -> dict[str, object]:
    form = JSON if options.format == "table" else options.format
    at = options.at or None
    return {"depth": options.depth, "at": at, "limit": options.limit, "format": form}


# --- for people ----------------------------------------------------------------------------------


def _lines(reply: Mapping[str, Any]) -> Iterator[str]:
    for plan in reply.get("plans", ()):
        yield from _plan_lines(plan, _no_readers(reply))
    for uri in reply.get("missing", ()):
        yield f"written by the last run, not captured: {uri}"
    for item in reply["items"]:
        yield _item_line(item)
    yield _summary(reply)


def _no_readers(reply: Mapping[str, Any]) -> str:
    """The end of a change's effect: an answer that may lack readers does not deny them."""
    sure = reply["verdict"] == "none" and not reply["partial"] and not reply["hidden"]
    return "; none are known" if sure else ""


def _plan_lines(plan: Mapping[str, Any], no_readers: str) -> Iterator[str]:
    known = "" if plan["plan"] else "  (new: nothing to compare with)"
    unchanged = "  (as before)" if plan["plan"] and not plan["changes"] else ""
    yield f"{plan['job']} writes {plan['target']}{known}{unchanged}"
    for change in plan["changes"]:
        ends = " => ".join(
            str(change[end]) or "(none)" for end in ("before", "after") if change[end] is not None
        )
        effect = _EFFECTS[change["effect"]]
        shown = f"  ({effect} its readers{no_readers})" if effect else ""
        yield f"  {change['kind']}: {change['subject']}  {ends}{shown}"


def _item_line(item: Mapping[str, Any]) -> str:
    run = item["lastRun"]
    parts = [
        f"{item['verdict']:<9}" if item["verdict"] else f"{item['depth']:>3}",
        f"{item['kind']:<7}",
        _name(item),
        item["reason"] or _way(item["path"]),
        "may read it" if item["how"] == MAY_READ and not item["reason"] else "",
        "reads its metadata only" if item.get("reads") else "",
        "declared, no run does it" if item["declared"] else "",
        FLOW_WORDS.get(item.get("flow", ""), ""),
        f"last run {run['at']} {run['state']}" if run else "",
        f"owned by {', '.join(item['owners'])}" if item["owners"] else "",
    ]
    return "  ".join(part for part in parts if part)


def _name(item: Mapping[str, Any]) -> str:
    if item["kind"] == "job":
        return f"{item['namespace']}/{item['label']}"
    return f"{item['uri']}#{item['label']}" if item["kind"] == "column" else str(item["uri"])


def _way(path: list[Mapping[str, Any]]) -> str:
    return " -> ".join(f"({n['label']})" if n["kind"] == "job" else n["label"] for n in path)


def _summary(reply: Mapping[str, Any]) -> str:
    parts = [f"{reply['total']:,} downstream", f"as of {reply['asOf']}"]
    if reply["verdict"]:
        uncertain = reply["verdict"] == "none" and reply.get("unmet")
        parts.insert(0, "uncertain" if uncertain else _VERDICTS[reply["verdict"]])
    if reply["partial"]:
        parts.append(f"NOT WHOLE: {reply['partial']['reason']}")
    if reply["folded"]:
        parts.append("repeated runs were taken together")
    if reply["hidden"]:
        parts.append(f"{reply['hidden']:,} hidden")
    return ", ".join(parts)


# --- the call ------------------------------------------------------------------------------------


def add_impact(commands: Any) -> None:
    command = add_command(
        commands, "impact", impact, "everything downstream, and the effects of a change", _TEXT
    )
    subject = command.add_mutually_exclusive_group(required=True)
    subject.add_argument(
        "node", nargs="?", help="dataset:…, column:…#…, job:…/…, prefix:… or an id"
    )
    subject.add_argument("--dataset", metavar="URI")
    subject.add_argument("--column", metavar="URI#PATH")
    subject.add_argument("--job", metavar="NAMESPACE/NAME")
    subject.add_argument(
        "--prefix", metavar="URI", help="all datasets whose URI starts with this text"
    )
    subject.add_argument(
        "--plan", metavar="FILE", nargs="+", help="captured plans of a changed job"
    )
    command.add_argument("--change", choices=tuple(COLUMN_CHANGES))
    command.add_argument(
        "--fail-on", choices=tuple(_FAILING), default="breaks",
        help="end with 3 where something breaks (the default), where anything breaks or may, never",
    )  # fmt: skip
    command.add_argument(
        "--map", metavar="FROM=TO", action="append", type=_read_move, default=[],
        help="replace the start FROM of URIs in a captured plan by TO (may be repeated)",
    )  # fmt: skip
    command.add_argument(
        "--as-job", metavar="NAMESPACE/NAME", help="the job that the captured plans replace"
    )
    command.add_argument("--columns", action="store_true", help="columns as well")
    command.add_argument("--indirect", action="store_true", help="also filters, joins, sorts …")
    command.add_argument("--direct-only", action="store_true", help="values only, for a change too")
    command.add_argument(
        "--reach", choices=("seen", "possible"),
        help="what has seen the data, or (the default) also what will at its next run",
    )  # fmt: skip
    command.add_argument("--depth", type=int, help="steps (default: the whole way, at most 50)")
    command.add_argument("--at", metavar="TIME", help="as of this time (default: the newest)")
    command.add_argument("--limit", type=int, help="rows (default 1,000, at most 5,000)")
    command.add_argument("--format", choices=("table", JSON, *TEXT_FORMS), default="table")
    add_url(command)


def _read_move(text: str) -> tuple[str, str]:
    old, separator, new = text.partition("=")
    if not (old and separator):
        raise argparse.ArgumentTypeError("expected FROM=TO")
    return old, new


_SQL_TEXT: Final = """\
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
    command = add_command(commands, "sql", sql, "the lineage of a file of SQL", _SQL_TEXT)
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
