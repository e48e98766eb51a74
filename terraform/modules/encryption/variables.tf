variable "name" {
  description = "Name of the deployment; the ECS cluster that may use the key for the disks of its tasks has it, too."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,19}$", var.name))
    error_message = "2 to 20 lower-case letters, digits and dashes, beginning with a letter."
  }
}
