# The journal and the catalogue: Aurora PostgreSQL Serverless v2. The journal must not be lost.

locals {
  major          = var.engine_version == null ? "16" : split(".", var.engine_version)[0]
  family         = "aurora-postgresql${local.major}"
  engine_version = var.engine_version == null ? one(data.aws_rds_engine_version.newest[*].version_actual) : var.engine_version
}

# The newest minor version that the region offers, unless the caller names one.
data "aws_rds_engine_version" "newest" {
  count = var.engine_version == null ? 1 : 0

  engine                 = "aurora-postgresql"
  version                = local.major
  parameter_group_family = local.family
  latest                 = true

  # Versions of Aurora's sharded kind, such as 16.13-limitless, are in the same list.
  lifecycle {
    postcondition {
      condition     = !endswith(self.version_actual, "-limitless")
      error_message = "The newest version in this region is ${self.version_actual}, which is for sharded clusters alone: name one in engine_version."
    }
  }
}

data "aws_caller_identity" "current" {}

resource "aws_db_subnet_group" "this" {
  name        = "${var.name}-journal"
  description = "Private subnets of ${var.name}"
  subnet_ids  = var.subnet_ids
}

resource "aws_security_group" "this" {
  name        = "${var.name}-journal"
  description = "Aurora of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-journal" }
}

# A name for each major version, so that the next one's is there before this one's goes.
resource "aws_rds_cluster_parameter_group" "this" {
  name        = "${var.name}-journal-${local.major}"
  family      = local.family
  description = "TLS only; slow statements are logged, their values are not"

  parameter {
    name         = "rds.force_ssl"
    value        = "1"
    apply_method = "pending-reboot"
  }

  parameter {
    name  = "log_statement"
    value = "ddl"
  }

  parameter {
    name  = "log_min_duration_statement"
    value = "5000"
  }

  # The values of a statement are documents: they stay out of the log.
  parameter {
    name  = "log_parameter_max_length"
    value = "0"
  }

  parameter {
    name  = "log_parameter_max_length_on_error"
    value = "0"
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = toset(["postgresql", "iam-db-auth-error"])

  name              = "/aws/rds/cluster/${var.name}-journal/${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_rds_cluster" "this" {
  #checkov:skip=CKV_AWS_139:The caller says so; only examples/small, which is meant to be removed again, says no.
  #checkov:skip=CKV_AWS_133:The caller says how many days, at least one; the variable refuses none.
  #checkov:skip=CKV2_AWS_8:Aurora itself restores to any second of the days in backup_days; a plan of AWS Backup is the account owner's.
  cluster_identifier = "${var.name}-journal"
  engine             = "aurora-postgresql"
  engine_mode        = "provisioned" # the mode of Serverless v2, too
  engine_version     = local.engine_version
  database_name      = "headwater"

  # The next major version comes only where somebody has named it.
  allow_major_version_upgrade = var.engine_version != null

  port                            = 5432
  db_subnet_group_name            = aws_db_subnet_group.this.name
  vpc_security_group_ids          = [aws_security_group.this.id]
  db_cluster_parameter_group_name = aws_rds_cluster_parameter_group.this.name

  # The owner: RDS makes its password and keeps it in Secrets Manager, so that it is in no state and no variable. It
  # is needed once, to make the user of the service (modules/setup), which signs in with tokens of IAM.
  master_username                     = "headwater_owner"
  manage_master_user_password         = true
  master_user_secret_kms_key_id       = var.key_arn
  iam_database_authentication_enabled = true
  storage_encrypted                   = true
  kms_key_id                          = var.key_arn

  serverlessv2_scaling_configuration {
    min_capacity = var.capacity.min
    max_capacity = var.capacity.max
  }

  backup_retention_period      = var.backup_days
  preferred_backup_window      = "01:00-01:30"
  preferred_maintenance_window = "sun:02:00-sun:03:00"
  copy_tags_to_snapshot        = true
  deletion_protection          = var.deletion_protection
  skip_final_snapshot          = !var.deletion_protection
  final_snapshot_identifier    = var.deletion_protection ? "${var.name}-journal-final" : null

  # The second says why a token was refused, which the log of PostgreSQL does not.
  enabled_cloudwatch_logs_exports = ["postgresql", "iam-db-auth-error"]

  depends_on = [aws_cloudwatch_log_group.this]
}

# The first is the writer; any other one takes over when it fails.
resource "aws_rds_cluster_instance" "this" {
  count = var.instances

  identifier                      = "${var.name}-journal-${count.index}"
  cluster_identifier              = aws_rds_cluster.this.id
  engine                          = aws_rds_cluster.this.engine
  engine_version                  = aws_rds_cluster.this.engine_version
  instance_class                  = "db.serverless"
  db_subnet_group_name            = aws_rds_cluster.this.db_subnet_group_name
  ca_cert_identifier              = "rds-ca-rsa2048-g1"
  publicly_accessible             = false
  auto_minor_version_upgrade      = true
  preferred_maintenance_window    = aws_rds_cluster.this.preferred_maintenance_window # else each has one of its own, by chance
  promotion_tier                  = count.index == 0 ? 0 : 1
  copy_tags_to_snapshot           = true
  performance_insights_enabled    = true
  performance_insights_kms_key_id = var.key_arn
  monitoring_interval             = 60
  monitoring_role_arn             = aws_iam_role.monitoring.arn
}

# The owner's password changes every month. Nothing that runs uses it.
resource "aws_secretsmanager_secret_rotation" "this" {
  #checkov:skip=CKV_AWS_304:The schedule is monthly.
  secret_id          = aws_rds_cluster.this.master_user_secret[0].secret_arn
  rotate_immediately = false

  rotation_rules {
    schedule_expression = "cron(0 3 1 * ? *)"
    duration            = "1h"
  }
}

# --- enhanced monitoring -----------------------------------------------------------------------------

resource "aws_iam_role" "monitoring" {
  name                 = "${var.name}-journal-monitoring"
  description          = "Lets RDS write the operating system's metrics of Aurora to CloudWatch Logs"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "monitoring.rds.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
    }]
  })
}

data "aws_partition" "current" {}

data "aws_region" "current" {}

resource "aws_iam_role_policy" "monitoring" {
  name = "write-metrics"
  role = aws_iam_role.monitoring.id

  # The log group RDSOSMetrics is RDS' own, one for the account.
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect   = "Allow"
        Action   = ["logs:CreateLogGroup", "logs:PutRetentionPolicy"]
        Resource = "arn:${data.aws_partition.current.partition}:logs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:log-group:RDS*"
      },
      {
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams", "logs:GetLogEvents"]
        Resource = "arn:${data.aws_partition.current.partition}:logs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:log-group:RDS*:log-stream:*"
      },
    ]
  })
}
