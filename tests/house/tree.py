"""The files of the project, for the tests that read the tree; it changes none of them."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("bot", "handlers", "storage", "bench", "tests")
_NOT_OURS = {".git", ".venv", "__pycache__"}


def files_of_the_project() -> tuple[Path, ...]:
    """Every file that git holds or would take, relative to the root; all that lies there where git knows nothing."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        names = [Path(name) for name in listed.stdout.split("\0") if name]
    else:
        names = [path.relative_to(ROOT) for path in ROOT.rglob("*") if not _NOT_OURS & set(path.parts)]
    return tuple(sorted({name for name in names if (ROOT / name).is_file()}))


def python_files() -> tuple[Path, ...]:
    """The Python files of the project, relative to the root."""
    return tuple(name for name in files_of_the_project() if name.suffix == ".py")
