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

variable "client_cidrs" {
  description = "Private blocks of the networks that people and jobs come from, as narrow as they are. None: this network alone."
  type        = list(string)
  default     = []
}

variable "metrics" {
  description = "Collector image for the service's own metrics, and its ECR repository."
  type        = object({ image = string, repository_arn = string })
  default     = null
}

variable "alarm_emails" {
  description = "Addresses that alarms go to."
  type        = set(string)
  default     = []
}

variable "page" {
  description = "A public name of the page, with a certificate in us-east-1. Null: people come by the network."
  type        = object({ domain_name = optional(string), certificate_arn = string })
  default     = null
}
