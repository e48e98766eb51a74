variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the functions."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets of the functions."
  type        = list(string)
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of messages, objects, logs and the functions' variables."
  type        = string
  nullable    = false
}

variable "image" {
  description = "The image, with its tag: the service's, with awslambdaric in it."
  type        = string
  nullable    = false
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
}

variable "at_once" {
  description = "How many run at once: requests (accept), requests of the queue road (enqueue), batches of its events (take). accept and take hold up to two connections to the database each."
  type        = object({ accept = number, enqueue = number, take = number })
  nullable    = false

  validation {
    condition     = var.at_once.accept >= 1 && var.at_once.accept <= 200 && var.at_once.enqueue >= 1 && var.at_once.enqueue <= 500 && var.at_once.take >= 2 && var.at_once.take <= 100
    error_message = "accept from 1 to 200, enqueue from 1 to 500, take from 2 to 100."
  }
}

variable "message_size" {
  description = "HEADWATER_MESSAGE_SIZE: the largest message in KB, the same as the queues'."
  type        = number
  nullable    = false
}

variable "rewrite_rules" {
  description = "HEADWATER_REWRITE_RULES: a file in the image or s3://bucket/key, and the ARN of that object if it is one. Null: events stay as they are."
  type        = object({ place = string, object_arn = optional(string) })
  default     = null

  validation {
    condition     = var.rewrite_rules == null || try(startswith(var.rewrite_rules.place, "s3://") == (var.rewrite_rules.object_arn != null), false)
    error_message = "Rules at s3:// need the ARN of their object, others have none."
  }
}

variable "queues" {
  description = "The queues projection, events and uploads: address and ARN of each, and of its dead-letter queue."
  type        = map(object({ url = string, arn = string, dead_url = string, dead_arn = string }))
  nullable    = false

  validation {
    condition     = toset(keys(var.queues)) == toset(["projection", "events", "uploads"])
    error_message = "The queues projection, events and uploads."
  }
}

variable "bodies" {
  description = "Where large bodies lie: ARN of the bucket, and the folder in it."
  type        = object({ bucket_arn = string, prefix = string })
  nullable    = false
}

variable "uploads" {
  description = "Bucket of payloads on their way in: its name, its ARN, and the folder in it."
  type        = object({ bucket = string, bucket_arn = string, prefix = string })
  nullable    = false
}

variable "database" {
  description = "The database: resource id of the cluster, and the user that signs in with tokens."
  type        = object({ cluster_resource_id = string, user = string })
  nullable    = false
}

variable "graph" {
  description = "The graph: resource id of the Neptune cluster."
  type        = object({ cluster_resource_id = string })
  nullable    = false
}

variable "log_days" {
  description = "How long the functions' logs are kept, in days."
  type        = number
  nullable    = false
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
