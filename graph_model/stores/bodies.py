"""Large bodies of documents outside of the database, in a bucket of Amazon S3.

    s3://headwater-state/bodies + 9f86d0… -> bodies/9f/9f86d0…

A body is named by the content hash of its document, and two bodies of one name are the same: so a
body is written once, by any number of writers, and never changed. The journal alone decides when
one is removed (``stores.journal.large_bodies``). A body is put under the condition that its key is
free (``If-None-Match: *``): a second writer is refused, and sends nothing again. S3 encrypts with
the default of the bucket, or with the key of the settings. The library repeats requests that fail
for a moment. A server that speaks its protocol serves as well.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from graph_model.errors import ConfigurationError, JournalUnavailable
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
