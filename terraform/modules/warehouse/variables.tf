variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the warehouse."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets of the warehouse, in three zones, which Redshift Serverless wants."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.subnet_ids) >= 3
    error_message = "Redshift Serverless needs subnets in three zones."
  }
}

variable "key_arn" {
  description = "KMS key of the data, the password and the raw files."
  type        = string
  nullable    = false
}

variable "capacity" {
  description = "Capacity in RPU: 8, 16, 24 and so on."
  type        = number
  nullable    = false

  validation {
    condition     = var.capacity >= 8 && var.capacity <= 512 && var.capacity % 8 == 0
    error_message = "A multiple of 8, from 8 to 512."
  }
}

variable "hours_a_month" {
  description = "Hours a month that the warehouse may work; then it stops until the next month."
  type        = number
  nullable    = false

  validation {
    condition     = var.hours_a_month >= 1 && var.hours_a_month <= 744
    error_message = "From 1 to 744."
  }
}

variable "raw" {
  description = "Bucket of the raw files: its name and its ARN."
  type        = object({ bucket = string, bucket_arn = string })
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
