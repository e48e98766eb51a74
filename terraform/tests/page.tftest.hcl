mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                     = "headwater"
  vpc_id                   = "vpc-1"
  load_balancer            = { arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/headwater/0123456789abcdef", dns_name = "internal-headwater-1.eu-west-1.elb.amazonaws.com" }
  domain_name              = "lineage.example.org"
  certificate_arn          = "arn:aws:acm:us-east-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"
  requests_in_five_minutes = 3000
  log_days                 = 365
}

run "the_page_is_public_and_the_load_balancer_is_not" {
  command = apply

  module {
    source = "./modules/page"
  }

  assert {
    condition     = one(aws_cloudfront_vpc_origin.this.vpc_origin_endpoint_config).origin_protocol_policy == "https-only"
    error_message = "CloudFront speaks to the load balancer without TLS."
  }

  assert {
    condition     = one(aws_cloudfront_distribution.this.default_cache_behavior).viewer_protocol_policy == "https-only"
    error_message = "A key may travel without TLS."
  }

  assert {
    condition     = one(aws_cloudfront_distribution.this.viewer_certificate).minimum_protocol_version == "TLSv1.2_2021"
    error_message = "Old versions of TLS are taken."
  }

  assert {
    condition     = one(aws_cloudfront_distribution.this.default_cache_behavior).cache_policy_id == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
    error_message = "An answer for one key may be kept for another."
  }

  assert {
    condition     = aws_cloudfront_distribution.this.web_acl_id == module.firewall.arn
    error_message = "There is no firewall before a public page."
  }
}

run "what_happens_is_logged_and_encrypted" {
  command = apply

  module {
    source = "./modules/page"
  }

  assert {
    condition     = aws_cloudwatch_log_delivery_source.this.resource_arn == aws_cloudfront_distribution.this.arn && aws_cloudwatch_log_group.this.kms_key_id == aws_kms_key.logs.arn
    error_message = "Requests are logged, encrypted."
  }
}

run "a_certificate_of_another_region_is_refused" {
  command = plan

  module {
    source = "./modules/page"
  }

  variables {
    certificate_arn = "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"
  }

  expect_failures = [var.certificate_arn]
}
