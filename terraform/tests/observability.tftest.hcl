mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name        = "headwater"
  key_arn     = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
  emails      = ["on-call@example.org"]
  graph       = { cluster = "headwater", max_capacity = 32 }
  journal     = { cluster = "headwater-journal" }
  lag_seconds = 900

  service = {
    load_balancer = "app/headwater/0123456789abcdef"
    target_group  = "targetgroup/headwater/0123456789abcdef"
    cluster       = "headwater"
    service       = "headwater"
    log_group     = "/headwater/service"
  }
}

run "alarms_reach_somebody" {
  command = apply

  module {
    source = "./modules/observability"
  }

  assert {
    condition     = alltrue([for alarm in aws_cloudwatch_metric_alarm.this : alarm.alarm_actions == toset([aws_sns_topic.this.arn])])
    error_message = "An alarm that nobody hears."
  }

  assert {
    condition     = aws_sns_topic.this.kms_master_key_id == var.key_arn
    error_message = "The messages of alarms are encrypted."
  }

  assert {
    condition     = alltrue([for one in jsondecode(aws_sns_topic_policy.this.policy).Statement : one.Effect == "Deny" || one.Principal == { Service = "cloudwatch.amazonaws.com" }])
    error_message = "Nobody but CloudWatch publishes alarms."
  }

  assert {
    condition     = length(setintersection(keys(aws_cloudwatch_metric_alarm.this), ["failed", "graph-cpu", "journal-capacity"])) == 3
    error_message = "Load balancer, graph and journal are watched."
  }

  assert {
    condition     = !contains(keys(aws_cloudwatch_metric_alarm.this), "lag")
    error_message = "Without a collector there is no data on the lag, and the alarm would ring for ever."
  }

  assert {
    condition     = length(jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets) == length(aws_cloudwatch_metric_alarm.this)
    error_message = "The dashboard shows every alarm."
  }
}

run "the_lag_is_watched_with_a_collector" {
  command = apply

  module {
    source = "./modules/observability"
  }

  variables {
    metrics_namespace = "Headwater/headwater"
    gateways          = { gateway = "abcdef1234" }
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["lag"].threshold == 900 && aws_cloudwatch_metric_alarm.this["lag"].treat_missing_data == "breaching"
    error_message = "A lag, and a collector that is silent, are alarms."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["journal-up"].comparison_operator == "LessThanThreshold" && aws_cloudwatch_metric_alarm.this["journal-up"].threshold == 1
    error_message = "A journal that takes nothing is an alarm."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["gateway"].dimensions == tomap({ ApiId = "abcdef1234" })
    error_message = "The gateway is watched."
  }
}

run "queues_and_functions_are_watched" {
  command = apply

  module {
    source = "./modules/observability"
  }

  variables {
    service   = null
    queues    = { events = { name = "headwater-events.fifo", dead_name = "headwater-events-dead.fifo" } }
    functions = { take = "headwater-take" }
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["events-dead"].threshold == 0 && aws_cloudwatch_metric_alarm.this["events-dead"].evaluation_periods == 1 && aws_cloudwatch_metric_alarm.this["events-dead"].dimensions == tomap({ QueueName = "headwater-events-dead.fifo" })
    error_message = "One message in a dead-letter queue is an alarm."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["events-age"].threshold == 900
    error_message = "A message that waits is an alarm."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["take-errors"].dimensions == tomap({ FunctionName = "headwater-take" })
    error_message = "A function that fails is an alarm."
  }

  assert {
    condition     = !contains(keys(aws_cloudwatch_metric_alarm.this), "unhealthy") && contains(keys(aws_cloudwatch_metric_alarm.this), "graph-cpu")
    error_message = "Without the service its alarms would ring for ever; the graph is watched in any case."
  }
}
