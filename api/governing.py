"""``headwater classify``, ``layers``, ``rules``, ``hide`` and ``show``: what they say and ask.

Everything goes through a running server, so that what is changed is journalled with its author.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from graph_model.errors import ConfigurationError

Ask = Callable[[str, str, object], Mapping[str, Any]]
"""Method, path with its query, and JSON body -> the JSON answer of the server."""
Say = Callable[[str], None]
Action = Callable[[Ask, Say, argparse.Namespace], int]
_SHOWN: Final = 20


def _path(*parts: str, **query: object) -> str:
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    given = {name: value for name, value in query.items() if value not in {None, False}}
    words = {name: "true" if value is True else str(value) for name, value in given.items()}
    return f"{path}?{urlencode(words)}" if words else path


# --- classifications -----------------------------------------------------------------------------


def classify(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """List tags, list who carries one, or put one on a node or take it off."""
    if options.tag is None:
        for one in ask("GET", _path("classifications"), None)["items"]:
            say(f"{one['tag']:<24} {one['datasets']:>6,} datasets {one['columns']:>8,} columns")
        return 0
    if options.node is None:
        return _list_columns(ask, say, options)
    if options.remove:
        ask("DELETE", _path("classifications", options.tag, node=options.node), None)
        say(f"{options.node} carries {options.tag} no longer")
        return 0
    body = {"node": options.node, "owner": options.owner, "note": options.note}
    answer = ask("PUT", _path("classifications", options.tag, preview=options.preview), body)
    if options.preview:
        say(f"{answer['total']:,} columns would carry {options.tag} if it followed their lineage:")
        _say_columns(say, answer["items"])
        say("nothing was done")
    else:
        say(f"{_column(answer['uri'], answer['path'])} carries {options.tag}")
    return 0


def _list_columns(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    for one in ask("GET", _path("classifications", options.tag), None)["items"]:
        if one["kind"] == "dataset":
            say(f"  {one['uri']}  (the dataset; {one['owner'] or one['author']})")
    path = _path("classifications", options.tag, "columns", propagate=options.propagate)
    answer = ask("GET", path, None)
    _say_columns(say, answer["items"], most=None)
    for edge in answer["blocked"]:
        ends = (_end(edge[end]) for end in ("from", "to"))
        say(f"  blocked: {' -> '.join(ends)}")
    for gap in answer["gaps"]:
        said = ", ".join(sorted({one.get("code", "gap") for one in gap["gaps"]}))
        say(f"  gap: {gap['job']['name']} reads {len(gap['reads'])} of its datasets ({said})")
    if answer["partial"]:
        say(f"this is not all: {answer['partial']['reason']}")
    say(f"{answer['total']:,} columns of class {options.tag}")
    return 0


def _say_columns(say: Say, items: Iterable[Mapping[str, Any]], most: int | None = _SHOWN) -> None:
    for one in list(items)[:most]:
        origin = one["reason"]["origin"]
        way = "" if one["direct"] else f"  {len(one['path'])} steps from {_end(origin)}"
        say(f"  {_column(one['dataset'], one['name'])}{way}")


def _end(column: Mapping[str, Any]) -> str:
    return _column(column["dataset"], column["name"])


def _column(dataset: str, path: str | None) -> str:
    return f"{dataset}#{path}" if path else dataset


# --- layers --------------------------------------------------------------------------------------


def list_layers(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """The layers, in the order in which they are tried."""
    del options
    items = ask("GET", "/layers", None)["items"]
    for one in items:
        say(
            f"{one['order']:>6}  {one['name']:<20} {one['match']:<7} {one['pattern']}"
            f"  {one['colour']}"
        )
    say(f"{len(items)} layers; the first that fits a dataset is its own")
    return 0


def set_layer(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """Put a layer in place, or say what it would change."""
    match = next(kind for kind in ("prefix", "glob", "regex") if getattr(options, kind) is not None)
    body = {
        "match": match,
        "pattern": getattr(options, match),
        "order": options.order,
        "colour": options.colour,
        "note": options.note,
    }
    answer = ask("PUT", _path("layers", options.name, preview=options.preview), body)
    return _say_layer(answer, say, f"{options.name} is in place")


def remove_layer(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """Take a layer away, or say what that would change."""
    answer = ask("DELETE", _path("layers", options.name, preview=options.preview), None)
    return _say_layer(answer, say, f"{options.name} is gone")


def _say_layer(answer: Mapping[str, Any], say: Say, done: str) -> int:
    if not answer.get("preview"):
        say(done)
        return 0
    for one in answer["items"][:_SHOWN]:
        say(f"  {one['uri']}: {one['before'] or '-'} -> {one['after'] or '-'}")
    say(f"{answer['total']:,} of {answer['datasets']:,} datasets would change their layer")
    return 0


# --- naming rules --------------------------------------------------------------------------------


def show_rules(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """The rules as JSON, ready to be edited and given back."""
    path = "/rules/defaults" if options.defaults else _path("rules", version=options.version)
    answer = ask("GET", path, None)
    if options.versions:
        for one in answer["versions"]:
            what = "the program's rules" if one["default"] else one["digest"]
            say(f"{one['id']}  {one['at']}  {one['author']}  {what}  {one['note']}")
        return 0
    say(json.dumps(answer["rules"], indent=2, ensure_ascii=False))
    return 0


def preview_rules(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """What a file of rules would make of the names in the journal."""
    answer = ask("PUT", _path("rules", preview=True), {"rules": _read(options.file)})
    for what in ("datasets", "jobs", "partitions"):
        found = answer[what]
        for one in found["items"][:_SHOWN]:
            say(f"  {one['before']} -> {one['after']}  (written {one['spelling']})")
        say(
            f"{what}: {found['total']:,} of {found['spellings']:,} spellings change, "
            f"{found['merged']:,} names merge several, {found['split']:,} are split"
        )
    say(f"{answer['plans']:,} of {answer['plansKnown']:,} plans were looked at; nothing was done")
    return 0


def set_rules(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """Put a file of rules in force."""
    return _say_rules(
        ask("PUT", "/rules", {"rules": _read(options.file), "note": options.note}), say
    )


def reset_rules(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """Return to the rules of the program."""
    del options
    return _say_rules(ask("DELETE", "/rules", None), say)


def _say_rules(answer: Mapping[str, Any], say: Say) -> int:
    say(f"tables that differ from the program's: {', '.join(answer['changed']) or 'none'}")
    if answer["state"] == "in force":
        say("these rules are in force")
    else:
        say("everything is projected anew beside what stands: headwater rebuild follows it")
    return 0


def _read(file: str) -> Any:
    try:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{file}: expected JSON ({error})") from error


# --- hiding --------------------------------------------------------------------------------------


def hide(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """Take a dataset or a job out of lists and pictures."""
    return _order(ask, say, options, "hide", "hidden")


def show(ask: Ask, say: Say, options: argparse.Namespace) -> int:
    """Bring it back."""
    return _order(ask, say, options, "show", "shown again")


def _order(ask: Ask, say: Say, options: argparse.Namespace, command: str, done: str) -> int:
    body = {"command": command, "node": options.node, "note": options.note}
    given = ask("POST", "/commands", body)["positions"]
    say(f"{options.node} is {done}" if given else f"{options.node} was {done} before")
    return 0


# --- words ---------------------------------------------------------------------------------------


def add_parsers(
    commands: Any,
    add: Callable[..., argparse.ArgumentParser],
    add_url: Callable[[Any], None],
    command: Callable[[Action], Any],
) -> None:
    """The sub-commands. ``add`` and ``add_url`` are those of ``command_line``; ``command`` makes
    one of its commands of an action.
    """
    layers, *layer_actions = _add_layers(commands, add, command)
    parsers = [
        _add_classify(commands, add, command),
        layers,
        *layer_actions,
        *_add_rules(commands, add, command),
        *_add_hiding(commands, add, command),
    ]
    for parser in parsers:
        add_url(parser)
    for parser in layer_actions:
        _keep_given_url(parser)


def _add_classify(commands: Any, add: Any, command: Any) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = add(
        commands,
        "classify",
        command(classify),
        "tag datasets and columns, and find all columns of a class",
        """\
