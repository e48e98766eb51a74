mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                = "headwater"
  vpc_id              = "vpc-1"
  subnet_ids          = ["subnet-1", "subnet-2"]
  load_balancer_arn   = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/headwater/0123456789abcdef"
  deletion_protection = true

  producers = {
    "444455556666" = { role_arns = ["arn:aws:iam::444455556666:role/glue"] }
    "777788889999" = { role_arns = ["arn:aws:iam::777788889999:role/emr"] }
  }
}

run "an_account_reads_its_own_key_alone" {
  command = apply

  module {
    source = "./modules/capture"
  }

  assert {
    condition     = alltrue([for account, one in aws_secretsmanager_secret_policy.this : toset(jsondecode(one.policy).Statement[0].Principal.AWS) == toset(var.producers[account].role_arns)])
    error_message = "An account may read the key of another one."
  }

  assert {
    condition     = aws_vpc_endpoint_service.this.acceptance_required && toset(aws_vpc_endpoint_service.this.allowed_principals) == toset(["arn:aws:iam::444455556666:root", "arn:aws:iam::777788889999:root"])
    error_message = "Others may connect."
  }

  assert {
    condition     = aws_lb.this.internal
    error_message = "The private way is private."
  }

  assert {
    condition     = alltrue([for secret in aws_secretsmanager_secret.this : secret.kms_key_id == aws_kms_key.this.arn])
    error_message = "Keys of other accounts have an encryption key of their own."
  }
}

run "jobs_of_this_region_open_no_other_one" {
  command = apply

  module {
    source = "./modules/capture"
  }

  assert {
    condition     = local.regions == null
    error_message = "The private way is open to other regions."
  }
}

run "jobs_of_another_region_come_in" {
  command = apply

  module {
    source = "./modules/capture"
  }

  variables {
    producers = { "444455556666" = { role_arns = ["arn:aws:iam::444455556666:role/glue"], region = "eu-central-1" } }
  }

  assert {
    condition     = aws_vpc_endpoint_service.this.supported_regions == toset(["eu-central-1", "eu-west-1"])
    error_message = "The region of the jobs is shut out."
  }
}

run "a_role_of_another_account_is_refused" {
  command = plan

  module {
    source = "./modules/capture"
  }

  variables {
    producers = { "444455556666" = { role_arns = ["arn:aws:iam::777788889999:role/emr"] } }
  }

  expect_failures = [var.producers]
}

run "every_role_is_refused" {
  command = plan

  module {
    source = "./modules/capture"
  }

  variables {
    producers = { "444455556666" = { role_arns = ["arn:aws:iam::444455556666:role/*"] } }
  }

  expect_failures = [var.producers]
}
