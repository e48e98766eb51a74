mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name          = "headwater"
  vpc_id        = "vpc-1"
  subnet_ids    = ["subnet-1", "subnet-2", "subnet-3"]
  key_arn       = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  capacity      = 8
  hours_a_month = 20
  raw           = { bucket = "headwater-raw", bucket_arn = "arn:aws:s3:::headwater-raw" }
}

run "the_warehouse_is_private_encrypted_and_bounded" {
  command = apply

  module {
    source = "./modules/warehouse"
  }

  assert {
    condition     = !aws_redshiftserverless_workgroup.this.publicly_accessible && aws_redshiftserverless_workgroup.this.enhanced_vpc_routing
    error_message = "The warehouse is public, or its copies leave the network."
  }

  assert {
    condition     = aws_redshiftserverless_namespace.this.kms_key_id == var.key_arn && aws_redshiftserverless_namespace.this.manage_admin_password
    error_message = "Data are encrypted, and no state holds a password."
  }

  assert {
    condition     = anytrue([for one in aws_redshiftserverless_workgroup.this.config_parameter : one.parameter_key == "require_ssl" && one.parameter_value == "true"])
    error_message = "Connections without TLS are refused."
  }

  assert {
    condition     = aws_redshiftserverless_usage_limit.this.amount == 160 && aws_redshiftserverless_usage_limit.this.breach_action == "deactivate"
    error_message = "A query that nobody ended costs until somebody looks."
  }
}

run "its_tables_are_those_of_the_example" {
  command = apply

  module {
    source = "./modules/warehouse"
  }

  assert {
    condition     = alltrue([for text in ["public.employee ", "public.absent ", "s3://headwater-raw/csv/employees.csv", "CREATE TABLE public.employeewithabsent AS"] : strcontains(output.tables_sql, text)])
    error_message = "A table of the example is missing."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_iam_role_policy.this.policy).Statement : !strcontains(jsonencode(statement.Action), "Put")])
    error_message = "COPY reads."
  }
}

run "two_zones_are_refused" {
  command = plan

  module {
    source = "./modules/warehouse"
  }

  variables {
    subnet_ids = ["subnet-1", "subnet-2"]
  }

  expect_failures = [var.subnet_ids]
}
