output "workgroup_name" {
  description = "Workgroup of Redshift Serverless."
  value       = aws_redshiftserverless_workgroup.this.workgroup_name
}

output "database" {
  description = "Database of the tables."
  value       = aws_redshiftserverless_namespace.this.db_name
}

output "owner_secret_arn" {
  description = "Secret of the owner, made and rotated by Redshift."
  value       = aws_redshiftserverless_namespace.this.admin_password_secret_arn
}

output "tables_sql" {
  description = "Statements that make and fill the tables."
  value       = templatefile("${path.module}/tables.sql", { raw = var.raw.bucket })
}

output "security_group_id" {
  description = "Security group of the warehouse. It allows nothing by itself."
  value       = aws_security_group.this.id
}
