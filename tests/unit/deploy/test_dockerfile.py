"""The images: their users and permissions, and that nothing of this folder slips into them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("dockerfile_parse")

from deploy.container.instructions import Instruction, Stage, context_files, read_stages

ROOT = Path(__file__).resolve().parents[3]
IMAGES = ("aws", "service")
HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
    "hadolint"
)


@pytest.fixture(scope="module")
def stages() -> dict[str, Stage]:
    return {stage.name: stage for stage in read_stages(ROOT / "Dockerfile")}


def lineage(name: str, stages: dict[str, Stage]) -> list[Instruction]:
    """The instructions of an image, those of the stages below it first."""
    stage = stages.get(name)
    if stage is None:
        return []
    return [*lineage(stage.base, stages), *stage.instructions]


def values(name: str, instruction: str, stages: dict[str, Stage]) -> list[str]:
    return [each.value for each in lineage(name, stages) if each.name == instruction]


def test_the_last_stage_is_the_service(stages: dict[str, Stage]) -> None:
    assert list(stages)[-1] == "service"


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_runs_as_a_user_in_numbers(image: str, stages: dict[str, Stage]) -> None:
    assert values(image, "USER", stages)[-1] == "10001:10001"
    assert values(image, "VOLUME", stages) == ["/data"]


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_looks_after_its_health(image: str, stages: dict[str, Stage]) -> None:
    [check] = values(image, "HEALTHCHECK", stages)
    command = json.loads(check.partition("CMD ")[2])
    assert command[:2] == ["python", "-c"]
    assert "/health/live" in command[2]


def test_every_base_has_a_version(stages: dict[str, Stage]) -> None:
    outside = {stage.base for stage in stages.values()} - set(stages)
    assert outside
    assert all(re.fullmatch(r"python:\d+\.\d+-slim-\w+", base) for base in outside)


def test_packages_are_installed_by_hash_or_are_our_wheel(stages: dict[str, Stage]) -> None:
    steps = [step for stage in stages.values() for step in stage.instructions if step.name == "RUN"]
    commands = [command for step in steps for command in step.value.split("&&")]
    installs = [each for each in commands if re.search(r"\bpip .*\binstall ", each)]
    assert len(installs) == 5
    for install in installs:
        assert "--require-hashes" in install or "--no-deps dist/*.whl" in install


def test_the_image_for_aws_has_no_java(stages: dict[str, Stage]) -> None:
    copies = values("aws", "COPY", stages)
    assert copies == ["--from=build-aws /opt/headwater /opt/headwater"]
    steps = " ".join(step.value for step in lineage("build-aws", stages))
    assert "java.txt" not in steps
    assert "headwater fetch" not in steps


def test_the_image_for_aws_starts_where_every_user_may_be(stages: dict[str, Stage]) -> None:
    """Lambda runs it as a user of its own, without access to /data."""
    assert values("aws", "WORKDIR", stages) == []


def test_a_build_gets_no_data_no_caches_and_nothing_installed(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".dockerignore", tmp_path)
    inside = ("setup.cfg", "api/__init__.py", "frontend/js/a.js", "requirements/container.txt")
    outside = (
        ".env",
        "data/headwater.db",
        "frontend/node_modules/x.js",
        "api/__pycache__/a.pyc",
        "terraform/terraform.tfstate",
    )
    for name in (*inside, *outside):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    for name in ("README.md", "LICENSE", "pyproject.toml"):
        (tmp_path / name).touch()
    result = {path.as_posix() for path in context_files(tmp_path)}
    assert result >= set(inside)
    assert not result & set(outside)


def test_a_build_gets_every_package_of_the_wheel() -> None:
    text = (ROOT / "setup.cfg").read_text("utf-8")
    listed = re.search(r"include =\n((?:    .+\n)+)", text)
    assert listed is not None
    tops = {line.strip() for line in listed[1].splitlines() if "." not in line}
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert tops <= {line[1:] for line in lines if line.startswith("!")}


@pytest.mark.skipif(HADOLINT is None, reason="hadolint is not installed (make test installs it)")
def test_hadolint_has_nothing_to_say() -> None:
    assert HADOLINT is not None
    command = [HADOLINT, "--no-color", str(ROOT / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
