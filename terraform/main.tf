# Headwater on AWS: the modules and how they hang together. README.md has a drawing.
#
# The caller's provider says region and tags (default_tags): see examples/.

data "aws_region" "current" {}

locals {
  # UTC. RDS changes the password of the database in the hour after 3:00, on the first day of each month;
  # tasks are replaced soon after it began, and once more when it is over.
  rotation = { schedule = "cron(0 3 1 * ? *)", window = "1h" }
  restarts = { soon = "cron(15 3 1 * ? *)", after = "cron(5 4 1 * ? *)" }
}

module "encryption" {
  source = "./modules/encryption"

  name = var.name
}

module "network" {
  source = "./modules/network"

  name               = var.name
  cidr               = var.network.cidr
  availability_zones = var.network.availability_zones
  glue               = var.lake != null
  key_arn            = module.encryption.key_arn
  log_days           = var.log_days
}

module "graph" {
  source = "./modules/graph"

  name                = var.name
  vpc_id              = module.network.vpc_id
  subnet_ids          = module.network.subnet_ids
  key_arn             = module.encryption.key_arn
  engine_version      = var.graph.engine_version
  capacity            = var.graph.capacity
  instances           = var.graph.instances
  backup_days         = var.graph.backup_days
  load_bucket         = var.graph.load_bucket
  deletion_protection = var.deletion_protection
  log_days            = var.log_days
}

module "journal" {
  source = "./modules/journal"

  name                = var.name
  vpc_id              = module.network.vpc_id
  subnet_ids          = module.network.subnet_ids
  key_arn             = module.encryption.key_arn
  engine_version      = var.journal.engine_version
  capacity            = var.journal.capacity
  instances           = var.journal.instances
  backup_days         = var.journal.backup_days
  rotation            = local.rotation
  deletion_protection = var.deletion_protection
  log_days            = var.log_days
}

module "service" {
  source = "./modules/service"

  name                   = var.name
  vpc_id                 = module.network.vpc_id
  subnet_ids             = module.network.subnet_ids
  key_arn                = module.encryption.key_arn
  domain_name            = var.domain_name
  certificate_arn        = var.certificate_arn
  image_tag              = var.image_tag
  task                   = var.service.task
  tasks                  = var.service.tasks
  threads                = var.service.threads
  keep                   = var.service.keep
  graph_runs             = var.service.graph_runs
  metrics_image          = var.metrics == null ? null : var.metrics.image
  metrics_repository_arn = var.metrics == null ? null : var.metrics.repository_arn
  restarts               = local.restarts
  producer_secret_arns   = length(var.producers) == 0 ? {} : module.capture[0].secret_arns
  producer_key_arn       = length(var.producers) == 0 ? null : module.capture[0].key_arn
  deletion_protection    = var.deletion_protection
  log_days               = var.log_days

  journal = {
    host       = module.journal.host
    port       = module.journal.port
    database   = module.journal.database
    secret_arn = module.journal.secret_arn
  }

  graph = {
    url                 = module.graph.url
    cluster_resource_id = module.graph.cluster_resource_id
  }
}

module "gateway" {
  source = "./modules/gateway"
  count  = var.gateway == null ? 0 : 1

  name          = var.name
  vpc_id        = module.network.vpc_id
  subnet_ids    = module.network.subnet_ids
  listener_arn  = module.service.load_balancer.listener_arn
  domain_name   = var.domain_name
  authorization = var.gateway.authorization
  jwt           = var.gateway.jwt
  throttling    = var.gateway.throttling
  routes        = var.gateway.routes
  key_arn       = module.encryption.key_arn
  log_days      = var.log_days
}

module "capture" {
  source = "./modules/capture"
  count  = length(var.producers) == 0 ? 0 : 1

  name                = var.name
  vpc_id              = module.network.vpc_id
  subnet_ids          = module.network.subnet_ids
  load_balancer_arn   = module.service.load_balancer.arn
  producers           = var.producers
  deletion_protection = var.deletion_protection
}

module "lake" {
  source = "./modules/lake"
  count  = var.lake == null ? 0 : 1

  name                = var.name
  vpc_id              = module.network.vpc_id
  subnet              = { id = module.network.subnets[var.network.availability_zones[0]], availability_zone = var.network.availability_zones[0] }
  url                 = "https://${var.domain_name}"
  key_secret_arn      = module.service.key_secret_arns["producer"]
  namespace           = var.lake.namespace
  agent               = var.lake.agent
  key_arn             = module.encryption.key_arn
  deletion_protection = var.deletion_protection
}

module "observability" {
  source = "./modules/observability"

  name              = var.name
  key_arn           = module.encryption.key_arn
  emails            = var.alarms.emails
  lag_seconds       = var.alarms.lag_seconds
  load_balancer     = module.service.load_balancer.arn_suffix
  target_group      = module.service.target_group_arn_suffix
  cluster           = module.service.cluster_name
  service           = module.service.service_name
  log_group         = module.service.log_group_name
  graph             = { cluster = module.graph.cluster_identifier, max_capacity = var.graph.capacity.max }
  journal           = { cluster = module.journal.cluster_identifier }
  metrics_namespace = module.service.metrics
  gateway           = var.gateway == null ? null : { api_id = module.gateway[0].api_id }
}
