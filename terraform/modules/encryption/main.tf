# One customer key for everything that this deployment stores: graph, journal, buckets, logs, secrets,
# the disks of the tasks. To disable it is to lock all of it.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region
  logs      = "arn:${local.partition}:logs:${local.region}:${local.account}:*"
}

resource "aws_kms_key" "this" {
  description             = "${var.name}: lineage data, logs and secrets"
  enable_key_rotation     = true
  deletion_window_in_days = 30
}

resource "aws_kms_alias" "this" {
  name          = "alias/${var.name}"
  target_key_id = aws_kms_key.this.key_id
}

resource "aws_kms_key_policy" "this" {
  key_id = aws_kms_key.this.key_id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        # Without it nobody could change the key again. It lets IAM policies of this account decide.
        Sid       = "AccountAdministration"
        Effect    = "Allow"
        Principal = { AWS = "arn:${local.partition}:iam::${local.account}:root" }
        Action    = "kms:*"
        Resource  = "*"
      },
      {
        Sid       = "LogGroups"
        Effect    = "Allow"
        Principal = { Service = "logs.${local.region}.amazonaws.com" }
        Action    = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo", "kms:GenerateDataKey", "kms:DescribeKey"]
        Resource  = "*"
        Condition = { ArnLike = { "kms:EncryptionContext:aws:logs:arn" = local.logs } }
      },
      {
        Sid       = "AlarmsToTheirTopic"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = "*"
        Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
      },
      {
        # S3 tells the queue of uploads, whose messages are encrypted.
        Sid       = "NewsOfBucketsToTheirQueue"
        Effect    = "Allow"
        Principal = { Service = "s3.amazonaws.com" }
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = "*"
        Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
      },
      {
        Sid       = "DisksOfTasks"
        Effect    = "Allow"
        Principal = { Service = "fargate.amazonaws.com" }
        Action    = ["kms:GenerateDataKeyWithoutPlaintext"]
        Resource  = "*"
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:aws:ecs:clusterAccount" = local.account
            "kms:EncryptionContext:aws:ecs:clusterName"    = var.name
          }
        }
      },
      {
        Sid       = "GrantsForDisksOfTasks"
        Effect    = "Allow"
        Principal = { Service = "fargate.amazonaws.com" }
        Action    = ["kms:CreateGrant"]
        Resource  = "*"
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:aws:ecs:clusterAccount" = local.account
            "kms:EncryptionContext:aws:ecs:clusterName"    = var.name
          }
          "ForAllValues:StringEquals" = { "kms:GrantOperations" = ["Decrypt"] }
        }
      },
    ]
  })
}
