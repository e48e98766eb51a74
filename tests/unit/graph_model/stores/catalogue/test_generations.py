"""One catalogue after the other, in files beside the journal's."""

from __future__ import annotations

import gc
from pathlib import Path

from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal


def test_a_catalogue_that_a_killed_rebuild_left_goes_with_the_next_rebuild(tmp_path: Path) -> None:
    database = open_database(tmp_path / "headwater.db")
    killed = Generations(database, Journal(database))
    killed.begin()
    killed.switch()
    killed.close()
    generations = Generations(database, Journal(database))
    generations.begin()
    generations.switch()
    generations.drop_former()
    generations.close()
    assert [file.name for file in tmp_path.glob("catalogue-*.db")] == ["catalogue-2.db"]
    database.dispose()


def test_the_file_of_a_former_catalogue_is_closed_when_its_last_reader_is_gone(
    tmp_path: Path,
) -> None:
    """A removed file takes its room on the disk until it is closed."""
    database = open_database(tmp_path / "headwater.db")
    generations = Generations(database, Journal(database))
    reader = generations.current
    connections = reader._engine
    generations.begin()
    generations.switch()
    generations.drop_former()
    assert reader.origin() is None
    assert connections.pool.checkedin() == 1
    gc.collect()
    gc.freeze()  # as a service does after its start: nothing of then is ever collected
    try:
        del reader
        assert connections.pool.checkedin() == 0
    finally:
        gc.unfreeze()
    generations.close()
    database.dispose()
