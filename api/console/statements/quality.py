"""``headwater quality``: rules that read a custom run facet as passed or failed."""

from __future__ import annotations

import json
from typing import Any

from api.console.call import Call, add_command, add_url, path_of, say_change


def list_rules(call: Call) -> int:
    """The rules, by name."""
    items = call.ask("GET", "/quality-rules")["items"]
    for one in items:
        passes = ", ".join(json.dumps(value, ensure_ascii=False) for value in one["passes"])
        call.say(f"{one['name']:<24} {one['facet']}.{one['path']} passes with {passes}")
    call.say(f"{len(items)} rules")
    return 0


def set_rule(call: Call) -> int:
    """Set a rule, or print the effect."""
    options = call.options
    body = {
        "facet": options.facet,
        "path": options.path,
        "passes": [_value(text) for text in options.passes],
        "note": options.note,
    }
    return say_change(call, call.ask("PUT", _path(call), body), "is in place", "mark")


def remove_rule(call: Call) -> int:
    """Remove a rule, or print the effect."""
    return say_change(call, call.ask("DELETE", _path(call)), "is gone", "mark")


def _path(call: Call) -> str:
    return path_of("quality-rules", call.options.name, preview=call.options.preview)


def _value(text: str) -> Any:
    """``true`` and ``1`` are JSON; anything but a scalar of JSON is text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, dict | list) or value is None else value


def add_quality(commands: Any) -> None:
    """The sub-command."""
    added = add_command(
        commands,
        "quality",
        list_rules,
        "rules that read a custom run facet as passed or failed",
        """\
A run that carries the facet passes where the value at the path is one of --pass, and fails where it
is another; the mark stands on the tables that the run wrote, beside those of data quality
assertions, with the newest run of each plan. Without an action the rules are listed.

  headwater quality
  headwater quality set gate --facet acme_checks --path result.status --pass ok --preview
  headwater quality remove gate""",
    )
    actions = added.add_subparsers(metavar="ACTION")
    placed = add_command(
        actions, "set", set_rule, "put a rule in place, or change it",
        "  headwater quality set gate --facet acme_checks --path result.status --pass ok",
    )  # fmt: skip
    placed.add_argument("name", metavar="NAME")
    placed.add_argument("--facet", required=True, help="the name of the run facet")
    placed.add_argument(
        "--path", required=True, help="path of the verdict in the facet: result.status"
    )
    placed.add_argument(
        "--pass", dest="passes", action="append", required=True, metavar="VALUE",
        help="a value that passes, as JSON or text; again for each",
    )  # fmt: skip
    placed.add_argument("--note", default="", help="why, for the record")
    removed = add_command(
        actions, "remove", remove_rule, "take a rule away", "  headwater quality remove gate"
    )
    removed.add_argument("name", metavar="NAME")
    for one in (placed, removed):
        one.add_argument("--preview", action="store_true", help="only list the changes")
    for one in (added, placed, removed):
        add_url(one)
