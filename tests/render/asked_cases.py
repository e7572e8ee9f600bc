"""Occurrences that were asked about or taken before, values only; nothing here checks anything."""

from datetime import timedelta

from bot.incidents.model import Acknowledgement, Ask, AskKind, Chase, Outcome, Status
from tests.render.cases import ANA, NOW, incident, settled, snapshot

HELD = Acknowledgement(by=ANA, until=NOW + timedelta(hours=4))
AGAIN = Ask(at=NOW + timedelta(minutes=15), kind=AskKind.LADDER, step=0)
TEAM_NEXT = Ask(at=NOW + timedelta(minutes=45), kind=AskKind.LADDER, step=1)

SNAPSHOTS = {
    "open asked once": snapshot(incident(chase=Chase(next=AGAIN, asked_at=NOW))),
    "open team asked next": snapshot(incident(chase=Chase(next=TEAM_NEXT, step=1, asked_at=NOW))),
    "resolved acknowledged": settled(
        Status.RESOLVED, outcome=Outcome.RECOVERED, acknowledgement=HELD, closed_by_run="manual__2026-11-30"
    ),
}
