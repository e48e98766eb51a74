# A role for each function, with its permissions written out.

locals {
  dbuser = "arn:${local.partition}:rds-db:${local.region}:${local.account}:dbuser:${var.database.cluster_resource_id}/${var.database.user}"
  graph  = "arn:${local.partition}:neptune-db:${local.region}:${local.account}:${var.graph.cluster_resource_id}/*"
  bodies = "${var.bodies.bucket_arn}/${var.bodies.prefix}/*"

  # The key, only for the two services that hold the data that a function reads and writes.
  services_with_key = ["s3.${local.region}.amazonaws.com", "sqs.${local.region}.amazonaws.com"]
}

resource "aws_iam_role" "this" {
  for_each = local.functions

  name                 = "${var.name}-${each.key}"
  description          = "Permissions of the function ${each.key} of ${var.name}"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })
}

# The permissions that each function needs to run at all.
resource "aws_iam_role_policy" "run" {
  for_each = local.functions

  name = "run"
  role = aws_iam_role.this[each.key].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "WriteLogs"
          Effect   = "Allow"
          Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
          Resource = "${aws_cloudwatch_log_group.this[each.key].arn}:*"
        },
        {
          Sid       = "KeyOfObjectsAndMessages"
          Effect    = "Allow"
          Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
          Resource  = var.key_arn
          Condition = { StringEquals = { "kms:ViaService" = local.services_with_key } }
        },
        {
          # Lambda opens the variables of the function with it, in the function's name.
          Sid       = "KeyOfVariables"
          Effect    = "Allow"
          Action    = "kms:Decrypt"
          Resource  = var.key_arn
          Condition = { StringEquals = { "kms:EncryptionContext:aws:lambda:FunctionArn" = "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${var.name}-${each.key}" } }
        },
      ],
      [
        for statement in [{
          # These actions know no resource.
          Sid      = "LookAtInterfaces"
          Effect   = "Allow"
          Action   = ["ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"]
          Resource = "*"
          },
          {
            Sid      = "InterfacesOfFunction"
            Effect   = "Allow"
            Action   = ["ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"]
            Resource = "arn:${local.partition}:ec2:${local.region}:${local.account}:*/*"
          },
          {
            # Those are for Lambda itself; the code of the function gets none of them.
            Sid       = "NotFromItsCode"
            Effect    = "Deny"
            Action    = ["ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"]
            Resource  = "*"
            Condition = { ArnEquals = { "lambda:SourceFunctionArn" = "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${var.name}-${each.key}" } }
        }] : statement if each.value.private
      ],
    )
  })
}

resource "aws_iam_role_policy" "accept" {
  name = "work"
  role = aws_iam_role.this["accept"].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "SignInToDatabase", Effect = "Allow", Action = "rds-db:connect", Resource = local.dbuser },
      {
        Sid       = "AskTheGraph"
        Effect    = "Allow"
        Action    = ["neptune-db:ReadDataViaQuery", "neptune-db:GetQueryStatus"]
        Resource  = local.graph
        Condition = { StringEquals = { "neptune-db:QueryLanguage" = "Gremlin" } }
      },
      { Sid = "WakeTheProjector", Effect = "Allow", Action = "sqs:SendMessage", Resource = var.queues["projection"].arn },
      { Sid = "LargeBodies", Effect = "Allow", Action = ["s3:GetObject", "s3:PutObject"], Resource = local.bodies },
      {
        # Without it a body that is missing looks like one that is forbidden.
        Sid       = "LookForLargeBodies"
        Effect    = "Allow"
        Action    = "s3:ListBucket"
        Resource  = var.bodies.bucket_arn
        Condition = { StringLike = { "s3:prefix" = "${var.bodies.prefix}/*" } }
      },
      {
        # It signs addresses that clients put giant plans to.
        Sid      = "SignUploads"
        Effect   = "Allow"
        Action   = "s3:PutObject"
        Resource = "${var.uploads.bucket_arn}/${var.uploads.prefix}/uploads/*"
      },
    ]
  })
}