A tag (PII, finance …) is put on a dataset or a column, with its owner and a note, and journalled
with its author. With --propagate a class is followed along the columns' lineage downstream, as it
is now: each column with the way to it, the edges at which it was blocked, and the plans whose
column lineage has gaps. Nothing is rewritten. Without a node the columns of the tag are listed;
without a tag the tags.

  headwater classify PII column:s3://lake/people#email --owner privacy --note "GDPR art. 4"
  headwater classify PII column:s3://lake/people#email --preview
  headwater classify PII --propagate
  headwater classify PII column:s3://lake/people#email --remove
  headwater classify""",
    )
    added.add_argument("tag", nargs="?", metavar="TAG")
    added.add_argument("node", nargs="?", metavar="NODE", help="dataset:…, column:…#…, or an id")
    added.add_argument("--owner", default="", help="who answers for it")
    added.add_argument("--note", default="", help="why, for the record")
    ways = added.add_mutually_exclusive_group()
    ways.add_argument("--remove", action="store_true", help="take the tag off")
    ways.add_argument("--preview", action="store_true", help="only say where it would lead")
    ways.add_argument("--propagate", action="store_true", help="follow the columns' lineage")
    return added


def _add_layers(commands: Any, add: Any, command: Any) -> list[argparse.ArgumentParser]:
    added = add(
        commands,
        "layers",
        command(list_layers),
        "storage layers: rules on a dataset's URI",
        """\
