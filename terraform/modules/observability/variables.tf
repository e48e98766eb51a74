variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the topic; its policy lets CloudWatch use it."
  type        = string
  nullable    = false
}

variable "emails" {
  description = "Addresses that alarms are sent to; each must confirm once. Others subscribe to the topic themselves."
  type        = set(string)
  nullable    = false

  validation {
    condition     = alltrue([for address in var.emails : can(regex("^[^@ ]+@[^@ ]+$", address))])
    error_message = "Addresses such as on-call@example.org."
  }
}

variable "graph" {
  description = "Neptune: name of the cluster and its greatest capacity in NCU."
  type        = object({ cluster = string, max_capacity = number })
  nullable    = false
}

variable "journal" {
  description = "Aurora: name of the cluster."
  type        = object({ cluster = string })
  nullable    = false
}

variable "metrics_namespace" {
  description = "Namespace of the service's own metrics. Null: there is no collector, and no alarm on the lag."
  type        = string
  default     = null
}

variable "lag_seconds" {
  description = "Age of the oldest document that the graph does not show, in seconds, from which on it is an alarm."
  type        = number
  nullable    = false

  validation {
    condition     = var.lag_seconds >= 60
    error_message = "At least 60: the graph follows in rounds."
  }
}

variable "service" {
  description = "The service: load balancer and target group as dimensions of their metrics (arn_suffix), names of the ECS cluster and service, and of the log group, a JSON object a line. Null: there is none."
  type        = object({ load_balancer = string, target_group = string, cluster = string, service = string, log_group = string })
  default     = null
}

variable "gateways" {
  description = "Gateways: name => id of the API."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "queues" {
  description = "Queues: label => name of the queue, and of its dead-letter queue."
  type        = map(object({ name = string, dead_name = string }))
  default     = {}
  nullable    = false
}

variable "functions" {
  description = "Functions: label => name of the function."
  type        = map(string)
  default     = {}
  nullable    = false
}
