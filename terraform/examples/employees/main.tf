# The employees' example: an HR database (MySQL), a warehouse (Redshift Serverless), Airflow (MWAA), jobs on Glue and on
# EMR Serverless, and a notebook. All private: there are no public subnets. It costs about 30 $ a day while it stands.

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
      Environment = "example"
    }
  }
}

module "headwater" {
  source = "../.."

  name            = var.name
  domain_name     = var.domain_name
  certificate_arn = var.certificate_arn
  image_tag       = var.image_tag

  network = { cidr = var.vpc_cidr, availability_zones = ["${var.region}a", "${var.region}b", "${var.region}c"] }
  service = { task = { cpu = 512, memory = 2048 }, tasks = { min = 1, max = 2 } }
  graph   = { capacity = { min = 1, max = 8 }, instances = 1, backup_days = 1 }
  journal = { capacity = { min = 0.5, max = 4 }, instances = 1, backup_days = 1 }

  lake      = { agent = var.agent, namespace = var.project_name, emr = {} }
  employees = true
  warehouse = { capacity = 8, hours_a_month = 20 }
  workflows = {}
  notebook  = {}

  deletion_protection = false
  log_days            = 30
}
