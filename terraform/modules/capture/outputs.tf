output "secret_arns" {
  description = "Account id => secret with its API key."
  value       = { for account, secret in aws_secretsmanager_secret.this : account => secret.arn }
}

output "key_arn" {
  description = "KMS key of those secrets, known once its policy is in force."
  value       = aws_kms_key.this.arn
  depends_on  = [aws_kms_key_policy.this]
}

output "endpoint_service_name" {
  description = "The endpoint service for which the accounts make an interface endpoint. It is accepted here by hand."
  value       = aws_vpc_endpoint_service.this.service_name
}

output "security_group_id" {
  description = "Security group of the private way. It allows nothing by itself."
  value       = aws_security_group.this.id
}

output "endpoint_service_id" {
  description = "Id of the endpoint service, to accept a connection with."
  value       = aws_vpc_endpoint_service.this.id
}
