"""Routes whose queries and answers are declared: flask-smorest, typed and made strict.

    blueprint = Blueprint("graph", description="The graph")

    @blueprint.route("/graph/search")
    @blueprint.arguments(SearchQuery)
    @blueprint.response(200, SearchReply)
    def search(query: Mapping[str, Any]) -> ...

``arguments`` reads the query string unless ``location`` names another place; an unknown, repeated
or malformed parameter is a 400 that names it (flask-smorest's own habit is 422, and to ignore the
unknown). A route without a query has ``no_parameters`` in place of ``arguments``.

Who asks, and the role that a route needs of them, its blueprint names as one of the rights below:

    blueprint = Blueprint("openlineage", __name__, access=REPORTING)

A blueprint that names none is read by readers and changed by admins, so a new route is closed.

Clients send a name in a path percent-encoded, slashes as ``%2F`` (decision 171). A server decodes
the path before any route sees it. ``keep_encoded`` puts the path as it was sent in its place, and
``decode_names`` decodes each part where a blueprint takes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Final, NoReturn, TypeVar, cast
from urllib.parse import quote, unquote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import flask
import flask_smorest  # type: ignore[import-untyped]
import marshmallow
from flask import Flask, Request, Response, g
from webargs import core
from webargs.flaskparser import FlaskParser

from api.http.bodies import UNPACKING_MEMORY, is_gzip, require_json
from api.http.errors import ErrorSchema, flatten
from graph_model.documents.json_texts import parse_instruction
from graph_model.errors import ForeignScope, InvalidFields
from graph_model.values import Role

READING_METHODS: Final = frozenset({"GET", "HEAD"})
ANONYMOUS_NAME: Final = "anonymous"


@dataclass(frozen=True, slots=True)
class RouteAccess:
    """The role that reads, and the one that does anything else. None: no key is needed."""

    reading: Role | None
    changing: Role | None

    def needed(self, method: str) -> Role | None:
        """The role for a request with this method; an admin has it, too."""
        return self.reading if method in READING_METHODS else self.changing


OPEN: Final = RouteAccess(None, None)
"""Probes and files, which hold no lineage."""

READING: Final = RouteAccess(Role.READER, Role.ADMIN)
ASKING: Final = RouteAccess(Role.READER, Role.READER)
"""A question with a body, which changes nothing."""

REPORTING: Final = RouteAccess(Role.PRODUCER, Role.PRODUCER)
"""Takes documents, the agents' handshake included."""

DECLARING: Final = RouteAccess(Role.READER, Role.PRODUCER)
"""A client that may report lineage may declare it."""


@dataclass(frozen=True, slots=True)
class Principal:
    """``name`` goes onto receipts and into the log; ``scope`` is the key's capture scope.

    A scope is a boundary, unless the key may name ``any_scope``; a key without one has none.
    """

    name: str
    roles: frozenset[Role]
    scope: str = ""
    any_scope: bool = False

    def may(self, needed: Role) -> bool:
        """Whether this role is its own; an admin has every role."""
        return Role.ADMIN in self.roles or needed in self.roles

    @property
    def is_bounded(self) -> bool:
        """Whether its documents are of its own scope alone."""
        return bool(self.scope) and not self.any_scope

    def check_scopes(self, scopes: Iterable[str]) -> None:
        """Raises ForeignScope where a document of a request is of a scope of others."""
        for scope in scopes:
            if self.is_bounded and scope != self.scope:
                raise ForeignScope(self.name, self.scope, scope)

    def check_unbounded(self) -> None:
        """Raises ForeignScope: commands, rules and what people state hold in every scope."""
        if self.is_bounded:
            raise ForeignScope(self.name, self.scope)


EVERYBODY: Final = Principal(ANONYMOUS_NAME, frozenset({Role.ADMIN}))
"""Every caller, as long as no key was ever made."""


def admit(principal: Principal) -> None:
    """Set the principal of the current request."""
    g.principal = principal


def current_principal() -> Principal:
    """The principal of the current request; an unauthenticated one may do nothing."""
    principal: Principal = g.get("principal", Principal(ANONYMOUS_NAME, frozenset()))
    return principal


View = TypeVar("View", bound=Callable[..., Any])
SchemaType = type[marshmallow.Schema]
_BAD_REQUEST: Final = 400
_MOST_BODY: Final = 16 * 1024 * 1024
"""Bytes of a body of these routes, inflated; documents have routes and limits of their own."""


