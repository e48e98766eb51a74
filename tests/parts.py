"""The parts of ``make test-all`` that ``make test`` leaves out, and which of them a change needs.

    python3 -m tests.parts choose           the parts that .ci/run adds today, with the reasons
    python3 -m tests.parts stamps [PART…]   what make installs for these parts, or for all of them

A test names its part (``@pytest.mark.part("hudi")``). ``pytest --parts='hudi wheel'`` runs the
tests of these parts, ``--parts=all`` those of every one, and without the option those of no part
run. Standard library alone: ``choose`` runs before anything is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[1]
#: Names the last commit whose .ci/run is known to be green (CONTRIBUTING.md).
GREEN: Final = _ROOT / ".ci" / "green"


@dataclass(frozen=True)
class Part:
    """``seconds`` of one worker, roughly; ``stamps`` are the files of make for its environments."""

    name: str
    seconds: int
    stamps: tuple[str, ...] = ()


RANDOM: Final = "random"
PARTS: Final = (
    Part("spark-3.5", 690),
    Part("spark-4.0", 520, ("build/spark4/.installed",)),
    Part("spark-4.1", 620, ("build/spark41/.installed",)),
    Part("spark-4.2", 510, ("build/spark42/.installed",)),
    Part("spark-4.3", 370, ("build/spark43/.installed",)),
    Part("hudi", 90),
    Part("hive", 40),
    Part("connect", 60, ("build/spark41/.installed",)),
    Part("kafka", 120, ("build/spark42/.installed",)),
    Part("openlineage", 120),
    Part("pipeline", 150),
    Part("sql", 30),
    Part("dbt", 30, ("build/dbt/.installed",)),
    Part("notebooks", 40, ("build/notebooks/.installed",)),
    Part("janusgraph", 60),
    Part("recovery", 390),
    Part("wheel", 60),
    Part(RANDOM, 300),
)
NAMES: Final = tuple(part.name for part in PARTS)
#: What .ci/run adds to make test at most: so many seconds of one worker, of two.
AFFORDABLE_SECONDS: Final = 1_200
_NOT_BY_CHANCE: Final = "a commit is not green by chance: make test-all and make fuzz have it"

_FORMATS: Final = ("spark-3.5", "spark-4.0", "spark-4.1", "spark-4.2", "hudi", "hive")
_SPARK: Final = (*_FORMATS, "spark-4.3", "connect", "kafka", "openlineage")
_GREMLIN: Final = ("janusgraph", "notebooks", "pipeline", "recovery")
_NONE: Final[tuple[str, ...]] = ()
#: The beginning of a path => the parts that look at it beyond make test. The first one counts.
SOURCES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    # the tests themselves, before what they test
    ("tests/e2e/spark/test_hive.py", ("hive",)),
    ("tests/e2e/spark/test_hudi.py", ("hudi",)),
    ("tests/e2e/spark/test_connect.py", ("connect",)),
    ("tests/e2e/spark/connect_client.py", ("connect",)),
    ("tests/e2e/spark/test_kafka.py", ("kafka",)),
    ("tests/e2e/spark/kafka_", ("kafka",)),
    ("tests/e2e/spark/test_openlineage.py", ("openlineage",)),
    ("tests/e2e/spark/openlineage_jobs.py", ("openlineage",)),
    ("tests/e2e/spark/test_pipeline_rebuild.py", ("pipeline",)),
    ("tests/e2e/spark/test_declarative_pipelines.py", ("spark-4.3",)),
    ("tests/e2e/answers/test_another_format.py", ("pipeline",)),
    ("tests/e2e/spark/pipeline_jars.lock", ("pipeline", "spark-3.5", "spark-4.1")),
    ("tests/e2e/spark/", _SPARK),
    ("tests/fixtures/hive_tables/", ("hive",)),
    ("tests/fixtures/hudi_tables/", ("hudi",)),
    ("tests/fixtures/table_formats/", ("spark-3.5", "spark-4.0", "spark-4.1", "spark-4.2")),
    (
        "tests/fixtures/spark_jobs/",
        ("spark-3.5", "spark-4.0", "spark-4.1", "spark-4.2", "spark-4.3"),
    ),
    ("tests/e2e/notebooks/", ("notebooks",)),
    ("tests/e2e/openlineage/test_python.py", ("dbt",)),
    ("tests/e2e/openlineage/test_compatibility_suite.py", ("openlineage",)),
    ("tests/e2e/serving/test_wheel.py", ("wheel",)),
    ("tests/e2e/aws/test_lambda_crashes.py", ("recovery",)),
    ("tests/e2e/engine/test_forgetful_engine.py", ("recovery",)),
    ("tests/e2e/serving/", ("recovery",)),
    ("tests/contract/janusgraph", ("janusgraph",)),
    ("tests/contract/", ("janusgraph",)),
    ("tests/unit/graph_model/sql/test_cross_check.py", ("sql",)),
    ("tests/fuzz/", (RANDOM,)),
    ("tests/oracle/", (RANDOM,)),
    ("tests/parts.py", NAMES),
    ("tests/conftest.py", NAMES),
    ("tests/", _NONE),
    # the product
    ("spark_agent_config/capture/", (*_FORMATS, "spark-4.3", "kafka")),
    ("spark_agent_config/configuration.py", ("connect", "openlineage", "dbt")),
    ("spark_agent_config/", _SPARK),
    ("pipeline/", ("pipeline",)),
    ("notebooks/", ("notebooks",)),
    ("aws/", ("recovery",)),
    ("collectors/sqs/", ("recovery",)),
    ("graph_model/stores/uploads.py", ("recovery",)),
    ("graph_model/stores/gremlin/", _GREMLIN),
    ("graph_model/stores/", ("pipeline", "recovery", RANDOM)),
    ("graph_model/producers/openlineage/", ("openlineage", "connect", "dbt", RANDOM)),
    ("graph_model/producers/spline/", (*_FORMATS, "pipeline", RANDOM)),
    ("graph_model/producers/", ("pipeline", RANDOM)),
    ("graph_model/sql/", ("sql", RANDOM)),
    ("graph_model/labels.py", ("notebooks", "pipeline")),
    ("graph_model/projection/", ("pipeline", "recovery", RANDOM)),
    ("graph_model/", (RANDOM,)),
    ("frontend/package", ("wheel",)),
    ("frontend/", _NONE),
    ("api/routes/pages.py", ("wheel",)),
    ("api/serving/", ("recovery", "wheel")),
    ("api/console/configuration.py", ("spark-3.5", "spark-4.3")),  # headwater observe
    ("api/", _NONE),
    ("collectors/", _NONE),
    ("deploy/", _NONE),
    ("terraform/", _NONE),
    ("bench/", _NONE),
    # how it is installed
    ("requirements/spark.txt", _SPARK),
    ("requirements/spark4.txt", ("spark-4.0",)),
    ("requirements/spark41.txt", ("spark-4.1", "connect")),
    ("requirements/spark42.txt", ("spark-4.2", "kafka")),
    ("requirements/spark43.txt", ("spark-4.3",)),
    ("requirements/dbt.txt", ("dbt",)),
    ("requirements/notebooks.txt", ("notebooks",)),
    ("requirements/container.txt", _NONE),
    ("requirements/lambda.txt", _NONE),
    ("requirements/", NAMES),
    ("setup.cfg", ("wheel",)),
    ("pyproject.toml", ("wheel",)),
    ("Makefile", NAMES),
    (".ci/green", _NONE),
    (".ci/", NAMES),
    ("docs/", _NONE),
    ("README.md", ("wheel",)),
    ("CONTRIBUTING.md", _NONE),
    ("CHANGELOG.md", _NONE),
    ("LICENSE", ("wheel",)),
    ("Dockerfile", _NONE),
    (".dockerignore", _NONE),
    (".editorconfig", _NONE),
    (".gitignore", _NONE),
    (".importlinter", _NONE),
    (".pre-commit-config.yaml", _NONE),
)


def environment(name: str) -> Path:
    """The folder where make installs requirements/NAME.txt apart, or another one with its packages:
    that of HEADWATER_TEST_NAME.
    """
    return Path(os.environ.get(f"HEADWATER_TEST_{name.upper()}", _ROOT / "build" / name))


def parts_of(path: str) -> tuple[str, ...] | None:
    """The parts that look at a path of the repository; None where the table does not know it."""
    return next((parts for beginning, parts in SOURCES if path.startswith(beginning)), None)


def in_turn(day: date) -> tuple[str, ...]:
    """The parts whose turn it is: seven days in a row have each of them but the random one.

    Neighbours of the table, which are alike and alike in length, have different days.
    """
    names = [name for name in NAMES if name != RANDOM]
    days = -(-len(names) // -(-len(names) // 7))
    return tuple(names[day.toordinal() % days :: days])


@dataclass(frozen=True)
class Choice:
    """Parts => why they run, and parts => why they do not."""

    runs: Mapping[str, str]
    left: Mapping[str, str]


def choose(changed: Sequence[str] | None, day: date) -> Choice:
    """The parts in turn, then those for the paths that changed since the green commit.

    None stands for an unknown green commit. Then, and where the table does not know a path, every
    part is wanted. Of the wanted ones the shortest run first, as long as all together take no more
    than :data:`AFFORDABLE_SECONDS`: a long one has its turn within a week. Random examples never
    run here: a fault that they meet is not that of the change.
    """
    wanted = _wanted(changed)
    runs = dict.fromkeys(in_turn(day), "its turn by the date")
    left = dict.fromkeys(NAMES, "nothing that it looks at changed")
    for part in sorted(PARTS, key=lambda part: part.seconds):
        if part.name in wanted and part.name not in runs:
            if _seconds_of(runs) + part.seconds <= AFFORDABLE_SECONDS:
                runs[part.name] = wanted[part.name]
            else:
                left[part.name] = f"no time is left ({AFFORDABLE_SECONDS} s in all)"
    left[RANDOM] = _NOT_BY_CHANCE
    return Choice(
        {name: runs[name] for name in NAMES if name in runs},
        {name: why for name, why in left.items() if name not in runs},
    )


def _wanted(changed: Sequence[str] | None) -> dict[str, str]:
    """Parts => why they should run; never the random ones."""
    unknown = [path for path in changed or () if parts_of(path) is None]
    if changed is None or unknown:
        why = f"{unknown[0]} is not in the table" if unknown else "the green commit is unknown"
        wanted = dict.fromkeys(NAMES, why)
    else:
        wanted = {
            name: f"{path} changed" for path in reversed(changed) for name in parts_of(path) or ()
        }
    wanted.pop(RANDOM, None)
    return wanted


def _seconds_of(names: Iterable[str]) -> int:
    return sum(part.seconds for part in PARTS if part.name in names)


def stamps_of(names: Sequence[str]) -> list[str]:
    """What make installs for these parts, each once. Raises SystemExit for an unknown part."""
    stamps = {part.name: part.stamps for part in PARTS}
    if unknown := [name for name in names if name not in stamps]:
        raise SystemExit(f"headwater: no part is named {unknown[0]}: {' '.join(NAMES)}")
    return list(dict.fromkeys(stamp for name in names for stamp in stamps[name]))


def _changed_since_green() -> list[str] | None:
    """The paths that differ from the green commit; None where there is no such commit here."""
    if not GREEN.exists():
        return None
    commit = GREEN.read_text("utf-8").strip()
    command = ["git", "diff", "--name-only", "--no-renames", "-z", commit, "--"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout.split("\0")[:-1]


def _report(choice: Choice) -> str:
    lines = [f"  {name} runs: {why}" for name, why in choice.runs.items()]
    return "\n".join([*lines, *(f"  {name} is left: {why}" for name, why in choice.left.items())])


def main(arguments: Sequence[str]) -> None:
    match arguments:
        case ["choose"]:
            choice = choose(_changed_since_green(), datetime.now(UTC).date())
            print(f"Parts of make test-all:\n{_report(choice)}", file=sys.stderr)
            print(*choice.runs)
        case ["stamps", *names]:
            print(*stamps_of(names or NAMES))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
