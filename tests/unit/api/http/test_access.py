"""Keys, rates and the role that a request needs: the pure parts of access."""

from __future__ import annotations

import hashlib

import pytest
from flask import Flask

from api import routes
from api.http.access import Guard, NoKeys, Rates, needed_role, presented_key
from api.http.blueprint import EVERYBODY, Api, Principal
from api.http.bodies import PROCESS_MARK, wire_hash
from api.serving.server import check_keys, is_loopback
from api.settings import read_settings
from graph_model.errors import ConfigurationError, InvalidInput, NotAuthenticated
from graph_model.stores.keys import (
    ID_BYTES,
    SECRET_BYTES,
    Key,
    KeyRequest,
    NewKey,
    id_of,
    make_key,
    masked,
)
from graph_model.values import Role


def routes_alone() -> Flask:
    """An application with all routes and no parts behind them."""
    app = Flask("headwater")
    routes.register(app, Api(app))
    return app


APP = routes_alone()
RANDOM = bytes(range(ID_BYTES + SECRET_BYTES))
READER, PRODUCER, ADMIN = Role.READER, Role.PRODUCER, Role.ADMIN


def a_key(name: str = "jobs", *roles: Role, rate: int = 0) -> NewKey:
    return make_key(KeyRequest(name, frozenset(roles or {PRODUCER}), "", rate), RANDOM, 1)


# --- a key ---------------------------------------------------------------------------------------


def test_a_key_proves_its_own_text_and_no_other() -> None:
    made = a_key()
    assert made.key.proves(made.text)
    assert not made.key.proves(made.text[:-1])
    assert not made.key.proves(made.text + "x")
    assert not made.key.proves("")


def test_a_kept_key_does_not_hold_the_secret() -> None:
    made = a_key()
    secret = made.text.rpartition("_")[2]
    assert secret not in repr(made.key)
    assert secret not in repr(made)
    assert made.text.endswith(made.key.last_four)
    assert len(made.key.digest) == 64


def test_the_secret_has_256_bits() -> None:
    assert SECRET_BYTES * 8 == 256
    other = make_key(KeyRequest("jobs", frozenset({READER})), RANDOM[:-1] + b"\x01", 1)
    assert other.text != a_key().text


@pytest.mark.parametrize(
    "text", ["", "hw_", "hw_000102030405_", "hw_00010203040_" + "a" * 43, "x" * 5_000, "hw_ü_é"]
)
def test_a_text_that_is_no_key_has_no_id(text: str) -> None:
    assert id_of(text) is None


def test_a_text_with_a_key_in_it_is_masked_up_to_its_id() -> None:
    text = a_key().text
    assert masked(f"got {text}, thanks") == "got hw_000102030405_*****, thanks"
    assert masked("nothing of that kind") == "nothing of that kind"


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (KeyRequest("", frozenset({READER})), "name"),
        (KeyRequest("a b", frozenset({READER})), "name"),
        (KeyRequest("anonymous", frozenset({READER})), "name"),
        (KeyRequest("a" * 65, frozenset({READER})), "name"),
        (KeyRequest("a", frozenset()), "roles"),
        (KeyRequest("a", frozenset({READER}), "a\nb"), "scope"),
        (KeyRequest("a", frozenset({READER}), "s" * 201), "scope"),
        (KeyRequest("a", frozenset({READER}), "", -1), "rate"),
    ],
)
def test_a_key_that_cannot_be_is_refused_with_its_field(request_: KeyRequest, said: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{said}.*: expected|^{said}: expected"):
        make_key(request_, RANDOM, 1)


# --- rates ---------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_grants_a_minute_at_once_and_then_fills_evenly() -> None:
    clock = Clock()
    rates = Rates(clock)
    assert [rates.take("k", 6) for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]
    clock.now += 9
    assert rates.take("k", 6) == 1
    clock.now += 1
    assert rates.take("k", 6) == 0
    assert rates.take("k", 6) == 10


def test_a_refused_request_costs_nothing_and_a_long_rest_fills_one_minute_only() -> None:
    clock = Clock()
    rates = Rates(clock)
    assert [rates.take("k", 2) > 0 for _ in range(5)] == [False, False, True, True, True]
    clock.now += 3_600
    assert [rates.take("k", 2) > 0 for _ in range(3)] == [False, False, True]


def test_keys_have_buckets_of_their_own_and_no_rate_is_no_limit() -> None:
    rates = Rates(Clock())
    assert rates.take("a", 1) == 0
    assert rates.take("b", 1) == 0
    assert rates.take("a", 1) > 0
    assert {rates.take("c", 0) for _ in range(1_000)} == {0}


# --- needed roles --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("endpoint", "method", "needed"),
    [
        ("graph.lineage", "GET", READER),
        ("graph.lineage", "HEAD", READER),
        ("journal.journal", "GET", READER),
        ("journal.replay", "POST", ADMIN),
        ("health.metrics", "GET", READER),
        ("producer.status", "HEAD", PRODUCER),
        ("producer_at_root.execution_plans", "POST", PRODUCER),
        ("something.new", "GET", READER),
        ("something.new", "PUT", ADMIN),
        ("something.new", "DELETE", ADMIN),
    ],
)
def test_reading_needs_a_reader_changing_an_admin_reporting_a_producer(
    endpoint: str, method: str, needed: Role
) -> None:
    assert needed_role(APP, endpoint, method) == needed


