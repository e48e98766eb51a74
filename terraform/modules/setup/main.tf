# The parts that service and functions share: the repository of the image, the cluster, and the task that runs once.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region
}

resource "aws_ecr_repository" "this" {
  name                 = var.name
  image_tag_mutability = "IMMUTABLE"
  force_delete         = !var.deletion_protection

  image_scanning_configuration {
    scan_on_push = true
  }

  encryption_configuration {
    encryption_type = "KMS"
    kms_key         = var.key_arn
  }
}

resource "aws_ecr_lifecycle_policy" "this" {
  repository = aws_ecr_repository.this.name

  policy = jsonencode({
    rules = [{
      rulePriority = 1
      description  = "The newest images stay"
      selection    = { tagStatus = "any", countType = "imageCountMoreThan", countNumber = 30 }
      action       = { type = "expire" }
    }]
  })
}

# ECS reads images by the role of a task, Lambda by this.
resource "aws_ecr_repository_policy" "functions" {
  repository = aws_ecr_repository.this.name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "FunctionsOfThisDeployment"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
      Condition = { ArnLike = { "aws:SourceArn" = "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${var.name}-*" } }
    }]
  })
}

resource "aws_ecs_cluster" "this" {
  name = var.name

  setting {
    name  = "containerInsights"
    value = "enhanced"
  }

  configuration {
    managed_storage_configuration {
      fargate_ephemeral_storage_kms_key_id = var.key_arn
    }
  }
}

resource "aws_security_group" "this" {
  #checkov:skip=CKV2_AWS_5:The operator starts the task with it; the output next_steps of the root module prints the command.
  name        = "${var.name}-setup"
  description = "The task of ${var.name} that prepares the database and makes API keys"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-setup" }
}

# --- the places of API keys ----------------------------------------------------------------------------

locals {
  # Name of the key => its users. The service does not start before the first key exists.
  keys = merge(
    {
      admin    = { roles = ["admin"], scope = "" }
      producer = { roles = ["producer"], scope = "" }
      metrics  = { roles = ["reader"], scope = "" }
    },
    { for account, secret_arn in var.producer_secret_arns : "producer-${account}" => { roles = ["producer"], scope = account } },
  )

  key_secret_arns = merge(
    { for name, secret in aws_secretsmanager_secret.key : name => secret.arn },
    { for account, secret_arn in var.producer_secret_arns : "producer-${account}" => secret_arn },
  )
}

# Terraform makes the places; the task fills them. So no key is in a state or a variable.
resource "aws_secretsmanager_secret" "key" {
  #checkov:skip=CKV2_AWS_57:No Lambda rotates an API key; the task makes new ones beside the old (README.md, New API keys).
  for_each = toset(["admin", "producer", "metrics"])

  name                    = "${var.name}/${each.key}"
  description             = "API key of Headwater with the role ${each.key == "metrics" ? "reader" : each.key}"
  kms_key_id              = var.key_arn
  recovery_window_in_days = var.deletion_protection ? 30 : 0 # the task setup makes keys again
}
