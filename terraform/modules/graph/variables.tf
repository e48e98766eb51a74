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
  description = "KMS key of the storage, its snapshots and logs."
  type        = string
  nullable    = false
}

variable "engine_version" {
  description = "Version of Neptune's engine; of 1.4, which takes Gremlin clients of TinkerPop 3.7 (1.5 changes the meaning of steps). Null: the newest of 1.4 that the region offers, so that a plan shows an upgrade before it is made. Named: that one; after an automatic minor upgrade name the new one, since there is no way back."
  type        = string
  default     = null

  validation {
    condition     = var.engine_version == null || can(regex("^1\\.4\\.\\d+\\.\\d+$", var.engine_version))
    error_message = "A version of 1.4, such as 1.4.8.0 (the parameter group is of that family), or null: the newest."
  }
}

variable "capacity" {
  description = "Least and most Neptune capacity units (NCU, 2 GiB of memory each) of each instance."
  type        = object({ min = number, max = number })
  nullable    = false

  validation {
    condition     = var.capacity.min >= 1 && var.capacity.max <= 128 && var.capacity.max >= max(2.5, var.capacity.min)
    error_message = "min from 1, max from 2.5 to 128, and min not above max."
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
  description = "How long audit and slow query logs are kept, in days."
  type        = number
  nullable    = false
}

variable "load_bucket" {
  description = "Bucket that Neptune's bulk loader reads, and the KMS key of its objects. Null: no role for it."
  type        = object({ arn = string, key_arn = string })
  default     = null
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
