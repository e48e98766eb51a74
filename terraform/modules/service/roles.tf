# Four roles: what starts tasks, what the service may do, what makes keys, what restarts the service.

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
  name               = "${var.name}-execution"
  description        = "Lets ECS pull the image, read the secrets of the containers and write their logs"
  assume_role_policy = local.trust_of_tasks
}

resource "aws_iam_role_policy" "execution" {
  name = "start-tasks"
  role = aws_iam_role.execution.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          # This action knows no resource; the token opens only what the next statement names.
          Sid      = "LoginToRegistry"
          Effect   = "Allow"
          Action   = "ecr:GetAuthorizationToken"
          Resource = "*"
        },
        {
          Sid      = "PullImages"
          Effect   = "Allow"
          Action   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
          Resource = concat([aws_ecr_repository.this.arn], var.metrics_repository_arn == null ? [] : [var.metrics_repository_arn])
        },
        {
          Sid      = "WriteLogs"
          Effect   = "Allow"
          Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
          Resource = [for group in aws_cloudwatch_log_group.this : "${group.arn}:log-stream:*"]
        },
        {
          Sid      = "ReadSecretsOfContainers"
          Effect   = "Allow"
          Action   = "secretsmanager:GetSecretValue"
          Resource = [var.journal.secret_arn, aws_secretsmanager_secret.key["metrics"].arn]
        },
        {
          Sid       = "DecryptThem"
          Effect    = "Allow"
          Action    = "kms:Decrypt"
          Resource  = var.key_arn
          Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.amazonaws.com" } }
        },
      ],
    )
  })
}

resource "aws_iam_role" "service" {
  name               = "${var.name}-service"
  description        = "What Headwater itself may do: ask and write the graph"
  assume_role_policy = local.trust_of_tasks
}

resource "aws_iam_role_policy" "service" {
  name = "graph"
  role = aws_iam_role.service.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid       = "AskAndWriteTheGraph"
          Effect    = "Allow"
          Action    = ["neptune-db:ReadDataViaQuery", "neptune-db:WriteDataViaQuery", "neptune-db:DeleteDataViaQuery"]
          Resource  = "arn:${local.partition}:neptune-db:${local.region}:${local.account}:${var.graph.cluster_resource_id}/*"
          Condition = { StringEquals = { "neptune-db:QueryLanguage" = "Gremlin" } }
        },
      ],
      var.metrics_image == null ? [] : [
        {
          Sid      = "WriteMetrics"
          Effect   = "Allow"
          Action   = ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"]
          Resource = [aws_cloudwatch_log_group.this["metrics"].arn, "${aws_cloudwatch_log_group.this["metrics"].arn}:log-stream:*"]
        },
      ],
    )
  })
}

resource "aws_iam_role" "keys" {
  name               = "${var.name}-keys"
  description        = "Lets the task that makes API keys put them into their secrets; it can read none"
  assume_role_policy = local.trust_of_tasks
}

resource "aws_iam_role_policy" "keys" {
  name = "put-keys"
  role = aws_iam_role.keys.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect   = "Allow"
        Action   = "secretsmanager:PutSecretValue"
        Resource = values(local.key_secret_arns)
      },
      {
        Effect    = "Allow"
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = compact([var.key_arn, var.producer_key_arn])
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.amazonaws.com" } }
      },
    ]
  })
}

resource "aws_iam_role" "restart" {
  name        = "${var.name}-restart"
  description = "Lets the scheduler replace the tasks of the service"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "scheduler.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "restart" {
  name = "update-service"
  role = aws_iam_role.restart.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect   = "Allow"
        Action   = "ecs:UpdateService"
        Resource = aws_ecs_service.this.id
      },
      {
        Effect   = "Allow"
        Action   = "kms:Decrypt"
        Resource = var.key_arn
      },
    ]
  })
}
