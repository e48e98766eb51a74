variable "region" {
  description = "Region of everything."
  type        = string
  default     = "us-west-2"
}

variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  default     = "employees"
}

variable "vpc_cidr" {
  description = "Addresses of the network. Each zone gets a sixteenth."
  type        = string
  default     = "10.192.0.0/16"
}

variable "project_name" {
  description = "Namespace of the jobs in Headwater."
  type        = string
  default     = "hr"
}

variable "agent" {
  description = "The reporter on Spark: listener (Headwater's) or spline (the stock agent)."
  type        = string
  default     = "listener"
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
