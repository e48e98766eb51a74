"""``create_app``: the one place where the parts of the HTTP side meet."""

from __future__ import annotations

import time
from functools import cache, partial
from importlib import metadata
from typing import Final

from flask import Flask

from api import routes
from api.http.access import SECURITY, SECURITY_SCHEMES, Guard, Rates, guard_requests
from api.http.blueprint import Api, keep_encoded, normalise_paths
from api.http.errors import register_error_handlers
from api.http.exchange import compress, secure, watch
from api.routes import openlineage, producer
from api.service import Service, attach
from api.service.parts import answer_not_found
from api.settings import Settings
from graph_model.errors import NotFound
from graph_model.stores.keys import read_installation
from graph_model.values import Role

_PRODUCER_PATHS: Final = frozenset(
    {f"{prefix}{path}" for prefix in producer.PREFIXES for path in producer.PATHS}
    | set(openlineage.PATHS)
)
DISTRIBUTION: Final = "headwater-lineage"
DESCRIPTION: Final = (
    "Data lineage of Spark jobs: the reports, the graph of jobs, tables and columns."
)


def create_app(settings: Settings, service: Service) -> Flask:
    """The WSGI application. Connects to nothing: the service brings its parts ready."""
    app = Flask("headwater", static_folder=None, template_folder=None)
    app.config.update(HEADWATER=settings, API_VERSION=version())
    app.json.sort_keys = False  # type: ignore[attr-defined]  # of Flask's default provider
    # A redirect to the other spelling of a path loses the document of a Spline agent.
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    attach(app, service)
    _measure(service)
    register_error_handlers(app)
    app.register_error_handler(NotFound, answer_not_found)
    watch(app, service.metrics, time.monotonic)
    compress(app)
    secure(app, settings.cors_origins, lambda: not (settings.insecure or service.keys.exist()))
    anonymous = frozenset(map(Role, settings.anonymous))
    installation = partial(read_installation, settings.signing_key_file)
    guard = Guard(service.keys, anonymous, Rates(time.monotonic), installation)
    guard_requests(app, guard, service.clock)
    routes.register(app, _api(app))
    app.wsgi_app = normalise_paths(keep_encoded(app.wsgi_app), _PRODUCER_PATHS)  # type: ignore[assignment, method-assign]
    return app


def _api(app: Flask) -> Api:
    return Api(
        app,
        title="Headwater",
        version=version(),
        openapi_version="3.0.3",
        info={"description": DESCRIPTION},
        security=SECURITY,
        security_schemes=SECURITY_SCHEMES,
    )


def _measure(service: Service) -> None:
    service.metrics.describe_build(version())
    service.metrics.watch_journal(
        service.journal.statistics, lambda: service.projector.state, service.clock
    )
    service.metrics.watch_forwarding(service.forwarding, service.journal.newest)
    if service.storage is not None:
        service.metrics.watch_storage(service.storage.forecast)


@cache
def version() -> str:
    """The version of the installed distribution, read once."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0"
