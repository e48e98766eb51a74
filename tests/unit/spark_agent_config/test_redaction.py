"""The listener and the server hide the same secrets: what one knows and the other does not fails.

The listener cannot import the server's rules, because its folder travels to clusters alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model import naming
from graph_model.naming.masking import jdbc_text, mask_uri
from graph_model.naming.masking.copying import COPY, copied_modules
from spark_agent_config import redaction
from spark_agent_config.redaction import jdbc_text as listener_jdbc_text

CASES = json.loads((Path(__file__).parents[2] / "fixtures" / "secrets.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES["texts"], ids=lambda case: case["given"][:40])
@pytest.mark.parametrize(
    "mask", [redaction.mask_text, naming.mask_text], ids=["listener", "server"]
)
def test_a_text_is_masked_by_both(mask: Any, case: dict[str, str]) -> None:
    assert mask(case["given"]) == case["masked"]
    assert mask(case["masked"]) == case["masked"]


@pytest.mark.parametrize(
    "case", CASES["documents"], ids=lambda case: json.dumps(case["given"])[:40]
)
@pytest.mark.parametrize(
    "mask", [redaction.mask_secrets, naming.mask_secrets], ids=["listener", "server"]
)
def test_a_document_is_masked_by_both(mask: Any, case: dict[str, Any]) -> None:
    assert mask(case["given"]) == case["masked"]
    assert mask(case["masked"]) == case["masked"]


def test_the_listener_has_the_masking_of_the_server_as_it_is() -> None:
    """Else: python -m graph_model.naming.masking.copying."""
    assert {path.name: path.read_text("utf-8") for path in COPY.glob("*.py")} == copied_modules()


# What settings, URLs and connection strings are made of: joined at random they reach the corners
# that no list of cases does.
PIECES = st.sampled_from(
    [
        "jdbc:", "postgresql", "oracle:thin:", "h2:mem:", "sqlserver", "s3a", "mongodb", "kafka",
        "abfss", "://", "user", "u:p", "@", "host", ":1521", "/", "?", "&", ";", "#", "=", ":",
        "password", "token", "X-Amz-Signature", "fs.s3a.secret.key", "key", "databaseName",
        "hunter2", "{a;b}", "}}", "'x'", '"y"', "\\\"", "--", "-D", "--conf ", "->", " ", ", ",
        "(", ")", "[", "]", "{", "}", "\n", "Bearer abcdefghijklmnop0123", "Authorization: Basic ",
        "x-api-key: ", "(select * from t where a = 'b')", "hr.emp", "select ", "`a:b`", "%3D",
        "*****", "*********(redacted)",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)
DOCUMENTS = st.recursive(
    TEXTS | st.integers(0, 9) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            PIECES | st.sampled_from(["inputSources", "outputSource", "name", "value", "_1", "_2"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_both_make_the_same_of_any_text(text: str) -> None:
    assert redaction.mask_text(text) == naming.mask_text(text)
    assert redaction.mask_uri(text) == mask_uri(text)
    uri = f"jdbc:{text}"
    assert listener_jdbc_text.split_table(uri) == jdbc_text.split_table(uri)


@settings(deadline=None, max_examples=300)
@given(DOCUMENTS)
def test_both_make_the_same_of_any_document(document: Any) -> None:
    assert redaction.mask_secrets(document) == naming.mask_secrets(document)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    ["--password ", "kafka:", "(password=", "?token=a ", "#a", "{}}", "(spark.", ", 'password' "],
)
def test_a_hostile_text_of_200_kilobytes_is_masked_in_linear_time(unit: str) -> None:
    text = "jdbc:x://h?" + unit * (200_000 // len(unit)) + "@"
    assert redaction.mask_secrets({"inputSources": [text], "x": text})


def test_what_is_given_is_not_changed_and_tuples_become_lists() -> None:
    document = {"params": {"password": "x", "names": ("a", "b")}}
    assert redaction.mask_secrets(document) == {
        "params": {"password": "*****", "names": ["a", "b"]}
    }
    assert document == {"params": {"password": "x", "names": ("a", "b")}}
