"""The messages of a storm: its root and its pages of rows, within Slack's limits whatever the rows hold."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents.model import Acknowledgement, Incident, Outcome, RerunPhase, Status
from bot.incidents.storm import ROWS_A_PAGE, StormPlace
from bot.render.storm import Counted, Line, StormPage, StormRoot, storm_page, storm_root
from tests.render import cases
from tests.render.checking import golden_message, refused

RESET, UNKNOWN = "network.connection_reset", "unknown"


def root(*counts: tuple[Status, str, str, int], over: bool = False) -> StormRoot:
    return StormRoot(
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
    "storm root over": root((Status.RESOLVED, RESET, "finance", 500), (Status.PAUSED, RESET, "growth", 1), over=True),
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
