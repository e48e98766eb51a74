mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name            = "headwater"
  vpc_id          = "vpc-1"
  subnet_ids      = ["subnet-1", "subnet-2"]
  key_arn         = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  domain_name     = "lineage.example.org"
  certificate_arn = "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"
  image_tag       = "0.1.0"
  task            = { cpu = 1024, memory = 4096, architecture = "X86_64" }
  tasks           = { min = 2, max = 6 }
  restarts        = { soon = "cron(15 3 1 * ? *)" }

  journal = {
    host       = "journal.example.org"
    port       = 5432
    database   = "headwater"
    secret_arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:rds-AbCdEf"
  }

  graph = {
    url                 = "wss://graph.example.org:8182/gremlin"
    cluster_resource_id = "cluster-ABC"
  }

  deletion_protection = true
  log_days            = 365
}

run "containers_are_hardened" {
  command = apply

  module {
    source = "./modules/service"
  }

  assert {
    condition = alltrue([
      for container in concat(jsondecode(aws_ecs_task_definition.service.container_definitions), jsondecode(aws_ecs_task_definition.keys.container_definitions)) :
      container.readonlyRootFilesystem && !container.privileged && !startswith(container.user, "0") && container.linuxParameters.capabilities.drop == ["ALL"]
    ])
    error_message = "A container may write its root, is root, or has capabilities."
  }

  assert {
    condition     = jsondecode(aws_ecs_task_definition.service.container_definitions)[0].healthCheck.command[0] == "CMD"
    error_message = "The service has a health check without a shell."
  }

  assert {
    condition     = toset([for one in jsondecode(aws_ecs_task_definition.service.container_definitions)[0].secrets : one.name]) == toset(["PGUSER", "PGPASSWORD"])
    error_message = "User and password of the database are secrets of the container."
  }

  assert {
    condition     = anytrue([for one in jsondecode(aws_ecs_task_definition.service.container_definitions)[0].environment : one.name == "HEADWATER_DATABASE" && strcontains(one.value, "sslmode=verify-full") && !strcontains(one.value, "@")])
    error_message = "The database's URL verifies its certificate and holds no login."
  }

  assert {
    condition     = anytrue([for one in jsondecode(aws_ecs_task_definition.service.container_definitions)[0].environment : one.name == "HEADWATER_GREMLIN_SIGNED" && one.value == "true"])
    error_message = "Handshakes with Neptune are signed."
  }

  assert {
    condition     = length(jsondecode(aws_ecs_task_definition.service.container_definitions)) == 1
    error_message = "Without an image there is no collector."
  }
}

run "the_door_is_internal_and_speaks_tls" {
  command = apply

  module {
    source = "./modules/service"
  }

  assert {
    condition     = aws_lb.this.internal && aws_lb.this.drop_invalid_header_fields && aws_lb.this.enable_deletion_protection
    error_message = "The load balancer is internal, strict and protected."
  }

  assert {
    condition     = aws_lb_listener.this.protocol == "HTTPS" && strcontains(aws_lb_listener.this.ssl_policy, "TLS13")
    error_message = "The only listener speaks TLS 1.2 or newer."
  }

  assert {
    condition     = aws_lb.this.idle_timeout < 120
    error_message = "The load balancer lets go of a connection before the service does."
  }

  assert {
    condition     = one(aws_lb_target_group.this.health_check).path == "/health/live"
    error_message = "A rebuild of the graph must not replace tasks."
  }

  assert {
    condition     = !one(aws_ecs_service.this.network_configuration).assign_public_ip && one(aws_ecs_service.this.deployment_circuit_breaker).rollback
    error_message = "Tasks are private, and a deployment that fails is taken back."
  }
}

run "roles_name_what_they_may_do" {
  command = apply

  module {
    source = "./modules/service"
  }

  assert {
    condition     = toset(jsondecode(aws_iam_role_policy.service.policy).Statement[0].Action) == toset(["neptune-db:ReadDataViaQuery", "neptune-db:WriteDataViaQuery", "neptune-db:DeleteDataViaQuery"])
    error_message = "The service asks and writes the graph, and no more."
  }

  assert {
    condition     = jsondecode(aws_iam_role_policy.service.policy).Statement[0].Resource == "arn:aws:neptune-db:eu-west-1:111122223333:cluster-ABC/*"
    error_message = "The service reaches its own cluster alone."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_iam_role_policy.execution.policy).Statement : statement.Resource != "*" || statement.Action == "ecr:GetAuthorizationToken"])
    error_message = "Only the login to the registry knows no resource."
  }

  assert {
    condition     = !strcontains(aws_iam_role_policy.keys.policy, "GetSecretValue")
    error_message = "The task that makes keys cannot read one."
  }
}

run "a_collector_has_a_key_of_its_own" {
  command = apply

  module {
    source = "./modules/service"
  }

  variables {
    metrics_image          = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/collector:v0.43.0"
    metrics_repository_arn = "arn:aws:ecr:eu-west-1:111122223333:repository/collector"
  }

  assert {
    condition     = jsondecode(aws_ecs_task_definition.service.container_definitions)[1].secrets[0].name == "METRICS_API_KEY"
    error_message = "The collector reads /metrics with its own key."
  }

  assert {
    condition     = strcontains(jsondecode(aws_ecs_task_definition.service.container_definitions)[1].environment[0].value, "$${env:METRICS_API_KEY}")
    error_message = "The collector's configuration names the variable, not the key."
  }

  assert {
    condition     = output.metrics == "Headwater/headwater"
    error_message = "Alarms know the namespace."
  }
}

run "other_accounts_have_keys_with_their_scope" {
  command = apply

  module {
    source = "./modules/service"
  }

  variables {
    producer_secret_arns = { "444455556666" = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:producer-AbCdEf" }
    producer_key_arn     = "arn:aws:kms:eu-west-1:111122223333:key/66666666-2222-3333-4444-555555555555"
  }

  assert {
    condition = anytrue([
      for key in jsondecode(one([for one in jsondecode(aws_ecs_task_definition.keys.container_definitions)[0].environment : one.value if one.name == "KEYS_TO_CREATE"])) :
      key.scope == "444455556666" && key.roles == ["producer"]
    ])
    error_message = "The account is the scope of what it reports."
  }
}

run "latest_is_refused" {
  command = plan

  module {
    source = "./modules/service"
  }

  variables {
    image_tag = "latest"
  }

  expect_failures = [var.image_tag]
}

run "root_is_refused" {
  command = plan

  module {
    source = "./modules/service"
  }

  variables {
    image_user = "0:0"
  }

  expect_failures = [var.image_user]
}
