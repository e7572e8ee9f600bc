"""A short run of what `make torture` does at length: kills at random moments under load."""

from pathlib import Path

import pytest

from tests.kills.rest import BOUND
from tests.kills.torture import SPLIT, torture


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_at_random_moments_under_load_nothing_is_lost_and_nothing_doubled(
    empty_url: str, tmp_path: Path
) -> None:
    figure = torture(empty_url, tmp_path, kills=20, seed=7)

    assert figure["problems"] == []
    assert figure["kills"] >= 20
    assert figure["occurrences"] > 0
    assert figure["reruns"] > 0
    assert figure["longest_backlog_seconds"] < BOUND


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_web_worker_and_clock_killed_one_by_one_lose_nothing_and_double_nothing(
    empty_postgresql_url: str, tmp_path: Path
) -> None:
    figure = torture(empty_postgresql_url, tmp_path, kills=6, seed=7, roles=SPLIT)

    assert figure["problems"] == []
    assert figure["kills"] >= 6
    assert figure["occurrences"] > 0
    assert figure["reruns"] > 0
    assert figure["longest_backlog_seconds"] < BOUND
