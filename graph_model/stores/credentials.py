"""How connections sign in on AWS: to the database with a token or a secret, to Neptune signed.

A token (IAM authentication of RDS and Aurora) is signed here with the credentials of the process
and holds for fifteen minutes; an open connection outlives it. A secret is the one that RDS makes
and rotates. Both are fetched for each new connection, so that nothing has to be restarted when a
password or a role changes.

Of Neptune the handshake alone is signed (AWS Signature Version 4); an open connection outlives the
credentials. The signature holds for minutes, so it is made anew at every handshake, with the latest
credentials of their source.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from graph_model.errors import ConfigurationError, JournalUnavailable
from graph_model.stores.database import Credentials

if TYPE_CHECKING:
    from graph_model.stores.gremlin.connection import Headers

_SECRET_SECONDS: Final = 10.0
"""How long a secret is believed: connections that open at one moment share a request."""
_CONFIG: Final = Config(
    connect_timeout=5, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3}
)


def sign_in_by_token(
    host: str, port: int, user: str, *, region: str | None = None, session: Any = None
) -> Credentials:
    """The token of a database user that has the role ``rds_iam``, as the password.

    Region and credentials are found as boto3 finds them. Raises ConfigurationError without a
    region; the result raises JournalUnavailable without credentials.
    """
    session = session or boto3.Session()
    region = region or session.region_name
    if not region:
        raise ConfigurationError("HEADWATER_DATABASE_IAM: no AWS region: set AWS_REGION")
    client = session.client("rds", region_name=region, config=_CONFIG)

    def sign() -> Mapping[str, str]:
        try:
            token = client.generate_db_auth_token(
                DBHostname=host, Port=port, DBUsername=user, Region=region
            )
        except (BotoCoreError, ClientError) as error:
            raise JournalUnavailable("no token for the database", str(error)) from error
        return {"password": token}

    return sign


def sign_in_by_secret(
    name: str, *, client: Any = None, seconds: Callable[[], float] = time.monotonic
) -> Credentials:
    """User and password of a secret in AWS Secrets Manager: ``{"username": …, "password": …}``.

    The result raises JournalUnavailable for a secret that cannot be read or is no such.
    """
    kept: list[tuple[float, Mapping[str, str]]] = []

    def read() -> Mapping[str, str]:
        if kept and seconds() - kept[0][0] < _SECRET_SECONDS:
            return kept[0][1]
        secret = _read_secret(client or boto3.client("secretsmanager", config=_CONFIG), name)
        kept[:] = [(seconds(), secret)]
        return secret

    return read


def _read_secret(client: Any, name: str) -> Mapping[str, str]:
    try:
        text = client.get_secret_value(SecretId=name)["SecretString"]
    except (BotoCoreError, ClientError, KeyError) as error:
        raise JournalUnavailable("the secret of the database cannot be read", str(error)) from error
    try:
        secret = json.loads(text)
        return {"user": str(secret["username"]), "password": str(secret["password"])}
    except (ValueError, KeyError, TypeError):
        raise JournalUnavailable(  # without a cause, which would quote the secret
            "the secret of the database is none: expected username and password in JSON"
        ) from None


_SERVICE: Final = "neptune-db"
_SCHEMES: Final = {"ws": "http", "wss": "https"}


def signed_headers(
    url: str, *, region: str | None = None, session: boto3.Session | None = None
) -> Headers:
    """``open_graph(url, dialect="neptune", headers=signed_headers(url))``.

    Region and credentials are found as boto3 finds them (environment, profile, role) unless given.
    Raises ConfigurationError here when there is no region, and at a handshake when there are no
    credentials.
    """
    session = session or boto3.Session()
    region = region or session.region_name
    if not region:
        raise ConfigurationError("no AWS region to sign for: set AWS_REGION")
    parts = urlsplit(url)
    target = urlunsplit((_SCHEMES[parts.scheme], parts.netloc, parts.path, parts.query, ""))

    def sign() -> Mapping[str, str]:
        credentials = session.get_credentials()
        if credentials is None:
            raise ConfigurationError("no AWS credentials to sign with: give the process a role")
        # Host is signed: it must be the one that the handshake sends
        request = AWSRequest("GET", target, headers={"Host": parts.netloc})
        SigV4Auth(credentials.get_frozen_credentials(), _SERVICE, region).add_auth(request)
        return dict(request.headers.items())

    return sign
