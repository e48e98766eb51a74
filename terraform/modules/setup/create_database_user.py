"""Makes the database user that the service signs in as, with tokens of IAM instead of a password.

It runs as the first container of the task ``setup``, as the owner of the database (``PGUSER`` and
``PGPASSWORD``, of the secret that RDS made). Run again, it changes nothing. It never grants the new
role to the owner: a member of ``rds_iam``, direct or not, has no password any more.
"""

import os
import sys

import psycopg
from psycopg import sql

#: The grants with which the service makes its own tables, in order.
RIGHTS = (
    "GRANT rds_iam TO {user}",
    "GRANT CONNECT, CREATE, TEMPORARY ON DATABASE {database} TO {user}",
    "GRANT USAGE, CREATE ON SCHEMA public TO {user}",
)


def create_user(connection: psycopg.Connection, user: str) -> bool:
    """Make the user and give the rights; whether the user is new."""
    names = {
        "user": sql.Identifier(user),
        "database": sql.Identifier(connection.info.dbname),
    }
    found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [user]).fetchone()
    if found is None:
        connection.execute(sql.SQL("CREATE USER {user} LOGIN").format(**names))
    for right in RIGHTS:
        connection.execute(sql.SQL(right).format(**names))
    return found is None


def main() -> None:
    user = os.environ["DATABASE_USER"]
    with psycopg.connect() as connection:  # one transaction
        is_new = create_user(connection, user)
    sys.stdout.write(f"user {user}: {'made' if is_new else 'was there'}\n")


if __name__ == "__main__":
    main()
