"""Documents that are too large for a request or a message, by way of a bucket.

    POST /uploads -> a URL, signed for one object -> the client puts the document
    -> S3 notifies a queue -> the consumer reads the object -> the journal

    an event larger than a message -> an object -> a message with its key

The metadata of a document (kind, version, sender, scope) is part of the object and of the
signature, so the consumer trusts it; S3 compares size and checksum. Objects are never removed
here: the bucket's lifecycle does that, later than any queue gives up.

This module does not load the library of AWS, which takes longer than all the rest of the start of a
command: settings read the name of a place here.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from secrets import token_hex
from typing import Any, Final
from urllib.parse import urlsplit

from graph_model.errors import InvalidInput, Unavailable


def split_place(place: str) -> tuple[str, str]:
    """``s3://bucket/a/b/`` => (bucket, ``a/b/``). Raises ValueError with the expected form."""
    parts = urlsplit(place)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
        raise ValueError("s3://bucket/prefix")
    prefix = parts.path.strip("/")
    return parts.netloc, f"{prefix}/" if prefix else ""


POINTERS: Final = "pointers/"
UPLOADS: Final = "uploads/"
SIGNED_SECONDS: Final = 900
_GONE: Final = frozenset({"NoSuchKey", "404"})


@dataclass(frozen=True, slots=True)
class Announced:
    """A document that a client is going to upload; ``encoding`` is ``gzip`` or ``identity``."""

    kind: str
    api_version: str
    encoding: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Signed:
    """A PUT to ``url`` with exactly these headers and the announced bytes, within ``seconds``."""

    url: str
    headers: Mapping[str, str]
    key: str
    seconds: int


@dataclass(frozen=True, slots=True)
class Uploaded:
    """An object; ``metadata`` was signed with it, {} for a pointer's."""

    content: bytes
    metadata: Mapping[str, str]

    def text(self, name: str) -> str:
        """The text that was signed under this name; "" for none."""
        return base64.urlsafe_b64decode(self.metadata.get(name, "")).decode(
            "utf-8", "surrogatepass"
        )


class Uploads:
    """A place ``s3://bucket/prefix``."""

    def __init__(self, place: str) -> None:
        self._bucket, self._prefix = split_place(place)

    def sign(
        self, document: Announced, principal: str, scope: str, *, any_scope: bool = False
    ) -> Signed:
        """A place for one document of this principal; signed here, without a request to S3."""
        key = f"{self._prefix}{UPLOADS}{document.sha256}-{token_hex(8)}"
        metadata = {
            "kind": document.kind,
            "api-version": document.api_version,
            "encoding": document.encoding,
            "principal": _spelled(principal),
            "scope": _spelled(scope),
            "any-scope": "yes" if any_scope else "no",
        }
        checksum = base64.b64encode(bytes.fromhex(document.sha256)).decode("ascii")
        parameters = {
            "Bucket": self._bucket,
            "Key": key,
            "ContentLength": document.size,
            "ChecksumSHA256": checksum,
            "Metadata": metadata,
        }
        url = self._client.generate_presigned_url(
            "put_object", Params=parameters, ExpiresIn=SIGNED_SECONDS
        )
        headers = {
            "Content-Length": str(document.size),
            "x-amz-checksum-sha256": checksum,
            **{f"x-amz-meta-{name}": value for name, value in metadata.items()},
        }
        return Signed(url, headers, key, SIGNED_SECONDS)

    def put(self, content: bytes) -> str:
        """Make a document durable; its key. The same content has the same key."""
        key = f"{self._prefix}{POINTERS}{hashlib.sha256(content).hexdigest()}"
        with _translated():
            self._client.put_object(Bucket=self._bucket, Key=key, Body=content)
        return key

    def read(self, key: str, limit: int) -> Uploaded:
        """An object of this place. Raises InvalidInput for one that is gone, too large or of
        another place, Unavailable where S3 does not answer.
        """
        if not key.startswith(self._prefix):
            raise InvalidInput(f"object {key[:200]!r}: expected one under {self._prefix!r}")
        with _translated(key):
            stored = self._client.get_object(Bucket=self._bucket, Key=key)
            if stored["ContentLength"] > limit:
                raise InvalidInput(f"object {key!r}: expected at most {limit:,} bytes")
            content: bytes = stored["Body"].read()
        return Uploaded(content, stored["Metadata"])

    def holds(self, bucket: str) -> bool:
        """Whether this is the bucket."""
        return bucket == self._bucket

    @cached_property
    def _client(self) -> Any:
        import boto3  # 0.2 s, which only uploads need
        from botocore.config import Config

        retries = {"mode": "standard", "total_max_attempts": 4}
        config = Config(
            signature_version="s3v4", connect_timeout=5, read_timeout=20, retries=retries
        )
        return boto3.client("s3", config=config)


@contextmanager
def _translated(key: str = "") -> Iterator[None]:
    """The errors of the client library -> those of Headwater."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _GONE:
            raise InvalidInput(f"object {key!r}: it is not there") from error
        raise Unavailable("the bucket for uploads refuses a request", str(error)) from error
    except (BotoCoreError, OSError) as error:
        raise Unavailable("the bucket for uploads does not answer", str(error)) from error


def _spelled(text: str) -> str:
    """Any text as a header can carry it."""
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
