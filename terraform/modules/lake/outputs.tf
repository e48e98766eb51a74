output "buckets" {
  description = "Names of the buckets: raw, curated, aggregated, code."
  value       = { for name, bucket in aws_s3_bucket.this : name => bucket.id }
}

output "bucket_arns" {
  description = "ARNs of the buckets: raw, curated, aggregated, code."
  value       = { for name, bucket in aws_s3_bucket.this : name => bucket.arn }
}

output "job_arns" {
  description = "The Glue jobs."
  value       = [for job in aws_glue_job.this : job.arn]
}

output "emr" {
  description = "EMR Serverless: the application, the role of its job runs, and a command that starts one of the jobs. Null: none."
  value = one([for application in aws_emrserverless_application.this : {
    application_id = application.id
    role_arn       = aws_iam_role.emr[0].arn
    start_job_run = join(" ", [
      "aws emr-serverless start-job-run --application-id ${application.id} --execution-role-arn ${aws_iam_role.emr[0].arn}",
      "--name Spark-Lineage --job-driver '${jsonencode({ sparkSubmit = {
        entryPoint = "s3://${aws_s3_bucket.this["code"].id}/${aws_s3_object.script.key}"
        entryPointArguments = [
          "--agent", var.agent, "--example", "curate_employees", "--raw", "s3://${aws_s3_bucket.this["raw"].id}/hr",
          "--curated", "s3://${aws_s3_bucket.this["curated"].id}", "--aggregated", "s3://${aws_s3_bucket.this["aggregated"].id}",
          "--database", aws_glue_catalog_database.this.name, "--key_secret", var.key_secret_arn,
        ]
      } })}'",
    ])
  }])
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
  description = "The text of the jobs' --conf, for jobs of your own."
  value       = local.conf
}

output "security_group_id" {
  description = "Security group of the jobs: they may talk to each other; anything else is added to it."
  value       = aws_security_group.this.id
}
