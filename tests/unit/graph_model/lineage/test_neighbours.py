"""The neighbours of a table at any time, under each of its names."""

from __future__ import annotations

from graph_model.lineage import Lineage
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from tests.estates import Run, table_id, translated
from tests.memory_graph import MemoryGraph

TABLE, NAME, RESULT, SOURCE = "s3 d0", "hive n0", "s3 d1", "s3 d2"


def test_a_plan_that_knows_a_table_by_its_catalog_name_is_a_neighbour() -> None:
    facts = translated(
        [
            Run(0, 0, {}, TABLE, ["a"], {}, named={TABLE: NAME}),
            Run(1, 1, {NAME: ["a"]}, RESULT, ["a"], {"a": [(NAME, "a", "")]}),
            Run(2, 2, {SOURCE: ["a"]}, NAME, ["a"], {"a": [(SOURCE, "a", "")]}),
        ]
    )
    graph, catalogue = MemoryGraph(), Catalogue(open_database("sqlite://"))
    graph.write(facts)
    catalogue.record(facts.rows)
    lineage = Lineage(graph, catalogue)
    datasets, jobs, _ = lineage.with_neighbours([table_id(TABLE)], (), None)
    assert datasets == {table_id(TABLE), table_id(RESULT), table_id(SOURCE)}
    assert len(jobs) == 3
    catalogue.close()