@pytest.mark.parametrize("endpoint", ["health.live", "health.ready", "pages.page", "pages.docs"])
def test_health_and_the_files_of_the_page_are_open(endpoint: str) -> None:
    assert needed_role(APP, endpoint, "GET") is None


def test_an_admin_has_every_role() -> None:
    admin = Principal("me", frozenset({ADMIN}))
    assert all(admin.may(role) for role in Role)
    assert not Principal("me", frozenset({READER, PRODUCER})).may(ADMIN)


# --- presented keys ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({}, None),
        ({"X-API-Key": ""}, None),
        ({"X-API-Key": " k "}, "k"),
        ({"Authorization": "Bearer k"}, "k"),
        ({"Authorization": "bearer  k"}, "k"),
        ({"Authorization": "Basic dTpw"}, None),
        ({"Authorization": "Basic dTpw", "X-API-Key": "k"}, "k"),
        ({"Authorization": "Bearer k", "X-API-Key": "k"}, "k"),
    ],
)
def test_a_key_comes_in_one_of_two_headers(headers: dict[str, str], key: str | None) -> None:
    assert presented_key(headers) == key


def test_two_different_keys_are_refused() -> None:
    with pytest.raises(NotAuthenticated, match="two different keys"):
        presented_key({"Authorization": "Bearer a", "X-API-Key": "b"})


# --- the guard -----------------------------------------------------------------------------------


class OneKey(NoKeys):
    def __init__(self, made: NewKey) -> None:
        self.made = made

    def exist(self) -> bool:
        return True

    def find(self, text: str) -> Key | None:
        return self.made.key if self.made.key.proves(text) else None


def test_without_any_key_everybody_may_do_everything_whatever_they_send() -> None:
    guard = Guard(NoKeys(), frozenset(), Rates(Clock()))
    assert guard.admitted(None, ADMIN) is EVERYBODY
    assert guard.admitted("of another server", ADMIN) is EVERYBODY


def test_a_wrong_key_is_not_taken_for_none_where_none_would_do() -> None:
    guard = Guard(OneKey(a_key()), frozenset({READER}), Rates(Clock()))
    assert guard.admitted(None, READER).name == "anonymous"
    with pytest.raises(NotAuthenticated):
        guard.admitted("hw_wrong", READER)


def test_a_missing_key_is_asked_for_by_its_header_and_by_the_setting_of_the_console() -> None:
    guard = Guard(OneKey(a_key()), frozenset(), Rates(Clock()))
    with pytest.raises(NotAuthenticated, match=r"X-API-Key.*HEADWATER_API_KEY"):
        guard.admitted(None, READER)


# --- the address ---------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback_needs_no_key(address: str) -> None:
    assert is_loopback(address)
    check_keys(read_settings({}), address, NoKeys())


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.7", "fe80::1%eth0"])
def test_another_address_without_keys_stops_the_start_in_one_line(address: str) -> None:
    settings = read_settings({"HEADWATER_HOST": address})
    with pytest.raises(ConfigurationError) as refused:
        check_keys(settings, address, NoKeys())
    said = str(refused.value)
    assert "headwater keys create NAME --role admin --data data" in said
    assert "HEADWATER_INSECURE=true" in said
    assert "\n" not in said


@pytest.mark.parametrize("proxy", ["127.0.0.1", "*"])
def test_behind_a_proxy_loopback_needs_a_key_too(proxy: str) -> None:
    settings = read_settings({"HEADWATER_TRUSTED_PROXY": proxy})
    with pytest.raises(ConfigurationError, match="through the proxy every client"):
        check_keys(settings, "127.0.0.1", NoKeys())
    check_keys(settings, "127.0.0.1", OneKey(a_key()))


def test_a_key_or_a_clear_word_lets_it_start() -> None:
    check_keys(read_settings({}), "0.0.0.0", OneKey(a_key()))
    check_keys(read_settings({"HEADWATER_INSECURE": "true"}), "0.0.0.0", NoKeys())


@pytest.mark.parametrize("value", ["admin", "reader,admin", "none,reader", "", "everyone"])
def test_nobody_becomes_an_admin_by_default(value: str) -> None:
    with pytest.raises(ConfigurationError, match="HEADWATER_ANONYMOUS"):
        read_settings({"HEADWATER_ANONYMOUS": value})


def test_anonymous_roles_are_read_with_commas() -> None:
    settings = read_settings({"HEADWATER_ANONYMOUS": "Reader, producer"})
    assert settings.anonymous == {"reader", "producer"}
    assert read_settings({}).anonymous == frozenset()


def test_the_hash_of_received_bytes_cannot_be_made_without_the_key_of_the_process() -> None:
    made = wire_hash("plan", "1.2", "identity", b"pin=123456")
    assert made == wire_hash("plan", "1.2", "identity", b"pin=123456")
    assert made.startswith(PROCESS_MARK)
    plain = hashlib.sha256(b'["plan", "1.2", "identity"]\npin=123456').hexdigest()
    assert plain not in made
    assert made != wire_hash("plan", "1.2", "gzip", b"pin=123456")
