variable "region" {
  description = "Region of everything."
  type        = string
  default     = "eu-west-1"
}

variable "domain_name" {
  description = "Name under which clients reach the service."
  type        = string
}

variable "certificate_arn" {
  description = "Certificate for domain_name in ACM."
  type        = string
}

variable "image_tag" {
  description = "Tag of the image to run."
  type        = string
}

variable "platform" {
  description = "The account of Headwater: a role in it that may make everything."
  type        = object({ role_arn = string })
}

variable "domain" {
  description = "The account of the jobs: its id, a role in it that may make the endpoint, its network, and the roles and security groups of the jobs."
  type = object({
    account_id             = string
    role_arn               = string
    vpc_id                 = string
    subnet_ids             = list(string)
    job_role_names         = set(string)
    job_security_group_ids = map(string)
  })

  validation {
    condition     = can(regex("^[0-9]{12}$", var.domain.account_id))
    error_message = "An account id has twelve digits."
  }
}
