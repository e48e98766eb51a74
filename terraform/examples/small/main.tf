# One task, one instance of each database, nothing that is kept: to try it, and to remove it again.

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
  region = var.region

  default_tags {
    tags = {
      Application = "headwater"
      Environment = "trial"
    }
  }
}

module "headwater" {
  source = "../.."

  name            = "headwater-try"
  domain_name     = var.domain_name
  certificate_arn = var.certificate_arn
  image_tag       = var.image_tag

  network = { availability_zones = ["${var.region}a", "${var.region}b"] }
  service = { task = { cpu = 512, memory = 2048 }, tasks = { min = 1, max = 1 } }
  graph   = { capacity = { min = 1, max = 4 }, instances = 1, backup_days = 1 }
  journal = { capacity = { min = 0.5, max = 2 }, instances = 1, backup_days = 1 }

  lake     = { emr = {} }
  notebook = {}

  deletion_protection = false
  log_days            = 30
}
