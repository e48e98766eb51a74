"""The tables of a component at a start: missing ones, older ones, missing indexes and columns."""

from __future__ import annotations

import sqlalchemy as sa

from graph_model.errors import Unavailable
from graph_model.stores.database import StoredText, prepare, read, write


def _tables(*indexed: str) -> sa.MetaData:
    metadata = sa.MetaData()
    columns = (sa.Column(name, StoredText(), nullable=False) for name in ("name", "color"))
    key = sa.Column("id", sa.Integer, primary_key=True)
    indexes = (sa.Index(f"versioned_by_{name}", name) for name in indexed)
    sa.Table("versioned_things", metadata, key, *columns, *indexes)
    return metadata


def _open(engine: sa.Engine, version: int, *indexed: str) -> None:
    prepare(engine, "things", version, _tables(*indexed), empty_older=True)


def _state(engine: sa.Engine) -> tuple[set[str | None], int]:
    with read(engine, Unavailable) as connection:
        indexes = {
            index["name"] for index in sa.inspect(connection).get_indexes("versioned_things")
        }
        rows = connection.execute(sa.text("SELECT count(*) FROM versioned_things")).scalar_one()
    return indexes, rows


def test_tables_of_this_version_keep_their_rows_and_get_the_indexes_that_they_lack(
    engine: sa.Engine,
) -> None:
    _open(engine, 1, "name")
    added = _tables().tables["versioned_things"].insert()
    write(engine, lambda c: c.execute(added, {"name": "a", "color": "b"}), Unavailable)
    _open(engine, 1, "name", "color")
    assert _state(engine) == ({"versioned_by_name", "versioned_by_color"}, 1)
    _open(engine, 1, "name")  # an older Headwater leaves an index alone that it does not know
    assert _state(engine) == ({"versioned_by_name", "versioned_by_color"}, 1)
    _open(engine, 2, "color")
    assert _state(engine) == ({"versioned_by_color"}, 0)


def test_kept_tables_of_an_older_version_get_the_columns_that_have_a_default(
    engine: sa.Engine,
) -> None:
    prepare(engine, "things", 1, _tables())
    things = _tables().tables["versioned_things"]
    write(engine, lambda c: c.execute(things.insert(), {"name": "a", "color": "b"}), Unavailable)
    newer = _tables()
    size = sa.Column("size", sa.Integer, nullable=False, server_default="7")
    newer.tables["versioned_things"].append_column(size)
    for _ in range(2):
        prepare(engine, "things", 2, newer)
    with read(engine, Unavailable) as connection:
        (row,) = connection.execute(sa.select(newer.tables["versioned_things"]))
    assert (row.name, row.size) == ("a", 7)
