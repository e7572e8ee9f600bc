"""The last step of the migrations is known without alembic, which a start that has no step to take does not load."""

import subprocess
import sys
from pathlib import Path

from storage.migrating import HEAD
from storage.upgrading import newest, steps

ROOT = Path(__file__).resolve().parents[2]
OPENS = """
import sys
from storage.migrating import migrate
from storage.opening import open_storage
url = sys.argv[1]
migrate(url)
open_storage(url, instance="here").close()
print(sorted(name for name in ("alembic", "mako") if name in sys.modules))
"""


def test_the_last_step_is_the_one_that_is_named() -> None:
    assert newest() == HEAD
    assert HEAD in steps()


def test_a_start_on_a_database_that_is_up_to_date_loads_no_alembic(database_url: str) -> None:
    started = subprocess.run(
        [sys.executable, "-c", OPENS, database_url], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )

    assert started.stdout == "[]\n"
