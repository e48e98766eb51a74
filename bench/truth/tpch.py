"""The TPC-H queries as Spark tests itself with them, over a small lake in which each finds rows.

The text of the queries is not kept here: it is read at run time from Spark's own archive of tests.
"""

from __future__ import annotations

import datetime
import random
import re
import zipfile
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from bench.truth.jobs import Job, query
from bench.truth.schema import Table
from graph_model.stores.gremlin.engine.jars import Jar, fetch

ARCHIVE: Final = Jar(
    "org.apache.spark:spark-sql_2.12:3.5.3:tests",
    "e1aec029ce4a03919b6696722d947dd3d3d3e6491fa2d909c1aba24b220d434a",
    24_496_041,
)
_ENTRY: Final = re.compile(r"tpch/q(\d+)\.sql")

# Output columns that tell the rows of a query apart: its grouping columns.
_KEYS: Final = {
    1: ("l_returnflag", "l_linestatus"), 3: ("l_orderkey",), 4: ("o_orderpriority",),
    5: ("n_name",), 7: ("supp_nation", "cust_nation", "l_year"), 8: ("o_year",),
    9: ("nation", "o_year"), 10: ("c_custkey",), 11: ("ps_partkey",), 12: ("l_shipmode",),
    13: ("c_count",), 15: ("s_suppkey",), 16: ("p_brand", "p_type", "p_size"),
    18: ("o_orderkey",), 20: ("s_name",), 21: ("s_name",), 22: ("cntrycode",),
}  # fmt: skip

_MONEY: Final = "decimal(12,2)"
_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "region": {"r_regionkey": "bigint", "r_name": "string", "r_comment": "string"},
    "nation": {
        "n_nationkey": "bigint", "n_name": "string", "n_regionkey": "bigint", "n_comment": "string",
    },
    "supplier": {
        "s_suppkey": "bigint", "s_name": "string", "s_address": "string", "s_nationkey": "bigint",
        "s_phone": "string", "s_acctbal": _MONEY, "s_comment": "string",
    },
    "customer": {
        "c_custkey": "bigint", "c_name": "string", "c_address": "string", "c_nationkey": "bigint",
        "c_phone": "string", "c_acctbal": _MONEY, "c_mktsegment": "string", "c_comment": "string",
    },
    "part": {
        "p_partkey": "bigint", "p_name": "string", "p_mfgr": "string", "p_brand": "string",
        "p_type": "string", "p_size": "int", "p_container": "string", "p_retailprice": _MONEY,
        "p_comment": "string",
    },
    "partsupp": {
        "ps_partkey": "bigint", "ps_suppkey": "bigint", "ps_availqty": "int",
        "ps_supplycost": _MONEY, "ps_comment": "string",
    },
    "orders": {
        "o_orderkey": "bigint", "o_custkey": "bigint", "o_orderstatus": "string",
        "o_totalprice": _MONEY, "o_orderdate": "date", "o_orderpriority": "string",
        "o_clerk": "string", "o_shippriority": "int", "o_comment": "string",
    },
    "lineitem": {
        "l_orderkey": "bigint", "l_partkey": "bigint", "l_suppkey": "bigint",
        "l_linenumber": "int", "l_quantity": _MONEY, "l_extendedprice": _MONEY,
        "l_discount": _MONEY, "l_tax": _MONEY, "l_returnflag": "string", "l_linestatus": "string",
        "l_shipdate": "date", "l_commitdate": "date", "l_receiptdate": "date",
        "l_shipinstruct": "string", "l_shipmode": "string", "l_comment": "string",
    },
}  # fmt: skip

