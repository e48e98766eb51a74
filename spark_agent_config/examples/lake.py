"""Where the example's data lies. Pure, but for ``land``, which copies the raw files."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SAMPLES: Final = Path(__file__).parent / "data"
RAW_FILES: Final = ("salaries.csv", "departments.csv", "attendance.csv")


@dataclass(frozen=True, slots=True)
class Lake:
    """The folders of one working folder. ``root`` is absolute: jobs name data by full paths."""

    root: Path

    def raw(self, name: str) -> str:
        return str(self.root / "raw" / name)

    @property
    def curated_employees(self) -> str:
        return str(self.root / "curated" / "employees")

    @property
    def managers_report(self) -> str:
        return str(self.root / "reports" / "managers")

    @property
    def absence_ranking(self) -> str:
        return str(self.root / "reports" / "absence_ranking")

    @property
    def payroll_export(self) -> str:
        return str(self.root / "export" / "payroll")

    @property
    def warehouse(self) -> str:
        return str(self.root / "warehouse")

    @property
    def attendance_table(self) -> str:
        """URI of the catalog table ``attendance_with_emp1``, as lineage spells it."""
        return f"file:{self.warehouse}/attendance_with_emp1"

    @property
    def database_url(self) -> str:
        """The source system: a Derby database in a folder of its own."""
        return f"jdbc:derby:{self.root / 'database' / 'hr'}"

    @property
    def metastore_url(self) -> str:
        return f"jdbc:derby:;databaseName={self.root / 'metastore'};create=true"

    def land(self) -> None:
        """Put the raw files where jobs expect them, as a delivery would."""
        (self.root / "raw").mkdir(parents=True, exist_ok=True)
        for name in RAW_FILES:
            shutil.copyfile(SAMPLES / name, self.raw(name))
