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
  description = "KMS key of logs, large bodies and the API key of the collector."
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

variable "further_groups" {
  description = "Security groups that the load balancer has beside its own."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "cluster" {
  description = "The ECS cluster: its name and its ARN."
  type        = object({ name = string, arn = string })
  nullable    = false
}

variable "image" {
  description = "The image to run, with its tag."
  type        = string
  nullable    = false
}

variable "repository_arn" {
  description = "ARN of the repository that the image is in."
  type        = string
  nullable    = false
}

variable "settings" {
  description = "Settings that the service and everything beside it share: name (HEADWATER_...) => value. None is a secret."
  type        = map(string)
  nullable    = false
}

variable "database" {
  description = "The database: resource id of the cluster, and the user that signs in with tokens."
  type        = object({ cluster_resource_id = string, user = string })
  nullable    = false
}

variable "bodies" {
  description = "Where large bodies lie: ARN of the bucket, and the folder in it."
  type        = object({ bucket_arn = string, prefix = string })
  nullable    = false
}

variable "uploads" {
  description = "Where clients put plans that are too large for a gateway: ARN of the bucket, and the folder in it. Null: nowhere."
  type        = object({ bucket_arn = string, prefix = string })
  default     = null
}

variable "graph" {
  description = "The graph: resource id of the Neptune cluster."
  type        = object({ cluster_resource_id = string })
  nullable    = false
}

variable "metrics" {
  description = "Collector of the service's own metrics: its image (AWS Distro for OpenTelemetry, with a fixed tag), ARN of its ECR repository, secret with its API key. Null: none, and no alarm on the lag."
  type        = object({ image = string, repository_arn = string, key_secret_arn = string })
  default     = null

  validation {
    condition     = var.metrics == null || try(can(regex("^[^:]+(:[0-9]+)?/[^:]+:(v?[0-9][^:]*)$", var.metrics.image)) || can(regex("@sha256:[0-9a-f]{64}$", var.metrics.image)), false)
    error_message = "An image with a version or a digest."
  }
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

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
