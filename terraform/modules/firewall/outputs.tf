output "arn" {
  description = "The rules."
  value       = aws_wafv2_web_acl.this.arn
}

output "name" {
  description = "Name of the rules, the dimension of their metrics."
  value       = aws_wafv2_web_acl.this.name
}
