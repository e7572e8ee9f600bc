"""Runs the steps of `migrations/` through alembic, in the caller's transaction. It opens no connection and takes no lock.

Imported only where there is a step to take: alembic and what it brings along are a tenth of a start.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def upgrade(connection: Connection) -> None:
    """Take every step that this database has not taken."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def newest() -> str | None:
    """The last step."""
    return _scripts().get_current_head()


def steps() -> frozenset[str]:
    """Every step that this version knows."""
    return frozenset(script.revision for script in _scripts().walk_revisions())


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    return config
