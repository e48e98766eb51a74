"""``headwater forward``: journalled documents sent on to other lineage backends."""

from __future__ import annotations

import argparse
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from api.console.call import Call, add_command, add_settings
from graph_model.errors import ConfigurationError, InvalidInput, Unavailable
from graph_model.values import iso, now, parse_instant

if TYPE_CHECKING:
    from graph_model.stores.forwarding import ForwardLease, ForwardState, ForwardStates
    from graph_model.stores.journal import Journal

log = logging.getLogger(__name__)

_START: Final = "start"
_NOW: Final = "now"
_MOST_LISTED: Final = 1_000
_SOON_SECONDS: Final = 0.1
_LOOK_SECONDS: Final = 5.0
"""Until a destination that was added is sent to."""
_LAST_SECONDS: Final = 20.0
"""After a signal, for the answers that are still to come; a process with one missing keeps its
lease until it runs out."""
_KINDS: Final = ("openlineage", "google", "datazone", "kafka", "headwater")


def forward_add(call: Call) -> int:
    """Add a destination."""
    from collectors.forwarding.backends import ForwardTarget, check_name, checked
    from collectors.rewriting import parse_rules, read_text

    options = call.options
    check_name(options.name)
    if options.to == "datazone" and not options.region:
        raise InvalidInput("region: give that of the domain, as --region eu-west-1")
    rules: Any = {}
    if options.rules:
        text = read_text(options.rules)
        parse_rules(text, options.rules, holding_back=True)
        rules = json.loads(text)
    definition = checked(
        ForwardTarget(
            options.to, options.address, options.secret, options.region, options.topic,
            options.at_once, rules, tuple(options.never_from),
        )
    )  # fmt: skip
    with _opened(call) as (journal, states):
        position = _position(journal, options.since)
        states.add(options.name, definition.text, position)
        waiting = journal.newest() - position
    call.say(f"{options.name}: {waiting:,} positions of the journal are to be sent")
    call.say("headwater forward run sends them, and what comes later")
    return 0


def forward_test(call: Call) -> int:
    """Whether a destination answers; nothing that would stay is sent."""
    from collectors.forwarding.backends import open_backend, read_definition

    with _opened(call) as (_, states):
        state = states.get(call.options.name)
    definition = read_definition(state.definition)
    refusal = open_backend(definition).test()
    if call.options.json:
        call.say(json.dumps({"name": state.name, "to": definition.to, "refusal": refusal or None}))
    elif refusal:
        call.say(f"{state.name} answers, and refuses an empty document, as it should")
    elif definition.to == "kafka":
        call.say(f"{state.name}: its brokers answer")
    else:
        call.say(f"{state.name} answers, and takes even an empty document: does it keep lineage?")
    return 0


def forward_list(call: Call) -> int:
    """List the destinations, each with its lag."""
    with _opened(call) as (journal, states):
        newest, listed = journal.newest(), states.list()
    if call.options.json:
        call.say(json.dumps({"items": [_described(state, newest) for state in listed]}, indent=2))
        return 0
    for state in listed:
        described = _described(state, newest)
        call.say(f"{state.name}: {described['to']} {described['address']}")
        call.say(
            f"  {described['state']}; {state.sent:,} sent, {described['lag']:,} positions behind, "
            f"{state.letters:,} refused"
        )
        if state.failure:
            call.say(f"  since {iso(state.failed_at)}: {state.failure}")
    call.say(f"{len(listed)} destinations")
    return 0


def _described(state: ForwardState, newest: int) -> dict[str, Any]:
    from collectors.forwarding.backends import read_definition

    definition = read_definition(state.definition)
    waits = "waiting" if state.failure else "running"
    return {
        "name": state.name, "to": definition.to, "address": definition.address,
        "state": "paused" if state.paused else waits, "position": state.position,
        "lag": max(newest - state.position, 0), "sent": state.sent, "refused": state.letters,
        "failure": state.failure or None, "failedAt": iso(state.failed_at),
        "connections": definition.connections, "neverFrom": list(definition.never_from),
        "rules": len(definition.rules.get("rules", [])),
    }  # fmt: skip


def forward_pause(call: Call) -> int:
    """Stop sending to a destination; its position stays."""
    return _pause(call, paused=True)


def forward_resume(call: Call) -> int:
    """Go on from where the destination was paused."""
    return _pause(call, paused=False)


def _pause(call: Call, *, paused: bool) -> int:
    with _opened(call) as (_, states):
        states.pause(call.options.name, paused=paused)
    call.say(f"{call.options.name} {'is paused' if paused else 'goes on'}")
    return 0


def forward_remove(call: Call) -> int:
    """Remove a destination with its position and its list of refused documents."""
    with _opened(call) as (_, states):
        states.remove(call.options.name)
    call.say(f"{call.options.name} is removed")
    return 0


