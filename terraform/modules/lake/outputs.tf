output "buckets" {
  description = "Names of the buckets: raw, curated, aggregated, code."
  value       = { for name, bucket in aws_s3_bucket.this : name => bucket.id }
}

output "database" {
  description = "Database in the Glue catalog."
  value       = aws_glue_catalog_database.this.name
}

output "workflow" {
  description = "Workflow that runs the jobs in their order."
  value       = aws_glue_workflow.this.name
}

output "conf" {
  description = "What stands in the jobs' --conf, for jobs of your own."
  value       = local.conf
}

output "security_group_id" {
  description = "Security group of the jobs: they may talk to each other; anything else is added to it."
  value       = aws_security_group.this.id
}
