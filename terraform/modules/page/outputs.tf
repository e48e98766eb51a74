output "dns_name" {
  description = "The target of domain_name in DNS, for people outside the network."
  value       = aws_cloudfront_distribution.this.domain_name
}

output "distribution_id" {
  description = "The distribution, the dimension of its metrics."
  value       = aws_cloudfront_distribution.this.id
}
