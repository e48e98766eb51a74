mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                = "headwater"
  vpc_id              = "vpc-1"
  subnet_ids          = ["subnet-1", "subnet-2"]
  key_arn             = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  engine_version      = "1.4.8.0"
  capacity            = { min = 1, max = 4 }
  instances           = 2
  backup_days         = 7
  deletion_protection = true
  log_days            = 365
}

run "the_graph_is_encrypted_private_and_signed" {
  command = apply

  module {
    source = "./modules/graph"
  }

  assert {
    condition     = aws_neptune_cluster.this.storage_encrypted && aws_neptune_cluster.this.kms_key_arn == var.key_arn
    error_message = "The graph is encrypted with the key of the deployment."
  }

  assert {
    condition     = aws_neptune_cluster.this.iam_database_authentication_enabled
    error_message = "Neptune asks for signed requests."
  }

  assert {
    condition     = alltrue([for one in aws_neptune_cluster_instance.this : !one.publicly_accessible])
    error_message = "An instance is public."
  }

  assert {
    condition     = contains(aws_neptune_cluster.this.enable_cloudwatch_logs_exports, "audit") && anytrue([for one in aws_neptune_cluster_parameter_group.this.parameter : one.name == "neptune_enable_audit_log" && one.value == "1"])
    error_message = "The audit log is on, in both places that it needs."
  }

  assert {
    condition     = aws_neptune_cluster.this.deletion_protection && !aws_neptune_cluster.this.skip_final_snapshot && aws_neptune_cluster.this.final_snapshot_identifier != null
    error_message = "A protected cluster leaves a snapshot."
  }

  assert {
    condition     = startswith(output.url, "wss://") && endswith(output.url, ":8182/gremlin")
    error_message = "HEADWATER_GREMLIN_URL is a TLS WebSocket."
  }

  assert {
    condition     = output.load_role_arn == null
    error_message = "There is no role for loading without a bucket."
  }
}

run "loading_may_read_one_bucket" {
  command = apply

  module {
    source = "./modules/graph"
  }

  variables {
    load_bucket = { arn = "arn:aws:s3:::loads", key_arn = "arn:aws:kms:eu-west-1:111122223333:key/66666666-2222-3333-4444-555555555555" }
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_iam_role_policy.load[0].policy).Statement : startswith(statement.Resource, "arn:aws:s3:::loads") || statement.Resource == var.load_bucket.key_arn])
    error_message = "The loader reads its bucket alone."
  }
}

run "a_named_engine_is_taken_and_nothing_is_asked" {
  command = plan

  module {
    source = "./modules/graph"
  }

  assert {
    condition     = aws_neptune_cluster.this.engine_version == "1.4.8.0" && length(data.aws_neptune_engine_version.newest) == 0
    error_message = "The caller's version is the version."
  }
}

run "without_a_name_the_engine_is_the_newest_of_its_family" {
  command = apply

  module {
    source = "./modules/graph"
  }

  variables {
    engine_version = null
  }

  assert {
    condition     = aws_neptune_cluster.this.engine_version == "1.4.8.0"
    error_message = "The version is the one that the region calls its newest."
  }

  assert {
    condition     = data.aws_neptune_engine_version.newest[0].parameter_group_family == aws_neptune_cluster_parameter_group.this.family && data.aws_neptune_engine_version.newest[0].latest
    error_message = "It is the newest of the family that the parameters are of."
  }
}

run "instances_are_in_the_network_of_their_cluster_and_rest_when_it_does" {
  command = apply

  module {
    source = "./modules/graph"
  }

  assert {
    condition = alltrue([
      for one in aws_neptune_cluster_instance.this :
      one.neptune_subnet_group_name == aws_neptune_cluster.this.neptune_subnet_group_name && one.preferred_maintenance_window == aws_neptune_cluster.this.preferred_maintenance_window
    ])
    error_message = "An instance is somewhere else, or is maintained at another time."
  }
}

run "an_engine_of_another_family_is_refused" {
  command = plan

  module {
    source = "./modules/graph"
  }

  variables {
    engine_version = "1.3.2.0"
  }

  expect_failures = [var.engine_version]
}

run "capacity_the_wrong_way_round_is_refused" {
  command = plan

  module {
    source = "./modules/graph"
  }

  variables {
    capacity = { min = 16, max = 4 }
  }

  expect_failures = [var.capacity]
}
