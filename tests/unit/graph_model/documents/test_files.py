"""The documents recognised in files that others wrote, and the place given for each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from graph_model.documents.files import Found, Piece, Prefix, Refusal, recognise
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind
from tests.e2e.producer_service import a_plan, an_event
from tests.work import grows_too_fast

PLAN, EVENT = json.dumps(a_plan()), json.dumps(an_event())
LIMIT = 1_000_000


def found_in(text: str, limit: int = LIMIT) -> list[Found]:
    return list(recognise(text.splitlines(keepends=True), "file", limit))


def pieces_in(text: str) -> list[tuple[DocumentKind, str, Any, str]]:
    result = found_in(text)
    assert all(isinstance(item, Piece) for item in result), result
    return [
        (item.kind, item.api_version, item.document, item.where)
        for item in result
        if isinstance(item, Piece)
    ]


def refusals_in(text: str, limit: int = LIMIT) -> list[tuple[str, str]]:
    result = found_in(text, limit)
    return [(item.where, item.reason) for item in result if isinstance(item, Refusal)]


# --- logs ----------------------------------------------------------------------------------------

LOG = f"""\
24/01/01 12:00:00 INFO SparkContext: Running Spark version 3.5.1 {{not json}}
[INFO] a line that begins like a list
ExecutionPlan (apiVersion: 1.2):
{PLAN}
24/01/01 12:00:01 INFO LoggingLineageDispatcher: ExecutionEvent (apiVersion: 1.1):
{EVENT}
24/01/01 12:00:02 INFO Shutdown
"""


def test_a_dispatcher_is_heard_inside_a_log() -> None:
    assert pieces_in(LOG) == [
        (PLAN_KIND, "1.2", a_plan(), "file:3"),
        (EVENT_KIND, "1.1", an_event(), "file:5"),
    ]


def test_json_may_follow_on_the_same_line_or_over_many() -> None:
    pretty = json.dumps(a_plan(), indent=2)
    text = (
        f"x ExecutionEvent (apiVersion: 1.0): {EVENT} and more\nExecutionPlan (apiVersion: 1.2):\n"
    )
    assert pieces_in(text + "\n" + pretty + "\nbye\n") == [
        (EVENT_KIND, "1", an_event(), "file:1"),
        (PLAN_KIND, "1.2", a_plan(), "file:2"),
    ]


def test_brackets_and_quotes_in_strings_are_text() -> None:
    plan = a_plan(name='a } "quoted\\" ] { [ \\')
    text = f"ExecutionPlan (apiVersion: 1.2):\n{json.dumps(plan, indent=1)}\n{LOG}"
    assert [piece[2] for piece in pieces_in(text)] == [plan, a_plan(), an_event()]


def test_a_log_without_a_dispatcher_holds_nothing() -> None:
    assert found_in('INFO nothing\n{"id": 1}\n[1]\n') == []


def test_a_cut_off_document_does_not_take_the_next_one_with_it() -> None:
    text = f"ExecutionPlan (apiVersion: 1.2):\n{PLAN[:-40]}\nnoise\n{LOG}"
    refused, plan, event = found_in(text)
    assert refused == Refusal("file:1", "cut off: another document begins on line 6")
    assert (plan.where, event.where) == ("file:6", "file:8")


def test_a_marker_without_json_is_refused_and_the_next_is_read() -> None:
    text = f"ExecutionPlan (apiVersion: 1.2):\nERROR boom\n{LOG}"
    assert refusals_in(text) == [("file:1", "expected JSON after this line")]
    assert len(found_in(text)) == 3


# --- messages that a log broke over several lines ------------------------------------------------

EVENT_OF_RUN = {
    "eventTime": "2026-03-01T10:00:00Z", "eventType": "COMPLETE",
    "run": {"runId": "r1", "facets": {"x": {"text": 'a "quoted" \\\\ back\\slash, {[}] \u00e9'}}},
    "job": {"namespace": "etl", "name": "curate  it"}, "inputs": [], "outputs": [],
}  # fmt: skip
TIME = "2026-03-01T10:00:00.{0:03}Z "
LOG4J = "26/03/01 10:00:{0:02} INFO ConsoleTransport: "
YARN = "[2026-03-01 10:00:{0:02}.123] "
#: The text before the first part, before each further one, and before the last.
COLLECTORS = {
    "a terminal": (LOG4J, "", ""),
    "log4j at a width": (LOG4J, LOG4J, LOG4J),
    "CloudWatch": (TIME + LOG4J, TIME, TIME),
    "CloudWatch, all of it again": (TIME + LOG4J, TIME + LOG4J, TIME + LOG4J),
    "YARN": (YARN + LOG4J, YARN, YARN),
    "containerd": (TIME + "stdout P " + LOG4J, TIME + "stdout P ", TIME + "stdout F "),
    "compose": ("spark-1  | " + LOG4J, "spark-1  | ", "spark-1  | "),
    "nothing": ("", "", ""),
}  # fmt: skip


def broken(text: str, width: int, collector: str) -> str:
    parts = [text[at : at + width] for at in range(0, len(text), width)]
    first, further, last = COLLECTORS[collector]
    prefixes = [first, *[further] * (len(parts) - 2), last][: len(parts)]
    pairs = zip(prefixes, parts, strict=True)
    return "".join(f"{p.format(number % 60)}{part}\n" for number, (p, part) in enumerate(pairs))


@pytest.mark.parametrize("collector", COLLECTORS)
@pytest.mark.parametrize("spelling", [{}, {"separators": (",", ":")}, {"ensure_ascii": False}])
def test_an_event_is_read_wherever_its_line_was_broken(
    collector: str, spelling: dict[str, Any]
) -> None:
    text = json.dumps(EVENT_OF_RUN, **spelling)
    noise = f"{LOG4J.format(59)}something else\n" * (collector != "nothing")
    for width in (*range(12, len(text)), len(text)):
        result = pieces_in(noise + broken(text, width, collector) * 2 + noise)
        assert [item[2] for item in result] == [EVENT_OF_RUN, EVENT_OF_RUN], width


@pytest.mark.parametrize("collector", sorted(COLLECTORS.keys() - {"nothing"}))
def test_an_event_is_read_where_its_own_beginning_was_broken(collector: str) -> None:
    text = json.dumps(EVENT_OF_RUN)
    first, _, last = COLLECTORS[collector]
    for at in range(2, 12):
        log = f"{first.format(1)}{text[:at]}\n{last.format(2)}{text[at:]}\n"
        assert [item[2] for item in pieces_in(log)] == [EVENT_OF_RUN], at


@pytest.mark.parametrize(
    "collector", ["a terminal", "log4j at a width", "CloudWatch", "containerd"]
)
def test_messages_that_the_agent_of_spline_logs_are_joined_alike(collector: str) -> None:
    for width in (60, 97, 400):
        text = "ExecutionPlan (apiVersion: 1.2): " + PLAN
        assert [item[2] for item in pieces_in(broken(text, width, collector))] == [a_plan()]


def test_a_record_of_another_thread_between_two_parts_is_passed_over() -> None:
    text = json.dumps(EVENT_OF_RUN)
    lines = broken(text, 100, "log4j at a width").splitlines(keepends=True)
    lines.insert(1, '26/03/01 10:00:01 WARN DAGScheduler: {"not": "ours"\n')
    assert [item[2] for item in pieces_in("".join(lines))] == [EVENT_OF_RUN]


def test_a_message_that_cannot_be_joined_is_named_with_its_lines() -> None:
    prefix = LOG4J.format(7)
    spoilt = f'{prefix}{{"eventTime": "now", "run": \n{prefix}of another message}}\n'
    refused, piece = found_in(spoilt + broken(json.dumps(EVENT_OF_RUN), 60, "log4j at a width"))
    assert isinstance(refused, Refusal)
    assert isinstance(piece, Piece)
    assert (refused.where, piece.where) == ("file:1", "file:3")
    assert refused.reason.startswith("document: expected JSON")
    assert refused.reason.endswith("(lines 1 to 2 joined)")


def test_an_event_without_an_end_does_not_take_the_next_one_with_it() -> None:
    cut = broken(json.dumps(EVENT_OF_RUN)[:-30], 60, "CloudWatch")
    refused, piece = found_in(cut + broken(json.dumps(EVENT_OF_RUN), 60, "CloudWatch"))
    number = cut.count("\n") + 1
    assert refused == Refusal("file:1", f"cut off: another document begins on line {number}")
    assert isinstance(piece, Piece)


def test_an_event_of_a_file_without_an_end_does_not_take_the_next_one_with_it() -> None:
    text = json.dumps(EVENT_OF_RUN)
    for start in ("", "a log begins\n"):
        refused, piece = found_in(f"{start}{text[:-30]}\n{text}\n")
        assert isinstance(refused, Refusal)
        assert "another document begins" in refused.reason
        assert isinstance(piece, Piece)


def test_a_broken_message_is_bounded_like_any_document() -> None:
    endless = f'{LOG4J.format(0)}{{"eventTime": "' + "x" * 100 + "\n"
    log = endless + "y" * 100 + "\n" + ("z" * 100 + "\n") * 200 + '"}\n'
    assert refusals_in(log, 2_000) == [("file:1", "the document is larger than 2,000 characters")]


@pytest.mark.parametrize(
    "line", ['{"e', '26/03/01 10:00:00 INFO A: {"eventT', "\\\\", "{" * 50, '"']
)
def test_a_log_of_beginnings_is_read_once(line: str) -> None:
    assert len(found_in(f"start\n{line}\n" * 20_000)) <= 1


def test_an_unknown_version_is_refused_by_name() -> None:
    ((where, reason),) = refusals_in(f"ExecutionPlan (apiVersion: 2.0):\n{PLAN}\n")
    assert where == "file:1"
    assert "2: expected one of 1, 1.1, 1.2" in reason


# --- JSON files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_plain_files_hold_a_plan_an_event_or_a_list(indent: int | None) -> None:
    for document in (a_plan(), an_event(), [an_event(), an_event(timestamp=1)]):
        many = document if isinstance(document, list) else [document]
        text = "\ufeff" + json.dumps(document, indent=indent) + "\n"
        assert [piece[2] for piece in pieces_in(text)] == many


def test_an_item_of_a_list_is_named_by_its_index() -> None:
    text = f"[\n{EVENT},\n[],\n{PLAN}, 7]\n"
    assert [item.where for item in found_in(text)] == [f"file:1[{n}]" for n in range(4)]
    assert [where for where, _ in refusals_in(text)] == ["file:1[1]", "file:1[3]"]


def test_lines_of_plans_and_lists_of_events_alternate() -> None:
    kinds = [piece[0] for piece in pieces_in(f"{PLAN}\n[{EVENT}]\n\n{PLAN}\n[{EVENT}]\n")]
    assert kinds == ["plan", "event", "plan", "event"]


@pytest.mark.parametrize(
    "bad",
    [
        PLAN[:-7],
        PLAN[:60],
        "no json",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"neither": 1}',
        "7",
        '{"a": "\udc80"}',
        "}",
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_the_rest_is_read(bad: str) -> None:
    text = f"{PLAN}\n{bad}\n{EVENT}\n{PLAN}\n"
    assert [where for where, _ in refusals_in(text)] == ["file:2"]
    places = [item.where for item in found_in(text) if isinstance(item, Piece)]
    assert places == ["file:1", "file:3", "file:4"]


def test_a_file_that_ends_too_early_is_refused() -> None:
    assert refusals_in(json.dumps(a_plan(), indent=2)[:-3]) == [
        ("file:1", "cut off: the file ends inside the document")
    ]


def test_a_document_beyond_the_limit_is_refused_and_the_next_is_read() -> None:
    large = json.dumps(a_plan(name="x" * 5000), indent=1)
    text = f"{large}\n{EVENT}\n"
    assert refusals_in(text, 2000) == [("file:1", "the document is larger than 2,000 characters")]
    assert len(found_in(text, 2000)) == 2


def test_nesting_without_end_is_a_refusal() -> None:
    deep = '{"operations": ' + "[" * 100_000 + "]" * 100_000 + "}"
    ((_, reason),) = refusals_in(deep)
    assert "nested less deeply" in reason


# --- exports and _LINEAGE ------------------------------------------------------------------------


def test_a_line_of_an_export_keeps_its_content() -> None:
    line = {"position": 4, "kind": "plan", "apiVersion": "1.1", "planId": "p", "scope": "s",
            "receivedAt": 5, "body": a_plan()}  # fmt: skip
    (piece,) = found_in(json.dumps(line))
    assert piece == Piece(PLAN_KIND, "1.1", a_plan(), "file:1", "s", "p", 5)


@pytest.mark.parametrize(
    "wrong", [{"kind": "x"}, {"kind": []}, {"apiVersion": "3"}, {"scope": 1}, {"receivedAt": "now"}]
)
def test_a_line_of_an_export_with_a_wrong_field_is_refused(wrong: dict[str, Any]) -> None:
    line = {"kind": "plan", "apiVersion": "1.1", "body": {}} | wrong
    assert len(refusals_in(json.dumps(line))) == 1


def test_a_lineage_file_is_a_plan_and_an_event_with_translated_references() -> None:
    internal = a_plan(
        attributes=[
            {"id": "attr-0", "name": "a", "childRefs": []},
            {"id": "attr-1", "name": "b", "childRefs": [{"id": "expr-0"}, {"id": "attr-0"}]},
        ],
        expressions={
            "constants": [],
            "functions": [
                {"id": "expr-0", "name": "f", "childRefs": [{"id": "attr-0"}],
                 "params": {"by": [{"id": "attr-0"}, {"id": "other"}]}}
            ],
        },
        extraInfo={"dataTypes": [{"id": "attr-9"}]},
    )  # fmt: skip
    text = json.dumps({"executionPlan": internal, "executionEvent": an_event()})
    plan, event = pieces_in(text)
    assert plan[1:2] + plan[3:] == ("1.2", "file:1.executionPlan")
    assert plan[2]["attributes"] == [
        {"id": "attr-0", "name": "a", "childRefs": []},
        {
            "id": "attr-1",
            "name": "b",
            "childRefs": [{"__exprId": "expr-0"}, {"__attrId": "attr-0"}],
        },
    ]
    assert plan[2]["expressions"]["functions"][0] == {
        "id": "expr-0", "name": "f", "childRefs": [{"__attrId": "attr-0"}],
        "params": {"by": [{"__attrId": "attr-0"}, {"id": "other"}]},
    }  # fmt: skip
    assert plan[2]["extraInfo"] == {"dataTypes": [{"id": "attr-9"}]}
    assert event == (EVENT_KIND, "1.2", an_event(), "file:1.executionEvent")


def test_a_lineage_file_may_lack_its_event() -> None:
    text = json.dumps({"executionPlan": a_plan(), "executionEvent": None})
    assert [piece[0] for piece in pieces_in(text)] == [PLAN_KIND]


def test_no_text_breaks_the_recognisers() -> None:
    rng = random.Random(3)
    alphabet = ['{"', "}", "[", "]", '"', "\\", "\n", " ", "a", "ExecutionPlan (apiVersion: 1.2):",
                PLAN, EVENT, ",", "\udc80", "1"]  # fmt: skip
    for _ in range(500):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 12)))
        for item in recognise(text.splitlines(keepends=True), "file", LIMIT):
            assert item.where.startswith("file:")


# --- OpenLineage ---------------------------------------------------------------------------------

RUN = {"eventTime": "2026-03-01T10:00:00Z", "run": {"runId": "r"},
       "job": {"namespace": "etl", "name": "curate"}}  # fmt: skip
DATASET = {"eventTime": "2026-03-01T10:00:00Z", "dataset": {"namespace": "etl", "name": "t"}}


def test_the_files_of_openlineage_clients_are_known_one_event_a_line() -> None:
    text = f"{json.dumps(RUN)}\n{json.dumps(DATASET)}\n"
    assert [(kind, document, where) for kind, _, document, where in pieces_in(text)] == [
        (RUN_EVENT_KIND, RUN, "file:1"),
        (RUN_EVENT_KIND, DATASET, "file:2"),  # its shape is read when it is prepared
    ]


def test_an_event_that_the_console_transport_logs_is_heard_in_the_log() -> None:
    text = (
        "26/03/01 10:00:00 INFO SparkContext: Running {not json}\n"
        f"26/03/01 10:00:01 INFO ConsoleTransport: {json.dumps(RUN)}\n"
        f"INFO:openlineage.client.transport.console:{json.dumps(DATASET)}\nbye\n"
    )
    assert [document for _, _, document, _ in pieces_in(text)] == [RUN, DATASET]


@pytest.mark.parametrize(
    "unit",
    ["{}", "{},", "{} ", "[{}],", "1,", '{"eventTime":1} ', "ExecutionPlan (apiVersion: 1.2): {}"],
)
@pytest.mark.parametrize("before", ["", "INFO "])
def test_the_work_for_a_line_grows_with_its_documents(before: str, unit: str) -> None:
    """The rest of the line was copied, and searched for a marker, for each of them."""

    def call(size: int) -> Callable[[], object]:
        line = before + unit * size
        return lambda: list(recognise([line], "f", len(line)))

    assert not grows_too_fast(call, 100, 3.0)


@pytest.mark.parametrize(("line", "message"), [("12:34:57 b", "b"), ("12:34:5 b", "12:34:5 b")])
def test_the_first_words_of_a_prefix_are_left_out_where_they_tell_a_time(
    line: str, message: str
) -> None:
    start = f"{line[:-1]}logger: "
    assert Prefix.before(f"{start}{{", len(start)).continued(line) == message
