# Two roles: one starts the task, the other has the permissions of the task itself.

locals {
  trust_of_tasks = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ecs-tasks.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = {
        StringEquals = { "aws:SourceAccount" = local.account }
        ArnLike      = { "aws:SourceArn" = "arn:${local.partition}:ecs:${local.region}:${local.account}:*" }
      }
    }]
  })
}

resource "aws_iam_role" "execution" {
  name                 = "${var.name}-setup-execution"
  description          = "Lets ECS pull the image, read the login of the database's owner and write logs"
  permissions_boundary = var.permissions_boundary
  assume_role_policy   = local.trust_of_tasks
}

resource "aws_iam_role_policy" "execution" {
  name = "start-task"
  role = aws_iam_role.execution.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        # This action knows no resource; the token opens only the repository that the next statement names.
        Sid      = "LoginToRegistry"
        Effect   = "Allow"
        Action   = "ecr:GetAuthorizationToken"
        Resource = "*"
      },
      {
        Sid      = "PullImage"
        Effect   = "Allow"
        Action   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
        Resource = aws_ecr_repository.this.arn
      },
      {
        Sid      = "WriteLogs"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "${aws_cloudwatch_log_group.this.arn}:log-stream:*"
      },
      {
        Sid      = "ReadLoginOfOwner"
        Effect   = "Allow"
        Action   = "secretsmanager:GetSecretValue"
        Resource = var.database.owner_secret_arn
      },
      {
        Sid       = "DecryptIt"
        Effect    = "Allow"
        Action    = "kms:Decrypt"
        Resource  = var.key_arn
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.amazonaws.com" } }
      },
    ]
  })
}

resource "aws_iam_role" "task" {
  name                 = "${var.name}-setup"
  description          = "Lets the task make API keys and put them into their secrets; it can read none"
  permissions_boundary = var.permissions_boundary
  assume_role_policy   = local.trust_of_tasks
}

resource "aws_iam_role_policy" "task" {
  name = "put-keys"
  role = aws_iam_role.task.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "SignInToDatabase"
        Effect   = "Allow"
        Action   = "rds-db:connect"
        Resource = "arn:${local.partition}:rds-db:${local.region}:${local.account}:dbuser:${var.database.cluster_resource_id}/${var.database.user}"
      },
      {
        Sid      = "PutKeys"
        Effect   = "Allow"
        Action   = "secretsmanager:PutSecretValue"
        Resource = values(local.key_secret_arns)
      },
      {
        Sid       = "EncryptThem"
        Effect    = "Allow"
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = compact([var.key_arn, var.producer_key_arn])
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.amazonaws.com" } }
      },
    ]
  })
}
