# With KEY, in front of a function that checks no keys itself: a function that does. It compares the text behind
# "Authorization: Bearer" with the API keys that the task setup put into Secrets Manager.

locals {
  checks_keys = var.authorization == "KEY" && length(var.key_secret_arns) > 0
  checker     = "${var.name}-check-key"
}

data "archive_file" "check_key" {
  count = local.checks_keys ? 1 : 0

  type        = "zip"
  source_file = "${path.module}/check_key.py"
  output_path = "${path.root}/.terraform/${local.checker}.zip"
}

resource "aws_cloudwatch_log_group" "check_key" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  count = local.checks_keys ? 1 : 0

  name              = "/aws/lambda/${local.checker}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_lambda_function" "check_key" {
  count = local.checks_keys ? 1 : 0

  #checkov:skip=CKV_AWS_116:The gateway waits for its answer; there is nothing to keep when it fails.
  #checkov:skip=CKV_AWS_117:It talks to Secrets Manager alone and starts faster outside the network.
  #checkov:skip=CKV_AWS_272:Its code is forty lines of this repository, compared with it at each apply.
  function_name                  = local.checker
  description                    = "Compares the API key of a request with those in Secrets Manager"
  role                           = aws_iam_role.check_key[0].arn
  runtime                        = "python3.13"
  handler                        = "check_key.handler"
  filename                       = data.archive_file.check_key[0].output_path
  source_code_hash               = data.archive_file.check_key[0].output_base64sha256
  timeout                        = 5
  memory_size                    = 256
  reserved_concurrent_executions = 20
  kms_key_arn                    = var.key_arn

  environment {
    variables = { KEY_SECRETS = jsonencode(var.key_secret_arns) }
  }

  tracing_config {
    mode = "PassThrough"
  }

  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.check_key[0].name
  }

  depends_on = [aws_iam_role_policy.check_key]
}

resource "aws_apigatewayv2_authorizer" "key" {
  count = local.checks_keys ? 1 : 0

  api_id                            = aws_apigatewayv2_api.this.id
  name                              = local.checker
  authorizer_type                   = "REQUEST"
  authorizer_uri                    = aws_lambda_function.check_key[0].invoke_arn
  authorizer_payload_format_version = "2.0"
  enable_simple_responses           = true
  identity_sources                  = ["$request.header.Authorization"]
  authorizer_result_ttl_in_seconds  = 60 # a key that was revoked is taken for so long
}

resource "aws_lambda_permission" "check_key" {
  count = local.checks_keys ? 1 : 0

  statement_id   = "${var.name}-gateway"
  function_name  = aws_lambda_function.check_key[0].function_name
  action         = "lambda:InvokeFunction"
  principal      = "apigateway.amazonaws.com"
  source_account = local.account
  source_arn     = "${aws_apigatewayv2_api.this.execution_arn}/authorizers/${aws_apigatewayv2_authorizer.key[0].id}"
}

resource "aws_iam_role" "check_key" {
  count = local.checks_keys ? 1 : 0

  name                 = local.checker
  description          = "Permissions of the function that checks API keys"
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

resource "aws_iam_role_policy" "check_key" {
  count = local.checks_keys ? 1 : 0

  name = "read-keys"
  role = aws_iam_role.check_key[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "ReadKeys"
        Effect   = "Allow"
        Action   = "secretsmanager:GetSecretValue"
        Resource = values(var.key_secret_arns)
      },
      {
        Sid       = "DecryptThem"
        Effect    = "Allow"
        Action    = "kms:Decrypt"
        Resource  = concat([var.key_arn], var.secrets_key_arn[*])
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.amazonaws.com" } }
      },
      {
        Sid       = "KeyOfVariables"
        Effect    = "Allow"
        Action    = "kms:Decrypt"
        Resource  = var.key_arn
        Condition = { StringEquals = { "kms:EncryptionContext:aws:lambda:FunctionArn" = "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${local.checker}" } }
      },
      {
        Sid      = "WriteLogs"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "${aws_cloudwatch_log_group.check_key[0].arn}:*"
      },
    ]
  })
}
