output "topic_arn" {
  description = "Topic that every alarm is sent to."
  value       = aws_sns_topic.this.arn
}

output "dashboard" {
  description = "Name of the dashboard in CloudWatch."
  value       = aws_cloudwatch_dashboard.this.dashboard_name
}

output "alarms" {
  description = "Names of the alarms."
  value       = sort([for alarm in aws_cloudwatch_metric_alarm.this : alarm.alarm_name])
}
