# A public door: an HTTP API in front of the load balancer or of a function. Its address is public, so it
# authenticates callers, is throttled and logged, and by default passes only the producers' routes.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region
}

resource "aws_apigatewayv2_api" "this" {
  name          = var.name
  description   = "Lineage of producers outside the network"
  protocol_type = "HTTP"
}

# --- behind it: the load balancer of the service ---------------------------------------------------------

resource "aws_security_group" "this" {
  for_each = toset(var.listener == null ? [] : ["link"])

  name        = "${var.name}-gateway"
  description = "VPC link of ${var.name}"
  vpc_id      = var.listener.vpc_id
  tags        = { Name = "${var.name}-gateway" }
}

resource "aws_apigatewayv2_vpc_link" "this" {
  count = var.listener == null ? 0 : 1

  name               = var.name
  subnet_ids         = var.listener.subnet_ids
  security_group_ids = [for group in aws_security_group.this : group.id]
}

# Headers pass as they are, in both directions. Bodies of more than 10 MB and answers after 29 s do not.
resource "aws_apigatewayv2_integration" "listener" {
  count = var.listener == null ? 0 : 1

  api_id               = aws_apigatewayv2_api.this.id
  description          = "The load balancer"
  integration_type     = "HTTP_PROXY"
  integration_method   = "ANY"
  integration_uri      = var.listener.arn
  connection_type      = "VPC_LINK"
  connection_id        = aws_apigatewayv2_vpc_link.this[0].id
  timeout_milliseconds = 29000

  tls_config {
    server_name_to_verify = var.listener.domain_name
  }
}

# --- or a function ---------------------------------------------------------------------------------------

# Format 1.0: with 2.0 the gateway joins the headers of an answer that have one name, and Spline's handshake has three.
resource "aws_apigatewayv2_integration" "function" {
  count = var.function == null ? 0 : 1

  api_id                 = aws_apigatewayv2_api.this.id
  description            = "The function ${var.function.name}"
  integration_type       = "AWS_PROXY"
  integration_method     = "POST"
  integration_uri        = var.function.invoke_arn
  payload_format_version = "1.0"
  timeout_milliseconds   = 29000
}

resource "aws_lambda_permission" "function" {
  count = var.function == null ? 0 : 1

  statement_id   = "${var.name}-gateway"
  function_name  = var.function.name
  action         = "lambda:InvokeFunction"
  principal      = "apigateway.amazonaws.com"
  source_account = local.account
  source_arn     = "${aws_apigatewayv2_api.this.execution_arn}/*/*"
}

# --- the permitted callers -------------------------------------------------------------------------------------

# The token has a header of its own: Authorization may carry an API key, which the service compares with X-API-Key.
resource "aws_apigatewayv2_authorizer" "token" {
  count = var.authorization == "JWT" ? 1 : 0

  api_id           = aws_apigatewayv2_api.this.id
  name             = var.name
  authorizer_type  = "JWT"
  identity_sources = ["$request.header.${var.token_header}"]

  jwt_configuration {
    issuer   = var.jwt.issuer
    audience = var.jwt.audience
  }
}

locals {
  target     = one(concat(aws_apigatewayv2_integration.listener[*].id, aws_apigatewayv2_integration.function[*].id))
  authorizer = one(concat(aws_apigatewayv2_authorizer.token[*].id, aws_apigatewayv2_authorizer.key[*].id))
  kinds      = { AWS_IAM = "AWS_IAM", JWT = "JWT", KEY = local.checks_keys ? "CUSTOM" : "NONE" }
}

resource "aws_apigatewayv2_route" "this" {
  for_each = var.routes

  #checkov:skip=CKV_AWS_309:The authorization is given by a variable that is never empty; KEY leaves the check to the service where it makes one itself.
  api_id             = aws_apigatewayv2_api.this.id
  route_key          = each.value
  target             = "integrations/${local.target}"
  authorization_type = local.kinds[var.authorization]
  authorizer_id      = local.authorizer
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  name              = "/${var.name}/gateway"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_apigatewayv2_stage" "this" {
  api_id      = aws_apigatewayv2_api.this.id
  name        = "$default" # another name would stand in front of every path
  auto_deploy = true

  default_route_settings {
    throttling_rate_limit    = var.throttling.rate
    throttling_burst_limit   = var.throttling.burst
    detailed_metrics_enabled = true
  }

  access_log_settings {
    destination_arn = aws_cloudwatch_log_group.this.arn

    format = jsonencode({
      requestId   = "$context.requestId"
      time        = "$context.requestTime"
      address     = "$context.identity.sourceIp"
      caller      = "$context.identity.userArn"
      subject     = "$context.authorizer.claims.sub"
      key         = "$context.authorizer.key"
      route       = "$context.routeKey"
      status      = "$context.status"
      bytes       = "$context.responseLength"
      duration    = "$context.responseLatency"
      integration = "$context.integrationErrorMessage"
      error       = "$context.error.message"
    })
  }
}
