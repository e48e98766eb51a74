variable "name" {
  description = "Name of the deployment; the notebook instance has it, too."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the graph."
  type        = string
  nullable    = false
}

variable "subnet_id" {
  description = "Private subnet of the instance."
  type        = string
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the instance's disk and of the bucket of code."
  type        = string
  nullable    = false
}

variable "instance_type" {
  description = "Kind of the instance, such as ml.t3.medium."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^ml\\.[a-z0-9]+\\.[a-z0-9]+$", var.instance_type))
    error_message = "A kind such as ml.t3.medium."
  }
}

variable "graph_notebook_version" {
  description = "Version of graph-notebook among the packages in the bucket."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]+(\\.[0-9]+){1,3}$", var.graph_notebook_version))
    error_message = "A version such as 5.3.0."
  }
}

variable "graph" {
  description = "Neptune: host and port of the endpoint for readers, resource id of the cluster."
  type        = object({ host = string, port = number, cluster_resource_id = string })
  nullable    = false
}

variable "code" {
  description = "Bucket with the packages (notebook/wheels/) and the recipes (notebook/notebooks/): its name and its ARN."
  type        = object({ bucket = string, bucket_arn = string })
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
