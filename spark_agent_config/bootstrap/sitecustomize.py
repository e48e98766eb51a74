"""Observes the Spark application of a Python process that knows nothing of it.

Python imports the first ``sitecustomize`` on its path when it starts, so

    PYTHONPATH=…/spark_agent_config/bootstrap spark-submit job.py

is enough; ``headwater observe -- spark-submit job.py`` sets it. The ``sitecustomize`` that this one
hides runs as well. Nothing of PySpark is imported before the job does so. A pipeline or a Connect
server whose JVM is started from Python has a session there, too.

Settings come from Spark's configuration and the environment, as in ``listener``. Where a job calls
``observe`` itself, that call finds the application observed.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any, Final

_FOLDER: Final = os.path.dirname(os.path.abspath(__file__))
_PACKAGE: Final = "spark_agent_config"
_SESSIONS: Final = "pyspark.sql.session"
_LOG: Final = logging.getLogger(__name__)


class SessionFinder:
    """Finds this package wherever it lies, and PySpark's sessions, which it changes."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == _PACKAGE:
            return PathFinder.find_spec(name, [os.path.dirname(os.path.dirname(_FOLDER))])
        spec = PathFinder.find_spec(name, path) if name == _SESSIONS else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Observing(spec.loader)
        return spec


class _Observing(Loader):
    """A module's own loader, and then its sessions are observed."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        observe_sessions(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def observe_sessions(module: Any) -> None:
    """Observe each application at its first session. Never raises into the job."""
    session_class = getattr(module, "SparkSession", None)
    if session_class is None:
        return
    begin = session_class.__init__
    observed: set[str] = set()

    @functools.wraps(begin)
    def begin_observed(session: Any, *arguments: Any, **named: Any) -> None:
        begin(session, *arguments, **named)
        try:
            _observe_first(session, observed)
        except Exception as error:  # the law of the listener: a job never fails because of us
            _LOG.warning("Lineage is not reported, the job goes on: %s", error)

    session_class.__init__ = begin_observed


def _observe_first(session: Any, observed: set[str]) -> None:
    application = session.sparkContext.applicationId
    if application in observed:
        return
    observed.add(application)
    from spark_agent_config.listener import observe

    observe(session)


def _run_hidden() -> None:
    """Run the ``sitecustomize`` that Python would have imported without this one.

    A second copy of this folder on the path would run the first one again, and so on without end.
    """
    others = [place for place in sys.path if not _is_copy(place)]
    hidden = PathFinder.find_spec("sitecustomize", others)
    if hidden is not None and hidden.loader is not None:
        hidden.loader.exec_module(module_from_spec(hidden))


def _is_copy(place: str) -> bool:
    """Whether a place of the path is this folder, under any name, or that of another release."""
    if os.path.realpath(place) == os.path.realpath(_FOLDER):
        return True
    package, folder = os.path.split(os.path.realpath(place))
    return folder == os.path.basename(_FOLDER) and os.path.basename(package) == _PACKAGE


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, SessionFinder())
    _run_hidden()
