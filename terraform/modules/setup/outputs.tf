output "repository" {
  description = "Where to push the image: its address and its ARN."
  value       = { url = aws_ecr_repository.this.repository_url, arn = aws_ecr_repository.this.arn }
}

output "image" {
  description = "The image, with its tag."
  value       = local.image
}

output "cluster" {
  description = "The ECS cluster: its name and its ARN."
  value       = { name = aws_ecs_cluster.this.name, arn = aws_ecs_cluster.this.arn }
}

output "task_definition" {
  description = "Task that prepares the database and makes API keys."
  value       = aws_ecs_task_definition.this.family
}

output "key_secret_arns" {
  description = "Secrets of the API keys: admin, producer, metrics."
  value       = { for name, secret in aws_secretsmanager_secret.key : name => secret.arn }
}

output "security_group_id" {
  description = "Security group of the task. It allows nothing by itself."
  value       = aws_security_group.this.id
}
