mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                = "headwater"
  key_arn             = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  deletion_protection = true
}

run "bodies_are_encrypted_versioned_and_closed" {
  command = apply

  module {
    source = "./modules/bodies"
  }

  assert {
    condition     = toset(keys(aws_s3_bucket.this)) == toset(["state", "uploads"])
    error_message = "One bucket stays, the other is emptied."
  }

  assert {
    condition     = alltrue([for one in aws_s3_bucket_public_access_block.this : one.block_public_acls && one.block_public_policy && one.ignore_public_acls && one.restrict_public_buckets])
    error_message = "A bucket may become public."
  }

  assert {
    condition     = alltrue([for one in aws_s3_bucket_server_side_encryption_configuration.this : one(one(one.rule).apply_server_side_encryption_by_default).kms_master_key_id == var.key_arn])
    error_message = "Objects are encrypted with the key of the deployment."
  }

  assert {
    condition     = alltrue([for one in aws_s3_bucket_versioning.this : one(one.versioning_configuration).status == "Enabled"])
    error_message = "An overwritten object can be brought back."
  }

  assert {
    condition     = alltrue([for one in aws_s3_bucket.this : !one.force_destroy])
    error_message = "A protected bucket with objects in it stays."
  }
}

run "no_rule_removes_a_body_of_the_journal" {
  command = apply

  module {
    source = "./modules/bodies"
  }

  assert {
    condition     = alltrue([for rule in aws_s3_bucket_lifecycle_configuration.this["state"].rule : length(rule.expiration) == 0])
    error_message = "Bodies of the journal are kept for ever."
  }

  assert {
    condition     = anytrue([for rule in aws_s3_bucket_lifecycle_configuration.this["uploads"].rule : try(one(rule.expiration).days, 0) > 3 * 14])
    error_message = "Uploads outlive the message that names them, and then go."
  }
}
