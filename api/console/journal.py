"""``headwater journal``: list, export and import documents; ``headwater replay`` and ``rebuild``.

The server rebuilds between its rounds of new documents; interrupting the command does not stop it.
A second call during a rebuild reports the progress of that one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO

from api.console.call import (
    Call,
    add_command,
    add_settings,
    add_url,
    opened_journal,
    report_progress,
)
from graph_model.errors import ConfigurationError, DamagedDocument, HeadwaterError, NotFound

_MOST_NAMED = 100


def journal_summary(call: Call) -> int:
    """How many documents there are in which state, how much they take, how old they are."""
    from graph_model.values import iso

    with opened_journal(call) as journal:
        counts, size = journal.summary(), journal.size()
    call.say(f"{counts.received:>10,} documents received")
    for state in ("projected", "pending", "waiting", "failed"):
        call.say(f"{getattr(counts, state):>10,} {state}")
    call.say(f"{size.stored_bytes / 1e6:>10,.1f} MB in the database, the catalogue included")
    if size.oldest is not None:
        call.say(f"the first came {iso(size.oldest)}")
        call.say(f"the last came  {iso(size.newest)}")
    return 0


def journal_check(call: Call) -> int:
    """Look for damage; 1 when there is some."""
    with opened_journal(call) as journal:
        problems = journal.verify(report_progress(call, "bodies"))
        received = journal.summary().received
    for problem in problems:
        call.say(problem)
    verdict = f"{len(problems):,} to mend: restore a backup" if problems else "all is well"
    call.say(f"{received:,} documents checked, {verdict}")
    return 1 if problems else 0


def journal_list(call: Call) -> int:
    """List documents, newest first."""
    from graph_model.stores.documents import DocumentKind, DocumentState
    from graph_model.values import iso

    state, kind = call.options.state, call.options.kind
    if kind and call.producers.of(kind) is None:
        known = ", ".join(call.producers.kinds)
        raise ConfigurationError(f"--kind {kind!r}: expected one of {known}")
    with opened_journal(call) as journal:
        page = journal.entries(
            state=DocumentState(state) if state else None,
            kind=DocumentKind(kind) if kind else None,
            limit=call.options.limit,
        )
    for item in page.items:
        reason = f"  {item.reason}" if item.reason else ""
        call.say(
            f"{item.position:>8}  {iso(item.received_at)}  {item.kind:<5}  "
            f"{item.state.value:<9}  {item.subject_key}  {item.size:>9,} B{reason}"
        )
    call.say(f"{len(page.items)} of {page.total} documents")
    return 0


def journal_show(call: Call) -> int:
    """Print one document as it is kept."""
    with opened_journal(call) as journal:
        document = journal.document(call.options.position)
    if document is None:
        raise NotFound("document", str(call.options.position))
    call.out.write(json.dumps(json.loads(document.body), indent=2, ensure_ascii=False) + "\n")
    return 0


def journal_export(call: Call) -> int:
    """Write every document, oldest first, as JSON lines."""
    written, damaged = 0, list[int]()
    with opened_journal(call) as journal, _destination(call) as destination:
        positions = [item.position for item in _all_entries(journal)]
        for position in sorted(positions):
            try:
                document = journal.document(position)
            except DamagedDocument:
                damaged.append(position)
                continue
            if document is not None:
                destination.write(json.dumps(export_line(document), ensure_ascii=False) + "\n")
                written += 1
    if call.options.file != "-":
        call.say(f"{written} documents in {call.options.file}")
    if damaged:
        listed = ", ".join(map(str, damaged[:_MOST_NAMED]))
        raise HeadwaterError(
            f"{len(damaged):,} documents are damaged and left out: {listed} (headwater journal"
            " check names the damage of each)"
        )
    return 0


def journal_import(call: Call) -> int:
    """Take documents from files, into the data folder or through a running server."""
    # The schemas: 0.3 s that other commands save.
    from api.console.intake import intake_of_documents
    from collectors.intake import import_files

    limit = call.settings().max_body_bytes
    with intake_of_documents(
        call, direct=not call.options.url, route="import", principal="console"
    ) as taking:
        tally = import_files(call.options.files, taking, call.say, limit, call.producers)
    call.say(str(tally))
    if tally.imported and not call.options.url:
        call.say("the next headwater serve draws them")
    return 1 if tally.refused else 0


def _all_entries(journal: Any) -> Iterator[Any]:
    from graph_model.stores.pages import walk_pages

    for page in walk_pages(lambda cursor: journal.entries(limit=1000, cursor=cursor)):
        yield from page.items


def export_line(document: Any) -> dict[str, Any]:
    return {
        "position": document.position,
        "kind": document.kind,
        "apiVersion": document.api_version,
        "planId": document.subject_key,
        "scope": document.scope,
        "receivedAt": document.received_at,
        "body": json.loads(document.body),
    }


@contextmanager
def _destination(call: Call) -> Iterator[TextIO]:
    if call.options.file == "-":
        yield call.out
        return
    with Path(call.options.file).open("w", encoding="utf-8") as file:
        yield file


def add_journal(commands: Any) -> None:
    added = add_command(
        commands,
        "journal",
        journal_summary,
        "list, export and import received documents",
        """\
