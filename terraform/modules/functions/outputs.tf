output "functions" {
  description = "Function => its name, ARN, and the address that a gateway calls: accept, project, enqueue, take, take-uploads."
  value       = { for key, function in aws_lambda_function.this : key => { name = function.function_name, arn = function.arn, invoke_arn = function.invoke_arn } }
}

output "security_group_id" {
  description = "Security group of the functions. It allows nothing by itself."
  value       = aws_security_group.this.id
}
