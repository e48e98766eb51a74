"""The task that makes API keys: each goes into its secret, and nowhere else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import boto3
import pytest

from api.console.keys import create
from graph_model.stores.database import open_database
from graph_model.stores.keys import KeyRequest, SqlKeys
from graph_model.values import Role
from tests.unit.terraform.scripts import load_script

SCRIPT = "modules/setup/create_keys.py"
FAKE_COMMAND = """\
import sys
sys.stdout.write("a: producer\\nhw_" + "-".join(sys.argv[1:]) + "\\nIt is shown this once.\\n")
"""


class Secrets:
    """Keeps put secrets, and can be told to refuse."""

    def __init__(self) -> None:
        self.put: dict[str, str] = {}

    def put_secret_value(self, SecretId: str, SecretString: str) -> None:
        self.put[SecretId] = SecretString


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Secrets:
    """AWS, and a ``headwater`` that answers with its own arguments in the key."""
    import sys

    program = tmp_path / "headwater"
    program.write_text(f"#!{sys.executable}\n{FAKE_COMMAND}", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    fake = Secrets()
    monkeypatch.setattr(boto3, "client", lambda _name: fake)
    return fake


def wanted(*keys: dict[str, Any]) -> str:
    return json.dumps(list(keys))


def test_a_key_is_put_where_it_belongs_and_not_printed(
    secrets: Secrets, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {"name": "admin", "roles": ["admin"], "scope": "", "secret": "arn:a"}
    two = {"name": "team", "roles": ["producer", "reader"], "scope": "4444", "secret": "arn:b"}
    monkeypatch.setenv("KEYS_TO_CREATE", wanted(first, two))
    load_script(SCRIPT).main()
    assert secrets.put["arn:a"].startswith("hw_keys-create-admin-2")
    assert secrets.put["arn:a"].endswith("---role-admin")
    assert secrets.put["arn:b"].endswith("---role-producer---role-reader---scope-4444")
    assert "hw_" not in capsys.readouterr().out


def test_a_command_that_fails_ends_the_task(
    secrets: Secrets, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "headwater").write_text("#!/bin/sh\nexit 2\n", encoding="utf-8")
    first = {"name": "admin", "roles": ["admin"], "scope": "", "secret": "arn:a"}
    monkeypatch.setenv("KEYS_TO_CREATE", wanted(first))
    with pytest.raises(subprocess.CalledProcessError):
        load_script(SCRIPT).main()
    assert secrets.put == {}


def test_the_command_prints_the_key_on_a_line_of_its_own() -> None:
    """The key that ``create`` of the script looks for."""
    keys = SqlKeys(open_database("sqlite://"))
    lines = list(create(keys, KeyRequest("a", frozenset({Role.READER}), "", 0), 0))
    assert len([line for line in lines if line.startswith("hw_") and " " not in line]) == 1
