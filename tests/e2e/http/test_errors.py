"""One error body: every exception of werkzeug and every class of our own tree has it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import abort, request
from werkzeug.exceptions import HTTPException, default_exceptions

from api.http.errors import NO_ENGINE, flatten, trace
from graph_model import errors as tree
from graph_model.documents.json_texts import RepeatedKey
from graph_model.errors import (
    AmbiguousReference,
    DamagedDocument,
    DiskNearlyFull,
    DocumentTooLarge,
    EngineError,
    ForeignScope,
    HeadwaterError,
    InvalidDocument,
    InvalidFields,
    InvalidReference,
    NotAllowed,
    NotFound,
    TooManyRequests,
)
from tests.e2e.producer_service import Headwater, errors_of, headwater

EXAMPLES: dict[type[HeadwaterError], Callable[[], HeadwaterError]] = {
    InvalidDocument: lambda: InvalidDocument("operations.write", "a JSON object"),
    InvalidReference: lambda: InvalidReference("dataset", "dataset:<uri>"),
    AmbiguousReference: lambda: AmbiguousReference("dataset:x", ("ds_1", "ds_2")),
    DocumentTooLarge: lambda: DocumentTooLarge(7),
    InvalidFields: lambda: InvalidFields({"depth": ["an integer"]}),
    RepeatedKey: lambda: RepeatedKey({"document": ["each key once"]}),
    DamagedDocument: lambda: DamagedDocument(7, "cannot be inflated"),
    NotFound: lambda: NotFound("dataset", "ds_1"),
    ForeignScope: lambda: ForeignScope("jobs", "emr", "glue"),
    DiskNearlyFull: lambda: DiskNearlyFull(5, 7),
    NotAllowed: lambda: NotAllowed("jobs", ("reader", "admin")),
    TooManyRequests: lambda: TooManyRequests("jobs", 60, 7),
}
STATUS = {
    "DocumentTooLarge": 413,
    "InvalidInput": 400,
    "InvalidDocument": 400,
    "InvalidReference": 400,
    "AmbiguousReference": 400,
    "InvalidFields": 400,
    "NotFound": 404,
    "Conflict": 409,
    "Refused": 403,
    "NotAuthenticated": 401,
    "NotAllowed": 403,
    "TooManyRequests": 429,
    "Unavailable": 503,
    "JournalUnavailable": 503,
    "GraphUnavailable": 503,
    "GraphTimeout": 503,
    "Rebuilding": 503,
    "EngineError": 503,
    "GraphRejected": 500,
    "FactConflict": 500,
    "ConfigurationError": 500,
    "HeadwaterError": 500,
}


def classes(root: type[HeadwaterError]) -> Iterator[type[HeadwaterError]]:
    """The class and all below it that are not a test's own."""
    if root.__module__.startswith(("api.", "graph_model.")):
        yield root
    for child in root.__subclasses__():
        yield from classes(child)


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


def raising(server: Headwater, error: BaseException | Callable[[], Any], query: str = "") -> Any:
    def view() -> Any:
        if isinstance(error, BaseException):
            raise error
        return error()

    server.app.add_url_rule("/raise", view_func=view)
    return server.client.get(f"/raise{query}")


@pytest.mark.parametrize("code", sorted(default_exceptions))
def test_every_default_exception_has_the_one_body(server: Headwater, code: int) -> None:
    response = raising(server, lambda: abort(code))
    assert response.status_code == code
    assert errors_of(response) == {}
    assert response.content_type == "application/json"
    assert response.get_json()["message"]


@pytest.mark.parametrize("kind", sorted(set(classes(HeadwaterError)), key=str))
def test_every_class_of_the_tree_has_the_one_body_and_its_status(
    server: Headwater, kind: type[HeadwaterError]
) -> None:
    error = EXAMPLES[kind]() if kind in EXAMPLES else kind("the reason")
    response = raising(server, error)
    named = next(base.__name__ for base in kind.__mro__ if base.__name__ in STATUS)
    assert response.status_code == STATUS[named]
    errors_of(response)
    assert ("Retry-After" in response.headers) == (response.status_code in {429, 503})
    assert ("WWW-Authenticate" in response.headers) == (response.status_code == 401)
    if response.status_code != 500:
        said = NO_ENGINE if isinstance(error, EngineError) else str(error)  # it names a host
        assert said in response.get_json()["message"]


def test_the_tree_in_the_docstring_names_every_class() -> None:
    named = {kind.__name__ for kind in classes(HeadwaterError) if kind.__module__ == tree.__name__}
    assert all(name in (tree.__doc__ or "") for name in named)


def test_a_damaged_document_is_named(server: Headwater) -> None:
    response = raising(server, DamagedDocument(7, "cannot be inflated"))
    assert "document 7 is damaged" in response.get_json()["message"]


