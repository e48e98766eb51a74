"""The function that checks API keys for the gateway of the queue road."""

from __future__ import annotations

import json
from types import ModuleType, SimpleNamespace
from typing import Any

import boto3
import pytest

from tests.unit.terraform.scripts import load_script


class _ResourceNotFoundException(Exception):
    """The client's error for a secret without a value."""


class Secrets:
    """Gives its values, and counts how often."""

    exceptions = SimpleNamespace(ResourceNotFoundException=_ResourceNotFoundException)

    def __init__(self, **held: str) -> None:
        self.held = held
        self.asked = 0

    def get_secret_value(self, SecretId: str) -> dict[str, str]:
        self.asked += 1
        if SecretId not in self.held:
            raise _ResourceNotFoundException
        return {"SecretString": self.held[SecretId]}


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> Secrets:
    fake = Secrets(a="hw_1", b="hw_2")
    monkeypatch.setattr(boto3, "client", lambda _name: fake)
    monkeypatch.setenv("KEY_SECRETS", json.dumps({"producer": "a", "444455556666": "b"}))
    return fake


@pytest.fixture
def script(secrets: Secrets) -> ModuleType:
    return load_script("modules/gateway/check_key.py")


def asked(script: ModuleType, **headers: str) -> dict[str, Any]:
    answer: dict[str, Any] = script.handler({"headers": headers}, None)
    return answer


def test_a_key_comes_in_under_its_name(script: ModuleType) -> None:
    answer = asked(script, authorization="Bearer hw_2")
    named = {"key": "444455556666", "principalId": "444455556666"}
    assert answer == {"isAuthorized": True, "context": named}


@pytest.mark.parametrize(
    "header", ["Bearer hw_3", "Bearer ", "Bearer", "", "Basic hw_1", "hw_1", "Bearer hw_1é"]
)
def test_anything_else_stays_out(script: ModuleType, header: str) -> None:
    assert asked(script, authorization=header)["isAuthorized"] is False


def test_a_request_without_the_header_stays_out(script: ModuleType) -> None:
    assert asked(script)["isAuthorized"] is False


def test_keys_are_read_once_in_a_while(
    script: ModuleType, secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        asked(script, authorization="Bearer hw_1")
    assert secrets.asked == 2  # one for each secret
    secrets.held["a"] = "hw_new"
    monkeypatch.setattr(script, "_read_at", float("-inf"))
    assert asked(script, authorization="Bearer hw_1")["isAuthorized"] is False
    assert asked(script, authorization="Bearer hw_new")["isAuthorized"] is True


def test_a_secret_that_is_still_empty_keeps_nobody_else_out(
    script: ModuleType, secrets: Secrets
) -> None:
    del secrets.held["b"]
    assert asked(script, authorization="Bearer hw_1")["isAuthorized"] is True
    assert asked(script, authorization="Bearer hw_2")["isAuthorized"] is False
