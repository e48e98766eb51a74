variable "region" {
  description = "Region of everything."
  type        = string
  default     = "eu-west-1"
}

variable "image_tag" {
  description = "Tag of the image to run."
  type        = string
}
