"""Governance is a function of the set of statements; layers and tags follow the naming rules."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from graph_model import identity, naming
from graph_model.errors import InvalidDocument
from graph_model.facts import CommandRow
from graph_model.governance.statements import (
    Layers,
    govern,
    ids_in_force,
    newest_statements,
    read_layer,
)
from graph_model.naming.rules_json import changed_tables, read_rules, write_rules
from graph_model.producers.commands import (
    Command,
    CommandKind,
    Statement,
    read_command,
    translate_command,
    write_command,
    write_value,
)

LAYER = {"match": "prefix", "pattern": "s3://a/", "order": 1, "colour": "#000000", "note": ""}


def row(kind: CommandKind, key: str, value: Any, at: int) -> CommandRow:
    order = Statement(kind, key, None if value is None else write_value(value))
    command = Command("ann", at, "why", key, order)
    (result,) = translate_command(command, f"{at:064d}").rows
    assert isinstance(result, CommandRow)
    return result


def layer_rows() -> list[CommandRow]:
    return [
        row(CommandKind.LAYER, "a", LAYER, 1),
        row(CommandKind.LAYER, "a", {**LAYER, "order": 5}, 3),
        row(CommandKind.LAYER, "b", LAYER, 2),
        row(CommandKind.LAYER, "b", None, 4),
        row(CommandKind.LAYER, "c", None, 1),
        row(CommandKind.LAYER, "c", LAYER, 2),
    ]


def test_the_newest_statement_of_a_key_holds_in_any_order_of_arrival() -> None:
    rows = layer_rows()
    expected = govern({CommandKind.LAYER: rows}, naming.DEFAULT_RULES)
    assert [(item.name, item.order) for item in expected.layers.items] == [("c", 1), ("a", 5)]
    for seed in range(20):
        random.Random(seed).shuffle(rows)
        assert govern({CommandKind.LAYER: rows}, naming.DEFAULT_RULES) == expected


def test_of_two_statements_at_one_time_the_one_with_the_greater_id_holds() -> None:
    first = row(CommandKind.LAYER, "a", LAYER, 1)
    second = row(CommandKind.LAYER, "a", None, 1)._replace(id="f" * 64)
    assert newest_statements([first, second]) == newest_statements([second, first]) == ()


def test_replaced_and_retracted_statements_are_not_in_force_nor_is_the_retraction() -> None:
    rows = layer_rows()
    assert ids_in_force(rows) == {rows[1].id, rows[5].id}


def test_a_statement_comes_back_from_its_document() -> None:
    for value in (write_value(LAYER), None):
        command = Command("ann", 7, "why", "a", Statement(CommandKind.LAYER, "a", value))
        document = json.loads(json.dumps(write_command(command)))
        assert read_command(document) == command


@pytest.mark.parametrize(
    ("field", "change"), [("key", {"key": 1}), ("value", {"value": []}), ("time", {"time": "x"})]
)
def test_a_statement_that_breaks_the_protocol_is_refused_by_its_field(
    field: str, change: dict[str, Any]
) -> None:
    statement = Statement(CommandKind.LAYER, "a", None)
    document = write_command(Command("ann", 7, "", "a", statement)) | change
    with pytest.raises(InvalidDocument) as caught:
        read_command(document)
    assert caught.value.path == field


def test_a_statement_that_this_version_cannot_read_leaves_the_rest_as_it_is() -> None:
    rows = [*layer_rows(), row(CommandKind.LAYER, "later", {"match": "vector"}, 9)]
    held = govern({CommandKind.LAYER: rows}, naming.DEFAULT_RULES)
    assert [item.name for item in held.layers.items] == ["c", "a"]


@pytest.mark.parametrize(
    ("glob", "uri", "fits"),
    [
        ("s3://*/raw/**", "s3://lake/raw/a/b", True),
        ("s3://*/raw/**", "s3://lake/x/raw/a", False),
        ("s3://lake/?", "s3://lake/a", True),
        ("s3://lake/?", "s3://lake/ab", False),
        ("s3://lake/a.b", "s3://lake/axb", False),
        ("**", "anything: at all\n", True),
    ],
)
def test_a_glob_fits_whole_uris_and_its_star_stays_within_a_segment(
    glob: str, uri: str, fits: bool
) -> None:
    layer = read_layer("x", {**LAYER, "match": "glob", "pattern": glob})
    assert (Layers((layer,)).of(uri) == "x") is fits


def test_a_pattern_that_needs_backtracking_is_refused_and_the_rest_is_linear() -> None:
    for pattern in (r"(a)\1", "(?<!x)a"):
        with pytest.raises(InvalidDocument, match=r"^pattern: .*RE2"):
            read_layer("x", {**LAYER, "match": "regex", "pattern": pattern})
    layer = read_layer("x", {**LAYER, "match": "regex", "pattern": "^(a+)+$"})
    assert Layers((layer,)).of("a" * 20_000 + "!") is None


def test_a_tag_follows_its_dataset_through_a_change_of_the_rules() -> None:
    node = {"kind": "column", "scope": "", "uri": "s3://lake/t", "path": "x"}
    value = {"tag": "PII", "node": node, "owner": "", "note": ""}
    rows = {CommandKind.CLASSIFY: [row(CommandKind.CLASSIFY, "k", value, 1)]}
    other = read_rules(
        {
            "schemeAliases": [["s3", "object"]],
            "fileSchemes": [*naming.DEFAULT_RULES.file_schemes, "object"],
        }
    )
    for rules, uri in ((naming.DEFAULT_RULES, "s3://lake/t"), (other, "object://lake/t")):
        column = identity.column_id(identity.dataset_id("", uri), "x")
        assert govern(rows, rules).tags == {column: ("PII",)}


# --- naming rules as data ------------------------------------------------------------------------


def test_the_default_rules_come_back_from_their_document() -> None:
    document = json.loads(json.dumps(write_rules(naming.DEFAULT_RULES)))
    assert read_rules(document) == naming.DEFAULT_RULES
    assert read_rules({}) == naming.DEFAULT_RULES
    assert changed_tables(read_rules({"unnamedJob": "nobody"})) == ("unnamedJob",)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"mask": ""},
        {"secretFragments": []},
        {"schemeAliases": [["a", "b"], ["b", "a"]]},
        {"dateFormats": ["yyyy.*"]},
        {"jobPatterns": [{"pattern": "x", "name": r"\g<y>"}]},
        {"jobPatterns": [{"pattern": "(?=a)", "name": "y"}]},
        {"partFiles": [{"pattern": "a++"}]},
        {"jdbcHostPatterns": [["redshift", r"(a)\1", "x"]]},
        {"jobPatterns": [{"pattern": "x", "name": "y", "shared": "no"}]},
        {"partFiles": [{"folder": "x"}]},
        {"jdbcDrivers": [{"name": "x", "levels": 9}]},
        {"fileSchemes": ["\x00"]},
        {"fileSchemes": ["x"] * 501},
    ],
)
def test_rules_that_naming_could_not_keep_are_refused(document: Any) -> None:
    with pytest.raises(InvalidDocument):
        read_rules(document)
