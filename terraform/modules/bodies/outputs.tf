output "state" {
  description = "Bucket of large bodies: its name, its ARN, and the folder in it."
  value       = { bucket = aws_s3_bucket.this["state"].id, bucket_arn = aws_s3_bucket.this["state"].arn, prefix = "bodies" }
}

output "uploads" {
  description = "Bucket of payloads on their way in: its name, its ARN, and the folder in it, with pointers/ and uploads/ below."
  value       = { bucket = aws_s3_bucket.this["uploads"].id, bucket_arn = aws_s3_bucket.this["uploads"].arn, prefix = "incoming" }
}
