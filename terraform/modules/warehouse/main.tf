# The warehouse of the employees' example: Redshift Serverless, private, with a role that reads the raw files.
# tables.sql makes its tables: two by COPY, one by CREATE TABLE AS.

data "aws_caller_identity" "current" {}
data "aws_region" "current" {}

resource "aws_security_group" "this" {
  name        = "${var.name}-warehouse"
  description = "Redshift Serverless of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-warehouse" }
}

resource "aws_redshiftserverless_namespace" "this" {
  namespace_name                   = "${var.name}-warehouse"
  db_name                          = "employees"
  admin_username                   = "warehouse_owner"
  manage_admin_password            = true # Redshift makes the password and keeps it in Secrets Manager
  admin_password_secret_kms_key_id = var.key_arn
  kms_key_id                       = var.key_arn
  iam_roles                        = [aws_iam_role.this.arn]
  default_iam_role_arn             = aws_iam_role.this.arn
  log_exports                      = ["userlog", "connectionlog", "useractivitylog"]
}

resource "aws_redshiftserverless_workgroup" "this" {
  workgroup_name       = "${var.name}-warehouse"
  namespace_name       = aws_redshiftserverless_namespace.this.namespace_name
  base_capacity        = var.capacity
  max_capacity         = var.capacity
  subnet_ids           = var.subnet_ids
  security_group_ids   = [aws_security_group.this.id]
  publicly_accessible  = false
  enhanced_vpc_routing = true

  config_parameter {
    parameter_key   = "require_ssl"
    parameter_value = "true"
  }

  config_parameter {
    parameter_key   = "enable_user_activity_logging"
    parameter_value = "true"
  }
}

# Capacity is paid while queries run: a bound for one that nobody ended.
resource "aws_redshiftserverless_usage_limit" "this" {
  resource_arn  = aws_redshiftserverless_workgroup.this.arn
  usage_type    = "serverless-compute"
  amount        = var.hours_a_month * var.capacity
  period        = "monthly"
  breach_action = "deactivate"
}

resource "aws_iam_role" "this" {
  name                 = "${var.name}-warehouse"
  description          = "Lets COPY of the warehouse read the raw files"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = ["redshift.amazonaws.com", "redshift-serverless.amazonaws.com"] }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
    }]
  })
}

resource "aws_iam_role_policy" "this" {
  name = "read-raw-files"
  role = aws_iam_role.this.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "ListRawFiles", Effect = "Allow", Action = ["s3:ListBucket", "s3:GetBucketLocation"], Resource = var.raw.bucket_arn },
      { Sid = "ReadRawFiles", Effect = "Allow", Action = "s3:GetObject", Resource = "${var.raw.bucket_arn}/*" },
      {
        Sid       = "DecryptThem"
        Effect    = "Allow"
        Action    = "kms:Decrypt"
        Resource  = var.key_arn
        Condition = { StringEquals = { "kms:ViaService" = "s3.${data.aws_region.current.region}.amazonaws.com" } }
      },
    ]
  })
}
