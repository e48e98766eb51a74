"""Secrets in texts and in documents are masked, and masking a masked one changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_agent_config.masking import JsonValue, mask_secrets, mask_text

CASES = json.loads((Path(__file__).parents[3] / "fixtures" / "secrets.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES["texts"], ids=lambda case: case["given"][:40])
def test_a_text_is_masked(case: dict[str, str]) -> None:
    assert mask_text(case["given"]) == case["masked"]
    assert mask_text(case["masked"]) == case["masked"]


@pytest.mark.parametrize(
    "case", CASES["documents"], ids=lambda case: json.dumps(case["given"])[:40]
)
def test_a_document_is_masked(case: dict[str, JsonValue]) -> None:
    assert mask_secrets(case["given"]) == case["masked"]
    assert mask_secrets(case["masked"]) == case["masked"]


def test_the_document_is_not_changed_and_tuples_become_lists() -> None:
    document = {"params": {"password": "x", "names": ("a", "b")}}
    assert mask_secrets(document) == {"params": {"password": "*****", "names": ["a", "b"]}}
    assert document == {"params": {"password": "x", "names": ("a", "b")}}


@pytest.mark.parametrize("keys", [("name", "comment"), ("comment", "name")])
def test_what_is_harmless_as_a_name_is_masked_elsewhere(keys: tuple[str, str]) -> None:
    random = "kT9vQ2xLm4Zp8RwYb6Nc3HdJf7Gs1AeU"
    rows: list[JsonValue] = [{key: random} for key in (*keys, *keys)]
    masked = {"name": random, "comment": "*****"}
    assert mask_secrets(rows) == [{key: masked[key]} for key in (*keys, *keys)]


def test_each_secret_of_an_argument_is_masked() -> None:
    """Only the last that a command line shows was, and none that the argument itself tells of."""
    given = ["run", "credentials: Herbst-2031/x1y2z3w4! and password=Zq7kT9vLm2", "-v"]
    masked = json.dumps(mask_secrets({"argv": given}))
    assert not [secret for secret in ("x1y2z3w4", "Zq7kT9vLm2") if secret in masked]
    listed = {"argv": ["run", "credentials:\n  - name: a\n    secret: Zq7kT9vLm2Xw\n"]}
    assert "Zq7kT9vLm2Xw" not in json.dumps(mask_secrets(listed))