The first layer, by order, whose pattern fits a dataset's URI is its layer: a colour and a filter
on the page. A prefix is text; a glob fits the whole URI (* within a segment, ** across them); a
regular expression is searched for in it (RE2: no look-around, no back-references). A change is
seen at once and rewrites nothing.

  headwater layers
  headwater layers set landing --prefix s3://landing/ --order 10 --colour "#8a5a00"
  headwater layers set curated --glob 's3://*/curated/**' --order 20 --colour "#0b6a84" --preview
  headwater layers remove landing""",
    )
    actions = added.add_subparsers(metavar="ACTION")
    placed = add(
        actions, "set", command(set_layer), "put a layer in place, or change it",
        "  headwater layers set exports --regex '^s3://exports-[a-z]+/' --order 30",
    )  # fmt: skip
    placed.add_argument("name", metavar="NAME")
    kinds = placed.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--prefix", metavar="TEXT")
    kinds.add_argument("--glob", metavar="PATTERN")
    kinds.add_argument("--regex", metavar="PATTERN")
    placed.add_argument("--order", type=int, default=100, help="the least is tried first (100)")
    placed.add_argument("--colour", default="#5b6770", help="#rrggbb")
    placed.add_argument("--note", default="", help="why, for the record")
    removed = add(
        actions, "remove", command(remove_layer), "take a layer away",
        "  headwater layers remove landing --preview",
    )  # fmt: skip
    removed.add_argument("name", metavar="NAME")
    for one in (placed, removed):
        one.add_argument("--preview", action="store_true", help="only say what would change")
    return [added, placed, removed]


def _keep_given_url(parser: argparse.ArgumentParser) -> None:
    """``headwater layers --url X set …``: the action does not undo what came before it."""
    for option in parser._actions:
        if option.dest == "url":
            option.default = argparse.SUPPRESS


def _add_rules(commands: Any, add: Any, command: Any) -> list[argparse.ArgumentParser]:
    added = add(
        commands,
        "rules",
        None,
        "the naming rules: what a dataset and a job are called",
        """\
Scheme aliases, partitions, part files, catalog names, JDBC and application names are tables of a
JSON document. A preview tries a changed document on the names in the journal and changes nothing;
set projects everything anew under it, beside what stands, and reset goes back. Every version stays
in the journal.

  headwater rules show > rules.json
  headwater rules preview rules.json
  headwater rules set rules.json --note "one name per nightly job"
  headwater rules show --versions
  headwater rules reset""",
    )
    actions = added.add_subparsers(metavar="ACTION", required=True)
    shown = add(
        actions, "show", command(show_rules), "print the rules as JSON",
        "  headwater rules show --defaults",
    )  # fmt: skip
    which = shown.add_mutually_exclusive_group()
    which.add_argument("--defaults", action="store_true", help="those of the program")
    which.add_argument("--version", metavar="ID", help="those of an earlier version")
    which.add_argument("--versions", action="store_true", help="list the versions instead")
    tried = add(
        actions, "preview", command(preview_rules), "try rules on the names in the journal",
        "  headwater rules preview rules.json",
    )  # fmt: skip
    placed = add(
        actions, "set", command(set_rules), "put rules in force",
        "  headwater rules set rules.json --note 'one name per nightly job'",
    )  # fmt: skip
    for one in (tried, placed):
        one.add_argument("file", metavar="FILE", help="JSON; a table left out is the program's")
    placed.add_argument("--note", default="", help="why, for the record")
    reset = add(
        actions, "reset", command(reset_rules), "return to the program's rules",
        "  headwater rules reset",
    )  # fmt: skip
    return [shown, tried, placed, reset]


def _add_hiding(commands: Any, add: Any, command: Any) -> list[argparse.ArgumentParser]:
    hidden = add(
        commands,
        "hide",
        command(hide),
        "take a dataset or a job out of lists and pictures",
        """\
It is in no list, no search and no picture any more; the edges at it are not drawn, what lies behind
it is. Nothing is removed: admins reach it by its exact id, and show brings it back.

  headwater hide dataset:s3://scratch/tmp --note "scratch"
  headwater hide job:default/smoke-test""",
    )
    shown = add(
        commands,
        "show",
        command(show),
        "bring back what was hidden",
        "  headwater show dataset:s3://scratch/tmp",
    )
    for one in (hidden, shown):
        one.add_argument("node", metavar="NODE", help="dataset:…, job:…, or an id of either")
        one.add_argument("--note", default="", help="why, for the record")
    return [hidden, shown]
