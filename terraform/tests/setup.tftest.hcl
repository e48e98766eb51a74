mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                = "headwater"
  vpc_id              = "vpc-1"
  key_arn             = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  image_tag           = "0.2.0"
  architecture        = "X86_64"
  settings            = { HEADWATER_DATABASE_IAM = "true" }
  deletion_protection = true
  log_days            = 365

  database = {
    host                = "journal.example.org"
    port                = 5432
    name                = "headwater"
    cluster_resource_id = "cluster-JOURNAL"
    owner_secret_arn    = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:rds-AbCdEf"
    user                = "headwater"
    certificates        = "/etc/ssl/certs/rds-global-bundle.pem"
  }
}

run "the_owner_of_the_database_is_used_once" {
  command = apply

  module {
    source = "./modules/setup"
  }

  assert {
    condition     = toset([for one in jsondecode(aws_ecs_task_definition.this.container_definitions)[0].secrets : one.name]) == toset(["PGUSER", "PGPASSWORD"])
    error_message = "The first container signs in as the owner."
  }

  assert {
    condition     = anytrue([for one in jsondecode(aws_ecs_task_definition.this.container_definitions)[0].environment : one.name == "PGSSLMODE" && one.value == "verify-full"])
    error_message = "It verifies the certificate of the database."
  }

  assert {
    condition     = !can(jsondecode(aws_ecs_task_definition.this.container_definitions)[1].secrets)
    error_message = "The container that makes keys signs in with a token."
  }

  assert {
    condition     = one(jsondecode(aws_ecs_task_definition.this.container_definitions)[1].dependsOn) == { containerName = "database", condition = "COMPLETE" }
    error_message = "Keys are made after the user."
  }

  assert {
    condition = alltrue([
      for container in jsondecode(aws_ecs_task_definition.this.container_definitions) :
      container.readonlyRootFilesystem && !container.privileged && !startswith(container.user, "0") && container.linuxParameters.capabilities.drop == ["ALL"]
    ])
    error_message = "A container may write its root, is root, or has capabilities."
  }
}

run "keys_are_put_and_not_read" {
  command = apply

  module {
    source = "./modules/setup"
  }

  assert {
    condition     = !strcontains(aws_iam_role_policy.task.policy, "GetSecretValue")
    error_message = "The task that makes keys cannot read one."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_iam_role_policy.execution.policy).Statement : statement.Resource != "*" || statement.Action == "ecr:GetAuthorizationToken"])
    error_message = "Only the login to the registry knows no resource."
  }

  assert {
    condition     = aws_ecr_repository.this.image_tag_mutability == "IMMUTABLE" && one(aws_ecr_repository.this.image_scanning_configuration).scan_on_push
    error_message = "An image cannot change, and it was scanned."
  }
}

run "other_accounts_have_keys_with_their_scope" {
  command = apply

  module {
    source = "./modules/setup"
  }

  variables {
    producer_secret_arns = { "444455556666" = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:producer-AbCdEf" }
    producer_key_arn     = "arn:aws:kms:eu-west-1:111122223333:key/66666666-2222-3333-4444-555555555555"
  }

  assert {
    condition = anytrue([
      for key in jsondecode(one([for one in jsondecode(aws_ecs_task_definition.this.container_definitions)[1].environment : one.value if one.name == "KEYS_TO_CREATE"])) :
      key.scope == "444455556666" && key.roles == ["producer"]
    ])
    error_message = "The account is the scope of its reports."
  }
}

run "a_trial_can_be_made_again_on_the_day_it_was_removed" {
  command = apply

  module {
    source = "./modules/setup"
  }

  variables {
    deletion_protection = false
  }

  assert {
    condition     = alltrue([for secret in aws_secretsmanager_secret.key : secret.recovery_window_in_days == 0])
    error_message = "A secret that waits to be deleted keeps its name."
  }
}

run "latest_is_refused" {
  command = plan

  module {
    source = "./modules/setup"
  }

  variables {
    image_tag = "latest"
  }

  expect_failures = [var.image_tag]
}

run "root_is_refused" {
  command = plan

  module {
    source = "./modules/setup"
  }

  variables {
    image_user = "0:0"
  }

  expect_failures = [var.image_user]
}
