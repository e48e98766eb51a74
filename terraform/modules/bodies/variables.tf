variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the objects."
  type        = string
  nullable    = false
}

variable "deletion_protection" {
  description = "Whether buckets that are not empty stay."
  type        = bool
  nullable    = false
}
