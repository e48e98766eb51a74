# A door for producers that do not reach the network: an HTTP API in front of the load balancer. Its address is
# public, so it asks who is there, is throttled, and knows the producers' routes alone unless told otherwise.

resource "aws_security_group" "this" {
  name        = "${var.name}-gateway"
  description = "VPC link of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-gateway" }
}

resource "aws_apigatewayv2_vpc_link" "this" {
  name               = var.name
  subnet_ids         = var.subnet_ids
  security_group_ids = [aws_security_group.this.id]
}

resource "aws_apigatewayv2_api" "this" {
  name          = var.name
  description   = "Lineage of producers outside the network of ${var.name}"
  protocol_type = "HTTP"
}

# Headers pass as they are, in both directions. Bodies of more than 10 MB and answers after 29 s do not.
resource "aws_apigatewayv2_integration" "this" {
  api_id               = aws_apigatewayv2_api.this.id
  description          = "The load balancer"
  integration_type     = "HTTP_PROXY"
  integration_method   = "ANY"
  integration_uri      = var.listener_arn
  connection_type      = "VPC_LINK"
  connection_id        = aws_apigatewayv2_vpc_link.this.id
  timeout_milliseconds = 29000

  tls_config {
    server_name_to_verify = var.domain_name
  }
}

# The token has a header of its own: Authorization may carry an API key, which the service compares with X-API-Key.
resource "aws_apigatewayv2_authorizer" "this" {
  count = var.authorization == "JWT" ? 1 : 0

  api_id           = aws_apigatewayv2_api.this.id
  name             = var.name
  authorizer_type  = "JWT"
  identity_sources = ["$request.header.X-Gateway-Token"]

  jwt_configuration {
    issuer   = var.jwt.issuer
    audience = var.jwt.audience
  }
}

resource "aws_apigatewayv2_route" "this" {
  for_each = var.routes

  #checkov:skip=CKV_AWS_309:The authorization is given by a variable that is never empty; KEY leaves the check to the service.
  api_id             = aws_apigatewayv2_api.this.id
  route_key          = each.value
  target             = "integrations/${aws_apigatewayv2_integration.this.id}"
  authorization_type = { AWS_IAM = "AWS_IAM", JWT = "JWT", KEY = "NONE" }[var.authorization]
  authorizer_id      = one(aws_apigatewayv2_authorizer.this[*].id)
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
      route       = "$context.routeKey"
      status      = "$context.status"
      bytes       = "$context.responseLength"
      duration    = "$context.responseLatency"
      integration = "$context.integrationErrorMessage"
      error       = "$context.error.message"
    })
  }
}
