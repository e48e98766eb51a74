variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the database."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets in two zones or more."
  type        = list(string)
  nullable    = false
}

variable "key_arn" {
  description = "KMS key of the storage, the password and the logs."
  type        = string
  nullable    = false
}

variable "raw" {
  description = "Bucket that gets the two files, below csv/."
  type        = object({ bucket = string })
  nullable    = false
}

variable "deletion_protection" {
  description = "Whether the database refuses to be deleted."
  type        = bool
  nullable    = false
}

variable "log_days" {
  description = "How long the database's logs are kept, in days."
  type        = number
  nullable    = false
}
