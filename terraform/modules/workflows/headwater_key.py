"""Gives OpenLineage's client in Airflow the API key of Headwater, from Secrets Manager.

    openlineage.transport = {"type": "http", ..., "auth": {"type": "headwater_key.SecretKey",
                             "secret": "<ARN>", "region": "eu-west-1"}}

So the key is in no option of Airflow, which every reader of the configuration could see. It
is read when the first event is sent, and again after an hour.
"""

import time
from typing import Any

import boto3
from openlineage.client.transport.http import TokenProvider

SECONDS_KEPT = 3600.0


class SecretKey(TokenProvider):
    def __init__(self, config: dict[str, str]) -> None:
        super().__init__(config)
        self._secret = config["secret"]
        self._region = config["region"]
        self._bearer = ""
        self._read_at = float("-inf")

    def get_bearer(self) -> str:
        if time.monotonic() - self._read_at > SECONDS_KEPT:
            secrets: Any = boto3.client("secretsmanager", region_name=self._region)
            key = secrets.get_secret_value(SecretId=self._secret)["SecretString"]
            self._bearer = f"Bearer {key}"
            self._read_at = time.monotonic()
        return self._bearer