# Nations that a query names, one or two in each region; the place is the region's key.
_REGIONS: Final = ("ASIA", "AMERICA", "EUROPE", "MIDDLE EAST")
_NATIONS: Final = (
    ("CHINA", 0), ("INDIA", 0), ("BRAZIL", 1), ("CANADA", 1), ("FRANCE", 2), ("GERMANY", 2),
    ("SAUDI ARABIA", 3),
)  # fmt: skip
# Name, brand, type, size, container: some query looks for each kind of part.
_PARTS: Final = (
    ("green ink", "Brand#12", "ECONOMY ANODIZED STEEL", 3, "SM CASE"),
    ("forest moss", "Brand#23", "PROMO BRUSHED TIN", 9, "MED BOX"),
    ("red clay", "Brand#34", "LARGE PLATED BRASS", 15, "LG BOX"),
    ("forest green", "Brand#45", "MEDIUM POLISHED TIN", 14, "SM BOX"),
)
_ORDER_DAYS: Final = tuple(
    datetime.date(*day)
    for day in ((1993, 8, 1), (1993, 11, 5), (1994, 3, 3), (1995, 3, 1), (1995, 8, 20),
                (1996, 1, 10))
)  # fmt: skip
_MODES: Final = ("MAIL", "SHIP", "AIR", "AIR REG")
_SUPPLIERS: Final = 14
_CUSTOMERS: Final = 21
_PART_COUNT: Final = 12
_ORDER_COUNT: Final = 48

# Rows that chance does not give: parts called forest sold by a supplier of Canada in 1994 (query
# 20), and orders of which only the supplier of Saudi Arabia is late (query 21).
# Part, supplier, quantity, day sent, day promised, day received.
_RARE_DAY: Final = datetime.date(1994, 3, 1)
_RARE_LINES: Final = (
    ((3, 10, 7, 9, 30, 20), (5, 6, 9, 10, 15, 25)),
    ((11, 10, 12, 8, 31, 19), (4, 13, 10, 11, 14, 22)),
    ((5, 14, 3, 6, 28, 17), (5, 6, 8, 12, 16, 24)),
)


def queries(environment: Mapping[str, str]) -> tuple[Job, ...]:
    """All 22, in order. Raises ConfigurationError when the archive cannot be had."""
    (archive,) = fetch(environment, jars=[ARCHIVE])
    return tuple(job(number, text) for number, text in read_queries(archive))


def read_queries(archive: Path) -> list[tuple[int, str]]:
    """The number and the text of each query in the archive, by number."""
    with zipfile.ZipFile(archive) as opened:
        return sorted(
            (int(result[1]), opened.read(name).decode("utf-8"))
            for name in opened.namelist()
            if (result := _ENTRY.fullmatch(name))
        )


def job(number: int, text: str) -> Job:
    """The job of a query. Only columns whose name stands in its text are changed: names are
    unique in TPC-H, so no other column can be read."""
    words = frozenset(re.findall(r"\w+", re.sub(r"--.*", "", text)))
    tables = " ".join(name for name in _COLUMNS if name in words)
    result = query(f"tpch_q{number:02}", tables, text)
    return Job(result.name, result.tables, result.build, _KEYS.get(number, ()), words)


def tables(seed: int = 11) -> tuple[Table, ...]:
    source = random.Random(seed)
    orders = [_order(source, number) for number in range(1, _ORDER_COUNT + 1)]
    lines = [line for order in orders for line in _lines(source, order)]
    rare = [_rare(number) for number in range(len(_RARE_LINES))]
    orders += [order for order, _ in rare]
    lines += [line for _, item in rare for line in item]
    rows: dict[str, Sequence[Sequence[Any]]] = {
        "region": [(key, name, f"r{key}") for key, name in enumerate(_REGIONS)],
        "nation": [(key, name, area, f"n{key}") for key, (name, area) in enumerate(_NATIONS)],
        "supplier": [_supplier(source, number) for number in range(1, _SUPPLIERS + 1)],
        "customer": [_customer(source, number) for number in range(1, _CUSTOMERS + 1)],
        "part": [_part(source, number) for number in range(1, _PART_COUNT + 1)],
        "partsupp": [_offer(source, part, n) for part in range(1, _PART_COUNT + 1)
                     for n in range(4)],
        "orders": orders,
        "lineitem": lines,
    }  # fmt: skip
    return tuple(
        Table(name, columns, tuple(dict(zip(columns, row, strict=True)) for row in rows[name]))
        for name, columns in _COLUMNS.items()
    )


def _money(source: random.Random, low: int, high: int) -> Decimal:
    return Decimal(source.randrange(low * 100, high * 100)) / 100


