output "endpoint_id" {
  description = "The endpoint, which Headwater's account has to accept."
  value       = aws_vpc_endpoint.this.id
}

output "next_steps" {
  description = "The remaining steps in this account."
  value       = <<-TEXT
    1. In Headwater's account, accept the endpoint ${aws_vpc_endpoint.this.id} (examples/multi-account does so by itself).
    2. Give a job its API key from ${var.secret_arn}, at run time, and print its settings:
         headwater config glue --url https://${var.domain_name} --api-key
       Its reports have this account as their capture scope, since the key has.
  TEXT
}
