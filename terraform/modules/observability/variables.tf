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

variable "load_balancer" {
  description = "Load balancer, as the dimension of its metrics (arn_suffix)."
  type        = string
  nullable    = false
}

variable "target_group" {
  description = "Target group, as the dimension of its metrics (arn_suffix)."
  type        = string
  nullable    = false
}

variable "cluster" {
  description = "Name of the ECS cluster."
  type        = string
  nullable    = false
}

variable "service" {
  description = "Name of the ECS service."
  type        = string
  nullable    = false
}

variable "log_group" {
  description = "Name of the log group of the service, a JSON object a line."
  type        = string
  nullable    = false
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

variable "gateway" {
  description = "Id of the gateway's API. Null: there is none."
  type        = object({ api_id = string })
  default     = null
}
