# Values that AWS would choose, in the shapes that the provider checks.

mock_data "aws_caller_identity" {
  defaults = { account_id = "111122223333" }
}

mock_data "aws_partition" {
  defaults = { partition = "aws" }
}

mock_data "aws_region" {
  defaults = { region = "eu-west-1" }
}

mock_data "aws_neptune_engine_version" {
  defaults = { version_actual = "1.4.8.0" }
}

mock_data "aws_rds_engine_version" {
  defaults = { version_actual = "16.13" }
}

mock_resource "aws_kms_key" {
  defaults = { arn = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555" }
}

mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::111122223333:role/mocked" }
}

mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:eu-west-1:111122223333:log-group:/mocked" }
}

mock_resource "aws_s3_bucket" {
  defaults = { arn = "arn:aws:s3:::mocked" }
}

mock_resource "aws_secretsmanager_secret" {
  defaults = { arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:mocked-AbCdEf" }
}

mock_resource "aws_rds_cluster" {
  defaults = {
    endpoint            = "headwater-journal.cluster-mocked.eu-west-1.rds.amazonaws.com"
    port                = 5432
    cluster_resource_id = "cluster-JOURNAL"
    master_user_secret = [{
      secret_arn    = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:rds-mocked-AbCdEf"
      secret_status = "active"
      kms_key_id    = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
    }]
  }
}

mock_resource "aws_neptune_cluster" {
  defaults = {
    endpoint            = "headwater.cluster-mocked.eu-west-1.neptune.amazonaws.com"
    port                = 8182
    cluster_resource_id = "cluster-MOCKED"
  }
}

mock_resource "aws_ecr_repository" {
  defaults = {
    arn            = "arn:aws:ecr:eu-west-1:111122223333:repository/mocked"
    repository_url = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/headwater"
  }
}

mock_resource "aws_ecs_cluster" {
  defaults = { arn = "arn:aws:ecs:eu-west-1:111122223333:cluster/headwater" }
}

mock_resource "aws_ecs_service" {
  defaults = { id = "arn:aws:ecs:eu-west-1:111122223333:service/headwater/headwater" }
}

mock_resource "aws_ecs_task_definition" {
  defaults = { arn = "arn:aws:ecs:eu-west-1:111122223333:task-definition/headwater:1" }
}

mock_resource "aws_lb" {
  defaults = {
    arn      = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/headwater/0123456789abcdef"
    dns_name = "internal-headwater-1.eu-west-1.elb.amazonaws.com"
  }
}

mock_resource "aws_lb_target_group" {
  defaults = { arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/headwater/0123456789abcdef" }
}

mock_resource "aws_lb_listener" {
  defaults = { arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:listener/app/headwater/0123456789abcdef/0123456789abcdef" }
}

mock_resource "aws_sns_topic" {
  defaults = { arn = "arn:aws:sns:eu-west-1:111122223333:headwater-alarms" }
}

mock_resource "aws_apigatewayv2_api" {
  defaults = {
    id            = "abcdef1234"
    api_endpoint  = "https://abcdef1234.execute-api.eu-west-1.amazonaws.com"
    execution_arn = "arn:aws:execute-api:eu-west-1:111122223333:abcdef1234"
  }
}

mock_resource "aws_glue_connection" {
  defaults = { arn = "arn:aws:glue:eu-west-1:111122223333:connection/headwater" }
}

mock_resource "aws_sqs_queue" {
  defaults = {
    arn = "arn:aws:sqs:eu-west-1:111122223333:mocked"
    url = "https://sqs.eu-west-1.amazonaws.com/111122223333/mocked"
  }
}

mock_resource "aws_lambda_function" {
  defaults = {
    arn        = "arn:aws:lambda:eu-west-1:111122223333:function:mocked"
    invoke_arn = "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:111122223333:function:mocked/invocations"
  }
}

mock_resource "aws_wafv2_web_acl" {
  defaults = { arn = "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/mocked/11111111-2222-3333-4444-555555555555" }
}

mock_resource "aws_cloudfront_distribution" {
  defaults = {
    arn         = "arn:aws:cloudfront::111122223333:distribution/E1MOCKED"
    domain_name = "d1mocked.cloudfront.net"
  }
}

mock_resource "aws_cloudwatch_log_delivery_destination" {
  defaults = { arn = "arn:aws:logs:us-east-1:111122223333:delivery-destination:mocked" }
}

mock_resource "aws_glue_job" {
  defaults = { arn = "arn:aws:glue:eu-west-1:111122223333:job/mocked" }
}

mock_resource "aws_redshiftserverless_workgroup" {
  defaults = { arn = "arn:aws:redshift-serverless:eu-west-1:111122223333:workgroup/11111111-2222-3333-4444-555555555555" }
}

mock_resource "aws_db_instance" {
  defaults = {
    endpoint = "headwater-employees.mocked.eu-west-1.rds.amazonaws.com:3306"
    master_user_secret = [{
      secret_arn    = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:rds-mocked-AbCdEf"
      secret_status = "active"
      kms_key_id    = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
    }]
  }
}

mock_resource "aws_vpc_endpoint" {
  defaults = {
    id             = "vpce-0123456789abcdef0"
    prefix_list_id = "pl-12345678"
    dns_entry      = [{ dns_name = "vpce-mocked.vpce.amazonaws.com", hosted_zone_id = "Z1MOCKED" }]
  }
}

mock_resource "aws_vpc_endpoint_service" {
  defaults = { service_name = "com.amazonaws.vpce.eu-west-1.vpce-svc-0123456789abcdef0" }
}
