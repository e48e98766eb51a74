output "name" {
  description = "The notebook instance."
  value       = aws_sagemaker_notebook_instance.this.name
}

output "wheels" {
  description = "Where the packages of graph-notebook belong, before the instance is started again."
  value       = "s3://${var.code.bucket}/${local.wheels}/"
}

output "security_group_id" {
  description = "Security group of the instance. It allows nothing by itself."
  value       = aws_security_group.this.id
}
