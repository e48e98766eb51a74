# No containers that run for ever: Lambda behind two gateways, and the queue road. Neptune and Aurora stay.

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

  name         = "headwater-functions"
  image_tag    = var.image_tag
  architecture = "ARM64"
  service      = null

  network = { availability_zones = ["${var.region}a", "${var.region}b"] }
  graph   = { capacity = { min = 1, max = 8 }, instances = 1, backup_days = 1 }
  journal = { capacity = { min = 0.5, max = 4 }, instances = 1, backup_days = 1 }

  # The stock agent of Spline sends a fixed header and cannot sign: KEY leaves the check to the function accept.
  gateway   = { authorization = "KEY" }
  functions = { queue_gateway = { authorization = "KEY" } }

  deletion_protection = false
  log_days            = 30
}
