variable "name" {
  description = "Name of the deployment: of the repository, the cluster, in front of all others."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the task."
  type        = string
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of images, secrets, logs and the disks of tasks."
  type        = string
  nullable    = false
}

variable "image_tag" {
  description = "Tag of the image in the repository that this module makes."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$", var.image_tag)) && var.image_tag != "latest"
    error_message = "A tag of one build, such as 0.2.0; not latest: a replaced task must run the image that was deployed."
  }
}

variable "image_user" {
  description = "User and group that the image runs as, in numbers; not root. /data must be a volume of the image that belongs to them."
  type        = string
  default     = "10001:10001"
  nullable    = false

  validation {
    condition     = can(regex("^[1-9][0-9]*:[1-9][0-9]*$", var.image_user))
    error_message = "Two numbers above 0, such as 10001:10001."
  }
}

variable "architecture" {
  description = "Architecture of the image: X86_64 or ARM64."
  type        = string
  nullable    = false

  validation {
    condition     = contains(["X86_64", "ARM64"], var.architecture)
    error_message = "X86_64 or ARM64."
  }
}

variable "settings" {
  description = "Settings that the service and everything beside it share: name (HEADWATER_...) => value. None is a secret."
  type        = map(string)
  nullable    = false

  validation {
    condition     = alltrue([for name in keys(var.settings) : startswith(name, "HEADWATER_")])
    error_message = "Names that begin with HEADWATER_."
  }
}

variable "database" {
  description = "The database: its writer, the secret of its owner, the user to make for the service, and the file with the authorities of RDS in the image."
  type = object({
    host                = string
    port                = number
    name                = string
    cluster_resource_id = string
    owner_secret_arn    = string
    user                = string
    certificates        = string
  })
  nullable = false
}

variable "producer_secret_arns" {
  description = "Secrets for API keys of other accounts: account id => ARN. Documents with such a key have the account as their scope."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "producer_key_arn" {
  description = "KMS key of those secrets."
  type        = string
  default     = null
}

variable "deletion_protection" {
  description = "Whether a repository that is not empty stays, and secrets can be restored for 30 days instead of 7."
  type        = bool
  nullable    = false
}

variable "log_days" {
  description = "How long the task's log is kept, in days."
  type        = number
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
