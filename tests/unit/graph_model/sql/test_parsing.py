"""SQL text -> statements, in a number of steps that follows from its length."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlglot import Token, exp
from sqlglot.errors import ParseError

from graph_model.sql import respelling
from graph_model.sql.parsing import parse, parse_tokens
from graph_model.sql.tokens import normal_text, tokenize
from tests.work import grows_too_fast


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


def test_brackets_of_identifiers_are_matched_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(token: Token) -> str:
        nonlocal looks
        looks += 1
        return keyword(token)

    keyword = respelling.keyword
    monkeypatch.setattr(respelling, "keyword", counted)
    taken = []
    for calls in (100, 200):
        text, looks = "IDENTIFIER(a, " * calls, 0
        with pytest.raises(ParseError):
            parse_tokens(tokenize(text, "snowflake"), text, "snowflake")
        taken.append(looks)
    assert taken[1] < 2.5 * taken[0]


@pytest.mark.parametrize(
    ("dialect", "begin"),
    [
        ("databricks", "CREATE TABLE "),
        ("databricks", "CREATE TABLE t DEEP CLONE "),
        ("mysql", "SELECT a INTO "),
        ("mysql", "LOAD DATA INFILE 'x' INTO TABLE "),
        ("postgres", "SELECT "),
        ("snowflake", "SET v = "),
        *(
            ("tsql", begin)
            for begin in (
                "", "SET @x = ", "SELECT a INTO ", "INSERT INTO t OUTPUT a INTO ", "DELETE ",
                "UPDATE t SET ", "ALTER TABLE ", "BULK INSERT ",
            )
        ),
    ],
)  # fmt: skip
def test_twice_the_names_are_about_twice_the_work_of_respelling(dialect: str, begin: str) -> None:
    for unit in ("a-", "a.", "@ ", "# "):

        def call(size: int, unit: str = unit) -> Callable[[], object]:
            tokens = tokenize(begin + unit * size, dialect)
            return lambda: respelling.respelled(tokens, dialect)

        assert not grows_too_fast(call, 100, 2.5), unit


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("FROM IDENTIFIER('a.' || 'b')", "SELECT * FROM a.b"),
        ("SELECT F(b) FROM IDENTIFIER('t') WHERE (c)", "SELECT F(b) FROM t WHERE (c)"),
    ],
)
def test_a_name_in_brackets_is_read(text: str, read: str) -> None:
    tree = parse_tokens(tokenize(text, "snowflake"), text, "snowflake")
    assert tree is not None
    assert tree.sql() == read


@pytest.mark.parametrize("dialect", ["databricks", "snowflake", "postgres"])
@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE clone AS SELECT a FROM t",
        "CREATE VIEW clone AS SELECT a FROM t",
        "CREATE TABLE a.clone AS SELECT deep FROM t",
        "CREATE TABLE IF NOT EXISTS clone (deep INT)",
        "CREATE TABLE t (a INT, clone INT)",
    ],
)
def test_a_table_may_be_called_clone(text: str, dialect: str) -> None:
    tree = parse_tokens(tokenize(text, dialect), text, dialect)
    assert tree is not None
    assert tree.sql() == text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("CREATE TABLE deep CLONE s", "CREATE TABLE deep CLONE s"),
        (
            "CREATE TABLE a.clone DEEP CLONE b.deep VERSION AS OF 3",
            "CREATE TABLE a.clone CLONE b.deep",
        ),
        (
            "CREATE OR REPLACE TABLE IF NOT EXISTS clone SHALLOW CLONE deep TIMESTAMP AS OF 'x'",
            "CREATE OR REPLACE TABLE IF NOT EXISTS clone SHALLOW CLONE deep",
        ),
    ],
)
def test_a_clone_has_its_whole_name_before_the_word(text: str, read: str) -> None:
    tree = parse_tokens(tokenize(text, "databricks"), text, "databricks")
    assert tree is not None
    assert tree.sql() == read
