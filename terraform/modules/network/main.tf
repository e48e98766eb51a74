# A network without a way to the internet: private subnets, and endpoints for the AWS services in use.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region

  # /16 => /20 for each zone.
  subnets = { for index, zone in var.availability_zones : zone => cidrsubnet(var.cidr, 4, index) }

  interface_endpoints = toset(concat(
    ["ecr.api", "ecr.dkr", "kms", "logs", "monitoring", "secretsmanager", "sts"],
    tolist(var.services),
  ))
}

resource "aws_vpc" "this" {
  cidr_block           = var.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = { Name = var.name }
}

# The group that AWS makes with each VPC lets its members talk to each other. Emptied: nobody uses it.
resource "aws_default_security_group" "closed" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-unused" }
}

resource "aws_subnet" "private" {
  for_each = local.subnets

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.key
  cidr_block              = each.value
  map_public_ip_on_launch = false
  tags                    = { Name = "${var.name}-${each.key}" }
}

resource "aws_route_table" "private" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-private" }
}

resource "aws_route_table_association" "private" {
  for_each = aws_subnet.private

  subnet_id      = each.value.id
  route_table_id = aws_route_table.private.id
}

# --- endpoints -------------------------------------------------------------------------------------

resource "aws_security_group" "endpoints" {
  name        = "${var.name}-endpoints"
  description = "Endpoints of AWS services"
  vpc_id      = aws_vpc.this.id
  tags        = { Name = "${var.name}-endpoints" }
}

resource "aws_vpc_endpoint" "interface" {
  for_each = local.interface_endpoints

  vpc_id              = aws_vpc.this.id
  service_name        = "com.amazonaws.${local.region}.${each.key}"
  vpc_endpoint_type   = "Interface"
  private_dns_enabled = true
  subnet_ids          = [for subnet in aws_subnet.private : subnet.id]
  security_group_ids  = [aws_security_group.endpoints.id]
  tags                = { Name = "${var.name}-${each.key}" }

  # A bound, not a permission: roles have the permissions. Credentials of another account are of no use in this network.
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [merge(
      {
        Sid       = contains(var.shared_services, each.key) ? "Callers" : "CallersOfThisAccount"
        Effect    = "Allow"
        Principal = "*"
        Action    = "*"
        Resource  = "*"
      },
      contains(var.shared_services, each.key) ? {} : { Condition = { StringEquals = { "aws:PrincipalAccount" = local.account } } },
    )]
  })
}

resource "aws_vpc_endpoint" "s3" {
  vpc_id            = aws_vpc.this.id
  service_name      = "com.amazonaws.${local.region}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [aws_route_table.private.id]
  tags              = { Name = "${var.name}-s3" }

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        # Data leaves this network only into buckets of this account.
        Sid       = "BucketsOfThisAccount"
        Effect    = "Allow"
        Principal = "*"
        Action = [
          "s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket", "s3:GetBucketLocation",
          "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts",
        ]
        Resource  = "*"
        Condition = { StringEquals = { "aws:PrincipalAccount" = local.account, "aws:ResourceAccount" = local.account } }
      },
      {
        Sid       = "LayersOfContainerImages"
        Effect    = "Allow"
        Principal = "*"
        Action    = "s3:GetObject"
        Resource  = "arn:${local.partition}:s3:::prod-${local.region}-starport-layer-bucket/*"
      },
    ]
  })
}

# --- flow logs -------------------------------------------------------------------------------------

resource "aws_cloudwatch_log_group" "flow" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  name              = "/${var.name}/network"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_flow_log" "this" {
  vpc_id          = aws_vpc.this.id
  traffic_type    = "ALL"
  log_destination = aws_cloudwatch_log_group.flow.arn
  iam_role_arn    = aws_iam_role.flow.arn
}

resource "aws_iam_role" "flow" {
  name                 = "${var.name}-flow-logs"
  description          = "Lets the flow logs of ${var.name} write to their log group"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "vpc-flow-logs.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "flow" {
  name = "write-flow-logs"
  role = aws_iam_role.flow.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"]
      Resource = [aws_cloudwatch_log_group.flow.arn, "${aws_cloudwatch_log_group.flow.arn}:*"]
    }]
  })
}
