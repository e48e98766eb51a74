# The permitted connections: a row each, with both ends. Security groups allow nothing else.

locals {
  groups = merge(
    {
      graph     = module.graph.security_group_id
      journal   = module.journal.security_group_id
      endpoints = module.network.endpoint_security_group_id
      setup     = module.setup.security_group_id
    },
    var.service == null ? {} : {
      load_balancer = module.service[0].load_balancer.security_group_id
      service       = module.service[0].security_group_id
    },
    var.functions == null ? {} : { functions = module.functions[0].security_group_id },
    local.gateway_target == "service" ? { gateway = module.gateway[0].security_group_id } : {},
    var.lake == null ? {} : { jobs = module.lake[0].security_group_id },
    length(var.producers) == 0 ? {} : { accounts = module.capture[0].security_group_id },
    var.notebook == null ? {} : { notebook = module.notebook[0].security_group_id },
    var.employees ? { employees = module.employees[0].security_group_id } : {},
    var.warehouse == null ? {} : { warehouse = module.warehouse[0].security_group_id },
    var.workflows == null ? {} : { airflow = module.workflows[0].security_group_id },
  )

  connections = merge(
    {
      "setup to journal"          = { from = "setup", to = "journal", port = 5432 }
      "setup to AWS by endpoints" = { from = "setup", to = "endpoints", port = 443 }
    },
    var.service == null ? {} : {
      "load balancer to service"    = { from = "load_balancer", to = "service", port = module.service[0].port }
      "service to graph"            = { from = "service", to = "graph", port = 8182 }
      "service to journal"          = { from = "service", to = "journal", port = 5432 }
      "service to AWS by endpoints" = { from = "service", to = "endpoints", port = 443 }
    },
    var.functions == null ? {} : {
      "functions to graph"            = { from = "functions", to = "graph", port = 8182 }
      "functions to journal"          = { from = "functions", to = "journal", port = 5432 }
      "functions to AWS by endpoints" = { from = "functions", to = "endpoints", port = 443 }
    },
    local.gateway_target != "service" ? {} : {
      "gateway to load balancer" = { from = "gateway", to = "load_balancer", port = 443 }
    },
    var.lake == null ? {} : {
      "jobs to load balancer"    = { from = "jobs", to = "load_balancer", port = 443 }
      "jobs to AWS by endpoints" = { from = "jobs", to = "endpoints", port = 443 }
    },
    length(var.producers) == 0 ? {} : {
      "other accounts to load balancer" = { from = "accounts", to = "load_balancer", port = 443 }
    },
    var.notebook == null ? {} : {
      "notebook to graph"            = { from = "notebook", to = "graph", port = 8182 }
      "notebook to AWS by endpoints" = { from = "notebook", to = "endpoints", port = 443 }
    },
    !var.employees ? {} : {
      "jobs to employees" = { from = "jobs", to = "employees", port = 3306 }
    },
    var.warehouse == null ? {} : {
      "jobs to warehouse" = { from = "jobs", to = "warehouse", port = 5439 }
    },
    var.workflows == null ? {} : {
      "airflow to load balancer"    = { from = "airflow", to = "load_balancer", port = 443 }
      "airflow to AWS by endpoints" = { from = "airflow", to = "endpoints", port = 443 }
    },
  )

  # Layers of images, large bodies, code, data of jobs, files of a bulk load: they come from S3, by its endpoint.
  users_of_s3 = setintersection(
    keys(local.groups),
    concat(["service", "functions", "setup", "jobs", "notebook", "warehouse", "airflow"], var.graph.load_bucket == null ? [] : ["graph"]),
  )
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each = local.connections

  description                  = each.key
  security_group_id            = local.groups[each.value.from]
  referenced_security_group_id = local.groups[each.value.to]
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = local.connections

  description                  = each.key
  security_group_id            = local.groups[each.value.to]
  referenced_security_group_id = local.groups[each.value.from]
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
}

resource "aws_vpc_security_group_egress_rule" "s3" {
  for_each = local.users_of_s3

  description       = "${each.key} to S3"
  security_group_id = local.groups[each.key]
  prefix_list_id    = module.network.s3_prefix_list_id
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

# People and jobs: from this network and from those that are connected with it.
resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = toset(var.service == null ? [] : concat([var.network.cidr], var.network.client_cidrs))

  description       = "clients"
  security_group_id = local.groups.load_balancer
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

# CloudFront comes from addresses of AWS, which it keeps in a list.
data "aws_ec2_managed_prefix_list" "cloudfront" {
  count = var.page == null ? 0 : 1

  name = "com.amazonaws.global.cloudfront.origin-facing"
}

# A group of its own: the list counts as 55 rules, of the 60 that a group may have.
resource "aws_security_group" "cloudfront" {
  #checkov:skip=CKV2_AWS_5:The load balancer has it; the scanner does not follow the module.
  count = var.page == null ? 0 : 1

  name        = "${var.name}-cloudfront"
  description = "CloudFront to the load balancer of ${var.name}"
  vpc_id      = module.network.vpc_id
  tags        = { Name = "${var.name}-cloudfront" }
}

resource "aws_vpc_security_group_ingress_rule" "cloudfront" {
  count = var.page == null ? 0 : 1

  description       = "CloudFront"
  security_group_id = aws_security_group.cloudfront[0].id
  prefix_list_id    = data.aws_ec2_managed_prefix_list.cloudfront[0].id
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}
