"""The dry run of ``headwater forget`` and ``headwater prune``.

Both request a dry run from the server, show its result, and give the command only with ``--yes``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Ask = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]
"""Method, path and JSON body -> the JSON answer of the server."""

ROUTE: Final = "/commands"
_SHOWN: Final = 20


def order(ask: Ask, say: Callable[[str], None], wish: Mapping[str, Any], *, agreed: bool) -> int:
    """Print the documents of an order; give the command if it is ``agreed``; the exit code."""
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
        f"  {one['executions']:>8,} executions before {one['before']} of {one['job']} "
        f"-> {one['dataset']}"
        for one in cutoffs[:_SHOWN]
    ]
    if len(cutoffs) > _SHOWN:
        lines.append(f"  and {len(cutoffs) - _SHOWN:,} more")
    return [*lines, f"{covered['executions']:,} executions are pruned; today's lineage stays"]
