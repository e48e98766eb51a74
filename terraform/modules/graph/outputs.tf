output "cluster_identifier" {
  description = "Name of the cluster, the dimension of its metrics."
  value       = aws_neptune_cluster.this.cluster_identifier
}

output "cluster_resource_id" {
  description = "Resource id of the cluster, for policies of neptune-db."
  value       = aws_neptune_cluster.this.cluster_resource_id
}

output "url" {
  description = "Value of HEADWATER_GREMLIN_URL: the writer, also after a failover."
  value       = "wss://${aws_neptune_cluster.this.endpoint}:${aws_neptune_cluster.this.port}/gremlin"
}

output "reader" {
  description = "Host and port for readers: the instances that stand by, or the writer where there is one instance."
  value       = { host = aws_neptune_cluster.this.reader_endpoint, port = aws_neptune_cluster.this.port }
}

output "security_group_id" {
  description = "Security group of the cluster. It allows nothing by itself."
  value       = aws_security_group.this.id
}

output "load_role_arn" {
  description = "Role for headwater-pipeline load-neptune --role; null without a bucket."
  value       = one(aws_iam_role.load[*].arn)
}
