mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  vpc_id                 = "vpc-2"
  subnet_ids             = ["subnet-3", "subnet-4"]
  endpoint_service_name  = "com.amazonaws.vpce.eu-west-1.vpce-svc-0123456789abcdef0"
  domain_name            = "lineage.example.org"
  secret_arn             = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:headwater/producer/444455556666-AbCdEf"
  key_arn                = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  role_names             = ["glue"]
  job_security_group_ids = { glue = "sg-1" }
}

run "jobs_of_another_account_read_one_key" {
  command = apply

  module {
    source = "./modules/producer"
  }

  assert {
    condition     = jsondecode(aws_iam_role_policy.this["glue"].policy).Statement[0].Resource == var.secret_arn
    error_message = "The role may read another secret."
  }

  assert {
    condition     = jsondecode(aws_iam_role_policy.this["glue"].policy).Statement[1].Condition.StringEquals["kms:ViaService"] == "secretsmanager.eu-west-1.amazonaws.com"
    error_message = "The key opens other things than the secret."
  }

  assert {
    condition     = aws_vpc_endpoint.this.service_name == var.endpoint_service_name && aws_vpc_endpoint.this.vpc_endpoint_type == "Interface"
    error_message = "The way is private."
  }

  assert {
    condition     = [for rule in aws_vpc_security_group_ingress_rule.jobs : rule.referenced_security_group_id] == ["sg-1"]
    error_message = "Others than the jobs reach the endpoint."
  }
}

run "no_role_is_refused" {
  command = plan

  module {
    source = "./modules/producer"
  }

  variables {
    role_names = []
  }

  expect_failures = [var.role_names]
}
