# The HR database of the employees' example: MySQL with one table, employeedb.employee, from which a job reads by
# JDBC; and the two files that the warehouse copies.

resource "aws_db_subnet_group" "this" {
  name        = "${var.name}-employees"
  description = "Private subnets of ${var.name}"
  subnet_ids  = var.subnet_ids
}

resource "aws_security_group" "this" {
  name        = "${var.name}-employees"
  description = "MySQL of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-employees" }
}

resource "aws_db_parameter_group" "this" {
  name        = "${var.name}-employees"
  family      = "mysql8.4"
  description = "TLS only; slow statements are logged"

  parameter {
    name  = "require_secure_transport"
    value = "1"
  }

  parameter {
    name  = "slow_query_log"
    value = "1"
  }

  # A file, not a table of its own: only files go to CloudWatch.
  parameter {
    name  = "log_output"
    value = "FILE"
  }
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = toset(["error", "slowquery"])

  name              = "/aws/rds/instance/${var.name}-employees/${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

resource "aws_db_instance" "this" {
  #checkov:skip=CKV_AWS_157:Example data, made by one statement; a second zone would double the price.
  #checkov:skip=CKV_AWS_118:Example data; the ordinary metrics are enough.
  #checkov:skip=CKV_AWS_353:Example data, and the small class has no Performance Insights.
  #checkov:skip=CKV_AWS_293:The caller says so; only examples that are meant to be removed again say no.
  #checkov:skip=CKV2_AWS_60:Snapshots have the tags of the instance, below.
  identifier     = "${var.name}-employees"
  engine         = "mysql"
  engine_version = "8.4"
  instance_class = "db.t4g.micro"
  db_name        = "employeedb"
  port           = 3306

  allocated_storage = 20
  storage_type      = "gp3"
  storage_encrypted = true
  kms_key_id        = var.key_arn

  username                            = "employees_owner"
  manage_master_user_password         = true
  master_user_secret_kms_key_id       = var.key_arn
  iam_database_authentication_enabled = true

  db_subnet_group_name       = aws_db_subnet_group.this.name
  vpc_security_group_ids     = [aws_security_group.this.id]
  parameter_group_name       = aws_db_parameter_group.this.name
  ca_cert_identifier         = "rds-ca-rsa2048-g1"
  publicly_accessible        = false
  auto_minor_version_upgrade = true
  backup_retention_period    = 1
  copy_tags_to_snapshot      = true
  deletion_protection        = var.deletion_protection
  skip_final_snapshot        = true

  enabled_cloudwatch_logs_exports = ["error", "slowquery"]

  depends_on = [aws_cloudwatch_log_group.this]
}

resource "aws_s3_object" "sample" {
  for_each = fileset("${path.module}/data", "*.csv")

  bucket      = var.raw.bucket
  key         = "csv/${each.key}"
  source      = "${path.module}/data/${each.key}"
  source_hash = filesha256("${path.module}/data/${each.key}")
}