def test_a_document_is_answered_with_the_path_and_the_expected_value(server: Headwater) -> None:
    response = raising(server, InvalidDocument("reads[2].id", "a string"))
    assert errors_of(response) == {"reads[2].id": ["a string"]}
    assert response.get_json()["message"] == "reads[2].id: expected a string"


def test_a_reference_is_answered_with_the_name_of_its_parameter(server: Headwater) -> None:
    response = raising(server, InvalidReference("what", "dataset:<uri>"), "?depth=1&node=what")
    assert errors_of(response) == {"node": ["dataset:<uri>"]}


def test_an_ambiguous_reference_is_answered_with_the_ids_to_choose_from(server: Headwater) -> None:
    response = raising(server, AmbiguousReference("x", ("ds_1", "ds_2")), "?node=x")
    assert errors_of(response) == {"node": ["ds_1", "ds_2"]}


def test_a_bug_is_answered_with_an_id_that_the_log_knows(
    server: Headwater, caplog: pytest.LogCaptureFixture
) -> None:
    def view() -> Any:
        secret = {"password": "hunter2"}
        try:
            return secret["hunter2 of " + request.path]
        except KeyError as error:
            raise RuntimeError(f"cannot use {secret}") from error

    with caplog.at_level(logging.ERROR):
        response = raising(server, view)
    assert response.status_code == 500
    errors_of(response)
    request_id = response.headers["X-Request-Id"]
    assert request_id in response.get_json()["message"]
    assert request_id in caplog.text
    assert "test_errors.py" in caplog.text
    assert "builtins.RuntimeError" in caplog.text
    assert "builtins.KeyError" in caplog.text


def test_neither_log_nor_reply_quote_the_text_of_a_foreign_exception(
    server: Headwater, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        response = raising(server, RuntimeError("password=hunter2"))
    assert b"hunter2" not in response.data
    assert "hunter2" not in caplog.text


def test_a_trace_ends_where_causes_go_in_a_circle() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert trace(first).count("builtins.ValueError") == 2


@pytest.mark.parametrize(
    ("messages", "flat"),
    [
        ({"a": ["x"]}, {"a": ["x"]}),
        ({"a": {2: {"b": ["x", "y"]}}}, {"a[2].b": ["x", "y"]}),
        ({"_schema": ["x"]}, {"document": ["x"]}),
        ({"a": {"_schema": ["x"]}}, {"a": ["x"]}),
        ({0: {"_schema": ["x"]}}, {"[0]": ["x"]}),
        ({"operations.reads[2].id": ["x"]}, {"operations.reads[2].id": ["x"]}),
    ],
)
def test_nested_messages_become_dotted_paths(
    messages: dict[Any, Any], flat: dict[str, list[str]]
) -> None:
    assert flatten(messages) == flat


def test_an_unknown_route_and_a_wrong_method_say_so(server: Headwater) -> None:
    unknown = server.client.get("/nothing/here")
    assert (unknown.status_code, unknown.get_json()["message"]) == (
        404,
        "nothing is served at /nothing/here",
    )
    wrong = server.client.delete("/journal")
    assert (wrong.status_code, wrong.get_json()["message"]) == (
        405,
        "expected one of the methods GET, HEAD, OPTIONS",
    )


def test_every_answer_carries_the_security_headers(server: Headwater) -> None:
    for path in ("/health/live", "/nothing", "/docs", "/openapi.json"):
        with server.client.get(path) as response:
            headers = response.headers
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


def test_an_http_exception_that_brings_its_own_response_keeps_it(server: Headwater) -> None:
    own = server.app.response_class("mine", status=418)
    response = raising(server, HTTPException(response=own))
    assert (response.status_code, response.data) == (418, b"mine")


# --- other origins -------------------------------------------------------------------------------

ORIGIN = "https://notebook.example.org"


def test_other_origins_may_not_read_answers_by_default(server: Headwater) -> None:
    response = server.client.get("/health/live", headers={"Origin": ORIGIN})
    assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize("origins", [(ORIGIN,), ("*",)])
def test_origins_of_the_setting_may(origins: tuple[str, ...]) -> None:
    with headwater(cors_origins=origins) as server:
        response = server.client.options(
            "/execution-plans",
            headers={"Origin": ORIGIN, "Access-Control-Request-Method": "POST"},
        )
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in response.headers["Access-Control-Allow-Headers"]
    assert "Origin" in response.headers["Vary"]


def test_an_origin_that_is_not_of_the_setting_may_not() -> None:
    with headwater(cors_origins=("https://other.example.org",)) as server:
        response = server.client.get("/health/live", headers={"Origin": ORIGIN})
    assert "Access-Control-Allow-Origin" not in response.headers
