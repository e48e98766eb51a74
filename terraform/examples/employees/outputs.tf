output "next_steps" {
  description = "The steps after the first apply, in order."
  value       = module.headwater.next_steps
}

output "url" {
  description = "The page, and where jobs report to."
  value       = module.headwater.url
}

output "database_endpoint" {
  description = "The HR database, for jdbc:mysql://."
  value       = module.headwater.employees.database_endpoint
}

output "database_sql" {
  description = "Statements that make and fill employeedb.employee."
  value       = module.headwater.employees.database_sql
}

output "warehouse_workgroup_name" {
  description = "Workgroup of Redshift Serverless."
  value       = module.headwater.employees.warehouse_workgroup
}

output "warehouse_sql" {
  description = "Statements that make and fill the tables of the warehouse."
  value       = module.headwater.employees.warehouse_sql
}

output "airflow_webserver_url" {
  description = "Airflow's page, within the network."
  value       = module.headwater.employees.airflow_webserver_url
}

output "emr_start_job_run" {
  description = "Command that runs one of the jobs on EMR Serverless."
  value       = module.headwater.lake.emr.start_job_run
}
