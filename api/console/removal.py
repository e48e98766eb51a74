"""``headwater forget`` and ``prune``.

Both request a dry run from the server, show its result, and give the command only with ``--yes``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from api.console.call import Call, add_command, add_url
from graph_model.errors import ConfigurationError

Ask = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]
"""Method, path and JSON body -> the JSON answer of the server."""

ROUTE: Final = "/commands"
_SHOWN: Final = 20
_SECONDS: Final = 1_800
"""How long the server may search for a command's documents: half a minute on an estate of a million
runs."""


def forget(call: Call) -> int:
    """Forget a job, a dataset or a document for good."""
    return _run(call, {"command": "forget", "node": call.options.node})


def prune(call: Call) -> int:
    """Take away executions that today's lineage does not rest on."""
    options = call.options
    if options.before is None and options.newest_runs is None:
        raise ConfigurationError("prune needs --before, --keep or both")
    given = {"before": options.before, "keep": options.newest_runs}
    wish = {name: value for name, value in given.items() if value is not None}
    call.say("looking for the executions that today's lineage does not rest on …")
    return _run(call, {"command": "prune", "dropBodies": options.drop_bodies, **wish})


def _run(call: Call, wish: dict[str, Any]) -> int:
    ask = partial(call.ask, seconds=_SECONDS)
    return give_command(ask, call.say, {**wish, "note": call.options.note}, agreed=call.options.yes)


def give_command(
    ask: Ask, say: Callable[[str], None], wish: Mapping[str, Any], *, agreed: bool
) -> int:
    """Print the documents of a command; give the command if it is ``agreed``; the exit code."""
    covered = ask("POST", ROUTE, {**wish, "dryRun": True})
    for line in describe(covered):
        say(line)
    if not (covered["documents"] or covered["executions"]):
        return 0
    if not agreed:
        say("nothing was done: --yes gives the command")
        return 0
    given = ask("POST", ROUTE, {**wish, "dryRun": False})
    positions = ", ".join(map(str, given["positions"]))
    done = "given" if "pending" in given else "done"
    say(f"{done}: document{'s' if len(given['positions']) > 1 else ''} {positions} of the journal")
    if "pending" in given:
        say(given["pending"])
    return 0


def describe(covered: Mapping[str, Any]) -> list[str]:
    """The coverage of a command, in lines."""
    if covered["command"] == "forget":
        return [
            f"{covered['documents']:,} documents of {covered['planIds']:,} plans are forgotten: "
            "they go from every answer and from the journal, for good"
        ]
    cutoffs = covered["cutoffs"]
    lines = [
        f"  {cutoff['executions']:>8,} executions before {cutoff['before']} of {cutoff['job']} "
        f"-> {cutoff['dataset']}"
        for cutoff in cutoffs[:_SHOWN]
    ]
    if len(cutoffs) > _SHOWN:
        lines.append(f"  and {len(cutoffs) - _SHOWN:,} more")
    return [*lines, f"{covered['executions']:,} executions are pruned; today's lineage stays"]


def add_forget(commands: Any) -> None:
    added = add_command(
        commands,
        "forget",
        forget,
        "forget a job, a dataset or a document for good",
        """\
Names every document of the job's plans, or of the plans that touch the dataset, and shows how many
they are. With --yes they go from all answers and from the journal, and stay gone when they are
sent again or everything is projected anew. Later runs of a forgotten job are new.

  headwater forget job:default/payroll
  headwater forget dataset:s3://lake/people --yes --note "request 4711"
  headwater forget document:42 --yes""",
    )
    added.add_argument("node", help="job:…, dataset:…, an id of either, or document:<position>")
    _add_agreement(added)


def add_prune(commands: Any) -> None:
    added = add_command(
        commands,
        "prune",
        prune,
        "remove old executions",
        """\
Removes executions older than --before, or than the --keep newest runs of their job, and all facts
that only these executions support. With both options an execution is removed only if neither keeps
it. An application of Spark is one run, however many tables it writes; of a stream stay the newest
1,000 executions for each run that --keep asks for.
The executions behind today's lineage stay: the last full overwrite of every dataset, later writes
of it, and everything that those executions read. Without --yes the command only lists its effect.
--drop-bodies removes the documents from the journal as well.

  headwater prune --before 2026-01-01
  headwater prune --keep 100 --drop-bodies --yes""",
    )
    added.add_argument("--before", metavar="TIME", help="epoch milliseconds or ISO 8601")
    added.add_argument(
        "--keep",
        dest="newest_runs",  # ``keep`` would be read as the setting HEADWATER_KEEP
        type=int,
        metavar="N",
        help="the newest runs of each job stay",
    )
    added.add_argument(
        "--drop-bodies", action="store_true", help="the journal drops their documents as well"
    )
    _add_agreement(added)


def _add_agreement(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--yes", action="store_true", help="do it; without it only the effect is listed"
    )
    added.add_argument("--note", default="", help="why, for the record")
    add_url(added)
