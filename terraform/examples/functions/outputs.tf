output "next_steps" {
  description = "What to do after the first apply, in order."
  value       = module.headwater.next_steps
}
