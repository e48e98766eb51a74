"""A dataset as facts: its vertex and its row."""

from __future__ import annotations

from graph_model import identity, labels
from graph_model.facts import DatasetRow, FactCollector, Vertex, properties
from graph_model.naming import DatasetName


def add_dataset(collector: FactCollector, dataset: DatasetName) -> str:
    """Add the vertex and the row of a dataset, and return its id."""
    dataset_id = identity.dataset_id(dataset.scope, dataset.uri)
    values = {
        "uri": dataset.uri, "scope": dataset.scope, "name": dataset.name, "kind": dataset.kind,
    }  # fmt: skip
    collector.add(
        Vertex(dataset_id, labels.DATASET, properties(values)),
        DatasetRow(dataset_id, dataset.uri, dataset.scope, dataset.name, dataset.kind),
    )
    return dataset_id
