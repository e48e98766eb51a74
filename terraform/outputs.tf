output "url" {
  description = "Where the page is, and where jobs report to (/producer, /api/v1/lineage)."
  value       = "https://${var.domain_name}"
}

output "load_balancer_dns_name" {
  description = "What domain_name must point to."
  value       = module.service.load_balancer.dns_name
}

output "key_secret_arns" {
  description = "Secrets with the API keys, once the task keys has run: admin, producer, metrics."
  value       = module.service.key_secret_arns
}

output "repository_url" {
  description = "Where to push the image."
  value       = module.service.repository_url
}

output "load_role_arn" {
  description = "Role for headwater-pipeline load-neptune --role; null without a bucket to load from."
  value       = module.graph.load_role_arn
}

output "gateway" {
  description = "The gateway: its address, and the ARN for policies of callers that sign (execute-api:Invoke). Null: none."
  value       = one([for gateway in module.gateway : { url = gateway.url, execution_arn = gateway.execution_arn }])
}

output "producers" {
  description = "For other accounts: the endpoint service to connect to, and for each account the secret with its API key. Null: none."
  value       = one([for capture in module.capture : { endpoint_service_name = capture.endpoint_service_name, secret_arns = capture.secret_arns }])
}

output "lake" {
  description = "The example's lake: buckets, database, workflow, and what stands in the jobs' --conf. Null: none."
  value       = one([for lake in module.lake : { buckets = lake.buckets, database = lake.database, workflow = lake.workflow, conf = lake.conf }])
}

output "alarm_topic_arn" {
  description = "Topic that every alarm is sent to."
  value       = module.observability.topic_arn
}

output "dashboard" {
  description = "Name of the dashboard in CloudWatch."
  value       = module.observability.dashboard
}

output "next_steps" {
  description = "What to do after the first apply, in order."
  value       = <<-TEXT
    1. Push the image:
         docker push ${module.service.repository_url}:${var.image_tag}
    2. Make the API keys, which go into their secrets; the service does not start without:
         aws ecs run-task --region ${data.aws_region.current.region} --cluster ${module.service.cluster_name} --launch-type FARGATE \
           --task-definition ${module.service.keys_task_definition} \
           --network-configuration 'awsvpcConfiguration={subnets=[${join(",", module.network.subnet_ids)}],securityGroups=[${module.service.security_group_id}],assignPublicIp=DISABLED}'
    3. Start the service:
         aws ecs update-service --region ${data.aws_region.current.region} --cluster ${module.service.cluster_name} --service ${module.service.service_name} --force-new-deployment
    4. In this network ${var.domain_name} is known. In those of your clients, point it to ${module.service.load_balancer.dns_name}.
    5. Ask it, from a network that reaches it:
         curl https://${var.domain_name}/health/ready
    6. Let a job report:
         export HEADWATER_API_KEY=$(aws secretsmanager get-secret-value --region ${data.aws_region.current.region} --secret-id ${module.service.key_secret_arns["producer"]} --query SecretString --output text)
         headwater config glue --url https://${var.domain_name} --api-key
    %{if var.lake != null~}
    7. Run the example's jobs, which report by themselves:
         aws glue start-workflow-run --region ${data.aws_region.current.region} --name ${module.lake[0].workflow}
    %{endif~}
  TEXT
}
