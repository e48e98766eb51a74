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
  cluster         = { name = "headwater", arn = "arn:aws:ecs:eu-west-1:111122223333:cluster/headwater" }
  image           = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/headwater:0.2.0"
  repository_arn  = "arn:aws:ecr:eu-west-1:111122223333:repository/headwater"
  task            = { cpu = 1024, memory = 4096, architecture = "X86_64" }
  tasks           = { min = 2, max = 6 }
  database        = { cluster_resource_id = "cluster-JOURNAL", user = "headwater" }
  graph           = { cluster_resource_id = "cluster-GRAPH" }
  bodies          = { bucket_arn = "arn:aws:s3:::headwater-state", prefix = "bodies" }

  settings = {
    HEADWATER_DATABASE     = "postgresql://headwater@journal.example.org:5432/headwater?sslmode=verify-full"
    HEADWATER_DATABASE_IAM = "true"
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
      for container in jsondecode(aws_ecs_task_definition.service.container_definitions) :
      container.readonlyRootFilesystem && !container.privileged && !startswith(container.user, "0") && container.linuxParameters.capabilities.drop == ["ALL"]
    ])
    error_message = "A container may write its root, is root, or has capabilities."
  }

  assert {
    condition     = jsondecode(aws_ecs_task_definition.service.container_definitions)[0].healthCheck.command[0] == "CMD"
    error_message = "The service has a health check without a shell."
  }

  assert {
    condition     = !can(jsondecode(aws_ecs_task_definition.service.container_definitions)[0].secrets)
    error_message = "The service needs no secret: database and graph take its role."
  }

  assert {
    condition     = anytrue([for one in jsondecode(aws_ecs_task_definition.service.container_definitions)[0].environment : one.name == "HEADWATER_DATABASE_IAM" && one.value == "true"])
    error_message = "The shared settings reach the service."
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
    condition     = jsondecode(aws_iam_role_policy.service.policy).Statement[0].Resource == "arn:aws:neptune-db:eu-west-1:111122223333:cluster-GRAPH/*"
    error_message = "The service reaches its own cluster alone."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_iam_role_policy.execution.policy).Statement : statement.Resource != "*" || statement.Action == "ecr:GetAuthorizationToken"])
    error_message = "Only the login to the registry knows no resource."
  }

  assert {
    condition     = one([for statement in jsondecode(aws_iam_role_policy.service.policy).Statement : statement.Resource if statement.Sid == "SignInToDatabase"]) == "arn:aws:rds-db:eu-west-1:111122223333:dbuser:cluster-JOURNAL/headwater"
    error_message = "The service signs in as its own user, in its own cluster."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_iam_role_policy.service.policy).Statement : !strcontains(jsonencode(statement.Action), "s3:PutObject") || statement.Resource == "arn:aws:s3:::headwater-state/bodies/*"])
    error_message = "The service writes its own folder of the bucket alone."
  }
}

run "addresses_for_uploads_are_signed_for_one_folder" {
  command = apply

  module {
    source = "./modules/service"
  }

  variables {
    uploads = { bucket_arn = "arn:aws:s3:::headwater-uploads", prefix = "incoming" }
  }

  assert {
    condition     = one([for statement in jsondecode(aws_iam_role_policy.service.policy).Statement : statement.Resource if statement.Sid == "SignUploads"]) == ["arn:aws:s3:::headwater-uploads/incoming/uploads/*"]
    error_message = "A signed address leads into the folder of uploads alone."
  }
}

run "a_collector_has_a_key_of_its_own" {
  command = apply

  module {
    source = "./modules/service"
  }

  variables {
    metrics = {
      image          = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/collector:v0.43.0"
      repository_arn = "arn:aws:ecr:eu-west-1:111122223333:repository/collector"
      key_secret_arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:metrics-AbCdEf"
    }
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

run "a_collector_without_a_version_is_refused" {
  command = plan

  module {
    source = "./modules/service"
  }

  variables {
    metrics = {
      image          = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/collector:latest"
      repository_arn = "arn:aws:ecr:eu-west-1:111122223333:repository/collector"
      key_secret_arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:metrics-AbCdEf"
    }
  }

  expect_failures = [var.metrics]
}
