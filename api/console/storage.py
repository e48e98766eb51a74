"""``headwater storage``: disk space, its growth, and the date when it is full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from api.console.call import Call, add_command, add_url
from graph_model.retention.forecast import describe_full

_SHOWN: Final = 5
_TEXT: Final = """\
Asks a running Headwater. Sizes are the databases' own statistics; growth is that of the last week's
days, measured once an hour: the first figure exists ten minutes after the first start, and warns
after a day. The shares of the journal are estimated from a sample of 1,000 documents. \"At most\":
the runs behind today's lineage stay under any HEADWATER_KEEP, all runs of an append-only table
among them; headwater prune counts exactly, and removes nothing without --yes.

  headwater storage
  headwater storage --json | jq .full.disk.days"""


def storage(call: Call) -> int:
    """Print the use of disk space and memory."""
    report = call.ask("GET", "/storage")
    if call.options.json:
        call.out.write(json.dumps(report, indent=2) + "\n")
        return 0
    for line in describe(report):
        call.say(line)
    return 0


def describe(report: Mapping[str, Any]) -> Iterator[str]:
    """The answer in lines."""
    growth = report["growth"]
    yield from _describe_stored(report)
    if growth["bytes"] is None:
        since = report["measuredSince"]
        period = "" if since is None else f", since {since}"
        yield f"growth is known after ten minutes of measurements{period}"
    else:
        more = "" if growth["elements"] is None else f", {growth['elements']:,.0f} elements"
        yield f"a day: {growth['documents']:,.0f} documents, {_bytes(growth['bytes'])}{more}"
    for name, part in sorted(report["full"].items()):
        if part["days"] is not None:
            yield describe_full(name, part["days"])
    for field, shares in report["by"].items():
        named = [share for share in shares if share["name"]][:_SHOWN]
        listed = ", ".join(f"{share['name']} {share['share']:.0%}" for share in named)
        yield f"journal by {field}: {listed or 'nothing yet'}"
    for setting, size in report["saved"].items():
        if size:
            yield f"{setting} would give back at most {_bytes(size)}"
    if any(report["saved"].values()):
        yield report["savedNote"]
    if report["keep"] is not None:
        yield f"in force: HEADWATER_KEEP={report['keep']}"
    runs = report["runs"]
    yield f"runs in the graph ({runs['setting']}) take about {_elements(runs)}"
    for setting, saving in runs["saved"].items():
        if saving["elements"]:
            yield f"{setting} would save about {_elements(saving)}"
    if report["tooEarly"] is not None:
        yield report["tooEarly"]
    if report["warning"]:
        yield f"warning: {report['warning']}"


def _describe_stored(report: Mapping[str, Any]) -> Iterator[str]:
    stored = report["stored"]
    yield f"{_bytes(stored['journal']):>12}  journal ({report['documents']:,} documents came)"
    yield f"{_bytes(stored['catalogue']):>12}  catalogue"
    if stored["log"]:
        yield f"{_bytes(stored['log']):>12}  write-ahead logs"
    if stored["elements"] is not None:
        heap = "" if stored["heap"] is None else f" ({_bytes(stored['heap'])} of its heap)"
        yield f"{stored['elements']:>12,}  vertices and edges in the engine{heap}"


def _elements(estimate: Mapping[str, Any]) -> str:
    heap = (
        "" if estimate["bytes"] is None else f", {_bytes(estimate['bytes'])} of the engine's heap"
    )
    return f"{estimate['elements']:,} vertices and edges{heap}"


def _bytes(size: float) -> str:
    """``1_230_000 => 1.2 MB``."""
    for unit, least in (("GB", 1e9), ("MB", 1e6)):
        if size >= least:
            return f"{size / least:,.1f} {unit}"
    return f"{size / 1e3:,.1f} kB"


def add_storage(commands: Any) -> None:
    added = add_command(
        commands, "storage", storage, "disk and memory use, and the dates when they are full", _TEXT
    )
    added.add_argument("--json", action="store_true", help="the whole answer as JSON")
    add_url(added)
