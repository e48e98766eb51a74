# Three zones, a standby of each database, a year of logs, deletion protection.

terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.25"
    }
  }

  # The state holds no password and no key, but it names everything: keep it in a bucket of your own.
  # backend "s3" {
  #   bucket       = "example-terraform-state"
  #   key          = "headwater/production.tfstate"
  #   region       = "eu-west-1"
  #   encrypt      = true
  #   use_lockfile = true
  # }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = {
      Application = "headwater"
      Environment = "production"
      CostCenter  = "data-platform"
    }
  }
}

module "headwater" {
  source = "../.."

  name            = "headwater"
  domain_name     = var.domain_name
  certificate_arn = var.certificate_arn
  image_tag       = var.image_tag

  network = {
    availability_zones = ["${var.region}a", "${var.region}b", "${var.region}c"]
    client_cidrs       = var.client_cidrs
  }

  service = {
    task  = { cpu = 2048, memory = 8192 }
    tasks = { min = 2, max = 6 }
  }

  keep = "runs=100,days=400"

  graph   = { capacity = { min = 2.5, max = 64 }, instances = 2, backup_days = 14 }
  journal = { capacity = { min = 1, max = 32 }, instances = 2, backup_days = 35 }
  metrics = var.metrics
  alarms  = { emails = var.alarm_emails }

  # Producers outside the network sign their requests; each brings its API key, too.
  gateway = { authorization = "AWS_IAM", throttling = { rate = 200, burst = 400 } }

  # The queue road for clients of OpenLineage that know an address alone, and signed uploads for giant plans.
  functions = { queue_gateway = { authorization = "KEY" } }

  firewall = { requests_in_five_minutes = 20000 }
  page     = var.page
}
