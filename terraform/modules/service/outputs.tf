output "security_group_id" {
  description = "Security group of the tasks. It allows nothing by itself."
  value       = aws_security_group.service.id
}

output "load_balancer" {
  description = "The load balancer: ARN, dimension of its metrics, address, zone for an alias record, security group, listener."
  value = {
    arn               = aws_lb.this.arn
    arn_suffix        = aws_lb.this.arn_suffix
    dns_name          = aws_lb.this.dns_name
    zone_id           = aws_lb.this.zone_id
    security_group_id = aws_security_group.load_balancer.id
    listener_arn      = aws_lb_listener.this.arn
  }
}

output "target_group_arn_suffix" {
  description = "Dimension of the target group's metrics."
  value       = aws_lb_target_group.this.arn_suffix
}

output "port" {
  description = "Port that the tasks listen on."
  value       = local.port
}

output "service_name" {
  description = "The ECS service."
  value       = aws_ecs_service.this.name
}

output "log_group_name" {
  description = "Log of the service, a JSON object a line."
  value       = aws_cloudwatch_log_group.this["service"].name
}

output "metrics" {
  description = "Namespace of the service's own metrics; null without a collector."
  value       = var.metrics == null ? null : local.metrics_namespace
}
