mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name          = "headwater"
  vpc_id        = "vpc-1"
  subnet_ids    = ["subnet-1", "subnet-2"]
  listener_arn  = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:listener/app/headwater/0123456789abcdef/0123456789abcdef"
  domain_name   = "lineage.example.org"
  key_arn       = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  log_days      = 365
  authorization = "AWS_IAM"
  throttling    = { rate = 100, burst = 200 }
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
    condition     = one(aws_apigatewayv2_integration.this.tls_config).server_name_to_verify == "lineage.example.org"
    error_message = "The gateway verifies whom it talks to."
  }

  assert {
    condition     = aws_apigatewayv2_stage.this.name == "$default"
    error_message = "The name of a stage would stand in front of every path."
  }

  assert {
    condition     = length(aws_apigatewayv2_integration.this.response_parameters) == 0
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
    condition     = !contains(aws_apigatewayv2_authorizer.this[0].identity_sources, "$request.header.Authorization")
    error_message = "The service would take the token for an API key."
  }

  assert {
    condition     = alltrue([for route in aws_apigatewayv2_route.this : route.authorization_type == "JWT" && route.authorizer_id == aws_apigatewayv2_authorizer.this[0].id])
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
