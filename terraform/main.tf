# Headwater on AWS: the modules and how they hang together. README.md has a drawing.
#
# The caller's provider says region and tags (default_tags): see examples/.

data "aws_region" "current" {}

locals {
  # The target of the gateway: the service where there is one, unless the caller wants the functions.
  gateway_target = var.gateway == null ? null : coalesce(var.gateway.target, var.service == null ? "functions" : "service")
}

module "encryption" {
  source = "./modules/encryption"

  name = var.name
}

module "network" {
  source = "./modules/network"

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  cidr                 = var.network.cidr
  availability_zones   = var.network.availability_zones
  key_arn              = module.encryption.key_arn
  log_days             = var.log_days

  services = concat(
    var.lake == null ? [] : ["glue"],
    var.functions == null && var.workflows == null ? [] : ["sqs"],
    var.workflows == null ? [] : ["airflow.api", "airflow.env", "airflow.ops"],
  )

  # Those that MWAA asks for in a network without a way to the internet.
  shared_services = var.workflows == null ? [] : ["airflow.api", "airflow.env", "airflow.ops", "ecr.api", "ecr.dkr", "kms", "logs", "monitoring", "sqs"]
}

module "graph" {
  source = "./modules/graph"

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  subnet_ids           = module.network.subnet_ids
  key_arn              = module.encryption.key_arn
  engine_version       = var.graph.engine_version
  capacity             = var.graph.capacity
  instances            = var.graph.instances
  backup_days          = var.graph.backup_days
  load_bucket          = var.graph.load_bucket
  deletion_protection  = var.deletion_protection
  log_days             = var.log_days
}

module "journal" {
  source = "./modules/journal"

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  subnet_ids           = module.network.subnet_ids
  key_arn              = module.encryption.key_arn
  engine_version       = var.journal.engine_version
  capacity             = var.journal.capacity
  instances            = var.journal.instances
  backup_days          = var.journal.backup_days
  deletion_protection  = var.deletion_protection
  log_days             = var.log_days
}

module "bodies" {
  source = "./modules/bodies"

  name                = var.name
  key_arn             = module.encryption.key_arn
  deletion_protection = var.deletion_protection
}

module "setup" {
  source = "./modules/setup"

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  key_arn              = module.encryption.key_arn
  image_tag            = var.image_tag
  architecture         = var.architecture
  settings             = local.settings
  producer_secret_arns = length(var.producers) == 0 ? {} : module.capture[0].secret_arns
  producer_key_arn     = length(var.producers) == 0 ? null : module.capture[0].key_arn
  deletion_protection  = var.deletion_protection
  log_days             = var.log_days

  database = {
    host                = module.journal.host
    port                = module.journal.port
    name                = module.journal.database
    cluster_resource_id = module.journal.cluster_resource_id
    owner_secret_arn    = module.journal.owner_secret_arn
    user                = local.database_user
    certificates        = local.certificates
  }
}

# --- two ways to run: containers, functions, or both ------------------------------------------------------

module "service" {
  source = "./modules/service"
  count  = var.service == null ? 0 : 1

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  subnet_ids           = module.network.subnet_ids
  key_arn              = module.encryption.key_arn
  domain_name          = var.domain_name
  certificate_arn      = var.certificate_arn
  further_groups       = aws_security_group.cloudfront[*].id
  cluster              = module.setup.cluster
  image                = module.setup.image
  repository_arn       = module.setup.repository.arn
  task                 = merge(var.service.task, { architecture = var.architecture })
  tasks                = var.service.tasks
  threads              = var.service.threads
  database             = { cluster_resource_id = module.journal.cluster_resource_id, user = local.database_user }
  graph                = { cluster_resource_id = module.graph.cluster_resource_id }
  bodies               = module.bodies.state
  uploads              = var.functions == null ? null : module.bodies.uploads
  deletion_protection  = var.deletion_protection
  log_days             = var.log_days

  metrics = var.metrics == null ? null : {
    image          = var.metrics.image
    repository_arn = var.metrics.repository_arn
    key_secret_arn = module.setup.key_secret_arns["metrics"]
  }

  settings = merge(local.settings, var.functions == null ? {} : {
    HEADWATER_UPLOADS = "s3://${module.bodies.uploads.bucket}/${module.bodies.uploads.prefix}"
  })
}

