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
  description = "Private subnets of the private way."
  type        = list(string)
  nullable    = false
}

variable "load_balancer_arn" {
  description = "Load balancer of the service, which listens on port 443."
  type        = string
  nullable    = false
}

variable "producers" {
  description = "Accounts whose jobs report: account id => ARNs of the roles of those jobs, which may read the account's API key, and the region of its network where that is another one."
  type        = map(object({ role_arns = list(string), region = optional(string) }))
  nullable    = false

  validation {
    condition     = length(var.producers) > 0 && alltrue([for account in keys(var.producers) : can(regex("^[0-9]{12}$", account))])
    error_message = "At least one account, each with twelve digits."
  }

  validation {
    condition = alltrue([
      for account, producer in var.producers :
      length(producer.role_arns) > 0 && alltrue([for arn in producer.role_arns : can(regex("^arn:[a-z-]+:iam::${account}:role/[^*]+$", arn))])
    ])
    error_message = "Each account names at least one role of its own, by its whole ARN."
  }
}

variable "deletion_protection" {
  description = "Whether the load balancer refuses to be deleted."
  type        = bool
  nullable    = false
}
