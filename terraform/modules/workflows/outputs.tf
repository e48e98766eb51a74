output "environment" {
  description = "Name of the environment."
  value       = aws_mwaa_environment.this.name
}

output "webserver_url" {
  description = "Airflow's page, within the network."
  value       = aws_mwaa_environment.this.webserver_url
}

output "wheels" {
  description = "Where the packages of requirements.txt belong, before the environment is made."
  value       = "s3://${var.code.bucket}/airflow/wheels/"
}

output "security_group_id" {
  description = "Security group of Airflow: its parts may talk to each other; anything else is added to it."
  value       = aws_security_group.this.id
}
