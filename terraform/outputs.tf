output "url" {
  description = "Where the page is, and where jobs report to (/producer, /api/v1/lineage). Null without the service."
  value       = var.service == null ? null : "https://${var.domain_name}"
}

output "load_balancer_dns_name" {
  description = "The target of domain_name in DNS within your networks. Null without the service."
  value       = one(module.service[*].load_balancer.dns_name)
}

output "page_dns_name" {
  description = "The target of the page's name in DNS for people outside your networks. Null: the page is not public."
  value       = one(module.page[*].dns_name)
}

output "key_secret_arns" {
  description = "Secrets with the API keys, once the task setup has run: admin, producer, metrics."
  value       = module.setup.key_secret_arns
}

output "repository_url" {
  description = "Where to push the image."
  value       = module.setup.repository.url
}

output "buckets" {
  description = "Buckets of large bodies (state) and of payloads on their way in (uploads)."
  value       = { state = module.bodies.state.bucket, uploads = module.bodies.uploads.bucket }
}

output "load_role_arn" {
  description = "Role for headwater-pipeline load-neptune --role; null without a bucket to load from."
  value       = module.graph.load_role_arn
}

output "gateway" {
  description = "The gateway: its address, the ARN for policies of callers that sign (execute-api:Invoke), and for other accounts the role to assume. Null: none."
  value       = one([for gateway in module.gateway : { url = gateway.url, execution_arn = gateway.execution_arn, caller_role_arns = gateway.caller_role_arns }])
}

output "queue_gateway" {
  description = "The gateway of the queue road, the same. Null: none."
  value       = one([for gateway in module.queue_gateway : { url = gateway.url, execution_arn = gateway.execution_arn, caller_role_arns = gateway.caller_role_arns }])
}

output "dead_letter_queues" {
  description = "Queue => ARNs to bring messages back with: aws sqs start-message-move-task --source-arn dead --destination-arn queue."
  value       = var.functions == null ? {} : { for name, queue in module.queues[0].queues : name => { dead = queue.dead_arn, queue = queue.arn } }
}

output "producers" {
  description = "For other accounts: the endpoint service to connect to, for each account the secret with its API key, and the KMS key of those. Null: none."
  value       = one([for capture in module.capture : { endpoint_service_name = capture.endpoint_service_name, endpoint_service_id = capture.endpoint_service_id, secret_arns = capture.secret_arns, key_arn = capture.key_arn }])
}

output "lake" {
  description = "The example's lake: buckets, database, workflow, the text of the jobs' --conf, and EMR Serverless. Null: none."
  value       = one([for lake in module.lake : { buckets = lake.buckets, database = lake.database, workflow = lake.workflow, conf = lake.conf, emr = lake.emr }])
}

output "employees" {
  description = "The employees' example: endpoint of its database, workgroup of its warehouse, Airflow's environment and page, statements that make the tables. Null where a part is not there."
  value = {
    database_endpoint     = one(module.employees[*].endpoint)
    database_secret_arn   = one(module.employees[*].owner_secret_arn)
    database_sql          = one(module.employees[*].table_sql)
    warehouse_workgroup   = one(module.warehouse[*].workgroup_name)
    warehouse_secret_arn  = one(module.warehouse[*].owner_secret_arn)
    warehouse_sql         = one(module.warehouse[*].tables_sql)
    airflow_environment   = one(module.workflows[*].environment)
    airflow_webserver_url = one(module.workflows[*].webserver_url)
  }
}

output "notebook" {
  description = "The notebook instance, and where its packages belong. Null: none."
  value       = one([for notebook in module.notebook : { name = notebook.name, wheels = notebook.wheels }])
}

output "alarm_topic_arn" {
  description = "Topic that every alarm is sent to."
  value       = module.observability.topic_arn
}

output "dashboard" {
  description = "Name of the dashboard in CloudWatch."
  value       = module.observability.dashboard
}

locals {
  region = data.aws_region.current.region

  steps = concat(
    [
      <<-TEXT
      Push the image (docs/deploy-aws.md):
           aws ecr get-login-password --region ${local.region} | docker login --username AWS --password-stdin ${split("/", module.setup.repository.url)[0]}
           docker push ${module.setup.repository.url}:${var.image_tag}
      TEXT
      ,
      <<-TEXT
      Make the database user and the API keys, which go into their secrets; the service does not start without:
           aws ecs run-task --region ${local.region} --cluster ${module.setup.cluster.name} --launch-type FARGATE \
             --task-definition ${module.setup.task_definition} \
             --network-configuration 'awsvpcConfiguration={subnets=[${join(",", module.network.subnet_ids)}],securityGroups=[${module.setup.security_group_id}],assignPublicIp=DISABLED}'
      TEXT
    ],
    [for service in module.service : <<-TEXT
      Start the service:
           aws ecs update-service --region ${local.region} --cluster ${module.setup.cluster.name} --service ${service.service_name} --force-new-deployment
      TEXT
    ],
    [for service in module.service : <<-TEXT
      In this network ${var.domain_name} is known. In those of your clients, point it to ${service.load_balancer.dns_name}. Ask it from there:
           curl https://${var.domain_name}/health/ready
      TEXT
    ],
    [for page in module.page : <<-TEXT
      For people outside, point ${coalesce(var.page.domain_name, var.domain_name)} in public DNS to ${page.dns_name}.
      TEXT
    ],
    [for gateway in module.gateway : <<-TEXT
      Send a request to the gateway (signed, or with the token or key that it requires), for example with the key of a producer:
           curl -I -H "X-API-Key: $HEADWATER_API_KEY" ${gateway.url}/producer/status
      TEXT
    ],
    [for gateway in module.queue_gateway : <<-TEXT
      Point OpenLineage clients that know an address alone to the queue road:
           {"type": "http", "url": "${gateway.url}", "endpoint": "api/v1/lineage"}
      TEXT
    ],
    [<<-TEXT
      Let a job report:
           export HEADWATER_API_KEY=$(aws secretsmanager get-secret-value --region ${local.region} --secret-id ${module.setup.key_secret_arns["producer"]} --query SecretString --output text)
           headwater config glue --url ${var.service == null ? try(module.gateway[0].url, "https://your-gateway") : "https://${var.domain_name}"} --api-key
      TEXT
    ],
    [for lake in module.lake : <<-TEXT
      Run the example's jobs, which report by themselves:
           aws glue start-workflow-run --region ${local.region} --name ${lake.workflow}
      TEXT
    ],
    [for notebook in module.notebook : <<-TEXT
      Bring the packages of the notebook into its bucket, then start it again:
           pip download graph-notebook==${var.notebook.graph_notebook_version} --dest wheels && aws s3 cp wheels ${notebook.wheels} --recursive
      TEXT
    ],
  )
}

output "next_steps" {
  description = "The steps after the first apply, in order."
  value       = join("", [for index, step in local.steps : "${index + 1}. ${step}"])
}
