mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                   = "headwater"
  vpc_id                 = "vpc-1"
  subnet_id              = "subnet-1"
  key_arn                = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  instance_type          = "ml.t3.medium"
  graph_notebook_version = "5.3.0"
  graph                  = { host = "headwater.cluster-ro-mocked.eu-west-1.neptune.amazonaws.com", port = 8182, cluster_resource_id = "cluster-GRAPH" }
  code                   = { bucket = "headwater-code", bucket_arn = "arn:aws:s3:::headwater-code" }
}

run "people_read_the_graph_and_do_not_change_it" {
  command = apply

  module {
    source = "./modules/notebook"
  }

  assert {
    condition     = !strcontains(aws_iam_role_policy.this.policy, "WriteDataViaQuery") && !strcontains(aws_iam_role_policy.this.policy, "DeleteDataViaQuery")
    error_message = "A notebook may change the graph."
  }

  assert {
    condition     = aws_sagemaker_notebook_instance.this.direct_internet_access == "Disabled" && aws_sagemaker_notebook_instance.this.root_access == "Disabled"
    error_message = "The instance reaches the internet, or its user is root."
  }

  assert {
    condition     = aws_sagemaker_notebook_instance.this.kms_key_id == var.key_arn && one(aws_sagemaker_notebook_instance.this.instance_metadata_service_configuration).minimum_instance_metadata_service_version == "2"
    error_message = "The disk is encrypted, and credentials are given by the newer service alone."
  }

  assert {
    condition     = strcontains(base64decode(aws_sagemaker_notebook_instance_lifecycle_configuration.this.on_start), "\"auth_mode\":\"IAM\"") && strcontains(base64decode(aws_sagemaker_notebook_instance_lifecycle_configuration.this.on_start), "--no-index")
    error_message = "Requests are signed, and packages come from the bucket."
  }
}

run "a_version_that_is_none_is_refused" {
  command = plan

  module {
    source = "./modules/notebook"
  }

  variables {
    graph_notebook_version = "5.3.0; rm -rf /"
  }

  expect_failures = [var.graph_notebook_version]
}
