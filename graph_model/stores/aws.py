"""What the stores ask of AWS: large bodies in S3, sign-ins to the database and to Neptune.

Large bodies of documents lie outside of the database, in a bucket of Amazon S3:

    s3://headwater-state/bodies + 9f86d0… -> bodies/9f/9f86d0…

A body is named by the content hash of its document, and two bodies of one name are the same: so a
body is written once, by any number of writers, and never changed. The journal alone decides when
one is removed (``stores.journal.stored_bodies``). A body is put under the condition that its key is
free (``If-None-Match: *``): a second writer is refused, and sends nothing again. S3 encrypts with
the default of the bucket, or with the key of the settings. The library repeats requests that fail
for a moment. A server that speaks its protocol serves as well.

A token (IAM authentication of RDS and Aurora) is signed here with the credentials of the process
and holds for fifteen minutes; an open connection outlives it. A secret is the one that RDS makes
and rotates. Both are fetched for each new connection, so that nothing has to be restarted when a
password or a role changes. Of Neptune the handshake alone is signed (AWS Signature Version 4). The
signature holds for minutes, so it is made anew at every handshake, with the latest credentials of
their source.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from graph_model.errors import ConfigurationError, JournalUnavailable
from graph_model.stores.database import Credentials
from graph_model.stores.uploads import split_place
from graph_model.values import batched

_REMOVED_TOGETHER: Final = 1_000  # the most that S3 takes in one request
_THERE: Final = "PreconditionFailed"
_AT_THIS_MOMENT: Final = "ConditionalRequestConflict"
_GONE: Final = frozenset({"NoSuchKey", "404"})
_CONFIG: Final = Config(
    connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 4}
)


@dataclass(frozen=True, slots=True)
class LargeBodies:
    """Bodies of more than ``above`` bytes, as the journal packs them, lie in ``store``.

    ``removing`` is held by the thread that removes some.
    """

    store: S3Bodies
    above: int
    removing: Lock = field(default_factory=Lock, compare=False, repr=False)


def open_bodies(place: str, kms_key: str = "", client: Any = None) -> S3Bodies:
    """The store at ``s3://bucket/prefix``; connects when it is first used.

    Region, credentials and another endpoint are found as boto3 finds them (AWS_REGION,
    AWS_ENDPOINT_URL_S3, a role). Raises ConfigurationError for a place that is none.
    """
    try:
        bucket, prefix = split_place(place)
        client = client or boto3.client("s3", config=_CONFIG)
    except (ValueError, BotoCoreError) as error:
        raise ConfigurationError(f"store of bodies {place!r}: {error}") from error
    return S3Bodies(place, bucket, prefix, client, kms_key)


class S3Bodies:
    """Every method is safe from several threads, and raises JournalUnavailable."""

    def __init__(self, place: str, bucket: str, prefix: str, client: Any, kms_key: str) -> None:
        self._place = place
        self._bucket = bucket
        self._prefix = prefix
        self._client = client
        self._encryption = (
            {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": kms_key} if kms_key else {}
        )

    @property
    def place(self) -> str:
        """Where the bodies lie, as the setting names it: ``s3://bucket/prefix``."""
        return self._place

    def put(self, name: str, packed: bytes) -> None:
        """Durable on return. A body that is there already stays as it is."""
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=self._key(name),
                Body=packed,
                ContentType="application/octet-stream",
                IfNoneMatch="*",
                **self._encryption,
            )
        except ClientError as error:
            if _code(error) == _AT_THIS_MOMENT:
                raise _unavailable("another writer puts the same body", error) from error
            if _code(error) != _THERE:
                raise _unavailable("cannot be written", error) from error
        except BotoCoreError as error:
            raise _unavailable("does not answer", error) from error

    def get(self, name: str) -> bytes | None:
        """The body as it was put; None if there is none."""
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=self._key(name))
            packed: bytes = answer["Body"].read()
        except ClientError as error:
            if _code(error) in _GONE:
                return None
            raise _unavailable("cannot be read", error) from error
        except (BotoCoreError, OSError) as error:
            raise _unavailable("does not answer", error) from error
        return packed

    def remove(self, names: Collection[str]) -> None:
        """Remove these; one that is not there is none to remove."""
        keys = [{"Key": self._key(name)} for name in sorted(names)]
        for some in batched(keys, _REMOVED_TOGETHER):
            try:
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": some, "Quiet": True}
                )
            except (ClientError, BotoCoreError) as error:
                raise _unavailable("removes nothing", error) from error
            if refused := answer.get("Errors"):
                problem = f"{refused[0].get('Code')}: {refused[0].get('Message')}"
                raise JournalUnavailable("the store of large bodies removes nothing", problem)

    def names(self, least_age_seconds: float) -> Iterator[str]:
        """The names of all bodies that were put before so many seconds, in order."""
        latest = time.time() - least_age_seconds
        pages = self._client.get_paginator("list_objects_v2")
        try:
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
                for entry in page.get("Contents", ()):
                    if entry["LastModified"].timestamp() <= latest:
                        yield entry["Key"].rpartition("/")[2]
        except (ClientError, BotoCoreError) as error:
            raise _unavailable("cannot be listed", error) from error

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name[:2]}/{name}"


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _unavailable(problem: str, error: Exception) -> JournalUnavailable:
    return JournalUnavailable(f"the store of large bodies {problem}", str(error))


_SECRET_SECONDS: Final = 10.0
"""How long a secret is believed: connections that open at one moment share a request."""
_SIGN_IN_CONFIG: Final = Config(
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
    client = session.client("rds", region_name=region, config=_SIGN_IN_CONFIG)

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
        secret = _read_secret(
            client or boto3.client("secretsmanager", config=_SIGN_IN_CONFIG), name
        )
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
) -> Callable[[], Mapping[str, str]]:
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
