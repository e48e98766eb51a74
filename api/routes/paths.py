"""Agents' spellings of paths -> the path of the route."""

from __future__ import annotations

from typing import Final

from api.routes import openlineage, producer

_MEANT: Final = frozenset(
    {f"{prefix}{path}" for prefix in producer.PREFIXES for path in producer.PATHS}
    | set(openlineage.PATHS)
)


def meant_path(path: str) -> str:
    """``//status``, ``/status/``, ``/producer//execution-plans/`` … => the path of the route.

    An agent appends ``/status`` to the URL in its settings, slash at the end included, and
    takes a redirect of a POST for success. Other paths are left alone.
    """
    normal = "/" + "/".join(part for part in path.split("/") if part)
    return normal if normal in _MEANT else path
