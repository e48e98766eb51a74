output "next_steps" {
  description = "What to do after the first apply, in order."
  value       = module.headwater.next_steps
}

output "next_steps_of_domain" {
  description = "What is left to do in the account of the jobs."
  value       = module.producer.next_steps
}
