# Airflow for the employees' example: Amazon MWAA, private, reporting the lineage of its tasks to Headwater. The API key
# is in no option of Airflow: plugins/headwater_key.py reads it from Secrets Manager.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region

  transport = {
    type     = "http"
    url      = var.url
    endpoint = "api/v1/lineage"
    timeout  = 5
    auth     = { type = "headwater_key.SecretKey", secret = var.key_secret_arn, region = local.region }
  }
}

resource "aws_security_group" "this" {
  #checkov:skip=CKV2_AWS_5:MWAA puts it on its workers, schedulers and web server.
  name        = "${var.name}-airflow"
  description = "Airflow of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-airflow" }
}

# Schedulers, workers, web server and Airflow's own database are in one group: MWAA wants these rules.
resource "aws_vpc_security_group_ingress_rule" "own" {
  #checkov:skip=CKV_AWS_24:The only ones that come in are members of the same group.
  #checkov:skip=CKV_AWS_25:The only ones that come in are members of the same group.
  #checkov:skip=CKV_AWS_260:The only ones that come in are members of the same group.
  description                  = "Parts of Airflow to each other"
  security_group_id            = aws_security_group.this.id
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "own" {
  description                  = "Parts of Airflow to each other"
  security_group_id            = aws_security_group.this.id
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "-1"
}

resource "aws_mwaa_environment" "this" {
  name                  = var.name
  airflow_version       = var.airflow_version
  environment_class     = "mw1.small"
  min_workers           = 1
  max_workers           = var.workers
  execution_role_arn    = aws_iam_role.this.arn
  kms_key               = var.key_arn
  webserver_access_mode = "PRIVATE_ONLY"

  source_bucket_arn                = var.code.bucket_arn
  dag_s3_path                      = "airflow/dags"
  plugins_s3_path                  = aws_s3_object.plugins.key
  plugins_s3_object_version        = aws_s3_object.plugins.version_id
  requirements_s3_path             = aws_s3_object.requirements.key
  requirements_s3_object_version   = aws_s3_object.requirements.version_id
  startup_script_s3_path           = aws_s3_object.startup.key
  startup_script_s3_object_version = aws_s3_object.startup.version_id

  airflow_configuration_options = {
    "openlineage.transport" = jsonencode(local.transport)
    "openlineage.namespace" = var.namespace
  }

  network_configuration {
    subnet_ids         = slice(var.subnet_ids, 0, 2) # MWAA takes two
    security_group_ids = [aws_security_group.this.id]
  }

  logging_configuration {
    dag_processing_logs {
      enabled   = true
      log_level = "INFO"
    }

    scheduler_logs {
      enabled   = true
      log_level = "INFO"
    }

    task_logs {
      enabled   = true
      log_level = "INFO"
    }

    webserver_logs {
      enabled   = true
      log_level = "INFO"
    }

    worker_logs {
      enabled   = true
      log_level = "INFO"
    }
  }

  depends_on = [
    aws_iam_role_policy.this, aws_cloudwatch_log_group.this,
    aws_vpc_security_group_ingress_rule.own, aws_vpc_security_group_egress_rule.own,
  ]
}

# The names that MWAA gives them: else it makes the groups itself, and they stay when the environment goes.
resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = toset(["DAGProcessing", "Scheduler", "Task", "WebServer", "Worker"])

  name              = "airflow-${var.name}-${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

# --- its files in the bucket of code -----------------------------------------------------------------

# The network has no package index: the packages of requirements.txt come from wheels in the bucket.
resource "aws_s3_object" "requirements" {
  bucket       = var.code.bucket
  key          = "airflow/requirements.txt"
  content      = "--find-links /usr/local/airflow/wheels\n--no-index\n${join("\n", var.requirements)}\n"
  content_type = "text/plain"
}

# MWAA reads it into a shell of its own, which must go on behind it: no "set -e", and no "exit".
resource "aws_s3_object" "startup" {
  bucket       = var.code.bucket
  key          = "airflow/startup.sh"
  content      = "aws s3 sync --no-progress --region ${local.region} s3://${var.code.bucket}/airflow/wheels/ /usr/local/airflow/wheels/ || echo 'The wheels were not read: tasks will report nothing.'\n"
  content_type = "text/x-shellscript"
}

data "archive_file" "plugins" {
  type        = "zip"
  output_path = "${path.root}/.terraform/${var.name}-airflow-plugins.zip"
  source_file = "${path.module}/headwater_key.py"
}

resource "aws_s3_object" "plugins" {
  bucket      = var.code.bucket
  key         = "airflow/plugins.zip"
  source      = data.archive_file.plugins.output_path
  source_hash = data.archive_file.plugins.output_base64sha256
}

resource "aws_s3_object" "dag" {
  for_each = fileset("${path.module}/dags", "*.py")

  bucket       = var.code.bucket
  key          = "airflow/dags/${each.key}"
  content      = templatefile("${path.module}/dags/${each.key}", { name = var.name })
  content_type = "text/x-python"
}

# --- its permissions ----------------------------------------------------------------------------------------

resource "aws_iam_role" "this" {
  name                 = "${var.name}-airflow"
  description          = "Permissions of Airflow and its tasks"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = ["airflow.amazonaws.com", "airflow-env.amazonaws.com"] }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "this" {
  name = "run-airflow"
  role = aws_iam_role.this.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "Metrics"
          Effect   = "Allow"
          Action   = "airflow:PublishMetrics"
          Resource = "arn:${local.partition}:airflow:${local.region}:${local.account}:environment/${var.name}"
        },
        {
          Sid      = "ListItsFolder"
          Effect   = "Allow"
          Action   = ["s3:ListBucket", "s3:GetBucketLocation", "s3:GetBucketPublicAccessBlock", "s3:GetEncryptionConfiguration"]
          Resource = var.code.bucket_arn
        },
        {
          # MWAA refuses an environment whose role may not ask this; it knows no resource.
          Sid      = "LookWhetherTheAccountIsClosed"
          Effect   = "Allow"
          Action   = "s3:GetAccountPublicAccessBlock"
          Resource = "*"
        },
        {
          Sid      = "ReadItsFolder"
          Effect   = "Allow"
          Action   = ["s3:GetObject", "s3:GetObjectVersion"]
          Resource = "${var.code.bucket_arn}/airflow/*"
        },
        {
          Sid    = "Logs"
          Effect = "Allow"
          Action = [
            "logs:CreateLogStream", "logs:CreateLogGroup", "logs:PutLogEvents", "logs:GetLogEvents", "logs:GetLogRecord",
            "logs:GetLogGroupFields", "logs:GetQueryResults",
          ]
          Resource = "arn:${local.partition}:logs:${local.region}:${local.account}:log-group:airflow-${var.name}-*"
        },
        {
          # These actions know no resource.
          Sid      = "LogGroupsAndMetrics"
          Effect   = "Allow"
          Action   = ["logs:DescribeLogGroups", "cloudwatch:PutMetricData"]
          Resource = "*"
        },
        {
          # Its queue is in an account of AWS, under a name that begins so.
          Sid      = "QueueOfTasks"
          Effect   = "Allow"
          Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:SendMessage"]
          Resource = "arn:${local.partition}:sqs:${local.region}:*:airflow-celery-*"
        },
        {
          Sid      = "Key"
          Effect   = "Allow"
          Action   = ["kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey", "kms:Encrypt"]
          Resource = var.key_arn
          Condition = { StringEquals = { "kms:ViaService" = [
            "sqs.${local.region}.amazonaws.com", "s3.${local.region}.amazonaws.com", "secretsmanager.${local.region}.amazonaws.com",
          ] } }
        },
        { Sid = "ReadApiKey", Effect = "Allow", Action = "secretsmanager:GetSecretValue", Resource = var.key_secret_arn },
      ],
      length(var.job_arns) == 0 ? [] : [
        { Sid = "StartJobs", Effect = "Allow", Action = ["glue:StartJobRun", "glue:GetJobRun", "glue:GetJob"], Resource = var.job_arns },
      ],
    )
  })
}
