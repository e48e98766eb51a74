"""``headwater replay`` and ``rebuild``."""

from __future__ import annotations

import time
from typing import Any

from api.console.call import Call, add_command, add_settings, add_url, open_journal


def replay(call: Call) -> int:
    """Ask a running server to try documents again."""
    answer = call.ask("POST", "/journal/replay", {"state": call.options.state})
    call.say(f"{answer['reopened']} documents are tried again; headwater journal list shows them")
    return 0


def rebuild(call: Call) -> int:
    """Project everything anew from the journal, now or at the next start."""
    if call.options.at_next_start:
        from graph_model.projection.projector import EPOCH_KEY, FROM_NOTHING

        with open_journal(call) as journal:
            journal.set_meta(EPOCH_KEY, FROM_NOTHING)
        call.say("graph and catalogue are built from nothing at the next start of headwater serve")
        return 0
    from api.console.projection.rebuilds import follow

    return follow(call.ask, call.say, time.sleep)


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
