"""Clients of AWS, and the tables of Glue's catalogue.

The client library repeats throttled and briefly failing requests, a bounded number of times and
more slowly each time; then the service is Unavailable.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    ParamValidationError,
)

from collectors.harvesting.queries import CatalogTable
from graph_model.errors import ConfigurationError, HeadwaterError, Unavailable
from graph_model.sql import split_name

#: The catalogue that Athena calls by this name is Glue's, of the account itself.
GLUE_CATALOG: Final = "awsdatacatalog"
_CONFIG: Final = Config(
    connect_timeout=5, read_timeout=30, retries={"mode": "adaptive", "total_max_attempts": 8}
)
_LATER: Final = frozenset(
    {
        "InternalServerException",
        "InternalServerError",
        "ServiceUnavailable",
        "InternalServiceException",
        "ActiveStatementsExceededException",
    }
)
_THROTTLED: Final = "Throttl"  # ThrottlingException, Throttling
_TOO_MANY: Final = "TooManyRequestsException"
_ABSENT: Final = frozenset(
    {
        "EntityNotFoundException",
        "ResourceNotFoundException",
        "InvalidInputException",  # Glue, of a name that no table has
        "InvalidRequestException",  # Athena, of a query that is not kept any longer
    }
)
_MOST_PAGES: Final = 100_000
_VIEW: Final = ("/* Presto View: ", " */")


def open_client(service: str, region: str) -> Any:
    """A client in a region ("" for the usual one), with credentials and endpoint as boto3 finds
    them. Raises ConfigurationError where no region is known.
    """
    try:
        return boto3.client(service, region_name=region or None, config=_CONFIG)
    except BotoCoreError as error:
        raise ConfigurationError(f"{service}: {error} (--region)") from error


@contextmanager
def requests_to(service: str) -> Iterator[None]:
    """Errors of the client library as ours: a refusal is none that a retry mends."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code in _LATER or code == _TOO_MANY or _THROTTLED in code:
            raise Unavailable(f"{service} does not answer for the moment: {code}") from error
        raise HeadwaterError(f"{service}: {error}") from error
    except (ParamValidationError, NoCredentialsError) as error:
        raise ConfigurationError(f"{service}: {error}") from error
    except BotoCoreError as error:
        raise Unavailable(f"{service} does not answer", str(error)) from error


def pages_of(service: str, request: Callable[..., Any]) -> Iterator[Mapping[str, Any]]:
    """The answers to a request, as long as there is another page. Raises HeadwaterError, and for a
    list that does not end.
    """
    token: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        with requests_to(service):
            page: Mapping[str, Any] = request(**token)
        yield page
        following = {"NextToken": page["NextToken"]} if page.get("NextToken") else {}
        if not following:
            return
        if following == token:
            break
        token = following
    raise HeadwaterError(f"{service} lists without an end")


def milliseconds(moment: datetime) -> int:
    """Epoch milliseconds of a time of the client library."""
    return round(moment.timestamp() * 1000)


class GlueTables:
    """The tables of Glue's catalogue, each asked for once."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._asked: dict[str, CatalogTable | None] = {}

    def __call__(self, name: str) -> CatalogTable | None:
        """The table of ``catalog.database.table``; None for another catalogue's, and for one that
        is gone. Raises HeadwaterError.
        """
        if name not in self._asked:
            parts = split_name(name)
            known = len(parts) == 3 and parts[0].lower() == GLUE_CATALOG
            self._asked[name] = self._table(parts[1], parts[2]) if known else None
        return self._asked[name]

    def forget(self) -> None:
        """Ask again: a table may change between two rounds."""
        self._asked.clear()

    def _table(self, database: str, name: str) -> CatalogTable | None:
        try:
            with requests_to("Glue"):
                table = self._client.get_table(DatabaseName=database, Name=name)["Table"]
        except HeadwaterError as error:
            if is_absent(error):
                return None
            raise
        return _read_table({"DatabaseName": database, **table}, self._client.meta.region_name)


def is_absent(error: HeadwaterError) -> bool:
    """Whether ``requests_to`` raised it because there is no such thing, or cannot be."""
    cause = error.__cause__
    if isinstance(cause, ClientError):
        return cause.response.get("Error", {}).get("Code") in _ABSENT
    return isinstance(cause, ParamValidationError)


def _read_table(table: dict[str, Any], region: str) -> CatalogTable:
    storage = table.get("StorageDescriptor", {})
    listed = (*storage.get("Columns", ()), *table.get("PartitionKeys", ()))
    columns = tuple(
        (column["Name"], column.get("Type", "")) for column in listed if column.get("Name")
    )
    changed = table.get("UpdateTime") or table.get("CreateTime")
    view = _view(table) if table.get("TableType") == "VIRTUAL_VIEW" else {}
    return CatalogTable(
        columns=columns,
        symlinks=tuple(_names(table, storage.get("Location", ""), region)) if not view else (),
        definition=str(view.get("originalSql") or ""),
        database=str(view.get("catalog") or "").lower(),
        schema=str(view.get("schema") or ""),
        changed_at=milliseconds(changed) if changed else 0,
    )


def _names(table: dict[str, Any], location: str, region: str) -> Iterator[tuple[str, str, str]]:
    """The table's place, under which Spark's jobs report it, and its name in Glue."""
    scheme, separator, place = location.partition("://")
    bucket, _, path = place.partition("/")
    if separator and path:
        yield f"{scheme}://{bucket}", path.rstrip("/"), "LOCATION"
    if account := table.get("CatalogId"):
        glue = f"arn:aws:glue:{region}:{account}"
        yield glue, f"table/{table['DatabaseName']}/{table['Name']}", "TABLE"


def _view(table: dict[str, Any]) -> dict[str, Any]:
    """The definition of one of Athena's views; {} for one of another engine."""
    text = table.get("ViewOriginalText", "")
    begin, end = _VIEW
    if not (text.startswith(begin) and text.endswith(end)):
        return {}
    try:
        view = json.loads(base64.b64decode(text[len(begin) : -len(end)], validate=True))
    except (ValueError, binascii.Error):
        return {}
    return view if isinstance(view, dict) else {}
