# Alarms and a dashboard. A row of local.alarms is both: an alarm, and a picture with its threshold.

data "aws_caller_identity" "current" {}
data "aws_region" "current" {}

locals {
  # Seconds of a period; an alarm needs three in a row, unless "periods" says otherwise. It rings above the number of
  # "above", or below that of "below". "missing" says how to treat missing data.
  period = 300

  of_service = var.service == null ? {} : {
    refused = {
      title     = "The load balancer answers 5xx itself"
      namespace = "AWS/ApplicationELB", metric = "HTTPCode_ELB_5XX_Count", dimensions = { LoadBalancer = var.service.load_balancer }
      statistic = "Sum", above = 5, missing = "notBreaching"
    }
    failed = {
      title     = "The service answers 5xx"
      namespace = "AWS/ApplicationELB", metric = "HTTPCode_Target_5XX_Count", dimensions = { LoadBalancer = var.service.load_balancer }
      statistic = "Sum", above = 5, missing = "notBreaching"
    }
    slow = {
      title     = "Answers take long (p99, seconds)"
      namespace = "AWS/ApplicationELB", metric = "TargetResponseTime", dimensions = { LoadBalancer = var.service.load_balancer }
      statistic = "p99", above = 15, missing = "notBreaching"
    }
    unhealthy = {
      title     = "Tasks do not answer"
      namespace = "AWS/ApplicationELB", metric = "UnHealthyHostCount", dimensions = { LoadBalancer = var.service.load_balancer, TargetGroup = var.service.target_group }
      statistic = "Maximum", above = 0, missing = "notBreaching"
    }
    errors = {
      title     = "The service logs errors"
      namespace = local.log_namespace, metric = "ErrorLines", dimensions = {}
      statistic = "Sum", above = 5, missing = "notBreaching"
    }
    service-memory = {
      title     = "Memory of the tasks (%)"
      namespace = "AWS/ECS", metric = "MemoryUtilization", dimensions = { ClusterName = var.service.cluster, ServiceName = var.service.service }
      statistic = "Maximum", above = 85, missing = "breaching"
    }
    service-cpu = {
      title     = "CPU of the tasks (%)"
      namespace = "AWS/ECS", metric = "CPUUtilization", dimensions = { ClusterName = var.service.cluster, ServiceName = var.service.service }
      statistic = "Average", above = 90, missing = "breaching"
    }
  }

  of_databases = {
    graph-cpu = {
      title     = "CPU of Neptune (%)"
      namespace = "AWS/Neptune", metric = "CPUUtilization", dimensions = { DBClusterIdentifier = var.graph.cluster }
      statistic = "Maximum", above = 85, missing = "breaching"
    }
    graph-capacity = {
      title     = "Neptune is at its greatest capacity (NCU)"
      namespace = "AWS/Neptune", metric = "ServerlessDatabaseCapacity", dimensions = { DBClusterIdentifier = var.graph.cluster }
      statistic = "Maximum", above = 0.9 * var.graph.max_capacity, missing = "notBreaching"
    }
    graph-queue = {
      title     = "Requests wait in Neptune"
      namespace = "AWS/Neptune", metric = "MainRequestQueuePendingRequests", dimensions = { DBClusterIdentifier = var.graph.cluster }
      statistic = "Maximum", above = 100, missing = "notBreaching"
    }
    journal-cpu = {
      title     = "CPU of Aurora (%)"
      namespace = "AWS/RDS", metric = "CPUUtilization", dimensions = { DBClusterIdentifier = var.journal.cluster }
      statistic = "Maximum", above = 85, missing = "breaching"
    }
    journal-capacity = {
      title     = "Aurora is near its greatest capacity (%)"
      namespace = "AWS/RDS", metric = "ACUUtilization", dimensions = { DBClusterIdentifier = var.journal.cluster }
      statistic = "Maximum", above = 90, missing = "notBreaching"
    }
    journal-deadlocks = {
      title     = "Deadlocks in Aurora (a second)"
      namespace = "AWS/RDS", metric = "Deadlocks", dimensions = { DBClusterIdentifier = var.journal.cluster }
      statistic = "Average", above = 0.1, missing = "notBreaching"
    }
  }

  of_journal = var.metrics_namespace == null ? {} : {
    journal-up = {
      title     = "The journal takes documents (1: yes)"
      namespace = var.metrics_namespace, metric = "headwater_journal_up", dimensions = {}
      statistic = "Minimum", below = 1, missing = "breaching", periods = 1
    }
  }

  of_collector = var.metrics_namespace == null ? {} : {
    lag = {
      title     = "The graph is behind the journal (seconds)"
      namespace = var.metrics_namespace, metric = "headwater_projection_lag_seconds", dimensions = {}
      statistic = "Maximum", above = var.lag_seconds, missing = "breaching"
    }
    waiting = {
      title     = "Documents that the graph does not show yet"
      namespace = var.metrics_namespace, metric = "headwater_projection_lag_documents", dimensions = {}
      statistic = "Maximum", above = 100000, missing = "notBreaching"
    }
  }

  of_gateways = merge([
    for name, id in var.gateways : {
      (name) = {
        title     = "The ${name} answers 5xx"
        namespace = "AWS/ApiGateway", metric = "5xx", dimensions = { ApiId = id }
        statistic = "Sum", above = 5, missing = "notBreaching"
      }
    }
  ]...)

  of_queues = merge([
    for name, queue in var.queues : {
      # One message is enough: somebody's document waits there.
      "${name}-dead" = {
        title     = "Messages that could not be taken: ${name}"
        namespace = "AWS/SQS", metric = "ApproximateNumberOfMessagesVisible", dimensions = { QueueName = queue.dead_name }
        statistic = "Maximum", above = 0, missing = "notBreaching", periods = 1
      }
      "${name}-age" = {
        title     = "The oldest message waits (seconds): ${name}"
        namespace = "AWS/SQS", metric = "ApproximateAgeOfOldestMessage", dimensions = { QueueName = queue.name }
        statistic = "Maximum", above = var.lag_seconds, missing = "notBreaching"
      }
    }
  ]...)

  of_functions = merge([
    for name, function in var.functions : {
      "${name}-errors" = {
        title     = "The function ${name} fails"
        namespace = "AWS/Lambda", metric = "Errors", dimensions = { FunctionName = function }
        statistic = "Sum", above = 5, missing = "notBreaching"
      }
      "${name}-throttled" = {
        title     = "Calls of the function ${name} are refused: all of them run"
        namespace = "AWS/Lambda", metric = "Throttles", dimensions = { FunctionName = function }
        statistic = "Sum", above = 50, missing = "notBreaching"
      }
    }
  ]...)

  alarms        = merge(local.of_service, local.of_databases, local.of_journal, local.of_collector, local.of_gateways, local.of_queues, local.of_functions)
  log_namespace = "Headwater/${var.name}/log"
}