def forward_letters(call: Call) -> int:
    """List the documents that a destination has refused."""
    with _opened(call) as (_, states):
        state = states.get(call.options.name)
        listed = states.letters(state.name, _MOST_LISTED)
    for letter in listed:
        again = "; to be sent again" if letter.due else ""
        call.say(f"{letter.position}  {iso(letter.at)}  {letter.reason}{again}")
    rest = state.letters - len(listed)
    call.say(f"{state.letters:,} refused{f', {rest:,} of them not shown' if rest > 0 else ''}")
    return 0


def forward_replay(call: Call) -> int:
    """Send the documents again that a destination has refused."""
    with _opened(call) as (_, states):
        count = states.replay(states.get(call.options.name).name)
    call.say(f"{count:,} documents are to be sent again: headwater forward run does")
    return 0


def forward_run(call: Call) -> int:
    """Send until Ctrl-C."""
    from api.console.collecting import stop_signal
    from api.logs import set_up_logging

    options, settings = call.options, call.settings()
    set_up_logging(settings.log_level, settings.log_format)
    threads: dict[str, threading.Thread] = {}
    with (
        _opened(call) as (journal, states),
        _alone(call, states, threads) as keep,
        stop_signal() as stopping,
    ):
        names = options.name or [state.name for state in states.list()]
        if not names:
            raise ConfigurationError("no destination: headwater forward add makes one")
        for name in names:
            states.get(name)
        call.say(f"Sending to {', '.join(names)}{'' if options.once else '; Ctrl-C stops it'}.")
        _send(call, journal, states, threads, keep, stopping)
        failed = [state for state in states.list() if state.failure and not state.paused]
    if not options.once:
        return 0
    failed = [state for state in failed if state.name in names]
    for state in failed:
        call.say(f"{state.name}: {state.failure}")
    return 1 if failed else 0


def _send(
    call: Call,
    journal: Journal,
    states: ForwardStates,
    threads: dict[str, threading.Thread],
    keep: Callable[[], None],
    stopping: threading.Event,
) -> None:
    """A thread a destination, also for those that are added meanwhile: into ``threads``, by name.
    Those that still wait for an answer at the end stay alive. Raises ConfigurationError once
    another process sends.
    """
    from collectors.forwarding.events import OpenLineageEvents
    from collectors.forwarding.rounds import Forwarding
    from graph_model.naming import DEFAULT_RULES
    from graph_model.projection.projector.rules import wanted_rules

    events = OpenLineageEvents(journal, wanted_rules(journal, DEFAULT_RULES))

    def start_missing() -> None:
        for name in call.options.name or [state.name for state in states.list()]:
            if name not in threads or not threads[name].is_alive():
                forwarding = Forwarding(name, journal, states, events, now)
                threads[name] = threading.Thread(
                    target=forwarding.run,
                    args=(stopping.wait,),
                    kwargs={"once": call.options.once},
                    name=f"forward-{name}",
                    daemon=True,  # one that waits for an answer does not keep the process
                )
                threads[name].start()

    try:
        start_missing()
        while not stopping.wait(_SOON_SECONDS if call.options.once else _LOOK_SECONDS):
            if call.options.once and not any(thread.is_alive() for thread in threads.values()):
                break
            try:
                keep()
                if not call.options.once:
                    start_missing()
            except Unavailable as error:
                log.warning("%s", error)
    finally:
        stopping.set()
        end = time.monotonic() + _LAST_SECONDS
        for thread in threads.values():
            thread.join(max(end - time.monotonic(), 0))


@contextmanager
def _opened(call: Call) -> Iterator[tuple[Journal, ForwardStates]]:
    """Journal and destinations of the data folder; a running server does not mind."""
    from api.serving.storage import opened_storage
    from graph_model.stores.forwarding import ForwardStates
    from graph_model.stores.journal import Journal

    with opened_storage(call.settings()) as database:
        journal = Journal(database)
        try:
            yield journal, ForwardStates(database)
        finally:
            journal.close()


@contextmanager
def _alone(
    call: Call, states: ForwardStates, threads: Mapping[str, threading.Thread]
) -> Iterator[Callable[[], None]]:
    """One process sends, by its ``threads``. Raises ConfigurationError where another does; so does
    what is given, to be called every few seconds.
    """
    from api.serving.storage import claim
    from graph_model.stores.forwarding import LEASE_SECONDS

    lease, settings = states.lease, call.settings()

    def keep() -> None:
        if not lease.take():
            raise ConfigurationError(
                "another process sends: headwater forward run is up already, or one was killed in"
                f" the last {LEASE_SECONDS:.0f} s"
            )

    if lease.is_shared:
        keep()
        try:
            yield keep
        finally:
            _end_lease(lease, threads.values())
    else:
        with claim(settings.data, "forward.lock"):
            yield keep


def _end_lease(lease: ForwardLease, threads: Iterable[threading.Thread]) -> None:
    """Give it up, but let it run out where a message may still be on its way: else another process
    would send meanwhile. Raises nothing that would hide why the process ends.
    """
    reason, seconds = "an answer is still missing", max(lease.seconds_left, 0)
    if not any(thread.is_alive() for thread in threads):
        try:
            lease.give_up()
        except Unavailable as error:
            reason = str(error)
        else:
            return
    log.warning("%s: another process may send in %.0f s", reason, seconds)


