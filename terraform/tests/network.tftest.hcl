mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name               = "headwater"
  cidr               = "10.40.0.0/16"
  availability_zones = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  services           = ["glue"]
  key_arn            = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  log_days           = 365
}

run "subnets_are_private_and_apart" {
  command = apply

  module {
    source = "./modules/network"
  }

  assert {
    condition     = alltrue([for subnet in aws_subnet.private : !subnet.map_public_ip_on_launch])
    error_message = "A subnet gives public addresses."
  }

  assert {
    condition     = length(distinct([for subnet in aws_subnet.private : subnet.cidr_block])) == 3
    error_message = "Two zones have the same addresses."
  }

  assert {
    condition     = alltrue([for endpoint in aws_vpc_endpoint.interface : can(one(jsondecode(endpoint.policy).Statement).Condition.StringEquals["aws:PrincipalAccount"])])
    error_message = "Endpoints take callers of this account alone."
  }

  assert {
    condition     = alltrue([for endpoint in aws_vpc_endpoint.interface : endpoint.private_dns_enabled])
    error_message = "Without private names the SDKs look for AWS in the internet."
  }

  assert {
    condition     = contains(keys(aws_vpc_endpoint.interface), "glue")
    error_message = "Glue jobs need the endpoint of Glue."
  }

  assert {
    condition     = aws_flow_log.this.traffic_type == "ALL" && aws_cloudwatch_log_group.flow.kms_key_id == var.key_arn
    error_message = "Flow logs are complete and encrypted."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_vpc_endpoint.s3.policy).Statement : !strcontains(jsonencode(statement.Action), "*")])
    error_message = "The endpoint of S3 names its actions."
  }
}

run "endpoints_that_airflow_shares_take_its_containers" {
  command = apply

  module {
    source = "./modules/network"
  }

  variables {
    shared_services = ["ecr.dkr"]
  }

  assert {
    condition = [
      for name, endpoint in aws_vpc_endpoint.interface : name if !can(one(jsondecode(endpoint.policy).Statement).Condition)
    ] == ["ecr.dkr"]
    error_message = "An endpoint takes callers of other accounts without need, or does not take them."
  }
}

run "one_zone_is_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    availability_zones = ["eu-west-1a"]
  }

  expect_failures = [var.availability_zones]
}

run "a_small_block_is_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    cidr = "10.40.0.0/26"
  }

  expect_failures = [var.cidr]
}
