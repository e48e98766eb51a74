"""What Marquez's clients change: tags are our classifications, a deleted dataset or job is hidden.

A tag exists once something carries it, so ``PUT /tags/{tag}`` checks its spelling and stores
nothing. What only runs report (namespaces, sources, datasets, jobs, runs) is a 405 that says how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from flask import Response, jsonify
from marshmallow import EXCLUDE
from marshmallow.fields import Raw
from werkzeug.exceptions import MethodNotAllowed

from api.intake.commands import classify, declare, declassify, name_node, state_hidden
from api.marquez.entities import job_json
from api.marquez.routes import blueprint, described, find_row
from api.schemas.fields import RequestBody
from api.service import current_service
from api.service.parts import current_sources, is_rebuilding
from graph_model import identity
from graph_model.answers.openlineage import Name, find_job
from graph_model.answers.openlineage_nodes import named_jobs
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidFields, NotFound, Rebuilding
from graph_model.facts import DatasetRow
from graph_model.governance.statements import check_tag
from graph_model.naming.columns import read_spellings

__all__ = ["blueprint"]
_NAMESPACE: Final = "/namespaces/<namespace>"
_DATASET: Final = f"{_NAMESPACE}/datasets/<dataset>"
_JOB: Final = f"{_NAMESPACE}/jobs/<job>"
_NO_WRITE: Final = (
    "Headwater keeps what runs report: post OpenLineage events to /api/v1/lineage. Tags are set on"
    " datasets and their fields, or by PUT /classifications; datasets and jobs are hidden by"
    " DELETE, and removed by POST /commands"
)


# --- tags ----------------------------------------------------------------------------------------


class _TagBody(RequestBody):
    """Of Marquez's tag; its other fields say nothing here, as its clients send them."""

    class Meta:
        unknown = EXCLUDE

    description = Raw(load_default=None)


@blueprint.answer("/tags/<tag>", "The tag", methods=["PUT"])
@blueprint.arguments(_TagBody, location="json")
def create_tag(body: Mapping[str, Any], tag: str) -> Response:
    """Whether this can be a tag; nothing is stored before something carries it."""
    if body["description"]:
        why = "nothing: a tag has none here, a note stands at each dataset that carries it"
        raise InvalidFields({"description": [why]})
    return jsonify(name=check_tag(tag), description=None)


@blueprint.answer(
    f"{_DATASET}/fields/<field>/tags/<tag>", "The dataset", methods=["POST"], endpoint="tag_field"
)
@blueprint.answer(f"{_DATASET}/tags/<tag>", "The dataset", methods=["POST"])
def tag_dataset(namespace: str, dataset: str, tag: str, field: str | None = None) -> Response:
    """Put a tag on a dataset or on a column of its newest schema, as
    ``PUT /classifications/{tag}``; one that it has stays as it is.
    """
    sources, row = find_row(namespace, dataset)
    node, service = _node(sources, row.id, field), current_service()
    if (check_tag(tag), node) not in service.governance.assigned:
        classify(tag, name_node(node, service), node, "", "", service)
    return _changed(sources, row)


@blueprint.answer(
    f"{_DATASET}/fields/<field>/tags/<tag>", "The dataset", methods=["DELETE"],
    endpoint="untag_field",
)  # fmt: skip
@blueprint.answer(f"{_DATASET}/tags/<tag>", "The dataset", methods=["DELETE"])
def untag_dataset(namespace: str, dataset: str, tag: str, field: str | None = None) -> Response:
    """Take a tag off a dataset or a column; one that it does not have is none afterwards, too."""
    sources, row = find_row(namespace, dataset)
    node, service = _node(sources, row.id, field), current_service()
    if (tag, node) in service.governance.assigned:
        declassify(tag, node, service)
    return _changed(sources, row)


def _node(sources: Sources, dataset: str, field: str | None) -> str:
    """The dataset, or a column of it. Raises NotFound."""
    if field is None:
        return dataset
    schema = sources.catalogue.newest_schemas((dataset,), None).get(dataset)
    for path, spelling in read_spellings(schema.columns).items() if schema else ():
        if spelling.name == field:
            return identity.column_id(dataset, path)
    raise NotFound("field", field)


def _changed(sources: Sources, row: DatasetRow) -> Response:
    """As it is now, with the tags that were changed."""
    return jsonify(described(replace(sources, governance=current_service().governance), row))


# --- deletes -------------------------------------------------------------------------------------


@blueprint.answer(_DATASET, "The dataset, as it was", methods=["DELETE"])
def delete_dataset(namespace: str, dataset: str) -> Response:
    """Hide a dataset, as ``POST /commands`` with ``hide``; later events do not show it again."""
    sources, row = find_row(namespace, dataset)
    reply = described(sources, row)
    _hide(row.id)
    return jsonify({**reply, "deleted": True})


@blueprint.answer(_JOB, "The job, as it was", methods=["DELETE"])
def delete_job(namespace: str, job: str) -> Response:
    """The same of a job."""
    sources, key = find_job(current_sources(), Name(namespace, job))
    (known,) = named_jobs(sources, sources.catalogue.jobs((key,)), None)
    _hide(key)
    return jsonify(job_json(known))


def _hide(node: str) -> None:
    if is_rebuilding():
        raise Rebuilding("the graph is being rebuilt: the command's effect is not known yet")
    service = current_service()
    name = name_node(node, service)
    declare([state_hidden(name, hidden=True)], str(name), "", service)


# --- what is not served --------------------------------------------------------------------------


_GET: Final = ("GET",)
#: A path, the methods that are refused there, and those that are answered.
_REFUSED: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    (_NAMESPACE, ("PUT", "DELETE"), _GET),
    (_DATASET, ("PUT",), _GET),
    (_JOB, ("PUT",), _GET),
    (f"{_JOB}/runs", ("POST",), _GET),
    ("/sources/<source>", ("PUT",), _GET),
    (f"{_JOB}/tags/<tag>", ("POST", "DELETE"), ()),
    ("/jobs/runs/<run>/<any(start, complete, fail, abort):state>", ("POST",), ()),
)


def _refusal(answered: Sequence[str]) -> Callable[..., Response]:
    def refuse(**_: str) -> Response:
        """405: what runs report is written on another road."""
        raise MethodNotAllowed(answered, _NO_WRITE)

    return refuse


for _number, (_rule, _methods, _answered) in enumerate(_REFUSED):
    _route = blueprint.route(_rule, methods=[*_methods], endpoint=f"refused_{_number}")
    _route(_refusal(_answered))
