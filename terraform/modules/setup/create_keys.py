"""Makes API keys and puts each into its secret; nothing of them is printed.

It runs as the second container of the task ``setup``, with the image of the service.
``KEYS_TO_CREATE`` is a JSON array of ``{"name", "roles", "scope", "secret"}``: the secret is named
by its ARN. A name is never given twice, so each one gets the time at its end. Run again, it makes
new keys beside the old ones, which work until ``headwater keys revoke`` ends them.
"""

import json
import os
import subprocess
import sys
import time

import boto3


def create(name: str, roles: list[str], scope: str) -> str:
    """Make one key; its text. Raises CalledProcessError where the command fails."""
    command = ["headwater", "keys", "create", name]
    for role in roles:
        command += ["--role", role]
    if scope:
        command += ["--scope", scope]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(line for line in printed.splitlines() if line.startswith("hw_"))


def main() -> None:
    secrets = boto3.client("secretsmanager")
    ending = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    for wanted in json.loads(os.environ["KEYS_TO_CREATE"]):
        name = f"{wanted['name']}-{ending}"
        text = create(name, wanted["roles"], wanted["scope"])
        secrets.put_secret_value(SecretId=wanted["secret"], SecretString=text)
        sys.stdout.write(f"{name} is in {wanted['secret']}\n")


if __name__ == "__main__":
    main()
