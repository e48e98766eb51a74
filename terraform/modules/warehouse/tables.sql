CREATE TABLE IF NOT EXISTS public.employee (
  employeeid VARCHAR(16), name VARCHAR(128), department VARCHAR(64), role VARCHAR(64), hiredate DATE,
  salary DECIMAL(12, 2), performancerating DECIMAL(4, 2), shift VARCHAR(32), location VARCHAR(64)
);
CREATE TABLE IF NOT EXISTS public.absent (
  employeeid VARCHAR(16), date DATE, shiftstart VARCHAR(16), shiftend VARCHAR(16), absent VARCHAR(8), overtimehours DECIMAL(6, 2)
);
COPY public.employee FROM 's3://${raw}/csv/employees.csv' IAM_ROLE DEFAULT CSV IGNOREHEADER 1;
COPY public.absent FROM 's3://${raw}/csv/attendance.csv' IAM_ROLE DEFAULT CSV IGNOREHEADER 1;
CREATE TABLE public.employeewithabsent AS
SELECT e.*, a.absent, a.overtimehours FROM public.employee e INNER JOIN public.absent a ON e.employeeid = a.employeeid;
