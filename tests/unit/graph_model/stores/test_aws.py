"""Handshakes for Neptune are signed anew each time, for the address that is connected to."""

from __future__ import annotations

import boto3
import pytest

from graph_model.errors import ConfigurationError
from graph_model.stores.aws import signed_headers

URL = "wss://graph.cluster.example:8182/gremlin"


def a_session(token: str | None = None) -> boto3.Session:
    return boto3.Session("AKID", "secret", token, region_name="eu-west-1")


def test_the_signature_is_for_the_service_the_region_and_the_host() -> None:
    headers = signed_headers(URL, session=a_session())()
    assert headers["Host"] == "graph.cluster.example:8182"
    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "/eu-west-1/neptune-db/aws4_request" in headers["Authorization"]
    assert "SignedHeaders=host;x-amz-date" in headers["Authorization"]
    assert "X-Amz-Date" in headers


def test_the_token_of_a_role_goes_along() -> None:
    headers = signed_headers(URL, session=a_session("token"))()
    assert headers["X-Amz-Security-Token"] == "token"


def test_credentials_are_asked_at_every_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    session = a_session()
    sign = signed_headers(URL, session=session)
    first = sign()["Authorization"]
    monkeypatch.setattr(session, "get_credentials", a_session("rotated").get_credentials)
    assert sign()["Authorization"] != first


def test_without_a_region_the_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    session = a_session()
    monkeypatch.setattr(type(session), "region_name", None)
    with pytest.raises(ConfigurationError, match="AWS_REGION"):
        signed_headers(URL, session=session)
    assert signed_headers(URL, region="us-east-1", session=session)()


def test_without_credentials_a_handshake_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    session = a_session()
    monkeypatch.setattr(session, "get_credentials", lambda: None)
    with pytest.raises(ConfigurationError, match="credentials"):
        signed_headers(URL, session=session)()
