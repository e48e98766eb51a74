variable "name" {
  description = "Name of the deployment, in front of every name."
  type        = string
  nullable    = false
}

variable "listener" {
  description = "HTTPS listener of the load balancer behind the gateway, with its network, and the name in its certificate, which the gateway verifies and which must be of a public authority. Null: a function is behind it."
  type        = object({ arn = string, domain_name = string, vpc_id = string, subnet_ids = list(string) })
  default     = null
}

variable "function" {
  description = "Function behind the gateway. Null: the load balancer is behind it."
  type        = object({ name = string, invoke_arn = string })
  default     = null

  validation {
    condition     = (var.function == null) != (var.listener == null)
    error_message = "Either a listener or a function."
  }
}

variable "key_arn" {
  description = "KMS key of the access log."
  type        = string
  nullable    = false
}

variable "log_days" {
  description = "How long the access log is kept, in days."
  type        = number
  nullable    = false
}

variable "authorization" {
  description = "The permitted callers: AWS_IAM (signed requests), JWT (a token in the header that token_header names), or KEY (API keys of Headwater). The service and the function accept want an API key in any case."
  type        = string
  nullable    = false

  validation {
    condition     = contains(["AWS_IAM", "JWT", "KEY"], var.authorization)
    error_message = "AWS_IAM, JWT or KEY."
  }
}

variable "jwt" {
  description = "With JWT: the issuer of the tokens (https://) and the audiences that are taken."
  type        = object({ issuer = string, audience = list(string) })
  default     = null

  validation {
    condition     = var.authorization != "JWT" || try(startswith(var.jwt.issuer, "https://") && length(var.jwt.audience) > 0, false)
    error_message = "With JWT an issuer (https://) and at least one audience are needed."
  }
}

variable "token_header" {
  description = "With JWT: the header that brings the token. Authorization is taken where an API key of Headwater comes along."
  type        = string
  default     = "X-Gateway-Token"
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z][A-Za-z0-9-]*$", var.token_header))
    error_message = "The name of a header."
  }
}

variable "key_secret_arns" {
  description = "With KEY, where nobody behind the gateway checks keys: name => secret with an API key that may come in, as Authorization: Bearer. Empty: the service or function behind the gateway checks."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "secrets_key_arn" {
  description = "KMS key of those secrets that are not encrypted with key_arn. Null: there are none."
  type        = string
  default     = null
}

variable "callers" {
  description = "With AWS_IAM, programs of other accounts: account id => ARNs of their roles, which may assume a role that calls the gateway."
  type        = map(list(string))
  default     = {}
  nullable    = false

  validation {
    condition = alltrue([
      for account, arns in var.callers :
      can(regex("^[0-9]{12}$", account)) && length(arns) > 0 && alltrue([for arn in arns : can(regex("^arn:[a-z-]+:iam::${account}:role/[^*]+$", arn))])
    ])
    error_message = "Each account, in twelve digits, names at least one role of its own, by its whole ARN."
  }

  validation {
    condition     = length(var.callers) == 0 || var.authorization == "AWS_IAM"
    error_message = "Roles call a gateway with AWS_IAM."
  }
}

variable "throttling" {
  description = "Requests a second for each route, and how many may come at once."
  type        = object({ rate = number, burst = number })
  nullable    = false

  validation {
    condition     = var.throttling.rate >= 1 && var.throttling.rate <= 10000 && var.throttling.burst >= 1 && var.throttling.burst <= 5000
    error_message = "rate from 1 to 10000, burst from 1 to 5000."
  }
}

variable "routes" {
  description = "Routes that pass. The default has the routes that producers need (POST /uploads for plans larger than a gateway takes); \"GET /{proxy+}\" adds the page and every question."
  type        = set(string)
  default = [
    "HEAD /producer/status",
    "GET /producer/status",
    "POST /producer/execution-plans",
    "POST /producer/execution-events",
    "POST /api/v1/lineage",
    "POST /uploads",
  ]
  nullable = false

  validation {
    condition     = length(var.routes) > 0 && alltrue([for route in var.routes : can(regex("^(GET|HEAD|POST|PUT|DELETE|ANY) /", route))])
    error_message = "Routes such as \"POST /api/v1/lineage\"; not $default."
  }
}

variable "permissions_boundary" {
  description = "Policy that bounds the roles made here, by its ARN. Null: none."
  type        = string
  default     = null
}
