"""The import contracts of pyproject.toml hold, and each would notice a breach; it repeats no contract."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
NEEDS_THE_WORLD = {
    *("asyncio", "concurrent", "ctypes", "fcntl", "glob", "http", "io", "logging", "mmap", "multiprocessing", "os"),
    *("pathlib", "random", "secrets", "select", "shutil", "signal", "smtplib", "socket", "sqlite3", "ssl"),
    *("subprocess", "sys", "tempfile", "threading", "time", "urllib", "warnings"),
}


def lint_imports(tree: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    chosen = [argument for contract in contracts for argument in ("--contract", contract)]
    return subprocess.run(
        [LINT_IMPORTS, "--no-logo", "--no-cache", *chosen],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )


def test_imports_keep_every_contract() -> None:
    result = lint_imports(ROOT)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """A tree of empty packages under the project's own contracts."""
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for package in ("bot", "bot/incidents", "bot/evidence", "bot/adapters", "bot/schedulers", "handlers", "storage"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    return tmp_path


def test_an_honest_tree_passes(small_tree: Path) -> None:
    (small_tree / "bot/adapters/slack.py").write_text("import httpx\n")
    (small_tree / "storage/tables.py").write_text("import sqlalchemy\n")
    (small_tree / "bot/compose.py").write_text("import storage.tables\n")

    result = lint_imports(small_tree)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("contract", "module", "source"),
    [
        pytest.param("layers", "bot/incidents/decide.py", "import bot.evidence", id="the core reads evidence"),
        pytest.param("layers", "storage/reads.py", "import handlers", id="storage knows a door"),
        pytest.param("layers", "storage/reads.py", "import bot.adapters", id="storage knows an adapter"),
        pytest.param("listed", "bot/helpers.py", "", id="a module without a layer"),
        pytest.param("core", "bot/incidents/policy.py", "import yaml", id="the core reads YAML"),
        pytest.param("sql", "handlers/events.py", "from sqlalchemy import select", id="a door speaks SQL"),
        pytest.param("sql", "bot/intake.py", "import sqlalchemy.engine", id="a use case speaks SQL"),
        pytest.param("http", "bot/intake.py", "import httpx", id="a use case calls out"),
        pytest.param("http", "handlers/pages.py", "from httpx import Client", id="a door calls out"),
    ],
)
def test_a_breach_is_noticed(small_tree: Path, contract: str, module: str, source: str) -> None:
    (small_tree / module).write_text(f"{source}\n")

    result = lint_imports(small_tree, contract)

    assert result.returncode == 1, result.stdout + result.stderr
    assert "1 broken" in result.stdout


def imported_by(source: str) -> set[str]:
    """The top-level modules that `source` imports, wherever in it the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def beyond_the_core(source: str) -> set[str]:
    """What `source` imports that the core may not: third parties, the rest of ours, the clock and the outside world."""
    allowed = sys.stdlib_module_names - NEEDS_THE_WORLD
    return {
        name
        for name in imported_by(source)
        if name.partition(".")[0] not in allowed and not f"{name}.".startswith("bot.incidents.")
    }


@pytest.mark.parametrize("path", sorted((ROOT / "bot/incidents").rglob("*.py")), ids=lambda path: path.name)
def test_the_core_imports_the_standard_library_only(path: Path) -> None:
    assert beyond_the_core(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import yaml", {"yaml"}),
        ("def late():\n    from sqlalchemy import text", {"sqlalchemy"}),
        ("from bot.evidence.types import Cause", {"bot.evidence.types"}),
        ("from . import model", {"."}),
        ("import time, os.path", {"time", "os.path"}),
        ("from datetime import datetime\nfrom bot.incidents.keys import JobKey", set()),
    ],
)
def test_the_core_check_sees_what_it_should(source: str, found: set[str]) -> None:
    assert beyond_the_core(source) == found
