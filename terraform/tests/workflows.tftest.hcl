mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "archive" {}

variables {
  name            = "headwater"
  vpc_id          = "vpc-1"
  subnet_ids      = ["subnet-1", "subnet-2", "subnet-3"]
  key_arn         = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  airflow_version = "2.11.0"
  workers         = 2
  code            = { bucket = "headwater-code", bucket_arn = "arn:aws:s3:::headwater-code" }
  url             = "https://lineage.example.org"
  key_secret_arn  = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:producer-AbCdEf"
  namespace       = "hr"
  job_arns        = ["arn:aws:glue:eu-west-1:111122223333:job/headwater-curate-employees"]
  log_days        = 365
}

run "tasks_report_and_the_key_is_in_no_option" {
  command = apply

  module {
    source = "./modules/workflows"
  }

  assert {
    condition     = jsondecode(aws_mwaa_environment.this.airflow_configuration_options["openlineage.transport"]).url == "https://lineage.example.org" && jsondecode(aws_mwaa_environment.this.airflow_configuration_options["openlineage.transport"]).endpoint == "api/v1/lineage"
    error_message = "Events go to Headwater."
  }

  assert {
    condition     = jsondecode(aws_mwaa_environment.this.airflow_configuration_options["openlineage.transport"]).auth == { type = "headwater_key.SecretKey", secret = var.key_secret_arn, region = "eu-west-1" }
    error_message = "The API key comes from its secret, at run time."
  }
}

run "tasks_start_the_jobs_of_this_deployment" {
  command = apply

  module {
    source = "./modules/workflows"
  }

  variables {
    name = "employees"
  }

  assert {
    condition     = strcontains(aws_s3_object.dag["employees.py"].content, "PREFIX = \"employees\"") && strcontains(aws_s3_object.dag["employees.py"].content, "{PREFIX}-{name.replace('_', '-')}")
    error_message = "Tasks name jobs that are not there."
  }
}

run "a_start_without_wheels_goes_on" {
  command = apply

  module {
    source = "./modules/workflows"
  }

  assert {
    condition     = strcontains(aws_s3_object.startup.content, "/airflow/wheels/ /usr/local/airflow/wheels/ || ") && !can(regex("set -|exit", aws_s3_object.startup.content))
    error_message = "MWAA reads the script into its own shell: to end that is to end the start."
  }
}

run "logs_end" {
  command = apply

  module {
    source = "./modules/workflows"
  }

  assert {
    condition     = toset([for one in aws_cloudwatch_log_group.this : one.name]) == toset([for part in ["DAGProcessing", "Scheduler", "Task", "WebServer", "Worker"] : "airflow-headwater-${part}"])
    error_message = "Each group of the environment is here, under the name that MWAA gives it."
  }

  assert {
    condition     = alltrue([for one in aws_cloudwatch_log_group.this : one.retention_in_days == 365 && one.kms_key_id == var.key_arn])
    error_message = "A log stays for ever, or is not encrypted with the key of the deployment."
  }
}

run "airflow_is_private_and_encrypted" {
  command = apply

  module {
    source = "./modules/workflows"
  }

  assert {
    condition     = aws_mwaa_environment.this.webserver_access_mode == "PRIVATE_ONLY" && aws_mwaa_environment.this.kms_key == var.key_arn
    error_message = "Airflow's page is public, or its data are open."
  }

  assert {
    condition     = length(one(aws_mwaa_environment.this.network_configuration).subnet_ids) == 2
    error_message = "MWAA takes two subnets."
  }

  assert {
    condition     = toset(one([for statement in jsondecode(aws_iam_role_policy.this.policy).Statement : statement.Resource if statement.Sid == "StartJobs"])) == toset(var.job_arns)
    error_message = "Tasks start other jobs than the example's."
  }
}

run "an_airflow_without_the_provider_is_refused" {
  command = plan

  module {
    source = "./modules/workflows"
  }

  variables {
    airflow_version = "2.6.3"
  }

  expect_failures = [var.airflow_version]
}
