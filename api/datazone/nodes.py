"""Datasets, jobs and runs as lineage nodes of DataZone.

    dataset  {namespace}/{name}           its neighbours are the runs that wrote it or read it
    run      {namespace}.{name}/{run id}  its neighbours are the datasets that it read or wrote
    job      {namespace}.{name}           the same for all of its runs

These source identifiers are not parsed: each place where one may be split is looked up, and the
node counts whose own identifier is the same text, else a dataset in another of its spellings. Our
ids serve as well, alone or behind ``amazon.datazone.asset/``: each dataset is an asset, and each
write of it a revision, named by its epoch milliseconds. The identifier of a table of Glue is its
ARN. ``eventTimestamp`` is the newest
time at which a run wrote or read a dataset, of a neighbour the time of the run.

QueryGraph asks for the datasets and runs within some steps of a node, on one side of it. A dataset
and a run in turn are a step each; a run stands for the newest one of its job. One question to the
graph, whatever the number of steps; filters are applied to its answer.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from graph_model import identity, labels
from graph_model.answers import lineage as lineage_answer
from graph_model.answers import runs as run_answers
from graph_model.answers.facets import FacetView, dataset_facets, job_facets
from graph_model.answers.jobs import job_ends
from graph_model.answers.nodes import open_known
from graph_model.answers.openlineage import Name, find_dataset, find_job, name_of, splits
from graph_model.answers.runs import RunBrief, RunTrees
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidFields, NotFound
from graph_model.facts import ExecutionRow
from graph_model.lineage import HUB_LIMIT, Question
from graph_model.picture.view import DatasetNode, GraphView, JobNode
from graph_model.stores.graph import Direction
from graph_model.stores.pages import read_cursor, write_cursor

Json = dict[str, Any]
LONGEST: Final = 2086
MOST_NEIGHBOURS: Final = 100
MOST_VERSIONS: Final = 1_000
_READERS: Final = 100
_READINGS: Final = 50
_TYPES: Final = {
    labels.DATASET: "amazon.datazone.DatasetLineageNodeType",
    labels.JOB: "amazon.datazone.JobLineageNodeType",
    labels.RUN: "amazon.datazone.JobRunLineageNodeType",
}
_GLUE: Final = "arn:aws:glue:"
_TABLE: Final = ":table/"
_HISTORY: Final = "node history"
_REVISIONS: Final = "asset revisions"
ASSET: Final = "amazon.datazone.asset/"
_ASSET_TYPES: Final = (
    (_GLUE, "amazon.datazone.GlueTableAssetType"),
    ("redshift:", "amazon.datazone.RedshiftTableAssetType"),
    ("s3:", "amazon.datazone.S3ObjectCollectionAssetType"),
    ("", "HeadwaterDatasetAssetType"),
)
_PROJECT: Final = "headwater"
"""An asset of the service has one."""
_LONGEST_EXTERNAL: Final = 600


@dataclass(frozen=True, slots=True)
class LineageNode:
    """``id`` is ours; ``at`` (epoch ms) the requested time, None for now. ``name`` is the pair of a
    dataset or a job, of a run that of its job; ``run`` is only of a run: as it was reported, with
    the client's ``run_id``. ``sources`` are those for a question about it.
    """

    sources: Sources
    kind: str
    id: str
    name: Name
    at: int | None
    run_id: str = ""
    run: run_answers.OpenLineageRun | run_answers.ReportedRun | None = None

    @property
    def source_identifier(self) -> str:
        return source_identifier(self.kind, self.name, self.run_id)


def source_identifier(kind: str, name: Name, run_id: str = "") -> str:
    """As the service spells it; of a table of Glue its ARN."""
    if kind == labels.DATASET:
        database, dot, table = name.name.partition(".")
        is_glue = dot and name.namespace.startswith(_GLUE)
        own = f"{_TABLE}{database}/{table}" if is_glue else f"/{name.name}"
        return f"{name.namespace}{own}"
    job = f"{name.namespace}.{name.name}"
    return job if kind == labels.JOB else f"{job}/{run_id}"


def find_node(sources: Sources, identifier: str, at: int | None) -> LineageNode:
    """By our id, by its source identifier, or by that of the asset. Raises NotFound."""
    identifier = identifier.removeprefix(ASSET)
    kind = identity.kind_of(identifier)
    if kind == labels.DATASET:
        return _dataset(open_known(sources, kind, identifier), identifier, at)
    if kind == labels.JOB:
        return _job(open_known(sources, kind, identifier), identifier, at)
    if kind == labels.RUN:
        return _run(sources, identifier, at)
    first: LineageNode | None = None  # a dataset in another of its spellings
    for candidate in _candidates(sources, identifier, at):
        if candidate.source_identifier == identifier:
            return candidate
        first = first or (candidate if candidate.kind == labels.DATASET else None)
    if first is None:
        raise NotFound("lineage node", identifier)
    return first


def _candidates(sources: Sources, identifier: str, at: int | None) -> Iterator[LineageNode]:
    head, arn, table = identifier.partition(_TABLE)
    glue = [Name(head, f"table/{table}")] if arn and head.startswith(_GLUE) else []
    for name in (*glue, *splits(identifier, "/")):
        with contextlib.suppress(NotFound):
            yield _dataset(*find_dataset(sources, name), at)
    for name in splits(identifier, "."):
        with contextlib.suppress(NotFound):
            yield _job(*find_job(sources, name), at)
    for _, run_id in splits(identifier, "/"):
        with contextlib.suppress(NotFound):
            yield _run(sources, run_id, at)


def _dataset(sources: Sources, key: str, at: int | None) -> LineageNode:
    (row,) = sources.catalogue.datasets((key,))
    return LineageNode(sources, labels.DATASET, key, name_of(row.uri, row.scope, sources.rules), at)


def _job(sources: Sources, key: str, at: int | None) -> LineageNode:
    (row,) = sources.catalogue.jobs((key,))
    return LineageNode(sources, labels.JOB, key, Name(row.namespace, row.name), at)


def _run(sources: Sources, run: str, at: int | None) -> LineageNode:
    answer = run_answers.one_run(sources, run, at=at, now=sources.now)
    if isinstance(answer, run_answers.ReportedRun):
        job, key, run_id = answer.job, answer.ended.id, answer.ended.id
    else:
        brief = answer.tree.branch.run
        job, key, run_id = brief.job, brief.run, brief.run_id
    if job is None:
        raise NotFound("run", run)
    return LineageNode(sources, labels.RUN, key, Name(job.namespace, job.name), at, run_id, answer)


# --- replies -------------------------------------------------------------------------------------


def described(node: LineageNode) -> Json:
    """A node with its forms and neighbours; ``partial`` says that there are more than 100."""
    upstream, downstream = neighbours(node)
    times = _times(node, None)
    cut = max(len(upstream), len(downstream)) > MOST_NEIGHBOURS
    return {
        **summary(node, times[0] if times else node.sources.now),
        "formsOutput": forms(node),
        "upstreamNodes": _references(upstream),
        "downstreamNodes": _references(downstream),
        "partial": {"reason": "nodes", "limit": MOST_NEIGHBOURS} if cut else None,
    }


def summary(node: LineageNode, at: int) -> Json:
    """A node without forms and neighbours, as of its version at a time (epoch ms)."""
    return {
        "id": node.id,
        "typeName": _TYPES[node.kind],
        "typeRevision": "1",
        "name": node.name.name,
        "sourceIdentifier": node.source_identifier,
        "eventTimestamp": at / 1000,
    }


def _references(times: Mapping[str, int]) -> list[Json]:
    """The newest first."""
    listed = sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"id": key, "eventTimestamp": at / 1000} for key, at in listed[:MOST_NEIGHBOURS]]


def forms(node: LineageNode) -> list[Json]:
    """What is known of a node, as JSON texts."""
    sources, at = node.sources, node.at
    contents: Json = {}
    if node.kind == labels.DATASET:
        schema = sources.catalogue.newest_schemas((node.id,), at).get(node.id)
        contents["HeadwaterSchema"] = {"columns": json.loads(schema.columns) if schema else []}
        contents["HeadwaterFacets"] = _bodies(dataset_facets(sources, node.id, at).facets)
        tags = sources.governance.tags.get(node.id, ())
        contents["HeadwaterClassifications"] = {"tags": list(tags)}
    else:
        job = identity.job_id(*node.name)
        contents["HeadwaterJobFacets"] = _bodies(job_facets(sources, job, at).facets)
    if isinstance(node.run, run_answers.OpenLineageRun):
        brief = node.run.tree.branch.run
        contents["HeadwaterRun"] = _run_form(brief)
        contents["HeadwaterRunFacets"] = node.run.tree.facets
    elif node.run is not None:
        ended = node.run.ended
        contents["HeadwaterRun"] = {
            "runId": node.run_id, "state": ended.state, "startedAt": ended.started_at,
            "endedAt": ended.ended_at, "producer": node.run.producer, "error": ended.error,
        }  # fmt: skip
    return [
        {
            "formName": name,
            "typeName": f"{name}FormType",
            "typeRevision": "1",
            "content": json.dumps(content),
        }
        for name, content in contents.items()
    ]


def _run_form(brief: RunBrief) -> Json:
    return {
        "runId": brief.run_id, "state": brief.state, "startedAt": brief.started_at,
        "endedAt": brief.ended_at, "producer": brief.producer, "error": brief.error,
    }  # fmt: skip


def _bodies(facets: Iterable[FacetView]) -> Json:
    return {
        facet.name: facet.body for facet in facets if not facet.deleted and facet.body is not None
    }


# --- assets --------------------------------------------------------------------------------------


def asset(node: LineageNode, revision: str | None) -> Json:
    """A dataset as an asset, as of a revision, else the newest. Raises NotFound for another node,
    and for a revision that it has not.
    """
    times = asset_times(node)
    at = times[0] if times else 0
    if revision is not None:
        at = next((time for time in times if str(time) == revision), -1)
        if at < 0:
            raise NotFound("asset revision", revision)
        node = replace(node, at=at)
    source = node.source_identifier
    external = {"externalIdentifier": source} if len(source) <= _LONGEST_EXTERNAL else {}
    kinds = (kind for start, kind in _ASSET_TYPES if node.name.namespace.startswith(start))
    return {
        "id": node.id,
        "name": node.name.name,
        "typeIdentifier": next(kinds),
        "typeRevision": "1",
        "revision": str(at),
        "createdAt": at / 1000,
        "firstRevisionCreatedAt": (times[-1] if times else 0) / 1000,
        "owningProjectId": _PROJECT,
        "formsOutput": forms(node),
        **external,
    }


def asset_times(node: LineageNode) -> list[int]:
    """The times of its newest revisions (epoch ms), newest first: its writes, of a dataset without
    one its reads. Raises NotFound for a job or a run.
    """
    if node.kind != labels.DATASET:
        raise NotFound("asset", node.source_identifier)
    return _times(node, "UPSTREAM") or _times(node, None)


def revisions(node: LineageNode, limit: int, token: str | None) -> tuple[list[Json], str | None]:
    """The revisions of an asset, newest first, and the token of the next page."""
    times, kind = asset_times(node), f"{_REVISIONS} {node.id}"
    if token is not None:
        last = int(read_cursor(token, kind, int)[0])
        times = [at for at in times if at < last]
    shown = times[:limit]
    items = [{"id": node.id, "revision": str(at), "createdAt": at / 1000} for at in shown]
    return items, write_cursor(kind, shown[-1]) if len(times) > limit else None


# --- neighbours ----------------------------------------------------------------------------------


def neighbours(node: LineageNode) -> tuple[dict[str, int], dict[str, int]]:
    """The ids upstream and downstream of a node, each with its time (epoch ms)."""
    sources = node.sources
    if node.kind == labels.DATASET:
        question = Question(node.id, Direction.BOTH, 1, node.at, limit=MOST_VERSIONS)
        return runs_beside(sources, lineage_answer.lineage(sources, question), node.id, node.at)
    if node.kind == labels.JOB:
        end = job_ends(sources, (node.id,))[node.id]
        last = sources.catalogue.last_executions((node.id,), node.at).get(node.id)
        at = last.claimed_at if last else 0
        return dict.fromkeys(end.read, at), dict.fromkeys(end.written, at)
    rows = _executions_of(node)
    times: dict[str, int] = {}
    for row in rows:
        times.setdefault(row.logical_plan, row.claimed_at)
    page = sources.graph.edges(times, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    read = {edge.out_id: times[edge.in_id] for edge in page.edges}
    written = {row.target: row.claimed_at for row in reversed(rows) if row.target}
    return _visible(sources, read), _visible(sources, written)


def _visible(sources: Sources, times: Mapping[str, int]) -> dict[str, int]:
    return {key: at for key, at in times.items() if key not in sources.hidden}


def runs_beside(
    sources: Sources, view: GraphView, dataset: str, at: int | None
) -> tuple[dict[str, int], dict[str, int]]:
    """The newest run of each job beside a dataset in a picture, with its time: those that wrote it,
    and those that read it.
    """
    newest = newest_runs(sources, view, at)
    above = {edge.source for edge in view.edges if edge.target == dataset}
    below = {edge.target for edge in view.edges if edge.source == dataset}
    return (
        {row.run: row.claimed_at for job, row in newest.items() if job in above},
        {row.run: row.claimed_at for job, row in newest.items() if job in below},
    )


def newest_runs(sources: Sources, view: GraphView, at: int | None) -> dict[str, ExecutionRow]:
    """By job of a picture the newest execution of its drawn plans."""
    jobs = {
        plan: node.id for node in view.nodes if isinstance(node, JobNode) for plan in node.plans
    }
    newest: dict[str, ExecutionRow] = {}
    for plan, row in sources.catalogue.last_of_plans(jobs, at).items():
        known = newest.get(jobs[plan])
        if known is None or (row.at, row.id) > (known.at, known.id):
            newest[jobs[plan]] = row
    return newest


def _executions_of(node: LineageNode) -> Sequence[ExecutionRow]:
    """Those of a run, newest first."""
    hidden = node.sources.hidden
    return node.sources.catalogue.executions(
        run=node.id, at=node.at, hidden=hidden, limit=MOST_VERSIONS
    ).items


# --- versions ------------------------------------------------------------------------------------


def history(
    node: LineageNode,
    direction: str | None,
    since: int | None,
    *,
    falling: bool,
    limit: int,
    token: str | None,
) -> tuple[list[int], str | None]:
    """The times of versions (epoch ms) until the node's time, and the token of the next page.

    Raises InvalidReference for a token that this list did not give.
    """
    kind = f"{_HISTORY} {node.id} {direction} {'falling' if falling else 'rising'}"
    times = [at for at in _times(node, direction) if since is None or at >= since]
    times.sort(reverse=falling)
    if token is not None:
        last = int(read_cursor(token, kind, int)[0])
        times = [at for at in times if (at < last if falling else at > last)]
    shown = times[:limit]
    return shown, write_cursor(kind, shown[-1]) if len(times) > limit else None


def _times(node: LineageNode, direction: str | None) -> list[int]:
    """The newest ``MOST_VERSIONS`` times, newest first."""
    at, hidden = node.at, node.sources.hidden
    newest = partial(node.sources.catalogue.executions, at=at, hidden=hidden, limit=MOST_VERSIONS)
    rows: list[ExecutionRow] = []
    if node.kind == labels.RUN:
        rows += _executions_of(node)
    elif node.kind == labels.JOB:
        rows += newest(job=node.id).items
    elif direction != "DOWNSTREAM":
        rows += newest(target=node.id).items
    if node.kind == labels.DATASET and direction != "UPSTREAM":
        for plan in _reading_plans(node)[:_READERS]:
            rows += newest(logical_plan=plan, limit=_READINGS).items
    return sorted({row.claimed_at for row in rows}, reverse=True)[:MOST_VERSIONS]


def _reading_plans(node: LineageNode) -> list[str]:
    """The visible plans that read a dataset, by id."""
    sources = node.sources
    page = sources.graph.edges((node.id,), Direction.DOWNSTREAM, (labels.FEEDS,), HUB_LIMIT)
    plans = [e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN]
    rows = sources.catalogue.logical_plans(plans)
    return sorted(row.id for row in rows if sources.hidden.isdisjoint((row.job, row.target)))


# --- QueryGraph ----------------------------------------------------------------------------------

Test = Callable[[Mapping[str, Any]], bool]
MOST_NODES: Final = 1_000
_MOST_STEPS: Final = 5
_MOST_LEVELS: Final = 10
_MOST_FORMS: Final = 10
_CURSOR: Final = "graph query"
_ATTRIBUTES: Final = ("id", "name", "sourceIdentifier", "typeName", "eventTimestamp")
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "EQ": lambda own, asked: own == asked,
    "LE": lambda own, asked: own <= asked,
    "LT": lambda own, asked: own < asked,
    "GE": lambda own, asked: own >= asked,
    "GT": lambda own, asked: own > asked,
    "TEXT_SEARCH": lambda own, asked: str(asked).casefold() in str(own).casefold(),
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """``test`` says of a node's summary whether it is listed; ``form_names`` are shown of it.
    ``digest`` is of the two clauses as they were sent.
    """

    digest: str
    identifier: str
    direction: Direction
    steps: int
    test: Test
    form_names: frozenset[str]


def read_pattern(match: Any, more: Any) -> Pattern:
    """The two clauses of ``match``, and ``additionalAttributes``. Raises InvalidFields."""
    clauses = match if isinstance(match, list) else []
    merged: Json = {}
    for clause in clauses:
        merged |= clause if isinstance(clause, dict) else {}
    if len(clauses) != 2 or set(merged) != {"entityPattern", "relationPattern"}:
        raise InvalidFields({"match": ["one entityPattern and one relationPattern"]})
    entity, relation = (
        _object(merged[name], f"match.{name}") for name in ("entityPattern", "relationPattern")
    )
    _words(entity, "match.entityPattern", "entityType", ("LINEAGE_NODE",))
    _words(relation, "match.relationPattern", "relationType", ("LINEAGE",))
    way = _words(relation, "match.relationPattern", "relationDirection", ("IN", "OUT"))
    identifier = entity.get("identifier")
    steps = relation.get("maxPathLength", 1)
    if not isinstance(identifier, str):
        raise InvalidFields({"match.entityPattern.identifier": ["a string"]})
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= _MOST_STEPS:
        expected = f"an integer from 1 to {_MOST_STEPS}"
        raise InvalidFields({"match.relationPattern.maxPathLength": [expected]})
    filters = entity.get("filters")
    path = "match.entityPattern.filters"
    test = _everything if filters is None else _read_filters(filters, path, 0)
    names = _object(more or {}, "additionalAttributes").get("formNames", [])
    if not isinstance(names, list) or len(names) > _MOST_FORMS:
        raise InvalidFields({"additionalAttributes.formNames": [f"at most {_MOST_FORMS} names"]})
    direction = Direction.UPSTREAM if way == "IN" else Direction.DOWNSTREAM
    digest = identity.digest(json.dumps(merged, sort_keys=True))
    return Pattern(digest, identifier, direction, steps, test, frozenset(map(str, names)))


def _everything(_: Mapping[str, Any]) -> bool:
    return True


def _object(value: Any, path: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidFields({path: ["an object"]})
    return value


def _words(fields: Json, path: str, name: str, words: Collection[str]) -> str:
    word = fields.get(name)
    if word not in words:
        raise InvalidFields({f"{path}.{name}": [" or ".join(words)]})
    return str(word)


def _read_filters(clause: Any, path: str, level: int) -> Test:
    """``filter``, or a list of clauses under ``and`` or ``or``."""
    fields = _object(clause, path)
    if len(fields) != 1 or level > _MOST_LEVELS:
        raise InvalidFields({path: ["one of filter, and, or"]})
    ((name, inner),) = fields.items()
    if name == "filter":
        return _read_filter(_object(inner, f"{path}.filter"), f"{path}.filter")
    if name not in ("and", "or") or not isinstance(inner, list) or not 1 <= len(inner) <= 100:
        raise InvalidFields({path: ["one of filter, and, or, with 1 to 100 clauses"]})
    tests = [
        _read_filters(nested, f"{path}.{name}[{place}]", level + 1)
        for place, nested in enumerate(inner)
    ]
    each = all if name == "and" else any
    return lambda node: each(test(node) for test in tests)


def _read_filter(fields: Json, path: str) -> Test:
    attribute = _words(fields, path, "attribute", _ATTRIBUTES)
    operator = _words({"operator": "EQ"} | fields, path, "operator", tuple(_COMPARED))
    number = attribute == "eventTimestamp"
    value = fields.get("intValue" if number else "value")
    if not isinstance(value, int if number else str) or isinstance(value, bool):
        expected = "epoch seconds as intValue" if number else "a string as value"
        raise InvalidFields({path: [expected]})
    if number and operator == "TEXT_SEARCH":
        raise InvalidFields({f"{path}.operator": ["a comparison of numbers"]})
    return lambda node: _COMPARED[operator](node[attribute], value)


def query_graph(
    sources: Sources, pattern: Pattern, *, limit: int, token: str | None
) -> tuple[list[Json], str | None]:
    """The nodes of one page, the nearest first, and the token of the next page.

    Raises NotFound for an unknown start, InvalidReference for a token of another question.
    """
    start = find_node(sources, pattern.identifier, None)
    node = identity.job_id(*start.name) if start.kind == labels.RUN else start.id
    question = Question(node, pattern.direction, pattern.steps // 2 + 1, limit=MOST_NODES)
    view = lineage_answer.lineage(start.sources, question)
    listed = _summaries(start.sources, view)
    around = _beside(view, pattern.direction)
    steps = {node: 0}
    level = [node]
    for step in range(1, pattern.steps + 1):
        level = sorted({end for node in level for end in around.get(node, ())} - steps.keys())
        steps |= dict.fromkeys(level, step)
    order = sorted((step, key) for key, step in steps.items() if step and key in listed)
    items = [key for _, key in order if pattern.test(listed[key])]
    kind = f"{_CURSOR} {pattern.digest}"
    begin = 0 if token is None else int(read_cursor(token, kind, int)[0])
    page = items[begin : begin + limit]
    into, out = _beside(view, Direction.UPSTREAM), _beside(view, Direction.DOWNSTREAM)
    shown = []
    for key in page:
        ends = {
            f"{side}LineageNodeIds": [
                listed[end]["id"] for end in beside.get(key, ()) if end in listed
            ]
            for side, beside in (("upstream", into), ("downstream", out))
        }
        output = _named_forms(start.sources, listed[key]["id"], pattern.form_names)
        shown.append({**listed[key], "formsOutput": output, **ends})
    more = begin + limit < len(items)
    return shown, write_cursor(kind, begin + limit) if more else None


def _named_forms(sources: Sources, key: str, names: Collection[str]) -> list[Json]:
    if not names:
        return []
    node = find_node(sources, key, None)
    return [form for form in forms(node) if form["formName"] in names]


def _beside(view: GraphView, direction: Direction) -> dict[str, list[str]]:
    by_start: dict[str, list[str]] = {}
    for edge in view.edges:
        ends = (edge.source, edge.target)
        start, end = ends if direction is Direction.DOWNSTREAM else reversed(ends)
        by_start.setdefault(start, []).append(end)
    return by_start


def _summaries(sources: Sources, view: GraphView) -> dict[str, Json]:
    """By id of a drawn dataset or job the summary of its node: of a dataset as of its last write,
    without one as of the newest run drawn that read it; of a job that of its newest run.
    """
    newest = newest_runs(sources, view, None)
    read: dict[str, int] = {}
    for edge in view.edges:
        if reader := newest.get(edge.target):
            read[edge.source] = max(reader.claimed_at, read.get(edge.source, 0))
    briefs = RunTrees(sources).states({row.run for row in newest.values()}, sources.now)
    datasets = [node.id for node in view.nodes if isinstance(node, DatasetNode)]
    writers = sources.catalogue.last_writers(datasets, None, sources.hidden)
    summaries: dict[str, Json] = {}
    for node in view.nodes:
        if isinstance(node, DatasetNode):
            name = name_of(node.uri, node.scope, sources.rules)
            drawn = LineageNode(sources, labels.DATASET, node.id, name, None)
            write = writers.get(node.id)
            summaries[node.id] = summary(
                drawn, write.claimed_at if write else read.get(node.id, sources.now)
            )
        elif isinstance(node, JobNode) and node.id in newest:
            row = newest[node.id]
            brief = briefs.get(row.run)
            run_id = brief.run_id if brief else row.run
            name = Name(node.namespace, node.name)
            drawn = LineageNode(sources, labels.RUN, row.run, name, None, run_id)
            summaries[node.id] = summary(drawn, row.claimed_at)
    return summaries
