"""Writes the copy of this package that travels with the listener: ``spark_agent_config.redaction``.

    python -m graph_model.naming.masking.copying

Only the import paths differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
COPY: Final = _HERE.parents[2] / "spark_agent_config" / "redaction"
_NOTE: Final = "# A copy of {source}: change that one, then run\n# python -m {package}.copying\n"
_PACKAGE: Final = "graph_model.naming.masking"


def copied_modules() -> Mapping[str, str]:
    """By file name: what the modules of the copy contain."""
    sources = {path.name: path.read_text("utf-8") for path in sorted(_HERE.glob("*.py"))}
    del sources[Path(__file__).name]
    return {name: _copied(name, text) for name, text in sources.items()}


def _copied(name: str, text: str) -> str:
    note = _NOTE.format(source=f"graph_model/naming/masking/{name}", package=_PACKAGE)
    return note + text.replace(f"from {_PACKAGE}", "from spark_agent_config.redaction")


def write_copy() -> None:
    COPY.mkdir(exist_ok=True)
    for name, text in copied_modules().items():
        (COPY / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write_copy()
