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
  description = "Name under which clients reach the service; certificate_arn is for it. A record for it is yours to make: the output next_steps says which. Null where there are functions alone."
  type        = string
  default     = null

  validation {
    condition     = var.domain_name == null ? var.service == null : can(regex("^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$", var.domain_name))
    error_message = "A host name such as lineage.example.org."
  }
}

variable "certificate_arn" {
  description = "Certificate for domain_name in ACM, in this region. Null where there are functions alone."
  type        = string
  default     = null

  validation {
    condition     = var.certificate_arn == null ? var.service == null : can(regex("^arn:[a-z-]+:acm:[a-z0-9-]+:[0-9]{12}:certificate/", var.certificate_arn))
    error_message = "The ARN of a certificate in ACM."
  }
}

variable "image_tag" {
  description = "Tag of the image to run. Push it into the repository that the output next_steps names."
  type        = string
  nullable    = false
}

variable "architecture" {
  description = "Architecture of the image: X86_64 or ARM64."
  type        = string
  default     = "X86_64"
  nullable    = false
}

variable "bodies_above" {
  description = "HEADWATER_BODIES_ABOVE: bodies of documents of more KB than this lie in a bucket, smaller ones in the database."
  type        = number
  default     = 256
  nullable    = false

  validation {
    condition     = var.bodies_above >= 1 && floor(var.bodies_above) == var.bodies_above
    error_message = "A whole number of KB, at least 1."
  }
}

variable "keep" {
  description = "HEADWATER_KEEP: the runs that stay, such as runs=100,days=400. The service removes the rest at night; where there are functions alone, headwater prune does. Empty: everything stays."
  type        = string
  default     = ""
  nullable    = false
}

variable "graph_runs" {
  description = "HEADWATER_GRAPH_RUNS: the runs that the graph contains for notebooks: none or newest:3."
  type        = string
  default     = "newest:3"
  nullable    = false
}

variable "service" {
  description = "The service on Fargate: size of a task (cpu in 1024ths of a vCPU, memory in MiB), how many, threads of each. Null: none, the functions do its work."
  type = object({
    task = optional(object({
      cpu    = optional(number, 1024)
      memory = optional(number, 4096)
    }), {})
    tasks   = optional(object({ min = number, max = number }), { min = 2, max = 6 })
    threads = optional(number, 16)
  })
  default = {}

  validation {
    condition     = var.service != null || var.functions != null
    error_message = "The service, the functions, or both."
  }
}

variable "functions" {
  description = "The same on Lambda, and the queues: how many of each function run at once, the largest message in KB, rewrite rules of the queue road (a file in the image, or s3://bucket/key with its ARN), and a public gateway of the queue road (authorization AWS_IAM, JWT or KEY). Null: none."
  type = object({
    at_once       = optional(object({ accept = number, enqueue = number, take = number }), { accept = 20, enqueue = 50, take = 5 })
    message_size  = optional(number, 256)
    rewrite_rules = optional(object({ place = string, object_arn = optional(string) }))
    queue_gateway = optional(object({
      authorization = optional(string, "AWS_IAM")
      jwt           = optional(object({ issuer = string, audience = list(string) }))
      callers       = optional(map(list(string)), {})
      throttling    = optional(object({ rate = number, burst = number }), { rate = 100, burst = 200 })
    }))
  })
  default = null
}

variable "graph" {
  description = "Neptune: version of the engine (null: the newest of 1.4 that the region offers), capacity in NCU, instances (one writes, the others stand by), days of backup, and a bucket with files of headwater-pipeline that its loader may read."
  type = object({
    engine_version = optional(string)
    capacity       = optional(object({ min = number, max = number }), { min = 2, max = 32 })
    instances      = optional(number, 2)
    backup_days    = optional(number, 7)
    load_bucket    = optional(object({ arn = string, key_arn = string }))
  })
  default  = {}
  nullable = false
}

