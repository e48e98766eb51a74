# The task: the service, and beside it a collector of its metrics. The service makes its tables and brings them
# up to date when it starts, one process at a time.

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  for_each = toset(["service", "metrics"])

  name              = "/${var.name}/${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

locals {
  port = 8080

  # docs/settings.md; a name that is not a setting stops the start.
  settings = merge(var.settings, {
    HEADWATER_HOST    = "0.0.0.0"
    HEADWATER_PORT    = tostring(local.port)
    HEADWATER_DATA    = "/data"
    HEADWATER_THREADS = tostring(var.threads)

    # The load balancer's security group is the only one that reaches the port: the log names its clients.
    HEADWATER_TRUSTED_PROXY = "*"
  })

  environment = [
    for name, value in merge(local.settings, { AWS_REGION = local.region, TMPDIR = "/data" }) :
    { name = name, value = value }
  ]

  # The restrictions of every container of this deployment.
  hardened = {
    essential              = true
    privileged             = false
    readonlyRootFilesystem = true
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"] } }
  }

  data_mount = [{ sourceVolume = "data", containerPath = "/data", readOnly = false }]

  service_container = merge(local.hardened, {
    name         = "headwater"
    image        = var.image
    user         = var.image_user
    entryPoint   = ["headwater"]
    command      = ["serve"]
    environment  = local.environment
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

  # Reads /metrics with a key of its own and writes the metrics of the alarms to CloudWatch.
  metrics_container = var.metrics == null ? null : merge(local.hardened, {
    name      = "metrics"
    image     = one(var.metrics[*].image)
    user      = var.image_user
    essential = false
    environment = [
      { name = "AOT_CONFIG_CONTENT", value = local.metrics_configuration },
      { name = "AWS_REGION", value = local.region },
    ]
    secrets   = [{ name = "METRICS_API_KEY", valueFrom = var.metrics.key_secret_arn }]
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
  container_definitions    = jsonencode(concat([local.service_container], var.metrics == null ? [] : [local.metrics_container]))

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = var.task.architecture
  }

  # The only place that can be written: a lock file, and bodies that are too large for memory.
  volume {
    name = "data"
  }
}
