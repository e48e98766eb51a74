"""A thousand planted secrets are masked, a thousand innocent texts are kept as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph_model.naming import normalise
from spark_agent_config import masking
from tests.secret_corpus import innocent_texts, planted_secrets

OTHER_SECRETS = (
    "geheimniswort", "hunter2", "Zx+y/abcd+ef/ghi==", "p!a#s%s*w^o~rd-_.1", "12345678",
    "Winter2024!", "correct-horse-battery", "p@ssw0rd",
)  # fmt: skip


def test_there_are_a_thousand_of_each() -> None:
    planted, innocent = planted_secrets(), innocent_texts()
    assert len(planted) == 1_000
    assert len({one.form for one in planted}) > 60
    assert len(set(innocent)) >= 1_000


def test_no_planted_secret_passes_and_nothing_is_left_to_mask() -> None:
    for one in planted_secrets():
        masked = masking.mask_secrets({one.key or "text": [one.text, {"x": one.text}]})
        told = json.dumps(masked if not one.key else masked[one.key][0])  # type: ignore[index,call-overload]
        assert one.secret not in told, one
        assert masking.mask_secrets(masked) is masked


@pytest.mark.parametrize("secret", OTHER_SECRETS)
def test_the_characters_of_a_secret_do_not_matter(secret: str) -> None:
    for one in planted_secrets():
        if "\0" not in one.form and not one.key:
            text = one.form.replace("{S}", secret)
            assert secret not in masking.mask_text(text), text


def test_innocent_texts_are_unharmed() -> None:
    harmed = [text for text in innocent_texts() if masking.mask_text(text) != text]
    assert harmed == []
    document: Any = {"name": innocent_texts(), "inputSources": innocent_texts()}
    assert masking.mask_secrets(document) is document


def test_names_of_datasets_agree_before_and_after_masking() -> None:
    for text in [one.text for one in planted_secrets()] + innocent_texts():
        masked = masking.mask_uri(text)
        assert [n.uri for n in normalise(masked, "")] == [n.uri for n in normalise(text, "")], text


def test_a_text_of_more_than_a_thousand_secrets_goes_as_a_whole() -> None:
    assert masking.mask_text("password=x1y2z3\n" * 1_000).count("*****") == 1_000
    assert masking.mask_text("password=x1y2z3\n" * 1_001) == "*****"


@pytest.mark.parametrize(
    "text",
    [
        "password='a'b' token='c'd' secret=\"",
        "password=*****'x' y",
        "[password=***, x]",
        "*****",
        "password='" + "'" * 31,
        "\ud800password=\ud800x",
        "password=\x00",
        "//a:b@c:d@e//f:g@h",
        "password=password=password=",
        "token -> token -> token -> x1y2z3",
        "{{{{password=}}}}}",
    ],
)
def test_odd_texts_are_masked_once_and_for_all(text: str) -> None:
    once = masking.mask_text(text)
    assert masking.mask_text(once) == once
    assert masking.mask_uri(masking.mask_uri(text)) == masking.mask_uri(text)
