mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "archive" {}

variables {
  name                = "headwater"
  vpc_id              = "vpc-1"
  subnet              = { id = "subnet-1", availability_zone = "eu-west-1a" }
  key_arn             = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  url                 = "https://lineage.example.org"
  key_secret_arn      = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:producer-AbCdEf"
  namespace           = "hr"
  agent               = "listener"
  deletion_protection = true
  log_days            = 365
}

run "data_are_encrypted_versioned_and_closed" {
  command = apply

  module {
    source = "./modules/lake"
  }

  assert {
    condition     = toset(keys(aws_s3_bucket.this)) == toset(["raw", "curated", "aggregated", "code"])
    error_message = "The buckets of the example."
  }

  assert {
    condition     = alltrue([for one in aws_s3_bucket_public_access_block.this : one.block_public_acls && one.block_public_policy && one.ignore_public_acls && one.restrict_public_buckets])
    error_message = "A bucket may become public."
  }

  assert {
    condition     = length(aws_s3_bucket_versioning.this) == 4 && length(aws_s3_bucket_server_side_encryption_configuration.this) == 4
    error_message = "A bucket without versions or encryption."
  }

  assert {
    condition     = alltrue([for bucket in aws_s3_bucket.this : !bucket.force_destroy])
    error_message = "Protected data go with their bucket."
  }

  assert {
    condition     = contains(keys(aws_s3_object.sample), "employees.csv")
    error_message = "The raw data of the example are there."
  }
}

run "jobs_report_to_the_service" {
  command = apply

  module {
    source = "./modules/lake"
  }

  assert {
    condition     = alltrue([for job in aws_glue_job.this : strcontains(job.default_arguments["--conf"], "spark.headwater.url=https://lineage.example.org")])
    error_message = "A job does not know where to report."
  }

  assert {
    condition     = alltrue([for part in split(" --conf ", aws_glue_job.this["curate_employees"].default_arguments["--conf"]) : can(regex("^spark[.][^ =]+=[^ ]+$", part))])
    error_message = "Glue would split a value at its blank."
  }

  assert {
    condition     = alltrue([for job in aws_glue_job.this : job.security_configuration == aws_glue_security_configuration.this.name && length(job.connections) == 1])
    error_message = "A job is not encrypted, or does not reach the service."
  }

  assert {
    condition     = alltrue([for job in aws_glue_job.this : !strcontains(jsonencode(job.default_arguments), "hw_") && !strcontains(job.default_arguments["--conf"], "X-API-Key")])
    error_message = "Arguments of a job can be read by many; the key is not among them."
  }
}

run "logs_of_the_jobs_end" {
  command = apply

  module {
    source = "./modules/lake"
  }

  assert {
    condition     = toset([for one in aws_cloudwatch_log_group.glue : one.name]) == toset(["/headwater/glue/headwater-role/headwater-glue/error", "/headwater/glue/headwater-role/headwater-glue/output"])
    error_message = "The groups have the names that Glue makes of prefix, security configuration and role."
  }

  assert {
    condition     = alltrue([for job in aws_glue_job.this : job.default_arguments["--custom-logGroup-prefix"] == "/headwater/glue"]) && alltrue([for one in aws_cloudwatch_log_group.glue : one.retention_in_days == 365 && one.kms_key_id == var.key_arn])
    error_message = "A job logs somewhere else, or for ever."
  }
}

run "the_stock_agent_brings_its_jars" {
  command = apply

  module {
    source = "./modules/lake"
  }

  variables {
    agent = "spline"
  }

  assert {
    condition     = strcontains(aws_glue_job.this["rank_absences"].default_arguments["--extra-jars"], "snakeyaml") && aws_glue_job.this["rank_absences"].default_arguments["--user-jars-first"] == "true"
    error_message = "The agent needs its bundle and SnakeYAML, before Glue's own."
  }

  assert {
    condition     = alltrue([for part in split(" --conf ", output.conf) : can(regex("^spark[.][^ =]+=[^ ]+$", part))])
    error_message = "Glue would split a value at its blank."
  }
}

run "raw_data_are_read_only" {
  command = apply

  module {
    source = "./modules/lake"
  }

  assert {
    condition     = one([for statement in jsondecode(aws_iam_role_policy.this.policy).Statement : statement.Action if statement.Sid == "ReadCodeAndRawData"]) == "s3:GetObject"
    error_message = "Jobs may change raw data or code."
  }
}

run "a_namespace_with_a_blank_is_refused" {
  command = plan

  module {
    source = "./modules/lake"
  }

  variables {
    namespace = "human resources"
  }

  expect_failures = [var.namespace]
}

run "emr_runs_the_same_jobs" {
  command = apply

  module {
    source = "./modules/lake"
  }

  variables {
    emr = { release = "emr-7.13.0", cpu = 16 }
  }

  assert {
    condition     = one([for one in aws_emrserverless_application.this[0].runtime_configuration : one.properties["spark.headwater.url"] if one.classification == "spark-defaults"]) == "https://lineage.example.org"
    error_message = "Job runs report to the service."
  }

  assert {
    condition     = one(aws_emrserverless_application.this[0].maximum_capacity).cpu == "16 vCPU" && one(aws_emrserverless_application.this[0].auto_stop_configuration).enabled
    error_message = "The application is bounded, and stops when it is idle."
  }

  assert {
    condition     = strcontains(output.emr.start_job_run, "start-job-run") && !strcontains(output.emr.start_job_run, "hw_")
    error_message = "The command is printed, without a key."
  }

  assert {
    condition     = one([for statement in jsondecode(aws_iam_role_policy.emr[0].policy).Statement : statement.Action if statement.Sid == "ReadCodeAndRawData"]) == "s3:GetObject"
    error_message = "Job runs may change raw data or code."
  }
}

run "an_old_emr_is_refused" {
  command = plan

  module {
    source = "./modules/lake"
  }

  variables {
    emr = { release = "emr-6.15.0", cpu = 16 }
  }

  expect_failures = [var.emr]
}
