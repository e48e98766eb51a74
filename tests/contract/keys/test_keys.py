"""The store of keys (graph_model.stores.keys), whatever database is under it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from graph_model.errors import InvalidInput, NotFound
from graph_model.stores.database import open_database
from graph_model.stores.keys import KeyRequest, NewKey, SqlKeys, make_key
from graph_model.values import Role
from tests.contract.databases import EVERY, empty_database


@pytest.fixture
def keys(engine: sa.Engine) -> SqlKeys:
    return SqlKeys(engine)


def a_key(name: str, number: int = 1, at: int = 1_000) -> NewKey:
    request = KeyRequest(name, frozenset({Role.READER, Role.PRODUCER}), "team-a", 600)
    return make_key(request, number.to_bytes(38, "big"), at)


def test_a_key_is_found_by_its_text_as_it_was_made(keys: SqlKeys) -> None:
    assert not keys.exist()
    made = a_key("jobs")
    keys.add(made.key)
    assert keys.exist()
    assert keys.find(made.text) == made.key
    assert keys.list() == (made.key,)


def test_a_wrong_secret_and_an_unknown_id_find_nothing(keys: SqlKeys) -> None:
    made, other = a_key("jobs"), a_key("others", 2)
    keys.add(made.key)
    assert other.key.id == made.key.id  # the id is in the first bytes: only the secret differs
    assert keys.find(other.text) is None
    assert keys.find(make_key(KeyRequest("x", frozenset(Role)), b"\xff" * 38, 1).text) is None
    assert keys.find("") is None
    assert keys.find(made.key.digest) is None


def test_the_text_is_nowhere_in_the_database(engine: sa.Engine, keys: SqlKeys) -> None:
    made = a_key("jobs")
    keys.add(made.key)
    with engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT * FROM api_keys")).all()
    secret = made.text.rpartition("_")[2]
    assert secret not in str(rows)
    assert made.key.digest in str(rows)


def test_a_revoked_key_is_refused_and_stays_in_the_list(keys: SqlKeys) -> None:
    made = a_key("jobs")
    keys.add(made.key)
    assert keys.revoke("jobs", 5_000).revoked_at == 5_000
    assert keys.find(made.text) is None
    assert keys.revoke(made.key.id, 9_000).revoked_at == 5_000
    assert [key.revoked_at for key in keys.list()] == [5_000]


def test_revoking_the_last_key_does_not_open_the_door(engine: sa.Engine, keys: SqlKeys) -> None:
    keys.add(a_key("jobs").key)
    keys.revoke("jobs", 5_000)
    assert keys.exist()
    assert SqlKeys(engine).exist()


def test_a_key_may_name_other_scopes_once_it_is_allowed_to(keys: SqlKeys) -> None:
    made = a_key("jobs", 1)
    keys.add(made.key)
    for any_scope in (True, False):
        keys.allow("jobs", any_scope=any_scope)
        result = keys.find(made.text)
        assert result is not None
        assert result.any_scope is any_scope


def test_a_key_signs_until_it_is_revoked_if_it_was_made_to(keys: SqlKeys) -> None:
    request = KeyRequest("glue", frozenset({Role.PRODUCER}), signs=True)
    made = make_key(request, b"\x09" * 38, 1_000)
    keys.add(made.key)
    keys.add(a_key("jobs").key)
    assert keys.signer(made.key.id) == made.key
    assert keys.signer(a_key("jobs").key.id) is None
    keys.revoke("glue", 2_000)
    assert keys.signer(made.key.id) is None


def test_a_table_of_an_earlier_version_has_keys_that_do_not_sign(engine: sa.Engine) -> None:
    made = a_key("jobs")
    SqlKeys(engine).add(made.key)
    with engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE api_keys DROP COLUMN signs"))
        connection.execute(sa.text("UPDATE headwater_schema SET version = 2"))
    assert SqlKeys(engine).find(made.text) == made.key


def test_a_name_is_given_once_for_ever(keys: SqlKeys) -> None:
    keys.add(a_key("jobs").key)
    keys.revoke("jobs", 2_000)
    again = make_key(KeyRequest("jobs", frozenset({Role.ADMIN})), b"\x07" * 38, 3_000)
    with pytest.raises(InvalidInput, match="'jobs' is or was the name of a key"):
        keys.add(again.key)
    assert keys.find(again.text) is None


def test_revoking_an_unknown_key_is_not_found(keys: SqlKeys) -> None:
    with pytest.raises(NotFound, match="no key 'nobody'"):
        keys.revoke("nobody", 1)


@pytest.mark.parametrize("kind", EVERY)
def test_another_process_sees_a_key_and_its_end_at_once(
    kind: str, request: pytest.FixtureRequest
) -> None:
    with empty_database(kind, request) as url:
        first, other = open_database(url), open_database(url)
        serving, console = SqlKeys(first), SqlKeys(other)
        assert not serving.exist()
        made = a_key("jobs")
        console.add(made.key)
        assert serving.exist()
        assert serving.find(made.text) == made.key
        console.revoke("jobs", 2_000)
        assert serving.find(made.text) is None
        first.dispose()
        other.dispose()
