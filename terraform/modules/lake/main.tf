# The example's jobs (spark_agent_config/examples) on AWS Glue, reporting their lineage.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region

  # Module of the example => name of the Glue job.
  jobs = {
    curate_employees = "${var.name}-curate-employees"
    report_managers  = "${var.name}-report-managers"
    load_attendance  = "${var.name}-load-attendance"
    rank_absences    = "${var.name}-rank-absences"
  }

  # Headwater's listener: the settings that observe() reads (spark_agent_config/README.md).
  listener_properties = {
    "spark.headwater.url"           = var.url
    "spark.headwater.namespace"     = var.namespace
    "spark.headwater.label.account" = local.account
  }

  # The stock Spline agent: the settings that `headwater config glue` prints; tests/unit/terraform compares the two.
  spline_properties = {
    "spark.sql.queryExecutionListeners"                      = "za.co.absa.spline.harvester.listener.SplineQueryExecutionListener"
    "spark.spline.lineageDispatcher"                         = "http"
    "spark.spline.lineageDispatcher.http.producer.url"       = "${var.url}/producer"
    "spark.spline.lineageDispatcher.http.apiVersion"         = "1.2"
    "spark.spline.lineageDispatcher.http.requestCompression" = "true"
    "spark.spline.lineageDispatcher.http.timeout.connection" = "2000"
    "spark.spline.lineageDispatcher.http.timeout.read"       = "20000"
    "spark.spline.mode"                                      = "ENABLED"
    "spark.driver.extraJavaOptions"                          = "--add-opens=java.base/sun.net.www.protocol.jar=ALL-UNNAMED"
    "spark.redaction.regex"                                  = "(?i)secret|password|token|access[.]?key|api-?key"
    "spark.spline.postProcessingFilter"                      = "composite"
    "spark.spline.postProcessingFilter.composite.filters"    = "userExtraMeta,default"
    "spark.spline.postProcessingFilter.userExtraMeta.rules"  = "{\"executionPlan\":{\"labels\":{\"namespace\":[\"${var.namespace}\"]\\,\"account\":[\"${local.account}\"]}}}"
  }

  # Glue takes one --conf: further ones stand inside its value, and no value holds a blank.
  properties = var.agent == "spline" ? local.spline_properties : local.listener_properties
  conf       = join(" --conf ", [for name, value in local.properties : "${name}=${value}"])

  jars = "s3://${aws_s3_bucket.this["code"].id}/jars"
  logs = "/${var.name}/glue"

  of_agent = {
    listener = {}
    spline = {
      "--extra-jars"      = "${local.jars}/spark-3.5-spline-agent-bundle_2.12-2.2.0.jar,${local.jars}/snakeyaml-1.33.jar"
      "--user-jars-first" = "true"
    }
  }
}

resource "aws_glue_catalog_database" "this" {
  name         = replace(var.name, "-", "_")
  description  = "Tables of the example's jobs"
  location_uri = "s3://${aws_s3_bucket.this["curated"].id}/warehouse"
}

resource "aws_glue_security_configuration" "this" {
  name = var.name

  encryption_configuration {
    cloudwatch_encryption {
      cloudwatch_encryption_mode = "SSE-KMS"
      kms_key_arn                = var.key_arn
    }

    job_bookmarks_encryption {
      job_bookmarks_encryption_mode = "CSE-KMS"
      kms_key_arn                   = var.key_arn
    }

    s3_encryption {
      s3_encryption_mode = "SSE-KMS"
      kms_key_arn        = var.key_arn
    }
  }
}

# --- the way to the service ----------------------------------------------------------------------------

resource "aws_security_group" "this" {
  #checkov:skip=CKV2_AWS_5:The Glue connection puts it on the workers of jobs.
  name        = "${var.name}-glue"
  description = "Glue jobs of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-glue" }
}

# The driver and the executors of a job talk to each other on any port: Glue wants this rule.
resource "aws_vpc_security_group_ingress_rule" "workers" {
  #checkov:skip=CKV_AWS_24:The only ones that come in are members of the same group.
  #checkov:skip=CKV_AWS_25:The only ones that come in are members of the same group.
  #checkov:skip=CKV_AWS_260:The only ones that come in are members of the same group.
  description                  = "Workers of a job to each other"
  security_group_id            = aws_security_group.this.id
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "tcp"
  from_port                    = 0
  to_port                      = 65535
}

