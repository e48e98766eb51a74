"""The Python files in ``terraform/``, which stand in no package: loaded by their path."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.unit.terraform.configuration import FOLDER


def load_script(path: str) -> ModuleType:
    """``modules/setup/create_keys.py`` => the module, freshly made."""
    file = FOLDER / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