def _supplier(source: random.Random, key: int) -> tuple[Any, ...]:
    comment = "Customer insists Complaints" if key == 3 else f"sc{key}"
    return (key, f"Supplier{key}", f"street {key}", key % len(_NATIONS), f"{10 + key}-1",
            _money(source, 0, 900), comment)  # fmt: skip


def _customer(source: random.Random, key: int) -> tuple[Any, ...]:
    phone = f"{source.choice((13, 31, 23, 29, 30, 18, 17))}-{key}"
    segment = source.choice(("BUILDING", "MACHINERY"))
    return (key, f"Customer{key}", f"road {key}", key % len(_NATIONS), phone,
            _money(source, 1, 900), segment, f"cc{key}")  # fmt: skip


def _part(source: random.Random, key: int) -> tuple[Any, ...]:
    name, brand, kind, size, container = _PARTS[key % len(_PARTS)]
    return (key, f"{name} {key}", f"M{key}", brand, kind, size, container,
            _money(source, 5, 90), f"pc{key}")  # fmt: skip


def _sellers(part: int) -> tuple[int, ...]:
    """The suppliers of a part: its line items come from these."""
    return tuple((part * 3 + n * 4) % _SUPPLIERS + 1 for n in range(4))


def _offer(source: random.Random, part: int, place: int) -> tuple[Any, ...]:
    return (part, _sellers(part)[place], source.randrange(50, 500), _money(source, 1, 90),
            f"psc{part}")  # fmt: skip


def _order(source: random.Random, key: int) -> tuple[Any, ...]:
    """Customers above two thirds of all have no orders (query 22)."""
    comment = "special fast requests" if key % 9 == 0 else f"oc{key}"
    day = _ORDER_DAYS[key % len(_ORDER_DAYS)] + datetime.timedelta(days=key // 12)
    return (key, source.randrange(1, 2 * _CUSTOMERS // 3), source.choice("FFO"),
            _money(source, 100, 9000), day, source.choice(("1-URGENT", "2-HIGH", "3-MEDIUM")),
            f"clerk{key}", key % 2, comment)  # fmt: skip


def _lines(source: random.Random, order: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every eighth order is large (query 18); a tiny quantity now and then is query 17's."""
    return [_line(source, order, number) for number in range(1, 8 if order[0] % 8 == 0 else 4)]


def _rare(number: int) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """An order and its line items, without chance: those of the other orders stay the same."""
    key = _ORDER_COUNT + number + 1
    order = (key, number + 1, "F", Decimal(500 + number), _RARE_DAY, "2-HIGH", f"clerk{key}", 0,
             f"oc{key}")  # fmt: skip
    lines = [
        (key, part, supplier, place, Decimal(quantity), Decimal(100 + part), Decimal("0.05"),
         Decimal("0.02"), "N", "F", *(_RARE_DAY.replace(day=day) for day in days), "NONE", "MAIL",
         f"lc{place}")
        for place, (part, supplier, quantity, *days) in enumerate(_RARE_LINES[number], 1)
    ]  # fmt: skip
    return order, lines


def _line(source: random.Random, order: Sequence[Any], number: int) -> tuple[Any, ...]:
    part = source.randrange(1, _PART_COUNT + 1)
    shipped = order[4] + datetime.timedelta(days=source.randrange(2, 40))
    committed = shipped + datetime.timedelta(days=source.randrange(-5, 9))
    received = shipped + datetime.timedelta(days=source.randrange(3, 12))
    quantity = 50 if order[0] % 8 == 0 else source.choice((1, 4, 11, 15, 22, 24))
    instruction = source.choice(("DELIVER IN PERSON", "DELIVER IN PERSON", "NONE"))
    return (order[0], part, source.choice(_sellers(part)), number, Decimal(quantity),
            _money(source, 10, 900), Decimal(source.choice((4, 5, 6, 7))) / 100,
            Decimal(source.choice((1, 2, 3))) / 100, source.choice("RAN"), source.choice("OF"),
            shipped, committed, received, instruction, source.choice(_MODES),
            f"lc{number}")  # fmt: skip
