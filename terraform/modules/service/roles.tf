# Two roles: one starts tasks, the other has the permissions of the service.

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
  name                 = "${var.name}-execution"
  description          = "Lets ECS pull the image, read the API key of the collector and write logs"
  permissions_boundary = var.permissions_boundary
  assume_role_policy   = local.trust_of_tasks
}

resource "aws_iam_role_policy" "execution" {
  name = "start-tasks"
  role = aws_iam_role.execution.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          # This action knows no resource; the token opens only the repository that the next statement names.
          Sid      = "LoginToRegistry"
          Effect   = "Allow"
          Action   = "ecr:GetAuthorizationToken"
          Resource = "*"
        },
        {
          Sid      = "PullImages"
          Effect   = "Allow"
          Action   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
          Resource = concat([var.repository_arn], var.metrics[*].repository_arn)
        },
        {
          Sid      = "WriteLogs"
          Effect   = "Allow"
          Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
          Resource = [for group in aws_cloudwatch_log_group.this : "${group.arn}:log-stream:*"]
        },
      ],
      [
        for statement in [
          {
            Sid      = "ReadKeyOfCollector"
            Effect   = "Allow"
            Action   = "secretsmanager:GetSecretValue"
            Resource = var.metrics[*].key_secret_arn
          },
          {
            Sid       = "DecryptIt"
            Effect    = "Allow"
            Action    = "kms:Decrypt"
            Resource  = [var.key_arn]
            Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.amazonaws.com" } }
          },
        ] : statement if var.metrics != null
      ],
    )
  })
}

resource "aws_iam_role" "service" {
  name                 = "${var.name}-service"
  description          = "Permissions of Headwater itself: graph, journal, large bodies"
  permissions_boundary = var.permissions_boundary
  assume_role_policy   = local.trust_of_tasks
}

resource "aws_iam_role_policy" "service" {
  name = "graph-and-journal"
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
        {
          Sid      = "SignInToDatabase"
          Effect   = "Allow"
          Action   = "rds-db:connect"
          Resource = "arn:${local.partition}:rds-db:${local.region}:${local.account}:dbuser:${var.database.cluster_resource_id}/${var.database.user}"
        },
        {
          Sid      = "LargeBodies"
          Effect   = "Allow"
          Action   = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]
          Resource = "${var.bodies.bucket_arn}/${var.bodies.prefix}/*"
        },
        {
          # Without it a body that is missing looks like one that is forbidden.
          Sid       = "LookForLargeBodies"
          Effect    = "Allow"
          Action    = "s3:ListBucket"
          Resource  = var.bodies.bucket_arn
          Condition = { StringLike = { "s3:prefix" = "${var.bodies.prefix}/*" } }
        },
        {
          Sid       = "EncryptLargeBodies"
          Effect    = "Allow"
          Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
          Resource  = var.key_arn
          Condition = { StringEquals = { "kms:ViaService" = "s3.${local.region}.amazonaws.com" } }
        },
      ],
      var.uploads == null ? [] : [
        {
          # The service signs addresses that clients put giant plans to.
          Sid      = "SignUploads"
          Effect   = "Allow"
          Action   = "s3:PutObject"
          Resource = [for uploads in var.uploads[*] : "${uploads.bucket_arn}/${uploads.prefix}/uploads/*"]
        },
      ],
      var.metrics == null ? [] : [
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
