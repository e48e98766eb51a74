"""Tells the gateway whether a request brings one of the API keys in Secrets Manager.

``KEY_SECRETS`` is a JSON object: name of a key => ARN of its secret. The gateway asks with the
headers of the request and gets ``{"isAuthorized": ...}``, with the name of the key for its log and
for the function behind it. The keys are read once and again after a minute, so a new one works
soon and an old one ends soon.
"""

import hmac
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import boto3

SECONDS_KEPT = 60.0
_keys: dict[str, str] = {}
_read_at = float("-inf")


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    kind, _, given = event.get("headers", {}).get("authorization", "").partition(" ")
    name = find(given.strip(), read_keys()) if kind.lower() == "bearer" else ""
    return {"isAuthorized": bool(name), "context": {"key": name, "principalId": name}}


def find(given: str, keys: dict[str, str]) -> str:
    """Name of the key; empty when it is none. How long it takes tells nothing about a key."""
    found = ""
    for name, key in keys.items():
        if hmac.compare_digest(given.encode(), key.encode()):
            found = name
    return found


def filled(secrets: Any, places: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and text of each key. A secret stays empty until the task ``setup`` has filled it: the
    keys of others work meanwhile.
    """
    for name, place in places.items():
        try:
            yield name, secrets.get_secret_value(SecretId=place)["SecretString"]
        except secrets.exceptions.ResourceNotFoundException:
            sys.stdout.write(f"the secret of the key {name} is empty\n")


def read_keys() -> dict[str, str]:
    global _keys, _read_at
    if time.monotonic() - _read_at > SECONDS_KEPT:
        secrets = boto3.client("secretsmanager")
        places = json.loads(os.environ["KEY_SECRETS"])
        _keys = dict(filled(secrets, places))
        _read_at = time.monotonic()
    return _keys
