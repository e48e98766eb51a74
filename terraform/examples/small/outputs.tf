output "next_steps" {
  description = "The steps after the first apply, in order."
  value       = module.headwater.next_steps
}