resource "aws_iam_role_policy" "project" {
  name = "work"
  role = aws_iam_role.this["project"].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "SignInToDatabase", Effect = "Allow", Action = "rds-db:connect", Resource = local.dbuser },
      {
        Sid       = "AskAndWriteTheGraph"
        Effect    = "Allow"
        Action    = ["neptune-db:ReadDataViaQuery", "neptune-db:WriteDataViaQuery", "neptune-db:DeleteDataViaQuery"]
        Resource  = local.graph
        Condition = { StringEquals = { "neptune-db:QueryLanguage" = "Gremlin" } }
      },
      {
        Sid      = "TakeWakeUpsAndSendThem"
        Effect   = "Allow"
        Action   = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility", "sqs:SendMessage"]
        Resource = var.queues["projection"].arn
      },
      { Sid = "LargeBodies", Effect = "Allow", Action = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], Resource = local.bodies },
      {
        # Without it a body that is missing looks like one that is forbidden.
        Sid       = "LookForLargeBodies"
        Effect    = "Allow"
        Action    = "s3:ListBucket"
        Resource  = var.bodies.bucket_arn
        Condition = { StringLike = { "s3:prefix" = "${var.bodies.prefix}/*" } }
      },
    ]
  })
}

resource "aws_iam_role_policy" "enqueue" {
  name = "work"
  role = aws_iam_role.this["enqueue"].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "SendEvents", Effect = "Allow", Action = "sqs:SendMessage", Resource = var.queues["events"].arn },
      { Sid = "PutWhatIsTooLarge", Effect = "Allow", Action = "s3:PutObject", Resource = "${var.uploads.bucket_arn}/${var.uploads.prefix}/pointers/*" },
    ]
  })
}

resource "aws_iam_role_policy" "take" {
  for_each = { take = "events", take-uploads = "uploads" }

  name = "work"
  role = aws_iam_role.this[each.key].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        { Sid = "SignInToDatabase", Effect = "Allow", Action = "rds-db:connect", Resource = local.dbuser },
        {
          Sid      = "TakeMessages"
          Effect   = "Allow"
          Action   = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"]
          Resource = var.queues[each.value].arn
        },
        {
          Sid      = "SetAsideAndWakeTheProjector"
          Effect   = "Allow"
          Action   = "sqs:SendMessage"
          Resource = [var.queues[each.value].dead_arn, var.queues["projection"].arn]
        },
        { Sid = "ReadUploads", Effect = "Allow", Action = "s3:GetObject", Resource = "${var.uploads.bucket_arn}/${var.uploads.prefix}/*" },
        {
          Sid       = "LookForUploads"
          Effect    = "Allow"
          Action    = "s3:ListBucket"
          Resource  = var.uploads.bucket_arn
          Condition = { StringLike = { "s3:prefix" = "${var.uploads.prefix}/*" } }
        },
        { Sid = "LargeBodies", Effect = "Allow", Action = ["s3:GetObject", "s3:PutObject"], Resource = local.bodies },
      ],
      [
        for rules in var.rewrite_rules[*] :
        { Sid = "ReadRules", Effect = "Allow", Action = "s3:GetObject", Resource = rules.object_arn } if rules.object_arn != null
      ],
    )
  })
}

resource "aws_iam_role" "clock" {
  name                 = "${var.name}-clock"
  description          = "Lets the scheduler wake the projector"
  permissions_boundary = var.permissions_boundary

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

resource "aws_iam_role_policy" "clock" {
  name = "wake"
  role = aws_iam_role.clock.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "WakeTheProjector", Effect = "Allow", Action = "lambda:InvokeFunction", Resource = aws_lambda_function.this["project"].arn },
      { Sid = "ReadTheSchedule", Effect = "Allow", Action = "kms:Decrypt", Resource = var.key_arn },
    ]
  })
}
