"""The demo without Spark: its message before it starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spark_agent_config import demo
from spark_agent_config.examples.lake import _configured_by


def test_without_a_server_the_demo_names_it_and_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    assert demo.main(["--url", "http://127.0.0.1:9", "--workdir", str(work)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("No Headwater answers at http://127.0.0.1:9 (")
    assert "--url (make demo: PORT= or URL=)" in line
    assert not work.exists()


@pytest.mark.parametrize("before", [{}, {"SPARK_CONF_DIR": "/conf"}])
def test_the_configuration_of_the_jvm_is_put_back_as_it_was(
    before: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", dict(before))
    with _configured_by(tmp_path):
        assert os.environ == {"SPARK_CONF_DIR": str(tmp_path)}
    assert os.environ == before
