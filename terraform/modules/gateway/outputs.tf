output "url" {
  description = "Address of the gateway."
  value       = aws_apigatewayv2_api.this.api_endpoint
}

output "api_id" {
  description = "Id of the API, the dimension of its metrics."
  value       = aws_apigatewayv2_api.this.id
}

output "execution_arn" {
  description = "For policies of callers: execute-api:Invoke on this ARN with /* behind it."
  value       = aws_apigatewayv2_api.this.execution_arn
}

output "security_group_id" {
  description = "Security group of the VPC link. It allows nothing by itself. Null: a function is behind the gateway."
  value       = one([for group in aws_security_group.this : group.id])
}

output "caller_role_arns" {
  description = "Account id => role that its programs assume to call the gateway."
  value       = { for account, role in aws_iam_role.caller : account => role.arn }
}
