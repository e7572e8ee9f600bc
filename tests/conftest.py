"""The fixtures that every test may ask for: databases of both kinds."""

from tests.databases import (
    database_url,
    empty_postgresql_url,
    empty_sqlite_url,
    empty_url,
    migrated_file,
    postgres_server,
    postgresql_url,
    sqlite_url,
)

__all__ = [
    "database_url",
    "empty_postgresql_url",
    "empty_sqlite_url",
    "empty_url",
    "migrated_file",
    "postgres_server",
    "postgresql_url",
    "sqlite_url",
]
