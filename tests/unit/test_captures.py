"""The recorded requests themselves: complete, sendable, and free of names."""

from __future__ import annotations

import gzip
import re

import pytest

from tests import captures


def test_every_kind_of_request_and_version_was_recorded() -> None:
    exchanges = [exchange for name in captures.names() for exchange in captures.load(name)]
    assert {(exchange.method, exchange.kind) for exchange in exchanges} == {
        ("HEAD", "status"),
        ("POST", "plan"),
        ("POST", "event"),
    }
    assert {exchange.content_type for exchange in exchanges} == {
        "",
        "application/json",
        "application/vnd.absa.spline.producer.v1.2+json",
    }
    assert sum(exchange.kind == "plan" for exchange in exchanges) > 100


@pytest.mark.parametrize("name", captures.names())
def test_a_body_is_compressed_as_its_headers_say(name: str) -> None:
    for exchange in captures.load(name):
        headers = dict(exchange.headers)
        assert exchange.gzip == (headers.get("Content-Encoding") == "gzip")
        sent = exchange.wire_body
        assert (gzip.decompress(sent) if exchange.gzip else sent) == exchange.body
        assert (exchange.document is None) == (exchange.kind == "status")
        assert exchange.gzip == (len(exchange.body.decode()) > 2048)


@pytest.mark.parametrize("name", captures.names())
def test_nothing_recorded_names_a_person_or_a_machine(name: str) -> None:
    for exchange in captures.load(name):
        text = exchange.body.decode()
        assert not re.search(r"/(home|Users|tmp|work|root)/", text)
        assert set(re.findall(r'"user":"([^"]*)"', text)) <= {"root"}
        for numbers in re.findall(r"(?:-?\d{1,3}, ?){20,}-?\d{1,3}", text):  # pickled functions
            pickled = bytes(int(number) & 255 for number in numbers.split(","))
            assert not re.search(rb"/(home|Users|tmp|work|root)/", pickled)


def test_an_unknown_capture_is_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        captures.load("none")
