variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "cidr" {
  description = "Addresses of the network. Each zone gets a sixteenth."
  type        = string
  nullable    = false

  validation {
    condition     = can(cidrnetmask(var.cidr)) && try(tonumber(split("/", var.cidr)[1]) <= 22, false)
    error_message = "An IPv4 block such as 10.40.0.0/16, a /22 or larger."
  }
}

variable "availability_zones" {
  description = "Zones of the region, two to four; Neptune, Aurora and the load balancer need two."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(distinct(var.availability_zones)) == length(var.availability_zones) && length(var.availability_zones) >= 2 && length(var.availability_zones) <= 4
    error_message = "Two to four different zones."
  }
}

variable "services" {
  description = "Services of AWS that get an endpoint beside those which are always needed, such as glue or sqs."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for name in var.services : can(regex("^[a-z0-9-]+([.][a-z0-9-]+)*$", name))])
    error_message = "Names as in com.amazonaws.<region>.<name>."
  }
}

variable "shared_services" {
  description = "Services whose endpoints take callers of other accounts, too: MWAA starts its containers by way of this network, from an account of AWS."
  type        = set(string)
  default     = []
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the flow logs."
  type        = string
  nullable    = false
}

variable "log_days" {
  description = "How long flow logs are kept, in days."
  type        = number
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
