"""One storage a test, on each database that is served; the databases are real and temporary."""

from collections.abc import Callable, Iterator

import pytest

from storage.opening import SqlStorage, open_storage

Open = Callable[..., SqlStorage]
OpenNamed = Callable[[str], SqlStorage]


@pytest.fixture
def open_again(database_url: str) -> Iterator[Open]:
    """Opens the database, as often as a test wants; everything is closed at the end."""
    opened: list[SqlStorage] = []

    def opens(*, instance: str = "web", read_only: bool = False) -> SqlStorage:
        opened.append(open_storage(database_url, instance=instance, read_only=read_only))
        return opened[-1]

    yield opens
    for one in opened:
        one.close()


@pytest.fixture
def storage(open_again: Open) -> SqlStorage:
    return open_again()


@pytest.fixture
def process(postgresql_url: str) -> Iterator[OpenNamed]:
    """Storages of as many processes as a test wants."""
    opened: list[SqlStorage] = []

    def opens(instance: str) -> SqlStorage:
        opened.append(open_storage(postgresql_url, instance=instance))
        return opened[-1]

    yield opens
    for one in opened:
        one.close()
