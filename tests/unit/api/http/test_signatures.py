"""Signatures of AWS: botocore's own signer is the peer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from api.http.access import SKEW_MS, SignedRequest, proves, read_signature
from graph_model.errors import WrongSignature

NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
MS = round(NOW.timestamp() * 1000)
ROOT = "http://127.0.0.1:8080/v2/domains/dzd_a/lineage"


def signed(
    monkeypatch: pytest.MonkeyPatch,
    method: str = "GET",
    url: str = f"{ROOT}/nodes/s3%3A%2F%2Flake%2Fa%20b",
    body: bytes = b"",
    service: str = "datazone",
    **headers: str,
) -> SignedRequest:
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: NOW, raising=False)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    request = AWSRequest(method=method, url=url, data=body, headers=sent)
    signer = botocore.auth.SigV4Auth(Credentials("a1b2", "secret"), service, "eu-west-1")
    signer.add_auth(request)
    split = urlsplit(url)
    names = {name.lower(): value for name, value in request.headers.items()}
    return SignedRequest(method, split.path, split.query, {"host": split.netloc, **names}, body)


def holds(request: SignedRequest, secret: str = "secret", now: int = MS) -> bool:
    header, date = request.headers["authorization"], request.headers["x-amz-date"]
    return proves(read_signature(header, date, now), request, secret)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"method": "POST", "url": f"{ROOT}/events", "body": b'{"a": 1}', "Client_Token": "t  u"},
        {"url": f"{ROOT}/events?timestampAfter=2026-03-01T10%3A00%3A00Z&maxResults=5&empty="},
        {"url": f"{ROOT}//nodes/./x/../arn%3Aaws%3Aglue%3Ae%3A1%3Atable%2Fdb%2Ft"},
        {"url": f"{ROOT}/nodes/%C3%A9~-_.%2B/"},
    ],
)
def test_a_signature_of_botocore_holds(monkeypatch: pytest.MonkeyPatch, asked: Any) -> None:
    request = signed(monkeypatch, **asked)
    assert holds(request)
    assert not holds(request, "another")


@pytest.mark.parametrize(
    "change",
    [
        {"method": "DELETE"},
        {"path": "/v2/domains/dzd_b/lineage/nodes/s3%3A%2F%2Flake%2Fa%20b"},
        {"query": "timestamp=1"},
        {"body": b"other"},
    ],
)
def test_another_request_has_another_signature(
    monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    assert not holds(replace(signed(monkeypatch), **change))


def test_a_changed_header_breaks_it_if_it_was_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    request = signed(monkeypatch, Client_Token="one")
    assert not holds(replace(request, headers={**request.headers, "client-token": "two"}))
    assert holds(replace(request, headers={**request.headers, "x-unsigned": "any"}))


@pytest.mark.parametrize("away", [-1, 1])
def test_it_holds_for_a_quarter_of_an_hour(monkeypatch: pytest.MonkeyPatch, away: int) -> None:
    request = signed(monkeypatch)
    assert holds(request, now=MS + away * SKEW_MS)
    with pytest.raises(WrongSignature, match="15 minutes"):
        holds(request, now=MS + away * (SKEW_MS + 1000))


def test_another_service_or_form_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WrongSignature, match="service s3"):
        holds(signed(monkeypatch, service="s3"))
    date = "20260301T100000Z"
    for header in (
        "AWS4-HMAC-SHA256 Credential=a",
        "AWS4-HMAC-SHA256 Credential=a/20260301/e/datazone/aws4_request, SignedHeaders=host,"
        f" Signature={'0' * 64}",
        "AWS4-HMAC-SHA256 Credential=a/20260302/e/datazone/aws4_request,"
        f" SignedHeaders=host;x-amz-date, Signature={'0' * 64}",
    ):
        with pytest.raises(WrongSignature):
            read_signature(header, date, MS)
    with pytest.raises(WrongSignature, match="X-Amz-Date"):
        read_signature(signed(monkeypatch).headers["authorization"], "yesterday", MS)
