output "endpoint" {
  description = "Host and port of the database, for jdbc:mysql://."
  value       = aws_db_instance.this.endpoint
}

output "owner_secret_arn" {
  description = "Secret of the owner, made and rotated by RDS."
  value       = aws_db_instance.this.master_user_secret[0].secret_arn
}

output "table_sql" {
  description = "Statements that make and fill the table."
  value       = file("${path.module}/employee.sql")
}

output "security_group_id" {
  description = "Security group of the database. It allows nothing by itself."
  value       = aws_security_group.this.id
}
