output "next_steps" {
  description = "The steps after the first apply, in order."
  value       = module.headwater.next_steps
}

output "next_steps_of_domain" {
  description = "The remaining steps in the account of the jobs."
  value       = module.producer.next_steps
}
