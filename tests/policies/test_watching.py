"""A policies file while it is edited."""

import os
from pathlib import Path

import pytest

from bot.incidents.keys import JobKey
from bot.policies import PolicyError, PolicyFile, Reload

JOB = JobKey(scheduler="cron", name="load")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "policies.yaml"
    path.write_text("version: 1\ndefaults: {open_after: 2}\n")
    return path


def replace(path: Path, text: str | bytes) -> None:
    """Put a new file in place, as editors do; each has an inode of its own."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.replace(fresh, path)


def test_an_untouched_file_is_not_loaded_again(path: Path) -> None:
    file = PolicyFile(path, env={})
    first = file.current

    assert file.reload_if_changed() == Reload(changed=False)
    assert file.current is first


def test_a_good_edit_holds(path: Path) -> None:
    file = PolicyFile(path, env={})
    replace(path, "version: 1\ndefaults: {open_after: 3}\n")

    assert file.reload_if_changed() == Reload(changed=True)
    assert file.current.job(JOB).open_after == 3


def test_a_bad_edit_is_refused_with_all_its_errors_and_the_last_good_file_stays(path: Path) -> None:
    file = PolicyFile(path, env={})
    first = file.current
    replace(path, "version: 1\ndefaults: {open_after: 0, mode: off}\n")

    refused = file.reload_if_changed()

    assert not refused.changed
    assert [problem.path for problem in refused.problems] == ["defaults.open_after", "defaults.mode"]
    assert file.current is first
    assert file.problems == refused.problems


def test_a_bad_edit_is_told_once_and_its_repair_clears_it(path: Path) -> None:
    file = PolicyFile(path, env={})
    good = path.read_bytes()
    replace(path, "version: [")
    file.reload_if_changed()

    assert file.reload_if_changed() == Reload(changed=False)
    assert file.problems

    replace(path, good)

    assert file.reload_if_changed() == Reload(changed=False)
    assert file.problems == ()


def test_a_file_that_went_away_is_a_bad_edit(path: Path) -> None:
    file = PolicyFile(path, env={})
    path.unlink()

    (problem,) = file.reload_if_changed().problems

    assert problem.message == "the file cannot be read: No such file or directory"
    assert file.current.job(JOB).open_after == 2


def test_a_file_must_be_good_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="the file cannot be read"):
        PolicyFile(tmp_path / "none.yaml", env={})


def test_bytes_that_are_no_text_are_told_with_their_place(path: Path) -> None:
    replace(path, b"version: 1\n# caf\xe9\n")

    with pytest.raises(PolicyError) as refused:
        PolicyFile(path, env={})

    assert str(refused.value) == "2:6: the file is not UTF-8 here"
