"""SQL text -> statements, in a number of steps that follows from its length."""

from __future__ import annotations

import pytest
from sqlglot import exp

from graph_model.sql.parsing import normal_text, parse


@pytest.mark.parametrize(
    "query", ["select * from " + "a join " * 16 + "a", "select" + " ( union" * 12]
)
def test_a_parser_that_goes_back_too_often_is_stopped(query: str) -> None:
    with pytest.raises(RuntimeError, match="too often"):
        parse(query, "postgres")


def test_the_steps_of_a_parser_suffice_for_a_long_query() -> None:
    columns = ", ".join(f"coalesce(a{n}, 0) as b{n}" for n in range(300))
    conditions = " and ".join(f"(a{n} = {n} or a{n} is null)" for n in range(300))
    (tree,) = parse(f"select {columns} from t join u on t.k = u.k where {conditions}", "postgres")
    assert isinstance(tree, exp.Select)
    assert len(tree.selects) == 300


def test_a_chain_of_calls_ends_before_the_parser_copies_it_again_and_again() -> None:
    with pytest.raises(RuntimeError, match="calls"):
        parse("select " + ".".join(["f(a)"] * 3_000) + " from t", "postgres")
    assert parse("select f(a).g(b).h(c), x[0].y(d) from t", "postgres")


def test_arrays_beyond_a_thousand_are_not_joined_by_a_parser_that_numbers_all_for_each() -> None:
    arrays = ", ".join(f"a{n} as x{n}" for n in range(1_002))
    with pytest.raises(RuntimeError, match="arrays"):
        parse(f"select x1 from t array join {arrays}", "clickhouse")
    assert parse(f"select {arrays} from t array join a, b as c", "clickhouse")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("select a from t where d in ('x', 2,\n 'y') -- z", "SELECT a FROM t WHERE d IN ( ? )"),
        ('SELECT "a" /* b */ FROM T;', "SELECT a FROM T"),
        (
            "INSERT INTO t VALUES (1, 'x'), (-2, NULL), (f(3), 4)",
            "INSERT INTO t VALUES ( ? ) , ( f ( ? ) , ? )",
        ),
        ("SELECT a - 1, b IS NULL", "SELECT a - ? , b IS NULL"),
        ("SELECT e'x', X'41', U&'x' FROM t", "SELECT ? , X ? FROM t"),
        (
            "SELECT a FROM t WHERE b = 12 AND c = 'never ends",
            "SELECT a FROM t WHERE b = ? AND c = ?",
        ),
    ],
)
def test_texts_that_differ_in_values_have_one_normal_text(text: str, normal: str) -> None:
    assert normal_text(text, "redshift") == normal


def test_no_value_of_any_spelling_is_in_the_normal_text() -> None:
    text = "SELECT f(x, e'17'), n'17', b'10', x'17', U&'17', $$17$$, $a$17$a$, '17', 17 FROM t"
    for kept in (text, f"{text} WHERE a = $$17", f"{text} WHERE a = 'never ends 17"):
        assert not {"1", "7"} & set(normal_text(kept, "postgres"))
