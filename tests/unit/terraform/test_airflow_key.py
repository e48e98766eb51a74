"""OpenLineage's client in Airflow gets the API key from Secrets Manager."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from openlineage.client.transport.http import TokenProvider

from tests.unit.terraform.scripts import load_script

CONFIG = {"type": "headwater_key.SecretKey", "secret": "arn:a", "region": "eu-west-1"}


def test_the_client_takes_it_and_the_secret_is_read_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, Any]] = []

    def get_secret_value(**given: str) -> dict[str, str]:
        asked.append(given)
        return {"SecretString": "hw_1"}

    secrets = SimpleNamespace(get_secret_value=get_secret_value)
    monkeypatch.setattr(boto3, "client", lambda _name, region_name: secrets)
    provider = load_script("modules/workflows/headwater_key.py").SecretKey(CONFIG)
    assert isinstance(provider, TokenProvider)
    assert asked == []
    assert [provider.get_bearer(), provider.get_bearer()] == ["Bearer hw_1", "Bearer hw_1"]
    assert asked == [{"SecretId": "arn:a"}]
