# With AWS_IAM: a role for each account whose programs call. An HTTP API has no policy of its own that could name other
# accounts, so that their roles assume this one; the log then has the account in the caller's name.

resource "aws_iam_role" "caller" {
  for_each = var.callers

  name                 = "${var.name}-caller-${each.key}"
  description          = "Lets programs of account ${each.key} call the gateway"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "RolesOfTheAccount"
      Effect    = "Allow"
      Principal = { AWS = each.value }
      Action    = "sts:AssumeRole"
    }]
  })
}

resource "aws_iam_role_policy" "caller" {
  for_each = var.callers

  name = "call-gateway"
  role = aws_iam_role.caller[each.key].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "CallTheGateway"
      Effect   = "Allow"
      Action   = "execute-api:Invoke"
      Resource = "${aws_apigatewayv2_api.this.execution_arn}/*"
    }]
  })
}
