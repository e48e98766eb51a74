# The example's lake: raw, curated and aggregated data, and the code of its jobs.

resource "aws_s3_bucket" "this" {
  for_each = toset(["raw", "curated", "aggregated", "code"])

  #checkov:skip=CKV2_AWS_6:A scanner does not follow for_each over the buckets; tests/lake.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV2_AWS_61:A scanner does not follow for_each over the buckets; tests/lake.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV_AWS_21:A scanner does not follow for_each over the buckets; tests/lake.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV_AWS_145:A scanner does not follow for_each over the buckets; tests/lake.tftest.hcl and tests/unit/terraform do.
  #checkov:skip=CKV_AWS_18:Data events of CloudTrail show the readers of the data; the account's owner switches them on.
  #checkov:skip=CKV_AWS_144:Example data, which its jobs make again.
  #checkov:skip=CKV2_AWS_62:Nobody waits for a file; the workflow starts the jobs.
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

resource "aws_s3_bucket_lifecycle_configuration" "this" {
  for_each = aws_s3_bucket.this

  bucket = each.value.id

  rule {
    id     = "old-versions"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = 30
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }
  }

  depends_on = [aws_s3_bucket_versioning.this]
}

resource "aws_s3_bucket_policy" "this" {
  for_each = aws_s3_bucket.this

  bucket = each.value.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "TlsOnly"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [each.value.arn, "${each.value.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })

  depends_on = [aws_s3_bucket_public_access_block.this]
}

# --- their first content ------------------------------------------------------------------

locals {
  package = "${path.module}/../../../spark_agent_config"
}

resource "aws_s3_object" "sample" {
  for_each = fileset("${local.package}/examples/data", "*.csv")

  bucket      = aws_s3_bucket.this["raw"].id
  key         = "hr/${each.key}"
  source      = "${local.package}/examples/data/${each.key}"
  source_hash = filesha256("${local.package}/examples/data/${each.key}")
}

data "archive_file" "package" {
  type        = "zip"
  output_path = "${path.root}/.terraform/spark_agent_config.zip"

  dynamic "source" {
    for_each = fileset(local.package, "**/*.{py,csv}")

    content {
      filename = "spark_agent_config/${source.value}"
      content  = file("${local.package}/${source.value}")
    }
  }
}

resource "aws_s3_object" "package" {
  bucket      = aws_s3_bucket.this["code"].id
  key         = "spark_agent_config.zip"
  source      = data.archive_file.package.output_path
  source_hash = data.archive_file.package.output_base64sha256
}

resource "aws_s3_object" "script" {
  bucket      = aws_s3_bucket.this["code"].id
  key         = "start_job.py"
  source      = "${path.module}/start_job.py"
  source_hash = filesha256("${path.module}/start_job.py")
}
