"""Parts that differ between runs of one logic are taken out of texts and literals."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.naming import mask_literal, stable_text
from graph_model.naming.rules import DEFAULT_RULES
from tests.projections import budget

ID = "c618a9fa-f5eb-4af9-9746-ae1035b36bc7"


@pytest.mark.parametrize(
    ("text", "stable"),
    [
        ("(salary#302L > 5)", "(salary > 5)"),
        ("[emp_id#2250,day#2251]", "[emp_id,day]"),
        ("Project [1 AS 1#2263]", "Project [1 AS 1]"),
        ("Brand#x", "Brand#x"),
        (
            "CatalogTable(\nTable: e\nCreated Time: Sat Nov 21 04:39:27 UTC 2026\n"
            "Last Access: UNKNOWN\nCreated By: Spark \nType: VIEW\n)",
            "CatalogTable(\nTable: e\nCreated By: Spark \nType: VIEW\n)",
        ),
        ("Statistics: 1234 bytes, 7 rows\nx", "x"),
        ("[transient_lastDdlTime=1700000000, a=b]", "[a=b]"),
        ("[a=b, transient_lastDdlTime=1700000000]", "[a=b]"),
        (
            "CTERelationDef 2, false\n+- CTERelationRef 0, true",
            "CTERelationDef, false\n+- CTERelationRef, true",
        ),
        ("Exchange [plan_id=45]", "Exchange [plan_id]"),
        ("MapPartitionsRDD[12] at x", "MapPartitionsRDD at x"),
        ("org.example.Codec@1a2b3c", "org.example.Codec"),
        ("[Ljava.lang.Object;@1a2b3c]", "[Ljava.lang.Object;]"),
        ("x$$Lambda$1234/0x0000000800c8a840@1a2b3c", "x$$Lambda"),
        ("(select 1) SPARK_GEN_SUBQ_4", "(select 1) SPARK_GEN_SUBQ_"),
        ("bob@cafe.org", "bob@cafe.org"),
        ("Join Inner, (a = b)", "Join Inner, (a = b)"),
    ],
)  # fmt: skip
def test_volatile_text_goes_and_all_else_stays(text, stable):
    assert stable_text(text) == stable


@settings(deadline=None)
@given(st.text(st.characters()), st.integers(0, 10**6), st.integers(0, 10**6))
def test_expression_ids_make_no_difference(text, one, other):
    assert stable_text(f"{text} a#{one} b") == stable_text(f"{text} a#{other}L b")


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("2024-01-31", "<date>"),
        ("20240131", "<date>"),
        ("2024/01/31", "<date>"),
        ("2024-01-31 06:00:00", "<timestamp>"),
        ("2024-01-31T06:00:00.123456Z", "<timestamp>"),
        ("2024-01-31T06:00:00+02:00", "<timestamp>"),
        (ID, "<uuid>"),
        (ID.upper(), "<uuid>"),
        ("2024-13-31", "2024-13-31"),
        ("12345678", "12345678"),
        ("dt=2024-01-31", "dt=2024-01-31"),
        ("2024-01-31 was a Wednesday", "2024-01-31 was a Wednesday"),
        ("2024-01-31\n", "2024-01-31\n"),
        ("GERMANY", "GERMANY"),
        ("", ""),
        (20240131, 20240131),
        (None, None),
        (True, True),
        (["2024-01-31"], ["2024-01-31"]),
    ],
)
def test_only_whole_dates_timestamps_and_uuids_are_masked(value, masked):
    assert mask_literal(value) == masked


@pytest.mark.parametrize(
    ("value", "data_type", "masked"),
    [
        (8766, "date", "<date>"),
        (1700000000000000, "timestamp", "<timestamp>"),
        (8766, "int", 8766),
        (None, "date", None),
        ("2024-01-31", "string", "<date>"),
    ],
)
def test_temporal_types_are_masked_whatever_their_value_looks_like(value, data_type, masked):
    assert mask_literal(value, data_type) == masked


@pytest.mark.parametrize(
    ("pattern", "signs"),
    [*zip(DEFAULT_RULES.volatile_texts, DEFAULT_RULES.volatile_signs, strict=True)],
)
def test_every_match_of_a_volatile_pattern_holds_one_of_its_signs(pattern, signs):
    assert all(signs)

    @budget(30)
    @given(st.from_regex(pattern))
    def holds_one(text):
        assert any(sign in text for sign in signs)

    holds_one()


PIECES = st.one_of([st.from_regex(pattern) for pattern in DEFAULT_RULES.volatile_texts])


@settings(deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=4).map("".join))
def test_a_text_is_made_stable_by_all_patterns_one_after_the_other(text):
    expected = text
    for pattern in DEFAULT_RULES.volatile_texts:
        expected = re.sub(pattern, lambda found: found.groupdict().get("keep") or "", expected)
    assert stable_text(text) == expected
