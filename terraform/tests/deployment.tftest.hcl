mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "archive" {}

variables {
  domain_name     = "lineage.example.org"
  certificate_arn = "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"
  image_tag       = "0.2.0"
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

run "functions_do_without_the_service" {
  command = apply

  variables {
    service         = null
    domain_name     = null
    certificate_arn = null
    functions       = { queue_gateway = { authorization = "KEY" } }
    gateway         = { authorization = "KEY" }
  }

  assert {
    condition     = length(module.service) == 0 && output.url == null && length(aws_vpc_security_group_ingress_rule.clients) == 0
    error_message = "There is a load balancer that nobody asked for."
  }

  assert {
    condition     = toset([for name, row in local.connections : row.to if row.from == "functions"]) == toset(["graph", "journal", "endpoints"])
    error_message = "Functions reach more than they need."
  }

  assert {
    condition     = output.gateway != null && output.queue_gateway != null && length(output.dead_letter_queues) == 3
    error_message = "Both gateways, and a dead-letter queue for each queue."
  }

  assert {
    condition     = strcontains(output.next_steps, "headwater-setup") && !strcontains(output.next_steps, "update-service")
    error_message = "The next steps are those of the functions."
  }
}

run "service_and_functions_share_their_settings" {
  command = apply

  variables {
    functions = {}
  }

  assert {
    condition     = local.settings["HEADWATER_BODIES"] == "s3://${output.buckets.state}/bodies" && !strcontains(local.settings["HEADWATER_DATABASE"], ":secret@")
    error_message = "Both keep large bodies in one place."
  }
}

run "people_come_by_cloudfront" {
  command = apply

  variables {
    page     = { certificate_arn = "arn:aws:acm:us-east-1:111122223333:certificate/11111111-2222-3333-4444-555555555555" }
    firewall = {}
  }

  assert {
    condition     = aws_vpc_security_group_ingress_rule.cloudfront[0].prefix_list_id != null && output.page_dns_name != null
    error_message = "CloudFront does not reach the load balancer."
  }
}

run "the_employees_example_is_whole" {
  command = apply

  variables {
    network   = { availability_zones = ["eu-west-1a", "eu-west-1b", "eu-west-1c"], cidr = "10.192.0.0/16" }
    lake      = { emr = {} }
    employees = true
    warehouse = {}
    workflows = {}
    notebook  = {}
  }

  assert {
    condition     = alltrue([for name, value in output.employees : value != null || name == "airflow_webserver_url" || name == "warehouse_secret_arn"])
    error_message = "An output of the example is missing."
  }

  assert {
    condition     = toset([for name, row in local.connections : row.to if row.from == "jobs"]) == toset(["load_balancer", "endpoints", "employees", "warehouse"])
    error_message = "Jobs reach the data that the example reads."
  }

  assert {
    condition     = [for name, row in local.connections : row.from if row.to == "graph"] == ["notebook", "service"]
    error_message = "Others than the service and the notebook reach the graph."
  }
}

run "neither_service_nor_functions_is_refused" {
  command = plan

  variables {
    service = null
  }

  expect_failures = [var.service]
}

run "a_gateway_to_functions_that_are_not_there_is_refused" {
  command = plan

  variables {
    gateway = { target = "functions" }
  }

  expect_failures = [var.gateway]
}

run "airflow_without_its_bucket_is_refused" {
  command = plan

  variables {
    workflows = {}
  }

  expect_failures = [var.workflows]
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