Without an action: how much there is, and how old. Reads the database itself, whether or not the
server is running.

  headwater journal
  headwater journal check
  headwater journal list --state failed
  headwater journal show 42
  headwater journal export documents.jsonl
  headwater journal import documents.jsonl""",
    )
    add_settings(added, "data", "database")
    actions = added.add_subparsers(metavar="ACTION")
    _add_journal_list(actions)
    checked = add_command(
        actions,
        "check",
        journal_check,
        "look for damage: every body, every row",
        """\
Works out the hash of every body again and holds documents, bodies and receipts to each other; on
SQLite the file itself is checked, too. Repairs nothing. The exit code is 1 when something is wrong.

  headwater journal check""",
    )
    shown = add_command(
        actions,
        "show",
        journal_show,
        "print one document as it is kept (secrets masked)",
        "  headwater journal show 42",
    )
    shown.add_argument("position", type=int, help="its position, as the list prints it")
    exported = add_command(
        actions,
        "export",
        journal_export,
        "write every document as JSON lines, oldest first",
        """\
One object a line: position, kind, apiVersion, planId, scope, receivedAt (epoch ms), body.

  headwater journal export documents.jsonl
  headwater journal export - | gzip > documents.jsonl.gz""",
    )
    exported.add_argument("file", help="where to; - for standard output")
    for action in (checked, shown, exported, _add_journal_import(actions)):
        add_settings(action, "data", "database")


def _add_journal_list(actions: Any) -> None:
    listed = add_command(
        actions,
        "list",
        journal_list,
        "list documents, newest first",
        "  headwater journal list --state failed --limit 20",
    )
    listed.add_argument("--state", choices=("waiting", "pending", "projected", "failed"))
    listed.add_argument("--kind", help="plan, event, run-event …")
    listed.add_argument("--limit", type=_limit, default=100, help="1 to 1000 (default: 100)")
    add_settings(listed, "data", "database")


def _add_journal_import(actions: Any) -> argparse.ArgumentParser:
    imported = add_command(
        actions,
        "import",
        journal_import,
        "take documents from files",
        """\
It finds in them:
  lines of headwater journal export
  lines of the console and logging dispatchers of the Spline agent, in any log
  _LINEAGE files of its hdfs dispatcher
  plans, events and lists of them, on one line or over many

Without --url the documents go straight into the data folder: headwater serve must not be running
there, and draws them at its next start. With --url they go through a running Headwater, which
draws them at once. Doing it twice does no harm. A refused document is named (file:line) and does
not stop the rest; the exit code is 1 then. With --url the numbers come from the server's totals,
so they include documents that jobs send meanwhile.

  headwater journal import documents.jsonl --data /srv/headwater
  headwater journal import driver.log _LINEAGE --url http://127.0.0.1:8080
  headwater journal import -""",
    )
    imported.add_argument("files", nargs="+", metavar="FILE", help="- for standard input")
    imported.add_argument("--url", help="the running Headwater to go through")
    return imported


def _limit(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError("expected 1 to 1000")
    return number


_Ask = Callable[[str, str], Mapping[str, Any]]
"""Method and path -> the JSON answer of the server."""

_REBUILD_ROUTE: Final = "/journal/rebuild"
_PAUSE_SECONDS: Final = 0.5
_BAR: Final = 30


def replay(call: Call) -> int:
    """_Ask a running server to try documents again."""
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


def follow(ask: _Ask, say: Callable[[str], None], sleep: Callable[[float], None]) -> int:
    """Start a rebuild and print its progress until it is done; 1 when the hashes differ."""
    progress = ask("POST", _REBUILD_ROUTE)
    printed = ""
    while progress["phase"] != "done":
        if (line := _describe_rebuild(progress)) != printed:
            say(line)
            printed = line
        sleep(_PAUSE_SECONDS)
        progress = ask("GET", _REBUILD_ROUTE)
    return conclude(progress, say)


def _describe_rebuild(progress: Mapping[str, Any]) -> str:
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
