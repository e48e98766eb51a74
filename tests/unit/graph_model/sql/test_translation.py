"""A text of any kind has an answer: gaps, masks, bounds, and the order of statements."""

from __future__ import annotations

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import InvalidFields
from graph_model.sql import (
    DIALECTS,
    SqlStatement,
    qualified_name,
    split_name,
    translate,
    translation,
)
from graph_model.sql.names import SqlNames
from graph_model.sql.parsing import parse
from graph_model.sql.queries import QueryReader
from graph_model.sql.reply import GAPS, lines, report, report_json, statements_json
from graph_model.sql.scopes import MOST_STEPS, UNSUPPORTED
from graph_model.sql.scripts import pieces
from graph_model.sql.translation import LARGE, MOST_CHARACTERS, NESTED, UNREADABLE
from graph_model.sql.values import Texts

FIVE: Final = ("redshift", "postgres", "spark", "snowflake", "tsql")


def codes(statements: tuple[SqlStatement, ...]) -> list[str]:
    return [gap.code for statement in statements for gap in statement.gaps]


# --- what cannot be read -------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", FIVE)
def test_an_unreadable_statement_keeps_its_tables_and_leaves_the_others_alone(dialect: str) -> None:
    text = (
        "INSERT INTO w SELECT frob frob frob FROM a JOIN b x y z; INSERT INTO c (k) SELECT k FROM d"
    )
    first, second = translate(text, dialect)
    assert [name.lower() for name in (*first.reads, *first.writes)] == ["a", "b", "w"]
    assert codes((first,)) == [UNREADABLE]
    assert [name.lower() for name in (*second.reads, *second.writes)] == ["d", "c"]
    assert not second.gaps


def test_a_quote_that_never_ends_is_a_gap_and_tables_before_it_are_found() -> None:
    (statement,) = translate("INSERT INTO w SELECT a FROM t WHERE b = 'open", "postgres")
    assert (statement.reads, statement.writes) == (("t",), ("w",))
    assert codes((statement,)) == [UNREADABLE]


def test_an_unreadable_statement_reads_what_is_behind_a_temporary_table() -> None:
    text = "CREATE TEMP TABLE s AS SELECT a FROM t; INSERT INTO w SELECT a a a FROM s"
    assert [one.reads for one in translate(text, "redshift")] == [("t",), ("t",)]


def test_an_unknown_dialect_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(InvalidFields, match="dialect: expected one of athena"):
        translate("SELECT 1", "klingon")


def test_a_dialect_may_have_the_name_of_its_database() -> None:
    assert translate("SELECT A FROM T", "PostgreSQL") == translate("SELECT A FROM T", "postgres")


def test_a_column_that_several_tables_may_have_is_a_gap_that_names_them() -> None:
    (statement,) = translate("SELECT a FROM t, s.u", "postgres", schema="public")
    assert [gap.detail for gap in statement.gaps] == ["a: one of public.t, s.u"]
    assert statement.columns == ()


def test_an_inner_name_that_an_outer_table_is_known_to_have_is_no_guess() -> None:
    text = "SELECT 1 AS x FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = 1)"
    (statement,) = translate(text, "postgres", schemas={"t": ["k"]})
    assert [gap.detail for gap in statement.gaps] == ["k: one of t, u"]


# --- masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", FIVE)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT a || 'hunter2' AS x FROM t WHERE b = 'hunter2' ORDER BY coalesce(c, 'hunter2')",
        "SELECT 'hunter2' || a, max(b) FROM t GROUP BY 1",
        "UPDATE t SET a = b || 'hunter2' WHERE c LIKE '%hunter2%'",
        "SELECT CASE a WHEN 'hunter2' THEN b END AS x FROM t JOIN u ON t.k = u.k || 'hunter2'",
        "SELECT a a a FROM t WHERE b = 'hunter2'",
        "SELECT a FROM t WHERE b = 'hunter2",
        "COPY t FROM 's3://b/k' CREDENTIALS 'aws_secret_access_key=hunter2'",
        "CREATE USER u PASSWORD 'hunter2'",
        "SELECT N'hunter2' AS x, E'hunter2' AS y, x'68' AS z FROM t",
    ],
)
def test_no_literal_is_in_a_reply(text: str, dialect: str) -> None:
    assert "hunter2" not in json.dumps(statements_json(translate(text, dialect)))


