mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name = "headwater"
}

run "the_key_is_the_accounts_and_rotates" {
  command = apply

  module {
    source = "./modules/encryption"
  }

  assert {
    condition     = aws_kms_key.this.enable_key_rotation
    error_message = "The key is renewed each year."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_kms_key_policy.this.policy).Statement : try(statement.Principal.AWS, "") == "arn:aws:iam::111122223333:root" || can(statement.Condition)])
    error_message = "A service may use the key for other accounts."
  }
}

run "a_name_with_capitals_is_refused" {
  command = plan

  module {
    source = "./modules/encryption"
  }

  variables {
    name = "Headwater"
  }

  expect_failures = [var.name]
}
