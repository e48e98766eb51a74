"""The routes, one module a subject, with the shapes that it alone needs. ``register`` is the URL
map of all of them.

In reading order:

``producer``      Spline's producer API, at the root and under ``/producer``; places in a bucket for
                  documents larger than a gateway takes
``openlineage``   OpenLineage's API: one event a request, or a batch
``graph``         overview, lineage, columns across jobs, lists, details, search; the first page,
                  the map, all runs; one column in words; runs from OpenLineage's events, facets
``impact``        everything downstream as a table, and the effects of a changed plan
``difference``    differences between times, executions or plans; versions; causes of a failed run
``governance``    layers and classifications of datasets and columns; rules that read a custom run
                  facet as a passed or failed check; the naming rules: read, preview on history,
                  apply by a rebuild
``declarations``  declared lineage: add, list, retract
``journal``       received documents, their states and reasons; replay; liveness, readiness, metrics
``commands``      forget and prune, each with a dry run, and the list of past commands
``sql``           the lineage of a text of SQL; nothing is stored
``pages``         files for browsers: the page of ``frontend/``, under the hash of its contents, and
                  the OpenAPI page
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from api import unity
from api.consumer import routes as consumer
from api.datazone import routes as datazone
from api.marquez import changes as marquez
from api.marquez.routes import advanced_search
from api.routes import (
    commands,
    declarations,
    difference,
    governance,
    graph,
    impact,
    journal,
    openlineage,
    pages,
    producer,
    sql,
)

if TYPE_CHECKING:
    from flask import Flask

    from api.http.blueprint import Api


def register(app: Flask, api: Api) -> None:
    """Every route of Headwater; the pages are no part of the OpenAPI document."""
    for prefix in producer.PREFIXES:
        name = "producer" if prefix else "producer_at_root"
        api.register_blueprint(producer.blueprint, name=name, url_prefix=prefix or "/")
    for blueprint in (
        openlineage.blueprint, producer.uploads, consumer.blueprint, consumer.about,
        unity.blueprint, marquez.blueprint, advanced_search, datazone.blueprint,
        graph.blueprint, graph.estate_routes, graph.column_routes, graph.run_routes,
        difference.blueprint, impact.blueprint, journal.blueprint, commands.blueprint,
        governance.blueprint, governance.naming_routes, declarations.blueprint,
        governance.quality_routes,
        sql.blueprint, journal.health,
    ):  # fmt: skip
        api.register_blueprint(blueprint)
    app.register_blueprint(pages.blueprint)
