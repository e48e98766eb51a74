# Who may talk to whom: a row a connection, both ends of it. Security groups allow nothing else.

locals {
  groups = merge({
    load_balancer = module.service.load_balancer.security_group_id
    service       = module.service.security_group_id
    graph         = module.graph.security_group_id
    journal       = module.journal.security_group_id
    endpoints     = module.network.endpoint_security_group_id
    },
    var.gateway == null ? {} : { gateway = module.gateway[0].security_group_id },
    var.lake == null ? {} : { jobs = module.lake[0].security_group_id },
    length(var.producers) == 0 ? {} : { accounts = module.capture[0].security_group_id },
  )

  connections = merge({
    "load balancer to service"    = { from = "load_balancer", to = "service", port = module.service.port }
    "service to graph"            = { from = "service", to = "graph", port = 8182 }
    "service to journal"          = { from = "service", to = "journal", port = 5432 }
    "service to AWS by endpoints" = { from = "service", to = "endpoints", port = 443 }
    },
    var.gateway == null ? {} : {
      "gateway to load balancer" = { from = "gateway", to = "load_balancer", port = 443 }
    },
    var.lake == null ? {} : {
      "jobs to load balancer"    = { from = "jobs", to = "load_balancer", port = 443 }
      "jobs to AWS by endpoints" = { from = "jobs", to = "endpoints", port = 443 }
    },
    length(var.producers) == 0 ? {} : {
      "other accounts to load balancer" = { from = "accounts", to = "load_balancer", port = 443 }
    },
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

# Layers of images come from S3, by its endpoint; so do files of a bulk load and data of jobs.
resource "aws_vpc_security_group_egress_rule" "s3" {
  for_each = { for name in concat(["service"], var.graph.load_bucket == null ? [] : ["graph"], var.lake == null ? [] : ["jobs"]) : name => local.groups[name] }

  description       = "${each.key} to S3"
  security_group_id = each.value
  prefix_list_id    = module.network.s3_prefix_list_id
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

# People and jobs: from this network and from those that are connected with it.
resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = toset(concat([var.network.cidr], var.network.client_cidrs))

  description       = "clients"
  security_group_id = local.groups.load_balancer
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}
