variable "name" {
  description = "Name of the rules and of their log."
  type        = string
  nullable    = false
}

variable "scope" {
  description = "The kind of resource that they protect: REGIONAL (a load balancer) or CLOUDFRONT (a distribution)."
  type        = string
  nullable    = false

  validation {
    condition     = contains(["REGIONAL", "CLOUDFRONT"], var.scope)
    error_message = "REGIONAL or CLOUDFRONT."
  }
}

variable "region" {
  description = "Region of the rules; those of a distribution are in us-east-1. Null: the provider's."
  type        = string
  default     = null

  validation {
    condition     = var.scope != "CLOUDFRONT" || var.region == "us-east-1"
    error_message = "Rules of the scope CLOUDFRONT are in us-east-1."
  }
}

variable "load_balancer" {
  description = "Load balancer that the rules stand before, by its ARN. Null: the distribution names them itself."
  type        = object({ arn = string })
  default     = null
}

variable "requests_in_five_minutes" {
  description = "Requests that one address may send in five minutes; more are blocked until it is fewer."
  type        = number
  nullable    = false

  validation {
    condition     = var.requests_in_five_minutes >= 100 && var.requests_in_five_minutes <= 2000000
    error_message = "From 100 to 2000000."
  }
}

variable "shared_cidrs" {
  description = "Blocks of addresses that many clients come from, such as those of a gateway: no bound for each address there."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for block in var.shared_cidrs : can(cidrnetmask(block))])
    error_message = "IPv4 blocks such as 10.40.0.0/16."
  }
}

variable "key_arn" {
  description = "KMS key of the log, in the same region."
  type        = string
  nullable    = false
}

variable "log_days" {
  description = "How long blocked requests are kept, in days."
  type        = number
  nullable    = false
}
