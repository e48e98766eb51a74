"""Executions that tell of one write become one write: pure, on rows that the catalogue selected.

A CREATE TABLE AS SELECT reports the inner insert and the command around it; two producers in one
application (the stock agent and the listener) report everything twice. Reads that differ are two
writes, unless one of the two says that it does not know all of its own. The rule looks at all
completed writes of one output by one application, so it gives the same whatever page, window or
time somebody looks through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from graph_model import labels, naming
from graph_model.store import SuccessfulWrite

#: Two tellings of one write lie this close together (milliseconds).
MERGE_WINDOW_MS: Final = 10_000
#: A merged write may be this much earlier than one of its executions: CTAS, then two producers.
REACH_MS: Final = 2 * MERGE_WINDOW_MS
#: The commands around an insert, which both tell of: CREATE TABLE AS SELECT above all.
CTAS_COMMANDS: Final = (
    "CreateDataSourceTableAsSelectCommand",
    "CreateHiveTableAsSelectCommand",
    "InsertIntoDataSourceDirCommand",  # INSERT OVERWRITE DIRECTORY
    "InsertIntoHiveDirCommand",
)
_INSERT: Final = "InsertInto"
_WITHOUT_EXPRESSIONS: Final = "openlineage-"

#: The part of a table that has these partition values; the empty one is the whole.
Part = frozenset[tuple[str, str | None]]
WHOLE: Final[Part] = frozenset()
_EVERYWHERE: Final = (WHOLE,)


class Write(NamedTuple):
    """One write of a dataset, told by one execution or by several.

    ``id`` and ``at`` are those of the earliest by (at, id). ``logical_plan`` and ``job`` are of
    the one that tells all that was read, then with fewest gaps, then with expressions. ``parts``
    is what it may have touched, ``closes`` what it replaced.
    """

    id: str
    at: int
    target: str
    logical_plan: str
    job: str
    parts: tuple[Part, ...]
    closes: tuple[Part, ...]
    executions: tuple[str, ...]

    @property
    def order(self) -> tuple[int, str]:
        """Writes are ordered by time, then by id."""
        return self.at, self.id


@dataclass(frozen=True, slots=True)
class Details:
    """What stands beside the rows: partition texts written per execution; per logical plan how
    many gaps its columns have and the names of its partition keys; ``incomplete`` are those that
    say themselves that they read more than they know.
    """

    partitions: Mapping[str, Collection[str]]
    gaps: Mapping[str, int]
    keys: Mapping[str, frozenset[str]]
    incomplete: frozenset[str] = frozenset()


NO_DETAILS: Final = Details({}, {}, {})


def merge_writes(rows: Iterable[SuccessfulWrite], details: Details = NO_DETAILS) -> list[Write]:
    """The writes that these completed executions tell of, by (at, id).

    Of an application and output that may tell twice, ``rows`` must hold all.
    """
    groups = group_executions(rows, details.incomplete)
    writes = [_write(group, details) for group in groups]
    return sorted(writes, key=lambda write: write.order)


def repeated_executions(
    rows: Iterable[SuccessfulWrite], incomplete: frozenset[str] = frozenset()
) -> tuple[SuccessfulWrite, ...]:
    """The executions that only repeat what an earlier one of their write has told."""
    groups = group_executions(rows, incomplete)
    return tuple(row for group in groups for row in group[1:])


def group_executions(
    rows: Iterable[SuccessfulWrite], incomplete: frozenset[str] = frozenset()
) -> list[tuple[SuccessfulWrite, ...]]:
    """The executions of each write, by (at, id); ``incomplete``: see ``Details``."""
    applications: defaultdict[tuple[str, str], list[SuccessfulWrite]] = defaultdict(list)
    groups: list[tuple[SuccessfulWrite, ...]] = []
    for row in sorted(set(rows), key=_order):
        if row.application_id:
            applications[row.target, row.application_id].append(row)
        else:
            groups.append((row,))
    for found in applications.values():
        if len(found) == 1:  # nearly every application: nothing to pair
            groups.append((found[0],))
            continue
        paired = _pair_producers(_pair_double_writes(found))
        groups += _pair_incomplete(paired, incomplete) if incomplete else paired
    return groups


def _order(row: SuccessfulWrite) -> tuple[int, str]:
    return row.at, row.id


def _pair_double_writes(rows: Sequence[SuccessfulWrite]) -> list[tuple[SuccessfulWrite, ...]]:
    """Each CREATE TABLE AS SELECT with the insert nearest in time, each used once."""
    inner: dict[str, SuccessfulWrite] = {}
    used: set[str] = set()
    inserts = [
        row for row in rows if row.command.startswith(_INSERT) and row.command not in CTAS_COMMANDS
    ]
    for outer in (row for row in rows if row.command in CTAS_COMMANDS):
        near = [row for row in inserts if row.id not in used and _is_double(outer, row)]
        if near:
            twin = min(near, key=lambda row: (abs(row.at - outer.at), *_order(row)))
            inner[outer.id] = twin
            used.add(twin.id)
    groups = []
    for row in rows:
        if row.id not in used:
            pair = (row, inner[row.id]) if row.id in inner else (row,)
            groups.append(tuple(sorted(pair, key=_order)))
    return sorted(groups, key=lambda group: _order(group[0]))


def _is_double(outer: SuccessfulWrite, inner: SuccessfulWrite) -> bool:
    return inner.producer == outer.producer and _agree(inner, outer)


def _agree(one: SuccessfulWrite, other: SuccessfulWrite) -> bool:
    return one.reads == other.reads and abs(one.at - other.at) <= MERGE_WINDOW_MS


def _pair_producers(
    groups: Sequence[tuple[SuccessfulWrite, ...]],
) -> list[tuple[SuccessfulWrite, ...]]:
    """The k-th write that one producer tells of with the k-th of another, where they agree."""
    told: defaultdict[str, int] = defaultdict(int)
    places: defaultdict[int, list[list[SuccessfulWrite]]] = defaultdict(list)
    for group in groups:
        producer = group[0].producer
        beside = places[told[producer]]
        told[producer] += 1
        same = next((other for other in beside if _may_join(other, group)), None)
        if same is None:
            beside.append(list(group))
        else:
            same += group
    return [tuple(sorted(group, key=_order)) for place in places.values() for group in place]


def _may_join(group: Sequence[SuccessfulWrite], other: Sequence[SuccessfulWrite]) -> bool:
    return other[0].producer not in {row.producer for row in group} and _agree(group[0], other[0])


def _pair_incomplete(
    groups: Sequence[tuple[SuccessfulWrite, ...]], incomplete: frozenset[str]
) -> list[tuple[SuccessfulWrite, ...]]:
    """A write whose teller says that it does not know all it read, with the nearest one of another
    teller that read the same and more.

    Without that word reads that differ are two writes: one may be what the other agent missed.
    """
    left = sorted(groups, key=lambda group: _order(group[0]))
    for group in [one for one in left if any(row.logical_plan in incomplete for row in one)]:
        near = [other for other in left if _tells_more(other, group)]
        if near:
            fuller = min(near, key=lambda one: (abs(one[0].at - group[0].at), *_order(one[0])))
            left.remove(group)
            left[left.index(fuller)] = tuple(sorted((*group, *fuller), key=_order))
    return left


def _tells_more(fuller: Sequence[SuccessfulWrite], group: Sequence[SuccessfulWrite]) -> bool:
    return (
        {row.producer for row in fuller}.isdisjoint(row.producer for row in group)
        and {row.mode for row in fuller} == {row.mode for row in group}
        and abs(fuller[0].at - group[0].at) <= MERGE_WINDOW_MS
        and _read_by(fuller) > _read_by(group)
    )


def _read_by(group: Sequence[SuccessfulWrite]) -> frozenset[str]:
    return frozenset(dataset for row in group for dataset in row.reads.split())


# --- what a write touched ------------------------------------------------------------------------


def _write(group: Sequence[SuccessfulWrite], details: Details) -> Write:
    first = group[0]
    best = first if len(group) == 1 else min(group, key=lambda row: _preference(row, details))
    texts = {text for row in group for text in details.partitions.get(row.id, ())}
    parts = tuple(sorted(map(part_of, texts), key=_part_order)) if texts else _EVERYWHERE
    return Write(
        id=first.id,
        at=first.at,
        target=first.target,
        logical_plan=best.logical_plan,
        job=best.job,
        parts=parts,
        closes=_closes(group, parts, details),
        executions=tuple(row.id for row in group),
    )


def _preference(row: SuccessfulWrite, details: Details) -> tuple[int, int, bool, int, str]:
    """The least is told from: nothing read may be hidden, first of all. OpenLineage's agents send
    columns without the expressions.
    """
    gaps = details.gaps.get(row.logical_plan, 0)
    return (
        -len(row.reads.split()),
        gaps,
        row.producer.startswith(_WITHOUT_EXPRESSIONS),
        *_order(row),
    )


def _closes(
    group: Sequence[SuccessfulWrite], parts: tuple[Part, ...], details: Details
) -> tuple[Part, ...]:
    """A sign of dynamic mode in one of the tellings counts for all."""
    if any(row.mode not in (labels.OVERWRITE, labels.OVERWRITE_PARTITIONS) for row in group):
        return ()
    if not any(row.dynamic for row in group):
        return parts
    keys = frozenset[str]().union(*(details.keys.get(row.logical_plan, ()) for row in group))
    known = WHOLE not in parts and all(keys <= {key for key, _ in part} for part in parts)
    return parts if known else ()


def part_of(text: str) -> Part:
    """``dt=2026-01-01/h=3`` as pairs."""
    return frozenset(naming.partition_pairs(text))


def _part_order(part: Part) -> list[tuple[str, str]]:
    return sorted((key, value or "") for key, value in part)
