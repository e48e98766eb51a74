# One task, to be run after the first apply and whenever API keys are wanted. Its first container signs in as
# the database's owner and makes the user of the service; its second makes the keys, as that user.
# The service makes its own tables when it starts, so there is no task for migrations.

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The caller says how long; the default and examples/production keep a year.
  name              = "/${var.name}/setup"
  retention_in_days = var.log_days
  kms_key_id        = var.key_arn
}

locals {
  image = "${aws_ecr_repository.this.repository_url}:${var.image_tag}"

  container = {
    image                  = local.image
    user                   = var.image_user
    entryPoint             = ["python", "-c"]
    privileged             = false
    readonlyRootFilesystem = true
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"] } }
    mountPoints            = [{ sourceVolume = "data", containerPath = "/data", readOnly = false }]

    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this.name
        awslogs-region        = local.region
        awslogs-stream-prefix = "setup"
      }
    }
  }

  database_container = merge(local.container, {
    name      = "database"
    essential = false
    command   = [file("${path.module}/create_database_user.py")]

    # The owner's login and the address, without which psycopg asks nobody: libpq's own variables.
    environment = [
      { name = "PGHOST", value = var.database.host },
      { name = "PGPORT", value = tostring(var.database.port) },
      { name = "PGDATABASE", value = var.database.name },
      { name = "PGSSLMODE", value = "verify-full" },
      { name = "PGSSLROOTCERT", value = var.database.certificates },
      { name = "DATABASE_USER", value = var.database.user },
    ]

    secrets = [
      { name = "PGUSER", valueFrom = "${var.database.owner_secret_arn}:username::" },
      { name = "PGPASSWORD", valueFrom = "${var.database.owner_secret_arn}:password::" },
    ]
  })

  keys_container = merge(local.container, {
    name      = "keys"
    essential = true
    command   = [file("${path.module}/create_keys.py")]

    # Not SUCCESS: the user may be there already, from an earlier time, and the owner's login closed since.
    dependsOn = [{ containerName = "database", condition = "COMPLETE" }]


    environment = concat(
      [for name, value in merge(var.settings, { HEADWATER_DATA = "/data", AWS_REGION = local.region, TMPDIR = "/data" }) : { name = name, value = value }],
      [{
        name = "KEYS_TO_CREATE"
        value = jsonencode([
          for name, key in local.keys :
          { name = name, roles = key.roles, scope = key.scope, secret = local.key_secret_arns[name] }
        ])
      }],
    )
  })
}

resource "aws_ecs_task_definition" "this" {
  family                   = "${var.name}-setup"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = "256"
  memory                   = "1024"
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.task.arn
  container_definitions    = jsonencode([local.database_container, local.keys_container])

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = var.architecture
  }

  volume {
    name = "data"
  }
}
