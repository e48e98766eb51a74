# The graph: Amazon Neptune Serverless. It is built from the journal and can be built again from it.

locals {
  family         = "neptune1.4"
  engine_version = var.engine_version == null ? one(data.aws_neptune_engine_version.newest[*].version_actual) : var.engine_version
}

# The newest version of the family that the region offers, unless the caller names one.
data "aws_neptune_engine_version" "newest" {
  count = var.engine_version == null ? 1 : 0

  parameter_group_family = local.family
  latest                 = true
}

resource "aws_neptune_subnet_group" "this" {
  name        = var.name
  description = "Private subnets of ${var.name}"
  subnet_ids  = var.subnet_ids
}

resource "aws_security_group" "this" {
  name        = "${var.name}-graph"
  description = "Neptune of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-graph" }
}

resource "aws_neptune_cluster_parameter_group" "this" {
  name        = "${var.name}-graph"
  family      = local.family
  description = "Audit and slow query logs, bounded queries"

  parameter {
    name  = "neptune_enable_audit_log"
    value = "1"
  }

  parameter {
    name  = "neptune_enable_slow_query_log"
    value = "info"
  }

  parameter {
    name  = "neptune_slow_query_log_threshold"
    value = "5000"
  }

  # Milliseconds. The service asks for less itself; this bounds notebooks.
  parameter {
    name  = "neptune_query_timeout"
    value = "120000"
  }
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = toset(["audit", "slowquery"])

  name              = "/aws/neptune/${var.name}/${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_neptune_cluster" "this" {
  #checkov:skip=CKV_AWS_361:The caller says how many days; the graph can also be built again from the journal.
  #checkov:skip=CKV2_AWS_58:The caller says so; only examples/small, which is meant to be removed again, says no.
  cluster_identifier = var.name
  engine             = "neptune"
  engine_version     = local.engine_version
  port               = 8182

  neptune_subnet_group_name            = aws_neptune_subnet_group.this.name
  vpc_security_group_ids               = [aws_security_group.this.id]
  neptune_cluster_parameter_group_name = aws_neptune_cluster_parameter_group.this.name

  iam_database_authentication_enabled = true
  storage_encrypted                   = true
  kms_key_arn                         = var.key_arn
  iam_roles                           = var.load_bucket == null ? [] : [aws_iam_role.load[0].arn]

  serverless_v2_scaling_configuration {
    min_capacity = var.capacity.min
    max_capacity = var.capacity.max
  }

  backup_retention_period      = var.backup_days
  preferred_backup_window      = "01:00-01:30"
  preferred_maintenance_window = "sun:02:00-sun:03:00"
  copy_tags_to_snapshot        = true
  deletion_protection          = var.deletion_protection
  skip_final_snapshot          = !var.deletion_protection
  final_snapshot_identifier    = var.deletion_protection ? "${var.name}-graph-final" : null

  enable_cloudwatch_logs_exports = ["audit", "slowquery"]

  depends_on = [aws_cloudwatch_log_group.this]
}

# The first is the writer; any other one takes over when it fails.
resource "aws_neptune_cluster_instance" "this" {
  count = var.instances

  identifier                   = "${var.name}-graph-${count.index}"
  cluster_identifier           = aws_neptune_cluster.this.id
  engine                       = "neptune"
  instance_class               = "db.serverless"
  neptune_subnet_group_name    = aws_neptune_cluster.this.neptune_subnet_group_name
  publicly_accessible          = false
  auto_minor_version_upgrade   = true
  preferred_maintenance_window = aws_neptune_cluster.this.preferred_maintenance_window # else each has one of its own, by chance
  promotion_tier               = count.index == 0 ? 0 : 1
}

# --- loading in bulk: headwater-pipeline load-neptune ------------------------------------------------

data "aws_caller_identity" "current" {}
data "aws_region" "current" {}

resource "aws_iam_role" "load" {
  count = var.load_bucket == null ? 0 : 1

  name                 = "${var.name}-graph-load"
  description          = "Lets Neptune's bulk loader read the files of headwater-pipeline"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "rds.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
    }]
  })
}

resource "aws_iam_role_policy" "load" {
  count = var.load_bucket == null ? 0 : 1

  name = "read-files"
  role = aws_iam_role.load[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect   = "Allow"
        Action   = "s3:ListBucket"
        Resource = var.load_bucket.arn
      },
      {
        Effect   = "Allow"
        Action   = "s3:GetObject"
        Resource = "${var.load_bucket.arn}/*"
      },
      {
        Effect    = "Allow"
        Action    = "kms:Decrypt"
        Resource  = var.load_bucket.key_arn
        Condition = { StringEquals = { "kms:ViaService" = "s3.${data.aws_region.current.region}.amazonaws.com" } }
      },
    ]
  })
}
