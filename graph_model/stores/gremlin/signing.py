"""Handshakes signed for Amazon Neptune (AWS Signature Version 4).

Only the handshake is signed; an open connection outlives the credentials. The signature holds for
minutes, so it is made anew at every handshake, with the latest credentials of their source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.connection import Headers

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
