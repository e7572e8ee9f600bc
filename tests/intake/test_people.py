"""Who is reached by mail for a job: own addresses, the team's list, and nobody at an address that leads nowhere."""

from datetime import UTC, datetime, timedelta

from bot.incidents.people import Destination, Directory, Person, Standing
from bot.incidents.policy import Door, JobPolicy, Rota, Team
from bot.people import MOST_MAILED, People
from bot.store import GroupRow, PersonRow

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
TEAM = Team(
    name="finance",
    usergroup="S0ONCALL",
    email="finance@example.com",
    members=("Ana@example.com", "pia@partner.example.com", "U0BEN"),
    manager="maria@example.com",
)


def row(name: str, *, active: bool = True, email: str | None = "") -> PersonRow:
    address = f"{name}@example.com" if email == "" else email
    return PersonRow(id=f"U0{name.upper()}", name=name.title(), email=address, active=active, read_at=NOW)


def people(*, broken: frozenset[str] = frozenset(), oncall: tuple[str, ...] = ("U0BEN",)) -> People:
    known = [row("ana"), row("ben"), row("maria"), row("gone", active=False), row("shy", email=None)]
    group = GroupRow(id="S0ONCALL", members=oncall, exists=True, read_at=NOW)
    return People(people=known, groups=[group], broken=broken)


def directory(team: Team = TEAM, of: People | None = None) -> Directory:
    return (of or people()).directory(JobPolicy(team=team), NOW)


def addresses(mail: tuple[Destination, ...]) -> list[tuple[str, bool]]:
    assert all(one.door is Door.EMAIL for one in mail)
    return [(one.address, one.shared) for one in mail]


def test_each_audience_has_its_addresses() -> None:
    found = directory()

    assert addresses(found.oncall_mail) == [("ben@example.com", False)]
    assert addresses(found.team_mail) == [("finance@example.com", True)]
    assert addresses(found.manager_mail) == [("maria@example.com", False)]
    assert [one.person for one in found.oncall_mail] == ["U0BEN"]


def test_without_a_list_each_of_the_team_is_mailed() -> None:
    found = directory(Team(name="finance", members=TEAM.members))

    assert addresses(found.team_mail) == [
        ("ana@example.com", False),
        ("ben@example.com", False),
        ("pia@partner.example.com", False),
    ]
    assert found.oncall_mail == found.team_mail, "nobody is on call by name"


def test_only_those_whom_the_workspace_does_not_know_are_reached_by_mail_alone() -> None:
    assert directory().mail_alone == {"pia@partner.example.com"}


def test_whoever_is_known_by_address_alone_acts_and_is_mailed_by_it_however_it_is_written() -> None:
    rota = Rota(
        members=("Zoe@Partner.example.com",), every=timedelta(weeks=1), since=NOW - timedelta(days=1), zone="UTC"
    )
    found = directory(Team(name="finance", members=("Pia@Partner.example.com",), rota=rota))

    assert found.standing(Person(id="pia@partner.example.com"), NOW) is Standing.OWNER
    assert found.standing(Person(id="zoe@partner.example.com"), NOW) is Standing.ONCALL
    assert addresses(found.oncall_mail) == [("zoe@partner.example.com", False)]


def test_addresses_that_lead_nowhere_are_left_out() -> None:
    broken = frozenset({"ben@example.com", "finance@example.com", "pia@partner.example.com", "maria@example.com"})
    found = directory(of=people(broken=broken))

    assert addresses(found.team_mail) == [("ana@example.com", False)]
    assert found.oncall_mail == found.team_mail
    assert (found.manager_mail, found.mail_alone) == ((), frozenset())


def test_nobody_who_left_or_has_no_address_is_mailed() -> None:
    found = directory(Team(name="finance", members=("gone@example.com", "U0SHY", "U0NONE")))

    assert (found.team_mail, found.mail_alone) == ((), frozenset())


def test_a_large_team_has_a_list_or_its_first_are_mailed() -> None:
    members = tuple(f"p{number:03}@example.com" for number in range(3 * MOST_MAILED))

    assert len(directory(Team(name="finance", members=members)).team_mail) == MOST_MAILED