def _position(journal: Journal, since: str) -> int:
    """The position after which documents are sent."""
    if since == _START:
        return 0
    if since == _NOW:
        return journal.newest()
    try:
        return journal.last_before(parse_instant(since))
    except ValueError:
        raise InvalidInput(
            f"--from {since[:80]!r}: expected {_START}, {_NOW} or a time (ISO 8601)"
        ) from None


def add_forward(commands: Any) -> None:
    added = add_command(
        commands,
        "forward",
        None,
        "send documents on to other lineage backends",
        """\
Jobs report here once, and other backends get the same: Marquez, OpenMetadata, DataHub, Snowflake
(openlineage), Google's Data Lineage API (google), DataZone, Kafka, another Headwater. Spline's
plans are sent as events of OpenLineage with their columns. docs/forward.md

  headwater forward add marquez --to openlineage --address https://marquez.example:5000
  headwater forward add company --to datazone --address dzd_abc123 --region eu-west-1 --from start
  headwater forward test marquez
  headwater forward run
  headwater forward list""",
    )
    actions = added.add_subparsers(metavar="ACTION", required=True)
    parsers = [_add_add(actions), _add_run(actions)]
    listed = add_command(
        actions, "list", forward_list, "list destinations, each with its lag",
        "  headwater forward list",
    )  # fmt: skip
    listed.add_argument("--json", action="store_true", help="as JSON")
    parsers.append(listed)
    for name, command, summary in (
        ("test", forward_test, "ask a destination whether it answers; sends nothing that stays"),
        ("pause", forward_pause, "stop sending to a destination"),
        ("resume", forward_resume, "go on where it was paused"),
        ("letters", forward_letters, "list the documents that it has refused"),
        ("replay", forward_replay, "send the refused documents again"),
        ("remove", forward_remove, "remove a destination with its position"),
    ):
        action = add_command(actions, name, command, summary, f"  headwater forward {name} marquez")
        action.add_argument("name", metavar="NAME", help="its name")
        if command is forward_test:
            action.add_argument("--json", action="store_true", help="as JSON, with its answer")
        parsers.append(action)
    for parser in parsers:
        add_settings(parser, "data", "database", "bodies")


def _add_add(actions: Any) -> argparse.ArgumentParser:
    added = add_command(
        actions,
        "add",
        forward_add,
        "add a destination",
        """\
Secrets are named, never given: --secret env:MARQUEZ_TOKEN is a variable of the process that sends,
--secret file:/PATH a file that it reads, --secret secret:NAME one in AWS Secrets Manager. It is
sent as a bearer token (as X-API-Key to another Headwater); for Kafka it holds librdkafka's settings
as JSON. DataZone is signed with the credentials of the process, for the domain's --region.

  headwater forward add marquez --to openlineage --address http://localhost:5000
  headwater forward add lake --to headwater --address https://lineage.example --secret env:KEY
  headwater forward add events --to kafka --address b1:9092,b2:9092 --topic lineage""",
    )
    added.add_argument("name", metavar="NAME", help="a name for it")
    added.add_argument("--to", required=True, choices=_KINDS, help="what is there")
    added.add_argument(
        "--address", required=True, help="URL; brokers for kafka; the domain's id for datazone"
    )
    added.add_argument(
        "--secret", default="", metavar="REFERENCE", help="env:NAME, file:/PATH or secret:NAME"
    )
    added.add_argument("--region", default="", help="of a DataZone domain, for which it is needed")
    added.add_argument("--topic", default="", help="of Kafka")
    added.add_argument("--rules", default="", metavar="FILE", help="rules: docs/forward.md")
    added.add_argument(
        "--connections",
        dest="at_once",
        metavar="NUMBER",
        type=int,
        default=1,
        help="runs that are sent at once (default: 1, in the order of the journal)",
    )
    added.add_argument(
        "--never-from", action="append", default=[], metavar="PRINCIPAL",
        help="leave out what this key or collector brought: that came from there",
    )  # fmt: skip
    added.add_argument(
        "--from", dest="since", default=_NOW, metavar="TIME",
        help=f"send what came since: {_START}, {_NOW} or a time (default: {_NOW})",
    )  # fmt: skip
    return added


def _add_run(actions: Any) -> argparse.ArgumentParser:
    added = add_command(
        actions,
        "run",
        forward_run,
        "send, until Ctrl-C",
        """\
One process sends for a data folder or database, beside the server or anywhere that reaches the
database. A destination that fails is tried again, up to a minute apart, from where it was, and
holds up no other one. What it refuses is set aside: headwater forward letters, replay.

  headwater forward run
  headwater forward run marquez --once""",
    )
    added.add_argument("name", metavar="NAME", nargs="*", help="destinations (default: all)")
    added.add_argument("--once", action="store_true", help="end when all is sent, or cannot be")
    add_settings(added, "log_level", "log_format")
    return added
