"""A stand-in Airflow, new for each test, and what asks and polls it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.schedulers.airflow.desk import Desk
from tests.schedulers.airflow.server import Airflow


@pytest.fixture
def airflow() -> Iterator[Airflow]:
    airflow = Airflow()
    yield airflow
    airflow.close()


@pytest.fixture
def desk(airflow: Airflow, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(airflow, tmp_path)
    yield desk
    desk.scheduler.close()
