variable "name" {
  description = "Name of the deployment: of the cluster, the service, the load balancer, in front of all others."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the service."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets in two zones or more."
  type        = list(string)
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of logs, secrets, images and the disks of the tasks."
  type        = string
  nullable    = false
}

variable "domain_name" {
  description = "Name that clients use; within this network it is resolved here."
  type        = string
  nullable    = false
}

variable "certificate_arn" {
  description = "Certificate of the load balancer, in ACM, for the name that clients use."
  type        = string
  nullable    = false
}

variable "image_tag" {
  description = "Tag of the image in the repository that this module makes."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$", var.image_tag)) && var.image_tag != "latest"
    error_message = "A tag of one build, such as 0.1.0; not latest: a task that is replaced must be what was deployed."
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

variable "database_certificates" {
  description = "File in the image with the certificate authorities of RDS (its global bundle)."
  type        = string
  default     = "/etc/ssl/certs/rds-global-bundle.pem"
  nullable    = false

  validation {
    condition     = can(regex("^/[A-Za-z0-9._/-]+$", var.database_certificates))
    error_message = "An absolute path of letters, digits, dots, dashes and underscores."
  }
}

variable "task" {
  description = "Size of a task: cpu in 1024ths of a vCPU, memory in MiB (pairs that Fargate has), architecture X86_64 or ARM64 as the image."
  type        = object({ cpu = number, memory = number, architecture = string })
  nullable    = false

  validation {
    condition     = contains([512, 1024, 2048, 4096, 8192, 16384], var.task.cpu) && var.task.memory >= 2 * var.task.cpu && var.task.memory <= 8 * var.task.cpu
    error_message = "cpu is one of 512, 1024, 2048, 4096, 8192, 16384; memory is 2 to 8 times as many MiB."
  }

  validation {
    condition     = contains(["X86_64", "ARM64"], var.task.architecture)
    error_message = "architecture is X86_64 or ARM64."
  }
}

variable "tasks" {
  description = "Least and most tasks."
  type        = object({ min = number, max = number })
  nullable    = false

  validation {
    condition     = var.tasks.min >= 1 && var.tasks.max >= var.tasks.min && var.tasks.max <= 20
    error_message = "min from 1, max up to 20 (a task holds up to 30 connections to the database), min not above max."
  }
}

variable "threads" {
  description = "HEADWATER_THREADS: requests that a task works on at once."
  type        = number
  default     = 16
  nullable    = false

  validation {
    condition     = var.threads >= 1 && var.threads <= 24
    error_message = "From 1 to 24: the pool of a task has 30 connections to the database, and the projector needs some."
  }
}

variable "keep" {
  description = "HEADWATER_KEEP: what stays, such as runs=100,days=400. Empty: everything."
  type        = string
  default     = ""
  nullable    = false
}

variable "graph_runs" {
  description = "HEADWATER_GRAPH_RUNS: the runs that the graph contains for notebooks: none, newest:3, days:90 or all. Empty: days:90."
  type        = string
  default     = ""
  nullable    = false
}

variable "journal" {
  description = "The database: its writer, and the secret with the fields username and password."
  type = object({
    host       = string
    port       = number
    database   = string
    secret_arn = string
  })
  nullable = false
}

variable "graph" {
  description = "The graph: its Gremlin address (wss://) and the resource id of the Neptune cluster."
  type        = object({ url = string, cluster_resource_id = string })
  nullable    = false
}

variable "restarts" {
  description = "When tasks are replaced to read a new password of the database: name => schedule of EventBridge (UTC)."
  type        = map(string)
  nullable    = false
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

variable "metrics_image" {
  description = "Image of the AWS Distro for OpenTelemetry Collector in a registry that the network reaches, with a fixed tag. Null: no collector, and no alarm on the lag."
  type        = string
  default     = null

  validation {
    condition     = var.metrics_image == null || can(regex("^[^:]+(:[0-9]+)?/[^:]+:(v?[0-9][^:]*)$", var.metrics_image)) || can(regex("@sha256:[0-9a-f]{64}$", var.metrics_image))
    error_message = "An image with a version or a digest."
  }
}

variable "metrics_repository_arn" {
  description = "ARN of the ECR repository of that image."
  type        = string
  default     = null
}

variable "deletion_protection" {
  description = "Whether the load balancer refuses to be deleted, and buckets and repositories that are not empty stay."
  type        = bool
  nullable    = false
}

variable "log_days" {
  description = "How long logs are kept, in days."
  type        = number
  nullable    = false
}
