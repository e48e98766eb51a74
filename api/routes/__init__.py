"""One module a subject. ``register`` is the URL map: what is not in it does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.consumer import about
from api.consumer import routes as consumer
from api.routes import (
    columns,
    commands,
    declarations,
    difference,
    governance,
    graph,
    health,
    impact,
    journal,
    openlineage,
    pages,
    producer,
    quality,
    rules,
    runs,
)

if TYPE_CHECKING:
    from flask import Flask

    from api.blueprint import Api


def register(app: Flask, api: Api) -> None:
    """Every route of Headwater; the pages are no part of the OpenAPI document."""
    for prefix in producer.PREFIXES:
        name = "producer" if prefix else "producer_at_root"
        api.register_blueprint(producer.blueprint, name=name, url_prefix=prefix or "/")
    api.register_blueprint(openlineage.blueprint)
    api.register_blueprint(consumer.blueprint)
    api.register_blueprint(about.blueprint)
    api.register_blueprint(graph.blueprint)
    api.register_blueprint(columns.blueprint)
    api.register_blueprint(runs.blueprint)
    api.register_blueprint(difference.blueprint)
    api.register_blueprint(impact.blueprint)
    api.register_blueprint(journal.blueprint)
    api.register_blueprint(commands.blueprint)
    api.register_blueprint(governance.blueprint)
    api.register_blueprint(rules.blueprint)
    api.register_blueprint(declarations.blueprint)
    api.register_blueprint(quality.blueprint)
    api.register_blueprint(health.blueprint)
    app.register_blueprint(pages.blueprint)