def test_a_caller_may_mask_in_another_way() -> None:
    (statement,) = translate("SELECT a || 'x' AS b FROM t", "postgres", mask=str.upper)
    assert [column.expression for column in statement.columns] == ["a || 'X'"]


# --- scripts -------------------------------------------------------------------------------------


def test_statements_are_in_the_order_of_the_text() -> None:
    text = "INSERT INTO b (k) SELECT k FROM a; SET x = 1; DELETE FROM c; UPDATE d SET e = f"
    assert [one.writes for one in translate(text, "postgres")] == [("b",), ("c",), ("d",)]


def test_a_column_with_two_ways_has_one_entry_for_each() -> None:
    (statement,) = translate("SELECT a / sum(a) OVER (PARTITION BY a) AS x FROM t", "postgres")
    assert [(one.to, one.kind, one.how, one.sources) for one in statement.columns] == [
        ("#x", "DIRECT", "TRANSFORMATION", ("t#a",)),
        ("#x", "DIRECT", "AGGREGATION", ("t#a",)),
        ("#x", "INDIRECT", "WINDOW", ("t#a",)),
    ]


def test_conditions_of_one_kind_are_one_entry_with_sorted_texts() -> None:
    (statement,) = translate("SELECT 1 AS x FROM t WHERE b > 1 AND a > 2", "postgres")
    (entry,) = statement.columns
    assert (entry.to, entry.sources, entry.expression) == (None, ("t#a", "t#b"), "a > 2 | b > 1")


def test_a_search_path_takes_the_first_schema_that_has_the_table() -> None:
    (statement,) = translate(
        "SELECT a FROM t, u", "postgres", schema="x, y", schemas={"y.t": ["a"], "x.u": ["b"]}
    )
    assert statement.reads == ("x.u", "y.t")
    assert [column.sources for column in statement.columns] == [("y.t#a",)]


# --- what clients add to a text -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "\ufeffINSERT INTO u (a) SELECT a FROM t", ["t > u"]),
        ("postgres", "\\set x on\nINSERT INTO u (a) SELECT a FROM t;\n\\i f.sql\n", ["t > u"]),
        ("postgres", "SELECT a FROM t \\gset x_\nSELECT a FROM s;", ["t > ", "s > "]),
        ("postgres", "\\copy u from 'x.csv' csv\nSELECT a FROM t", ["x.csv > u", "t > "]),
        ("postgres", "INSERT INTO u (a) SELECT a FROM t WHERE b = :'v' OR c = :v", ["t > u"]),
        ("oracle", "SELECT a FROM t WHERE b = :1 AND c = :n", ["T > "]),
        (
            "oracle",
            "SET ECHO ON\nspool x\nINSERT INTO u (a) SELECT a FROM t\n/\n@f\nSELECT b FROM s;",
            ["T > U", "S > "],
        ),
        (
            "mysql",
            "DELIMITER //\r\nCREATE PROCEDURE p() BEGIN INSERT INTO u SELECT a FROM t; END //\r\n"
            "DELIMITER ;\r\nINSERT INTO w (a) SELECT a FROM s;",
            ["t > u", "s > w"],
        ),
        ("tsql", ":setvar x y\nSELECT a FROM t\nGO 5\nSELECT a FROM s\nGO", ["t > ", "s > "]),
        ("snowflake", "SELECT v:1 AS a FROM t", ["T > "]),
    ],
)
def test_what_a_client_adds_to_a_text_is_no_statement(
    dialect: str, text: str, expected: list[str]
) -> None:
    statements = translate(text, dialect)
    assert [f"{' '.join(s.reads)} > {' '.join(s.writes)}" for s in statements] == expected
    assert not {UNREADABLE, UNSUPPORTED} & set(codes(statements))


