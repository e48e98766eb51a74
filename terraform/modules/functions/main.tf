# Headwater on Lambda: the same image as the service, one function a task. Journal, graph and buckets are the
# service's own, so that both ways may run side by side.
#
#   accept         does the work of the service for a request: checks the key, writes the journal, answers questions
#   project        journal -> graph; woken by the queue, and once a minute in case that a message was lost
#   enqueue        the queue road: a request with events -> the FIFO queue, nothing else; it needs no network of ours
#   take           events of the FIFO queue -> rewrite rules -> journal
#   take-uploads   plans that a client put into the bucket of uploads -> journal

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region

  # In addition to the settings that the service and the functions share. A function can write to /tmp alone.
  common  = { HEADWATER_LOG_FORMAT = "json", HEADWATER_PROJECTION_WAIT = "0", HEADWATER_DATA = "/tmp", TMPDIR = "/tmp" }
  uploads = { HEADWATER_UPLOADS = "s3://${var.uploads.bucket}/${var.uploads.prefix}" }
  wake    = { HEADWATER_PROJECTION_QUEUE = var.queues["projection"].url }
  rules   = var.rewrite_rules == null ? {} : { HEADWATER_REWRITE_RULES = var.rewrite_rules.place }

  # 1769 MB are one whole vCPU. "at_once" bounds the connections to the database, two for each.
  functions = {
    accept = {
      handler     = "aws.accept.handler", timeout = 29, memory = 1769, at_once = var.at_once.accept, private = true
      environment = merge(var.settings, local.common, local.wake, local.uploads)
    }
    project = {
      handler     = "aws.project.handler", timeout = 300, memory = 1769, at_once = 3, private = true
      environment = merge(var.settings, local.common, local.wake)
    }
    enqueue = {
      handler = "aws.enqueue.handler", timeout = 10, memory = 512, at_once = var.at_once.enqueue, private = false
      environment = merge(local.common, local.uploads, {
        HEADWATER_EVENT_QUEUE  = var.queues["events"].url
        HEADWATER_MESSAGE_SIZE = tostring(var.message_size)
      })
    }
    take = {
      handler = "aws.take.handler", timeout = 60, memory = 1024, at_once = var.at_once.take, private = true
      environment = merge(var.settings, local.common, local.wake, local.uploads, local.rules, {
        HEADWATER_DEAD_LETTER_QUEUE = var.queues["events"].dead_url
      })
    }
    take-uploads = {
      handler = "aws.take.handler", timeout = 60, memory = 1769, at_once = 2, private = true
      environment = merge(var.settings, local.common, local.wake, local.uploads, local.rules, {
        HEADWATER_DEAD_LETTER_QUEUE = var.queues["uploads"].dead_url
      })
    }
  }

  # Queue => the function that takes its messages. Seconds to gather a batch; a FIFO queue has none.
  sources = {
    projection = { function = "project", batch = 1000, window = 1, at_once = 2 }
    events     = { function = "take", batch = 10, window = null, at_once = var.at_once.take }
    uploads    = { function = "take-uploads", batch = 1, window = null, at_once = 2 }
  }
}

resource "aws_security_group" "this" {
  name        = "${var.name}-functions"
  description = "Lambda functions of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-functions" }
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = local.functions

  name              = "/aws/lambda/${var.name}-${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_lambda_function" "this" {
  for_each = local.functions

  #checkov:skip=CKV_AWS_116:Failures go to the dead-letter queue of the queue (modules/queues); the only other caller comes again each minute.
  #checkov:skip=CKV_AWS_117:All but enqueue are in the network; enqueue talks to SQS and S3 alone and starts faster outside.
  #checkov:skip=CKV_AWS_272:Signatures of code are for zip files; the image is named by a tag that cannot be moved.
  function_name                  = "${var.name}-${each.key}"
  description                    = "Headwater: ${each.value.handler}"
  role                           = aws_iam_role.this[each.key].arn
  package_type                   = "Image"
  image_uri                      = var.image
  architectures                  = [{ X86_64 = "x86_64", ARM64 = "arm64" }[var.architecture]]
  timeout                        = each.value.timeout
  memory_size                    = each.value.memory
  reserved_concurrent_executions = each.value.at_once
  kms_key_arn                    = var.key_arn

  image_config {
    entry_point = ["/opt/headwater/bin/python", "-m", "awslambdaric"]
    command     = [each.value.handler]
  }

  environment {
    variables = each.value.environment
  }

  dynamic "vpc_config" {
    for_each = each.value.private ? [1] : []

    content {
      subnet_ids         = var.subnet_ids
      security_group_ids = [aws_security_group.this.id]
    }
  }

  tracing_config {
    mode = "PassThrough"
  }

  logging_config {
    log_format = "Text" # its lines are JSON already
    log_group  = aws_cloudwatch_log_group.this[each.key].name
  }

  depends_on = [
    aws_iam_role_policy.run, aws_iam_role_policy.accept, aws_iam_role_policy.project,
    aws_iam_role_policy.enqueue, aws_iam_role_policy.take,
  ]
}

# --- their callers: queues, and a clock. The gateways are in modules/gateway ------------------------------

resource "aws_lambda_event_source_mapping" "this" {
  for_each = local.sources

  event_source_arn                   = var.queues[each.key].arn
  function_name                      = aws_lambda_function.this[each.value.function].arn
  batch_size                         = each.value.batch
  maximum_batching_window_in_seconds = each.value.window

  # A batch with one bad message: the good ones are done, the bad one alone comes again.
  function_response_types = ["ReportBatchItemFailures"]

  scaling_config {
    maximum_concurrency = each.value.at_once
  }
}

resource "aws_scheduler_schedule" "project" {
  name                = "${var.name}-project"
  description         = "Wakes the projector of ${var.name} each minute, in case that a message was lost"
  schedule_expression = "rate(1 minute)"
  kms_key_arn         = var.key_arn

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_lambda_function.this["project"].arn
    role_arn = aws_iam_role.clock.arn

    retry_policy {
      maximum_retry_attempts       = 0
      maximum_event_age_in_seconds = 60
    }
  }
}

# The next minute brings the next call: to repeat one that failed helps nobody.
resource "aws_lambda_function_event_invoke_config" "project" {
  function_name                = aws_lambda_function.this["project"].function_name
  maximum_retry_attempts       = 0
  maximum_event_age_in_seconds = 60
}
