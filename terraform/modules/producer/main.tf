# For another account, in that account: the private way to a Headwater, its name there, and the right of its jobs'
# roles to read their API key. The counterpart in Headwater's account is modules/capture.

resource "aws_security_group" "this" {
  name        = "${var.name}-producer"
  description = "Private way to Headwater"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-producer" }
}

resource "aws_vpc_security_group_ingress_rule" "jobs" {
  for_each = var.job_security_group_ids

  description                  = "Jobs that report"
  security_group_id            = aws_security_group.this.id
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

resource "aws_vpc_security_group_egress_rule" "jobs" {
  for_each = var.job_security_group_ids

  description                  = "To Headwater"
  security_group_id            = each.value
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

resource "aws_vpc_endpoint" "this" {
  vpc_id             = var.vpc_id
  service_name       = var.endpoint_service_name
  service_region     = var.service_region
  vpc_endpoint_type  = "Interface"
  subnet_ids         = var.subnet_ids
  security_group_ids = [aws_security_group.this.id]
  tags               = { Name = "${var.name}-producer" }
}

# In this network the name, which the certificate is for, leads to the endpoint.
resource "aws_route53_zone" "this" {
  #checkov:skip=CKV2_AWS_38:DNSSEC signs public zones; this one is private.
  #checkov:skip=CKV2_AWS_39:Query logs are for public zones; this one is private.
  name    = var.domain_name
  comment = "Headwater, by the private way"

  vpc {
    vpc_id = var.vpc_id
  }
}

resource "aws_route53_record" "this" {
  zone_id = aws_route53_zone.this.zone_id
  name    = var.domain_name
  type    = "A"

  alias {
    name                   = aws_vpc_endpoint.this.dns_entry[0].dns_name
    zone_id                = aws_vpc_endpoint.this.dns_entry[0].hosted_zone_id
    evaluate_target_health = false
  }
}

# Headwater's account says that these roles may; this account has to say so, too.
resource "aws_iam_role_policy" "this" {
  for_each = var.role_names

  name = "${var.name}-read-api-key"
  role = each.value

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "ReadApiKey"
        Effect   = "Allow"
        Action   = "secretsmanager:GetSecretValue"
        Resource = var.secret_arn
      },
      {
        Sid       = "DecryptIt"
        Effect    = "Allow"
        Action    = "kms:Decrypt"
        Resource  = var.key_arn
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${split(":", var.secret_arn)[3]}.amazonaws.com" } }
      },
    ]
  })
}