@pytest.mark.parametrize(
    "text",
    ["SELECT a FROM {{ ref('t') }}", "{% if x %} SELECT a FROM db.{{ s }}.t {% endif %}"],
)
def test_a_template_is_a_gap_that_says_so(text: str) -> None:
    (statement,) = translate(text, "redshift")
    assert (statement.reads, statement.writes, statement.columns) == ((), (), ())
    assert ["template" in gap.detail for gap in statement.gaps] == [True]


# --- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", ["(", "(SELECT ", "CASE WHEN a THEN ", "f(", "NOT ", "- "])
@pytest.mark.parametrize("dialect", ["postgres", "tsql"])
def test_a_text_that_nests_a_thousand_deep_is_a_gap(opening: str, dialect: str) -> None:
    statements = translate(f"SELECT {opening * 1_000} a FROM t", dialect)
    assert set(codes(statements)) <= {NESTED, UNREADABLE, LARGE}
    assert codes(statements)


def test_a_query_within_queries_a_thousand_deep_keeps_its_tables() -> None:
    text = "SELECT a FROM " + "(SELECT a FROM " * 1_000 + "t" + ") x" * 1_000
    (statement,) = translate(text, "postgres")
    assert statement.reads == ("t",)
    assert codes((statement,)) == [NESTED]


def test_hundreds_of_common_table_expressions_are_no_nesting() -> None:
    chain = ", ".join(f"c{n} AS (SELECT a, b FROM c{n - 1})" for n in range(1, 400))
    (statement,) = translate(f"WITH {chain}, d AS (SELECT a FROM s) SELECT b FROM c399", "postgres")
    assert statement.reads == ("c0",)
    assert [column.sources for column in statement.columns] == [("c0#b",)]
    assert not statement.gaps


def test_a_long_chain_of_operations_is_no_nesting() -> None:
    sums = " + ".join(f"a{number}" for number in range(2_000))
    unions = " UNION ALL ".join("SELECT a FROM t" for _ in range(500))
    conditions = " AND ".join(f"a > {number}" for number in range(2_000))
    for text in (f"SELECT {sums} AS x FROM t", unions, f"SELECT a FROM t WHERE {conditions}"):
        (statement,) = translate(text, "postgres")
        assert statement.columns
        assert not statement.gaps


def test_more_than_a_megabyte_is_one_gap() -> None:
    assert codes(translate("x" * (MOST_CHARACTERS + 1), "postgres")) == [LARGE]


def test_only_so_many_statements_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert translation.MOST_STATEMENTS == 10_000
    monkeypatch.setattr(translation, "MOST_STATEMENTS", 20)
    statements = translate("DELETE FROM t;" * 25, "postgres")
    assert len(statements) == 20 + 1
    assert codes(statements) == [LARGE]


def test_each_item_of_a_group_by_all_is_read_once() -> None:
    def steps(depth: int) -> int:
        text = "SELECT a FROM t"
        for _ in range(depth):
            text = f"SELECT a, ({text}) b FROM t GROUP BY ALL"
        (tree,) = parse(text, "duckdb")
        assert tree is not None
        names = SqlNames("duckdb", "", "", {})
        reader = QueryReader(names, Texts("duckdb", str), "duckdb", {})
        reader.query(tree, None, {})
        return MOST_STEPS - reader.steps_left

    assert steps(12) < 5 * steps(6)


def test_flows_that_multiply_end_in_a_gap() -> None:
    columns = ", ".join(f"c{number}" for number in range(400))
    total = " + ".join(f"c{number}" for number in range(400))
    wide = ", ".join(f"{total} AS c{number}" for number in range(400))
    text = f"WITH a AS (SELECT {columns} FROM t), b AS (SELECT {wide} FROM a) SELECT {wide} FROM b"
    assert codes(translate(text, "postgres")) == [LARGE]


