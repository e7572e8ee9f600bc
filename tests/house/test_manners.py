"""What must not stand in any file, and how long a file may be; it judges nothing that a linter can judge."""

import re
from pathlib import Path

import pytest

from tests.house.tree import ROOT, files_of_the_project, python_files

LONGEST = 350
MACHINE_PATHS = re.compile(
    r"(?<![\w.])/(?:work/(?:main|shared|\.\w)|tmp/(?:brief|bash_jobs)|opt/(?:pypi|wheels)|root/\.pyenv|Users/\w)"
)
REGISTRY_HOSTS = re.compile(
    r"\b(?:(?:[\w-]+\.)?pypi\.org|(?:[\w-]+\.)?pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com"
    r"|(?:static\.|index\.)?crates\.io|proxy\.golang\.org|repo1?\.maven\.org|rubygems\.org|conda\.anaconda\.org)\b"
    r"|\b[\w.-]*(?:artifactory|jfrog)[\w.-]*\.\w{2,}\b"
)


def findings(pattern: re.Pattern[str]) -> list[str]:
    """`file:line: what` for everything that `pattern` finds in the project's text files."""
    return [
        f"{name}:{number}: {found[0]}"
        for name in files_of_the_project()
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8", errors="replace").split("\n"), start=1)
        for found in pattern.finditer(line)
    ]


def test_no_file_names_a_path_of_one_machine() -> None:
    assert findings(MACHINE_PATHS) == []


def test_no_file_names_a_package_registry() -> None:
    assert findings(REGISTRY_HOSTS) == []


@pytest.mark.parametrize("parts", [("", "work", "main"), ("", "opt", "wheels"), ("see ", "Users", "ana")])
def test_a_path_of_one_machine_would_be_seen(parts: tuple[str, ...]) -> None:
    assert MACHINE_PATHS.search("/".join(parts))


@pytest.mark.parametrize("parts", [("files", "pythonhosted", "org"), ("pypi", "org"), ("me", "jfrog", "io")])
def test_a_package_registry_would_be_seen(parts: tuple[str, ...]) -> None:
    assert REGISTRY_HOSTS.search(f"https://{'.'.join(parts)}/simple")


def lines_of(name: Path) -> int:
    return (ROOT / name).read_text(encoding="utf-8").count("\n")


def test_no_python_file_is_too_long_to_hold_one_idea() -> None:
    lengths = {str(name): lines_of(name) for name in python_files() if "migrations" not in name.parts}

    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_every_python_file_is_seen() -> None:
    assert Path(__file__).relative_to(ROOT) in python_files()
    assert Path("bot/incidents/__init__.py") in python_files()
