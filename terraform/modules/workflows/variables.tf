variable "name" {
  description = "Name of the deployment; the environment has it, too."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of Airflow."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets, of which MWAA takes the first two."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.subnet_ids) >= 2
    error_message = "Two private subnets."
  }
}

variable "key_arn" {
  description = "KMS key of the environment, its logs and the bucket of code."
  type        = string
  nullable    = false
}

variable "airflow_version" {
  description = "Version of Airflow, 2.7 or newer, from which on the provider of OpenLineage exists. MWAA takes the ones that it names; the wheels are for that version's Python (2.11 and 3: 3.12)."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^(2\\.([7-9]|1[0-9])|3\\.[0-9]+)\\.[0-9]+$", var.airflow_version))
    error_message = "A version such as 2.11.0."
  }
}

variable "workers" {
  description = "The most workers."
  type        = number
  nullable    = false

  validation {
    condition     = var.workers >= 1 && var.workers <= 25
    error_message = "From 1 to 25."
  }
}

variable "requirements" {
  description = "Lines of requirements.txt; their wheels belong into airflow/wheels/ of the bucket of code."
  type        = list(string)
  default     = ["apache-airflow-providers-openlineage"]
  nullable    = false
}

variable "code" {
  description = "Bucket of code: its name and its ARN."
  type        = object({ bucket = string, bucket_arn = string })
  nullable    = false
}

variable "url" {
  description = "Where events go, such as https://lineage.example.org."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^https://[a-z0-9.-]+$", var.url))
    error_message = "An https:// address without a path."
  }
}

variable "key_secret_arn" {
  description = "Secret with the API key of a producer."
  type        = string
  nullable    = false
}

variable "namespace" {
  description = "Namespace of the tasks in Headwater."
  type        = string
  nullable    = false
}

variable "log_days" {
  description = "How long Airflow's logs are kept, in days."
  type        = number
  nullable    = false
}

variable "job_arns" {
  description = "Glue jobs that tasks may start."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
