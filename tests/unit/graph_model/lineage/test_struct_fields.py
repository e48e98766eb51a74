"""A field of a written struct has the sources of its member, across jobs and in both directions.

customers -> pack (struct(name, email) AS person) -> people -> keep -> kept -> readers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.answers.impact.changes import ChangeKind
from graph_model.answers.impact.check import ImpactCheck
from graph_model.answers.impact.report import Scope
from graph_model.facts import ColumnRow, DatasetRow
from graph_model.lineage import Answer, Question
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND, Reference
from graph_model.stores.graph import Direction
from tests import impact_lake as lake
from tests.builders import PlanBuilder, Step
from tests.projections import SmallHeadwater, small_headwater, submission

CUSTOMERS = ("id: int", "name: string", "email: string", "active: boolean")
EVERYTHING = Scope(depth=50, indirect=True, limit=1_000)


# --- jobs ----------------------------------------------------------------------------------------


def person_type(plan: PlanBuilder) -> str:
    return plan.struct_type(name="string", email="string")


def table(name: str) -> str:
    return f"s3://lake/{name}"


def made(plan: PlanBuilder, below: Step, *columns: tuple[str, Reference]) -> Step:
    """A projection to ``("person: struct<…>", value)``."""
    output = [
        plan.column(text, plan.alias(value, text.partition(":")[0])) for text, value in columns
    ]
    return plan.operation("Project", below, output=output)


def struct_of(plan: PlanBuilder, **members: Reference) -> Reference:
    named = [item for name, value in members.items() for item in (plan.literal(name), value)]
    return plan.call("struct", *named, of="CreateNamedStruct")


def field(plan: PlanBuilder, struct: Reference, name: str, of: str = "GetStructField") -> Reference:
    return plan.call(name, struct, of=of, params={"name": name})


def pack(target: str = "people", *, typed: bool = True) -> dict[str, Any]:
    plan = PlanBuilder()
    rows = plan.read(table("customers"), *CUSTOMERS)
    person = struct_of(plan, name=rows["name"], email=rows["email"])
    kind = f": {person_type(plan)}" if typed else ""
    plan.write(made(plan, rows, ("id", rows["id"]), (f"person{kind}", person)), table(target))
    return lake.named(plan, f"pack {target}")


def read_people(plan: PlanBuilder, source: str) -> Step:
    return plan.read(table(source), "id: int", f"person: {person_type(plan)}")


def keep(source: str = "people", target: str = "kept") -> dict[str, Any]:
    plan = PlanBuilder()
    plan.write(read_people(plan, source), table(target))
    return lake.named(plan, f"keep {target}")


def pick(name: str, source: str = "kept") -> dict[str, Any]:
    """Reads one field into a column of a table of its own."""
    plan = PlanBuilder()
    rows = read_people(plan, source)
    target = f"{source}_{name}"
    picked = field(plan, rows["person"], name)
    plan.write(made(plan, rows, (f"{name}: string", picked)), table(target))
    return lake.named(plan, target)


def as_text(source: str = "kept") -> dict[str, Any]:
    """Reads the whole struct."""
    plan = PlanBuilder()
    rows = read_people(plan, source)
    text = plan.call("to_json", rows["person"], of="StructsToJson")
    plan.write(made(plan, rows, ("text: string", text)), table(f"{source}_text"))
    return lake.named(plan, f"{source}_text")


# --- questions -----------------------------------------------------------------------------------


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    result = small_headwater()
    yield result
    result.close()


def column(name: str) -> str:
    """``people.person.name`` => the id of that column."""
    dataset, _, path = name.partition(".")
    return identity.column_id(identity.dataset_id("", table(dataset)), path)


def ask(
    headwater: SmallHeadwater,
    name: str,
    direction: Direction,
    depth: int = 20,
    at: int | None = None,
) -> Answer:
    question = Question("", direction=direction, depth=depth, at=at, limit=500, indirect=True)
    return headwater.sources.lineage.ask_columns((column(name),), question)


def names_in(headwater: SmallHeadwater, answer: Answer) -> set[str]:
    tables = {
        row.id: row.uri.rpartition("/")[2]
        for row in headwater.catalogue.datasets({node.dataset for node in answer.columns})
    }
    return {
        f"{tables[node.dataset]}.{node.path}"
        for node in answer.columns
        if node.id not in answer.via
    }


def upstream(headwater: SmallHeadwater, name: str, **asked: Any) -> set[str]:
    return names_in(headwater, ask(headwater, name, Direction.UPSTREAM, **asked)) - {name}


def downstream(headwater: SmallHeadwater, name: str, **asked: Any) -> set[str]:
    return names_in(headwater, ask(headwater, name, Direction.DOWNSTREAM, **asked)) - {name}


def known_columns(headwater: SmallHeadwater) -> list[str]:
    rows = list(headwater.catalogue.scan())
    tables = {row.id: row.uri.rpartition("/")[2] for row in rows if isinstance(row, DatasetRow)}
    return sorted(f"{tables[row.dataset]}.{row.path}" for row in rows if isinstance(row, ColumnRow))


def check_mirror(headwater: SmallHeadwater, depths: Sequence[int] = (1, 2, 3, 20)) -> None:
    """x in downstream(y) exactly when y in upstream(x)."""
    names = known_columns(headwater)
    for depth in depths:
        above = {name: upstream(headwater, name, depth=depth) for name in names}
        below = {name: downstream(headwater, name, depth=depth) for name in names}
        for x, y in product(names, names):
            assert (x in below[y]) == (y in above[x]), (depth, x, y)


def broken_by(headwater: SmallHeadwater, name: str) -> set[str]:
    """The columns that break when this one is dropped."""
    report = ImpactCheck(headwater.sources).of_column(
        column(name), ChangeKind.COLUMN_DROPPED, EVERYTHING
    )
    assert {item.verdict for item in report.items} <= {"breaks"}
    return {
        f"{str(item.uri).rpartition('/')[2]}.{item.label}"
        for item in report.items
        if item.kind == labels.COLUMN
    }


# --- a struct that another job reads -------------------------------------------------------------


@pytest.fixture
def read_by_field(headwater: SmallHeadwater) -> SmallHeadwater:
    readers = [pick("name", "people"), pick("email", "people"), as_text("people")]
    lake.fill(headwater, [pack(), *readers])
    return headwater


def test_a_field_has_the_sources_of_its_member(read_by_field: SmallHeadwater) -> None:
    assert upstream(read_by_field, "people_name.name") == {"people.person.name", "customers.name"}
    assert upstream(read_by_field, "people_email.email") == {
        "people.person.email", "customers.email",
    }  # fmt: skip


def test_the_struct_itself_has_all_sources(read_by_field: SmallHeadwater) -> None:
    assert upstream(read_by_field, "people.person") == {"customers.name", "customers.email"}
    assert upstream(read_by_field, "people_text.text") == {
        "people.person", "customers.name", "customers.email",
    }  # fmt: skip


def test_results_of_a_member_are_those_of_its_field_and_of_the_struct(
    read_by_field: SmallHeadwater,
) -> None:
    assert downstream(read_by_field, "customers.email") == {
        "people.person", "people.person.email", "people_email.email", "people_text.text",
    }  # fmt: skip
    check_mirror(read_by_field)


def test_a_dropped_member_breaks_readers_of_its_field_and_of_the_struct(
    read_by_field: SmallHeadwater,
) -> None:
    assert broken_by(read_by_field, "customers.email") == {
        "people.person", "people.person.email", "people_email.email", "people_text.text",
    }  # fmt: skip
    assert broken_by(read_by_field, "people.person") == {
        "people_name.name", "people_email.email", "people_text.text",
    }  # fmt: skip


def test_a_table_view_links_a_field_with_its_member(read_by_field: SmallHeadwater) -> None:
    node = identity.dataset_id("", table("people"))
    question = Question(node, direction=Direction.UPSTREAM, columns=True, limit=500)
    answer = read_by_field.sources.lineage.ask(question)
    into = {
        edge.source for edge in answer.column_edges if edge.target == column("people.person.name")
    }
    assert into == {column("customers.name")}


def test_a_struct_without_declared_fields_counts_as_a_whole(headwater: SmallHeadwater) -> None:
    lake.fill(headwater, [pack(typed=False), pick("name", "people")])
    assert upstream(headwater, "people_name.name") == {
        "people.person.name", "customers.name", "customers.email",
    }  # fmt: skip
    check_mirror(headwater)


# --- a struct that is copied ---------------------------------------------------------------------


@pytest.fixture
def copied(headwater: SmallHeadwater) -> SmallHeadwater:
    readers = [pick("name"), pick("email"), as_text()]
    lake.fill(headwater, [pack(), keep(), keep("kept", "kept2"), *readers, pick("name", "kept2")])
    return headwater


def test_a_field_of_a_copy_is_that_field_of_the_source(copied: SmallHeadwater) -> None:
    """No job reads a field of ``people``: the struct stands for it."""
    assert upstream(copied, "kept_email.email") == {
        "kept.person.email", "people.person", "customers.email",
    }  # fmt: skip
    assert upstream(copied, "kept2_name.name") == {
        "kept2.person.name", "kept.person.name", "people.person", "customers.name",
    }  # fmt: skip


def test_both_directions_agree_through_copies(copied: SmallHeadwater) -> None:
    assert downstream(copied, "customers.email") == {
        "people.person", "kept.person", "kept.person.email", "kept_email.email", "kept_text.text",
        "kept2.person",
    }  # fmt: skip
    assert downstream(copied, "people.person") >= {"kept_name.name", "kept_text.text"}
    assert downstream(copied, "kept.person.name") == {
        "kept_name.name", "kept2.person.name", "kept2_name.name",
    }  # fmt: skip
    check_mirror(copied)


def test_a_member_breaks_no_other_field_of_a_copy(copied: SmallHeadwater) -> None:
    broken = broken_by(copied, "customers.email")
    assert {"kept_email.email", "kept_text.text"} <= broken
    assert not {"kept_name.name", "kept2_name.name", "kept.person.name"} & broken


def test_a_field_that_a_job_reads_stands_for_itself(headwater: SmallHeadwater) -> None:
    lake.fill(headwater, [pack(), keep(), pick("name"), pick("name", "people")])
    assert upstream(headwater, "kept_name.name") == {
        "kept.person.name", "people.person.name", "customers.name",
    }  # fmt: skip
    check_mirror(headwater)


def test_the_version_that_was_read_decides(headwater: SmallHeadwater) -> None:
    """The former ``people`` had one source for both members."""
    plan = PlanBuilder()
    rows = plan.read(table("old"), "label: string")
    person = struct_of(plan, name=rows["label"], email=rows["label"])
    plan.write(made(plan, rows, (f"person: {person_type(plan)}", person)), table("people"))
    former, packed, reader = lake.named(plan, "former"), pack(), pick("name", "people")
    for body in (former, packed, reader):
        headwater.accept(submission(PLAN_KIND, body))
    for body, minute in ((former, 0), (reader, 1), (packed, 2), (reader, 3)):
        headwater.accept(submission(EVENT_KIND, lake.run_of(body, minute)))
    headwater.project()
    then = lake.START + lake.MINUTE
    assert upstream(headwater, "people_name.name", at=then) == {"people.person.name", "old.label"}
    assert upstream(headwater, "people_name.name") == {"people.person.name", "customers.name"}


def test_any_order_of_documents_gives_the_same_projection(copied: SmallHeadwater) -> None:
    other = small_headwater()
    bodies: Sequence[dict[str, Any]] = [
        pack(), keep(), keep("kept", "kept2"), pick("name"), pick("email"), as_text(),
        pick("name", "kept2"),
    ]  # fmt: skip
    try:
        for minute, body in reversed(list(enumerate(bodies))):
            other.accept(submission(EVENT_KIND, lake.run_of(body, minute)))
            other.project()
            other.accept(submission(PLAN_KIND, body))
            other.project()
        assert other.elements() == copied.elements()
    finally:
        other.close()


# --- any estate ----------------------------------------------------------------------------------

LEAVES = ("x.a", "x.b.c", "x.b.d")
Sources = dict[str, frozenset[str]]
"""Per leaf of a table's struct the columns of the first table behind it."""


