# The permissions of the jobs, written out: no managed policy of AWS is attached.

locals {
  catalog = "arn:${local.partition}:glue:${local.region}:${local.account}"
  ec2     = "arn:${local.partition}:ec2:${local.region}:${local.account}"

  table_actions = [
    "glue:GetDatabase", "glue:GetDatabases", "glue:GetTable", "glue:GetTables", "glue:CreateTable", "glue:UpdateTable",
    "glue:DeleteTable", "glue:GetPartition", "glue:GetPartitions", "glue:BatchCreatePartition", "glue:BatchGetPartition",
    "glue:GetUserDefinedFunctions",
  ]

  # Spark looks for the database default, too, wherever it works.
  tables = [
    "${local.catalog}:catalog",
    "${local.catalog}:database/default",
    "${local.catalog}:database/${aws_glue_catalog_database.this.name}",
    "${local.catalog}:table/${aws_glue_catalog_database.this.name}/*",
    "${local.catalog}:userDefinedFunction/${aws_glue_catalog_database.this.name}/*",
  ]
}

resource "aws_iam_role" "this" {
  name                 = "${var.name}-glue"
  description          = "Permissions of the example's Glue jobs"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "glue.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "this" {
  name = "run-jobs"
  role = aws_iam_role.this.id

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
        # Not by way of S3 alone: bookmarks are encrypted by the job itself.
        Sid      = "Key"
        Effect   = "Allow"
        Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource = var.key_arn
      },
      {
        Sid      = "Tables"
        Effect   = "Allow"
        Action   = local.table_actions
        Resource = local.tables
      },
      {
        Sid      = "Connection"
        Effect   = "Allow"
        Action   = "glue:GetConnection"
        Resource = ["${local.catalog}:catalog", aws_glue_connection.this.arn]
      },
      {
        # These actions know no resource.
        Sid    = "LookAtTheNetwork"
        Effect = "Allow"
        Action = [
          "ec2:DescribeVpcEndpoints", "ec2:DescribeRouteTables", "ec2:DescribeSubnets", "ec2:DescribeSecurityGroups",
          "ec2:DescribeNetworkInterfaces",
        ]
        Resource = "*"
      },
      {
        Sid      = "LookAtItsNetwork"
        Effect   = "Allow"
        Action   = "ec2:DescribeVpcAttribute"
        Resource = "${local.ec2}:vpc/${var.vpc_id}"
      },
      {
        Sid    = "InterfacesOfWorkers"
        Effect = "Allow"
        Action = ["ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface"]
        Resource = [
          "${local.ec2}:network-interface/*",
          "${local.ec2}:subnet/${var.subnet.id}",
          "${local.ec2}:security-group/${aws_security_group.this.id}",
        ]
      },
      {
        Sid       = "TagThem"
        Effect    = "Allow"
        Action    = ["ec2:CreateTags", "ec2:DeleteTags"]
        Resource  = "${local.ec2}:network-interface/*"
        Condition = { "ForAllValues:StringEquals" = { "aws:TagKeys" = ["aws-glue-service-resource"] } }
      },
      {
        Sid      = "Logs"
        Effect   = "Allow"
        Action   = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents", "logs:AssociateKmsKey"]
        Resource = "arn:${local.partition}:logs:${local.region}:${local.account}:log-group:${local.logs}/*"
      },
      {
        # This action knows no resource.
        Sid       = "Metrics"
        Effect    = "Allow"
        Action    = "cloudwatch:PutMetricData"
        Resource  = "*"
        Condition = { StringEquals = { "cloudwatch:namespace" = "Glue" } }
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
