# The same jobs on EMR Serverless: one application, and a role for its job runs. The agent's settings are the
# application's, so that a job run need not repeat them.

locals {
  emr_jars = {
    listener = {}
    spline   = { "spark.jars" = "${local.jars}/spark-3.5-spline-agent-bundle_2.12-2.2.0.jar,${local.jars}/snakeyaml-1.33.jar" }
  }

  emr_properties = merge(local.properties, local.emr_jars[var.agent], {
    "spark.submit.pyFiles"                             = "s3://${aws_s3_bucket.this["code"].id}/${aws_s3_object.package.key}"
    "spark.hadoop.hive.metastore.client.factory.class" = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
  })
}

resource "aws_emrserverless_application" "this" {
  count = var.emr == null ? 0 : 1

  name          = var.name
  type          = "spark"
  release_label = var.emr.release
  architecture  = "X86_64"

  maximum_capacity {
    cpu    = "${var.emr.cpu} vCPU"
    memory = "${4 * var.emr.cpu} GB"
    disk   = "200 GB"
  }

  auto_stop_configuration {
    enabled              = true
    idle_timeout_minutes = 5
  }

  network_configuration {
    subnet_ids         = [var.subnet.id]
    security_group_ids = [aws_security_group.this.id]
  }

  runtime_configuration {
    classification = "spark-defaults"
    properties     = local.emr_properties
  }

  monitoring_configuration {
    cloudwatch_logging_configuration {
      enabled            = true
      log_group_name     = aws_cloudwatch_log_group.emr[0].name
      encryption_key_arn = var.key_arn
    }

    # It would go to a bucket of AWS, which the network does not reach.
    managed_persistence_monitoring_configuration {
      enabled = false
    }
  }
}

resource "aws_cloudwatch_log_group" "emr" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  count = var.emr == null ? 0 : 1

  name              = "/${var.name}/emr"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_iam_role" "emr" {
  count = var.emr == null ? 0 : 1

  name                 = "${var.name}-emr"
  description          = "Permissions of the example's job runs on EMR Serverless"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "emr-serverless.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "emr" {
  count = var.emr == null ? 0 : 1

  name = "run-jobs"
  role = aws_iam_role.emr[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "ListBuckets"
        Effect   = "Allow"
        Action   = ["s3:ListBucket", "s3:GetBucketLocation"]
        Resource = [for bucket in aws_s3_bucket.this : bucket.arn]
      },
      {
        Sid      = "ReadCodeAndRawData"
        Effect   = "Allow"
        Action   = "s3:GetObject"
        Resource = [for name in ["raw", "code"] : "${aws_s3_bucket.this[name].arn}/*"]
      },
      {
        Sid      = "WriteCuratedAndAggregatedData"
        Effect   = "Allow"
        Action   = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
        Resource = [for name in ["curated", "aggregated"] : "${aws_s3_bucket.this[name].arn}/*"]
      },
      {
        Sid       = "Key"
        Effect    = "Allow"
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = var.key_arn
        Condition = { StringEquals = { "kms:ViaService" = ["s3.${local.region}.amazonaws.com", "secretsmanager.${local.region}.amazonaws.com"] } }
      },
      {
        Sid      = "Tables"
        Effect   = "Allow"
        Action   = local.table_actions
        Resource = local.tables
      },
      {
        # This action knows no resource.
        Sid      = "FindItsLogGroup"
        Effect   = "Allow"
        Action   = "logs:DescribeLogGroups"
        Resource = "*"
      },
      {
        Sid      = "Logs"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"]
        Resource = "${aws_cloudwatch_log_group.emr[0].arn}:*"
      },
      {
        Sid      = "KeyOfTheService"
        Effect   = "Allow"
        Action   = "secretsmanager:GetSecretValue"
        Resource = var.key_secret_arn
      },
    ]
  })
}
