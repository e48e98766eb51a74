output "key_arn" {
  description = "ARN of the key. It is known only after the key's policy is in force, so that nothing uses the key earlier."
  value       = aws_kms_key.this.arn
  depends_on  = [aws_kms_key_policy.this]
}
