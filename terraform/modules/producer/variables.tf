variable "name" {
  description = "Name in front of every name in this account."
  type        = string
  default     = "headwater"
  nullable    = false
}

variable "vpc_id" {
  description = "Network of the jobs."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets of the endpoint, in zones that Headwater has, too: compare their ids (euw1-az1), since each account has names of its own. In another region: any."
  type        = list(string)
  nullable    = false
}

variable "endpoint_service_name" {
  description = "Output producers.endpoint_service_name of Headwater."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^com\\.amazonaws\\.vpce\\.[a-z0-9-]+\\.vpce-svc-[a-z0-9]+$", var.endpoint_service_name))
    error_message = "A name such as com.amazonaws.vpce.eu-west-1.vpce-svc-0123456789abcdef0."
  }
}

variable "service_region" {
  description = "Region of Headwater, where it is another one; producers there then names this region. Null: this region."
  type        = string
  default     = null
}

variable "domain_name" {
  description = "Name of Headwater, which its certificate is for."
  type        = string
  nullable    = false
}

variable "secret_arn" {
  description = "Output producers.secret_arns of Headwater, for this account."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:", var.secret_arn))
    error_message = "The ARN of a secret."
  }
}

variable "key_arn" {
  description = "Output producers.key_arn of Headwater: the KMS key of that secret."
  type        = string
  nullable    = false
}

variable "role_names" {
  description = "Roles of the jobs that report, by name; the same as in producers of Headwater."
  type        = set(string)
  nullable    = false

  validation {
    condition     = length(var.role_names) > 0
    error_message = "At least one role."
  }
}

variable "job_security_group_ids" {
  description = "Security groups of the jobs: label => id. They get a rule to the endpoint."
  type        = map(string)
  nullable    = false
}
