"""Shapes of the consumer API's answers, as Spline's viewers expect them; unknown fields refused."""

from __future__ import annotations

from marshmallow import RAISE, Schema, fields, validate


class Shape(Schema):
    class Meta:
        unknown = RAISE


class EventShape(Shape):
    """A data source with its last write, or an execution; all but its name may be null."""

    executionEventId = fields.String(required=True, allow_none=True)
    executionPlanId = fields.String(required=True, allow_none=True)
    frameworkName = fields.String(required=True, allow_none=True)
    applicationName = fields.String(required=True, allow_none=True)
    applicationId = fields.String(required=True, allow_none=True)
    timestamp = fields.Integer(required=True, allow_none=True, strict=True)
    durationNs = fields.Integer(required=True, allow_none=True, strict=True)
    dataSourceName = fields.String(required=True)
    dataSourceUri = fields.String(required=True)
    dataSourceType = fields.String(required=True, allow_none=True)
    append = fields.Boolean(required=True, allow_none=True)
    error = fields.String(required=True, allow_none=True)
    extra = fields.Dict(required=True, allow_none=True)
    labels = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        required=True,
        allow_none=True,
    )


class EventsShape(Shape):
    items = fields.List(fields.Nested(EventShape), required=True)
    totalCount = fields.Integer(required=True, strict=True)
    pageNum = fields.Integer(required=True, strict=True)
    pageSize = fields.Integer(required=True, strict=True)
    totalDateRange = fields.List(fields.Integer(strict=True), required=True)


class ProductShape(Shape):
    name = fields.String(required=True)
    version = fields.String(required=True)


class OverviewNodeShape(Shape):
    """A DataSourceNode (its name is the URI) or an ExecutionNode (its id is a plan's)."""

    id = fields.String(required=True, data_key="_id")
    type = fields.String(
        required=True,
        data_key="_type",
        validate=validate.OneOf(["DataSourceNode", "ExecutionNode"]),
    )
    name = fields.String(required=True)
    systemInfo = fields.Nested(ProductShape)
    agentInfo = fields.Nested(ProductShape)


class EdgeShape(Shape):
    source = fields.String(required=True)
    target = fields.String(required=True)


class OverviewGraphShape(Shape):
    nodes = fields.List(fields.Nested(OverviewNodeShape), required=True)
    edges = fields.List(fields.Nested(EdgeShape), required=True)
    depthRequested = fields.Integer(required=True, strict=True)
    depthComputed = fields.Integer(required=True, strict=True)


class InfoShape(Shape):
    """``partial`` only where something is left out."""

    timestamp = fields.Integer(required=True, strict=True)
    applicationId = fields.String(required=True, allow_none=True)
    targetDataSourceId = fields.String(required=True)
    cut = fields.Dict(data_key="partial")


class OverviewShape(Shape):
    info = fields.Nested(InfoShape, required=True)
    graph = fields.Nested(OverviewGraphShape, required=True)


class PlaceShape(Shape):
    source = fields.String(required=True)
    sourceType = fields.String(required=True, allow_none=True)


class PlanShape(Shape):
    id = fields.String(required=True, data_key="_id")
    name = fields.String(required=True)
    systemInfo = fields.Nested(ProductShape, required=True)
    agentInfo = fields.Nested(ProductShape, required=True, allow_none=True)
    extra = fields.Dict(required=True)
    inputs = fields.List(fields.Nested(PlaceShape), required=True)
    output = fields.Nested(PlaceShape, required=True)


class PlansShape(Shape):
    items = fields.List(fields.Nested(PlanShape), required=True)
    totalCount = fields.Integer(required=True, strict=True)
    pageNum = fields.Integer(required=True, strict=True)
    pageSize = fields.Integer(required=True, strict=True)


class OperationNodeShape(Shape):
    id = fields.String(required=True, data_key="_id")
    type = fields.String(
        required=True,
        data_key="_type",
        validate=validate.OneOf(["Read", "Transformation", "Write"]),
    )
    name = fields.String(required=True)
    properties = fields.Dict(required=True)


class OperationsShape(Shape):
    nodes = fields.List(fields.Nested(OperationNodeShape), required=True)
    edges = fields.List(fields.Nested(EdgeShape), required=True)


class DetailedShape(Shape):
    executionPlan = fields.Nested(PlanShape, required=True)
    graph = fields.Nested(OperationsShape, required=True)


class AttributeShape(Shape):
    id = fields.String(required=True)
    name = fields.String(required=True)
    dataTypeId = fields.String(required=True, allow_none=True)


class OperationShape(Shape):
    operation = fields.Nested(OperationNodeShape, required=True)
    dataTypes = fields.List(fields.Dict(), required=True)
    schemas = fields.List(fields.List(fields.Nested(AttributeShape)), required=True)
    inputs = fields.List(fields.Integer(strict=True), required=True)
    output = fields.Integer(required=True, strict=True)


class AttributeNodeShape(Shape):
    id = fields.String(required=True, data_key="_id")
    name = fields.String(required=True)
    originOpId = fields.String(required=True)
    transOpIds = fields.List(fields.String(), required=True)


class AttributeGraphShape(Shape):
    nodes = fields.List(fields.Nested(AttributeNodeShape), required=True)
    edges = fields.List(fields.Nested(EdgeShape), required=True)


class AttributeGraphs(Shape):
    lineage = fields.Nested(AttributeGraphShape, required=True)
    impact = fields.Nested(AttributeGraphShape, required=True)