def test_thousands_of_joins_are_looked_up_by_their_names() -> None:
    """Each looked for among all before it would be 4 million comparisons."""
    joins = "".join(f" join s{n} on s{n}.a = t.a" for n in range(2_000))
    (statement,) = translate(f"select s1999.b from t{joins}", "redshift")
    assert [column.sources for column in statement.columns if column.to] == [("s1999#b",)]
    names = ", ".join(f"c{n}" for n in range(2_000))
    (guessed,) = translate(f"select {names} from t{joins}", "redshift")
    assert {gap.code for gap in guessed.gaps} == {"too-large"}
    assert len(guessed.reads) == 2_001


def test_a_text_has_a_bound_for_all_its_statements_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(translation, "_MOST_STEPS_OF_A_TEXT", 500)
    pair = "CREATE TABLE t AS SELECT a FROM s; ALTER TABLE t RENAME TO u;"
    statements = translate(pair * 40, "postgres")
    assert statements[0].writes == ("u",)
    assert set(codes(statements)) == {LARGE}


def test_the_rows_of_199_loops_in_one_block_are_known() -> None:
    def sources(depth: int) -> list[tuple[str, ...]]:
        loops = "".join(f"for r{n} in select a from s{n} loop " for n in range(depth))
        text = f"do $$ begin {loops} insert into u (a) values (r7.a); {'end loop; ' * depth} end $$"
        statements = translate(text, "postgres")
        return [column.sources for made in statements for column in made.columns if made.writes]

    assert sources(199) == [("s7#a",)]
    assert sources(200) == []


@pytest.mark.parametrize(
    "text",
    [
        "for r in ( select a from s ) loop ) ; select a into r ; for r in c do end for",
        "< < again > > for r as c cursor for with q as ( select a from s ) select a do end for",
        "again : repeat again : for ( select a from s ) do until a end repeat again",
        "for r as do insert into t select a ; end for ; for r as",
    ],
)
def test_a_loop_may_be_cut_off_anywhere(text: str) -> None:
    words = text.split()
    for end in range(len(words)):
        translate(" ".join(words[:end]), "oracle")


@pytest.mark.parametrize("pipe", ["set a = a + 1", "select * replace (a + 1 as a)", "select a"])
def test_pipes_that_select_have_a_bound(pipe: str) -> None:
    """The parser copies all that is before each: a thousand would take an hour."""
    assert LARGE not in codes(translate(f"from t {f'|> {pipe} ' * 50}", "bigquery"))
    assert codes(translate(f"from t {f'|> {pipe} ' * 1_000}", "bigquery")) == [LARGE]


def test_what_rows_of_rows_bring_along_has_a_bound() -> None:
    statements = translate("select a + @v into @v from t where @v > 0; " * 80, "mysql")
    assert max(len(statement.columns) for statement in statements) <= 4
    filled = "".join(f"select a{n} + v into v from t where b{n} > v; " for n in range(80))
    text = f"create procedure p() begin declare v int; {filled} end"
    sources = [
        len(column.sources)
        for statement in translate(text, "mysql")
        for column in statement.columns
    ]
    assert 20 < max(sources) <= 110


def test_the_names_of_a_script_are_not_copied_for_each_of_its_loops() -> None:
    text = "".join(f"for r{number} in (select a from s) loop " for number in range(9))
    named = [piece.variables for piece in pieces(text, "oracle")]
    assert len(named) == 9
    assert all(names is named[0] for names in named)
    assert "r8" in named[0]


