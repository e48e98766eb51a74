# Two accounts: Headwater in the one of the data platform, jobs in the one of a domain. Their reports go by
# PrivateLink, with an API key of their account, so that it has the account as its capture scope.

terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.25"
    }
  }
}

provider "aws" {
  alias  = "platform"
  region = var.region

  assume_role {
    role_arn = var.platform.role_arn
  }

  default_tags {
    tags = {
      Application = "headwater"
      Environment = "production"
    }
  }
}

provider "aws" {
  alias  = "domain"
  region = var.region

  assume_role {
    role_arn = var.domain.role_arn
  }

  default_tags {
    tags = {
      Application = "headwater"
      Environment = "production"
    }
  }
}

data "aws_partition" "current" {
  provider = aws.domain
}

locals {
  job_roles = [for name in var.domain.job_role_names : "arn:${data.aws_partition.current.partition}:iam::${var.domain.account_id}:role/${name}"]
}

module "headwater" {
  source    = "../.."
  providers = { aws = aws.platform }

  domain_name     = var.domain_name
  certificate_arn = var.certificate_arn
  image_tag       = var.image_tag

  network   = { availability_zones = ["${var.region}a", "${var.region}b", "${var.region}c"] }
  producers = { (var.domain.account_id) = { role_arns = local.job_roles } }
}

module "producer" {
  source    = "../../modules/producer"
  providers = { aws = aws.domain }

  vpc_id                 = var.domain.vpc_id
  subnet_ids             = var.domain.subnet_ids
  endpoint_service_name  = module.headwater.producers.endpoint_service_name
  domain_name            = var.domain_name
  secret_arn             = module.headwater.producers.secret_arns[var.domain.account_id]
  key_arn                = module.headwater.producers.key_arn
  role_names             = var.domain.job_role_names
  job_security_group_ids = var.domain.job_security_group_ids
}

# In place of an administrator's click: this connection, and no other, is accepted.
resource "aws_vpc_endpoint_connection_accepter" "domain" {
  provider = aws.platform

  vpc_endpoint_service_id = module.headwater.producers.endpoint_service_id
  vpc_endpoint_id         = module.producer.endpoint_id
}
