mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "archive" {}

variables {
  name          = "headwater"
  key_arn       = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  log_days      = 365
  authorization = "AWS_IAM"
  throttling    = { rate = 100, burst = 200 }

  listener = {
    arn         = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:listener/app/headwater/0123456789abcdef/0123456789abcdef"
    domain_name = "lineage.example.org"
    vpc_id      = "vpc-1"
    subnet_ids  = ["subnet-1", "subnet-2"]
  }
}

run "every_route_asks_who_is_there" {
  command = apply

  module {
    source = "./modules/gateway"
  }

  assert {
    condition     = alltrue([for route in aws_apigatewayv2_route.this : route.authorization_type == "AWS_IAM"])
    error_message = "A route lets everyone in."
  }

  assert {
    condition     = alltrue([for key in keys(aws_apigatewayv2_route.this) : !startswith(key, "ANY") && !strcontains(key, "proxy")])
    error_message = "The default is the routes of producers."
  }
}

run "it_is_throttled_logged_and_verifies_the_certificate" {
  command = apply

  module {
    source = "./modules/gateway"
  }

  assert {
    condition     = one(aws_apigatewayv2_stage.this.default_route_settings).throttling_rate_limit == 100 && one(aws_apigatewayv2_stage.this.default_route_settings).throttling_burst_limit == 200
    error_message = "Requests are throttled."
  }

  assert {
    condition     = one(aws_apigatewayv2_stage.this.access_log_settings).destination_arn == aws_cloudwatch_log_group.this.arn && aws_cloudwatch_log_group.this.kms_key_id == var.key_arn
    error_message = "Requests are logged, encrypted."
  }

  assert {
    condition     = one(aws_apigatewayv2_integration.listener[0].tls_config).server_name_to_verify == "lineage.example.org"
    error_message = "The gateway verifies its peer."
  }

  assert {
    condition     = aws_apigatewayv2_stage.this.name == "$default"
    error_message = "The name of a stage would stand in front of every path."
  }

  assert {
    condition     = length(aws_apigatewayv2_integration.listener[0].response_parameters) == 0
    error_message = "Headers of answers pass as they are, the Spline version headers among them."
  }
}

run "a_token_has_a_header_of_its_own" {
  command = apply

  module {
    source = "./modules/gateway"
  }

  variables {
    authorization = "JWT"
    jwt           = { issuer = "https://login.example.org", audience = ["lineage"] }
  }

  assert {
    condition     = !contains(aws_apigatewayv2_authorizer.token[0].identity_sources, "$request.header.Authorization")
    error_message = "The service would take the token for an API key."
  }

  assert {
    condition     = alltrue([for route in aws_apigatewayv2_route.this : route.authorization_type == "JWT" && route.authorizer_id == aws_apigatewayv2_authorizer.token[0].id])
    error_message = "A route does without the token."
  }
}

run "tokens_without_an_issuer_are_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    authorization = "JWT"
  }

  expect_failures = [var.jwt]
}

run "no_authorization_is_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    authorization = "NONE"
  }

  expect_failures = [var.authorization]
}

run "no_throttling_is_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    throttling = { rate = 0, burst = 0 }
  }

  expect_failures = [var.throttling]
}

run "a_function_gets_the_headers_apart" {
  command = apply

  module {
    source = "./modules/gateway"
  }

  variables {
    listener = null
    function = { name = "headwater-accept", invoke_arn = "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:111122223333:function:headwater-accept/invocations" }
  }

  assert {
    condition     = aws_apigatewayv2_integration.function[0].payload_format_version == "1.0"
    error_message = "With format 2.0 the three version headers of Spline's handshake become one."
  }

  assert {
    condition     = aws_lambda_permission.function[0].source_arn == "${aws_apigatewayv2_api.this.execution_arn}/*/*" && aws_lambda_permission.function[0].source_account == "111122223333"
    error_message = "Another API may call the function."
  }

  assert {
    condition     = length(aws_apigatewayv2_vpc_link.this) == 0 && output.security_group_id == null
    error_message = "A function needs no way into the network."
  }
}

run "keys_are_checked_where_nobody_behind_does" {
  command = apply

  module {
    source = "./modules/gateway"
  }

  variables {
    listener        = null
    function        = { name = "headwater-enqueue", invoke_arn = "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:111122223333:function:headwater-enqueue/invocations" }
    authorization   = "KEY"
    key_secret_arns = { producer = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:producer-AbCdEf" }
  }

  assert {
    condition     = alltrue([for route in aws_apigatewayv2_route.this : route.authorization_type == "CUSTOM" && route.authorizer_id == aws_apigatewayv2_authorizer.key[0].id])
    error_message = "A route lets everyone in."
  }

  assert {
    condition     = toset(one([for statement in jsondecode(aws_iam_role_policy.check_key[0].policy).Statement : statement.Resource if statement.Sid == "ReadKeys"])) == toset(values(var.key_secret_arns))
    error_message = "The function that checks keys reads those keys alone."
  }

  assert {
    condition     = aws_apigatewayv2_authorizer.key[0].authorizer_result_ttl_in_seconds <= 300
    error_message = "A key that was revoked goes on for long."
  }
}

run "two_things_behind_the_gateway_are_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    function = { name = "headwater-accept", invoke_arn = "arn:aws:apigateway:eu-west-1:lambda:path/functions/x/invocations" }
  }

  expect_failures = [var.function]
}

run "programs_of_another_account_call_by_a_role" {
  command = apply

  module {
    source = "./modules/gateway"
  }

  variables {
    callers = { "444455556666" = ["arn:aws:iam::444455556666:role/dbt"] }
  }

  assert {
    condition     = toset(jsondecode(aws_iam_role.caller["444455556666"].assume_role_policy).Statement[0].Principal.AWS) == toset(["arn:aws:iam::444455556666:role/dbt"])
    error_message = "Others may assume the role."
  }

  assert {
    condition     = jsondecode(aws_iam_role_policy.caller["444455556666"].policy).Statement[0].Resource == "${aws_apigatewayv2_api.this.execution_arn}/*"
    error_message = "The role calls another gateway, too."
  }
}

run "callers_without_signatures_are_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    authorization = "KEY"
    callers       = { "444455556666" = ["arn:aws:iam::444455556666:role/dbt"] }
  }

  expect_failures = [var.callers]
}