@dataclass(frozen=True)
class Job:
    """Writes a table from one before it; ``leaves``: the source of each leaf, by ``kind``."""

    kind: str
    source: int
    leaves: tuple[str, str, str] = LEAVES


def jobs() -> st.SearchStrategy[list[Job]]:
    pack = st.tuples(*[st.sampled_from("pqr")] * 3).map(lambda leaves: Job("pack", 0, leaves))
    other = st.builds(
        Job,
        st.sampled_from(["copy", "copy", "make", "move", "opaque", "pick", "pick"]),
        st.integers(1, 8),
        st.tuples(*[st.sampled_from(LEAVES)] * 3),
    )
    return st.tuples(pack, st.lists(other, min_size=2, max_size=7)).map(
        lambda found: [found[0], *found[1]]
    )


class Estate:
    """The documents of these jobs, and the sources that each of their columns truly has."""

    def __init__(self, listed: Sequence[Job]) -> None:
        self.documents: list[dict[str, Any]] = []
        self.structs: list[tuple[str, Sources]] = []
        self.picked: dict[str, frozenset[str]] = {}
        for number, job in enumerate(listed):
            self._add(f"t{number}", job)

    def sources(self, name: str) -> frozenset[str]:
        """Those of a column, as ``t2.x.b``."""
        if name in self.picked:
            return self.picked[name]
        called, _, path = name.partition(".")
        leaves = dict(self.structs)[called]
        inside = (leaves[leaf] for leaf in LEAVES if f"{leaf}.".startswith(f"{path}."))
        return frozenset[str]().union(*inside)

    def _add(self, target: str, job: Job) -> None:
        plan = PlanBuilder()
        inner = plan.struct_type(c="int", d="int")
        kind = plan.struct_type(a="int", b=inner)
        if job.kind == "pack":
            rows = plan.read(table("t"), "p: int", "q: int", "r: int")
            leaves = [rows[name] for name in job.leaves]
            known = {leaf: frozenset({n}) for leaf, n in zip(LEAVES, job.leaves, strict=True)}
        else:
            source, before = self.structs[job.source % len(self.structs)]
            rows = plan.read(table(source), f"x: {kind}")
            leaves = [self._leaf(plan, rows["x"], leaf) for leaf in job.leaves]
            known = {leaf: before[n] for leaf, n in zip(LEAVES, job.leaves, strict=True)}
        match job.kind:
            case "copy":
                value, known = rows["x"], before
            case "opaque":
                value = plan.call("other", rows["x"], of="ScalaUDF")
                known = dict.fromkeys(LEAVES, frozenset[str]().union(*before.values()))
            case "move":
                value = struct_of(plan, a=leaves[0], b=field(plan, rows["x"], "b"))
                known = {**before, "x.a": known["x.a"]}
            case _:
                value = struct_of(plan, a=leaves[0], b=struct_of(plan, c=leaves[1], d=leaves[2]))
        if job.kind == "pick":
            self.picked[f"{target}.y"] = known["x.a"]
            plan.write(made(plan, rows, ("y: int", leaves[0])), table(target))
        else:
            self.structs.append((target, known))
            plan.write(made(plan, rows, (f"x: {kind}", value)), table(target))
        self.documents.append(lake.named(plan, target))

    @staticmethod
    def _leaf(plan: PlanBuilder, struct: Reference, leaf: str) -> Reference:
        for name in leaf.split(".")[1:]:
            struct = field(plan, struct, name)
        return struct


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(jobs())
def test_columns_have_their_true_sources_in_any_estate(listed: list[Job]) -> None:
    estate = Estate(listed)
    headwater = small_headwater()
    try:
        lake.fill(headwater, estate.documents)
        for name in known_columns(headwater):
            if not name.startswith("t."):
                result = {item for item in upstream(headwater, name) if item.startswith("t.")}
                assert result == {f"t.{source}" for source in estate.sources(name)}, name
        check_mirror(headwater, (1, 20))
    finally:
        headwater.close()
