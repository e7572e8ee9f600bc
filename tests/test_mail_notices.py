"""What ontrack mails of itself: the digest of a team without a channel, owner records that lead to nobody."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.digest import Digests
from bot.owner_reports import OwnerReports
from bot.people import People
from bot.policies import load
from bot.render.mail import notice_mail
from bot.store import EffectKind, EffectRow, EffectState, PersonRow
from bot.teams import Teams
from storage.opening import SqlStorage, open_storage

EIGHT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
TEAM = """version: 1
teams:
  core:
    members: [ana@example.com]
    hours: {{days: mon-fri, from: "08:00", to: "18:00", timezone: UTC}}
    {reached}
fallback: {fallback}
"""
ANA = PersonRow(id="U0ANA", name="Ana", email="ana@example.com", active=True, read_at=EIGHT)
LEFT = PersonRow(id="U0EVE", name="Eve", email="eve@example.com", active=False, read_at=EIGHT)


@pytest.fixture
def storage(database_url: str) -> Iterator[SqlStorage]:
    opened = open_storage(database_url, instance="run-1")
    yield opened
    opened.close()


class Company:
    """Teams of one policies file whose directory was just read."""

    def __init__(self, storage: SqlStorage, text: str, *, people: People, mails: bool = True) -> None:
        policies = load(text, env={})
        self.told: list[str] = []
        self.storage = storage
        teams = Teams(
            reads=storage.reads,
            policies=lambda: policies,
            people=lambda: people,
            thread_url=lambda *_: None,
            mails=mails,
        )
        self.digests = Digests(
            storage=storage, teams=teams, people=lambda: people, written=lambda: self.told.append("digest"), mails=mails
        )
        self.reports = OwnerReports(
            storage=storage,
            teams=teams,
            policies=lambda: policies,
            written=lambda: self.told.append("report"),
            mails=mails,
        )

    def rows(self, kind: EffectKind) -> list[EffectRow]:
        found = self.storage.reads.outbox(states=tuple(EffectState), limit=10)
        return [row for row in found if row.kind is kind]

    def mailed_to(self) -> list[str]:
        return sorted(str(row.content["address"]) for row in self.rows(EffectKind.EMAIL))


def with_a_fault(reached: str, fallback: str = "{}") -> str:
    """Eve, who left, is a member as well: so there is something to say."""
    return TEAM.format(reached=reached, fallback=fallback).replace(
        "[ana@example.com]", "[ana@example.com, eve@example.com]"
    )


@pytest.mark.parametrize(
    ("reached", "posted", "mailed"),
    [
        ("email: core@example.com", 0, ["core@example.com"]),
        ("slack: {channel: C0CORE}\n    email: core@example.com", 1, []),
        ("slack: {channel: C0CORE}\n    manager: maria@example.com", 1, ["maria@example.com"]),
        ("slack: {channel: C0CORE}\n    manager: ana@example.com", 1, []),
    ],
)
def test_a_digest_is_mailed_where_no_channel_or_no_account_is(
    storage: SqlStorage, reached: str, posted: int, mailed: list[str]
) -> None:
    company = Company(storage, with_a_fault(reached), people=People(people=[ANA, LEFT]))
    company.digests.step(EIGHT)
    company.digests.step(EIGHT + timedelta(minutes=5))

    assert len(company.rows(EffectKind.NOTICE)) == posted
    assert company.mailed_to() == mailed
    assert company.told == ["digest"]
    for row in company.rows(EffectKind.EMAIL):
        assert row.content["kind"] == "digest"
        assert "core" in notice_mail(row.content).subject


def test_a_morning_with_nothing_to_say_is_not_mailed_nor_made_up_for_later(storage: SqlStorage) -> None:
    quiet = TEAM.format(reached="email: core@example.com", fallback="{}")
    Company(storage, quiet, people=People(people=[ANA])).digests.step(EIGHT)
    company = Company(storage, with_a_fault("email: core@example.com"), people=People(people=[ANA, LEFT]))
    company.digests.step(EIGHT + timedelta(hours=3))
    assert company.mailed_to() == []

    company.digests.step(EIGHT + timedelta(days=1))

    assert company.mailed_to() == ["core@example.com"]


def test_without_mail_a_team_without_a_channel_gets_none(storage: SqlStorage) -> None:
    company = Company(storage, with_a_fault("email: core@example.com"), people=People(people=[ANA, LEFT]), mails=False)
    company.digests.step(EIGHT)

    assert company.rows(EffectKind.EMAIL) == company.rows(EffectKind.NOTICE) == []


@pytest.mark.scenario(27)
@pytest.mark.parametrize(
    ("fallback", "posted", "mailed"),
    [
        ("{channel: C0JOBS, email: Jobs@example.com}", 1, ["Jobs@example.com"]),
        ("{email: jobs@example.com}", 0, ["jobs@example.com"]),
        ("{channel: C0JOBS}", 1, []),
        ("{}", 0, []),
    ],
)
def test_owner_records_that_lead_to_nobody_are_mailed_to_the_fallback_once(
    storage: SqlStorage, fallback: str, posted: int, mailed: list[str]
) -> None:
    company = Company(storage, with_a_fault("email: core@example.com", fallback), people=People(people=[ANA, LEFT]))
    company.reports.step(EIGHT)
    company.reports.step(EIGHT + timedelta(minutes=5))

    assert len(company.rows(EffectKind.NOTICE)) == posted
    assert company.mailed_to() == mailed
    for row in company.rows(EffectKind.EMAIL):
        assert row.content["kind"] == "fault"
        assert "eve@example.com" in notice_mail(row.content).text


def test_whoever_is_reached_by_mail_alone_is_no_broken_record(storage: SqlStorage) -> None:
    text = TEAM.format(reached="manager: maria@example.com", fallback="{channel: C0JOBS}")
    with_mail = Company(storage, text, people=People(people=[ANA]))
    with_mail.reports.step(EIGHT)
    assert with_mail.rows(EffectKind.NOTICE) == []

    broken = Company(storage, text, people=People(people=[ANA], broken=frozenset({"maria@example.com"})))
    broken.reports.step(EIGHT)

    assert len(broken.rows(EffectKind.NOTICE)) == 1
