# The page for people outside the network: a CloudFront distribution in front of the internal load balancer. The load
# balancer stays private (a VPC origin); page and API stay one origin, and every answer still wants an API key.
#
# Everything of CloudFront's own (rules, logs, their key) is in us-east-1.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  edge      = "us-east-1"

  # Policies of AWS that are the same in every account.
  caching_disabled = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
  all_of_viewer    = "216adef6-5c7f-47e4-b989-5492eafa07d3"
}

# CloudFront wants to see one in a network with an origin, as its owner's consent. No route leads to it, so that
# nothing in the network reaches the internet by it, or is reached.
resource "aws_internet_gateway" "consent" {
  vpc_id = var.vpc_id
  tags   = { Name = "${var.name}-consent-for-cloudfront" }
}

resource "aws_cloudfront_vpc_origin" "this" {
  vpc_origin_endpoint_config {
    name                   = var.name
    arn                    = var.load_balancer.arn
    http_port              = 80
    https_port             = 443
    origin_protocol_policy = "https-only"

    origin_ssl_protocols {
      items    = ["TLSv1.2"]
      quantity = 1
    }
  }

  depends_on = [aws_internet_gateway.consent]
}

resource "aws_cloudfront_response_headers_policy" "this" {
  #checkov:skip=CKV_AWS_259:It enforces TLS for a year; to be preloaded by browsers is for the owner of the whole domain to ask.
  name    = var.name
  comment = "Headers of a public page; the service's own headers take precedence"

  security_headers_config {
    strict_transport_security {
      access_control_max_age_sec = 31536000
      include_subdomains         = true
      override                   = true
    }

    content_type_options {
      override = false
    }

    frame_options {
      frame_option = "DENY"
      override     = false
    }

    referrer_policy {
      referrer_policy = "same-origin"
      override        = false
    }
  }
}

resource "aws_cloudfront_distribution" "this" {
  #checkov:skip=CKV_AWS_86:Its access log goes through CloudWatch's delivery, below; the scanner knows the older kind alone.
  #checkov:skip=CKV_AWS_305:The service serves the page at / itself.
  #checkov:skip=CKV_AWS_310:There is one origin: the load balancer, which has several zones behind it.
  #checkov:skip=CKV_AWS_374:A country says nothing about the holder of an API key; the rules of the firewall are the place for it.
  #checkov:skip=CKV2_AWS_47:The rules in modules/firewall have the list with Log4j; the scanner does not follow the module.
  comment         = "${var.name}: page and API for people outside the network"
  enabled         = true
  is_ipv6_enabled = true
  http_version    = "http2and3"
  price_class     = "PriceClass_100"
  aliases         = [var.domain_name]
  web_acl_id      = module.firewall.arn

  origin {
    origin_id   = "load-balancer"
    domain_name = var.load_balancer.dns_name

    vpc_origin_config {
      vpc_origin_id            = aws_cloudfront_vpc_origin.this.id
      origin_read_timeout      = 60
      origin_keepalive_timeout = 60
    }
  }

  # Nothing is kept: answers depend on the key, and the page's files are small.
  default_cache_behavior {
    target_origin_id           = "load-balancer"
    viewer_protocol_policy     = "https-only"
    allowed_methods            = ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"]
    cached_methods             = ["GET", "HEAD"]
    cache_policy_id            = local.caching_disabled
    origin_request_policy_id   = local.all_of_viewer
    response_headers_policy_id = aws_cloudfront_response_headers_policy.this.id
  }

  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }

  viewer_certificate {
    acm_certificate_arn      = var.certificate_arn
    minimum_protocol_version = "TLSv1.2_2021"
    ssl_support_method       = "sni-only"
  }
}

module "firewall" {
  source = "../firewall"

  name                     = "${var.name}-page"
  scope                    = "CLOUDFRONT"
  region                   = local.edge
  requests_in_five_minutes = var.requests_in_five_minutes
  key_arn                  = aws_kms_key.logs.arn
  log_days                 = var.log_days

  depends_on = [aws_kms_key_policy.logs]
}

# --- the access log --------------------------------------------------------------------------------------

resource "aws_kms_key" "logs" {
  region                  = local.edge
  description             = "${var.name}: logs of the page's distribution"
  enable_key_rotation     = true
  deletion_window_in_days = 30
}

resource "aws_kms_alias" "logs" {
  region        = local.edge
  name          = "alias/${var.name}-page-logs"
  target_key_id = aws_kms_key.logs.key_id
}

resource "aws_kms_key_policy" "logs" {
  region = local.edge
  key_id = aws_kms_key.logs.key_id
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
        Sid       = "LogGroups"
        Effect    = "Allow"
        Principal = { Service = "logs.${local.edge}.amazonaws.com" }
        Action    = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo", "kms:GenerateDataKey", "kms:DescribeKey"]
        Resource  = "*"
        Condition = { ArnLike = { "kms:EncryptionContext:aws:logs:arn" = "arn:${local.partition}:logs:${local.edge}:${local.account}:*" } }
      },
    ]
  })
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  region            = local.edge
  name              = "/aws/vendedlogs/${var.name}/page"
  retention_in_days = var.log_days
  kms_key_id        = aws_kms_key.logs.arn

  depends_on = [aws_kms_key_policy.logs]
}

resource "aws_cloudwatch_log_resource_policy" "this" {
  region      = local.edge
  policy_name = "${var.name}-page"
  policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "LogOfTheDistribution"
      Effect    = "Allow"
      Principal = { Service = "delivery.logs.amazonaws.com" }
      Action    = ["logs:CreateLogStream", "logs:PutLogEvents"]
      Resource  = "${aws_cloudwatch_log_group.this.arn}:log-stream:*"
      Condition = {
        StringEquals = { "aws:SourceAccount" = local.account }
        ArnLike      = { "aws:SourceArn" = "arn:${local.partition}:logs:${local.edge}:${local.account}:*" }
      }
    }]
  })
}

resource "aws_cloudwatch_log_delivery_source" "this" {
  region       = local.edge
  name         = "${var.name}-page"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.this.arn
}

resource "aws_cloudwatch_log_delivery_destination" "this" {
  region        = local.edge
  name          = "${var.name}-page"
  output_format = "json"

  delivery_destination_configuration {
    destination_resource_arn = aws_cloudwatch_log_group.this.arn
  }

  depends_on = [aws_cloudwatch_log_resource_policy.this]
}

resource "aws_cloudwatch_log_delivery" "this" {
  region                   = local.edge
  delivery_source_name     = aws_cloudwatch_log_delivery_source.this.name
  delivery_destination_arn = aws_cloudwatch_log_delivery_destination.this.arn
}
