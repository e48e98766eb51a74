"""``headwater declare``: lineage that no run reports, one at a time or from a file.

A file is JSON, YAML or CSV and becomes bodies of POST /declarations. This module reads its
structure; the service checks the names of datasets and columns.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from api.console.call import Call, add_command, add_url, path_of
from graph_model.errors import ConfigurationError, HeadwaterError, count_of

CSV_COLUMNS: Final = ("target", "source", "from", "to", "job", "note", "since")
_NEEDED: Final = ("target", "source")
_MOST_BYTES: Final = 20_000_000


@dataclass(slots=True)
class Listed:
    """A declaration of a file with its place there."""

    place: str
    body: dict[str, Any]


def read_file(file: Path) -> list[Listed]:
    """Raises ConfigurationError for a file that is not of its kind."""
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise ConfigurationError(f"{file}: expected a name that ends in {', '.join(_READERS)}")
    if file.stat().st_size > _MOST_BYTES:
        raise ConfigurationError(f"{file}: expected at most {_MOST_BYTES // 1_000_000} MB")
    try:
        return reader(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise ConfigurationError(f"{file}: {problem}") from error


def _read_json(text: str) -> list[Listed]:
    return _numbered(json.loads(text))


def _read_yaml(text: str) -> list[Listed]:
    """Every scalar is text: a column ``no`` is no falsehood, a date stays as it is written."""
    import yaml  # no other command reads it

    try:
        return _numbered(yaml.load(text, Loader=yaml.BaseLoader))  # noqa: S506 - it makes texts alone
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _numbered(document: Any) -> list[Listed]:
    listed = document.get("declarations") if isinstance(document, Mapping) else document
    if not isinstance(listed, list) or not all(
        isinstance(declaration, Mapping) for declaration in listed
    ):
        raise ValueError("expected a list of declarations, or one under `declarations`")
    return [
        Listed(f"declaration {place}", dict(declaration))
        for place, declaration in enumerate(listed, 1)
    ]


def _read_csv(text: str) -> list[Listed]:
    """A line for each source or column; lines of one target, job, note and time are one."""
    rows = csv.DictReader(io.StringIO(text, newline=""), restkey="more", strict=True)
    _check_header(rows.fieldnames or ())
    declarations: dict[tuple[str, ...], Listed] = {}
    for row in rows:
        if None in row.values() or "more" in row:
            raise ValueError(f"line {rows.line_num}: expected as many fields as the header has")
        cells = {name: (row.get(name) or "").strip() for name in CSV_COLUMNS}
        key = tuple(cells[name] for name in ("target", "job", "note", "since"))
        listed = declarations.setdefault(key, Listed(f"line {rows.line_num}", _begun(cells)))
        _add(listed.body, cells, rows.line_num)
    return list(declarations.values())


def _check_header(names: Iterable[str]) -> None:
    given = set(names)
    if unknown := sorted(given - set(CSV_COLUMNS)):
        raise ValueError(f"line 1: no such column: {', '.join(unknown)}")
    if missing := [name for name in _NEEDED if name not in given]:
        raise ValueError(f"line 1: expected the columns {', '.join(missing)}")


def _begun(cells: Mapping[str, str]) -> dict[str, Any]:
    given = {name: cells[name] for name in ("job", "since") if cells[name]}
    return {"target": cells["target"], "sources": [], "columns": [], "note": cells["note"], **given}


def _add(body: dict[str, Any], cells: Mapping[str, str], line: int) -> None:
    if bool(cells["from"]) != bool(cells["to"]):
        raise ValueError(f"line {line}: expected from and to, or neither")
    if cells["source"] not in body["sources"]:
        body["sources"].append(cells["source"])
    if cells["from"]:
        column = {"source": cells["source"], "from": cells["from"], "to": cells["to"]}
        body["columns"].append(column)


_READERS: Final[dict[str, Callable[[str], list[Listed]]]] = {
    ".json": _read_json,
    ".yml": _read_yaml,
    ".yaml": _read_yaml,
    ".csv": _read_csv,
}


def declare(call: Call) -> int:
    """Declare, list or take back."""
    options = call.options
    if options.remove is not None:
        return _remove(call)
    if options.list:
        return _list(call)
    if options.file is not None:
        return _declare_file(call, Path(options.file))
    if not options.to or not options.source:
        raise ConfigurationError("declare needs --from and --to, or --file, --list or --remove")
    return _declare(call, [_declaration_of(options)])


def _declaration_of(options: argparse.Namespace) -> dict[str, Any]:
    given = {"job": options.job, "since": options.since}
    return {
        "target": options.to,
        "sources": options.source,
        "columns": [_column(text) for text in options.column],
        "note": options.note,
        **{name: value for name, value in given.items() if value is not None},
    }


def _column(text: str) -> dict[str, str]:
    """``email=mail`` or ``s3://lake/people#email=mail``."""
    before, equals, into = text.rpartition("=")
    source, hash_sign, column = before.rpartition("#")
    if not equals or not column or not into:
        raise ConfigurationError(f"--column {text!r}: expected [SOURCE#]COLUMN=COLUMN")
    return {"from": column, "to": into, **({"source": source} if hash_sign else {})}


