"""Settings: read from a mapping, refused when misspelt, and the documentation that lists them."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from api.settings import OF_OTHERS, ROWS, Settings, read_settings
from graph_model.errors import ConfigurationError

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "settings.md"


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = read_settings({})
    assert (settings.host, settings.port, settings.gremlin_port) == ("127.0.0.1", 8080, 8182)
    assert settings.data == Path("data")
    assert settings.gremlin_url == ""
    assert settings.gremlin_read_port is None
    assert settings.max_body_bytes == 64 * 1024 * 1024
    assert settings.projection_wait_ms == 2000
    assert settings.cors_origins == ()
    assert (settings.frontend / "package.json").is_file()


def test_variables_override_defaults() -> None:
    settings = read_settings(
        {
            "HEADWATER_PORT": "9000",
            "HEADWATER_DATA": "/srv/x",
            "HEADWATER_LOG_LEVEL": "WARNING",
            "HEADWATER_CORS_ORIGINS": "https://a.example.org, http://localhost:3000",
            "PATH": "/bin",
        }
    )
    assert settings.port == 9000
    assert settings.data == Path("/srv/x")
    assert settings.log_level == "warning"
    assert settings.cors_origins == ("https://a.example.org", "http://localhost:3000")


def test_a_misspelt_variable_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigurationError, match=r"HEADWATER_PROT .* HEADWATER_PORT\?"):
        read_settings({"HEADWATER_PROT": "1"})


@pytest.mark.parametrize(
    ("given", "meant"),
    [("GREMLIN", "GREMLIN_URL"), ("DATABSE", "DATABASE"), ("FOO", ""), ("QWERTZ", ""), ("", "")],
)
def test_only_a_variable_that_is_like_another_one_gets_a_suggestion(given: str, meant: str) -> None:
    advice = f"did you mean HEADWATER_{meant}?" if meant else "headwater config lists them all"
    with pytest.raises(ConfigurationError, match=rf"^HEADWATER_{given} .*; {re.escape(advice)}$"):
        read_settings({f"HEADWATER_{given}": "1"})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HEADWATER_PORT", "-1"),
        ("HEADWATER_PORT", "65536"),
        ("HEADWATER_PORT", "80a"),
        ("HEADWATER_PORT", ""),
        ("HEADWATER_PORT", "٣"),
        ("HEADWATER_GREMLIN_READ_PORT", "-1"),
        ("HEADWATER_GREMLIN_READ_PORT", "none"),
        ("HEADWATER_HOST", " "),
        ("HEADWATER_GREMLIN_URL", "http://x"),
        ("HEADWATER_DATABASE", "sqlite:///x"),
        ("HEADWATER_LOG_LEVEL", "loud"),
        ("HEADWATER_ACCESS_LOG", "some"),
        ("HEADWATER_CORS_ORIGINS", "example.org"),
        ("HEADWATER_CORS_ORIGINS", "https://example.org/path"),
        ("HEADWATER_MAX_BODY", "-1"),
        ("HEADWATER_DISK_RESERVE", "-1"),
        ("HEADWATER_DISK_RESERVE", "10 MB"),
        ("HEADWATER_TRUSTED_PROXY", "proxy.example.org"),
        ("HEADWATER_TRUSTED_PROXY", "10.0.0.0/8"),
        ("HEADWATER_KEEP", "100"),
        ("HEADWATER_KEEP", "runs=0"),
        ("HEADWATER_KEEP", "runs=1,runs=2"),
        ("HEADWATER_KEEP", "hour=3"),
        ("HEADWATER_KEEP", "days=90,weeks=1"),
        ("HEADWATER_KEEP", "days=-1"),
        ("HEADWATER_DATAZONE_DOMAINS", "sales"),
        ("HEADWATER_DATAZONE_DOMAINS", "dzd_a=x,dzd_a=y"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_its_name(variable: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{variable}=.*: expected "):
        read_settings({variable: value})


def test_every_field_has_one_row() -> None:
    assert [row.field for row in ROWS] == [field.name for field in fields(Settings)]
    assert len({row.variable for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.field)
def test_the_documentation_has_every_setting_with_its_default(row: object) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    default = f"`{row.default}`" if row.default else ""  # type: ignore[attr-defined]
    line = f"| `{row.variable}` | {default} | {row.help} |"  # type: ignore[attr-defined]
    assert line.replace("|  |", "| |") in text


def test_the_documentation_has_no_setting_that_does_not_exist() -> None:
    named = set(re.findall(r"HEADWATER_[A-Z_]+[A-Z]", DOCUMENT.read_text(encoding="utf-8")))
    assert named - {"HEADWATER_TEST"} <= {row.variable for row in ROWS} | set(OF_OTHERS)


@pytest.mark.parametrize("name", ["HEADWATER_URL", "HEADWATER_API_KEY", "HEADWATER_TEST_DOCKER"])
def test_a_variable_that_the_listener_or_the_tests_read_does_not_stop_the_server(name: str) -> None:
    assert read_settings({name: "1"}) == read_settings({})
