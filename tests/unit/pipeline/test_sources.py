"""Which places a journal can be read from; no Spark is started."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from graph_model.errors import ConfigurationError

pytest.importorskip("pyspark")

from pipeline.journal import SCHEMA, DatabaseSource, TextSource, open_source
from pipeline.rebuild import columns_of


def test_files_and_prefixes_are_read_together() -> None:
    places = ["s3a://bucket/journal/", "file:/exports"]
    assert open_source(places, None) == TextSource(tuple(places))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_database_is_named_as_everywhere_and_spelled_for_java(scheme: str) -> None:
    source = open_source([f"{scheme}://me:se%20cret@db.example.org:5433/headwater?ssl=true"], None)
    assert isinstance(source, DatabaseSource)
    assert source.url == "jdbc:postgresql://db.example.org:5433/headwater?ssl=true"
    assert source.options == {"user": "me", "password": "se cret"}
    assert "cret" not in repr(source)


def test_the_password_of_the_environment_wins() -> None:
    source = open_source(["jdbc:postgresql://me:old@[::1]/headwater"], "new")
    assert isinstance(source, DatabaseSource)
    assert source.url == "jdbc:postgresql://[::1]/headwater"
    assert source.options["password"] == "new"


def test_a_database_stands_alone() -> None:
    with pytest.raises(ConfigurationError, match="alone"):
        open_source(["postgresql://me@db/headwater", "more.jsonl"], None)
    with pytest.raises(ConfigurationError, match="expected postgresql"):
        open_source(["postgresql://me@db"], None)


def test_a_compressed_file_under_another_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    file.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(ConfigurationError, match=r"\.gz"):
        open_source([str(file)], None)
    file.rename(tmp_path / "journal.gz")
    assert open_source([str(tmp_path / "journal.gz")], None)


def test_the_frame_has_the_fields_of_a_line() -> None:
    from pipeline.journal import Line

    assert tuple(SCHEMA.names) == Line._fields


def test_a_property_with_two_types_has_no_column() -> None:
    assert columns_of("feeds", ["index:Long", "", "index:Long,mode:String"]) == {
        "index": "Long",
        "mode": "String",
    }
    with pytest.raises(ConfigurationError, match=r"feeds\.index"):
        columns_of("feeds", ["index:Long", "index:String"])
