output "cluster_identifier" {
  description = "Name of the cluster, the dimension of its metrics."
  value       = aws_rds_cluster.this.cluster_identifier
}

output "host" {
  description = "Address of the writer, also after a failover."
  value       = aws_rds_cluster.this.endpoint
}

output "port" {
  description = "Port of the writer."
  value       = aws_rds_cluster.this.port
}

output "database" {
  description = "Name of the database."
  value       = aws_rds_cluster.this.database_name
}

output "cluster_resource_id" {
  description = "Resource id of the cluster, for policies of rds-db."
  value       = aws_rds_cluster.this.cluster_resource_id
}

output "owner_secret_arn" {
  description = "Secret of the owner with the fields username and password, made and rotated by RDS."
  value       = aws_rds_cluster.this.master_user_secret[0].secret_arn
}

output "security_group_id" {
  description = "Security group of the cluster. It allows nothing by itself."
  value       = aws_security_group.this.id
}
