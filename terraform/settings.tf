# The settings that the service, the functions and the task setup share. A name that is not a setting stops the start.

locals {
  # File in the image with the authorities of RDS; the service verifies the certificate of the database with it.
  certificates = "/etc/ssl/certs/rds-global-bundle.pem"

  # It has no password: it signs in with tokens of IAM, a fresh one for each connection.
  database_user = "headwater"

  settings = {
    HEADWATER_DATABASE        = "postgresql://${local.database_user}@${module.journal.host}:${module.journal.port}/${module.journal.database}?sslmode=verify-full&sslrootcert=${local.certificates}"
    HEADWATER_DATABASE_IAM    = "true"
    HEADWATER_GREMLIN_URL     = module.graph.url
    HEADWATER_GREMLIN_DIALECT = "neptune"
    HEADWATER_GREMLIN_SIGNED  = "true"
    HEADWATER_BODIES          = "s3://${module.bodies.state.bucket}/${module.bodies.state.prefix}"
    HEADWATER_BODIES_ABOVE    = tostring(var.bodies_above)
    HEADWATER_KEEP            = var.keep
    HEADWATER_GRAPH_RUNS      = var.graph_runs
    HEADWATER_LOG_FORMAT      = "json"
  }
}
