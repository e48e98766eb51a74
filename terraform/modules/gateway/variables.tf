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

variable "subnet_ids" {
  description = "Private subnets of the VPC link."
  type        = list(string)
  nullable    = false
}

variable "listener_arn" {
  description = "HTTPS listener of the load balancer."
  type        = string
  nullable    = false
}

variable "domain_name" {
  description = "Name in the certificate of the load balancer, which the gateway verifies; the certificate must be of a public authority."
  type        = string
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the access log."
  type        = string
  nullable    = false
}

variable "log_days" {
  description = "How long the access log is kept, in days."
  type        = number
  nullable    = false
}

variable "authorization" {
  description = "Who may come in: AWS_IAM (signed requests), JWT (a token in X-Gateway-Token), or KEY (the service's own API keys alone). The service wants its API key in any case."
  type        = string
  nullable    = false

  validation {
    condition     = contains(["AWS_IAM", "JWT", "KEY"], var.authorization)
    error_message = "AWS_IAM, JWT or KEY."
  }
}

variable "jwt" {
  description = "With JWT: the issuer of the tokens (https://) and the audiences that are taken."
  type        = object({ issuer = string, audience = list(string) })
  default     = null

  validation {
    condition     = var.authorization != "JWT" || try(startswith(var.jwt.issuer, "https://") && length(var.jwt.audience) > 0, false)
    error_message = "With JWT an issuer (https://) and at least one audience are needed."
  }
}

variable "throttling" {
  description = "Requests a second for each route, and how many may come at once."
  type        = object({ rate = number, burst = number })
  nullable    = false

  validation {
    condition     = var.throttling.rate >= 1 && var.throttling.rate <= 10000 && var.throttling.burst >= 1 && var.throttling.burst <= 5000
    error_message = "rate from 1 to 10000, burst from 1 to 5000."
  }
}

variable "routes" {
  description = "Routes that pass. The default is what producers need; \"GET /{proxy+}\" adds the page and every question."
  type        = set(string)
  default = [
    "HEAD /producer/status",
    "GET /producer/status",
    "POST /producer/execution-plans",
    "POST /producer/execution-events",
    "POST /api/v1/lineage",
  ]
  nullable = false

  validation {
    condition     = length(var.routes) > 0 && alltrue([for route in var.routes : can(regex("^(GET|HEAD|POST|PUT|DELETE|ANY) /", route))])
    error_message = "Routes such as \"POST /api/v1/lineage\"; not $default."
  }
}
