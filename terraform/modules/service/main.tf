# The service on ECS Fargate. Its tasks are equal: each takes documents and answers; one at a time, by a
# lock in the database, projects them into the graph.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region
}

resource "aws_security_group" "service" {
  name        = "${var.name}-service"
  description = "Tasks of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-service" }
}

resource "aws_ecs_service" "this" {
  name             = var.name
  cluster          = var.cluster.arn
  task_definition  = aws_ecs_task_definition.service.arn
  launch_type      = "FARGATE"
  platform_version = "LATEST"
  desired_count    = var.tasks.min

  availability_zone_rebalancing      = "ENABLED"
  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200
  health_check_grace_period_seconds  = 120
  enable_execute_command             = false
  enable_ecs_managed_tags            = true
  propagate_tags                     = "SERVICE"

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets          = var.subnet_ids
    security_groups  = [aws_security_group.service.id]
    assign_public_ip = false
  }

  load_balancer {
    target_group_arn = aws_lb_target_group.this.arn
    container_name   = "headwater"
    container_port   = local.port
  }

  # The number of tasks is the autoscaling's.
  lifecycle {
    ignore_changes = [desired_count]
  }

  depends_on = [aws_lb_listener.this, aws_iam_role_policy.execution, aws_iam_role_policy.service]
}

# --- more and fewer tasks ------------------------------------------------------------------------------

resource "aws_appautoscaling_target" "this" {
  service_namespace  = "ecs"
  scalable_dimension = "ecs:service:DesiredCount"
  resource_id        = "service/${var.cluster.name}/${aws_ecs_service.this.name}"
  min_capacity       = var.tasks.min
  max_capacity       = var.tasks.max
}

resource "aws_appautoscaling_policy" "cpu" {
  name               = "${var.name}-cpu"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this.service_namespace
  scalable_dimension = aws_appautoscaling_target.this.scalable_dimension
  resource_id        = aws_appautoscaling_target.this.resource_id

  target_tracking_scaling_policy_configuration {
    target_value       = 60
    scale_in_cooldown  = 300
    scale_out_cooldown = 60

    predefined_metric_specification {
      predefined_metric_type = "ECSServiceAverageCPUUtilization"
    }
  }
}
