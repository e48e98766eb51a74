# Two buckets for content that is too large for a row, a message or a request.
#
#   state     bodies of large documents of the journal, each under the hash of its content. No rule ever removes one.
#   uploads   payloads on their way in: pointers of the queue road, and plans that clients put to a signed address.

data "aws_caller_identity" "current" {}
data "aws_region" "current" {}

locals {
  account = data.aws_caller_identity.current.account_id
  region  = data.aws_region.current.region

  # Days after which an object goes (none: never), and its older versions.
  buckets = {
    state   = { expire = null, noncurrent = 30 }
    uploads = { expire = 45, noncurrent = 1 }
  }
}

resource "aws_s3_bucket" "this" {
  for_each = local.buckets

  #checkov:skip=CKV2_AWS_6:A scanner does not follow for_each over the buckets; tests/bodies.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV2_AWS_61:A scanner does not follow for_each over the buckets; tests/bodies.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV_AWS_21:A scanner does not follow for_each over the buckets; tests/bodies.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV_AWS_145:A scanner does not follow for_each over the buckets; tests/bodies.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV_AWS_18:The readers are Headwater's roles alone; data events of CloudTrail, which the account's owner switches on, show each access.
  #checkov:skip=CKV_AWS_144:A copy in another region is made where the backup of the journal has one, too (docs/deploy-aws.md).
  #checkov:skip=CKV2_AWS_62:The queue of uploads is notified by modules/queues; nobody waits for a body of the journal.
  bucket        = "${var.name}-${each.key}-${local.account}-${local.region}"
  force_destroy = !var.deletion_protection
}

resource "aws_s3_bucket_public_access_block" "this" {
  for_each = aws_s3_bucket.this

  bucket                  = each.value.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "this" {
  for_each = aws_s3_bucket.this

  bucket = each.value.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "this" {
  for_each = aws_s3_bucket.this

  bucket = each.value.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = var.key_arn
    }
  }
}

resource "aws_s3_bucket_versioning" "this" {
  for_each = aws_s3_bucket.this

  bucket = each.value.id

  versioning_configuration {
    status = "Enabled"
  }
}

# A document that somebody asked to forget has gone when its older versions have.
resource "aws_s3_bucket_lifecycle_configuration" "this" {
  for_each = aws_s3_bucket.this

  bucket = each.value.id

  rule {
    id     = "old-versions"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = local.buckets[each.key].noncurrent
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 7
    }
  }

  # Longer than the message that names the object can live: 14 days in its queue, 14 in the dead-letter queue, and
  # 14 again in its queue when somebody moves it back.
  dynamic "rule" {
    for_each = local.buckets[each.key].expire[*]

    content {
      id     = "taken"
      status = "Enabled"

      filter {}

      expiration {
        days = rule.value
      }
    }
  }

  depends_on = [aws_s3_bucket_versioning.this]
}

resource "aws_s3_bucket_policy" "this" {
  for_each = aws_s3_bucket.this

  bucket = each.value.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "TlsOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "s3:*"
        Resource  = [each.value.arn, "${each.value.arn}/*"]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
      {
        # A signed address may be passed on: it is of use for minutes, not for the week that its maker could ask for.
        Sid       = "FreshSignaturesOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "s3:*"
        Resource  = "${each.value.arn}/*"
        Condition = { NumericGreaterThan = { "s3:signatureAge" = "3600000" } }
      },
    ]
  })

  depends_on = [aws_s3_bucket_public_access_block.this]
}
