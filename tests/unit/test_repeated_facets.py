"""Facets that came before are not read again, and the event is what reading all of it gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import compact_json, parse_json
from api.errors import InvalidRequest
from api.openlineage import prepare_events, recognise_event
from api.repeated_facets import RepeatedFacets
from graph_model.errors import InvalidDocument
from graph_model.openlineage import RECENT, RepeatedFacet, read_event
from graph_model.store import Submission

_URL = "https://example.org/producer"
_SCHEMA = {"_producer": _URL, "_schemaURL": _URL, "fields": [{"name": "id", "type": "bigint"}]}
_SQL = {"_producer": _URL, "_schemaURL": _URL, "query": "INSERT INTO a SELECT \u00e9 FROM b"}


def an_event(run: str = "run-1", **facets: Any) -> dict[str, Any]:
    dataset = {"namespace": "s3://lake", "name": "out", "facets": {"schema": _SCHEMA}}
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T10:00:00Z",
        "run": {"runId": run},
        "job": {"namespace": "etl", "name": "load", "facets": {"sql": _SQL, **facets}},
        "inputs": [{**dataset, "name": "in"}],
        "outputs": [{**dataset, "outputFacets": {"kept": _SCHEMA}}],
    }


def text_of(event: Any, **spelling: Any) -> bytes:
    return json.dumps(
        event, **{"separators": (",", ":"), "ensure_ascii": False, **spelling}
    ).encode("utf-8", "surrogatepass")


def read_whole(text: bytes) -> Submission:
    (submission,) = prepare_events(parse_json(text), "")
    return submission


def assert_the_same(text: bytes) -> None:
    """Twice: what is new is read, what was kept is found."""
    for _ in range(2):
        sooner = recognise_event(text)
        if sooner is None:
            continue
        assert sooner == (read_whole(text),)
        kept = RECENT.read(sooner[0].content_hash, sooner[0].body)
        assert kept == read_event(sooner[0].body)


@pytest.mark.parametrize(
    "spelling",
    [{}, {"separators": None}, {"indent": 2}, {"sort_keys": True}, {"ensure_ascii": True}],
    ids=["compact", "with blanks", "with lines", "sorted", "escaped"],
)
def test_an_event_in_any_spelling_is_taken_by_its_facets(spelling: dict[str, Any]) -> None:
    text = text_of(an_event(), **spelling)
    assert recognise_event(text) == (read_whole(text),)
    assert_the_same(text)


def test_what_another_run_repeats_is_the_same_object() -> None:
    facets = RepeatedFacets()
    one, other = (facets.take(text_of(an_event(run))) for run in ("a", "b"))
    assert one is not None
    assert other is not None
    assert one.event["job"]["facets"]["sql"] is other.event["job"]["facets"]["sql"]
    read = [read_event(taken.event) for taken in (one, other)]
    assert read[0].job.facets["sql"] is read[1].job.facets["sql"]
    assert read[0].digest != read[1].digest


def test_one_text_under_two_names_is_read_as_each() -> None:
    text = text_of(an_event(schema=_SCHEMA))
    event = RECENT.read(recognise_event(text)[0].content_hash, b"")
    assert event.outputs[0].facets["schema"].value[0].name == "id"
    assert event.outputs[0].usage["kept"].value is None
    assert event.job.facets["schema"].value is None


def test_a_facet_with_a_secret_is_masked_each_time_and_not_kept() -> None:
    facets = RepeatedFacets()
    settings = {"properties": {"spark.password": "geheim", "url": "https://me:geheim@host/"}}
    taken = [facets.take(text_of(an_event(spark=settings))) for _ in range(2)]
    bodies = {one.body for one in taken if one is not None}
    assert bodies == {read_whole(text_of(an_event(spark=settings))).body}
    assert b"geheim" not in b"".join(bodies)
    seen = [one.event["job"]["facets"]["spark"] for one in taken if one is not None]
    assert seen[0] is not seen[1]


def test_only_so_many_bytes_are_kept() -> None:
    facets = RepeatedFacets(most_bytes=1)
    one, other = (facets.take(text_of(an_event())) for _ in range(2))
    assert one is not None
    assert other is not None
    assert one.event["job"]["facets"]["sql"] is not other.event["job"]["facets"]["sql"]
    assert one.body == other.body


def test_a_text_of_blanks_counts_with_all_of_them() -> None:
    """What such a facet says is little, what is kept to find it again is not."""
    facets = RepeatedFacets(most_bytes=100_000)
    wide = text_of(an_event(wide={"n": 1})).replace(b'{"n":1}', b'{"n":' + b" " * 150_000 + b"1}")
    one, other = (facets.take(wide) for _ in range(2))
    assert one is not None
    assert other is not None
    assert one.event["job"]["facets"]["wide"] is not other.event["job"]["facets"]["wide"]


def nested(levels: int, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    inside: Any = "[{"  # brackets in a text are none
    for _ in range(levels):
        inside = [inside] if kind is list else {"in": inside}
    return inside


@pytest.mark.parametrize("kind", [list, dict])
def test_a_facet_that_is_too_deep_is_left_to_who_reads_the_whole(kind: type[Any]) -> None:
    deep, wide = nested(100, kind), [nested(1, kind)] * 300
    assert RepeatedFacets().take(text_of(an_event(custom={"said": nested(99, kind)}))) is not None
    assert RepeatedFacets().take(text_of(an_event(custom={"said": deep}))) is None
    assert RepeatedFacets().take(text_of(an_event(custom={"said": wide}))) is not None


def test_a_facet_remembers_a_few_of_its_names() -> None:
    facet = RepeatedFacet(_SQL, text_of(_SQL), len(text_of(_SQL)))
    read = [facet.read("job", f"name {number}", "job.facets") for number in range(20)]
    assert [one.name for one in read] == [f"name {number}" for number in range(20)]
    assert facet.read("job", "name 0", "job.facets") is read[0]
    assert facet.read("job", "name 19", "job.facets") is not read[19]


_LONG = '"text":"' + "x" * 80 + '"'


@pytest.mark.parametrize(
    "facet",
    [
        '{"a":1,"a":2,%s}',
        '{"a":NaN,%s}',
        '{"a":1e400,%s}',
        '{"a":01,%s}',
        '{"a":"\\ud800",%s}',
        '{"a":"\ufeff",%s}',
        '{"a":1.0,"b":1e5,"c":-0,"d":123456789012345678901234567890,%s}',
        '{"\\u0061":1,"a":2,%s}',
        '{"_deleted":true,%s}',
        '{"_deleted":7,%s}',
        '{"a":' + "[" * 300 + "]" * 300 + ",%s}",
        '{"a":' + "[" * 150 + "]" * 150 + ",%s}",
        '{"a":' + "[" * 99_000 + "]" * 99_000 + ",%s}",
        '{"a":1,%s',
        '{"a":1,%s}}',
        '["a",{%s}]',
        '{"fields":[{"name":7}],%s}',
    ],
)
@pytest.mark.parametrize("name", ["sql", "jobType", "schema", "headwater_declaration", "n" * 300])
def test_what_is_wrong_in_a_facet_is_told_as_if_the_whole_were_read(facet: str, name: str) -> None:
    event = text_of(an_event(**{name: "HERE"})).decode()
    text = event.replace('"HERE"', facet % _LONG).encode("utf-8", "surrogatepass")
    sooner = recognise_event(text)
    try:
        assert sooner in (None, (read_whole(text),))
    except (InvalidRequest, InvalidDocument, RecursionError):
        assert sooner is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xef\xbb\xbf" + text_of(an_event()),
        b"[]",
        b"7",
        text_of([an_event()]),
        text_of({**an_event(), "run": []}),
        text_of({**an_event(), "inputs": {}}),
        text_of({**an_event(), "job": None}),
        text_of({**an_event(), "eventTime": "yesterday"}),
        text_of(an_event()).replace(b'"runId"', b'"runId":"x","runId"'),
        text_of(an_event()).replace(b'"job":', b'"job":{"facets":{"sql":{}}},"job":'),
        text_of(an_event()).replace(b'"sql":', b'"sql":' + text_of(_SQL) + b',"sql":'),
        text_of(an_event())[:-1],
        text_of(an_event()) + b"}",
        text_of(an_event()).replace(b"SELECT", b"SELECT \xff"),
    ],
)
def test_what_is_wrong_around_facets_is_left_to_who_reads_the_whole(text: bytes) -> None:
    sooner = recognise_event(text)
    try:
        assert sooner in (None, (read_whole(text),))
    except (InvalidRequest, InvalidDocument):
        assert sooner is None


_RUN = {"eventTime": "2026-03-01T10:00:00Z", "run": {"runId": "r", "facets": {"a": _SQL}}}
_JOB = {"namespace": "n", "name": "j"}
_OUT_OF_ORDER = {**_JOB, "outputFacets": {"o": _SQL}, "facets": {"a": _SCHEMA}}
_WIDE = {**_JOB, "name": "j" * 60}


@pytest.mark.parametrize(
    "event",
    [
        {"inputs": [_WIDE], **_RUN, "run": {"runId": "r", "facets": {"a": _WIDE}}, "job": _JOB},
        {"job": _WIDE, **_RUN, "run": {"runId": "r", "facets": {"a": _WIDE}}},
        {**_RUN, "run": {"runId": "r", "inputFacets": _SQL, "facets": {"a": _SQL}}, "job": _JOB},
        {"job": _OUT_OF_ORDER, **_RUN, "run": {"runId": "r", "outputFacets": "x"}},
        {"job": _OUT_OF_ORDER, **_RUN, "run": {"runId": "r"}, "dataset": "d"},
        {"job": _OUT_OF_ORDER, **_RUN, "run": {"runId": "r", "facets": [1]}},
        {"job": _OUT_OF_ORDER, **_RUN, "run": "r"},
        {"job": _OUT_OF_ORDER, **_RUN, "inputs": ["a"]},
        {"job": _OUT_OF_ORDER, **_RUN, "inputs": 5},
    ],
)
def test_whatever_stands_where_a_facet_could_be_is_read_as_the_whole(event: Any) -> None:
    """The text of a facet may be an entity elsewhere; behind facets out of order nobody looks."""
    text = text_of(event)
    sooner = recognise_event(text)
    try:
        assert sooner in (None, (read_whole(text),))
    except InvalidDocument:
        assert sooner is None


def test_the_text_of_a_facet_in_front_of_it_is_no_facet() -> None:
    """What is cut out may stand somewhere else before: then all of it is read."""
    event = {"note": _SQL, "job": {"note": [_SQL]}, **an_event()}
    event["job"] = {"copy": {"key": _SQL, "name": "password", "value": "geheim"}, **event["job"]}
    assert_the_same(text_of(event))
    assert b"geheim" not in read_whole(text_of(event)).body


_KEYS = st.sampled_from(
    ["name", "value", "key", "password", "fields", "query", "_deleted", "_producer", "é", "url"]
)
_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
_TEXTS = st.sampled_from(["", "x", "a" * 60, "https://me:pw@h/", "--password", "p=1", "\\", '"{'])
_VALUES = st.recursive(
    _SCALARS | _TEXTS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)
_NAMES = _KEYS | st.sampled_from(["schema", "sql", "parent", "columnLineage", "outputStatistics"])
_FACETS = st.dictionaries(_NAMES, st.dictionaries(_KEYS, _VALUES, max_size=5), max_size=4)
_ENTITIES = st.fixed_dictionaries(
    {"namespace": st.just("s3://lake"), "name": st.sampled_from(["a", "b"])},
    optional={
        "facets": _FACETS | _VALUES,
        "inputFacets": _FACETS,
        "outputFacets": _FACETS,
        "more": _VALUES,
    },
)
_EVENTS = st.fixed_dictionaries(
    {
        "eventTime": st.just("2026-03-01T10:00:00Z"),
        "job": _ENTITIES,
    },
    optional={
        "run": st.fixed_dictionaries({"runId": st.just("r"), "facets": _FACETS}),
        "dataset": _ENTITIES,
        "inputs": st.lists(_ENTITIES, max_size=3),
        "outputs": st.lists(_ENTITIES, max_size=3) | _VALUES,
        "more": _VALUES,
        "schemaURL": _TEXTS,
    },
)


@given(_EVENTS, st.sampled_from([(",", ":"), (", ", ": ")]), st.booleans(), st.booleans())
def test_any_event_is_read_as_if_it_were_read_whole(
    event: dict[str, Any], separators: tuple[str, str], escaped: bool, ordered: bool
) -> None:
    text = text_of(event, separators=separators, ensure_ascii=escaped, sort_keys=ordered)
    try:
        assert_the_same(text)
    except (InvalidRequest, InvalidDocument):
        assert recognise_event(text) is None


@given(st.integers(0, 2_000), st.integers(0, 255))
def test_a_changed_byte_gives_what_reading_the_whole_gives(place: int, value: int) -> None:
    text = bytearray(text_of(an_event()))
    text[place % len(text)] = value
    sooner = recognise_event(bytes(text))
    try:
        assert sooner in (None, (read_whole(bytes(text)),))
    except (InvalidRequest, InvalidDocument):
        assert sooner is None


def test_what_stands_in_for_a_facet_is_in_no_body() -> None:
    taken = RepeatedFacets().take(text_of(an_event()))
    assert taken is not None
    assert taken.body == compact_json(an_event())
