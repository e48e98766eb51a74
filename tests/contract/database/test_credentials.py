"""Signing in to the database with a token or a secret: made anew for each connection, and never
sent to a server that is not verified.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
import sqlalchemy as sa
from sqlalchemy import event

from api.serving.storage import open_storage
from api.settings import read_settings
from graph_model.errors import ConfigurationError, JournalUnavailable
from graph_model.stores.aws import sign_in_by_secret, sign_in_by_token
from graph_model.stores.database import open_database, read
from tests.aws import REGION, Aws, environment_of, moto_server
from tests.contract.postgresql import postgresql

HOST = "db.cluster-abc.eu-west-1.rds.amazonaws.com"
URL = f"postgresql://headwater@{HOST}/headwater"


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with moto_server() as server:
        yield server


class _Away(Exception):
    """Ends a connection before anything is sent."""


def given_to_the_driver(engine: sa.Engine) -> list[dict[str, Any]]:
    """The parameters with which each connection would have been opened."""
    seen: list[dict[str, Any]] = []

    def stop(_dialect: object, _record: object, _args: object, given: dict[str, Any]) -> None:
        seen.append(dict(given))
        raise _Away

    event.listen(engine, "do_connect", stop)
    for _ in range(2):
        with pytest.raises(_Away):
            engine.connect()
    return seen


def storage(**variables: str) -> sa.Engine:
    return open_storage(read_settings(variables))


def test_each_connection_has_a_token_of_its_own_and_a_verified_server(aws: Aws) -> None:
    with environment_of(aws):
        engine = storage(HEADWATER_DATABASE=URL, HEADWATER_DATABASE_IAM="true")
        first, second = given_to_the_driver(engine)
    assert first["sslmode"] == second["sslmode"] == "verify-full"
    for given in (first, second):
        assert given["user"] == "headwater"
        assert given["password"].startswith(f"{HOST}:5432/?Action=connect&DBUser=headwater")
        assert "X-Amz-Signature=" in given["password"]
        assert f"{REGION}%2Frds-db" in given["password"]


def test_a_role_that_was_changed_signs_the_next_token() -> None:
    session = boto3.Session("first", "secret", region_name=REGION)
    sign = sign_in_by_token("db", 5432, "me", session=session)
    assert "X-Amz-Credential=first" in sign()["password"]


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca"])
def test_a_token_is_not_sent_to_an_unverified_server(aws: Aws, mode: str) -> None:
    with environment_of(aws), pytest.raises(ConfigurationError, match=f"verify-full, not {mode}"):
        storage(HEADWATER_DATABASE=f"{URL}?sslmode={mode}", HEADWATER_DATABASE_IAM="true")


def test_a_user_is_needed_for_a_token(aws: Aws) -> None:
    with environment_of(aws), pytest.raises(ConfigurationError, match="host and user"):
        storage(HEADWATER_DATABASE=f"postgresql://{HOST}/x", HEADWATER_DATABASE_IAM="true")


def test_without_a_region_nothing_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="AWS_REGION"):
        sign_in_by_token("db", 5432, "me")


def test_without_credentials_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    engine = open_database(URL, sign_in_by_token(HOST, 5432, "me", region=REGION))
    with pytest.raises(JournalUnavailable, match="no token"), read(engine, JournalUnavailable):
        pass


def test_a_token_and_a_secret_at_once_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="one of them"):
        storage(
            HEADWATER_DATABASE=URL,
            HEADWATER_DATABASE_IAM="true",
            HEADWATER_DATABASE_SECRET="x",
        )


def test_a_rotated_secret_signs_the_next_connection_in(aws: Aws) -> None:
    """A real server, whose user gets another password while a connection is open."""
    secrets = aws.client("secretsmanager")
    name = secrets.create_secret(Name="database", SecretString=secret("app", "first"))["ARN"]
    clock = [0.0]
    with postgresql(fsync="off") as server:
        admin = open_database(server.url)
        with admin.begin() as connection:
            connection.execute(sa.text("CREATE ROLE app LOGIN PASSWORD 'first'"))
        require_passwords(admin)
        sign = sign_in_by_secret(name, client=secrets, seconds=lambda: clock[0])
        engine = open_database(with_no_user(server.url), sign)
        with engine.connect() as held:
            assert held.execute(sa.text("SELECT current_user")).scalar() == "app"
            secrets.put_secret_value(SecretId=name, SecretString=secret("app", "second"))
            with admin.begin() as connection:
                connection.execute(sa.text("ALTER ROLE app PASSWORD 'second'"))
            assert held.execute(sa.text("SELECT 1")).scalar() == 1
            clock[0] += 60
            with engine.connect() as another:
                assert another.execute(sa.text("SELECT current_user")).scalar() == "app"
        engine.dispose()
        admin.dispose()


def secret(user: str, password: str) -> str:
    return json.dumps({"username": user, "password": password, "engine": "postgres"})


def with_no_user(url: str) -> str:
    made = sa.make_url(url).set(username=None, password=None)
    return made.render_as_string(hide_password=False)


def require_passwords(admin: sa.Engine) -> None:
    """Of the user ``app``: the server of the tests trusts everybody else on its socket."""
    with admin.begin() as connection:
        place = connection.execute(sa.text("SHOW hba_file")).scalar_one()
        rules = connection.execute(sa.text("SELECT pg_read_file(:place)"), {"place": place})
        text = "local all app scram-sha-256\nhost all app all scram-sha-256\n" + rules.scalar_one()
        connection.exec_driver_sql("CREATE TEMP TABLE lines (line text)")
        for line in text.splitlines():
            connection.execute(sa.text("INSERT INTO lines VALUES (:line)"), {"line": line})
        connection.exec_driver_sql(f"COPY lines TO '{place}' WITH (FORMAT text)")
        connection.exec_driver_sql("SELECT pg_reload_conf()")


class _Secrets:
    """A client of Secrets Manager that knows one secret."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_secret_value(self, SecretId: str) -> Mapping[str, str]:
        return {"SecretString": self.text}


@pytest.mark.parametrize("text", ["", "plain", "[]", '{"username": "me"}'])
def test_a_secret_that_is_none_is_never_quoted(text: str) -> None:
    with pytest.raises(JournalUnavailable, match="expected username and password") as caught:
        sign_in_by_secret("x", client=_Secrets(text))()
    assert caught.value.__cause__ is None


def test_a_secret_that_is_not_there_makes_the_database_unavailable(aws: Aws) -> None:
    with pytest.raises(JournalUnavailable, match="cannot be read"):
        sign_in_by_secret("nowhere", client=aws.client("secretsmanager"))()
