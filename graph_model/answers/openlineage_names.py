"""(namespace, name) pairs as OpenLineage's clients write them <-> our datasets and jobs.

A dataset of a capture scope has it before its namespace: ``team@file``.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from graph_model import labels, naming
from graph_model.answers import visibility
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound


class Name(NamedTuple):
    namespace: str
    name: str

    def node(self, kind: str) -> str:
        return f"{kind}:{self.namespace}:{self.name}"


def name_of(uri: str, scope: str) -> Name:
    """The pair of a dataset."""
    namespace, name = naming.openlineage_pair(uri)
    return Name(f"{scope}@{namespace}" if scope else namespace, name)


def find_dataset(sources: Sources, name: Name) -> tuple[Sources, str]:
    """The sources for a question about a dataset, and its id. Raises NotFound."""
    scope, marked, bare = name.namespace.partition("@")
    uri = naming.openlineage_uri(name.namespace, name.name, sources.rules)
    try:
        return visibility.find_dataset(sources, uri)
    except NotFound:
        if not marked or not bare:
            raise NotFound("dataset", name.name) from None
    uri = naming.openlineage_uri(bare, name.name, sources.rules)
    return visibility.find_dataset(sources, f"{quote(scope, safe='')}@{uri}")


def find_job(sources: Sources, name: Name) -> tuple[Sources, str]:
    """As ``find_dataset`` for a job."""
    namespace, own = (quote(part, safe="") for part in name)
    return visibility.find_node(sources, f"{labels.JOB}:{namespace}/{own}")
