variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the load balancer."
  type        = string
  nullable    = false
}

variable "load_balancer" {
  description = "Internal load balancer of the service: its ARN and its address."
  type        = object({ arn = string, dns_name = string })
  nullable    = false
}

variable "domain_name" {
  description = "Name of the page. The certificate of the load balancer must be for it, too: CloudFront verifies it."
  type        = string
  nullable    = false
}

variable "certificate_arn" {
  description = "Certificate for domain_name in ACM, in us-east-1, where CloudFront looks for it."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^arn:[a-z-]+:acm:us-east-1:[0-9]{12}:certificate/", var.certificate_arn))
    error_message = "The ARN of a certificate in us-east-1."
  }
}

variable "requests_in_five_minutes" {
  description = "Requests that one address may send in five minutes; more are blocked until it is fewer."
  type        = number
  nullable    = false
}

variable "log_days" {
  description = "How long the access log is kept, in days."
  type        = number
  nullable    = false
}
