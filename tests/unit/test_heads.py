"""Heads that say the same but for the length are told by their lines."""

from __future__ import annotations

import pytest

from api.heads import read_head

HEAD = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nAccept: */*\r\n\r\n"


def test_a_head_is_its_lines_without_the_digits_of_its_length() -> None:
    head = read_head(HEAD + b"the document")
    assert head is not None
    assert (head.length, head.size) == (12, len(HEAD))
    assert head.lines == HEAD.replace(b"12", b"")


def test_heads_that_differ_in_the_length_alone_have_the_same_lines() -> None:
    heads = [read_head(HEAD.replace(b"12", digits)) for digits in (b"7", b"012", b"654321")]
    assert [head and head.length for head in heads] == [7, 12, 654321]
    assert len({head and head.lines for head in heads}) == 1


@pytest.mark.parametrize(
    "other",
    [
        HEAD.replace(b"/a", b"/b"),
        HEAD.replace(b"*/*", b"12"),
        HEAD.replace(b"Content-Length", b"content-length"),
        HEAD.replace(b"Accept", b"Content-Length").replace(b"*/*", b"12"),
        HEAD.replace(b"\r\nAccept: */*", b"\r\n Accept: */*"),
    ],
)
def test_every_other_difference_is_one_of_the_lines(other: bytes) -> None:
    one, another = read_head(HEAD), read_head(other)
    assert one is not None
    assert another is not None
    assert one.lines != another.lines


def test_a_length_at_the_end_is_read() -> None:
    head = read_head(b"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc")
    assert head is not None
    assert (head.length, head.lines) == (3, b"POST / HTTP/1.1\r\ncontent-length: \r\n\r\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEAD[:-1],
        b"\r\n" + HEAD,
        HEAD.replace(b"POST", b"PUT"),
        HEAD.replace(b"Content-Length: 12\r\n", b""),
        HEAD.replace(b"12", b""),
        HEAD.replace(b"12", b"+12"),
        HEAD.replace(b"12", b" 12"),
        HEAD.replace(b"12", b"1 2"),
        HEAD.replace(b"12", b"12\n"),
        HEAD.replace(b"12", b"1234567"),
        HEAD.replace(b"12", "١٢".encode()),
        HEAD.replace(b"Host: x", b"Host: x\nTransfer-Encoding: chunked"),
        HEAD.replace(b"x", b"x" * 5_000),
    ],
)
def test_what_a_parser_might_read_otherwise_is_left_to_it(data: bytes) -> None:
    assert read_head(data) is None