resource "aws_sns_topic" "this" {
  name              = "${var.name}-alarms"
  kms_master_key_id = var.key_arn
}

resource "aws_sns_topic_policy" "this" {
  arn = aws_sns_topic.this.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AlarmsOfThisAccount"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.this.arn
        Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
      },
      {
        Sid       = "TlsOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.this.arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_sns_topic_subscription" "this" {
  for_each = var.emails

  topic_arn = aws_sns_topic.this.arn
  protocol  = "email"
  endpoint  = each.value
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.title
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = startswith(each.value.statistic, "p") ? null : each.value.statistic
  extended_statistic  = startswith(each.value.statistic, "p") ? each.value.statistic : null
  comparison_operator = can(each.value.below) ? "LessThanThreshold" : "GreaterThanThreshold"
  threshold           = try(each.value.below, each.value.above)
  period              = local.period
  evaluation_periods  = try(each.value.periods, 3)
  treat_missing_data  = each.value.missing
  alarm_actions       = [aws_sns_topic.this.arn]
  ok_actions          = [aws_sns_topic.this.arn]
}

resource "aws_cloudwatch_log_metric_filter" "errors" {
  count = var.service == null ? 0 : 1

  name           = "${var.name}-errors"
  log_group_name = var.service.log_group
  pattern        = "{ $.level = \"error\" }"

  metric_transformation {
    namespace     = local.log_namespace
    name          = "ErrorLines"
    value         = "1"
    default_value = "0"
  }
}

resource "aws_cloudwatch_dashboard" "this" {
  dashboard_name = var.name

  dashboard_body = jsonencode({
    widgets = [
      for index, name in sort(keys(local.alarms)) : {
        type   = "metric"
        x      = 8 * (index % 3)
        y      = 6 * floor(index / 3)
        width  = 8
        height = 6
        properties = {
          title  = local.alarms[name].title
          region = data.aws_region.current.region
          period = local.period
          stat   = local.alarms[name].statistic
          metrics = [concat(
            [local.alarms[name].namespace, local.alarms[name].metric],
            flatten([for dimension, value in local.alarms[name].dimensions : [dimension, value]]),
          )]
          annotations = { horizontal = [{ label = "alarm", value = try(local.alarms[name].below, local.alarms[name].above) }] }
        }
      }
    ]
  })
}
