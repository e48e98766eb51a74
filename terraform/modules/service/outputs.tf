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

output "cluster_name" {
  description = "The ECS cluster."
  value       = aws_ecs_cluster.this.name
}

output "service_name" {
  description = "The ECS service."
  value       = aws_ecs_service.this.name
}

output "keys_task_definition" {
  description = "Task definition that makes API keys."
  value       = aws_ecs_task_definition.keys.family
}

output "repository_url" {
  description = "Where to push the image."
  value       = aws_ecr_repository.this.repository_url
}

output "key_secret_arns" {
  description = "Secrets of the API keys: admin, producer, metrics."
  value       = { for name, secret in aws_secretsmanager_secret.key : name => secret.arn }
}

output "log_group_name" {
  description = "Log of the service, a JSON object a line."
  value       = aws_cloudwatch_log_group.this["service"].name
}

output "metrics" {
  description = "Namespace of the service's own metrics; null without a collector."
  value       = var.metrics_image == null ? null : local.metrics_namespace
}
