CREATE TABLE IF NOT EXISTS employee (
  EmployeeID LONGTEXT, Name LONGTEXT, Department LONGTEXT, Role LONGTEXT, HireDate LONGTEXT,
  Salary LONGTEXT, PerformanceRating LONGTEXT, Shift LONGTEXT, Location LONGTEXT
);
INSERT INTO employee VALUES
  ('E1000', 'Ada Winter', 'Finance', 'Analyst', '2019-11-17', '6350.00', '4.2', 'Day', 'Harbour'),
  ('E1001', 'Ben Okoro', 'Research', 'Engineer', '2022-04-09', '6500.00', '3.9', 'Day', 'Hill'),
  ('E1002', 'Cleo Maas', 'Research', 'Engineer', '2023-01-23', '6100.00', '4.6', 'Night', 'Hill'),
  ('E1003', 'Dan Ruiz', 'Operations', 'Planner', '2020-08-03', '5200.00', '3.4', 'Night', 'Harbour');
