variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the cluster."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets in two zones or more."
  type        = list(string)
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the storage, its snapshots, the password and the logs."
  type        = string
  nullable    = false
}

variable "engine_version" {
  description = "Version of Aurora PostgreSQL, 13.6 or newer, such as 16.13. Null: the newest of 16 that the region offers, so that a plan shows an upgrade before it is made. Named: that one; after an automatic minor upgrade name the new one, since there is no way back."
  type        = string
  default     = null

  validation {
    condition     = var.engine_version == null || can(regex("^1[3-9]\\.\\d+$", var.engine_version))
    error_message = "A version such as 16.13 (the journal needs PostgreSQL 13 or newer), or null: the newest of 16."
  }
}

variable "capacity" {
  description = "Least and most Aurora capacity units (ACU, 2 GiB of memory each) of each instance."
  type        = object({ min = number, max = number })
  nullable    = false

  validation {
    condition     = var.capacity.min >= 0.5 && var.capacity.max <= 256 && var.capacity.max >= max(1, var.capacity.min)
    error_message = "min from 0.5 (the service never lets it fall asleep), max from 1 to 256, and min not above max."
  }
}

variable "instances" {
  description = "Instances: one writes, each further one stands by in another zone."
  type        = number
  nullable    = false

  validation {
    condition     = var.instances >= 1 && var.instances <= 16 && floor(var.instances) == var.instances
    error_message = "A whole number from 1 to 16."
  }
}

variable "backup_days" {
  description = "Days that can be restored to any second."
  type        = number
  nullable    = false

  validation {
    condition     = var.backup_days >= 1 && var.backup_days <= 35
    error_message = "From 1 to 35 days."
  }
}

variable "deletion_protection" {
  description = "Whether the cluster refuses to be deleted, and leaves a snapshot when it goes."
  type        = bool
  nullable    = false
}

variable "log_days" {
  description = "How long the log of PostgreSQL is kept, in days."
  type        = number
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
