"""``headwater classify``, ``layers``, ``rules``, ``hide``, ``show`` and ``quality``.

All of them call a running server, so that the journal keeps each change with its author.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from api.console.call import Call, Command, add_command, add_url, path_of, say_change
from graph_model.errors import ConfigurationError

_SHOWN: Final = 20


# --- classifications -----------------------------------------------------------------------------


def classify(call: Call) -> int:
    """List tags, list the nodes of one, or put one on a node or remove it."""
    options = call.options
    tag = options.tag
    if tag is None:
        for use in call.ask("GET", path_of("classifications"))["items"]:
            call.say(
                f"{use['tag']:<24} {use['datasets']:>6,} datasets {use['columns']:>8,} columns"
            )
        return 0
    if options.node is None:
        return _list_columns(call)
    if options.remove:
        call.ask("DELETE", path_of("classifications", tag, node=options.node))
        call.say(f"{options.node} carries {tag} no longer")
        return 0
    body = {"node": options.node, "owner": options.owner, "note": options.note}
    answer = call.ask("PUT", path_of("classifications", tag, preview=options.preview), body)
    if options.preview:
        call.say(f"{answer['total']:,} columns would carry {tag} if it followed their lineage:")
        _say_columns(call.say, answer["items"])
        call.say("nothing was done")
    else:
        call.say(f"{_column(answer['uri'], answer['path'])} carries {tag}")
    return 0


def _list_columns(call: Call) -> int:
    tag = call.options.tag
    for node in call.ask("GET", path_of("classifications", tag))["items"]:
        if node["kind"] == "dataset":
            call.say(f"  {node['uri']}  (the dataset; {node['owner'] or node['author']})")
    path = path_of("classifications", tag, "columns", propagate=call.options.propagate)
    answer = call.ask("GET", path)
    _say_columns(call.say, answer["items"], most=None)
    for edge in answer["blocked"]:
        ends = (_end(edge[end]) for end in ("from", "to"))
        call.say(f"  blocked: {' -> '.join(ends)}")
    for gap in answer["gaps"]:
        codes = ", ".join(sorted({detail.get("code", "gap") for detail in gap["gaps"]}))
        call.say(f"  gap: {gap['job']['name']} reads {len(gap['reads'])} of its datasets ({codes})")
    if answer["partial"]:
        call.say(f"this is not all: {answer['partial']['reason']}")
    call.say(f"{answer['total']:,} columns of class {tag}")
    return 0


def _say_columns(
    say: Callable[[str], None], items: Iterable[Mapping[str, Any]], most: int | None = _SHOWN
) -> None:
    for column in list(items)[:most]:
        origin = column["reason"]["origin"]
        way = "" if column["direct"] else f"  {len(column['path'])} steps from {_end(origin)}"
        say(f"  {_column(column['dataset'], column['name'])}{way}")


def _end(column: Mapping[str, Any]) -> str:
    return _column(column["dataset"], column["name"])


def _column(dataset: str, path: str | None) -> str:
    return f"{dataset}#{path}" if path else dataset


# --- layers --------------------------------------------------------------------------------------


def list_layers(call: Call) -> int:
    """The layers, in the order in which they are tried."""
    items = call.ask("GET", "/layers")["items"]
    for layer in items:
        call.say(
            f"{layer['order']:>6}  {layer['name']:<20} {layer['match']:<7} {layer['pattern']}"
            f"  {layer['colour']}"
        )
    call.say(f"{len(items)} layers; the first that fits a dataset is its own")
    return 0


def set_layer(call: Call) -> int:
    """Set a layer, or print the effect."""
    options = call.options
    match = next(kind for kind in ("prefix", "glob", "regex") if getattr(options, kind) is not None)
    body = {
        "match": match,
        "pattern": getattr(options, match),
        "order": options.order,
        "colour": options.colour,
        "note": options.note,
    }
    return say_change(
        call, call.ask("PUT", _layer_path(call), body), "is in place", "layer", _SHOWN
    )


def remove_layer(call: Call) -> int:
    """Remove a layer, or print the effect."""
    return say_change(call, call.ask("DELETE", _layer_path(call)), "is gone", "layer", _SHOWN)


def _layer_path(call: Call) -> str:
    return path_of("layers", call.options.name, preview=call.options.preview)


# --- naming rules --------------------------------------------------------------------------------


def show_rules(call: Call) -> int:
    """The rules as JSON, ready to be edited and given back."""
    options = call.options
    path = "/rules/defaults" if options.defaults else path_of("rules", version=options.version)
    answer = call.ask("GET", path)
    if options.versions:
        for version in answer["versions"]:
            content = "the program's rules" if version["default"] else version["digest"]
            by = f"{version['at']}  {version['author']}"
            call.say(f"{version['id']}  {by}  {content}  {version['note']}")
        return 0
    call.say(json.dumps(answer["rules"], indent=2, ensure_ascii=False))
    return 0


def preview_rules(call: Call) -> int:
    """The effect of a file of rules on the names in the journal."""
    answer = call.ask("PUT", path_of("rules", preview=True), {"rules": _read(call.options.file)})
    for kind in ("datasets", "jobs", "partitions"):
        changes = answer[kind]
        for change in changes["items"][:_SHOWN]:
            call.say(f"  {change['before']} -> {change['after']}  (written {change['spelling']})")
        call.say(
            f"{kind}: {changes['total']:,} of {changes['spellings']:,} spellings change, "
            f"{changes['merged']:,} names merge several, {changes['split']:,} are split"
        )
    call.say(
        f"{answer['plans']:,} of {answer['plansKnown']:,} plans were looked at; nothing was done"
    )
    return 0


def set_rules(call: Call) -> int:
    """Put a file of rules in force."""
    body = {"rules": _read(call.options.file), "note": call.options.note}
    return _say_rules(call.ask("PUT", "/rules", body), call.say)


def reset_rules(call: Call) -> int:
    """Return to the rules of the program."""
    return _say_rules(call.ask("DELETE", "/rules"), call.say)


def _say_rules(answer: Mapping[str, Any], say: Callable[[str], None]) -> int:
    say(f"tables that differ from the program's: {', '.join(answer['changed']) or 'none'}")
    if answer["state"] == "in force":
        say("these rules are in force")
    else:
        say("a rebuild has started; headwater rebuild shows its progress")
    return 0


def _read(file: str) -> Any:
    try:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{file}: expected JSON ({error})") from error


# --- hiding --------------------------------------------------------------------------------------


def hide(call: Call) -> int:
    """Take a dataset or a job out of lists and pictures."""
    return _give_command(call, "hide", "hidden")


def show(call: Call) -> int:
    """Show a hidden dataset or job again."""
    return _give_command(call, "show", "shown again")


def _give_command(call: Call, command: str, done: str) -> int:
    node = call.options.node
    body = {"command": command, "node": node, "note": call.options.note}
    given = call.ask("POST", "/commands", body)["positions"]
    call.say(f"{node} is {done}" if given else f"{node} was {done} before")
    return 0


# --- words ---------------------------------------------------------------------------------------


def add_governance(commands: Any) -> None:
    """The sub-commands."""
    parsers = [
        _add_classify(commands),
        *_add_layers(commands),
        *_add_rules(commands),
        *_add_hiding(commands),
    ]
    for parser in parsers:
        add_url(parser)


def _add_classify(commands: Any) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = add_command(
        commands,
        "classify",
        classify,
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
    added.add_argument("--owner", default="", help="the responsible person or team")
    added.add_argument("--note", default="", help="why, for the record")
    ways = added.add_mutually_exclusive_group()
    ways.add_argument("--remove", action="store_true", help="take the tag off")
    ways.add_argument(
        "--preview", action="store_true", help="only list the columns that would get it"
    )
    ways.add_argument("--propagate", action="store_true", help="follow the columns' lineage")
    return added


def _add_layers(commands: Any) -> list[argparse.ArgumentParser]:
    added = add_command(
        commands,
        "layers",
        list_layers,
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
    placed, removed = _add_named(
        added, "layer",
        set_layer, "  headwater layers set exports --regex '^s3://exports-[a-z]+/' --order 30",
        remove_layer, "  headwater layers remove landing --preview",
    )  # fmt: skip
    kinds = placed.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--prefix", metavar="TEXT")
    kinds.add_argument("--glob", metavar="PATTERN")
    kinds.add_argument("--regex", metavar="PATTERN")
    placed.add_argument("--order", type=int, default=100, help="the least is tried first (100)")
    placed.add_argument("--colour", default="#5b6770", help="#rrggbb")
    return [added, placed, removed]


def _add_named(
    added: Any, noun: str, put: Command, put_example: str, remove: Command, remove_example: str
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The actions ``set`` and ``remove`` of what has a name; each can be tried first."""
    actions = added.add_subparsers(metavar="ACTION")
    placed = add_command(actions, "set", put, f"put a {noun} in place, or change it", put_example)
    removed = add_command(actions, "remove", remove, f"take a {noun} away", remove_example)
    for parser in (placed, removed):
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--preview", action="store_true", help="only list the changes")
    placed.add_argument("--note", default="", help="why, for the record")
    return placed, removed


