"""Tasks and functions are given settings that the service reads, and all that they need."""

from __future__ import annotations

import ast
import re

import pytest

pytest.importorskip("hcl2", reason="python-hcl2 is not installed: make test installs it")

from api.settings import ROWS, read_settings
from tests.unit.terraform.configuration import FOLDER, local_values, plain

FUNCTIONS = local_values(FOLDER / "modules/functions/main.tf")
PLACES = {
    "${local.database_user}": "headwater",
    "${module.journal.host}": "journal.example.org",
    "${module.journal.port}": "5432",
    "${module.journal.database}": "headwater",
    "${local.certificates}": "/etc/ssl/certs/rds-global-bundle.pem",
    "${module.bodies.state.bucket}": "headwater-state",
    "${module.bodies.state.prefix}": "bodies",
    "${module.graph.url}": "wss://graph.example.org:8182/gremlin",
    "${tostring(var.bodies_above)}": "256",
    "${var.keep}": "runs=100,days=400",
    "${var.graph_runs}": "newest:3",
}


def shared() -> dict[str, str]:
    """``local.settings`` of the root module, with the values of other modules filled in."""
    result = {}
    for name, value in local_values(FOLDER / "settings.tf")["settings"].items():
        text = str(plain(value))
        for place, filled in PLACES.items():
            text = text.replace(place, filled)
        assert "${" not in text, text
        result[name] = text
    return result


def names_given(function: str) -> set[str]:
    """Variables of a function: its own, and those of the locals that it merges."""
    text = str(FUNCTIONS["functions"][function]["environment"])
    names = set(re.findall(r"HEADWATER_[A-Z_]+", text))
    for merged in re.findall(r"\blocal\.(\w+)", text):
        names |= set(re.findall(r"HEADWATER_[A-Z_]+", str(FUNCTIONS[merged])))
    return names | (set(shared()) if "var.settings" in text else set())


def source_of(function: str) -> str:
    """``aws.accept.handler`` => the text of ``aws/accept.py``; it is not imported."""
    module = str(plain(FUNCTIONS["functions"][function]["handler"])).rpartition(".")[0]
    return (FOLDER.parent / f"{module.replace('.', '/')}.py").read_text("utf-8")


def test_the_service_reads_the_shared_settings() -> None:
    settings = read_settings(shared())
    assert settings.database_iam is True
    assert settings.gremlin_signed is True
    assert settings.bodies == "s3://headwater-state/bodies"


def test_a_task_is_given_settings_of_the_service() -> None:
    text = (FOLDER / "modules/service/tasks.tf").read_text("utf-8")
    answer = set(re.findall(r"HEADWATER_[A-Z_]+", text))
    assert answer <= {row.variable for row in ROWS}
    assert "HEADWATER_HOST" in answer


@pytest.mark.parametrize("function", FUNCTIONS["functions"])
def test_a_function_is_given_settings_of_the_service(function: str) -> None:
    assert names_given(function) <= {row.variable for row in ROWS}


@pytest.mark.parametrize("function", FUNCTIONS["functions"])
def test_a_function_has_its_handler_and_its_requirements(function: str) -> None:
    source = source_of(function)
    defined = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    assert "handler" in defined
    assert set(re.findall(r'required\([^)]*"(HEADWATER_[A-Z_]+)"', source)) <= names_given(function)
