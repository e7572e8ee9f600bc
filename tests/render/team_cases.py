"""Home tabs and digests as people meet them, values only; nothing here checks anything."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.evidence.cleaning import clean
from bot.render.digest import Digest
from bot.render.home import Home, HomeRecord, Seen, TeamHealth, Waits
from bot.render.lines import (
    ChronicLine,
    Confirm,
    DecidedLine,
    EndingLine,
    MarkLine,
    OwnerFault,
    OwnerPlace,
    OwnerTrouble,
    StandingLine,
)
from bot.render.snapshot import Snapshot
from tests.render import cases
from tests.render.cases import HOSTILE, NOW

URL = "https://shop.slack.com/archives/C0FINANCE/p1796004750000100"
DAY = timedelta(days=1)
MARKED = datetime(2026, 11, 2, tzinfo=UTC)

MARK = MarkLine(
    team="finance-data",
    cause="network.connection_reset",
    title="Connection reset by the other side",
    by=("Ana",),
    since=NOW - 10 * DAY,
    jobs=3,
    worked=12,
    ended=13,
)
MARKS = (
    replace(MARK, since=NOW - 100 * DAY, confirm=Confirm.OLD),
    replace(MARK, cause="service.throttled", title="Throttled", by=("Ben", "Ana"), confirm=Confirm.LEFT, suspended=1),
    replace(
        MARK, cause="platform.spot", title="Machine taken back", void="marked by Eve", confirm=Confirm.VOID, jobs=1
    ),
    replace(MARK, title="Disk full for a moment", in_file=True, since=MARKED, worked=0, ended=0),
    MARK,
)
ENDING = (
    EndingLine(
        job="finance.weekly",
        team="finance-data",
        what="paused",
        until=NOW + DAY,
        by="Ana",
        then="resumes",
        reason="The ledger moves.",
        url=URL,
    ),
    EndingLine(job="finance.old", team="finance-data", what="left", until=NOW + 2 * DAY, by="Ben", then="judged"),
    EndingLine(job="finance.odd", team="finance-data", what="silenced", until=NOW + 3 * DAY, by="Ben", then="asked"),
)
FAULTS = (
    OwnerFault(
        team="finance-data", place=OwnerPlace.MEMBERS, name="eve@example.com", why=OwnerTrouble.UNKNOWN, alone=True
    ),
    OwnerFault(team="growth", place=OwnerPlace.USERGROUP, name="S0GROWTH", why=OwnerTrouble.EMPTY),
    OwnerFault(team="", place=OwnerPlace.ADMINS, name="U0GONE", why=OwnerTrouble.INACTIVE),
    OwnerFault(team="growth", place=OwnerPlace.TEAM_USERGROUP, name="S0NONE", why=OwnerTrouble.NO_GROUP),
)


def record(name: str, waits: Waits | None = None, *, decides: bool = True, holds: bool = False) -> HomeRecord:
    snapshot = cases.SNAPSHOTS[name]
    return HomeRecord(snapshot=snapshot, decides=decides, holds=holds, waits=waits, asked_at=NOW, url=URL)


FULL = Home(
    seen=Seen.TEAM,
    at=NOW,
    zone="Europe/Berlin",
    teams=("finance-data", "growth"),
    mine=(
        record("awaiting over budget", Waits.APPROVAL),
        record("open", Waits.ASKED),
        record("awaiting outsider", Waits.APPROVAL, holds=True),
    ),
    mine_count=3,
    held=(record("open acknowledged", holds=True),),
    held_count=1,
    open=(record("late not started"), record("rerunning running"), record("verifying", decides=False)),
    open_count=17,
    marks=MARKS,
    ending=ENDING,
    faults=FAULTS,
    health=(
        TeamHealth(team="finance-data", open=6, under_1h=1, under_4h=2, under_1d=0, older=3, unattended=4),
        TeamHealth(team="growth", open=0, under_1h=0, under_4h=0, under_1d=0, older=0, unattended=0),
    ),
    decides=frozenset({"finance-data"}),
    sees_health=True,
)
HOMES = {
    "full": FULL,
    "quiet": Home(seen=Seen.TEAM, at=NOW, teams=("growth",)),
    "nobody": Home(seen=Seen.NOBODY, at=NOW),
    "unsure": Home(seen=Seen.UNSURE, at=NOW),
    "manager": replace(
        FULL,
        teams=("finance-data",),
        mine=(),
        mine_count=0,
        held=(),
        held_count=0,
        open=(record("open", decides=False),),
        open_count=1,
        decides=frozenset(),
    ),
}

STANDING = (
    StandingLine(job="finance.daily_revenue", state="failed", since=NOW, url=URL),
    StandingLine(job="finance.orders", state="has not started", since=NOW - DAY, on_it="Ana", until=NOW + DAY),
)
DECIDED = (
    DecidedLine(
        job="finance.old", what="is left as it is", at=NOW, by="Ben", until=NOW + DAY, reason="Known.", url=URL
    ),
    DecidedLine(job="finance.stock", what="needs no run any more", at=NOW),
)
CHRONIC = (
    ChronicLine(job="finance.revenue", cause="A connection broke off", times=5, last_at=NOW - DAY, url=URL),
    ChronicLine(job="finance.stock", cause="A service was too busy", times=3, last_at=NOW),
)
FULL_DIGEST = Digest(
    team="finance-data",
    zone="Europe/Berlin",
    at=NOW,
    since=NOW - 3 * DAY,
    open=STANDING,
    open_count=14,
    decided=DECIDED,
    decided_count=2,
    recovered=7,
    ending=ENDING,
    ending_count=3,
    chronic=CHRONIC,
    chronic_count=4,
    marks=MARKS[:3],
    marks_count=4,
    faults=FAULTS[:1],
    faults_count=1,
)
DIGESTS = {
    "full": FULL_DIGEST,
    "nothing open": replace(
        FULL_DIGEST,
        open=(),
        open_count=0,
        chronic=(),
        chronic_count=0,
        marks=(),
        marks_count=0,
        faults=(),
        faults_count=0,
    ),
    "only open": Digest(team="growth", zone="UTC", at=NOW, since=NOW - DAY, open=STANDING[:1], open_count=1),
}


def hostile_home(text: str = HOSTILE, *, times: int = 100) -> Home:
    """Much more of everything than fits, all of it in the worst words; names of causes are stored clean."""
    snapshot = cases.hostile()
    record = HomeRecord(snapshot=snapshot, decides=True, waits=Waits.APPROVAL, url=URL)
    mark = replace(
        MARK, team=clean(text), cause=clean(text), title=text, by=(text,) * 9, void=text, confirm=Confirm.LEFT
    )
    fault = OwnerFault(team=text, place=OwnerPlace.MEMBERS, name=text, why=OwnerTrouble.UNKNOWN)
    ending = EndingLine(job=text, team=text, what=text, until=NOW, by=text, then=text, reason=text, url=URL)
    health = TeamHealth(team=text, open=9, under_1h=9, under_4h=9, under_1d=9, older=9, unattended=9)
    return Home(
        seen=Seen.TEAM,
        at=NOW,
        zone=text,
        teams=(text,) * times,
        mine=(record,) * 10,
        mine_count=10_000,
        open=tuple(replace(record, snapshot=_numbered(record, number)) for number in range(12)),
        open_count=10_000,
        marks=(mark,) * times,
        ending=(ending,) * times,
        faults=(fault,) * times,
        health=(health,) * times,
        decides=frozenset({clean(text)}),
        sees_health=True,
    )


def hostile_digest(text: str = HOSTILE, *, times: int = 5) -> Digest:
    standing = StandingLine(job=text, state=text, since=NOW, on_it=text, until=NOW, url=URL)
    decided = DecidedLine(job=text, what=text, at=NOW, by=text, until=NOW, reason=text, url=URL)
    page = hostile_home(text, times=times)
    return Digest(
        team=text,
        zone=text,
        at=NOW,
        since=NOW,
        open=(standing,) * 8,
        open_count=10_000,
        decided=(decided,) * times,
        decided_count=10_000,
        recovered=10_000,
        ending=page.ending,
        ending_count=10_000,
        chronic=(ChronicLine(job=text, cause=text, times=10_000, last_at=NOW, url=URL),) * times,
        chronic_count=10_000,
        marks=page.marks,
        marks_count=10_000,
        faults=page.faults,
        faults_count=10_000,
    )


def _numbered(record: HomeRecord, number: int) -> Snapshot:
    incident = replace(record.snapshot.incident, record=100 + number)
    return replace(record.snapshot, incident=incident)
