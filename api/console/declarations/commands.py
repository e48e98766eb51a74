"""``headwater declare``: lineage that no run reports, one at a time or from a file."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from api.console.call import Call, add_command, add_url, path_of
from graph_model.console import count_of
from graph_model.errors import ConfigurationError, HeadwaterError


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
    return _declare(call, [_one(options)])


def _one(options: argparse.Namespace) -> dict[str, Any]:
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
    from api.console.declarations.files import read_file  # YAML, which no other command reads

    listed = read_file(file)
    try:
        return _declare(call, [one.body for one in listed])
    except HeadwaterError as error:
        problem = str(error)
        for place, one in enumerate(listed):
            problem = problem.replace(f"declarations[{place}].", f"{one.place}: ")
        raise HeadwaterError(f"{file}: {problem}; nothing was declared") from error


def _declare(call: Call, bodies: list[dict[str, Any]]) -> int:
    dry = call.options.dry_run
    answer = call.ask("POST", "/declarations", {"declarations": bodies, "dryRun": dry})
    for one in answer["items"]:
        call.say(f"{_line(one)}{'' if one['new'] else '  (known)'}")
    known = answer["total"] - answer["new"]
    outcome = "would be declared" if dry else "declared"
    call.say(f"{answer['new']:,} {outcome}, {known:,} known before")
    return 0


def _line(one: Mapping[str, Any]) -> str:
    sources = ", ".join(source["uri"] for source in one["sources"])
    columns = f"  (columns: {len(one['columns'])})" if one["columns"] else ""
    return f"{one['id']}  {sources} -> {one['target']['uri']}{columns}"


def _list(call: Call) -> int:
    node = call.options.node or None
    total, following = 0, ""
    while following is not None:
        path = path_of("declarations", limit=1000, node=node, cursor=following or None)
        answer = call.ask("GET", path)
        for one in answer["items"]:
            note = f"  {one['note']}" if one["note"] else ""
            hidden = "  (hidden)" if one.get("hidden") else ""
            call.say(f"{_line(one)}  {one['author']}  {one['declaredAt']}{note}{hidden}")
        total, following = answer["total"], answer["next"]
    call.say(count_of(total, "declaration"))
    return 0


def _remove(call: Call) -> int:
    options = call.options
    one = call.ask("DELETE", path_of("declarations", options.remove, note=options.note))
    call.say(f"{_line(one)} is taken back")
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
