# A notebook instance with graph-notebook beside the graph: for queries of Neptune by hand. It may read the graph,
# not change it, and has no way to the internet: its packages come from the bucket of code.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region

  # The folder of the bucket in which the instance looks for its files.
  wheels    = "notebook/wheels"
  notebooks = "notebook/notebooks"

  # The settings that graph-notebook reads from ~/graph_notebook_config.json.
  configuration = {
    host                  = var.graph.host
    port                  = var.graph.port
    neptune_service       = "neptune-db"
    auth_mode             = "IAM"
    aws_region            = local.region
    load_from_s3_arn      = ""
    ssl                   = true
    ssl_verify            = true
    neptune_host_override = ""
    gremlin               = { traversal_source = "g", message_serializer = "graphsonv3" }
  }

  start = templatefile("${path.module}/start.sh", {
    wheels        = "s3://${var.code.bucket}/${local.wheels}"
    notebooks     = "s3://${var.code.bucket}/${local.notebooks}"
    version       = var.graph_notebook_version
    region        = local.region
    configuration = jsonencode(local.configuration)
  })
}

resource "aws_security_group" "this" {
  name        = "${var.name}-notebook"
  description = "Notebook instance of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-notebook" }
}

resource "aws_sagemaker_notebook_instance_lifecycle_configuration" "this" {
  name     = var.name
  on_start = base64encode(local.start)
}

resource "aws_sagemaker_notebook_instance" "this" {
  name                   = var.name
  instance_type          = var.instance_type
  platform_identifier    = "notebook-al2023-v1"
  role_arn               = aws_iam_role.this.arn
  subnet_id              = var.subnet_id
  security_groups        = [aws_security_group.this.id]
  direct_internet_access = "Disabled"
  root_access            = "Disabled"
  kms_key_id             = var.key_arn
  volume_size            = 10
  lifecycle_config_name  = aws_sagemaker_notebook_instance_lifecycle_configuration.this.name

  instance_metadata_service_configuration {
    minimum_instance_metadata_service_version = "2"
  }

  depends_on = [aws_iam_role_policy.this]
}

# The recipes of this repository, where it has them.
resource "aws_s3_object" "recipe" {
  for_each = fileset("${path.module}/../../../notebooks", "*.ipynb")

  bucket      = var.code.bucket
  key         = "${local.notebooks}/${each.key}"
  source      = "${path.module}/../../../notebooks/${each.key}"
  source_hash = filesha256("${path.module}/../../../notebooks/${each.key}")
}

# --- its permissions --------------------------------------------------------------------------------------

resource "aws_iam_role" "this" {
  name                 = "${var.name}-notebook"
  description          = "Permissions of the notebook instance: read the graph, and its own packages"
  permissions_boundary = var.permissions_boundary

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "sagemaker.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "this" {
  name = "read-graph"
  role = aws_iam_role.this.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AskTheGraph"
        Effect    = "Allow"
        Action    = ["neptune-db:ReadDataViaQuery", "neptune-db:GetQueryStatus", "neptune-db:CancelQuery"]
        Resource  = "arn:${local.partition}:neptune-db:${local.region}:${local.account}:${var.graph.cluster_resource_id}/*"
        Condition = { StringEquals = { "neptune-db:QueryLanguage" = "Gremlin" } }
      },
      {
        Sid      = "LookAtTheEngine"
        Effect   = "Allow"
        Action   = ["neptune-db:GetEngineStatus", "neptune-db:GetGraphSummary", "neptune-db:GetLoaderJobStatus", "neptune-db:ListLoaderJobs"]
        Resource = "arn:${local.partition}:neptune-db:${local.region}:${local.account}:${var.graph.cluster_resource_id}/*"
      },
      {
        Sid       = "ListPackagesAndRecipes"
        Effect    = "Allow"
        Action    = "s3:ListBucket"
        Resource  = var.code.bucket_arn
        Condition = { StringLike = { "s3:prefix" = "notebook/*" } }
      },
      {
        Sid      = "ReadPackagesAndRecipes"
        Effect   = "Allow"
        Action   = "s3:GetObject"
        Resource = "${var.code.bucket_arn}/notebook/*"
      },
      {
        Sid       = "DecryptThem"
        Effect    = "Allow"
        Action    = "kms:Decrypt"
        Resource  = var.key_arn
        Condition = { StringEquals = { "kms:ViaService" = "s3.${local.region}.amazonaws.com" } }
      },
      {
        Sid      = "Logs"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "arn:${local.partition}:logs:${local.region}:${local.account}:log-group:/aws/sagemaker/NotebookInstances:*"
      },
    ]
  })
}