module "queues" {
  source = "./modules/queues"
  count  = var.functions == null ? 0 : 1

  name         = var.name
  key_arn      = module.encryption.key_arn
  message_size = var.functions.message_size
  uploads      = module.bodies.uploads
}

module "functions" {
  source = "./modules/functions"
  count  = var.functions == null ? 0 : 1

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  subnet_ids           = module.network.subnet_ids
  key_arn              = module.encryption.key_arn
  image                = module.setup.image
  architecture         = var.architecture
  settings             = local.settings
  at_once              = var.functions.at_once
  message_size         = var.functions.message_size
  rewrite_rules        = var.functions.rewrite_rules
  queues               = module.queues[0].queues
  bodies               = module.bodies.state
  uploads              = module.bodies.uploads
  database             = { cluster_resource_id = module.journal.cluster_resource_id, user = local.database_user }
  graph                = { cluster_resource_id = module.graph.cluster_resource_id }
  log_days             = var.log_days
}

# --- public doors, each of which is optional -----------------------------------------------------------------

module "gateway" {
  source = "./modules/gateway"
  count  = var.gateway == null ? 0 : 1

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  authorization        = var.gateway.authorization
  jwt                  = var.gateway.jwt
  callers              = var.gateway.callers
  throttling           = var.gateway.throttling
  routes               = var.gateway.routes
  key_arn              = module.encryption.key_arn
  log_days             = var.log_days
  function             = local.gateway_target == "functions" ? module.functions[0].functions["accept"] : null

  listener = local.gateway_target != "service" ? null : {
    arn         = module.service[0].load_balancer.listener_arn
    domain_name = var.domain_name
    vpc_id      = module.network.vpc_id
    subnet_ids  = module.network.subnet_ids
  }
}

# For clients of OpenLineage that know only an address: their event is in a queue before they get an answer.
module "queue_gateway" {
  source = "./modules/gateway"
  count  = try(var.functions.queue_gateway, null) == null ? 0 : 1

  name                 = "${var.name}-queue"
  permissions_boundary = var.permissions_boundary
  authorization        = var.functions.queue_gateway.authorization
  jwt                  = var.functions.queue_gateway.jwt
  callers              = var.functions.queue_gateway.callers
  token_header         = "Authorization" # nobody behind it looks for an API key there
  throttling           = var.functions.queue_gateway.throttling
  routes               = ["POST /", "POST /api/v1/lineage", "POST /api/v1/lineage/batch"]
  function             = module.functions[0].functions["enqueue"]
  key_secret_arns = merge(
    { producer = module.setup.key_secret_arns["producer"] },
    { for account in keys(var.producers) : account => module.capture[0].secret_arns[account] },
  )
  secrets_key_arn = one(module.capture[*].key_arn)
  key_arn         = module.encryption.key_arn
  log_days        = var.log_days
}

module "page" {
  source = "./modules/page"
  count  = var.page == null ? 0 : 1

  name                     = var.name
  vpc_id                   = module.network.vpc_id
  load_balancer            = { arn = module.service[0].load_balancer.arn, dns_name = module.service[0].load_balancer.dns_name }
  domain_name              = coalesce(var.page.domain_name, var.domain_name)
  certificate_arn          = var.page.certificate_arn
  requests_in_five_minutes = var.page.requests_in_five_minutes
  log_days                 = var.log_days
}

module "firewall" {
  source = "./modules/firewall"
  count  = var.firewall == null ? 0 : 1

  name                     = var.name
  scope                    = "REGIONAL"
  load_balancer            = { arn = module.service[0].load_balancer.arn }
  requests_in_five_minutes = var.firewall.requests_in_five_minutes
  shared_cidrs             = [var.network.cidr]
  key_arn                  = module.encryption.key_arn
  log_days                 = var.log_days
}

# --- jobs that report: of other accounts, and the examples ---------------------------------------------------

module "capture" {
  source = "./modules/capture"
  count  = length(var.producers) == 0 ? 0 : 1

  name                = var.name
  vpc_id              = module.network.vpc_id
  subnet_ids          = module.network.subnet_ids
  load_balancer_arn   = module.service[0].load_balancer.arn
  producers           = var.producers
  deletion_protection = var.deletion_protection
}

