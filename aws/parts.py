"""The parts of a handler, from the environment: made at the first event and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from api.logs import set_up_logging
from api.settings import Settings, read_settings
from graph_model.errors import ConfigurationError
from graph_model.stores.uploads import Uploads

_RESERVE_SECONDS: Final = 5.0


class Context(Protocol):
    """The context that Lambda gives an invocation."""

    def get_remaining_time_in_millis(self) -> int: ...


def settings_of(environment: Mapping[str, str]) -> Settings:
    """The settings, and the log as they say. Raises ConfigurationError."""
    settings = read_settings(environment)
    set_up_logging(settings.log_level, settings.log_format, settings.access_log)
    return settings


def required(value: str, variable: str) -> str:
    """A setting that this handler cannot do without. Raises ConfigurationError."""
    if not value:
        raise ConfigurationError(f"{variable} is empty: this function needs it")
    return value


def uploads_of(settings: Settings) -> Uploads | None:
    """The bucket for uploads; None where none is set."""
    return Uploads(settings.uploads) if settings.uploads else None


def deadline(context: Context, reserve: float = _RESERVE_SECONDS) -> Callable[[], bool]:
    """Whether so many seconds are left, or fewer, until Lambda ends the invocation."""
    return lambda: context.get_remaining_time_in_millis() < reserve * 1_000
