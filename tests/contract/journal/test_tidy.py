"""Pages of deleted rows are given back in bounded steps, and writers go on in between."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from graph_model.errors import Unavailable
from graph_model.stores.database import STEP_PAGES, open_database, tidy
from graph_model.stores.journal import Journal
from tests.contract.submissions import a_receipt, a_submission
from tests.waiting import eventually

BODIES = 200
BODY = 120_000
PAGES_MAPPED = 820
"""SQLite keeps a page for so many, which says where each is used: it goes with the last of them."""


def pages(engine: Engine, pragma: str) -> int:
    with engine.connect() as connection:
        return int(connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one())


def filled(journal: Journal) -> list[int]:
    """Bodies that cannot be packed."""
    rng = random.Random(1)
    many = [a_submission(rng.randbytes(BODY // 2).hex()) for _ in range(BODIES)]
    return [at for item in many for at in journal.accept([item], a_receipt())]


def test_a_file_gives_pages_back_a_step_at_a_time_while_documents_come(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    journal = Journal(engine)
    positions = filled(journal)
    assert journal.tidy() is False
    full = pages(engine, "page_count")
    journal.conclude([], positions[1:])
    assert pages(engine, "page_count") == full
    steps, last, free = 0, full, pages(engine, "freelist_count")
    assert free - full // 10 > STEP_PAGES
    while journal.tidy():
        now, left = pages(engine, "page_count"), pages(engine, "freelist_count")
        given = min(STEP_PAGES, free - last // 10)
        assert free - left == given
        assert given <= last - now <= given + given // PAGES_MAPPED + 1
        steps += 1
        journal.accept([a_submission(f"between {steps}")], a_receipt())
        last, free = pages(engine, "page_count"), pages(engine, "freelist_count")
    assert steps >= 2
    assert last < full / 2
    assert pages(engine, "freelist_count") <= last / 10 + 1
    assert journal.verify() == ()
    journal.close()


def test_a_file_of_an_older_headwater_keeps_its_pages(tmp_path: Path) -> None:
    import sqlite3

    file = tmp_path / "headwater.db"
    with sqlite3.connect(file) as older:
        older.execute("CREATE TABLE something (x)")
    engine = open_database(file)
    journal = Journal(engine)
    journal.conclude([], filled(journal))
    assert journal.tidy() is False
    assert pages(engine, "freelist_count") > BODIES
    journal.close()


@pytest.mark.parametrize("engine", ["server"], indirect=True)
def test_a_table_with_many_dead_rows_is_vacuumed_once(engine: Engine) -> None:
    journal = Journal(engine)
    journal.conclude([], filled(journal))

    def vacuumed() -> bool:
        with engine.connect() as connection:
            found = connection.execute(
                sa.text(
                    "SELECT count(*) FROM pg_stat_user_tables WHERE schemaname = current_schema()"
                    " AND relname = 'journal_bodies' AND last_vacuum IS NOT NULL"
                )
            )
            return bool(found.scalar_one())

    def tidied() -> bool:  # the server's own statistics come a moment later
        while tidy(engine, Unavailable, least=50):
            pass
        return vacuumed()

    eventually(tidied)
    assert tidy(engine, Unavailable, least=50) is False
    journal.close()
