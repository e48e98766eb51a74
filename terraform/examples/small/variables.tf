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