variable "journal" {
  description = "Aurora PostgreSQL: version of the engine (null: the newest of 16 that the region offers), capacity in ACU, instances (one writes, the others stand by), days of backup."
  type = object({
    engine_version = optional(string)
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
  description = "A public HTTP API for producers that do not reach the network: its target (service or functions; the service where there is one), authorization AWS_IAM (with callers: account id => ARNs of roles of other accounts), JWT (with jwt) or KEY, throttling a route, routes. Null: none."
  type = object({
    target        = optional(string)
    authorization = optional(string, "AWS_IAM")
    jwt           = optional(object({ issuer = string, audience = list(string) }))
    callers       = optional(map(list(string)), {})
    throttling    = optional(object({ rate = number, burst = number }), { rate = 100, burst = 200 })
    routes = optional(set(string), [
      "HEAD /producer/status",
      "GET /producer/status",
      "POST /producer/execution-plans",
      "POST /producer/execution-events",
      "POST /api/v1/lineage",
      "POST /uploads",
    ])
  })
  default = null

  validation {
    condition     = contains(concat(var.service == null ? [] : ["service"], var.functions == null ? [] : ["functions"]), coalesce(try(var.gateway.target, null), var.service == null ? "functions" : "service"))
    error_message = "target is service or functions, and there must be such."
  }
}

variable "page" {
  description = "A public name of the page: CloudFront with its own firewall. certificate_arn is in us-east-1; the certificate of the load balancer must be for the name, too (domain_name, unless another is given). Null: none, people come by the network."
  type = object({
    domain_name              = optional(string)
    certificate_arn          = string
    requests_in_five_minutes = optional(number, 3000)
  })
  default = null

  validation {
    condition     = var.page == null || var.service != null
    error_message = "The page needs the service."
  }
}

variable "firewall" {
  description = "AWS WAF in front of the load balancer: requests that one address outside this network may send in five minutes (inside it, a gateway or CloudFront has few addresses for many clients, and bounds of its own). Null: none."
  type        = object({ requests_in_five_minutes = optional(number, 20000) })
  default     = null

  validation {
    condition     = var.firewall == null || var.service != null
    error_message = "The firewall stands before the service's load balancer."
  }
}

variable "producers" {
  description = "Other accounts whose jobs report: account id => ARNs of the roles of those jobs, and the region of their network where that is another one."
  type        = map(object({ role_arns = list(string), region = optional(string) }))
  default     = {}
  nullable    = false

  validation {
    condition     = length(var.producers) == 0 || var.service != null
    error_message = "The private way of other accounts leads to the service's load balancer."
  }
}

variable "lake" {
  description = "The example's data and Glue jobs: the reporter (listener or spline), the namespace of the jobs, and an EMR Serverless application for the same jobs. Null: none."
  type = object({
    agent     = optional(string, "listener")
    namespace = optional(string, "hr")
    emr       = optional(object({ release = optional(string, "emr-7.13.0"), cpu = optional(number, 16) }))
  })
  default = null

  validation {
    condition     = var.lake == null || var.service != null
    error_message = "The jobs report to the service's load balancer."
  }
}

variable "employees" {
  description = "Whether there is the HR database of the employees' example (MySQL), from which a job reads by JDBC."
  type        = bool
  default     = false
  nullable    = false

  validation {
    condition     = !var.employees || var.lake != null
    error_message = "The example's database needs the lake."
  }
}

variable "warehouse" {
  description = "Redshift Serverless of the employees' example: capacity in RPU, and the hours a month after which it stops. Null: none."
  type        = object({ capacity = optional(number, 8), hours_a_month = optional(number, 20) })
  default     = null

  validation {
    condition     = var.warehouse == null || (var.lake != null && length(var.network.availability_zones) >= 3)
    error_message = "The warehouse needs the lake, and three zones."
  }
}

variable "workflows" {
  description = "Airflow (Amazon MWAA) that runs the example's jobs and reports its tasks: version, the most workers. Null: none."
  type        = object({ airflow_version = optional(string, "2.11.0"), workers = optional(number, 2) })
  default     = null

  validation {
    condition     = var.workflows == null || var.lake != null
    error_message = "Airflow needs the lake."
  }
}

variable "notebook" {
  description = "A notebook instance with graph-notebook that may read the graph; its packages come from the lake's bucket of code. Null: none."
  type        = object({ instance_type = optional(string, "ml.t3.medium"), graph_notebook_version = optional(string, "5.3.0") })
  default     = null

  validation {
    condition     = var.notebook == null || var.lake != null
    error_message = "The notebook needs the lake's bucket of code."
  }
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

variable "permissions_boundary" {
  description = "Policy that bounds every role made here, by its ARN, where the account lets roles be made only so. Null: none."
  type        = string
  default     = null

  validation {
    condition     = var.permissions_boundary == null || can(regex("^arn:[a-z-]+:iam::([0-9]{12}|aws):policy/", var.permissions_boundary))
    error_message = "The ARN of a policy."
  }
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
