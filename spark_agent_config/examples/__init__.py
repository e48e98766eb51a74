"""A small pipeline in PySpark: jobs that report their lineage.

Each job is a file with a ``NAME`` and one function ``run(spark, lake)``; ``lake`` says where its
data lies, starts Spark for it, and fills the database that it reads from.
``spark_agent_config.demo`` runs ``curate_employees``, ``load_attendance``, ``report_managers``,
``export_payroll`` and ``rank_absences``:

    employees (JDBC) ─┐
    salaries (CSV) ───┼─> curate_employees ─> curated/employees ─┬─> report_managers ─> reports/managers ─┐
    departments (CSV)─┘                                          ├─> export_payroll (fails on purpose)    │
    attendance (CSV) ────────────────────────────────────────────┴─> load_attendance                      │
                                                                       └─> attendance_with_emp1 ──────────┴─> rank_absences
"""  # noqa: E501 (a picture)
