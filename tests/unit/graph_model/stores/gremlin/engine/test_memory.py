"""The heap that fits: the limit of the container, not the memory of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.settings import read_settings
from graph_model.stores.gremlin.engine.memory import fitting_heap, memory_limit

GIGABYTE = 2**30


def system(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n", "utf-8")
    return root


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"sys/fs/cgroup/memory.max": str(GIGABYTE)}, GIGABYTE),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "1048576"}, 2**20),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": str(GIGABYTE // 2)}, GIGABYTE // 2),
        (
            {
                "proc/self/cgroup": "0::/system.slice/headwater.service",
                "sys/fs/cgroup/system.slice/headwater.service/memory.max": "max",
                "sys/fs/cgroup/system.slice/memory.max": str(GIGABYTE),
            },
            GIGABYTE,
        ),
    ],
)
def test_the_least_limit_of_our_groups_counts(
    tmp_path: Path, files: dict[str, str], limit: int
) -> None:
    assert memory_limit(system(tmp_path, files)) == limit


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"sys/fs/cgroup/memory.max": "max"},
        {"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"},
    ],
)
def test_without_a_limit_the_memory_of_the_machine_counts(
    tmp_path: Path, files: dict[str, str]
) -> None:
    unlimited = memory_limit(tmp_path)
    assert memory_limit(system(tmp_path, files)) == unlimited > 2**20


@pytest.mark.parametrize(
    ("limit", "heap"), [(4 * GIGABYTE, 2048), (GIGABYTE, 512), (100 * 2**20, 128)]
)
def test_half_is_for_the_heap(limit: int, heap: int) -> None:
    assert fitting_heap(limit) == heap


def test_the_setting_takes_a_number_or_auto() -> None:
    assert read_settings({"HEADWATER_GREMLIN_HEAP": "300"}).gremlin_heap_mb == 300
    fitting = fitting_heap(memory_limit())
    assert read_settings({"HEADWATER_GREMLIN_HEAP": "auto"}).gremlin_heap_mb == fitting