WORDS: Final = (
    "SELECT", "a", "b", "FROM", "t", "u", "JOIN", "ON", "USING", "(", ")", ",", "*", "t.*",
    "WHERE", "=", "1", "'x'", "WITH", "AS", "INSERT INTO", "VALUES", "UPDATE", "SET",
    "MERGE INTO", "WHEN", "MATCHED", "THEN", "DELETE", "UNION ALL", "EXCEPT", "OVER",
    "PARTITION BY", "GROUP BY", "ORDER BY", "CASE", "END", "BEGIN", "IF", "ELSE", "DECLARE",
    "CREATE TABLE", "CREATE PROCEDURE", "$$", ";", "LATERAL", "UNNEST", "PIVOT", "COPY", "UNLOAD",
    "ALTER TABLE", "RENAME TO", "APPEND FROM", "EXEC", "RETURN QUERY", "FOR", "IN", "LOOP", "#x",
    "@v", ".", ":", "EXISTS", "NATURAL", "RECURSIVE", "ROLLBACK", "TRANSACTION", "SWAP WITH",
    "INTO", "QUALIFY", "TO", "s3://b/k", '"Q"', "`w`", "[z]",
)  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=25), st.sampled_from(sorted(DIALECTS)))
def test_translating_any_words_never_raises(words: list[str], dialect: str) -> None:
    statements = translate(" ".join(words), dialect, schemas={"t": ["a", "b"]}, schema="s")
    assert set(codes(statements)) <= set(GAPS)
    for statement in statements:
        keys = [(column.to, column.kind, column.how) for column in statement.columns]
        assert len(keys) == len(set(keys))


@given(st.text(max_size=60), st.sampled_from(FIVE))
def test_translating_any_text_never_raises(text: str, dialect: str) -> None:
    translate(text, dialect)


# --- the reply -----------------------------------------------------------------------------------


def test_the_reply_has_the_promised_fields() -> None:
    statements = translate("INSERT INTO t (a) SELECT b FROM s WHERE c", "postgres", schema="p")
    assert statements_json(statements) == {
        "statements": [
            {
                "reads": ["p.s"],
                "writes": ["p.t"],
                "columns": [
                    {
                        "to": "p.t#a",
                        "from": ["p.s#b"],
                        "kind": "DIRECT",
                        "how": "IDENTITY",
                        "expression": "b",
                    },
                    {
                        "to": None,
                        "from": ["p.s#c"],
                        "kind": "INDIRECT",
                        "how": "FILTER",
                        "expression": "c",
                    },
                ],
                "gaps": [],
            }
        ]
    }


def test_the_report_counts_what_is_read_and_the_gaps_by_kind() -> None:
    statements = translate("SELECT a FROM t; SELECT b b b FROM t; SELECT c FROM t, u", "postgres")
    assert report_json(statements) == {
        "statements": 3,
        "read": 2,
        "gaps": {"unreadable": 1, "unresolved-column": 1},
    }
    assert next(report(statements)) == "3 statements, 2 read (66.7 %)"
    assert list(lines(statements))[:2] == ["1. a result from t", "   #a  IDENTITY  t#a  a"]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("dev", "sales", "orders"), "dev.sales.orders"),
        (("dev", "eu.west", "t"), 'dev."eu.west".t'),
        (('a"b', "c`.d"), '"a""b"."c`.d"'),
        (("my db", "t"), "my db.t"),
        (("s3://lake/a.b/",), "s3://lake/a.b/"),
    ],
)
def test_a_written_name_is_read_as_its_parts(parts: tuple[str, ...], text: str) -> None:
    assert qualified_name(parts) == text
    assert split_name(text) == parts


@pytest.mark.parametrize("dialect", ["postgres", "redshift", "duckdb", "trino"])
@pytest.mark.parametrize(
    ("words", "writes"),
    [
        ("ANALYZE", ["t"]),
        ("ANALYZE VERBOSE", ["t"]),
        ("(ANALYZE, BUFFERS)", ["t"]),
        ("", []),
        ("(ANALYZE false)", []),
        ("VERBOSE", []),
    ],
)
def test_explain_executes_a_statement_only_with_analyze(
    dialect: str, words: str, writes: list[str]
) -> None:
    statements = translate(f"EXPLAIN {words} INSERT INTO t (a) SELECT a FROM s", dialect)
    assert [table for statement in statements for table in statement.writes] == writes
    assert codes(statements) == []
