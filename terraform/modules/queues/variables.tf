variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the messages; its policy lets S3 use it for news of the bucket."
  type        = string
  nullable    = false
}

variable "message_size" {
  description = "The largest message in KB. A larger document goes through the bucket of uploads, with a pointer in the message."
  type        = number
  nullable    = false

  validation {
    condition     = var.message_size >= 64 && var.message_size <= 1024 && floor(var.message_size) == var.message_size
    error_message = "A whole number from 64 to 1024."
  }
}

variable "uploads" {
  description = "Bucket of uploads: its name, its ARN, and the folder in it."
  type        = object({ bucket = string, bucket_arn = string, prefix = string })
  nullable    = false
}