def _add_rules(commands: Any) -> list[argparse.ArgumentParser]:
    added = add_command(
        commands,
        "rules",
        None,
        "the naming rules of datasets and jobs",
        """\
Scheme aliases, partitions, part files, catalog names, JDBC and application names are tables of a
JSON document. A preview tries a changed document on the names in the journal and changes nothing;
set starts a rebuild under it, beside the current graph, and reset goes back. Every version stays
in the journal.

  headwater rules show > rules.json
  headwater rules preview rules.json
  headwater rules set rules.json --note "one name per nightly job"
  headwater rules show --versions
  headwater rules reset""",
    )
    actions = added.add_subparsers(metavar="ACTION", required=True)
    shown = add_command(
        actions, "show", show_rules, "print the rules as JSON",
        "  headwater rules show --defaults",
    )  # fmt: skip
    which = shown.add_mutually_exclusive_group()
    which.add_argument("--defaults", action="store_true", help="those of the program")
    which.add_argument("--version", metavar="ID", help="those of an earlier version")
    which.add_argument("--versions", action="store_true", help="list the versions instead")
    tried = add_command(
        actions, "preview", preview_rules, "try rules on the names in the journal",
        "  headwater rules preview rules.json",
    )  # fmt: skip
    placed = add_command(
        actions, "set", set_rules, "put rules in force",
        "  headwater rules set rules.json --note 'one name per nightly job'",
    )  # fmt: skip
    for parser in (tried, placed):
        parser.add_argument("file", metavar="FILE", help="JSON; a table left out is the program's")
    placed.add_argument("--note", default="", help="why, for the record")
    reset = add_command(
        actions, "reset", reset_rules, "return to the program's rules",
        "  headwater rules reset",
    )  # fmt: skip
    return [shown, tried, placed, reset]