class StrictParser(FlaskParser):
    """Unknown parameters are refused, repeated ones too, and every refusal is a 400."""

    DEFAULT_VALIDATION_STATUS = _BAD_REQUEST
    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {  # noqa: RUF012 - webargs' own name
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "query": marshmallow.RAISE,
    }

    def load_querystring(self, req: Request, schema: marshmallow.Schema) -> Any:
        for name, values in req.args.lists():
            if len(values) > 1:
                raise InvalidFields({name: ["one value, given once"]})
        return super().load_querystring(req, schema)

    def load_json(self, req: Request, schema: marshmallow.Schema) -> Any:
        """A JSON body without contradicting keys. An empty request has no body; another type is a
        415: a page of another origin cannot send this type without a preflight request (CORS).
        ``g.body`` keeps it, for an error that names one of its fields.
        """
        del schema
        req.max_content_length = _MOST_BODY
        body = req.get_data()
        if not body:
            return core.missing
        require_json(req.headers.get("Content-Type"))
        packed = is_gzip(req.headers.get("Content-Encoding"))
        with UNPACKING_MEMORY.unpacked(body, packed=packed, limit=_MOST_BODY) as text:
            g.body = parse_instruction(text)
        return g.body

    def handle_error(
        self,
        error: marshmallow.ValidationError,
        req: Request,
        schema: marshmallow.Schema,
        *,
        error_status_code: int | None,
        error_headers: Mapping[str, str] | None,
    ) -> NoReturn:
        """Raise InvalidFields; webargs nests its messages under the location: ``{"query": …}``."""
        del req, schema, error_status_code, error_headers
        by_location = cast("dict[str, Any]", error.messages)
        raise InvalidFields(flatten(next(iter(by_location.values()), {}))) from error


class TolerantParser(StrictParser):
    """For clients written against another server: unknown names are ignored, an empty value counts
    as none, and of a repeated one ``value_of`` says what counts.
    """

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {  # noqa: RUF012 - webargs' own name
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "query": marshmallow.EXCLUDE,
    }

    def load_querystring(self, req: Request, schema: marshmallow.Schema) -> dict[str, Any]:
        known = {field.data_key or name: field for name, field in schema.load_fields.items()}
        given = {name: [value for value in req.args.getlist(name) if value] for name in known}
        return {
            name: self.value_of(known[name], values) for name, values in given.items() if values
        }

    def value_of(self, field: marshmallow.fields.Field[Any], values: list[str]) -> Any:
        """The value of a field from all values under its name."""
        del field
        return values[0].strip()


class _NoParameters(marshmallow.Schema):
    error_messages = {"unknown": "no parameter"}  # noqa: RUF012 - marshmallow's own name


class _NoBody(marshmallow.Schema):
    error_messages = {"type": "no body", "unknown": "no field"}  # noqa: RUF012 - likewise


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """flask-smorest's blueprint with types; see the module's docstring."""

    ARGUMENTS_PARSER = StrictParser()

    def __init__(
        self,
        name: str,
        import_name: str,
        *,
        access: RouteAccess = READING,
        most_signed: int | None = None,
        **options: Any,
    ) -> None:
        """``most_signed``: bytes of the body of a request that is signed as AWS's are; None:
        signatures are not taken.
        """
        super().__init__(name, import_name, **options)
        self.most_signed = most_signed
        self._access = access
        self._exceptions: dict[str, RouteAccess] = {}

    def access_of(self, endpoint: str) -> RouteAccess:
        """The right to one of its routes; ``endpoint`` is Flask's: ``graph.lineage``."""
        return self._exceptions.get(endpoint.rpartition(".")[2], self._access)

    def route(
        self,
        rule: str,
        *,
        methods: list[str] | None = None,
        access: RouteAccess | None = None,
        **options: Any,
    ) -> Callable[[View], View]:
        """``access`` of this route where it is not that of the blueprint."""
        register = cast(
            "Callable[[View], View]", super().route(rule, methods=methods or ["GET"], **options)
        )

        def registered(view: View) -> View:
            if access is not None:
                self._exceptions[options.get("endpoint") or view.__name__] = access
            return register(self.doc(security=[])(view) if access is OPEN else view)

        return registered

    def answer(
        self, rule: str, reply: str, query: SchemaType | None = None, **options: Any
    ) -> Callable[[View], View]:
        """A route whose 200 is this ``reply``, with these parameters in its query (None: without
        any); ``options`` are those of ``route``.
        """

        def answering(view: View) -> View:
            described = self.doc(responses={200: {"description": reply}})(view)
            asked = self.arguments(query)(described) if query else self.no_parameters(described)
            return self.route(rule, **options)(asked)

        return answering

    def arguments(
        self, schema: SchemaType, *, location: str = "query", **options: Any
    ) -> Callable[[View], View]:
        return cast(
            "Callable[[View], View]", super().arguments(schema, location=location, **options)
        )

    def no_parameters(self, view: View) -> View:
        """The route has no parameters, its view gets none; the parser refuses or ignores any."""

        @wraps(view)
        def checked(_: object, *arguments: Any, **options: Any) -> Any:
            return view(*arguments, **options)

        return self.arguments(_NoParameters)(cast("View", checked))

    def no_body(self, view: View) -> View:
        """The route takes no body: one that is neither empty nor an empty object is a 400."""

        @wraps(view)
        def checked(*arguments: Any, **options: Any) -> Any:
            self.ARGUMENTS_PARSER.parse(
                _NoBody, flask.request, location="json", unknown=marshmallow.RAISE
            )
            return view(*arguments, **options)

        return cast("View", checked)

    def takes(
        self,
        schema: SchemaType | Mapping[str, Any],
        media_types: Iterable[str] = ("application/json",),
    ) -> Callable[[View], View]:
        """The shape of a body for the OpenAPI document alone: the view reads it."""
        content = {media_type: {"schema": schema} for media_type in media_types}
        return self.doc(requestBody={"required": True, "content": content})

    def response(
        self, status_code: int, schema: SchemaType | None = None, **options: Any
    ) -> Callable[[View], View]:
        return cast("Callable[[View], View]", super().response(status_code, schema, **options))

    def describes(self, schema: SchemaType) -> Callable[[View], View]:
        """The shape of a 200 for the OpenAPI document alone: the view has built it already."""
        return cast("Callable[[View], View]", self.alt_response(200, schema=schema, success=True))

    def doc(self, **parts: Any) -> Callable[[View], View]:
        return cast("Callable[[View], View]", super().doc(**parts))


