"""The small tables that the jobs of ``jobs`` read."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterable
from typing import Final

from bench.truth.schema import Array, DataType, Struct, Table

_DEPARTMENTS: Final = ("HR", "IT", "OPS", "LAW")


def tables(seed: int = 7) -> tuple[Table, ...]:
    """``emp``, ``old_emp`` (half of it, other salaries), ``dept``, ``sale``, ``purchase``, and the
    narrow ``account`` and ``correction``, of which each has ids that the other has not.
    """
    source = random.Random(seed)
    emp = _employees(source)
    half = tuple(
        {**row, "salary": source.choice([row["salary"], 50])}
        for row in emp.rows
        if row["id"] % 2 == 0
    )
    old = Table("old_emp", emp.columns, half)
    sales, purchases = _sales(source), _purchases(source)
    narrow = _accounts("account", range(1, 11), 100), _accounts("correction", range(6, 14), 130)
    return emp, old, _departments(), sales, purchases, *narrow


def _accounts(name: str, ids: Iterable[int], least: int) -> Table:
    rows = tuple(
        {
            "id": number,
            "owner": f"{name[0]}{number % 4}",
            "dept": _DEPARTMENTS[number % 3],
            "amount": least + 40 * number,
            "fee": number % 3 * 5 or None,
        }
        for number in ids
    )
    columns = {"id": "int", "owner": "string", "dept": "string", "amount": "int", "fee": "int"}
    return Table(name, columns, rows)


def _employees(source: random.Random) -> Table:
    rows = tuple(
        {
            "id": number,
            "name": f"n{number % 9}",
            "dept": source.choice(_DEPARTMENTS) if number % 7 else None,
            "salary": source.randrange(100, 900, 10),
            "bonus": source.choice([None, 5, 10, 20]),
            "boss": source.choice([None, 1, 2, 3]),
            "hired": datetime.date(2020, 1, 1) + datetime.timedelta(days=37 * number),
            "active": number % 3 != 0,
        }
        for number in range(1, 19)
    )
    columns = {
        "id": "int", "name": "string", "dept": "string", "salary": "int", "bonus": "int",
        "boss": "int", "hired": "date", "active": "boolean",
    }  # fmt: skip
    return Table("emp", columns, rows)


def _departments() -> Table:
    cities = ("Riga", "Oslo", "Riga", "Bern")
    rows = tuple(
        {"dept": name, "city": cities[place], "budget": 1000 * (place + 1), "floor_no": place}
        for place, name in enumerate((*_DEPARTMENTS[:3], "ART"))
    )
    columns = {"dept": "string", "city": "string", "budget": "int", "floor_no": "int"}
    return Table("dept", columns, rows)


def _sales(source: random.Random) -> Table:
    rows = tuple(
        {
            "emp_id": source.randrange(1, 22),
            "day": datetime.date(2024, 1, 1) + datetime.timedelta(days=source.randrange(60)),
            "product": source.choice(["pen", "ink", "pad"]),
            "quantity": source.randrange(1, 9),
            "price": source.choice([1.5, 2.25, 4.0, 8.5]),
        }
        for _ in range(40)
    )
    columns = {
        "emp_id": "int", "day": "date", "product": "string", "quantity": "int", "price": "double",
    }  # fmt: skip
    return Table("sale", columns, rows)


def _purchases(source: random.Random) -> Table:
    rows = tuple(
        {
            "oid": number,
            "customer": {
                "name": f"c{number % 5}",
                "address": {"city": source.choice(["Riga", "Oslo"]), "zip": f"{1000 + number}"},
            },
            "items": [
                {"sku": f"s{source.randrange(6)}", "units": source.randrange(1, 5), "price": price}
                for price in source.sample([1.5, 2.5, 3.5, 9.0], source.randrange(1, 4))
            ],
            "tags": [f"t{source.randrange(4)}" for _ in range(source.randrange(1, 3))],
        }
        for number in range(1, 13)
    )
    address = Struct({"city": "string", "zip": "string"})
    item = Struct({"sku": "string", "units": "int", "price": "double"})
    columns: dict[str, DataType] = {
        "oid": "int",
        "customer": Struct({"name": "string", "address": address}),
        "items": Array(item),
        "tags": Array("string"),
    }
    return Table("purchase", columns, rows)
