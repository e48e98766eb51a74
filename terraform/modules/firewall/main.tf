# Rules of AWS WAF for the load balancer (scope REGIONAL) or the page's distribution (CLOUDFRONT). A gateway of the
# kind HTTP API cannot have one: its requests pass that of the load balancer.

# Behind each of these addresses are many clients: those of a gateway, of the private way, of CloudFront.
resource "aws_wafv2_ip_set" "shared" {
  count = length(var.shared_cidrs) == 0 ? 0 : 1

  region             = var.region
  name               = "${var.name}-shared"
  description        = "Addresses that many clients of ${var.name} come from"
  scope              = var.scope
  ip_address_version = "IPV4"
  addresses          = var.shared_cidrs
}

resource "aws_wafv2_web_acl" "this" {
  region      = var.region
  name        = var.name
  description = "Requests to ${var.name}"
  scope       = var.scope

  default_action {
    allow {}
  }

  # It blocks nobody: it marks requests whose address is that of one client.
  dynamic "rule" {
    for_each = aws_wafv2_ip_set.shared

    content {
      name     = "one-client"
      priority = 0

      action {
        count {}
      }

      rule_label {
        name = "one-client"
      }

      statement {
        not_statement {
          statement {
            ip_set_reference_statement {
              arn = rule.value.arn
            }
          }
        }
      }

      visibility_config {
        cloudwatch_metrics_enabled = true
        metric_name                = "${var.name}-one-client"
        sampled_requests_enabled   = false
      }
    }
  }

  # One address may not use up the capacity that all share.
  rule {
    name     = "rate"
    priority = 1

    action {
      block {}
    }

    statement {
      rate_based_statement {
        limit                 = var.requests_in_five_minutes
        evaluation_window_sec = 300
        aggregate_key_type    = "IP"

        dynamic "scope_down_statement" {
          for_each = aws_wafv2_ip_set.shared

          content {
            label_match_statement {
              scope = "LABEL"
              key   = "one-client"
            }
          }
        }
      }
    }

    visibility_config {
      cloudwatch_metrics_enabled = true
      metric_name                = "${var.name}-rate"
      sampled_requests_enabled   = false
    }
  }

  # Addresses with a bad name.
  rule {
    name     = "reputation"
    priority = 2

    override_action {
      none {}
    }

    statement {
      managed_rule_group_statement {
        vendor_name = "AWS"
        name        = "AWSManagedRulesAmazonIpReputationList"
      }
    }

    visibility_config {
      cloudwatch_metrics_enabled = true
      metric_name                = "${var.name}-reputation"
      sampled_requests_enabled   = false
    }
  }

  # Requests that only attackers send, Log4j among them.
  rule {
    name     = "bad-inputs"
    priority = 3

    override_action {
      none {}
    }

    statement {
      managed_rule_group_statement {
        vendor_name = "AWS"
        name        = "AWSManagedRulesKnownBadInputsRuleSet"
      }
    }

    visibility_config {
      cloudwatch_metrics_enabled = true
      metric_name                = "${var.name}-bad-inputs"
      sampled_requests_enabled   = false
    }
  }

  # The general list, but not for bodies: a plan is large, and its SQL, paths and addresses look like attacks. In a
  # question the name of a table may be an address with digits (hdfs://10.0.0.5/...) or end like a file (.log, .ini).
  rule {
    name     = "general"
    priority = 4

    override_action {
      none {}
    }

    statement {
      managed_rule_group_statement {
        vendor_name = "AWS"
        name        = "AWSManagedRulesCommonRuleSet"

        dynamic "rule_action_override" {
          for_each = toset([
            "SizeRestrictions_BODY", "CrossSiteScripting_BODY", "GenericLFI_BODY", "GenericRFI_BODY", "EC2MetaDataSSRF_BODY",
            "GenericRFI_QUERYARGUMENTS", "RestrictedExtensions_QUERYARGUMENTS",
          ])

          content {
            name = rule_action_override.value

            action_to_use {
              count {}
            }
          }
        }
      }
    }

    visibility_config {
      cloudwatch_metrics_enabled = true
      metric_name                = "${var.name}-general"
      sampled_requests_enabled   = false
    }
  }

  visibility_config {
    cloudwatch_metrics_enabled = true
    metric_name                = var.name
    sampled_requests_enabled   = false
  }
}

resource "aws_wafv2_web_acl_association" "this" {
  count = var.load_balancer == null ? 0 : 1

  resource_arn = var.load_balancer.arn
  web_acl_arn  = aws_wafv2_web_acl.this.arn
}

# --- its log: blocked requests, without keys and tokens --------------------------------------------------

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  region            = var.region
  name              = "aws-waf-logs-${var.name}" # the beginning that AWS WAF wants
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_wafv2_web_acl_logging_configuration" "this" {
  region                  = var.region
  resource_arn            = aws_wafv2_web_acl.this.arn
  log_destination_configs = [aws_cloudwatch_log_group.this.arn]

  dynamic "redacted_fields" {
    for_each = toset(["authorization", "cookie", "x-api-key", "x-gateway-token"])

    content {
      single_header {
        name = redacted_fields.value
      }
    }
  }

  logging_filter {
    default_behavior = "DROP"

    filter {
      behavior    = "KEEP"
      requirement = "MEETS_ANY"

      condition {
        action_condition {
          action = "BLOCK"
        }
      }
    }
  }
}