def _add_hiding(commands: Any) -> list[argparse.ArgumentParser]:
    hidden = add_command(
        commands,
        "hide",
        hide,
        "take a dataset or a job out of lists and pictures",
        """\
A hidden node is in no list, search or picture; its edges are not drawn, the nodes behind it are.
Nothing is removed: admins reach it by its exact id, and show makes it visible again.

  headwater hide dataset:s3://scratch/tmp --note "scratch"
  headwater hide job:default/smoke-test""",
    )
    shown = add_command(
        commands,
        "show",
        show,
        "make a hidden node visible again",
        "  headwater show dataset:s3://scratch/tmp",
    )
    for parser in (hidden, shown):
        parser.add_argument("node", metavar="NODE", help="dataset:…, job:…, or an id of either")
        parser.add_argument("--note", default="", help="why, for the record")
    return [hidden, shown]


def list_rules(call: Call) -> int:
    """The rules, by name."""
    items = call.ask("GET", "/quality-rules")["items"]
    for rule in items:
        passes = ", ".join(json.dumps(value, ensure_ascii=False) for value in rule["passes"])
        call.say(f"{rule['name']:<24} {rule['facet']}.{rule['path']} passes with {passes}")
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
    placed, removed = _add_named(
        added, "rule",
        set_rule, "  headwater quality set gate --facet acme_checks --path result.status --pass ok",
        remove_rule, "  headwater quality remove gate",
    )  # fmt: skip
    placed.add_argument("--facet", required=True, help="the name of the run facet")
    placed.add_argument(
        "--path", required=True, help="path of the verdict in the facet: result.status"
    )
    placed.add_argument(
        "--pass", dest="passes", action="append", required=True, metavar="VALUE",
        help="a value that passes, as JSON or text; again for each",
    )  # fmt: skip
    for parser in (added, placed, removed):
        add_url(parser)
