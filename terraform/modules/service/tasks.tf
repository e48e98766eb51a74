# What runs: the service, and one task that makes API keys. Tables are made and brought up to date by
# the service itself when it starts, one process at a time, so there is no task for migrations.

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = toset(["service", "keys", "metrics"])

  name              = "/${var.name}/${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

locals {
  port = 8080

  # User and password come from the environment (PGUSER, PGPASSWORD): the URL holds no secret.
  database_url = "postgresql://${var.journal.host}:${var.journal.port}/${var.journal.database}?sslmode=verify-full&sslrootcert=${var.database_certificates}"

  # docs/settings.md; a name that is not a setting stops the start.
  settings = {
    HEADWATER_HOST            = "0.0.0.0"
    HEADWATER_PORT            = tostring(local.port)
    HEADWATER_DATA            = "/data"
    HEADWATER_DATABASE        = local.database_url
    HEADWATER_GREMLIN_URL     = var.graph.url
    HEADWATER_GREMLIN_DIALECT = "neptune"
    HEADWATER_GREMLIN_SIGNED  = "true"
    HEADWATER_LOG_FORMAT      = "json"
    HEADWATER_THREADS         = tostring(var.threads)
    HEADWATER_KEEP            = var.keep
    HEADWATER_GRAPH_RUNS      = var.graph_runs
  }

  environment = [
    for name, value in merge(local.settings, { AWS_REGION = local.region, TMPDIR = "/data" }) :
    { name = name, value = value }
  ]

  database_login = [
    { name = "PGUSER", valueFrom = "${var.journal.secret_arn}:username::" },
    { name = "PGPASSWORD", valueFrom = "${var.journal.secret_arn}:password::" },
  ]

  # What every container of this deployment is held to.
  hardened = {
    essential              = true
    privileged             = false
    readonlyRootFilesystem = true
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"] } }
  }

  image = "${aws_ecr_repository.this.repository_url}:${var.image_tag}"

  data_mount = [{ sourceVolume = "data", containerPath = "/data", readOnly = false }]

  service_container = merge(local.hardened, {
    name         = "headwater"
    image        = local.image
    user         = var.image_user
    entryPoint   = ["headwater"]
    command      = ["serve"]
    environment  = local.environment
    secrets      = local.database_login
    mountPoints  = local.data_mount
    portMappings = [{ containerPort = local.port, protocol = "tcp" }]
    ulimits      = [{ name = "nofile", softLimit = 8192, hardLimit = 8192 }]
    stopTimeout  = 60

    healthCheck = {
      command     = ["CMD", "python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:${local.port}/health/live', timeout=4)"]
      interval    = 15
      timeout     = 5
      retries     = 4
      startPeriod = 60
    }

    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this["service"].name
        awslogs-region        = local.region
        awslogs-stream-prefix = "headwater"
      }
    }
  })

  # Reads /metrics with a key of its own and writes what alarms need to CloudWatch.
  metrics_container = merge(local.hardened, {
    name      = "metrics"
    image     = var.metrics_image
    user      = var.image_user
    essential = false
    environment = [
      { name = "AOT_CONFIG_CONTENT", value = local.metrics_configuration },
      { name = "AWS_REGION", value = local.region },
    ]
    secrets   = [{ name = "METRICS_API_KEY", valueFrom = aws_secretsmanager_secret.key["metrics"].arn }]
    dependsOn = [{ containerName = "headwater", condition = "HEALTHY" }]

    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this["metrics"].name
        awslogs-region        = local.region
        awslogs-stream-prefix = "collector"
      }
    }
  })

  metrics_configuration = yamlencode({
    receivers = {
      prometheus = {
        config = {
          scrape_configs = [{
            job_name        = "headwater"
            scrape_interval = "60s"
            authorization   = { type = "Bearer", credentials = "$${env:METRICS_API_KEY}" }
            static_configs  = [{ targets = ["127.0.0.1:${local.port}"] }]
            metric_relabel_configs = [{
              source_labels = ["__name__"]
              regex         = join("|", local.metric_names)
              action        = "keep"
            }]
          }]
        }
      }
    }
    exporters = {
      awsemf = {
        namespace               = local.metrics_namespace
        log_group_name          = aws_cloudwatch_log_group.this["metrics"].name
        log_stream_name         = "values-{TaskId}"
        dimension_rollup_option = "NoDimensionRollup"
        metric_declarations = [{
          dimensions            = [[]]
          metric_name_selectors = local.metric_names
        }]
      }
    }
    service = { pipelines = { metrics = { receivers = ["prometheus"], exporters = ["awsemf"] } } }
  })

  metrics_namespace = "Headwater/${var.name}"
  metric_names      = ["headwater_projection_lag_seconds", "headwater_projection_lag_documents", "headwater_journal_up"]
}

resource "aws_ecs_task_definition" "service" {
  family                   = var.name
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = tostring(var.task.cpu)
  memory                   = tostring(var.task.memory)
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.service.arn
  container_definitions    = jsonencode(concat([local.service_container], var.metrics_image == null ? [] : [local.metrics_container]))

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = var.task.architecture
  }

  # The only place that can be written: a lock file, and bodies that are too large for memory.
  volume {
    name = "data"
  }
}

# --- API keys ----------------------------------------------------------------------------------------

locals {
  # What the key is called => who may use it. The service does not start before the first key exists.
  keys = merge(
    {
      admin    = { roles = ["admin"], scope = "" }
      producer = { roles = ["producer"], scope = "" }
      metrics  = { roles = ["reader"], scope = "" }
    },
    { for account, secret_arn in var.producer_secret_arns : "producer-${account}" => { roles = ["producer"], scope = account } },
  )

  key_secret_arns = merge(
    { for name, secret in aws_secretsmanager_secret.key : name => secret.arn },
    { for account, secret_arn in var.producer_secret_arns : "producer-${account}" => secret_arn },
  )
}

# Terraform makes the places; the task "keys" fills them. So no key is in a state or a variable.
resource "aws_secretsmanager_secret" "key" {
  #checkov:skip=CKV2_AWS_57:No Lambda rotates an API key; the task keys makes new ones beside the old (README.md, New API keys).
  for_each = toset(["admin", "producer", "metrics"])

  name                    = "${var.name}/${each.key}"
  description             = "API key of Headwater with the role ${each.key == "metrics" ? "reader" : each.key}"
  kms_key_id              = var.key_arn
  recovery_window_in_days = var.deletion_protection ? 30 : 7
}

resource "aws_ecs_task_definition" "keys" {
  family                   = "${var.name}-keys"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = "256"
  memory                   = "512"
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.keys.arn

  container_definitions = jsonencode([merge(local.hardened, {
    name        = "keys"
    image       = local.image
    user        = var.image_user
    entryPoint  = ["python", "-c"]
    command     = [file("${path.module}/create_keys.py")]
    mountPoints = local.data_mount
    secrets     = local.database_login

    environment = concat(local.environment, [{
      name = "KEYS_TO_CREATE"
      value = jsonencode([
        for name, key in local.keys :
        { name = name, roles = key.roles, scope = key.scope, secret = local.key_secret_arns[name] }
      ])
    }])

    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this["keys"].name
        awslogs-region        = local.region
        awslogs-stream-prefix = "keys"
      }
    }
  })])

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = var.task.architecture
  }

  volume {
    name = "data"
  }
}
