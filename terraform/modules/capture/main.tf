# Jobs of other accounts: a private way to the load balancer (PrivateLink), and for each account an API key
# that its roles may read. Documents sent with such a key have the account as their capture scope.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region

  # Without jobs elsewhere AWS lets in this region alone.
  elsewhere = setsubtract(compact([for producer in var.producers : producer.region]), [local.region])
  regions   = length(local.elsewhere) == 0 ? null : setunion(local.elsewhere, [local.region])
}

# --- the way ---------------------------------------------------------------------------------------------

resource "aws_security_group" "this" {
  name        = "${var.name}-capture"
  description = "Private way of other accounts into ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-capture" }
}

# It passes TLS on as it is; the load balancer behind it ends it. The endpoint service below decides
# which accounts may connect: addresses of other accounts' networks say nothing.
resource "aws_lb" "this" {
  #checkov:skip=CKV_AWS_91:A load balancer that does not end TLS writes no access log; the one behind it does.
  name                             = "${var.name}-capture"
  internal                         = true
  load_balancer_type               = "network"
  subnets                          = var.subnet_ids
  security_groups                  = [aws_security_group.this.id]
  enable_cross_zone_load_balancing = true
  enable_deletion_protection       = var.deletion_protection

  enforce_security_group_inbound_rules_on_private_link_traffic = "off"
}

resource "aws_lb_target_group" "this" {
  name        = "${var.name}-capture"
  vpc_id      = var.vpc_id
  port        = 443
  protocol    = "TCP"
  target_type = "alb"

  health_check {
    protocol = "HTTPS"
    path     = "/health/live"
    matcher  = "200"
  }
}

resource "aws_lb_target_group_attachment" "this" {
  target_group_arn = aws_lb_target_group.this.arn
  target_id        = var.load_balancer_arn
  port             = 443
}

resource "aws_lb_listener" "this" {
  load_balancer_arn = aws_lb.this.arn
  port              = 443
  protocol          = "TCP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this.arn
  }
}

resource "aws_vpc_endpoint_service" "this" {
  acceptance_required        = true
  network_load_balancer_arns = [aws_lb.this.arn]
  supported_regions          = local.regions
  allowed_principals         = [for account in keys(var.producers) : "arn:${local.partition}:iam::${account}:root"]
  tags                       = { Name = "${var.name}-capture" }
}

# --- the keys --------------------------------------------------------------------------------------------

# A key of its own: other accounts may decrypt with it, and nothing but their API keys is encrypted with it.
resource "aws_kms_key" "this" {
  description             = "${var.name}: API keys of other accounts"
  enable_key_rotation     = true
  deletion_window_in_days = 30
}

resource "aws_kms_alias" "this" {
  name          = "alias/${var.name}-producers"
  target_key_id = aws_kms_key.this.key_id
}

resource "aws_kms_key_policy" "this" {
  key_id = aws_kms_key.this.key_id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AccountAdministration"
        Effect    = "Allow"
        Principal = { AWS = "arn:${local.partition}:iam::${local.account}:root" }
        Action    = "kms:*"
        Resource  = "*"
      },
      {
        Sid       = "RolesOfProducers"
        Effect    = "Allow"
        Principal = { AWS = flatten([for producer in var.producers : producer.role_arns]) }
        Action    = "kms:Decrypt"
        Resource  = "*"
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.amazonaws.com" } }
      },
    ]
  })
}

resource "aws_secretsmanager_secret" "this" {
  for_each = var.producers

  #checkov:skip=CKV2_AWS_57:No Lambda rotates an API key; the task keys makes new ones beside the old (README.md, New API keys).
  name                    = "${var.name}/producer/${each.key}"
  description             = "API key of Headwater for the jobs of account ${each.key}"
  kms_key_id              = aws_kms_key.this.arn
  recovery_window_in_days = var.deletion_protection ? 30 : 0 # the task setup makes keys again
}

resource "aws_secretsmanager_secret_policy" "this" {
  for_each = var.producers

  secret_arn          = aws_secretsmanager_secret.this[each.key].arn
  block_public_policy = true

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "RolesOfProducers"
      Effect    = "Allow"
      Principal = { AWS = each.value.role_arns }
      Action    = "secretsmanager:GetSecretValue"
      Resource  = aws_secretsmanager_secret.this[each.key].arn
    }]
  })
}
