mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name         = "headwater"
  vpc_id       = "vpc-1"
  subnet_ids   = ["subnet-1", "subnet-2"]
  key_arn      = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  image        = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/headwater:0.2.0"
  architecture = "ARM64"
  settings     = { HEADWATER_DATABASE_IAM = "true", HEADWATER_GREMLIN_SIGNED = "true" }
  at_once      = { accept = 20, enqueue = 50, take = 5 }
  message_size = 256
  database     = { cluster_resource_id = "cluster-JOURNAL", user = "headwater" }
  graph        = { cluster_resource_id = "cluster-GRAPH" }
  bodies       = { bucket_arn = "arn:aws:s3:::headwater-state", prefix = "bodies" }
  uploads      = { bucket = "headwater-uploads", bucket_arn = "arn:aws:s3:::headwater-uploads", prefix = "incoming" }
  log_days     = 365

  queues = {
    projection = {
      url      = "https://sqs.eu-west-1.amazonaws.com/111122223333/headwater-projection"
      arn      = "arn:aws:sqs:eu-west-1:111122223333:headwater-projection"
      dead_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/headwater-projection-dead"
      dead_arn = "arn:aws:sqs:eu-west-1:111122223333:headwater-projection-dead"
    }
    events = {
      url      = "https://sqs.eu-west-1.amazonaws.com/111122223333/headwater-events.fifo"
      arn      = "arn:aws:sqs:eu-west-1:111122223333:headwater-events.fifo"
      dead_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/headwater-events-dead.fifo"
      dead_arn = "arn:aws:sqs:eu-west-1:111122223333:headwater-events-dead.fifo"
    }
    uploads = {
      url      = "https://sqs.eu-west-1.amazonaws.com/111122223333/headwater-uploads"
      arn      = "arn:aws:sqs:eu-west-1:111122223333:headwater-uploads"
      dead_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/headwater-uploads-dead"
      dead_arn = "arn:aws:sqs:eu-west-1:111122223333:headwater-uploads-dead"
    }
  }
}

run "each_queue_has_its_function" {
  command = apply

  module {
    source = "./modules/functions"
  }

  assert {
    condition     = alltrue([for one in aws_lambda_event_source_mapping.this : contains(one.function_response_types, "ReportBatchItemFailures")])
    error_message = "One bad message brings a whole batch back."
  }

  assert {
    condition     = aws_lambda_event_source_mapping.this["events"].batch_size <= 10 && aws_lambda_event_source_mapping.this["events"].maximum_batching_window_in_seconds == null
    error_message = "A FIFO queue gives ten messages at most, and knows no window."
  }

  assert {
    condition     = one(aws_lambda_function.this["take"].environment).variables["HEADWATER_DEAD_LETTER_QUEUE"] == var.queues["events"].dead_url && one(aws_lambda_function.this["take-uploads"].environment).variables["HEADWATER_DEAD_LETTER_QUEUE"] == var.queues["uploads"].dead_url
    error_message = "A message that can never be taken is set aside beside its own queue."
  }

  assert {
    condition     = alltrue([for one in aws_lambda_event_source_mapping.this : one(one.scaling_config).maximum_concurrency >= 2])
    error_message = "SQS calls two at once at least."
  }

  assert {
    condition     = aws_scheduler_schedule.project.schedule_expression == "rate(1 minute)"
    error_message = "A wake-up that was lost is made up for."
  }
}

run "functions_are_bounded_private_and_encrypted" {
  command = apply

  module {
    source = "./modules/functions"
  }

  assert {
    condition     = alltrue([for one in aws_lambda_function.this : alltrue([for name in ["HEADWATER_DATA", "TMPDIR"] : one.environment[0].variables[name] == "/tmp"])])
    error_message = "A function can write to /tmp alone; the image names its volume."
  }

  assert {
    condition     = alltrue([for one in aws_lambda_function.this : one.reserved_concurrent_executions >= 1 && one.kms_key_arn == var.key_arn])
    error_message = "A function runs without bound, or its variables are open."
  }

  assert {
    condition     = [for name, one in aws_lambda_function.this : name if length(one.vpc_config) == 0] == ["enqueue"]
    error_message = "All that reach database or graph are in the network; enqueue needs it not."
  }

  assert {
    condition     = alltrue([for one in aws_lambda_function.this : one(one.image_config).entry_point[2] == "awslambdaric" && one.architectures == tolist(["arm64"])])
    error_message = "The image is the service's; its entry point is Lambda's."
  }

  assert {
    condition     = aws_lambda_function.this["accept"].timeout < 30
    error_message = "The gateway waits 30 seconds."
  }
}

run "each_role_is_its_functions_own" {
  command = apply

  module {
    source = "./modules/functions"
  }

  assert {
    condition     = length(aws_iam_role.this) == length(aws_lambda_function.this)
    error_message = "Two functions share a role."
  }

  assert {
    condition     = !strcontains(aws_iam_role_policy.accept.policy, "WriteDataViaQuery") && strcontains(aws_iam_role_policy.project.policy, "WriteDataViaQuery")
    error_message = "The projector alone writes the graph."
  }

  assert {
    condition     = !strcontains(aws_iam_role_policy.enqueue.policy, "rds-db") && !strcontains(aws_iam_role_policy.enqueue.policy, "s3:GetObject")
    error_message = "enqueue sends, and reads nothing."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_iam_role_policy.take["take"].policy).Statement : statement.Sid != "TakeMessages" || statement.Resource == var.queues["events"].arn])
    error_message = "A function takes messages of its own queue alone."
  }
}

run "rules_in_a_bucket_may_be_read" {
  command = apply

  module {
    source = "./modules/functions"
  }

  variables {
    rewrite_rules = { place = "s3://rules/lineage.yaml", object_arn = "arn:aws:s3:::rules/lineage.yaml" }
  }

  assert {
    condition     = one([for statement in jsondecode(aws_iam_role_policy.take["take"].policy).Statement : statement.Resource if statement.Sid == "ReadRules"]) == "arn:aws:s3:::rules/lineage.yaml"
    error_message = "The rules are one object."
  }

  assert {
    condition     = one(aws_lambda_function.this["take"].environment).variables["HEADWATER_REWRITE_RULES"] == "s3://rules/lineage.yaml"
    error_message = "The function knows where its rules are."
  }
}

run "rules_in_a_bucket_without_their_arn_are_refused" {
  command = plan

  module {
    source = "./modules/functions"
  }

  variables {
    rewrite_rules = { place = "s3://rules/lineage.yaml" }
  }

  expect_failures = [var.rewrite_rules]
}

run "more_than_the_database_bears_is_refused" {
  command = plan

  module {
    source = "./modules/functions"
  }

  variables {
    at_once = { accept = 2000, enqueue = 50, take = 5 }
  }

  expect_failures = [var.at_once]
}
