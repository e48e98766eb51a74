mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "archive" {}

variables {
  domain_name     = "lineage.example.org"
  certificate_arn = "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"
  image_tag       = "0.1.0"
  network         = { availability_zones = ["eu-west-1a", "eu-west-1b"] }
}

run "connections_are_those_of_the_table" {
  command = apply

  assert {
    condition     = alltrue([for rule in aws_vpc_security_group_ingress_rule.this : rule.referenced_security_group_id != null && rule.cidr_ipv4 == null])
    error_message = "Parts of the deployment know each other by group, not by address."
  }

  assert {
    condition     = alltrue([for rule in aws_vpc_security_group_ingress_rule.clients : rule.from_port == 443 && rule.to_port == 443 && rule.cidr_ipv4 != "0.0.0.0/0"])
    error_message = "Clients come by TLS, and not from everywhere."
  }

  assert {
    condition     = toset(keys(aws_vpc_security_group_egress_rule.this)) == toset(keys(aws_vpc_security_group_ingress_rule.this))
    error_message = "A connection is open at both ends."
  }

  assert {
    condition     = strcontains(output.next_steps, "run-task") && strcontains(output.next_steps, "headwater config glue --url https://lineage.example.org")
    error_message = "The next steps are printed."
  }
}

run "there_is_no_public_door_unless_asked_for" {
  command = apply

  assert {
    condition     = output.gateway == null && !contains(keys(aws_vpc_security_group_ingress_rule.this), "gateway to load balancer")
    error_message = "A gateway that nobody asked for."
  }
}

run "a_gateway_reaches_the_load_balancer_alone" {
  command = apply

  variables {
    gateway = {}
  }

  assert {
    condition     = [for name, row in local.connections : row.to if row.from == "gateway"] == ["load_balancer"]
    error_message = "The gateway talks to more than the load balancer."
  }
}

run "other_accounts_come_by_the_private_way" {
  command = apply

  variables {
    producers = { "444455556666" = { role_arns = ["arn:aws:iam::444455556666:role/glue"] } }
  }

  assert {
    condition     = [for name, row in local.connections : row.to if row.from == "accounts"] == ["load_balancer"]
    error_message = "Other accounts reach more than the load balancer."
  }
}

run "public_clients_are_refused" {
  command = plan

  variables {
    network = { availability_zones = ["eu-west-1a", "eu-west-1b"], client_cidrs = ["0.0.0.0/0"] }
  }

  expect_failures = [var.network]
}

run "a_name_that_s3_would_refuse_is_refused" {
  command = plan

  variables {
    name = "Headwater_1"
  }

  expect_failures = [var.name]
}
