variable "name" {
  description = "Name of the deployment, in front of every name: several may live in one account and region."
  type        = string
  default     = "headwater"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,19}$", var.name))
    error_message = "2 to 20 lower-case letters, digits and dashes, beginning with a letter."
  }
}

variable "network" {
  description = "Addresses of the network, its zones (two to four), and private blocks outside it whose clients may reach the load balancer."
  type = object({
    cidr               = optional(string, "10.40.0.0/16")
    availability_zones = list(string)
    client_cidrs       = optional(list(string), [])
  })
  nullable = false

  validation {
    condition = alltrue([
      for block in var.network.client_cidrs :
      can(cidrnetmask(block)) && can(regex("^(10\\.|192\\.168\\.|172\\.(1[6-9]|2[0-9]|3[01])\\.|100\\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\\.)", block))
    ])
    error_message = "client_cidrs are private IPv4 blocks (RFC 1918 or 100.64.0.0/10): the load balancer is internal."
  }
}

variable "domain_name" {
  description = "Name under which clients reach the service; certificate_arn is for it. A record for it is yours to make: the output next_steps says which."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$", var.domain_name))
    error_message = "A host name such as lineage.example.org."
  }
}

variable "certificate_arn" {
  description = "Certificate for domain_name in ACM, in this region."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^arn:[a-z-]+:acm:[a-z0-9-]+:[0-9]{12}:certificate/", var.certificate_arn))
    error_message = "The ARN of a certificate in ACM."
  }
}

variable "image_tag" {
  description = "Tag of the image to run. Push it into the repository that the output next_steps names."
  type        = string
  nullable    = false
}

variable "service" {
  description = "The tasks: their size (cpu in 1024ths of a vCPU, memory in MiB), how many, threads of each, HEADWATER_KEEP and HEADWATER_GRAPH_RUNS."
  type = object({
    task = optional(object({
      cpu          = optional(number, 1024)
      memory       = optional(number, 4096)
      architecture = optional(string, "X86_64")
    }), {})
    tasks      = optional(object({ min = number, max = number }), { min = 2, max = 6 })
    threads    = optional(number, 16)
    keep       = optional(string, "")
    graph_runs = optional(string, "")
  })
  default  = {}
  nullable = false
}

variable "graph" {
  description = "Neptune: engine, capacity in NCU, instances (one writes, the others stand by), days of backup, and a bucket with files of headwater-pipeline that its loader may read."
  type = object({
    engine_version = optional(string, "1.4.7.1")
    capacity       = optional(object({ min = number, max = number }), { min = 2, max = 32 })
    instances      = optional(number, 2)
    backup_days    = optional(number, 7)
    load_bucket    = optional(object({ arn = string, key_arn = string }))
  })
  default  = {}
  nullable = false
}

variable "journal" {
  description = "Aurora PostgreSQL: engine, capacity in ACU, instances (one writes, the others stand by), days of backup."
  type = object({
    engine_version = optional(string, "16.8")
    capacity       = optional(object({ min = number, max = number }), { min = 1, max = 16 })
    instances      = optional(number, 2)
    backup_days    = optional(number, 35)
  })
  default  = {}
  nullable = false
}

variable "metrics" {
  description = "Collector that brings the service's own metrics to CloudWatch: an image of the AWS Distro for OpenTelemetry in an ECR repository of this account. Null: none, and no alarm on the lag."
  type        = object({ image = string, repository_arn = string })
  default     = null
}

variable "gateway" {
  description = "A public HTTP API for producers that do not reach the network: authorization AWS_IAM, JWT (with jwt) or KEY, throttling a route, routes. Null: none."
  type = object({
    authorization = optional(string, "AWS_IAM")
    jwt           = optional(object({ issuer = string, audience = list(string) }))
    throttling    = optional(object({ rate = number, burst = number }), { rate = 100, burst = 200 })
    routes = optional(set(string), [
      "HEAD /producer/status",
      "GET /producer/status",
      "POST /producer/execution-plans",
      "POST /producer/execution-events",
      "POST /api/v1/lineage",
    ])
  })
  default = null
}

variable "producers" {
  description = "Other accounts whose jobs report: account id => ARNs of the roles of those jobs."
  type        = map(object({ role_arns = list(string) }))
  default     = {}
  nullable    = false
}

variable "lake" {
  description = "The example's data and Glue jobs: who reports (listener or spline) and the namespace of the jobs. Null: none."
  type = object({
    agent     = optional(string, "listener")
    namespace = optional(string, "hr")
  })
  default = null
}

variable "alarms" {
  description = "Addresses that alarms go to, and the lag of the graph, in seconds, that is one."
  type = object({
    emails      = optional(set(string), [])
    lag_seconds = optional(number, 900)
  })
  default  = {}
  nullable = false
}

variable "deletion_protection" {
  description = "Whether databases and load balancer refuse to be deleted, databases leave a last snapshot, and buckets that are not empty stay."
  type        = bool
  default     = true
  nullable    = false
}

variable "log_days" {
  description = "How long logs are kept, in days."
  type        = number
  default     = 365
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_days)
    error_message = "One of the periods that CloudWatch Logs has: 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, ..."
  }
}
