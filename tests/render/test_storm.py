"""The messages of a storm: its root and its pages of rows, within Slack's limits whatever the rows hold."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents.model import Acknowledgement, Incident, Outcome, RerunPhase, Status
from bot.incidents.people import By, Handover, Person
from bot.incidents.storm import ROWS_A_PAGE, Held, StormPlace, team_key
from bot.render.plain import plain
from bot.render.storm import Counted, Line, StormPage, StormRoot, storm_page, storm_root
from tests.render import cases
from tests.render.checking import golden_message, refused

RESET, UNKNOWN = "network.connection_reset", "unknown"


HELD = tuple(
    Held(
        who=team_key(team),
        by=By(person=Person(id="U0ANA", name=who), at=cases.NOW + timedelta(minutes=9)),
        until=cases.NOW + timedelta(hours=24),
    )
    for team, who in (("finance", "Ana"), ("growth", "Gil"))
)


def root(
    *counts: tuple[Status, str, str, int], over: bool = False, apart: int = 10, held: tuple[Held, ...] = ()
) -> StormRoot:
    return StormRoot(
        apart=apart,
        since=cases.NOW - timedelta(minutes=1, seconds=30) if apart else None,
        held=held,
        began_at=cases.NOW,
        last_at=cases.NOW + timedelta(minutes=3),
        settled_at=cases.NOW + timedelta(hours=2) if over else None,
        counts=tuple(
            Counted(status=status, cause=cause, team=team, count=count) for status, cause, team, count in counts
        ),
    )


def line(row: int, incident: Incident, *, opened: bool = False, team: str = "finance") -> Line:
    place = StormPlace(channel="C0FINANCE", number=1, row=row, opened=opened)
    url = "https://example.slack.com/archives/C0FINANCE/p1" if opened else None
    return Line(row=row, incident=replace(incident, storm=place, record=row), team=team, url=url)


ROOTS = {
    "storm root": root(
        (Status.OPEN, UNKNOWN, "finance", 12),
        (Status.RERUNNING, RESET, "finance", 480),
        (Status.RERUNNING, RESET, "growth", 7),
        (Status.RESOLVED, RESET, "finance", 1),
        (Status.AWAITING_APPROVAL, RESET, "", 2),
    ),
    "storm root taken": root(
        (Status.OPEN, RESET, "finance", 4), (Status.OPEN, UNKNOWN, "growth", 2), (Status.OPEN, RESET, "", 1), held=HELD
    ),
    "storm root all listed": root((Status.OPEN, RESET, "finance", 3), apart=0),
    "storm root over": root(
        (Status.RESOLVED, RESET, "finance", 500), (Status.PAUSED, RESET, "growth", 1), over=True, held=HELD
    ),
    "storm root many causes": root(*((Status.OPEN, f"cause.number_{n}", f"team-{n}", n) for n in range(1, 40))),
}


@pytest.mark.parametrize("name", ROOTS)
def test_a_root_reads_as_its_golden_file_and_slack_takes_it(name: str) -> None:
    rendered = storm_root(ROOTS[name])

    assert refused(rendered) == []
    golden_message(name, rendered)


def test_a_page_shows_what_each_row_is_now_and_the_way_to_its_thread() -> None:
    held = Acknowledgement(by=cases.ANA, until=cases.NOW + timedelta(hours=4))
    lines = (
        line(1, cases.incident()),
        line(2, cases.incident(acknowledgement=held)),
        line(3, cases.rerunning(RerunPhase.HELD).incident),
        line(4, cases.incident(Status.RESOLVED, outcome=Outcome.RECOVERED)),
        line(5, cases.incident(), opened=True),
        line(6, cases.incident(), team=""),
    )
    rendered = storm_page(StormPage(first=1, lines=lines))

    assert refused(rendered) == []
    golden_message("storm page", rendered)


def test_a_row_names_who_is_on_it_for_its_team_while_it_waits_in_the_storm() -> None:
    growth = Handover(team="growth", came_from="finance", by=By(person=cases.ANA.person, at=cases.NOW))
    own = Acknowledgement(by=By(person=Person(id="U0BEN", name="Ben"), at=cases.NOW), until=cases.NOW)
    lines = (
        line(1, cases.incident()),
        line(2, cases.incident(), team="growth"),
        line(3, cases.incident(), team="platform"),
        line(4, cases.incident(handed=(growth,))),
        line(5, cases.incident(acknowledgement=own)),
        line(6, cases.incident(), opened=True),
        line(7, cases.incident(Status.RESOLVED, outcome=Outcome.RECOVERED)),
    )
    rendered = storm_page(StormPage(first=1, lines=lines, held=HELD))
    names = [str(block["text"]["text"]).partition("on it: ")[2] for block in rendered.blocks if "text" in block]

    assert refused(rendered) == []
    assert names == ["Ana", "Gil", "", "Gil", "Ben", "", ""]


def test_a_storm_of_many_teams_that_were_all_taken_fits() -> None:
    held = tuple(Held(who=team_key(f"team-{n}"), by=HELD[0].by, until=HELD[0].until) for n in range(40))
    rendered = storm_root(root(*((Status.OPEN, RESET, f"team-{n}", n) for n in range(1, 40)), held=held))

    assert refused(rendered) == []
    assert "34 more" in plain(rendered)


def test_a_full_page_of_hostile_rows_is_within_slacks_limits_and_calls_nobody() -> None:
    snapshot = cases.hostile()
    job = replace(snapshot.incident.job, name="<!channel> & <@U0ANA> *bold* `code` \u202e" + "x" * 400)
    hostile = replace(snapshot.incident, job=job, corrected_cause="<!here>" * 40)
    lines = tuple(line(row, hostile, team="<!everyone>" * 20) for row in range(1, ROWS_A_PAGE + 1))
    rendered = storm_page(StormPage(first=1, lines=lines))

    assert refused(rendered) == []
    assert "<!" not in str(rendered.blocks)
    assert "<@" not in str(rendered.blocks)
    assert len(rendered.blocks) <= 50
