"""``headwater rebuild``: starts a rebuild in a running server and reports its progress.

The server does the work between its rounds of new documents; interrupting this command does not
stop it. A second call during a rebuild reports the progress of that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from graph_model.errors import HeadwaterError

Ask = Callable[[str, str], Mapping[str, Any]]
"""Method and path -> the JSON answer of the server."""

ROUTE: Final = "/journal/rebuild"
_PAUSE_SECONDS: Final = 0.5
_BAR: Final = 30


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
    say(f"  hash before  {before}")
    say(f"  hash after   {after}")
    if before == after:
        say("graph and catalogue are equal to the journal's content")
        return 0
    say("they differ: something had been missing or too much, or documents arrived meanwhile")
    return 1
