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
    found = call.ask("GET", "/storage")
    if call.options.json:
        call.out.write(json.dumps(found, indent=2) + "\n")
        return 0
    for line in describe(found):
        call.say(line)
    return 0


def describe(found: Mapping[str, Any]) -> Iterator[str]:
    """The answer in lines."""
    growth = found["growth"]
    yield from _describe_stored(found)
    if growth["bytes"] is None:
        since = found["measuredSince"]
        period = "" if since is None else f", since {since}"
        yield f"growth is known after ten minutes of measurements{period}"
    else:
        more = "" if growth["elements"] is None else f", {growth['elements']:,.0f} elements"
        yield f"a day: {growth['documents']:,.0f} documents, {_bytes(growth['bytes'])}{more}"
    for name, one in sorted(found["full"].items()):
        if one["days"] is not None:
            yield describe_full(name, one["days"])
    for field, shares in found["by"].items():
        named = [one for one in shares if one["name"]][:_SHOWN]
        listed = ", ".join(f"{one['name']} {one['share']:.0%}" for one in named)
        yield f"journal by {field}: {listed or 'nothing yet'}"
    for setting, size in found["saved"].items():
        if size:
            yield f"{setting} would give back at most {_bytes(size)}"
    if any(found["saved"].values()):
        yield found["savedNote"]
    if found["keep"] is not None:
        yield f"in force: HEADWATER_KEEP={found['keep']}"
    runs = found["runs"]
    yield f"runs in the graph ({runs['setting']}) take about {_elements(runs)}"
    for setting, one in runs["saved"].items():
        if one["elements"]:
            yield f"{setting} would save about {_elements(one)}"
    if found["tooEarly"] is not None:
        yield found["tooEarly"]
    if found["warning"]:
        yield f"warning: {found['warning']}"


def _describe_stored(found: Mapping[str, Any]) -> Iterator[str]:
    stored = found["stored"]
    yield f"{_bytes(stored['journal']):>12}  journal ({found['documents']:,} documents came)"
    yield f"{_bytes(stored['catalogue']):>12}  catalogue"
    if stored["log"]:
        yield f"{_bytes(stored['log']):>12}  write-ahead logs"
    if stored["elements"] is not None:
        heap = "" if stored["heap"] is None else f" ({_bytes(stored['heap'])} of its heap)"
        yield f"{stored['elements']:>12,}  vertices and edges in the engine{heap}"


def _elements(found: Mapping[str, Any]) -> str:
    heap = "" if found["bytes"] is None else f", {_bytes(found['bytes'])} of the engine's heap"
    return f"{found['elements']:,} vertices and edges{heap}"


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
