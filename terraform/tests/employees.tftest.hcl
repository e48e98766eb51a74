mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                = "headwater"
  vpc_id              = "vpc-1"
  subnet_ids          = ["subnet-1", "subnet-2"]
  key_arn             = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  raw                 = { bucket = "headwater-raw" }
  deletion_protection = false
  log_days            = 30
}

run "the_example_database_is_private_and_encrypted" {
  command = apply

  module {
    source = "./modules/employees"
  }

  assert {
    condition     = aws_db_instance.this.db_name == "employeedb" && strcontains(output.table_sql, "CREATE TABLE IF NOT EXISTS employee ")
    error_message = "The example's job reads employeedb.employee."
  }

  assert {
    condition     = !aws_db_instance.this.publicly_accessible && aws_db_instance.this.storage_encrypted && aws_db_instance.this.manage_master_user_password
    error_message = "The database is public, open, or its password is in the state."
  }

  assert {
    condition     = anytrue([for one in aws_db_parameter_group.this.parameter : one.name == "require_secure_transport" && one.value == "1"])
    error_message = "Connections without TLS are refused."
  }

  assert {
    condition     = toset([for one in aws_s3_object.sample : one.key]) == toset(["csv/attendance.csv", "csv/employees.csv"])
    error_message = "The warehouse copies two files."
  }
}