def _declare_file(call: Call, file: Path) -> int:
    listed = read_file(file)
    try:
        return _declare(call, [declaration.body for declaration in listed])
    except HeadwaterError as error:
        problem = str(error)
        for place, declaration in enumerate(listed):
            problem = problem.replace(f"declarations[{place}].", f"{declaration.place}: ")
        raise HeadwaterError(f"{file}: {problem}; nothing was declared") from error


def _declare(call: Call, bodies: list[dict[str, Any]]) -> int:
    dry = call.options.dry_run
    answer = call.ask("POST", "/declarations", {"declarations": bodies, "dryRun": dry})
    for declaration in answer["items"]:
        call.say(f"{_line(declaration)}{'' if declaration['new'] else '  (known)'}")
    known = answer["total"] - answer["new"]
    outcome = "would be declared" if dry else "declared"
    call.say(f"{answer['new']:,} {outcome}, {known:,} known before")
    return 0


def _line(declaration: Mapping[str, Any]) -> str:
    sources = ", ".join(source["uri"] for source in declaration["sources"])
    columns = f"  (columns: {len(declaration['columns'])})" if declaration["columns"] else ""
    return f"{declaration['id']}  {sources} -> {declaration['target']['uri']}{columns}"


def _list(call: Call) -> int:
    node = call.options.node or None
    total, following = 0, ""
    while following is not None:
        path = path_of("declarations", limit=1000, node=node, cursor=following or None)
        answer = call.ask("GET", path)
        for declaration in answer["items"]:
            note = f"  {declaration['note']}" if declaration["note"] else ""
            hidden = "  (hidden)" if declaration.get("hidden") else ""
            by = f"{declaration['author']}  {declaration['declaredAt']}"
            call.say(f"{_line(declaration)}  {by}{note}{hidden}")
        total, following = answer["total"], answer["next"]
    call.say(count_of(total, "declaration"))
    return 0


def _remove(call: Call) -> int:
    options = call.options
    declaration = call.ask("DELETE", path_of("declarations", options.remove, note=options.note))
    call.say(f"{_line(declaration)} is taken back")
    return 0


def add_declare(commands: Any) -> None:
    """The sub-command."""
    added = add_command(
        commands,
        "declare",
        declare,
        "declare lineage that no run reports",
        """\
A person declares the sources of a dataset: an uploaded spreadsheet, a dashboard, a job that no
agent observes. The declaration is journalled with its author and drawn dotted. It holds from now
(or --since), also after later writes, until its author or an admin retracts it. Datasets need not
be known. A file (.json, .yml, .csv: docs/declarations.md) is declared as a whole or not at all.

  headwater declare --from s3://lake/people --to s3://sheets/staff --note "monthly upload"
  headwater declare --from s3://lake/people --to s3://sheets/staff --column email=mail
  headwater declare --file lineage.yml --dry-run
  headwater declare --list --node dataset:s3://sheets/staff
  headwater declare --remove decl_3f2a… --note "nobody uploads it any more\"""",
    )
    added.add_argument(
        "--from", dest="source", action="append", default=[], metavar="DATASET",
        help="a URI, dataset:<uri> or an id; again for each source",
    )  # fmt: skip
    added.add_argument("--to", metavar="DATASET", help="the dataset that comes from them")
    added.add_argument(
        "--column", action="append", default=[], metavar="[SOURCE#]FROM=TO",
        help="a column of a source that goes into a column of the target; again for each",
    )  # fmt: skip
    added.add_argument(
        "--job", metavar="NAMESPACE/NAME", help="the job or person that moves the data"
    )
    added.add_argument("--since", metavar="TIME", help="it holds from then on (default: now)")
    added.add_argument("--note", default="", help="why, for the record")
    ways = added.add_mutually_exclusive_group()
    ways.add_argument("--file", metavar="FILE", help="declare the lineage in this file")
    ways.add_argument("--list", action="store_true", help="list the declarations")
    ways.add_argument("--remove", metavar="ID", help="take this one back")
    added.add_argument("--node", metavar="NODE", help="with --list: of this dataset or job")
    added.add_argument(
        "--dry-run", action="store_true", help="only print the declarations that would be made"
    )
    add_url(added)
