"""Which jobs an overview draws where not everything fits."""

from __future__ import annotations

from graph_model.picture.filtering import connected_first


def test_failing_jobs_come_first_with_what_is_connected_with_them_and_lone_jobs_never() -> None:
    chain = {f"chain {n}": {f"t{n}", f"t{n + 1}"} for n in range(9)}
    tables = chain | {"lone": {"own"}, "broken": {"own table"}, "other": {"a", "b"}, "next": {"b"}}
    chosen = connected_first(tables, ["broken", "chain 4"], 10)
    assert chosen.jobs == {"broken", "chain 4", "chain 3", "chain 5"}
    assert chosen.datasets == {"own table", "t3", "t4", "t5", "t6"}
    assert (chosen.lone, chosen.cut) == ({"lone"}, True)
    everything = connected_first(tables, ["broken"], 100)
    assert everything.jobs == tables.keys() - {"lone"}
    assert not everything.cut


def test_a_table_with_many_readers_is_gone_through_once() -> None:
    tables = {f"reader {n:05}": {"hub"} for n in range(20_000)}
    assert len(connected_first(tables, [], 500).jobs) == 499
