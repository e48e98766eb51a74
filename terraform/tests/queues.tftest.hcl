mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name         = "headwater"
  key_arn      = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  message_size = 256
  uploads      = { bucket = "headwater-uploads", bucket_arn = "arn:aws:s3:::headwater-uploads", prefix = "incoming" }
}

run "no_message_is_dropped" {
  command = apply

  module {
    source = "./modules/queues"
  }

  assert {
    condition     = alltrue([for name, one in aws_sqs_queue_redrive_policy.this : jsondecode(one.redrive_policy).deadLetterTargetArn == aws_sqs_queue.dead[name].arn && jsondecode(one.redrive_policy).maxReceiveCount >= 10])
    error_message = "A message that cannot be taken goes to a dead-letter queue, after several tries."
  }

  assert {
    condition     = alltrue([for one in aws_sqs_queue.dead : one.message_retention_seconds == 1209600]) && aws_sqs_queue.this["events"].message_retention_seconds == 1209600
    error_message = "Documents wait as long as SQS can keep them."
  }

  assert {
    condition     = aws_sqs_queue.this["events"].fifo_queue && aws_sqs_queue.dead["events"].fifo_queue && endswith(aws_sqs_queue.this["events"].name, ".fifo")
    error_message = "Events keep the order of their run; a FIFO queue has a FIFO dead-letter queue."
  }

  assert {
    condition     = aws_sqs_queue.this["events"].deduplication_scope == "messageGroup" && aws_sqs_queue.this["events"].fifo_throughput_limit == "perMessageGroupId"
    error_message = "Runs do not wait for each other."
  }
}

run "messages_are_encrypted_and_closed" {
  command = apply

  module {
    source = "./modules/queues"
  }

  assert {
    condition     = alltrue([for one in concat(values(aws_sqs_queue.this), values(aws_sqs_queue.dead)) : one.kms_master_key_id == var.key_arn])
    error_message = "Messages are encrypted with the key of the deployment."
  }

  assert {
    condition     = alltrue([for one in concat(values(aws_sqs_queue_policy.this), values(aws_sqs_queue_policy.dead)) : anytrue([for statement in jsondecode(one.policy).Statement : statement.Effect == "Deny" && try(statement.Condition.Bool["aws:SecureTransport"], "") == "false"])])
    error_message = "A queue takes messages without TLS."
  }

  assert {
    condition     = one([for statement in jsondecode(aws_sqs_queue_policy.this["uploads"].policy).Statement : statement.Condition.ArnEquals["aws:SourceArn"] if statement.Effect == "Allow"]) == "arn:aws:s3:::headwater-uploads"
    error_message = "S3 speaks for one bucket alone."
  }

  assert {
    condition     = one(aws_s3_bucket_notification.uploads.queue).filter_prefix == "incoming/uploads/"
    error_message = "Pointers of the queue road are no news."
  }
}

run "a_message_that_sqs_refuses_is_refused" {
  command = plan

  module {
    source = "./modules/queues"
  }

  variables {
    message_size = 2048
  }

  expect_failures = [var.message_size]
}
