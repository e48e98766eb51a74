"""Regular expressions of users run in linear time, and one that RE2 refuses is refused by name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import InvalidDocument
from graph_model.naming.rules import DEFAULT_RULES
from graph_model.regular_expressions import (
    LONGEST_MATCHED,
    check_expression,
    check_template,
    escape_text,
    expand_groups,
    expression_test,
    match_whole,
)
from tests.work import count_calls

DEFAULTS = (
    *(one.pattern for one in DEFAULT_RULES.part_files),
    *(one.pattern for one in DEFAULT_RULES.job_patterns),
    *(pattern for _, pattern, _ in DEFAULT_RULES.jdbc_host_patterns),
)


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "(?=a)a", "(?<!x)a", "a++", "(", "x{2000}", "\ud800"]
)
def test_a_pattern_that_re2_cannot_run_is_refused_naming_the_field(pattern: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        check_expression(pattern, "jobPatterns[3].pattern")
    assert refused.value.path == "jobPatterns[3].pattern"


def test_the_refusal_carries_the_message_of_re2() -> None:
    with pytest.raises(InvalidDocument, match=r"invalid perl operator: \(\?="):
        check_expression("(?=a)a", "pattern")


@pytest.mark.parametrize("pattern", ["(a+)+", "(a|a)*b", "a?" * 30 + "a" * 30, "(?:a|b|ab){9}x"])
def test_a_pattern_that_makes_other_engines_backtrack_is_run_in_linear_time(pattern: str) -> None:
    check_expression(pattern, "pattern")
    assert match_whole(pattern, "a" * (LONGEST_MATCHED - 1) + "!") is None
    assert not expression_test(pattern + "$", whole=False)("a" * 200_000 + "!")


@pytest.mark.parametrize("pattern", DEFAULTS)
def test_the_default_patterns_match_the_texts_that_python_matches(pattern: str) -> None:
    python = re.compile(pattern, re.DOTALL)

    @given(st.from_regex(python, fullmatch=True) | st.from_regex(python) | st.text(max_size=20))
    def same(text: str) -> None:
        if len(text) > LONGEST_MATCHED or not text.isascii():
            return
        found, expected = match_whole(pattern, text), python.fullmatch(text)
        assert (found is None) == (expected is None)
        for name, value in (expected.groupdict() if expected else {}).items():
            assert found is not None
            assert found[name] == value

    same()


def test_a_pattern_is_compiled_once_for_many_texts() -> None:
    def match() -> object:
        return match_whole("compiled-[0-9]+", "compiled-1")

    first = count_calls(match)
    assert count_calls(match) < first / 2


def test_a_text_that_is_too_long_or_no_utf_8_fits_nothing() -> None:
    assert match_whole("a*", "a" * LONGEST_MATCHED)
    assert match_whole("a*", "a" * (LONGEST_MATCHED + 1)) is None
    assert match_whole(".*", "\ud800") is None
    assert not expression_test(".*", whole=True)("\ud800")


def test_a_template_takes_groups_and_keeps_every_other_character() -> None:
    found = match_whole(r"(?P<job>.+)-(?P<run>[0-9]+)?", "Übung-")
    assert found is not None
    assert expand_groups(r"é \g<job>\g<run>", found) == "é Übung"


@pytest.mark.parametrize("template", [r"\g<y>", r"\1", "a\\"])
def test_a_template_with_another_group_or_escape_is_refused(template: str) -> None:
    check_template(r"\g<x>", "(?P<x>a)", "name")
    with pytest.raises(InvalidDocument) as refused:
        check_template(template, "(?P<x>a)", "name")
    assert refused.value.path == "name"


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_an_escaped_text_fits_itself(text: str) -> None:
    assert expression_test(escape_text(text), whole=True)(text)
