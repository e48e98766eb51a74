# The door of the network: an internal load balancer that ends TLS. The page, the API and the producers'
# routes are one origin; the service itself serves the page, so that nothing else has to be public.

resource "aws_security_group" "load_balancer" {
  name        = "${var.name}-load-balancer"
  description = "Load balancer of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-load-balancer" }
}

resource "aws_lb" "this" {
  name                       = var.name
  internal                   = true
  load_balancer_type         = "application"
  subnets                    = var.subnet_ids
  security_groups            = concat([aws_security_group.load_balancer.id], var.further_groups)
  drop_invalid_header_fields = true
  desync_mitigation_mode     = "strictest"
  enable_deletion_protection = var.deletion_protection

  # Seconds. Less than the 120 after which the service closes a silent connection: else the load balancer
  # might send a request into one that is just being closed.
  idle_timeout = 90

  access_logs {
    bucket  = aws_s3_bucket.logs.id
    prefix  = "access"
    enabled = true
  }

  connection_logs {
    bucket  = aws_s3_bucket.logs.id
    prefix  = "connections"
    enabled = true
  }

  depends_on = [aws_s3_bucket_policy.logs]
}

resource "aws_lb_listener" "this" {
  load_balancer_arn = aws_lb.this.arn
  port              = 443
  protocol          = "HTTPS"
  ssl_policy        = "ELBSecurityPolicy-TLS13-1-2-Res-2021-06" # of TLS 1.2 the ciphers with authentication and forward secrecy alone
  certificate_arn   = var.certificate_arn

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this.arn
  }
}

resource "aws_lb_target_group" "this" {
  name                 = var.name
  vpc_id               = var.vpc_id
  port                 = local.port
  protocol             = "HTTP"
  target_type          = "ip"
  deregistration_delay = "30"

  # Not /health/ready: it is 503 while the graph is rebuilt from the journal, which may take hours, and
  # documents are taken all the while. A task that is unhealthy here is replaced.
  health_check {
    path                = "/health/live"
    matcher             = "200"
    interval            = 15
    timeout             = 5
    healthy_threshold   = 2
    unhealthy_threshold = 4
  }
}

# Within this network the name leads here, whatever it means elsewhere.
resource "aws_route53_zone" "this" {
  #checkov:skip=CKV2_AWS_38:DNSSEC signs public zones; this one is private.
  #checkov:skip=CKV2_AWS_39:Query logs are for public zones; this one is private.
  name    = var.domain_name
  comment = "${var.name} within its own network"

  vpc {
    vpc_id = var.vpc_id
  }
}

resource "aws_route53_record" "this" {
  zone_id = aws_route53_zone.this.zone_id
  name    = var.domain_name
  type    = "A"

  alias {
    name                   = aws_lb.this.dns_name
    zone_id                = aws_lb.this.zone_id
    evaluate_target_health = false
  }
}

# --- its logs ----------------------------------------------------------------------------------------

resource "aws_s3_bucket" "logs" {
  #checkov:skip=CKV_AWS_18:It holds access logs itself.
  #checkov:skip=CKV_AWS_144:Logs are kept in one region.
  #checkov:skip=CKV_AWS_145:Load balancers cannot write to a bucket with a customer key.
  #checkov:skip=CKV2_AWS_62:Nobody waits for a log file.
  bucket        = "${var.name}-access-logs-${local.account}-${local.region}"
  force_destroy = !var.deletion_protection
}

resource "aws_s3_bucket_public_access_block" "logs" {
  bucket                  = aws_s3_bucket.logs.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "logs" {
  bucket = aws_s3_bucket.logs.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

# Load balancers write to buckets with the key of S3 only; a customer key is refused.
resource "aws_s3_bucket_server_side_encryption_configuration" "logs" {
  bucket = aws_s3_bucket.logs.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_versioning" "logs" {
  bucket = aws_s3_bucket.logs.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "logs" {
  bucket = aws_s3_bucket.logs.id

  rule {
    id     = "expire"
    status = "Enabled"

    filter {}

    expiration {
      days = var.log_days
    }

    noncurrent_version_expiration {
      noncurrent_days = 7
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }
  }
}

resource "aws_s3_bucket_policy" "logs" {
  bucket = aws_s3_bucket.logs.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "LoadBalancersOfThisAccount"
        Effect    = "Allow"
        Principal = { Service = "logdelivery.elasticloadbalancing.amazonaws.com" }
        Action    = "s3:PutObject"
        Resource  = "${aws_s3_bucket.logs.arn}/*"
        Condition = {
          StringEquals = { "aws:SourceAccount" = local.account }
          ArnLike      = { "aws:SourceArn" = "arn:${local.partition}:elasticloadbalancing:${local.region}:${local.account}:loadbalancer/*" }
        }
      },
      {
        Sid       = "TlsOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "s3:*"
        Resource  = [aws_s3_bucket.logs.arn, "${aws_s3_bucket.logs.arn}/*"]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })

  depends_on = [aws_s3_bucket_public_access_block.logs]
}
