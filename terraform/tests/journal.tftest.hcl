mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                = "headwater"
  vpc_id              = "vpc-1"
  subnet_ids          = ["subnet-1", "subnet-2"]
  key_arn             = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  engine_version      = "16.13"
  capacity            = { min = 0.5, max = 4 }
  instances           = 2
  backup_days         = 35
  deletion_protection = true
  log_days            = 365
}

run "the_journal_is_encrypted_private_and_kept" {
  command = apply

  module {
    source = "./modules/journal"
  }

  assert {
    condition     = aws_rds_cluster.this.storage_encrypted && aws_rds_cluster.this.kms_key_id == var.key_arn
    error_message = "The journal is encrypted with the key of the deployment."
  }

  assert {
    condition     = aws_rds_cluster.this.manage_master_user_password
    error_message = "RDS makes the password; no state holds one."
  }

  assert {
    condition     = alltrue([for one in aws_rds_cluster_instance.this : !one.publicly_accessible && one.instance_class == "db.serverless"])
    error_message = "Instances are serverless and private."
  }

  assert {
    condition     = anytrue([for one in aws_rds_cluster_parameter_group.this.parameter : one.name == "rds.force_ssl" && one.value == "1"])
    error_message = "Connections without TLS are refused."
  }

  assert {
    condition     = alltrue([for name in ["log_parameter_max_length", "log_parameter_max_length_on_error"] : anytrue([for one in aws_rds_cluster_parameter_group.this.parameter : one.name == name && one.value == "0"])])
    error_message = "Documents do not get into the log of PostgreSQL."
  }

  assert {
    condition     = aws_rds_cluster.this.backup_retention_period == 35 && aws_rds_cluster.this.deletion_protection && !aws_rds_cluster.this.skip_final_snapshot
    error_message = "The journal can be restored, and is not deleted without a snapshot."
  }

  assert {
    condition     = aws_rds_cluster_parameter_group.this.family == "aurora-postgresql16"
    error_message = "The family of the parameters is that of the engine."
  }
}

run "programs_sign_in_with_tokens" {
  command = apply

  module {
    source = "./modules/journal"
  }

  assert {
    condition     = aws_rds_cluster.this.iam_database_authentication_enabled
    error_message = "The service has no password: it signs in with tokens of IAM."
  }

  assert {
    condition     = aws_rds_cluster.this.master_username != "headwater"
    error_message = "The owner is another user than the service's, which a member of rds_iam must be."
  }

  assert {
    condition     = output.cluster_resource_id == "cluster-JOURNAL"
    error_message = "Policies of rds-db name the cluster by its resource id."
  }
}

run "a_named_engine_is_taken_and_nothing_is_asked" {
  command = plan

  module {
    source = "./modules/journal"
  }

  variables {
    engine_version = "17.9"
  }

  assert {
    condition     = aws_rds_cluster.this.engine_version == "17.9" && length(data.aws_rds_engine_version.newest) == 0
    error_message = "The caller's version is the version."
  }

  assert {
    condition     = aws_rds_cluster_parameter_group.this.family == "aurora-postgresql17" && aws_rds_cluster_parameter_group.this.name == "headwater-journal-17"
    error_message = "The parameters follow the major version, in a group beside that of the one before."
  }

  assert {
    condition     = aws_rds_cluster.this.allow_major_version_upgrade
    error_message = "Whoever names a version may go to the next major one."
  }
}

run "without_a_name_the_engine_is_the_newest_of_16" {
  command = apply

  module {
    source = "./modules/journal"
  }

  variables {
    engine_version = null
  }

  assert {
    condition     = aws_rds_cluster.this.engine_version == "16.13" && alltrue([for one in aws_rds_cluster_instance.this : one.engine_version == "16.13"])
    error_message = "The version is the one that the region calls its newest."
  }

  assert {
    condition     = data.aws_rds_engine_version.newest[0].parameter_group_family == aws_rds_cluster_parameter_group.this.family && data.aws_rds_engine_version.newest[0].latest
    error_message = "It is the newest of the family that the parameters are of."
  }

  assert {
    condition     = !aws_rds_cluster.this.allow_major_version_upgrade
    error_message = "No major version comes by itself."
  }
}

run "a_newest_engine_of_the_sharded_kind_is_refused" {
  command = plan

  module {
    source = "./modules/journal"
  }

  variables {
    engine_version = null
  }

  override_data {
    target = data.aws_rds_engine_version.newest
    values = { version_actual = "16.14-limitless" }
  }

  expect_failures = [data.aws_rds_engine_version.newest]
}

run "instances_are_in_the_network_of_their_cluster_and_rest_when_it_does" {
  command = apply

  module {
    source = "./modules/journal"
  }

  assert {
    condition = alltrue([
      for one in aws_rds_cluster_instance.this :
      one.db_subnet_group_name == aws_rds_cluster.this.db_subnet_group_name && one.preferred_maintenance_window == aws_rds_cluster.this.preferred_maintenance_window
    ])
    error_message = "An instance is somewhere else, or is maintained at another time."
  }
}

run "refused_tokens_are_logged" {
  command = apply

  module {
    source = "./modules/journal"
  }

  assert {
    condition     = aws_rds_cluster.this.enabled_cloudwatch_logs_exports == toset(keys(aws_cloudwatch_log_group.this)) && contains(keys(aws_cloudwatch_log_group.this), "iam-db-auth-error")
    error_message = "Each log that Aurora writes has its group, and why a token was refused is one of them."
  }
}

run "an_old_engine_is_refused" {
  command = plan

  module {
    source = "./modules/journal"
  }

  variables {
    engine_version = "12.9"
  }

  expect_failures = [var.engine_version]
}

run "no_backup_is_refused" {
  command = plan

  module {
    source = "./modules/journal"
  }

  variables {
    backup_days = 0
  }

  expect_failures = [var.backup_days]
}
