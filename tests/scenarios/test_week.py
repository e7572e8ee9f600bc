"""A week of one busy team: whose phone rang, when and why; each call is one that the design asks for, and none is missing."""

import os
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.incidents.model import Status
from tests.scenarios.week import BEGINS, ON_CALL_CHANGES_AT, ONCALL, TEAM, Week, busy_week, on_call
from tests.world.fixtures import Build
from tests.world.people import GROUPS, PEOPLE, POLICIES
from tests.world.seen import Mention
from tests.world.world import World

GOLDEN = Path(__file__).parent / "golden" / "week.txt"
ENDS = BEGINS + timedelta(days=7)
DAYTIME = range(8, 18)


@pytest.fixture
def week() -> Week:
    return busy_week()


@pytest.fixture
def played(week: Week, build_world: Build) -> World:
    """The world at the end of the week."""
    marker = "fallback: {channel"
    world = build_world(policies=POLICIES.replace(marker, "\n".join(week.jobs) + "\n" + marker))
    week.at(ON_CALL_CHANGES_AT, olga_takes_over)
    for step in sorted(week.steps, key=lambda step: step.at):
        world.moves_to(step.at)
        step.do(world)
    world.moves_to(ENDS)
    return world


def olga_takes_over(world: World) -> None:
    group = {"id": GROUPS["finance-oncall"], "handle": "finance-oncall", "users": [PEOPLE["olga"]]}
    world.stage.slack.change_people(usergroups=[group])
    world.passes(minutes=2)


@pytest.mark.scenario(50)
def test_nobody_is_called_but_for_a_reason_of_the_design_and_nobody_in_vain(week: Week, played: World) -> None:
    assert (len({line.split("shop/")[1].split(",")[0] for line in week.jobs}), week.failures) == (40, 60)

    wanted = Counter((call.job, call.who, _minute(call.at)) for call in week.calls)
    rang = Counter((_job_of(week, mention), mention.who, _minute(mention.at)) for mention in played.mentions())

    assert rang - wanted == Counter()
    assert wanted - rang == Counter()
    assert [one.job.name for one in played.incidents() if one.status not in (Status.RESOLVED, Status.LEFT)] == []
    assert notes_in(played, week) == Counter((note.who, note.job) for note in week.notes)

    printed = told(week)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(printed, encoding="utf-8")
    assert printed == GOLDEN.read_text(encoding="utf-8")


def notes_in(world: World, week: Week) -> Counter[tuple[str, str]]:
    """The direct messages, by person and job."""
    texts = [(person, text) for person in PEOPLE for text in world.direct(person)]
    jobs = {note.job for note in week.notes}
    return Counter((person, next((job for job in jobs if job in text), text)) for person, text in texts)


def told(week: Week) -> str:
    """Every person's calls, with hour and reason, and how many they were; the same as what rang, by the test above."""
    heard: dict[str, list[str]] = {}
    calls: Counter[str] = Counter()
    out_of_hours: Counter[str] = Counter()
    for call in sorted((*week.calls, *week.notes), key=lambda call: (call.at, call.job)):
        for person in who_hears(call.who, call.at):
            heard.setdefault(person, []).append(f"  {call.at:%a %H:%M}  {call.job:<10} {call.why}")
            calls[person] += call not in week.notes
            out_of_hours[person] += call not in week.notes and _out_of_hours(call.at)
    lines = [f"{week.failures} failures of 40 jobs in 7 days", ""]
    for person in sorted(heard):
        lines += [f"{person}: {calls[person]} calls, {out_of_hours[person]} of them out of hours", *heard[person], ""]
    return "\n".join(lines)


def _out_of_hours(at: datetime) -> bool:
    return at.hour not in DAYTIME or at.weekday() > 4


def who_hears(who: str, at: datetime) -> tuple[str, ...]:
    """The people behind a mention."""
    return {ONCALL: (on_call(at),), TEAM: ("ana", "olga")}.get(who, (who,))


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def _job_of(week: Week, mention: Mention) -> str:
    named = {call.job for call in week.calls if call.job in mention.text}
    return max(named, key=len, default=mention.text[:60])
