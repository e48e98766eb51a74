"""The demo without Spark: its message before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_agent_config import demo


def test_without_a_server_the_demo_names_it_and_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    assert demo.main(["--url", "http://127.0.0.1:9", "--workdir", str(work)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("No Headwater answers at http://127.0.0.1:9 (")
    assert "--url (make demo: PORT= or URL=)" in line
    assert not work.exists()