class Api:
    """Registers blueprints in an application, and describes them: ``/openapi.json``.

    flask-smorest describes a route while it registers it, which takes longer than all the rest of
    ``create_app``. So it registers them once more, in an application that serves nothing, for the
    first reader of the description. ``options`` are of apispec, ``security_schemes`` by name.
    """

    def __init__(
        self,
        app: Flask,
        *,
        security_schemes: Mapping[str, Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> None:
        self._app = app
        self._security_schemes = security_schemes or {}
        self._options = options
        self._registered: list[tuple[Blueprint, Mapping[str, Any]]] = []
        documents = flask.Blueprint("api-docs", __name__)
        documents.add_url_rule("/openapi.json", "openapi_json", self._answer)
        app.register_blueprint(documents)

    def register_blueprint(self, blueprint: Blueprint, **options: Any) -> None:
        """``options`` are of Flask's ``register_blueprint``."""
        self._app.register_blueprint(blueprint, **options)
        self._registered.append((blueprint, options))

    @cached_property
    def document(self) -> str:
        """The OpenAPI document, as JSON text."""
        api = DescribedApi(Flask(self._app.name), spec_kwargs=self._options)
        for name, scheme in self._security_schemes.items():
            api.spec.components.security_scheme(name, scheme)
        for blueprint, options in self._registered:
            api.register_blueprint(blueprint, **options)
        return json.dumps(api.spec.to_dict(), indent=2)

    def _answer(self) -> Response:
        return Response(self.document, mimetype="application/json")


class DescribedApi(flask_smorest.Api):  # type: ignore[misc]
    """flask-smorest's registry and OpenAPI writer, with our body for errors."""

    ERROR_SCHEMA = ErrorSchema


NAMED: Final = (
    "/api/v1/namespaces/",
    "/api/v1/sources/",
    "/api/v1/tags/",
    "/api/v1/events/",
    "/v2/domains/",
)


def normalise_paths(application: WSGIApplication, paths: Collection[str]) -> WSGIApplication:
    """``//status``, ``/status/``, ``/producer//execution-plans/`` … => the path of the route.

    An agent appends ``/status`` to the URL in its settings, slash at the end included, and
    takes a redirect of a POST for success. Paths other than these are left alone.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        meant = "/" + "/".join(part for part in path.split("/") if part)
        if meant in paths:
            environ = {**environ, "PATH_INFO": meant}
        return application(environ, start_response)

    return answer


def keep_encoded(application: WSGIApplication) -> WSGIApplication:
    """Leave the names in these paths encoded."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path.startswith(NAMED):
            environ = {**environ, "PATH_INFO": sent_path(environ)}
        return application(environ, start_response)

    return answer


def sent_path(environ: WSGIEnvironment) -> str:
    """The path as it was sent; where the server does not tell it, the path encoded anew."""
    path: str = environ.get("PATH_INFO", "")
    raw: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    sent = raw.partition("?")[0]
    return sent if sent.startswith(NAMED) else quote(path.encode("latin-1"))


def decode_names(blueprint: Blueprint) -> None:
    """Decode the parts of these routes' paths once."""

    def decode(_endpoint: str | None, values: dict[str, str] | None) -> None:
        for key, value in (values or {}).items():
            (values or {})[key] = unquote(value)

    blueprint.url_value_preprocessor(decode)
