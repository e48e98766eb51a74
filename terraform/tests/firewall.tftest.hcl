mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                     = "headwater"
  scope                    = "REGIONAL"
  load_balancer            = { arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/headwater/0123456789abcdef" }
  requests_in_five_minutes = 20000
  key_arn                  = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  log_days                 = 365
}

run "one_address_cannot_take_everything" {
  command = apply

  module {
    source = "./modules/firewall"
  }

  assert {
    condition     = anytrue([for rule in aws_wafv2_web_acl.this.rule : try(one(one(rule.statement).rate_based_statement).limit, 0) == 20000 && try(length(one(rule.action).block), 0) == 1])
    error_message = "Requests of one address are bounded."
  }

  assert {
    condition     = anytrue([for rule in aws_wafv2_web_acl.this.rule : try(one(one(rule.statement).managed_rule_group_statement).name, "") == "AWSManagedRulesKnownBadInputsRuleSet"])
    error_message = "The list with Log4j is missing."
  }

  assert {
    condition     = aws_wafv2_web_acl_association.this[0].resource_arn == var.load_balancer.arn
    error_message = "The rules stand before nothing."
  }
}

run "an_address_with_many_clients_is_not_bounded_as_one" {
  command = apply

  module {
    source = "./modules/firewall"
  }

  variables {
    shared_cidrs = ["10.40.0.0/16"]
  }

  assert {
    condition     = aws_wafv2_ip_set.shared[0].addresses == toset(["10.40.0.0/16"])
    error_message = "The addresses of the gateway are not known."
  }

  assert {
    condition = alltrue([
      for rule in aws_wafv2_web_acl.this.rule : one(one(one(rule.statement).rate_based_statement).scope_down_statement) != null if rule.name == "rate"
      ]) && alltrue([
      for rule in aws_wafv2_web_acl.this.rule : length(one(rule.action).count) == 1 && one(rule.rule_label).name == "one-client" if rule.name == "one-client"
    ])
    error_message = "All clients of a gateway share the bound of one."
  }

  assert {
    condition     = [for rule in aws_wafv2_web_acl.this.rule : rule.priority if rule.name == "one-client"][0] < [for rule in aws_wafv2_web_acl.this.rule : rule.priority if rule.name == "rate"][0]
    error_message = "A mark is set after it is looked for."
  }
}

run "documents_are_not_taken_for_attacks" {
  command = apply

  module {
    source = "./modules/firewall"
  }

  assert {
    condition = alltrue([
      for name in ["SizeRestrictions_BODY", "CrossSiteScripting_BODY", "GenericLFI_BODY", "GenericRFI_BODY", "GenericRFI_QUERYARGUMENTS", "RestrictedExtensions_QUERYARGUMENTS"] :
      anytrue([for rule in aws_wafv2_web_acl.this.rule : anytrue([for override in try(one(one(rule.statement).managed_rule_group_statement).rule_action_override, []) : override.name == name && try(length(one(override.action_to_use).count), 0) == 1])])
    ])
    error_message = "A plan would be blocked for its SQL or its size."
  }
}

run "its_log_has_no_keys" {
  command = apply

  module {
    source = "./modules/firewall"
  }

  assert {
    condition     = length(setsubtract(["authorization", "x-api-key"], [for field in aws_wafv2_web_acl_logging_configuration.this.redacted_fields : one(field.single_header).name])) == 0
    error_message = "An API key gets into the log."
  }
}

run "rules_of_a_distribution_elsewhere_are_refused" {
  command = plan

  module {
    source = "./modules/firewall"
  }

  variables {
    scope  = "CLOUDFRONT"
    region = "eu-west-1"
  }

  expect_failures = [var.region]
}