module "lake" {
  source = "./modules/lake"
  count  = var.lake == null ? 0 : 1

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  subnet               = { id = module.network.subnets[var.network.availability_zones[0]], availability_zone = var.network.availability_zones[0] }
  url                  = "https://${var.domain_name}"
  key_secret_arn       = module.setup.key_secret_arns["producer"]
  namespace            = var.lake.namespace
  agent                = var.lake.agent
  emr                  = var.lake.emr
  key_arn              = module.encryption.key_arn
  deletion_protection  = var.deletion_protection
  log_days             = var.log_days
}

module "employees" {
  source = "./modules/employees"
  count  = var.employees ? 1 : 0

  name                = var.name
  vpc_id              = module.network.vpc_id
  subnet_ids          = module.network.subnet_ids
  key_arn             = module.encryption.key_arn
  raw                 = { bucket = module.lake[0].buckets["raw"] }
  deletion_protection = var.deletion_protection
  log_days            = var.log_days
}

module "warehouse" {
  source = "./modules/warehouse"
  count  = var.warehouse == null ? 0 : 1

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  subnet_ids           = module.network.subnet_ids
  key_arn              = module.encryption.key_arn
  capacity             = var.warehouse.capacity
  hours_a_month        = var.warehouse.hours_a_month
  raw                  = { bucket = module.lake[0].buckets["raw"], bucket_arn = module.lake[0].bucket_arns["raw"] }
}

module "workflows" {
  source = "./modules/workflows"
  count  = var.workflows == null ? 0 : 1

  name                 = var.name
  permissions_boundary = var.permissions_boundary
  vpc_id               = module.network.vpc_id
  subnet_ids           = module.network.subnet_ids
  key_arn              = module.encryption.key_arn
  airflow_version      = var.workflows.airflow_version
  workers              = var.workflows.workers
  code                 = { bucket = module.lake[0].buckets["code"], bucket_arn = module.lake[0].bucket_arns["code"] }
  url                  = "https://${var.domain_name}"
  key_secret_arn       = module.setup.key_secret_arns["producer"]
  namespace            = var.lake.namespace
  job_arns             = module.lake[0].job_arns
  log_days             = var.log_days
}

# --- people ----------------------------------------------------------------------------------------------------

module "notebook" {
  source = "./modules/notebook"
  count  = var.notebook == null ? 0 : 1

  name                   = var.name
  permissions_boundary   = var.permissions_boundary
  vpc_id                 = module.network.vpc_id
  subnet_id              = module.network.subnet_ids[0]
  key_arn                = module.encryption.key_arn
  instance_type          = var.notebook.instance_type
  graph_notebook_version = var.notebook.graph_notebook_version
  graph                  = merge(module.graph.reader, { cluster_resource_id = module.graph.cluster_resource_id })
  code                   = { bucket = module.lake[0].buckets["code"], bucket_arn = module.lake[0].bucket_arns["code"] }
}

module "observability" {
  source = "./modules/observability"

  name              = var.name
  key_arn           = module.encryption.key_arn
  emails            = var.alarms.emails
  lag_seconds       = var.alarms.lag_seconds
  graph             = { cluster = module.graph.cluster_identifier, max_capacity = var.graph.capacity.max }
  journal           = { cluster = module.journal.cluster_identifier }
  metrics_namespace = one(module.service[*].metrics)
  gateways = merge(
    var.gateway == null ? {} : { gateway = module.gateway[0].api_id },
    length(module.queue_gateway) == 0 ? {} : { queue-gateway = module.queue_gateway[0].api_id },
  )
  queues    = var.functions == null ? {} : { for name, queue in module.queues[0].queues : name => { name = queue.name, dead_name = queue.dead_name } }
  functions = var.functions == null ? {} : { for name, function in module.functions[0].functions : name => function.name }

  service = var.service == null ? null : {
    load_balancer = module.service[0].load_balancer.arn_suffix
    target_group  = module.service[0].target_group_arn_suffix
    cluster       = module.setup.cluster.name
    service       = module.service[0].service_name
    log_group     = module.service[0].log_group_name
  }
}
