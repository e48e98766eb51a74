# Three queues, each with a dead-letter queue beside it.
#
#   projection    wake-ups of the projector. It holds no document, so that a message that is lost loses nothing.
#   events.fifo   the queue road: OpenLineage events, in order per run.
#   uploads       objects that clients put into the bucket of uploads, told by S3 (which cannot tell a FIFO queue).

data "aws_caller_identity" "current" {}

locals {
  account = data.aws_caller_identity.current.account_id
  day     = 24 * 60 * 60

  # visible: seconds that a message stays hidden while a function works on it, six times the function's own time.
  # days: how long it waits for a function that is down. tries: after these it goes to the dead-letter queue.
  queues = {
    projection = { fifo = false, visible = 1800, days = 1, tries = 10 }
    events     = { fifo = true, visible = 360, days = 14, tries = 20 }
    uploads    = { fifo = false, visible = 360, days = 14, tries = 20 }
  }
}

resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name                       = "${var.name}-${each.key}${each.value.fifo ? ".fifo" : ""}"
  visibility_timeout_seconds = each.value.visible
  message_retention_seconds  = each.value.days * local.day
  max_message_size           = var.message_size * 1024
  receive_wait_time_seconds  = 20

  kms_master_key_id                 = var.key_arn
  kms_data_key_reuse_period_seconds = 300

  # The sender names the run as the group, and the hash of the event against repetition: each run has an order of
  # its own, and runs do not wait for each other.
  fifo_queue                  = each.value.fifo
  content_based_deduplication = false
  deduplication_scope         = each.value.fifo ? "messageGroup" : null
  fifo_throughput_limit       = each.value.fifo ? "perMessageGroupId" : null
}

resource "aws_sqs_queue" "dead" {
  for_each = local.queues

  name                       = "${var.name}-${each.key}-dead${each.value.fifo ? ".fifo" : ""}"
  fifo_queue                 = each.value.fifo
  visibility_timeout_seconds = 360
  message_retention_seconds  = 14 * local.day
  max_message_size           = var.message_size * 1024

  kms_master_key_id                 = var.key_arn
  kms_data_key_reuse_period_seconds = 300
}

resource "aws_sqs_queue_redrive_policy" "this" {
  for_each = local.queues

  queue_url = aws_sqs_queue.this[each.key].url

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead[each.key].arn
    maxReceiveCount     = each.value.tries
  })
}

# No other queue of the account may use these as its own.
resource "aws_sqs_queue_redrive_allow_policy" "this" {
  for_each = local.queues

  queue_url = aws_sqs_queue.dead[each.key].url

  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [aws_sqs_queue.this[each.key].arn]
  })
}

resource "aws_sqs_queue_policy" "this" {
  for_each = local.queues

  queue_url = aws_sqs_queue.this[each.key].url

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid       = "TlsOnly"
          Effect    = "Deny"
          Principal = "*"
          Action    = "sqs:*"
          Resource  = aws_sqs_queue.this[each.key].arn
          Condition = { Bool = { "aws:SecureTransport" = "false" } }
        },
      ],
      each.key != "uploads" ? [] : [
        {
          Sid       = "NewsOfTheBucket"
          Effect    = "Allow"
          Principal = { Service = "s3.amazonaws.com" }
          Action    = "sqs:SendMessage"
          Resource  = aws_sqs_queue.this["uploads"].arn
          Condition = {
            StringEquals = { "aws:SourceAccount" = local.account }
            ArnEquals    = { "aws:SourceArn" = var.uploads.bucket_arn }
          }
        },
      ],
    )
  })
}

resource "aws_sqs_queue_policy" "dead" {
  for_each = local.queues

  queue_url = aws_sqs_queue.dead[each.key].url

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "TlsOnly"
      Effect    = "Deny"
      Principal = "*"
      Action    = "sqs:*"
      Resource  = aws_sqs_queue.dead[each.key].arn
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

resource "aws_s3_bucket_notification" "uploads" {
  bucket = var.uploads.bucket

  queue {
    id            = "uploads"
    queue_arn     = aws_sqs_queue.this["uploads"].arn
    events        = ["s3:ObjectCreated:*"]
    filter_prefix = "${var.uploads.prefix}/uploads/"
  }

  depends_on = [aws_sqs_queue_policy.this]
}