resource "aws_vpc_security_group_egress_rule" "workers" {
  description                  = "Workers of a job to each other"
  security_group_id            = aws_security_group.this.id
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "tcp"
  from_port                    = 0
  to_port                      = 65535
}

resource "aws_glue_connection" "this" {
  name            = var.name
  description     = "Lets jobs reach the service"
  connection_type = "NETWORK"

  physical_connection_requirements {
    availability_zone      = var.subnet.availability_zone
    subnet_id              = var.subnet.id
    security_group_id_list = [aws_security_group.this.id]
  }
}

# --- jobs ------------------------------------------------------------------------------------------------

resource "aws_glue_job" "this" {
  for_each = local.jobs

  name                   = each.value
  description            = "The example's job ${each.key}"
  role_arn               = aws_iam_role.this.arn
  glue_version           = "5.0" # Spark 3.5, Scala 2.12, Java 17, Python 3.11
  worker_type            = "G.1X"
  number_of_workers      = 2
  timeout                = 30 # minutes
  max_retries            = 0
  connections            = [aws_glue_connection.this.name]
  security_configuration = aws_glue_security_configuration.this.name

  command {
    name            = "glueetl"
    python_version  = "3"
    script_location = "s3://${aws_s3_bucket.this["code"].id}/${aws_s3_object.script.key}"
  }

  default_arguments = merge({
    "--job-language"            = "python"
    "--extra-py-files"          = "s3://${aws_s3_bucket.this["code"].id}/${aws_s3_object.package.key}"
    "--enable-glue-datacatalog" = "true"
    "--custom-logGroup-prefix"  = local.logs
    "--enable-metrics"          = "true"
    "--conf"                    = local.conf
    "--agent"                   = var.agent
    "--example"                 = each.key
    "--raw"                     = "s3://${aws_s3_bucket.this["raw"].id}/hr"
    "--curated"                 = "s3://${aws_s3_bucket.this["curated"].id}"
    "--aggregated"              = "s3://${aws_s3_bucket.this["aggregated"].id}"
    "--database"                = aws_glue_catalog_database.this.name
    "--key_secret"              = var.key_secret_arn
  }, local.of_agent[var.agent])

  depends_on = [aws_iam_role_policy.this, aws_cloudwatch_log_group.glue]
}

# The names that Glue 5 makes of the prefix, the security configuration and the role: else it makes the groups itself, and
# nothing in them ever goes.
resource "aws_cloudwatch_log_group" "glue" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = toset(["error", "output"])

  name              = "${local.logs}/${aws_glue_security_configuration.this.name}-role/${aws_iam_role.this.name}/${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

# curate-employees, then the two jobs that read its tables, then the one that reads the tables of those.
resource "aws_glue_workflow" "this" {
  name        = var.name
  description = "The example's jobs, in their order"
}

resource "aws_glue_trigger" "start" {
  name          = "${var.name}-start"
  type          = "ON_DEMAND"
  workflow_name = aws_glue_workflow.this.name

  actions {
    job_name = aws_glue_job.this["curate_employees"].name
  }
}

resource "aws_glue_trigger" "curated" {
  name          = "${var.name}-curated"
  type          = "CONDITIONAL"
  workflow_name = aws_glue_workflow.this.name

  predicate {
    conditions {
      job_name = aws_glue_job.this["curate_employees"].name
      state    = "SUCCEEDED"
    }
  }

  actions {
    job_name = aws_glue_job.this["report_managers"].name
  }

  actions {
    job_name = aws_glue_job.this["load_attendance"].name
  }
}

resource "aws_glue_trigger" "reported" {
  name          = "${var.name}-reported"
  type          = "CONDITIONAL"
  workflow_name = aws_glue_workflow.this.name

  predicate {
    logical = "AND"

    conditions {
      job_name = aws_glue_job.this["report_managers"].name
      state    = "SUCCEEDED"
    }

    conditions {
      job_name = aws_glue_job.this["load_attendance"].name
      state    = "SUCCEEDED"
    }
  }

  actions {
    job_name = aws_glue_job.this["rank_absences"].name
  }
}
