output "queues" {
  description = "Queue => its address, ARN and name, and those of its dead-letter queue: projection, events, uploads."
  value = {
    for name, queue in aws_sqs_queue.this : name => {
      url       = queue.url
      arn       = queue.arn
      name      = queue.name
      dead_url  = aws_sqs_queue.dead[name].url
      dead_arn  = aws_sqs_queue.dead[name].arn
      dead_name = aws_sqs_queue.dead[name].name
    }
  }
}
