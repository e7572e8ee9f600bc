"""The post of the company: one SMTP server and one IMAP server, both real, for one test; and the company that uses it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compose.conftest import Meet, company_on, slack
from tests.e2e_mail.office import POLICIES, Office
from tests.mailservers.delivering import Post
from tests.mailservers.imap_server import imap_server
from tests.mailservers.smtp_server import smtp_server

__all__ = ["company_on", "slack"]


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    with smtp_server() as smtp, imap_server(tmp_path / "mail") as imap:
        yield Post(smtp=smtp, imap=imap)


@pytest.fixture
def office(post: Post, company_on: Meet, sqlite_url: str) -> Office:
    company = company_on(sqlite_url)
    company.has_policies(POLICIES)
    return Office(company=company, post=post)


@pytest.fixture
def large_office(post: Post, company_on: Meet, postgresql_url: str) -> Office:
    """On PostgreSQL, with a process for each part."""
    company = company_on(postgresql_url)
    company.has_policies(POLICIES)
    return Office(company=company, post=post)
