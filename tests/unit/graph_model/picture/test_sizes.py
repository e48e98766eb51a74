"""Boxes are as large as their names need."""

from __future__ import annotations

import pytest

from graph_model.picture.layout import row_width, size_of


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("orders", 1),
        ("customer_value", 1),
        ("curate_order_items", 2),
        ("warehouse.finance.daily_revenue", 2),
        ("W" * 5_000, 2),
    ],
)
def test_a_long_name_has_a_second_line_and_no_third(label: str, lines: int) -> None:
    assert size_of(label).height == 42 + 17 * (lines - 1)


def test_a_box_is_as_wide_as_the_longer_line_of_its_name_up_to_280_pixels() -> None:
    widths = [size_of(name).width for name in ("a", "orders", "curate_order_items", "x" * 200)]
    assert widths == sorted(widths)
    assert widths[0] == 130
    assert widths[-1] == 280
    assert size_of("daily_revenue_of_countries").width < size_of("dailyrevenueofcountries").width


def test_a_name_is_broken_where_its_parts_end() -> None:
    for name in ("curate_orders_of", "curate.orders.of", "CurateOrdersOf", "curate orders of"):
        assert size_of(name * 2).width < size_of("curateordersofx" * 2).width, name


def test_columns_lie_below_the_title_of_their_table() -> None:
    alone, table = (
        size_of("orders"),
        size_of("orders", [row_width(n) for n in ("id", "amount_of_all_items_in_euro")]),
    )
    assert (table.title, table.height) == (alone.height, alone.height + 2 * 22 + 8)
    assert table.width > alone.width
