variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the jobs."
  type        = string
  nullable    = false
}

variable "subnet" {
  description = "Subnet of the jobs, and its zone."
  type        = object({ id = string, availability_zone = string })
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of buckets, logs and bookmarks."
  type        = string
  nullable    = false
}

variable "url" {
  description = "Where the jobs report to, such as https://lineage.example.org."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^https://[a-z0-9.-]+$", var.url))
    error_message = "An https:// address without a path."
  }
}

variable "key_secret_arn" {
  description = "Secret with the API key of the jobs; it is in no argument of a job."
  type        = string
  nullable    = false
}

variable "namespace" {
  description = "Namespace of the jobs."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9._-]+$", var.namespace))
    error_message = "Letters, digits, dots, dashes and underscores: Glue splits its --conf at blanks."
  }
}

variable "agent" {
  description = "The reporter: listener (Headwater's, no jar), or spline (the stock agent; put its two jars into jars/ of the bucket code)."
  type        = string
  nullable    = false

  validation {
    condition     = contains(["listener", "spline"], var.agent)
    error_message = "listener or spline."
  }
}

variable "deletion_protection" {
  description = "Whether buckets that are not empty stay."
  type        = bool
  nullable    = false
}

variable "emr" {
  description = "An EMR Serverless application for the same jobs: its release, and the most vCPUs (each with 4 GB). Null: none."
  type        = object({ release = string, cpu = number })
  default     = null

  validation {
    condition     = var.emr == null || try(can(regex("^emr-7\\.[0-9]+\\.[0-9]+$", var.emr.release)) && var.emr.cpu >= 4 && var.emr.cpu <= 1000, false)
    error_message = "A release of 7, such as emr-7.13.0 (Spark 3.5), and from 4 to 1000 vCPUs."
  }
}

variable "log_days" {
  description = "How long logs of the jobs are kept, in days."
  type        = number
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
