output "vpc_id" {
  description = "The network."
  value       = aws_vpc.this.id
}

output "subnet_ids" {
  description = "Private subnets, one a zone, in the order of the zones' names."
  value       = [for subnet in aws_subnet.private : subnet.id]
}

output "subnets" {
  description = "Zone => its private subnet."
  value       = { for zone, subnet in aws_subnet.private : zone => subnet.id }
}

output "endpoint_security_group_id" {
  description = "Security group of the interface endpoints."
  value       = aws_security_group.endpoints.id
}

output "s3_prefix_list_id" {
  description = "Addresses of S3, for rules of security groups."
  value       = aws_vpc_endpoint.s3.prefix_list_id
}
