"""The catalogue of a PostgreSQL database, as its queries answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pytest

from collectors.harvesting.postgresql import PostgresqlCatalog, PostgresqlServer
from graph_model.documents.files import Piece, classify, prepare
from graph_model.errors import ConfigurationError

PLACE: Final = "postgres://db:5432"
NOON: Final = 1_772_366_400_000
COLUMNS: Final[list[tuple[Any, ...]]] = [
    ("public", "orders", "id", "integer", None),
    ("public", "orders", "amount", "numeric(10,2)", "in euro"),
    ("public", "totals", "total", "numeric", None),
]
VIEW: Final = " SELECT sum(orders.amount) AS total\n   FROM public.orders;"
PROCEDURE: Final = """CREATE OR REPLACE PROCEDURE public.refresh()
 LANGUAGE plpgsql
AS $procedure$
begin
  insert into totals select sum(amount) from orders;
end
$procedure$
"""


def catalogue(
    columns: Sequence[Sequence[Any]] = COLUMNS, views: Sequence[Sequence[Any]] = (),
    procedures: Sequence[Sequence[Any]] = (),
) -> PostgresqlCatalog:  # fmt: skip
    def ask(text: str) -> Iterable[Sequence[Any]]:
        if "pg_get_functiondef" in text:
            return procedures
        if "pg_get_viewdef" in text:
            return views
        return columns if "pg_attribute" in text else ()

    return PostgresqlCatalog(ask, PLACE, "shop", lambda: NOON)


def events_of(source: PostgresqlCatalog) -> list[dict[str, Any]]:
    return [dict(event) for one in source.findings(0, ()) for event in one.events()]


def test_a_table_is_declared_with_its_schema_and_comments() -> None:
    orders, _ = events_of(catalogue())
    assert orders["dataset"]["namespace"] == PLACE
    assert orders["dataset"]["name"] == "shop.public.orders"
    assert orders["dataset"]["facets"]["schema"]["fields"] == [
        {"name": "id", "type": "integer"},
        {"name": "amount", "type": "numeric(10,2)", "description": "in euro"},
    ]


def test_a_view_and_a_procedure_are_declared_with_their_text() -> None:
    source = catalogue(
        views=[("public", "totals", VIEW)], procedures=[("public", "refresh", "", PROCEDURE)]
    )
    view, procedure = (one for one in events_of(source) if "job" in one)
    assert (view["job"]["name"], procedure["job"]["name"]) == (
        "view.public.totals",
        "procedure.public.refresh()",
    )
    for one in (view, procedure):
        assert [each["name"] for each in one["inputs"]] == ["shop.public.orders"]
        assert [each["name"] for each in one["outputs"]] == ["shop.public.totals"]
    assert procedure["job"]["facets"]["sql"]["query"] == PROCEDURE


def test_a_procedure_that_writes_nothing_is_none() -> None:
    text = PROCEDURE.replace("insert into totals select sum(amount) from orders", "perform 1")
    source = catalogue(columns=[], procedures=[("public", "refresh", "", text)])
    assert events_of(source) == []


def test_what_changed_has_another_mark() -> None:
    def marks(columns: Sequence[Sequence[Any]]) -> dict[str, str]:
        return {one.key: one.mark for one in catalogue(columns).findings(0, ())}

    before, after = marks(COLUMNS), marks([*COLUMNS, ("public", "totals", "day", "date", None)])
    assert before == marks(COLUMNS)
    assert {key for key in before if before[key] != after[key]} == {"table shop.public.totals"}


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret@db/shop",
        "postgresql://me:s3/cret@db/shop",  # read as a port
        "postgresql://me:s3cret%@db/shop",
        "host=db password=s3cret",
        "host=db password='s3cret",
        "postgresql://me@db/shop?sslpassword=s3cret",
        "s3cret",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ConfigurationError, match="PGPASSWORD") as raised:
        PostgresqlServer(address)
    assert "s3" not in str(raised.value)


def test_the_producer_accepts_every_event() -> None:
    source = catalogue(
        views=[("public", "totals", VIEW)], procedures=[("public", "refresh", "", PROCEDURE)]
    )
    for event in events_of(source):
        (piece,) = classify(event, "postgresql")
        assert isinstance(piece, Piece)
        prepare(piece)
