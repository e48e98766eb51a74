"""``headwater replay`` and ``rebuild``.

The server rebuilds between its rounds of new documents; interrupting the command does not stop it.
A second call during a rebuild reports the progress of that one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from api.console.call import Call, add_command, add_settings, add_url, opened_journal
from graph_model.errors import HeadwaterError

Ask = Callable[[str, str], Mapping[str, Any]]
"""Method and path -> the JSON answer of the server."""

ROUTE: Final = "/journal/rebuild"
_PAUSE_SECONDS: Final = 0.5
_BAR: Final = 30


def replay(call: Call) -> int:
    """Ask a running server to try documents again."""
    answer = call.ask("POST", "/journal/replay", {"state": call.options.state})
    call.say(f"{answer['reopened']} documents are tried again; headwater journal list shows them")
    return 0


def rebuild(call: Call) -> int:
    """Project everything anew from the journal, now or at the next start."""
    if call.options.at_next_start:
        from graph_model.projection.projector import EPOCH_KEY, FROM_NOTHING

        with opened_journal(call) as journal:
            journal.set_meta(EPOCH_KEY, FROM_NOTHING)
        call.say("graph and catalogue are built from nothing at the next start of headwater serve")
        return 0
    return follow(call.ask, call.say, time.sleep)


def follow(ask: Ask, say: Callable[[str], None], sleep: Callable[[float], None]) -> int:
    """Start a rebuild and print its progress until it is done; 1 when the hashes differ."""
    progress = ask("POST", ROUTE)
    printed = ""
    while progress["phase"] != "done":
        if (line := describe(progress)) != printed:
            say(line)
            printed = line
        sleep(_PAUSE_SECONDS)
        progress = ask("GET", ROUTE)
    return conclude(progress, say)


def describe(progress: Mapping[str, Any]) -> str:
    """One line: the phase and, while plans are translated, a bar."""
    done, plans = int(progress["plansDone"]), int(progress["plans"])
    if progress["phase"] != "translating":
        return f"  {progress['phase']} …"
    full = _BAR * done // max(plans, 1)
    return f"  [{'#' * full}{'.' * (_BAR - full)}] {done:,} of {plans:,} plans"


def conclude(progress: Mapping[str, Any], say: Callable[[str], None]) -> int:
    """Print the result; 0 when graph and catalogue are unchanged."""
    before, after = progress["before"], progress["after"]
    if after is None:
        raise HeadwaterError("the rebuild was broken off: headwater rebuild starts it again")
    say(f"{progress['plans']:,} plans projected, {progress['removed']:,} elements removed")
    say(f"  hash before  {before or 'none: the rows were damaged'}")
    say(f"  hash after   {after}")
    if before == after:
        say("graph and catalogue are equal to the journal's content")
        return 0
    say("they differ: something had been missing or too much, or documents arrived meanwhile")
    return 1


def add_replay(commands: Any) -> None:
    added = add_command(
        commands,
        "replay",
        replay,
        "try documents again that could not be translated",
        """\
Asks the running server. Documents that fail again are listed with their reason.

  headwater replay
  headwater replay --state waiting""",
    )
    added.add_argument("--state", choices=("failed", "waiting"), default="failed")
    add_url(added)


def add_rebuild(commands: Any) -> None:
    added = add_command(
        commands,
        "rebuild",
        rebuild,
        "rebuild graph and catalogue from the journal",
        """\
Graph and catalogue are made from the journal alone. The running server translates every document
again beside the current graph and catalogue, switches to the result, removes superfluous elements,
and prints a hash of all elements and rows before and after. It answers questions meanwhile. With
--at-next-start the next headwater serve empties both first: a rebuild from nothing.

  headwater rebuild
  headwater rebuild --at-next-start --data /srv/headwater""",
    )
    added.add_argument(
        "--at-next-start", action="store_true", help="from nothing, when the server next starts"
    )
    add_url(added)
    add_settings(added, "data", "database")
