"""The lock files are exact, hashed and name no host; what is asked for is what is locked."""

import re

import pytest

from tests.house.tree import ROOT

LOCKS = ("requirements/runtime.txt", "requirements/dev.txt")
PINNED = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>[^\s;]+)(?: ; [^\\]+)?(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)"
)
ASKED = re.compile(r"(?P<name>[A-Za-z0-9-]+)(?:\[[a-z,]+\])?(?:==(?P<version>\S+))?")


def statements(lock: str) -> list[str]:
    """The requirements of a lock file, one a line, continuation lines joined."""
    joined = re.sub(r"\s*\\\n\s*", " ", (ROOT / lock).read_text(encoding="utf-8"))
    return [line.strip() for line in joined.splitlines() if line.strip()]


def versions(lock: str) -> dict[str, str]:
    found = [PINNED.fullmatch(line) for line in statements(lock)]
    return {match["name"]: match["version"] for match in found if match}


def asked(inputs: str) -> dict[str, str | None]:
    lines = (ROOT / inputs).read_text(encoding="utf-8").splitlines()
    found = [ASKED.fullmatch(line) for line in lines if line and not line.startswith(("#", "-"))]
    assert all(found), f"{inputs} holds a line that is no requirement"
    return {match["name"].lower(): match["version"] for match in found if match}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_exact_and_hashed(lock: str) -> None:
    assert statements(lock)
    assert [line for line in statements(lock) if not PINNED.fullmatch(line)] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_host(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")

    assert re.findall(r"\S*(?:://|\bfile:|--index|--extra-index|--find-links|--trusted-host|@ )\S*", text) == []


@pytest.mark.parametrize("name", ["runtime", "dev"])
def test_what_is_asked_for_is_locked(name: str) -> None:
    locked = versions(f"requirements/{name}.txt")

    for package, version in asked(f"requirements/{name}.in").items():
        assert package in locked
        assert version in (None, locked[package])


def test_the_service_and_its_tests_run_on_the_same_versions() -> None:
    assert versions("requirements/runtime.txt").items() <= versions("requirements/dev.txt").items()
